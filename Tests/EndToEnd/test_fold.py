"""The tests' own fold, on cases made by hand."""

import copy

import pytest

from fold import Follower, Gap, differences, pool_order, raw_events, replay

SETTINGS = {"queueMode": "dj", "skipRatio": 0.5, "maxWaitingPerMember": 0, "repeatAfterPlays": 0}

STORY = [
    {"type": "roomCreated", "id": "r", "code": "ABC123", "name": "Kitchen", "visibility": "public",
     "settings": SETTINGS, "location": {"lat": 1.0, "lon": 2.0}},
    {"type": "memberJoined", "member": 1, "name": "Ana", "role": "owner"},
    {"type": "tracksAdded", "by": 1, "tracks": [
        {"track": 1, "source": "s", "sourceId": "a", "title": "Zulu", "artist": "Z"},
        {"track": 2, "source": "s", "sourceId": "b", "title": "alpha"},
        {"track": 3, "source": "s", "sourceId": "c", "title": "Éclair"}]},
    {"type": "memberJoined", "member": 2, "name": "Ben", "role": "guest"},
    {"type": "voteCast", "track": 1, "by": 2, "votes": 1, "requestedSeq": 5},
    {"type": "voteCast", "track": 3, "by": 2, "votes": 1, "requestedSeq": 6},
    {"type": "voteCast", "track": 3, "by": 1, "votes": 2, "requestedSeq": 6},
    {"type": "entryEnqueued", "entry": 1, "track": 3, "index": 0, "by": 1},
    {"type": "votesCleared", "track": 3},
    {"type": "entryEnqueued", "entry": 2, "track": 2, "index": 0, "by": 1},
    {"type": "entryEnqueued", "entry": 3, "track": 1, "index": 2, "by": None},
    {"type": "entryMoved", "entry": 2, "index": 2, "by": 1},
    {"type": "playbackStarted", "entry": 1, "track": 3, "positionMs": 0, "atMs": 1013, "by": 1},
    {"type": "playbackPaused", "positionMs": 500, "atMs": 1014, "by": 1},
    {"type": "entryFinished", "entry": 1, "track": 3, "reason": "skipped", "startedAt": 1013, "playedMs": 500},
    {"type": "playbackStarted", "entry": 3, "track": 1, "positionMs": 0, "atMs": 1016},
    {"type": "memberLeft", "member": 2, "reason": "left", "votes": [{"track": 1, "votes": 0}]},
    {"type": "roomUpdated", "name": "Garden", "settings": {**SETTINGS, "skipRatio": 0.25}, "locationCleared": True},
]


def story():
    return [{"seq": number, "at": 1000 + number, **copy.deepcopy(event)} for number, event in enumerate(STORY, 1)]


def test_a_history_folds_into_the_state_it_describes():
    state = replay(story())
    assert differences(state, {
        "id": "r", "code": "ABC123", "name": "Garden", "createdAt": 1001, "visibility": "public",
        "settings": {**SETTINGS, "skipRatio": 0.25},
        "members": [{"member": 1, "name": "Ana", "role": "owner", "joinedAt": 1002}],
        "pool": [
            {"track": 2, "source": "s", "sourceId": "b", "title": "alpha", "addedBy": 1, "votes": 0},
            {"track": 1, "source": "s", "sourceId": "a", "title": "Zulu", "artist": "Z", "addedBy": 1, "votes": 0},
            {"track": 3, "source": "s", "sourceId": "c", "title": "Éclair", "addedBy": 1, "votes": 0}],
        "requests": [],
        "queue": [{"entry": 2, "track": 2, "addedBy": 1}],
        "playback": {"status": "playing", "entry": 3, "track": 1, "startedAt": 1016, "startedSeq": 16,
                     "positionMs": 0, "atMs": 1016, "skipVotes": 0},
        "history": [{"entry": 1, "track": 3, "title": "Éclair", "startedAt": 1013, "endedAt": 1015,
                     "reason": "skipped", "playedMs": 500}],
    }) == []


def test_requests_are_ordered_by_votes_and_then_by_who_came_first():
    assert replay(story()[:6])["requests"] == [1, 3]
    assert replay(story()[:7])["requests"] == [3, 1]
    assert replay(story()[:9])["requests"] == [1]


def test_the_pool_is_ordered_by_lowercased_scalars_of_the_composed_title():
    titles = ["b", "A", "a", "ΣΑΣ", "E\u0301a", "éb", "Z"]
    ordered = sorted(({"title": title, "track": i} for i, title in enumerate(titles)), key=pool_order)
    assert [line["title"] for line in ordered] == ["A", "a", "b", "Z", "E\u0301a", "éb", "ΣΑΣ"]


def test_a_follower_takes_a_snapshot_and_what_joins_it():
    events = story()
    follower = Follower("r")
    follower.take({"type": "snapshot", "room": "r", "epoch": "e", "seq": 4, "state": replay(events[:4])})
    follower.take({"type": "delta", "room": "r", "from": 5, "seq": 7, "events": events[4:7]})
    follower.take({"type": "delta", "room": "other", "from": 1, "seq": 1, "events": []})
    assert differences(follower.state, replay(events[:7])) == []
    assert follower.position == {"epoch": "e", "seq": 7}


@pytest.mark.parametrize("first, last", [(6, 7), (4, 5)], ids=["a hole", "a repeat"])
def test_a_follower_refuses(first, last):
    events = story()
    follower = Follower("r")
    follower.take({"type": "snapshot", "room": "r", "epoch": "e", "seq": 4, "state": replay(events[:4])})
    with pytest.raises(Gap):
        follower.take({"type": "delta", "room": "r", "from": first, "seq": last, "events": events[first - 1:last]})


def test_differences_name_the_path_and_take_null_for_absent():
    assert differences({"a": None, "b": [1, {"c": 2}]}, {"b": [1, {"c": 2}]}) == []
    assert differences({"b": [1, {"c": 2}]}, {"b": [1, {"c": 3}]}) == ["state.b[1].c: 2 and 3"]


def test_raw_events_are_cut_where_they_stand():
    text = '{"type":"delta","events":[{"seq":1,"name":"a]\\"}"} , {"seq":2,"in":[{}]}],"seq":2}'
    assert raw_events(text) == ['{"seq":1,"name":"a]\\"}"}', '{"seq":2,"in":[{}]}']
    assert raw_events('{"events":[]}') == []
