"""A client that has lost its connection has time to come back before others see that it was away."""

import time

import pytest

import backline
from checks import check_log
from test_live import Who, join, listeners, on
from test_queue_modes import four_online

GRACE = 3.0
FAR_GRACE = 5.0
"""The grace while a server stops and its clients move to another one."""
NEVER = ("--presence-grace-seconds", "600")
"""A grace so long that a member who is offline earlier left in another way."""


def frames(socket):
    """Returns the presence messages so far: arrivals and departures, frame by frame."""
    found = [message for message in socket.pushed if message["type"] == "presence"]
    for message in found:
        socket.pushed.remove(message)
    return [(message["on"], message["off"]) for message in found]


class Absence:
    """Times in which somebody was away. Only if one of them lasted as long as the grace may others have seen it."""

    def __init__(self, grace):
        self.grace, self.may_be_seen = grace, False

    def __enter__(self):
        self.began = time.monotonic()

    def __exit__(self, *_):
        self.may_be_seen = self.may_be_seen or time.monotonic() - self.began >= self.grace


@pytest.mark.soak("a grace of seconds really passes")
def test_who_comes_back_within_the_grace_was_never_away(servers):
    server = servers("--presence-grace-seconds", str(GRACE)).start()
    away = Absence(GRACE)
    ana, ben, cyd = (server.session(name) for name in ("Ana", "Ben", "Cyd"))
    room = ana.create_room()["room"]["state"]["id"]
    join(ben, room)
    join(cyd, room)
    with ana.socket() as watching:
        second = ben.socket()
        second.subscribe(room)
        Who(watching, room)
        frames(watching)
        # With a close frame, as a browser does it, and without one.
        with away:
            second.close()
            told = listeners(ana, room)
            second = ben.socket()
            assert second.subscribe(room)["presence"] == {"online": 2, "members": [1, 2]}
        assert told == 2 or away.may_be_seen
        with away:
            second.drop()
            second = ben.socket(f"/v1/rooms/{room}/socket")
            second.wait_for("snapshot")
            assert ana.room(room)["room"]["presence"] == {"online": 2, "members": [1, 2]}
        # Somebody else comes and stays away: that message follows all messages about Ben.
        third = cyd.socket()
        third.subscribe(room)
        lost = time.monotonic()
        third.close()
        told = []
        watching.until(lambda: told.extend(frames(watching)) or ([], [3]) in told, "the end of the grace", 60)
        assert time.monotonic() - lost > GRACE
        assert away.may_be_seen or not any(2 in on + off for on, off in told), told
        assert ana.room(room)["room"]["presence"] == {"online": 2, "members": [1, 2]}
        assert listeners(ana, room) == 2
        second.close()
        watching.until(lambda: ([], [2]) in frames(watching), "Ben is offline")
        assert listeners(ana, room) == 1


def test_who_says_that_it_goes_is_offline_at_once(servers):
    server = servers(*NEVER).start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    people = [server.session(name) for name in ("Ben", "Cyd", "Dan", "Eve", "Fay")]
    members = [join(person, room) for person in people]
    with ana.socket() as watching:
        who = Who(watching, room)
        sockets = [person.socket() for person in people]
        for socket in sockets:
            socket.subscribe(room)
        who.until({1, *members})
        sockets[0].ask("unsubscribe", room=room)
        who.until({1, *members[1:]})
        for socket in sockets:
            socket.close()
        assert listeners(ana, room) == 5, "the others may be back"
        people[1].command(room, "leave")
        who.until({1, *members[2:]})
        ana.command(room, "kick", member=members[2])
        who.until({1, *members[3:]})
        ana.command(room, "kick", member=members[3], ban=True)
        who.until({1, members[4]})
        people[4].request("DELETE", "/v1/session").expect(204)
        who.until({1})
        # A new membership starts afresh: nothing is left of the one that ended.
        join(people[1], room)
        assert ana.room(room)["room"]["presence"] == {"online": 1, "members": [1]}
        assert listeners(ana, room) == 1


def test_who_may_be_back_counts_among_those_who_skip(servers):
    server = servers("--presence-grace-seconds", str(GRACE)).start()
    with four_online(server) as (people, sockets, room, entry):
        people[1].command(room, "voteSkip", entry=entry)
        lost = time.monotonic()
        for _ in range(2):
            sockets.pop().close()
        sockets[0].until(
            lambda: any(
                event["type"] == "playbackStopped" for message in sockets[0].pushed if message["type"] == "delta"
                for event in message["events"]),
            "the skipping")
        assert time.monotonic() - lost > GRACE


def test_votes_to_skip_of_those_who_are_away_count_when_they_are_back(servers):
    server = servers("--presence-grace-seconds", "0").start()
    with four_online(server) as (people, sockets, room, entry):
        ana, ben = people[0], people[1]
        ben.command(room, "voteSkip", entry=entry)
        for away in 1, 3, 2:
            assert sockets[away].ask("unsubscribe", room=room)["type"] == "ok"
        # Ana is there alone, and does not want another song.
        backline.eventually(lambda: ana.room(room)["room"]["presence"]["online"] == 1, "one online")
        playback = ana.room(room)["room"]["state"]["playback"]
        assert (playback["entry"], playback["skipVotes"], playback["skipVoters"]) == (entry, 1, [2])
        ana.command(room, "rename", name="Anna")
        assert [event["type"] for event in check_log(ana, room)][-2:] == ["skipVoteCast", "memberRenamed"]
        # One of two wants it now.
        sockets[1].subscribe(room)
        sockets[0].until(
            lambda: any(
                event["type"] == "playbackStopped" for message in sockets[0].pushed if message["type"] == "delta"
                for event in message["events"]),
            "the skipping")


@pytest.mark.soak("a grace of seconds really passes")
def test_who_comes_back_to_another_server_was_never_away(servers, cluster, tmp_path):
    store = ["--store", "postgres", "--database-url", cluster.database()]
    one, two = (
        servers("--presence-grace-seconds", str(FAR_GRACE), "--drain-window-seconds", "1",
                store=[*store, "--data", str(tmp_path / name)]).start()
        for name in ("one", "two"))
    away = Absence(FAR_GRACE)
    ana, ben, cyd = (one.session(name) for name in ("Ana", "Ben", "Cyd"))
    room = ana.create_room()["room"]["state"]["id"]
    join(ben, room)
    join(cyd, room)
    with ana.socket() as watching:
        who = Who(watching, room)
        second = ben.socket()
        second.subscribe(room)
        who.until({1, 2})
        frames(watching)
        with away:
            second.drop()
            second = on(two, ben).socket()
            second.subscribe(room)
        with cyd.socket() as third:
            third.subscribe(room)
        told = []
        watching.until(lambda: told.extend(frames(watching)) or ([], [3]) in told, "the end of the grace", 60)
        assert away.may_be_seen or not any(2 in on + off for on, off in told), told
        # Its server stops, and the client connects to the other one.
        with away:
            assert two.stop() == 0
            second = ben.socket()
            assert second.subscribe(room)["presence"] == {"online": 2, "members": [1, 2]}
        third = cyd.socket()
        third.subscribe(room)
        third.drop()
        told = []
        watching.until(lambda: told.extend(frames(watching)) or ([], [3]) in told, "the end of the grace", 60)
        assert away.may_be_seen or not any(2 in on + off for on, off in told), told
        # No client comes back.
        second.drop()
        watching.until(lambda: ([], [2]) in frames(watching), "Ben is offline")
        assert listeners(ana, room) == 1
