"""Tracks that a room plays by itself, votes to skip, and the deck of a DJ's device."""

import contextlib

import backline
from checks import check_followers, check_log


def open_room(server, mode, *titles, **settings):
    """A room of Ana, who plays its first track, and the numbers of its tracks."""
    ana = server.session("Ana")
    made = ana.create_room(settings={"queueMode": mode, **settings})
    room = made["room"]["state"]["id"]
    assert made["room"]["state"]["settings"]["queueMode"] == mode
    numbers = ana.command(room, "addTracks", tracks=backline.tracks("Opening", *titles))["result"]["tracks"]
    ana.command(room, "enqueue", track=numbers[0])
    ana.command(room, "play")
    return ana, room, numbers[1:]


def guest(server, room, name):
    person = server.session(name)
    person.command(room, "join")
    return person


@contextlib.contextmanager
def four_online(server):
    """A room with an entry on air, and four online members: the people, their sockets, the room, the entry."""
    ana, room, _ = open_room(server, "dj")
    people = [ana, *(guest(server, room, name) for name in ("Ben", "Cem", "Dan"))]
    sockets = [person.socket() for person in people]
    try:
        for socket in sockets:
            socket.subscribe(room)
        backline.eventually(lambda: ana.room(room)["room"]["presence"]["online"] == 4, "four online")
        yield people, sockets, room, ana.room(room)["room"]["state"]["playback"]["entry"]
    finally:
        for socket in sockets:
            socket.close()


def play_on(person, room):
    """Ends the entry on air; returns the track that follows, or None."""
    playback = person.room(room)["room"]["state"]["playback"]
    person.command(room, "finish", entry=playback["entry"])
    return person.room(room)["room"]["state"]["playback"].get("track")


def test_the_top_request_comes_by_itself_and_says_why(shared):
    ana, room, (one, two, three) = open_room(shared, "votes", "One", "Two", "Three")
    ben, cem = guest(shared, room, "Ben"), guest(shared, room, "Cem")
    with ben.socket() as socket:
        socket.subscribe(room)
        ben.command(room, "vote", track=one)
        ben.command(room, "vote", track=two)
        requested = cem.command(room, "vote", track=two)["seq"] - 1
        assert play_on(ana, room) == two
        events = check_log(ana, room)
        chosen = next(event for event in events if event["type"] == "entryEnqueued" and "why" in event)
        assert chosen["why"] == {"rule": "votes", "rank": [2, requested]}
        assert "by" not in chosen and chosen["track"] == two
        after = events[chosen["seq"]:]
        assert [event["type"] for event in after] == ["votesCleared", "playbackStarted"]
        assert "by" not in after[1]
        assert play_on(ana, room) == one
        assert play_on(ana, room) is None
        assert ana.room(room)["room"]["state"]["playback"] == {"status": "stopped"}
        # Nothing starts by itself while nothing is on air.
        ben.command(room, "vote", track=three)
        assert ana.room(room)["room"]["state"]["playback"] == {"status": "stopped"}
        seq = ana.room(room)["room"]["seq"]
        check_followers(ana, room, [socket.catch_up(room, seq)])


def test_guests_take_turns_in_rounds(shared):
    ana, room, tracks = open_room(shared, "fair", "B1", "B2", "B3", "C1", "D1")
    ben, cem = guest(shared, room, "Ben"), guest(shared, room, "Cem")
    for track in tracks[:3]:
        ben.command(room, "vote", track=track)
    cem.command(room, "vote", track=tracks[3])
    assert play_on(ana, room) == tracks[0]
    dan = guest(shared, room, "Dan")
    dan.command(room, "vote", track=tracks[4])
    assert [play_on(ana, room) for _ in range(5)] == [tracks[3], tracks[4], tracks[1], tracks[2], None]
    reasons = [event["why"] for event in check_log(ana, room) if "why" in event]
    assert [why["rule"] for why in reasons] == ["fair"] * 5
    assert [why["rank"][:2] for why in reasons] == [[1, 1], [1, 1], [1, 1], [2, 2], [3, 3]]
    assert [why["turnOf"] for why in reasons] == [2, 3, 4, 2, 2]


def test_half_of_those_who_are_online_skip(shared):
    with four_online(shared) as (people, sockets, room, entry):
        ana = people[0]
        first = people[1].command(room, "voteSkip", entry=entry)
        assert people[1].command(room, "voteSkip", entry=entry)["seq"] == first["seq"]
        playback = ana.room(room)["room"]["state"]["playback"]
        assert (playback["status"], playback["skipVotes"]) == ("playing", 1)
        people[2].command(room, "voteSkip", entry=entry)
        assert ana.room(room)["room"]["state"]["playback"] == {"status": "stopped"}
        types = [event["type"] for event in check_log(ana, room)][-4:]
        assert types == ["skipVoteCast", "skipVoteCast", "entryFinished", "playbackStopped"]
        assert ana.room(room)["room"]["state"]["history"][0]["reason"] == "skipped"
        # A vote for an entry that is gone has no effect.
        seq = ana.room(room)["room"]["seq"]
        assert people[3].command(room, "voteSkip", entry=entry)["seq"] == seq


def test_a_vote_to_skip_is_taken_back(shared):
    with four_online(shared) as (people, sockets, room, entry):
        ana, ben = people[0], people[1]
        ben.command(room, "voteSkip", entry=entry)
        assert ana.room(room)["room"]["state"]["playback"]["skipVoters"] == [2]
        seq = ben.command(room, "unvoteSkip", entry=entry)["seq"]
        playback = ana.room(room)["room"]["state"]["playback"]
        assert playback["skipVotes"] == 0 and "skipVoters" not in playback
        assert ben.command(room, "unvoteSkip", entry=entry)["seq"] == seq
        people[2].command(room, "voteSkip", entry=entry)
        assert ana.room(room)["room"]["state"]["playback"]["entry"] == entry
        check_followers(ana, room, [socket.catch_up(room, seq + 1) for socket in sockets])


def test_what_the_deck_lacks_is_not_chosen_and_keeps_its_votes(shared):
    ana, room, (one, two, three) = open_room(shared, "votes", "One", "Two", "Three")
    ben = guest(shared, room, "Ben")
    with ben.socket() as socket:
        socket.subscribe(room)
        ana.command(room, "enqueue", track=three)
        for track in one, two:
            ben.command(room, "vote", track=track)
        seq = ana.command(room, "setMissing", tracks=[three, one, 999])["seq"]
        assert ana.command(room, "setMissing", tracks=[one, three])["seq"] == seq
        assert play_on(ana, room) == two
        assert play_on(ana, room) is None
        state = ana.room(room)["room"]["state"]
        assert state["requests"] == [one] and [entry["track"] for entry in state["queue"]] == [three]
        assert [track["track"] for track in state["pool"] if track.get("missing")] == sorted(
            [one, three], key=lambda number: next(
                place for place, track in enumerate(state["pool"]) if track["track"] == number))
        # What waits is played where a DJ says so, and the room chooses again what the deck has.
        ana.command(room, "play")
        seq = ana.command(room, "setMissing", tracks=[])["seq"]
        assert play_on(ana, room) == one
        check_log(ana, room)
        check_followers(ana, room, [socket.catch_up(room, ana.room(room)["room"]["seq"])])


def test_songs_that_are_on_air_or_wait_cannot_be_asked_for(shared):
    ana, room, (one, two) = open_room(shared, "votes", "One", "Two")
    ben = guest(shared, room, "Ben")
    ana.command(room, "enqueue", track=one)
    assert "on air" in ben.post_command(room, "vote", track=1).expect_problem(409, "conflict")["detail"]
    assert "queue" in ben.post_command(room, "vote", track=one).expect_problem(409, "conflict")["detail"]
    ben.command(room, "vote", track=two)


def test_two_djs_who_skip_the_same_song_skip_one(shared):
    ana, room, (one, two) = open_room(shared, "dj", "One", "Two")
    ben = guest(shared, room, "Ben")
    ana.command(room, "setRole", member=2, role="dj")
    for track in one, two:
        ana.command(room, "enqueue", track=track)
    entry = ana.room(room)["room"]["state"]["playback"]["entry"]
    seq = ana.command(room, "skip", entry=entry)["seq"]
    for type, fields in ("skip", {}), ("pause", {}), ("resume", {}), ("seek", {"positionMs": 5}):
        assert ben.command(room, type, entry=entry, **fields)["seq"] == seq, type
    assert ana.room(room)["room"]["state"]["playback"]["track"] == one
    # A client of an earlier release names none.
    ben.command(room, "skip")
    assert ana.room(room)["room"]["state"]["playback"]["track"] == two


def test_the_length_that_the_deck_measures_is_everybodys(shared):
    ana, room, _ = open_room(shared, "dj")
    with ana.socket() as socket:
        socket.subscribe(room)
        seq = ana.command(room, "setDuration", track=1, durationMs=61_500)["seq"]
        assert ana.command(room, "setDuration", track=1, durationMs=61_500)["seq"] == seq
        assert ana.room(room)["room"]["state"]["pool"][0]["durationMs"] == 61_500
        # It bounds nothing.
        ana.command(room, "seek", positionMs=600_000)
        ana.post_command(room, "setDuration", track=1, durationMs=0).expect_problem(400, "bad_request")
        check_followers(ana, room, [socket.catch_up(room, seq + 1)])


def test_fewer_who_are_online_need_fewer_votes(shared):
    with four_online(shared) as (people, sockets, room, entry):
        ana = people[0]
        people[1].command(room, "voteSkip", entry=entry)
        sockets.pop().close()
        sockets.pop().close()
        # Nobody sends a command: the server notices by itself.
        sockets[0].until(
            lambda: any(
                event["type"] == "playbackStopped" for message in sockets[0].pushed if message["type"] == "delta"
                for event in message["events"]),
            "the skipping")
        assert "by" not in check_log(ana, room)[-1]


def test_a_deck_that_was_offline_is_brought_along(shared):
    ana, room, (one, two, three) = open_room(shared, "dj", "One", "Two", "Three")
    waiting = ana.command(room, "enqueue", track=one)["result"]["entry"]
    now = ana.room(room)["room"]["time"]
    key = backline.new_key()
    deck = {
        "queue": [{"track": three}, {"entry": waiting}],
        "playback": {"status": "playing", "track": two, "positionMs": 30_000, "atMs": now - 5_000},
    }
    first = ana.command(room, "syncDeck", key, **deck)
    state = ana.room(room)["room"]["state"]
    assert [entry["track"] for entry in state["queue"]] == [three, one]
    assert state["playback"]["track"] == two
    assert 35_000 <= state["playback"]["positionMs"] < 60_000
    assert state["history"][0]["reason"] == "replaced"
    # A retry has the first outcome, and sending the same deck again changes nothing.
    assert ana.command(room, "syncDeck", key, **deck) == first
    stopped = {"queue": [{"track": three}, {"track": one}], "playback": {"status": "stopped"}}
    ana.command(room, "syncDeck", **stopped)
    seq = ana.room(room)["room"]["seq"]
    assert ana.command(room, "syncDeck", **stopped)["seq"] == seq
    check_log(ana, room)
    guest(shared, room, "Ben").post_command(room, "syncDeck", **stopped).expect_problem(403, "forbidden")


def test_songs_rest_and_nobody_fills_the_queue(shared):
    ana, room, (one, two) = open_room(shared, "dj", "One", "Two", repeatAfterPlays=1, maxWaitingPerMember=2)
    ana.command(room, "enqueue", track=one)
    ana.post_command(room, "enqueue", track=one).expect_problem(409, "conflict")
    ana.command(room, "enqueue", track=two)
    ana.post_command(room, "enqueue", track=one).expect_problem(422, "limit_reached")
    ben = guest(shared, room, "Ben")
    ben.post_command(room, "addTracks", tracks=backline.tracks("Mine")).expect_problem(403, "forbidden")
    ana.command(room, "updateRoom", settings={"guestsMayAdd": True})
    assert ana.room(room)["room"]["state"]["settings"]["guestsMayAdd"] is True
    assert ben.command(room, "addTracks", tracks=backline.tracks("Mine"))["result"]["tracks"] == [4]
