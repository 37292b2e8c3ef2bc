"""The invariants of a room, checked against the log, the snapshots and every client."""

import json

from fold import differences, replay


def check_log(person, room):
    """The log has the positions 1…n and folds into the served state; returns its events."""
    events = person.events(room)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    snapshot = person.room(room)["room"]
    assert snapshot["seq"] == len(events)
    assert differences(replay(events), snapshot["state"]) == []
    return events


def check_followers(person, room, followers):
    """Every client's folded state equals the server's snapshot, and its events equal the log's."""
    events = {event["seq"]: event for event in person.events(room)}
    snapshot = person.room(room)["room"]
    for follower in followers:
        assert follower.position == {"epoch": snapshot["epoch"], "seq": snapshot["seq"]}
        assert differences(follower.state, snapshot["state"]) == []
        for seq, event in follower.events.items():
            assert differences(event, events[seq]) == [], f"event {seq} as it was pushed, and in the log"


def check_once(events, what, fits):
    """Exactly one event matches; returns it."""
    found = [event for event in events if fits(event)]
    assert len(found) == 1, f"{what} is in the log {len(found)} times: {json.dumps(found)[:2000]}"
    return found[0]
