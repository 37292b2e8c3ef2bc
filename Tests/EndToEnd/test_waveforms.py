"""Waveforms over the network: setting them, reading them, and what the log keeps of them."""

import contextlib
import json
import random
import sqlite3

import pytest

import backline
from checks import check_followers, check_log
from fold import differences


def waveform(number):
    """2,048 bytes that differ with the number."""
    return random.Random(number).randbytes(2_048)


def party(server, songs=4):
    """An owner and a guest in a room with songs; the guest added the last one."""
    ana, ben = server.session("Ana"), server.session("Ben")
    room = ana.create_room("Kitchen", settings={"guestsMayAdd": True})["room"]["state"]["id"]
    ben.command(room, "join")
    ana.command(room, "addTracks", tracks=backline.tracks(*(f"Song {number}" for number in range(songs - 1))))
    ben.command(room, "addTracks", tracks=backline.tracks("Mine"))
    return ana, ben, room


def give(person, room, track, data, key=None):
    return person.command(room, "setWaveform", key, track=track, data=backline.waveform_text(data))


def look(person, room, data, headers=None):
    return person.request("GET", f"/v1/rooms/{room}/waveforms/{backline.waveform_name(data)}", headers=headers)


def tracks_of(person, room):
    return {track["track"]: track for track in person.room(room)["room"]["state"]["pool"]}


def test_a_waveform_is_set_shown_and_read(shared):
    ana, ben, room = party(shared)
    data = waveform(1)
    name = backline.waveform_name(data)
    with ben.socket() as client:
        client.subscribe(room)
        key = backline.new_key()
        first = give(ana, room, 1, data, key)
        assert first["result"] == {"waveform": name}
        assert give(ana, room, 1, data, key) == first
        assert give(ana, room, 1, data)["seq"] == first["seq"]
        ana.post_command(room, "setWaveform", key, track=2, data=backline.waveform_text(data)).expect_problem(
            409, "conflict")
        client.catch_up(room, first["seq"])
        event = client.rooms[room].events[first["seq"]]
        assert {**event, "at": 0} == {
            "seq": first["seq"], "at": 0, "type": "waveformSet", "track": 1, "waveform": name, "by": 1}
        answer = client.ask("command", room=room, command={
            "type": "setWaveform", "track": 4, "data": backline.waveform_text(data)})
        assert answer["result"] == {"waveform": name}
        client.catch_up(room, answer["seq"])
        check_followers(ana, room, [client.rooms[room]])
    assert [tracks_of(ana, room)[track].get("waveform") for track in (1, 2, 4)] == [name, None, name]
    assert [track.get("waveform") for track in ben.request(
        "GET", f"/v1/rooms/{room}/pool?sort=added").expect(200)["tracks"]] == [name, None, None, name]
    assert "waveform" not in str(ana.request("GET", f"/v1/rooms/{room}?at={first['seq'] - 1}").body)
    check_log(ana, room)


def test_the_bytes_are_served_for_ever_to_those_who_may_look(shared):
    ana, ben, room = party(shared)
    data = waveform(1)
    name = backline.waveform_name(data)
    give(ana, room, 1, data)
    for person in (ana, ben, shared.session("Cyd")):
        answer = look(person, room, data)
        assert answer.status == 200 and answer.body == data
        assert answer.headers["Content-Type"] == "application/octet-stream"
        assert answer.headers["ETag"] == f'"{name}"'
        assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
    code = ana.room(room)["room"]["state"]["code"]
    assert look(ana, code, data).body == data
    # The type is not negotiated: a page asks for anything, and a script for bytes.
    for accept in ("*/*", "application/octet-stream", "application/json", "text/html"):
        assert look(ana, room, data, {"Accept": accept}).body == data
    for condition in (f'"{name}"', f'W/"{name}"', f'"x", "{name}"', "*"):
        answer = look(ana, room, data, {"If-None-Match": condition})
        assert answer.status == 304 and answer.body == b"", condition
        assert answer.headers["ETag"] == f'"{name}"'
        assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    for condition in ('"x"', name, '""'):
        assert look(ana, room, data, {"If-None-Match": condition}).body == data
    path = f"/v1/rooms/{room}/waveforms/{name}"
    head = ana.request("HEAD", path)
    assert head.status == 200 and head.body == b"" and head.headers["Content-Length"] == "2048"
    assert head.headers["ETag"] == f'"{name}"'
    ana.request("POST", path, {}).expect_problem(405, "method_not_allowed")
    missing = look(ana, room, waveform(2))
    missing.expect_problem(404, "not_found")
    assert missing.headers["Cache-Control"] == "no-store" and missing.headers["ETag"] is None
    for wrong in ("x", name[:-1], name + "A", name[:-1] + "B", "%22", "..%2F" + name):
        ana.request("GET", f"/v1/rooms/{room}/waveforms/{wrong}").expect_problem(404, "not_found")
    # A condition does not make a missing waveform appear to be there.
    missing = ana.request("GET", f"/v1/rooms/{room}/waveforms/{'A' * 22}", headers={"If-None-Match": "*"})
    missing.expect_problem(404, "not_found")
    shared.request("GET", path).expect_problem(401, "unauthorized")
    other = ana.create_room("Cellar")["room"]["state"]["id"]
    look(ana, other, data).expect_problem(404, "not_found")
    look(ana, backline.room_id(), data).expect_problem(404, "not_found")
    ana.command(room, "kick", member=2, ban=True, durationMs=600_000)
    refused = look(ben, room, data)
    refused.expect_problem(403, "banned")
    assert 0 < refused.json["retryAfterMs"] <= 600_000
    look(ben, room, waveform(2)).expect_problem(403, "banned")


def test_who_may_set_a_waveform_and_how_often(shared):
    ana, ben, room = party(shared)
    text = backline.waveform_text(waveform(1))
    ben.post_command(room, "setWaveform", track=1, data=text).expect_problem(403, "forbidden")
    ben.post_command(room, "setWaveform", track=99, data=text).expect_problem(404, "not_found")
    shared.session("Cyd").post_command(room, "setWaveform", track=1, data=text).expect_problem(409, "not_member")
    for data in ("", "AAAA", text[:-1], text + "A", text + "=", text[:-1] + "B", "+" + text[1:], 7, None, [text]):
        problem = ana.post_command(room, "setWaveform", track=1, data=data)
        assert "data" in problem.expect_problem(400, "bad_request")["detail"]
    ana.post_command(room, "setWaveform", track=0, data=text).expect_problem(400, "bad_request")
    for number in range(2):
        give(ben, room, 4, waveform(number))
    refused = ben.post_command(room, "setWaveform", track=4, data=backline.waveform_text(waveform(2)))
    assert 3_500_000 < refused.expect_problem(429, "rate_limited")["retryAfterMs"] <= 3_600_000
    assert 3_500 < int(refused.headers["Retry-After"]) <= 3_600
    for number in range(10):
        give(ana, room, 4, waveform(10 + number))
    ana.post_command(room, "setWaveform", track=4, data=text).expect_problem(429, "rate_limited")
    # What is so already is never too often.
    give(ana, room, 4, waveform(19))
    give(ana, room, 1, waveform(19))
    ana.command(room, "closeRoom")
    ana.post_command(room, "setWaveform", track=2, data=text).expect_problem(410, "room_closed")
    assert look(ana, room, waveform(19)).body == waveform(19)


def test_rates_and_waveforms_outlive_a_kill(servers, storage):
    server = servers(store=storage).start()
    ana, ben, room = party(server)
    for number in range(2):
        give(ben, room, 4, waveform(number))
    server.kill()
    server.start()
    ben.post_command(room, "setWaveform", track=4, data=backline.waveform_text(waveform(2))).expect_problem(
        429, "rate_limited")
    for number in range(2):
        assert look(ana, room, waveform(number)).body == waveform(number)
    check_log(ana, room)
    assert server.stop() == 0
    verified = backline.run("verify", *storage)
    assert verified.returncode == 0, verified


@pytest.mark.soak("kills")
def test_every_acknowledged_waveform_survives_kills(servers, storage, seed):
    """Tracks get waveforms and are removed while the server is killed again and again."""
    dice = random.Random(seed)
    server = servers(*backline.NO_GRACE, store=storage).start()
    ana, _, room = party(server, songs=40)
    for _ in range(4):
        with ana.socket() as client:
            for number in range(40):
                command = {"type": "setWaveform", "track": dice.randint(1, 40),
                           "data": backline.waveform_text(waveform(dice.randint(1, 9)))}
                if dice.randint(1, 20) == 1:
                    command = {"type": "removeTracks", "tracks": [dice.randint(1, 40)]}
                client.send({"type": "command", "id": number, "room": room, "key": backline.new_key(),
                             "command": command})
            client.answer_to(dice.randint(0, 39))
            server.kill()
        server.start()
        data = {backline.waveform_name(waveform(number)): waveform(number) for number in range(1, 10)}
        for track in tracks_of(ana, room).values():
            if "waveform" in track:
                assert look(ana, room, data[track["waveform"]]).body == data[track["waveform"]]
        check_log(ana, room)
    assert server.stop() == 0
    verified = backline.run("verify", *storage)
    assert verified.returncode == 0, verified


class Rows:
    """The rows of waveforms in a store's database, read and changed directly."""

    def __init__(self, options, request):
        self.options = dict(zip(options[::2], options[1::2]))
        self.is_sqlite = self.options["--store"] == "sqlite"
        if not self.is_sqlite:
            self.cluster = request.getfixturevalue("cluster")
            self.name = self.options["--database-url"].rpartition("/")[2]

    def run(self, sql):
        """Runs a statement; returns its rows as lists of texts."""
        if self.is_sqlite:
            path = self.options["--data"] + "/backline.sqlite"
            with contextlib.closing(sqlite3.connect(path, timeout=60)) as connection, connection:
                return [["" if value is None else str(value) for value in row] for row in connection.execute(sql)]
        return [line.split("|") for line in self.cluster.sql(sql, database=self.name).splitlines() if line]

    def names(self):
        """Whether each row is needed, by its name."""
        rows = self.run("SELECT waveform, unneeded_since FROM waveforms ORDER BY waveform")
        return {row[0]: not row[1] for row in rows}


@pytest.fixture
def rows(storage, request):
    return Rows(storage, request)


@pytest.mark.soak("waits for rounds, which come every ten seconds")
def test_waveforms_that_no_track_has_are_deleted_after_a_day(server, rows):
    ana, ben, room = party(server)
    one, two, three = (waveform(number) for number in (1, 2, 3))
    name = backline.waveform_name
    give(ana, room, 1, one)
    give(ana, room, 2, one)
    last = give(ana, room, 3, two)["seq"]
    give(ana, room, 3, three)
    ana.command(room, "removeTracks", tracks=[1])
    assert rows.names() == {name(one): True, name(two): False, name(three): True}
    # For a day, what an event of before or a past state names can be read.
    past = ana.request("GET", f"/v1/rooms/{room}?at={last}").expect(200)["room"]["state"]["pool"]
    assert name(two) in [track.get("waveform") for track in past]
    assert look(ben, room, two).body == two

    day = 24 * 3_600 * 1_000
    rows.run(f"UPDATE waveforms SET unneeded_since = unneeded_since - {day}")
    backline.eventually(lambda: rows.names() == {name(one): True, name(three): True}, "the removal")
    backline.eventually(lambda: look(ben, room, two).status == 404, "the end of the waveform")
    past = ana.request("GET", f"/v1/rooms/{room}?at={last}").expect(200)["room"]["state"]["pool"]
    assert name(two) in [track.get("waveform") for track in past]
    # It can be set again; the last track that has one takes it along.
    give(ana, room, 2, two)
    assert look(ben, room, two).body == two and rows.names()[name(one)] is False
    ana.command(room, "removeTracks", tracks=[2])
    assert rows.names() == {name(one): False, name(two): False, name(three): True}
    check_log(ana, room)


@pytest.mark.soak("waits for rounds, which come every ten seconds")
def test_waveforms_go_with_their_room_and_stay_when_it_is_forgotten(servers, storage, rows):
    server = servers("--retain-closed-rooms", str(2 / 86_400), store=storage).start()
    ana, ben, room = party(server)
    give(ana, room, 1, waveform(1))
    give(ana, room, 1, waveform(2))
    kept = ben.create_room("Cellar")["room"]["state"]["id"]
    ben.command(kept, "addTracks", tracks=backline.tracks("One"))
    give(ben, kept, 1, waveform(2))
    ana.command(room, "closeRoom", forget=True)
    backline.eventually(lambda: look(ana, room, waveform(2)).status == 404, "the removal of the room")
    backline.eventually(
        lambda: rows.names() == {backline.waveform_name(waveform(2)): True}, "the removal of the rows")
    assert look(ben, kept, waveform(2)).body == waveform(2)
    assert server.stop() == 0
    verified = backline.run("verify", *storage)
    assert verified.returncode == 0, verified


def test_a_forgotten_room_keeps_its_waveforms(stored):
    ana, ben, room = party(stored)
    give(ben, room, 4, waveform(1))
    epoch = ana.room(room)["room"]["epoch"]
    ana.command(room, "closeRoom", forget=True)
    backline.eventually(lambda: ana.room(room)["room"]["epoch"] != epoch, "the new epoch")
    assert look(ana, room, waveform(1)).body == waveform(1)
    assert tracks_of(ana, room)[4]["waveform"] == backline.waveform_name(waveform(1))


def test_verify_finds_what_is_wrong_with_waveforms(servers, storage, rows):
    server = servers(store=storage).start()
    ana, _, room = party(server)
    give(ana, room, 1, waveform(1))
    give(ana, room, 2, waveform(2))
    assert server.stop() == 0
    one, two = backline.waveform_name(waveform(1)), backline.waveform_name(waveform(2))

    def findings():
        verified = backline.run("verify", *storage)
        found = [line for line in verified.stdout.splitlines() if line.startswith("room ")]
        assert verified.returncode == (1 if found else 0), verified
        return "\n".join(found)

    assert findings() == ""
    rows.run(f"UPDATE waveforms SET unneeded_since = 7 WHERE waveform = '{one}'")
    assert f"waveform {one}: unneeded_since" in findings() and "to null" in findings()
    rows.run(f"UPDATE waveforms SET unneeded_since = NULL WHERE waveform = '{one}'")
    assert findings() == ""
    rows.run(f"UPDATE waveforms SET data = (SELECT data FROM waveforms WHERE waveform = '{two}') "
             f"WHERE waveform = '{one}'")
    assert f"waveform {one}: expected 2048 bytes with this hash, found bytes with the hash {two}" in findings()
    exported = backline.run("export", *storage)
    assert exported.returncode == 69 and f"has no waveform {one}" in exported.stderr, exported
    rows.run(f"DELETE FROM waveforms WHERE waveform = '{one}'")
    assert f"waveform {one}: expected a row: a track has it, found no row" in findings()


def test_an_export_carries_the_waveforms_into_either_store(servers, storage, stores, tmp_path):
    server = servers(store=storage).start()
    ana, ben, room = party(server)
    for track, number in ((1, 1), (2, 2), (3, 1), (4, 3)):
        give(ana, room, track, waveform(number))
    give(ana, room, 4, waveform(4))
    state = ana.room(room)["room"]
    assert server.stop() == 0
    exported = backline.run("export", *storage)
    assert exported.returncode == 0, exported
    lines = exported.stdout.splitlines()
    assert json.loads(lines[0])["backline"]["format"] == 2
    names = [json.loads(line)["waveform"]["name"] for line in lines if line.startswith('{"waveform"')]
    assert names == sorted(backline.waveform_name(waveform(number)) for number in (1, 2, 4))
    assert json.loads(lines[-1])["end"]["waveforms"] == 3
    file = tmp_path / "log.jsonl"
    file.write_text(exported.stdout, encoding="utf-8")
    for kind in ("sqlite", "postgres"):
        target = stores(kind)
        for arguments in (["import", str(file)], ["verify"]):
            done = backline.run(*arguments, *target)
            assert done.returncode == 0, done
        again = backline.run("export", *target)
        # The databases write the members of an event's payload in orders of their own.
        assert [json.loads(line) for line in again.stdout.splitlines()] == [json.loads(line) for line in lines]
        copy = servers(store=target).start()
        person = backline.Person(copy.address, ana.session, ana.token, ana.name)
        shown = person.room(room)["room"]
        assert shown["epoch"] == state["epoch"] and differences(shown["state"], state["state"]) == []
        assert look(person, room, waveform(4)).body == waveform(4)
        look(person, room, waveform(3)).expect_problem(404, "not_found")
        assert copy.stop() == 0


def test_two_servers_on_one_database_set_and_show_the_same_waveforms(nodes):
    one, two = nodes
    ana, ben, room = party(one)
    there = backline.Person(two.address, ana.session, ana.token, ana.name)
    give(ana, room, 1, waveform(1), "k")
    assert look(there, room, waveform(1)).body == waveform(1)
    assert give(there, room, 1, waveform(1), "k")["result"] == {"waveform": backline.waveform_name(waveform(1))}
    give(there, room, 1, waveform(2))
    assert look(ana, room, waveform(2)).body == waveform(2)
    # The ten in an hour are counted by the log, wherever they are sent.
    for number in range(8):
        give((ana, there)[number % 2], room, 1, waveform(10 + number))
    for person in (ana, there):
        person.post_command(room, "setWaveform", track=1, data=backline.waveform_text(waveform(99))).expect_problem(
            429, "rate_limited")
    check_log(there, room)
