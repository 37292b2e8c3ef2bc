"""What a DJ's device has played while it was offline, and songs that it does not have."""

import backline
from checks import check_followers, check_log

QUEUED = 500
PLAYED = 200


class Party:
    """A room of Ana, whose device is the deck: one track is on air, and some are in the pool."""

    def __init__(self, server, pool=6, waiting=3):
        self.ana = server.session("Ana")
        self.room = self.ana.create_room()["room"]["state"]["id"]
        self.tracks = []
        titles = [f"Song {number}" for number in range(pool)]
        for first in range(0, pool, QUEUED):
            added = self.ana.command(self.room, "addTracks", tracks=backline.tracks(*titles[first:first + QUEUED]))
            self.tracks += added["result"]["tracks"]
        self.entries = [
            self.ana.command(self.room, "enqueue", track=track)["result"]["entry"]
            for track in self.tracks[:waiting + 1]]
        self.ana.command(self.room, "play")
        self.began = self.state["playback"]["startedAt"]
        self.on_air, self.waiting = self.entries[0], self.entries[1:]

    @property
    def state(self):
        return self.ana.room(self.room)["room"]["state"]

    def wait_until(self, time):
        """Waits for the server's clock."""
        backline.eventually(lambda: self.ana.room(self.room)["room"]["time"] >= time, f"the clock is at {time}")

    def at(self, milliseconds):
        """A time after the start of the song on air."""
        return self.began + milliseconds

    def heard(self, start, played, reason="ended", until=None, **item):
        heard = {**item, "startedAtMs": self.at(start), "playedMs": played, "reason": reason}
        return heard if until is None else {**heard, "endedAtMs": self.at(until)}

    def playing(self, position, at, since=None, heard=None, status="playing", **item):
        told = {"status": status, **item, "positionMs": position, "atMs": self.at(at)}
        if since is not None:
            told["startedAtMs"] = self.at(since)
        return told if heard is None else {**told, "playedMs": heard}

    def queue(self, *entries):
        return [{"entry": entry} for entry in entries]

    def night(self):
        """The deck after some time offline: two songs have ended, a third one plays."""
        first, second, third = self.waiting
        self.wait_until(self.at(100))
        return {
            "played": [
                self.heard(0, 30, until=40, entry=self.on_air),
                self.heard(40, 10, "skipped", entry=first),
                self.heard(60, 5, track=self.tracks[5]),
            ],
            "queue": self.queue(third),
            "playback": self.playing(70_025, 95, since=70, heard=20, entry=second),
        }

    def check_night(self):
        """The room is as the device of :meth:`night` knows it."""
        state = self.state
        lines = [
            (line["track"], line["startedAt"] - self.began, line["endedAt"] - self.began, line["reason"],
             line["playedMs"])
            for line in reversed(state["history"])]
        tracks = self.tracks
        assert lines == [
            (tracks[0], 0, 40, "ended", 30), (tracks[1], 40, 50, "skipped", 10), (tracks[5], 60, 65, "ended", 5)]
        assert state["playback"]["entry"] == self.waiting[1]
        assert state["playback"]["startedAt"] == self.at(70)
        assert state["playback"]["positionMs"] - state["playback"]["atMs"] == 70_025 - self.at(95)
        assert [entry["entry"] for entry in state["queue"]] == [self.waiting[2]]


def test_what_was_heard_offline_is_in_the_log_once(server):
    party = Party(server)
    watcher = server.session("Ben").socket()
    watcher.subscribe(party.room)
    deck, key, before = party.night(), backline.new_key(), party.ana.room(party.room)["room"]["seq"]
    first = party.ana.command(party.room, "syncDeck", key, **deck)
    party.check_night()
    events = check_log(party.ana, party.room)
    # The log says when everything was, and when it was told.
    told = {event["at"] for event in events[before:first["seq"]]}
    assert len(told) == 1 and told.pop() >= party.at(95)
    assert [event["endedAt"] for event in events if event["type"] == "entryFinished"] == [
        party.at(40), party.at(50), party.at(65)]
    watcher.catch_up(party.room, first["seq"])
    check_followers(party.ana, party.room, [watcher.rooms[party.room]])
    watcher.close()

    # The answer was lost and the server dies: the retry gets the first answer, and nothing is heard twice.
    server.kill()
    server.start()
    party.check_night()
    assert party.ana.command(party.room, "syncDeck", key, **deck) == first
    again = {**deck, "played": deck["played"][1:]}
    party.ana.post_command(party.room, "syncDeck", key, **again).expect_problem(409, "conflict")
    party.ana.post_command(party.room, "syncDeck", **deck).expect_problem(400, "bad_request")
    assert check_log(party.ana, party.room) == events
    for seq in range(before, first["seq"] + 1):
        past = party.ana.request("GET", f"/v1/rooms/{party.room}?at={seq}").expect(200)["room"]["state"]
        finished = [event for event in events[:seq] if event["type"] == "entryFinished"]
        assert [line["endedAt"] for line in past["history"]] == [event["endedAt"] for event in reversed(finished)]

    # The song that began offline ends later: it was heard since then.
    party.ana.command(party.room, "finish", entry=party.waiting[1])
    line = party.state["history"][0]
    assert (line["startedAt"], line["reason"]) == (party.at(70), "ended")
    assert line["playedMs"] == line["endedAt"] - party.at(95) + 20
    check_log(party.ana, party.room)
    server.stop()
    ended = backline.run("verify", *[option for option in server.options if option not in backline.NO_GRACE])
    assert ended.returncode == 0, ended


def test_refusals_change_nothing(shared):
    party = Party(shared)
    first, second, third = party.waiting
    party.wait_until(party.at(100))
    now = party.ana.room(party.room)["room"]["time"]
    rest, ahead = party.queue(second, third), now - party.began + 60_000

    def refused(code, played, queue=rest, playback=None):
        status = {"bad_request": 400, "not_found": 404, "conflict": 409, "limit_reached": 422}[code]
        answer = party.ana.post_command(
            party.room, "syncDeck", played=played, queue=queue, playback=playback or {"status": "stopped"})
        return answer.expect_problem(status, code)

    heard, playing, on_air = party.heard, party.playing, party.on_air
    before = party.ana.room(party.room)["room"]["seq"]
    for wrong in (
        heard(-1, 5, entry=on_air), heard(-1, 5, entry=first), heard(ahead, 0, entry=first),
        heard(50, ahead, entry=first), heard(50, 5, until=ahead, entry=first), heard(50, 5, until=49, entry=first),
        heard(50, -1, entry=first), heard(50, 11, until=60, entry=first), heard(50, 61, until=60, entry=on_air),
        heard(50, 2**53, entry=first), heard(50, 2**63 - 1, entry=first), heard(-2**63 - party.began, 0, entry=first),
        heard(50, 0, until=2**63 - 1 - party.began, entry=first),
        heard(50, 5, "replaced", entry=first), heard(50, 5), heard(50, 5, entry=first, track=1),
        {"entry": first, "startedAtMs": party.at(5), "reason": "ended"}, {"entry": first, "playedMs": 5}, 7,
    ):
        refused("bad_request", [wrong])
    refused("bad_request", [heard(0, 50, entry=on_air), heard(49, 5, entry=first)])
    refused("bad_request", [heard(50, 5, entry=first), heard(60, 5, entry=on_air)])
    refused("bad_request", [heard(50, 5, entry=first), heard(60, 5, entry=first)])
    refused("bad_request", [heard(50, 5, entry=second)])
    for wrong in (
        playing(0, 90, since=54, entry=second), playing(0, 90, since=ahead, entry=second),
        playing(0, 90, since=55, heard=36, entry=second), playing(0, 90, since=55, heard=-1, entry=second),
        playing(0, 90, since=55, heard=1, entry=first), playing(0, 90, entry=on_air),
    ):
        refused("bad_request", [heard(50, 5, entry=first)], party.queue(third), wrong)
    refused("bad_request", [], party.queue(*party.waiting), playing(0, 50, heard=51, entry=on_air))
    refused("bad_request", [], party.queue(*party.waiting), playing(0, 50, since=-1, entry=on_air))
    refused("not_found", [heard(50, 5, entry=99)])
    refused("not_found", [heard(50, 5, track=99)])
    refused("conflict", [heard(50, 5, entry=first)], party.queue(on_air))
    refused("limit_reached", [heard(50, 0, track=1)] * (PLAYED + 1))
    assert party.ana.room(party.room)["room"]["seq"] == before


def test_a_full_list_and_a_full_queue_are_one_command(shared):
    party = Party(shared, pool=1_000, waiting=3)
    guest = shared.session("Ben")
    guest.command(party.room, "join")
    for track in party.tracks[100:150]:
        guest.command(party.room, "vote", track=track)
    watcher = guest.socket()
    watcher.subscribe(party.room)
    party.ana.command(
        party.room, "syncDeck", queue=[{"track": track} for track in party.tracks[:QUEUED]],
        playback=party.playing(0, 0, entry=party.on_air))
    # Nothing that waits stays, so every song is a new entry.
    party.wait_until(party.at(PLAYED))
    before = party.state["queue"]
    first = party.ana.command(
        party.room, "syncDeck", played=[party.heard(n, 1, track=party.tracks[600 + n]) for n in range(PLAYED)],
        queue=[{"track": track} for track in reversed(party.tracks[500:])], playback={"status": "stopped"})
    assert len(before) == QUEUED
    state = party.state
    assert [entry["track"] for entry in state["queue"]] == list(reversed(party.tracks[500:]))
    assert [line["endedAt"] - party.began for line in state["history"]] == list(range(PLAYED, PLAYED - 50, -1))
    watcher.catch_up(party.room, first["seq"])
    events = check_log(party.ana, party.room)
    assert len([event for event in events if event["type"] == "entryFinished"]) == PLAYED + 1
    check_followers(party.ana, party.room, [watcher.rooms[party.room]])
    watcher.close()


def test_more_songs_than_one_command_takes_are_told_in_turn(shared):
    party = Party(shared)
    songs = 2 * PLAYED + 30
    party.wait_until(party.at(songs + 1))
    heard = [party.heard(0, 1, entry=party.on_air)] + [
        party.heard(n, 1, track=party.tracks[n % 5]) for n in range(1, songs)]
    while heard:
        told, heard = heard[:PLAYED], heard[PLAYED:]
        playback = {"status": "stopped"}
        if heard:
            start = heard[0]["startedAtMs"]
            playback = {
                "status": "playing", "track": heard[0]["track"], "positionMs": 0, "atMs": start, "startedAtMs": start,
                "playedMs": 0}
        party.ana.command(
            party.room, "syncDeck", played=told, queue=party.queue(*party.waiting), playback=playback)
    events = check_log(party.ana, party.room)
    finished = [event for event in events if event["type"] == "entryFinished"]
    assert [(event["startedAt"], event["endedAt"], event["playedMs"]) for event in finished] == [
        (party.at(n), party.at(n + 1), 1) for n in range(songs)]
    assert {event["reason"] for event in finished} == {"ended"}
    assert [entry["entry"] for entry in party.state["queue"]] == party.waiting


def test_a_song_that_the_deck_does_not_have_is_skipped_by_one_device(shared):
    party = Party(shared)
    seq = party.ana.command(party.room, "finish", entry=party.on_air, missing=True)["seq"]
    assert party.ana.command(party.room, "finish", entry=party.on_air, missing=True)["seq"] == seq
    event = party.ana.events(party.room)[-2]
    assert (event["type"], event["reason"], event["missing"]) == ("entryFinished", "skipped", True)
    assert party.state["history"][0]["reason"] == "skipped"
    assert party.state["playback"]["entry"] == party.waiting[0]
    # A song that has ended is not missing.
    party.ana.command(party.room, "finish", entry=party.waiting[0], missing=False)
    event = party.ana.events(party.room)[-2]
    assert event["reason"] == "ended" and "missing" not in event
    party.ana.post_command(party.room, "finish", entry=1, missing=1).expect_problem(400, "bad_request")
    check_log(party.ana, party.room)


def test_what_others_add_while_it_is_sent_stays(shared):
    party = Party(shared)
    state = {"queue": [{"entry": party.waiting[2]}], "playback": party.playing(0, 0, entry=party.on_air)}
    new = party.ana.command(party.room, "enqueue", track=party.tracks[5], at=0)["result"]["entry"]
    party.ana.command(party.room, "syncDeck", **state, known=party.waiting[2])
    assert [entry["entry"] for entry in party.state["queue"]] == [party.waiting[2], new]
    party.ana.command(party.room, "syncDeck", **state)
    assert [entry["entry"] for entry in party.state["queue"]] == [party.waiting[2]]
    for wrong in (-1, "1", 1.5):
        party.ana.post_command(party.room, "syncDeck", **state, known=wrong).expect_problem(400, "bad_request")
    check_log(party.ana, party.room)


def test_two_servers_take_it_once(own_nodes):
    party = Party(own_nodes[0])
    there = backline.Person(own_nodes[1].address, party.ana.session, party.ana.token, "Ana")
    watcher = there.socket()
    watcher.subscribe(party.room)
    deck, key = party.night(), backline.new_key()
    first = party.ana.command(party.room, "syncDeck", key, **deck)
    own_nodes[0].kill()
    assert there.command(party.room, "syncDeck", key, **deck) == first
    party.ana = there
    party.check_night()
    watcher.catch_up(party.room, first["seq"])
    check_log(there, party.room)
    check_followers(there, party.room, [watcher.rooms[party.room]])
    watcher.close()
