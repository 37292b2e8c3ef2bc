"""Rooms that are forgotten, and rooms that are removed: the data left of them in the database."""

import contextlib
import os
import re
import signal
import sqlite3
import subprocess

import pytest

import backline
from checks import check_log

NAMES = ["Zacharias Quint", "Ottoline Mauve"]
PLACE = {"lat": 47.123, "lon": 8.456}
WHERE = ["47.12", "8.45"]
SECRETS = [*NAMES, *WHERE, "sang out of tune"]


def shown(text, texts=SECRETS):
    """Which of these stand in a text, as words or as whole numbers: 48.45 is no 8.45, nor are the seconds of a time."""
    return [each for each in texts if re.search(r"(?<![\d.])(?<!\d:)" + re.escape(each), text)]


class Database:
    """A store's database, read directly."""

    def __init__(self, options, request):
        self.options = dict(zip(options[::2], options[1::2]))
        self.is_sqlite = self.options["--store"] == "sqlite"
        if not self.is_sqlite:
            self.cluster = request.getfixturevalue("cluster")
            self.name = self.options["--database-url"].rpartition("/")[2]

    @property
    def path(self):
        return os.path.join(self.options["--data"], "backline.sqlite")

    def dump(self):
        """All rows as text, except those of sessions, which live as long as they are used."""
        if self.is_sqlite:
            with contextlib.closing(sqlite3.connect(self.path)) as connection:
                lines = [line for line in connection.iterdump() if not line.startswith('INSERT INTO "sessions"')]
                # A blob is text in hexadecimal.
                return re.sub(
                    r"X'([0-9A-F]*)'", lambda blob: bytes.fromhex(blob[1]).decode(errors="replace"), "\n".join(lines))
        dump = subprocess.run(
            ["pg_dump", "--data-only", "--inserts", "--exclude-table=sessions", self.options["--database-url"]],
            capture_output=True, text=True, check=True).stdout
        return re.sub(
            r"'\\x([0-9a-f]*)'", lambda blob: bytes.fromhex(blob[1]).decode(errors="replace"), dump)

    def found(self, texts=SECRETS):
        return shown(self.dump(), texts)

    def count(self, table, room):
        if self.is_sqlite:
            with contextlib.closing(sqlite3.connect(self.path)) as connection:
                return connection.execute(
                    f"SELECT count(*) FROM {table} WHERE room_id = ?", [bytes.fromhex(room.replace("-", ""))]
                ).fetchone()[0]
        table = {"creations": "creation_keys"}.get(table, table)
        return int(self.cluster.sql(f"SELECT count(*) FROM {table} WHERE room_id = '{room}'", database=self.name))

    def in_file(self, texts):
        """The bytes of the embedded store's files, whether or not they belong to rows."""
        with open(self.path, "rb") as file:
            stored = file.read()
        if os.path.exists(self.path + "-wal"):
            with open(self.path + "-wal", "rb") as file:
                stored += file.read()
        return [text for text in texts if text.encode() in stored]


@pytest.fixture
def database(storage, request):
    return Database(storage, request)


def play(people, renames=0):
    """A room with names in every place for a name; returns it."""
    ana, ben = people
    room = ana.create_room("Kitchen", key=backline.new_key(), location=PLACE)["room"]["state"]["id"]
    member = ben.command(room, "join", "join", name="Ottoline Mauve")["result"]["member"]
    ana.command(room, "updateRoom", location={"lat": 47.124, "lon": 8.456})
    ana.command(room, "addTracks", tracks=backline.tracks("Song"))
    ben.command(room, "vote", track=1)
    ana.command(room, "kick", member=member, reason="Ottoline Mauve sang out of tune")
    ben.command(room, "join")
    with ana.socket() as client:
        for number in range(renames):
            client.send({"type": "command", "id": 10_000 + number, "room": room, "key": backline.new_key(), "command": {
                "type": "rename", "name": f"Zacharias Quint {number}"}})
        for number in range(renames):
            assert client.answer_to(10_000 + number)["type"] == "ack"
    ana.command(room, "rename", "rename", name="Zacharias Quint")
    return room


def both(server):
    return [server.session(name) for name in ("Zacharias Quint", "Ottoline Mauve")]


def check_forgotten(person, room, last, epoch):
    """The room is unchanged, except that names and locations are gone."""
    events = check_log(person, room)
    assert len(events) == last and events[-1]["type"] == "roomClosed" and events[-1]["forget"] is True
    snapshot = person.room(room)["room"]
    assert snapshot["epoch"] != epoch and "location" not in snapshot["state"]
    assert {member["name"] for member in snapshot["state"]["members"]} == {"-"}
    assert snapshot["state"]["name"] == "Kitchen" and snapshot["state"]["pool"][0]["votes"] == 0
    assert shown(str(events)) == [] and shown(str(snapshot)) == []
    for seq in (1, 3, last - 1, last):
        assert shown(person.request("GET", f"/v1/rooms/{room}?at={seq}").body.decode()) == []


def test_what_is_forgotten_is_in_no_table(server, storage, database):
    people = both(server)
    # Enough events for a snapshot.
    room = play(people, renames=600)
    other = play(people)
    last, epoch = (people[0].room(room)["room"][name] for name in ("seq", "epoch"))
    assert database.found() == SECRETS
    with people[1].socket() as watcher:
        before = watcher.subscribe(room)
        assert "Zacharias Quint" in str(before)
        assert people[0].command(room, "closeRoom", "close", forget=True)["seq"] == last + 1
        # Watchers see it in the room, and then in its new epoch.
        watcher.catch_up(room, last + 1)
        assert watcher.rooms[room].events[last + 1]["forget"] is True
        assert "Zacharias" not in str(watcher.rooms[room].state)
        watcher.until(lambda: watcher.rooms[room].position["epoch"] != epoch, "the new epoch")
        assert watcher.rooms[room].position["seq"] == last + 1 and watcher.rooms[room].ended is None
        assert watcher.ask("subscribe", room=room, position={"epoch": epoch, "seq": last})["type"] == "snapshot"
        # The new epoch is one like any other.
        position = watcher.rooms[room].position
        assert watcher.ask("subscribe", room=room, position=position)["type"] == "resumed"
    check_forgotten(people[0], room, last + 1, epoch)
    assert database.count("snapshots", room) == 0
    assert people[0].command(room, "closeRoom", "close", forget=True)["seq"] == last + 1
    people[0].post_command(room, "rename", name="A").expect_problem(410, "room_closed")
    # The other room has kept its names, until it is forgotten too.
    assert database.found() == SECRETS
    people[0].command(other, "closeRoom")
    people[0].command(other, "closeRoom", forget=True)
    backline.eventually(lambda: database.found() == [], "the end of all names")
    check_log(people[0], other)
    assert server.stop() == 0
    verified = backline.run("verify", *storage)
    assert verified.returncode == 0, verified
    if database.is_sqlite:
        with contextlib.closing(sqlite3.connect(database.path)) as connection:
            connection.execute("DELETE FROM sessions")
            connection.commit()
            connection.execute("VACUUM")
        assert database.in_file(["Zacharias", "Ottoline", "out of tune"]) == []


@pytest.mark.soak("kills")
def test_forgetting_survives_a_kill_at_any_moment(servers, storage, database):
    server = servers("--max-commands-per-second", "0", store=storage).start()
    people = both(server)
    # More events than one transaction rewrites.
    room = play(people, renames=600)
    last, epoch = (people[0].room(room)["room"][name] for name in ("seq", "epoch"))
    assert people[0].command(room, "closeRoom", forget=True)["seq"] == last + 1
    for _ in range(3):
        server.kill()
        server.start()
        # From the acknowledgement on nobody sees a name, whatever the progress of the rewriting.
        assert shown(str(people[0].events(room)) + str(people[0].room(room))) == []
    backline.eventually(lambda: database.found() == [], "the end of all names")
    backline.eventually(lambda: people[0].room(room)["room"]["epoch"] != epoch, "the new epoch")
    check_forgotten(people[0], room, last + 1, epoch)


def test_only_the_owner_has_a_room_forgotten(server):
    ana, ben = both(server)
    room = play([ana, ben])
    ben.post_command(room, "closeRoom", forget=True).expect_problem(403, "forbidden")
    ana.post_command(room, "closeRoom", forget="yes").expect_problem(400, "bad_request")
    ana.command(room, "closeRoom")
    ben.post_command(room, "closeRoom", forget=True).expect_problem(403, "forbidden")
    ana.post_command(room, "closeRoom").expect_problem(410, "room_closed")
    ana.command(room, "closeRoom", forget=True)


def retain(seconds):
    """The options with which closed rooms are kept for a time."""
    return ["--retain-closed-rooms", str(seconds / 86_400), "--max-commands-per-second", "0"]


@pytest.mark.soak("waits for removals, which come every ten seconds")
def test_a_room_that_was_closed_long_ago_is_removed_whole(servers, storage, database):
    server = servers(*retain(2), store=storage).start()
    people = both(server)
    kept, room = play(people), play(people, renames=600)
    code = people[0].room(room)["room"]["state"]["code"]
    with people[1].socket() as many, people[1].socket(f"/v1/rooms/{room}/socket", follow=room) as one:
        many.subscribe(room)
        one.wait_for("snapshot")
        people[0].command(room, "closeRoom")
        assert many.wait_for("ended", 60)["code"] == "not_found"
        assert one.closed() == 4404
    for place in (room, code):
        people[0].request("GET", f"/v1/rooms/{place}").expect_problem(404, "not_found")
    people[0].post_command(room, "closeRoom", forget=True).expect_problem(404, "not_found")
    tables = ("events", "command_keys", "snapshots", "memberships", "creations", "heads", "directory", "removals")
    backline.eventually(lambda: all(database.count(table, room) == 0 for table in tables), "nothing is left")
    assert room.replace("-", "") not in database.dump().replace("-", "").lower()
    check_log(people[0], kept)
    assert server.stop() == 0
    verified = backline.run("verify", *storage)
    assert verified.returncode == 0, verified


@pytest.mark.soak("kills, and waits for removals")
def test_a_removal_survives_a_kill_at_any_moment(servers, storage, database):
    server = servers(*retain(2), store=storage).start()
    people = both(server)
    # More events than one transaction removes.
    rooms = [play(people, renames=520) for _ in range(2)]
    for room in rooms:
        people[0].command(room, "closeRoom")
    # Removals come every ten seconds.
    backline.eventually(lambda: database.count("heads", rooms[0]) == 0, "the removal", 60)
    server.kill()
    # It is finished by a server that removes nothing itself.
    server = servers(store=storage).start()
    for room in rooms:
        people[0].server = server.address
        people[0].request("GET", f"/v1/rooms/{room}").expect_problem(404, "not_found")
    backline.eventually(
        lambda: all(database.count(table, room) == 0 for table in ("events", "snapshots", "command_keys")
                    for room in rooms), "nothing is left", 60)


@pytest.mark.soak("waits for removals, which come every ten seconds")
def test_two_servers_forget_and_remove_at_once(servers, cluster, tmp_path, request):
    store = ["--store", "postgres", "--database-url", cluster.database()]
    database = Database(store, request)
    nodes = [
        servers(*retain(86_400), store=[*store, "--data", str(tmp_path / name)]).start() for name in ("one", "two")]
    people = both(nodes[0])
    there = backline.Person(nodes[1].address, people[0].session, people[0].token, people[0].name)
    room = play(people, renames=300)
    with there.socket() as watcher:
        watcher.subscribe(room)
        epoch, last = watcher.rooms[room].position["epoch"], watcher.rooms[room].position["seq"]
        people[0].command(room, "closeRoom", forget=True)
        assert shown(there.request("GET", f"/v1/rooms/{room}/events?limit=1000").body.decode()) == []
        watcher.until(lambda: watcher.rooms[room].position["epoch"] != epoch, "the new epoch", 60)
        assert watcher.rooms[room].position["seq"] == last + 1
        assert database.found() == []
        # As if it had been closed a day earlier.
        database.cluster.sql("UPDATE directory SET closed_at = closed_at - 86400000", database.name)
        assert watcher.wait_for("ended", 60)["code"] == "not_found"
    for person in (people[0], there):
        person.request("GET", f"/v1/rooms/{room}").expect_problem(404, "not_found")
    verified = backline.run("verify", *store)
    assert verified.returncode == 0, verified


@pytest.mark.parametrize("days", ["-1", "soon", "nan", "36501"])
def test_a_retention_that_cannot_be_is_one_line(days, tmp_path):
    ended = backline.run("serve", "--port", "0", "--data", str(tmp_path), f"--retain-closed-rooms={days}")
    assert ended.returncode == 64 and "retain-closed-rooms" in ended.stderr, ended


def place(ana, renames):
    """A room that has had two locations; returns it and its last event."""
    room = ana.create_room("Kitchen", key=backline.new_key(), location=PLACE)["room"]["state"]["id"]
    ana.command(room, "updateRoom", backline.new_key(), location={"lat": 47.124, "lon": 8.456})
    with ana.socket() as client:
        for number in range(renames):
            client.send({"type": "command", "id": number, "room": room, "key": backline.new_key(), "command": {
                "type": "rename", "name": f"Ana {number}"}})
        for number in range(renames):
            assert client.answer_to(number)["type"] == "ack"
    return room, ana.room(room)["room"]["seq"]


def check_cleared(person, room, cleared):
    """No earlier location is shown: by events, past states, or a resume."""
    events = check_log(person, room)
    assert events[cleared - 1]["locationCleared"] is True
    assert not any("location" in event for event in events[:cleared])
    for seq in (1, 2, 3, cleared // 2, cleared - 1, cleared):
        view = person.request("GET", f"/v1/rooms/{room}?at={seq}").expect(200)
        assert "location" not in view["room"]["state"], seq
    epoch = person.room(room)["room"]["epoch"]
    for seq in (1, cleared - 2):
        with person.socket() as client:
            position = {"epoch": epoch, "seq": seq}
            assert client.ask("subscribe", room=room, position=position)["type"] == "resumed"
            last = 0
            while last < len(events):
                delta = client.wait_for("delta")
                last = delta["seq"]
                assert not any("location" in event for event in delta["events"] if event["seq"] < cleared)


def test_a_cleared_location_is_shown_to_nobody_and_leaves_every_table(server, storage, database):
    ana, ben = server.session("Ana"), server.session("Ben")
    # Enough events for a snapshot.
    room, last = place(ana, renames=600)
    other, _ = place(ana, renames=0)
    epoch = ana.room(room)["room"]["epoch"]
    assert database.found(WHERE) == WHERE and "location" in ana.request("GET", f"/v1/rooms/{room}?at=2").body.decode()
    with ben.socket() as watcher:
        assert "47.12" in str(watcher.subscribe(room))
        assert ana.command(room, "updateRoom", clearLocation=True)["seq"] == last + 1
        for person in (ana, ben):
            check_cleared(person, room, last + 1)
        watcher.catch_up(room, last + 1)
        assert "location" not in watcher.rooms[room].state
        # A later location is shown, and moving again clears nothing.
        for number, lat in ((2, -33.75), (3, -33.5)):
            ana.command(room, "updateRoom", location={"lat": lat, "lon": 151.25})
            watcher.catch_up(room, last + number)
            assert abs(watcher.rooms[room].state["location"]["lat"] - lat) < 0.002
        events = ana.events(room, after=last + 1)
        assert [abs(event["location"]["lat"] + 33.625) < 0.13 for event in events] == [True, True]
        # The log is rewritten while the room goes on in its epoch.
        ana.command(other, "updateRoom", clearLocation=True)
        backline.eventually(lambda: database.found(WHERE) == [], "the end of all places")
        assert ana.command(room, "rename", name="Anna")["seq"] == last + 4
        watcher.catch_up(room, last + 4)
        assert watcher.rooms[room].position["epoch"] == epoch and watcher.rooms[room].ended is None
        check_cleared(ben, room, last + 1)
    check_log(ana, other)
    assert server.stop() == 0
    verified = backline.run("verify", *storage)
    assert verified.returncode == 0, verified
    exported = backline.run("export", *storage)
    assert exported.returncode == 0 and shown(exported.stdout, WHERE) == []


@pytest.mark.soak("kills")
def test_clearing_goes_on_after_a_crash(server, storage, database):
    ana = server.session("Ana")
    for _ in range(2):
        room, last = place(ana, renames=50)
        assert ana.command(room, "updateRoom", clearLocation=True)["seq"] == last + 1
        # It may not have begun, be under way, or have ended.
        server.kill()
        server.start()
        check_cleared(ana, room, last + 1)
    backline.eventually(lambda: database.found(WHERE) == [], "the end of all places")
    assert server.stop() == 0
    verified = backline.run("verify", *storage)
    assert verified.returncode == 0, verified
