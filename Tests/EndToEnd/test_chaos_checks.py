"""The fault run's checks, on rooms made by hand: they must find each possible violation."""

import copy
import json
import types

import pytest

from chaos_checks import check_room, check_statistics
from chaos_clients import Command, Room
from counting import Count
from fold import plain, replay

EVENTS = [
    {"type": "roomCreated", "id": "r", "code": "ABC123", "name": "Kitchen", "visibility": "public", "settings": {}},
    {"type": "memberJoined", "member": 1, "name": "Ana", "role": "owner"},
    {"type": "memberJoined", "member": 2, "name": "2.1", "role": "guest"},
    {"type": "tracksAdded", "by": 1, "tracks": [
        {"track": 1, "source": "s", "sourceId": "a", "title": "1.1"},
        {"track": 2, "source": "s", "sourceId": "b", "title": "1.2"}]},
    {"type": "voteCast", "track": 1, "by": 2, "votes": 1, "requestedSeq": 5},
    {"type": "entryEnqueued", "entry": 1, "track": 1, "index": 0, "by": 1},
    {"type": "votesCleared", "track": 1},
    {"type": "playbackStarted", "entry": 1, "track": 1, "positionMs": 0, "atMs": 1008, "by": 1},
    {"type": "entryEnqueued", "entry": 2, "track": 2, "index": 0, "by": 1},
    {"type": "entryFinished", "entry": 1, "track": 1, "reason": "skipped", "startedAt": 1008, "playedMs": 2},
    {"type": "playbackStarted", "entry": 2, "track": 2, "positionMs": 0, "atMs": 1011, "by": 1},
    {"type": "voteCast", "track": 2, "by": 2, "votes": 1, "requestedSeq": 12},
]
COMMANDS = [
    (None, {"type": "join", "name": "2.1"}, 3, {"member": 2}),
    (1, {"type": "addTracks", "tracks": [{"title": "1.1"}, {"title": "1.2"}]}, 4, {"tracks": [1, 2]}),
    (2, {"type": "vote", "track": 1}, 5, None),
    (2, {"type": "vote", "track": 1}, 5, None),
    (1, {"type": "enqueue", "track": 1}, 7, {"entry": 1}),
    (1, {"type": "play"}, 8, None),
    (1, {"type": "enqueue", "track": 2}, 9, {"entry": 2}),
    (1, {"type": "skip"}, 11, None),
    (1, {"type": "finish", "entry": 1}, 11, None),
    (2, {"type": "vote", "track": 2}, 12, None),
]


@pytest.fixture
def run():
    """A room without violations, and its log."""
    events = [{"seq": number, "at": 1000 + number, **copy.deepcopy(event)} for number, event in enumerate(EVENTS, 1)]
    room = Room("r", "epoch", "ABC123")
    client = types.SimpleNamespace(number=0)
    for member, body, seq, result in COMMANDS:
        room.acknowledged.append((client, Command("r", "key", body, member, {"seq": seq, "result": result})))
    room.seen = {event["seq"]: event for event in copy.deepcopy(events)}
    room.snapshots[8, json.dumps(plain(replay(copy.deepcopy(events[:8]))), sort_keys=True)] = "0 at a"
    return room, events


def found(room, events):
    return check_room(room, events)[0]


def test_a_room_in_which_all_is_well_passes(run):
    assert found(*run) == []


def test_a_hole_in_the_log_is_found(run):
    room, events = run
    del events[6]
    assert "positions" in found(room, events)[0]


def test_an_acknowledged_command_that_is_missing_is_found(run):
    room, events = run
    lost = events.pop()
    assert any("there is no event 12" in line for line in found(room, events))
    room.seen.pop(lost["seq"])
    assert any("there is no event 12" in line for line in found(room, events))


def test_a_command_that_was_carried_out_twice_is_found(run):
    room, events = run
    events.append({**copy.deepcopy(events[3]), "seq": 13, "tracks": [
        {"track": 3, "source": "s", "sourceId": "a", "title": "1.1"},
        {"track": 4, "source": "s", "sourceId": "b", "title": "1.2"}]})
    assert any("no acknowledged command is behind" in line for line in found(room, events))


def test_a_command_whose_outcome_was_never_known_may_be_there_once(run):
    room, events = run
    events.append({"seq": 13, "at": 1013, "type": "memberRenamed", "member": 2, "name": "2.2"})
    assert found(room, events)
    maybe = Command("r", "key", {"type": "rename", "name": "2.2"}, 2)
    room.uncertain.append((None, None, maybe))
    assert found(room, events) == []
    events.append({**events[-1], "seq": 14})
    assert found(room, events)


def test_two_acknowledgements_of_one_event_are_found(run):
    room, events = run
    room.acknowledged.append(room.acknowledged[1])
    assert any("was acknowledged with" in line for line in found(room, events))


def test_an_acknowledgement_for_nothing_is_found(run):
    room, events = run
    command = Command("r", "key", {"type": "vote", "track": 1}, 1, {"seq": 5, "result": None})
    room.acknowledged.append((types.SimpleNamespace(number=1), command))
    assert any("was acknowledged with" in line for line in found(room, events))


def test_an_event_that_was_told_otherwise_is_found(run):
    room, events = run
    room.seen[5]["votes"] = 2
    assert any("clients saw" in line for line in found(room, events))


def test_an_event_that_is_not_in_the_log_is_found(run):
    room, events = run
    room.seen[13] = {"seq": 13, "at": 1013, "type": "votesCleared", "track": 2}
    assert any("clients saw event 13" in line for line in found(room, events))


def test_a_snapshot_that_is_not_the_fold_is_found(run):
    room, events = run
    (seq, text), who = next(iter(room.snapshots.items()))
    room.snapshots[seq, text.replace("Kitchen", "Garden")] = who
    assert any("not the fold" in line for line in found(room, events))


@pytest.fixture
def counts(run):
    """Answers about the room's statistics without violations, at two positions."""
    room, events = run
    answers = []
    for seq in (6, len(events)):
        count = Count(events[:seq])
        answers += [
            ("total", "a", {"seq": seq, "epoch": room.epoch, "from": 0, "to": 900_000,
                            "buckets": count.buckets(10**9, 0, 900_000)}),
            ("minute", "a", {"seq": seq, "epoch": room.epoch, "from": 0, "to": 60_000,
                             "buckets": count.buckets(1, 0, 60_000)}),
            ("plays", "b", {"seq": seq, "plays": count.newest_plays})]
    return room, events, copy.deepcopy(answers)


def test_statistics_that_are_those_of_the_events_pass(counts):
    assert check_statistics(*counts) == []


def test_a_number_that_differs_is_found(counts):
    *log, answers = counts
    answers[0][2]["buckets"][0]["votes"] += 1
    answers[4][2]["buckets"][0].pop("starts")
    assert [line.split(": ")[1].split()[0] for line in check_statistics(*log, answers)] == ["total", "minute"]


def test_counts_of_another_position_are_found(counts):
    *log, answers = counts
    answers[0][2]["seq"] = 4
    answers[3][2]["seq"] = 13
    answers[4][2]["epoch"] = "another"
    assert len(check_statistics(*log, answers)) == 3


def test_a_song_on_air_that_is_missing_repeated_or_another_is_found(counts):
    *log, answers = counts
    plays = answers[5][2]["plays"]
    for wrong in ([], plays * 2, [{**plays[0], "title": "1.2"}], [{**plays[0], "playedMs": 3}],
                  [{name: value for name, value in plays[0].items() if name != "source"}]):
        answers[5][2]["plays"] = wrong
        assert len(check_statistics(*log, answers)) == 1


def test_a_song_that_was_removed_may_lack_its_catalogue(counts):
    room, events, answers = counts
    events.append({"seq": 13, "at": 1013, "type": "tracksRemoved", "by": 1, "tracks": [1]})
    for name in ("source", "sourceId"):
        answers[5][2]["plays"][0].pop(name)
    assert check_statistics(room, events, answers) == []
