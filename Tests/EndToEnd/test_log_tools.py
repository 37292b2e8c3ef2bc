"""The operator's tools for a log: verify, events, export, import, epoch renew."""

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import tempfile
import uuid

import pytest

import backline


@pytest.fixture
def sql(request):
    """Runs SQL on a store's database directly."""

    def run(store, statement):
        options = dict(zip(store[::2], store[1::2]))
        if options["--store"] == "postgres":
            return request.getfixturevalue("cluster").sql(statement, database=options["--database-url"].rpartition("/")[2])
        with contextlib.closing(sqlite3.connect(options["--data"] + "/backline.sqlite")) as connection, connection:
            return connection.execute(statement).fetchall()

    return run


def write_some(server, songs=5):
    """Two people in a room with some history; returns the people, the room and keyed commands with answers."""
    ana, ben = server.session("Ana"), server.session("Ben")
    made = ana.create_room("Kitchen", key="the-room")
    room = made["room"]["state"]["id"]
    ben.command(room, "join")
    keyed = []
    for number in range(songs):
        key = backline.new_key()
        body = {"tracks": backline.tracks(f"Song {number}", f"Lied {number} „Ü“ 🎧")}
        keyed.append((key, body, ana.command(room, "addTracks", key=key, **body)))
    ben.command(room, "vote", track=1)
    ana.command(room, "enqueue", track=2)
    ana.command(room, "play")
    return ana, ben, room, keyed


def verify(store, *options):
    ended = backline.run("verify", *store, *options)
    assert ended.stdout.splitlines()[-1].startswith("verified "), ended
    return ended


def proven(store):
    ended = verify(store)
    assert ended.returncode == 0 and len(ended.stdout.splitlines()) == 1, ended
    assert ": 0 findings" in ended.stdout and "without checksum" not in ended.stdout, ended
    return ended


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_verify_proves_what_a_server_wrote_and_finds_a_letter_that_changed(servers, stores, sql, kind):
    store = stores(kind)
    server = servers(store=store).start()
    ana, _, room, _ = write_some(server)
    other = ana.create_room("Other")["room"]["state"]["id"]
    proven(store)  # beside the server
    assert server.stop() == 0
    proven(store)
    if kind == "sqlite":
        sql(store, "UPDATE events SET payload = replace(payload, 'Song 3', 'Sonh 3') WHERE type = 'tracksAdded'")
    else:
        sql(store, "UPDATE events SET payload = replace(payload::text, 'Song 3', 'Sonh 3')::jsonb "
                   "WHERE type = 'tracksAdded'")
    ended = verify(store)
    lines = ended.stdout.splitlines()
    assert ended.returncode == 1 and len(lines) == 2, ended
    assert lines[0].startswith(f"room {room}: event 7: checksum: expected ") and "restore" in lines[0], lines
    assert verify(store, "--room", room).returncode == 1
    assert verify(store, "--room", other).returncode == 0


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_verify_finds_what_does_not_follow_from_the_events(servers, stores, sql, kind):
    store = stores(kind)
    server = servers(store=store).start()
    _, _, room, _ = write_some(server)
    assert server.stop() == 0
    for change, found in [
        ("UPDATE directory SET dj_name = 'Zoe'", "directory: dj_name: expected \"Ana\", found \"Zoe\""),
        ("UPDATE heads SET epoch = 'x'", "epoch x: checksum"),
        ("DELETE FROM directory", "directory: expected a row"),
        ("DELETE FROM memberships", "memberships: expected session"),
        ("DELETE FROM command_keys WHERE ordinal = 2", "keys: expected ordinal 2"),
        ("DELETE FROM events WHERE seq = 4", "event 4: expected an event"),
    ]:
        sql(store, change)
        ended = verify(store)
        assert ended.returncode == 1 and any(
            line.startswith(f"room {room}: {found}") for line in ended.stdout.splitlines()), ended


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_room_with_a_damaged_key_goes_on_without_its_keys(servers, stores, sql, kind):
    store, copy = stores(kind), stores("sqlite")
    server = servers(store=store).start()
    ana, _, room, keyed = write_some(server)
    assert server.stop() == 0
    sql(store, "UPDATE command_keys SET seq = seq - 1 WHERE ordinal = 4")
    ended = verify(store)
    assert ended.returncode == 1, ended
    assert all("set keyed of its row" in line for line in ended.stdout.splitlines()[:-1]), ended
    sql(store, "DELETE FROM command_keys")
    sql(store, "UPDATE heads SET keyed = 0")
    assert backline.run("epoch", "renew", *store, "--room", room).returncode == 0
    proven(store)
    ana.server = server = servers(store=store).start()
    key, body, answer = keyed[0]
    again = ana.command(room, "addTracks", key=key, **body)
    assert again["seq"] > answer["seq"], "it is carried out again"
    assert ana.command(room, "addTracks", key=key, **body) == again
    assert server.stop() == 0
    proven(store)
    exported = backline.run("export", *store)
    with subprocess.Popen([backline.program(), "import", *copy], stdin=subprocess.PIPE) as importing:
        importing.communicate(exported.stdout.encode())
    assert importing.returncode == 0
    proven(copy)


@pytest.mark.parametrize("source, target", [("sqlite", "postgres"), ("postgres", "sqlite"), ("sqlite", "sqlite")])
def test_a_log_moves_and_everybody_goes_on(servers, stores, tmp_path, source, target):
    old, new = stores(source), stores(target)
    server = servers(store=old).start()
    ana, ben, room, keyed = write_some(server, songs=30)
    closed = ben.create_room("Gone")["room"]["state"]["id"]
    ben.command(closed, "closeRoom")
    with ana.socket() as client:
        position = client.subscribe(room)
        follower = client.rooms[room]
    events = ana.events(room)
    state = ana.room(room)["room"]["state"]
    assert server.stop() == 0

    file = str(tmp_path / "log.jsonl")
    exported = backline.run("export", *old, "--out", file)
    assert exported.returncode == 0 and exported.stdout == "", exported
    assert os.stat(file).st_mode & 0o777 == 0o600
    assert backline.run("export", *old, "--out", file).returncode == 64, "a file is never written over"
    imported = backline.run("import", *new, file)
    assert imported.returncode == 0 and imported.stdout.startswith("imported 2 rooms, "), imported
    proven(new)
    again = backline.run("export", *new)
    with open(file, encoding="utf-8") as text:
        lines = [json.loads(line) for line in text]
    assert [json.loads(line) for line in again.stdout.splitlines()] == lines
    assert backline.run("import", *new, file).returncode == 78, "a log is not written over"

    ana.server = ben.server = servers(store=new).start()
    assert ana.events(room) == events
    assert ana.room(room)["room"]["state"] == state
    # The same sessions, the same keys, the same positions.
    for key, body, answer in keyed:
        assert ana.command(room, "addTracks", key=key, **body) == answer
    assert ana.create_room("Kitchen", key="the-room")["room"]["state"]["id"] == room
    with ana.socket() as client:
        assert client.resume(follower)["type"] == "resumed"
        seq = ben.command(room, "vote", track=3)["seq"]
        assert seq == position["seq"] + 1
        client.catch_up(room, seq)
        assert client.rooms[room].state == ana.room(room)["room"]["state"]
    proven(new)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_an_import_that_is_killed_leaves_a_store_that_nobody_takes_for_whole(servers, stores, tmp_path, kind):
    old, new = stores("sqlite"), stores(kind)
    server = servers(store=old).start()
    write_some(server)
    assert server.stop() == 0
    lines = backline.run("export", *old).stdout.splitlines()
    # It waits for the rest of its input.
    with subprocess.Popen(
        [backline.program(), "import", *new], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as importing:
        importing.stdin.write("".join(line + "\n" for line in lines[:-1]).encode())
        importing.stdin.flush()
        backline.eventually(lambda: verify(new).returncode == 1, "the import has begun")
        importing.kill()
    ended = verify(new)
    assert ended.returncode == 1 and "an import that was not finished" in ended.stdout, ended
    refused = backline.run("serve", *new, "--port", "0")
    assert refused.returncode == 78 and "import" in refused.stderr, refused
    file = tmp_path / "log.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert backline.run("import", *new, str(file)).returncode == 78
    # An empty store accepts it.
    other = stores(kind)
    assert backline.run("import", *other, str(file)).returncode == 0
    proven(other)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_room_that_was_forgotten_is_proven_and_moves(servers, stores, kind):
    old, new = stores(kind), stores("sqlite")
    server = servers(store=old).start()
    ana, _, room, _ = write_some(server)
    epoch = ana.room(room)["room"]["epoch"]
    ana.command(room, "closeRoom", forget=True)
    assert verify(old).returncode == 0
    assert "Ana" not in backline.run("events", *old, room).stdout
    backline.eventually(lambda: ana.room(room)["room"]["epoch"] != epoch, "the room is forgotten")
    assert server.stop() == 0
    exported = backline.run("export", *old)
    assert verify(old).returncode == 0 and '"name":"Ana"' not in exported.stdout.partition('{"session"')[0]
    with subprocess.Popen([backline.program(), "import", *new], stdin=subprocess.PIPE) as importing:
        importing.communicate(exported.stdout.encode())
    assert importing.returncode == 0 and verify(new).returncode == 0


def test_a_damaged_or_cut_export_is_refused_with_the_line(servers, stores, tmp_path, seed):
    old = stores("sqlite")
    server = servers(store=old).start()
    write_some(server)
    assert server.stop() == 0
    lines = backline.run("export", *old).stdout.splitlines()
    *events, last = [n for n, line in enumerate(lines) if line.startswith('{"event"')]
    number = random.Random(seed).choice(events)
    # A room that ends too early is noticed at the first line that is not its own; one line is missing before it.
    behind = next(n for n, line in enumerate(lines) if n > last and not line.startswith('{"key"'))
    for change, complaint in [
        (lines[:-1], f"ends after line {len(lines) - 1}"),
        (lines[:number] + lines[number + 1:], f"line {number + 1}: "),
        (lines[:last] + lines[last + 1:], f"line {behind}: "),
        (lines[:number] + [lines[number].replace('"seq":', '"seq":1')] + lines[number + 1:], f"line {number + 1}: "),
        (["{}", *lines], "line 1: "),
    ]:
        file = tmp_path / "changed.jsonl"
        file.write_text("\n".join(change) + "\n", encoding="utf-8")
        ended = backline.run("import", *stores("sqlite"), str(file))
        assert ended.returncode == 65 and complaint in ended.stderr and len(ended.stderr.splitlines()) == 1, ended


def test_one_room_is_restored_by_hand_and_all_sessions_are_ended(servers, stores, tmp_path):
    store = stores("sqlite")
    server = servers(store=store).start()
    ana, ben, room, _ = write_some(server)
    before = ana.room(room)["room"]
    database, backup = store[3] + "/backline.sqlite", str(tmp_path / "backup.sqlite")
    with contextlib.closing(sqlite3.connect(database)) as old, contextlib.closing(sqlite3.connect(backup)) as copy:
        old.backup(copy)
    ben.command(room, "leave")
    for number in range(5):
        ana.command(room, "addTracks", key=backline.new_key(), tracks=backline.tracks(f"Later {number}"))
    other = ana.create_room("Other")["room"]["state"]["id"]
    events = ana.events(other)
    assert server.stop() == 0

    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("ATTACH ? AS backup", (backup,))
        only = (uuid.UUID(room).bytes,)
        with connection:
            for table in ("events", "snapshots", "command_keys", "memberships", "waveforms", "heads", "directory",
                          "removals"):
                connection.execute(f"DELETE FROM main.{table} WHERE room_id = ?", only)
                if table != "removals":
                    connection.execute(
                        f"INSERT INTO main.{table} SELECT * FROM backup.{table} WHERE room_id = ?", only)
    assert backline.run("epoch", "renew", *store, "--room", room).returncode == 0
    proven(store)
    ana.server = server = servers(store=store).start()
    after = ana.room(room)["room"]
    assert after["epoch"] != before["epoch"]
    assert (after["seq"], after["state"]) == (before["seq"], before["state"])
    assert ana.events(other) == events
    assert ana.command(room, "rename", name="Ana 2")["seq"] == before["seq"] + 1
    assert server.stop() == 0

    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE sessions SET has_ended = true, expires_at = created_at")
    ana.server = server = servers(store=store).start()
    ana.request("GET", "/v1/session").expect(401)
    carl = server.session("Carl")
    backline.eventually(lambda: carl.room(room)["room"]["state"].get("closedAt"), "the room is closed")
    assert server.stop() == 0
    proven(store)


def test_a_line_that_is_too_long_for_an_export_is_refused_as_data(stores, tmp_path):
    file = tmp_path / "long.jsonl"
    file.write_bytes(b"x" * ((1 << 25) + (1 << 17)))
    ended = backline.run("import", *stores("sqlite"), str(file))
    assert ended.returncode == 65 and "not an export" in ended.stderr and len(ended.stderr.splitlines()) == 1, ended


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_events_are_printed_and_followed_beside_the_server(servers, stores, kind):
    store = stores(kind)
    server = servers(store=store).start()
    ana, _, room, _ = write_some(server)
    code = ana.room(room)["room"]["state"]["code"]
    events = ana.events(room)
    for name in (room, code.lower()):
        printed = backline.run("events", *store, name)
        assert printed.returncode == 0 and [json.loads(line) for line in printed.stdout.splitlines()] == events
    printed = backline.run("events", *store, room, "--after", str(len(events) - 2))
    assert [json.loads(line) for line in printed.stdout.splitlines()] == events[-2:]
    with tempfile.TemporaryFile() as errors, subprocess.Popen(
        [backline.program(), "events", *store, room, "--after", str(len(events)), "--follow"],
        stdout=subprocess.PIPE, stderr=errors, text=True,
    ) as following:
        for name in ("Ana 1", "Ana 2"):
            ana.command(room, "rename", name=name)
            event = json.loads(following.stdout.readline())
            assert (event["type"], event["name"]) == ("memberRenamed", name)
        following.send_signal(signal.SIGINT)
        assert following.wait(backline.PATIENCE) in (0, -signal.SIGINT)
        errors.seek(0)
        assert errors.read() == b""
    # The reader may leave.
    with subprocess.Popen(
        [backline.program(), "events", *store, room, "--follow"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as following:
        following.stdout.readline()
        following.stdout.close()
        assert following.wait(backline.PATIENCE) in (0, -signal.SIGPIPE)
        assert following.stderr.read() == b""


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_events_that_are_missing_are_not_passed_over(servers, stores, sql, kind):
    store = stores(kind)
    server = servers(store=store).start()
    ana, _, room, _ = write_some(server)
    events = ana.events(room)
    assert server.stop() == 0
    for change, seq in [(f"= {len(events)}", len(events)), ("= 4", 4), ("> 0", 1)]:
        sql(store, f"DELETE FROM events WHERE seq {change}")
        for options in ([], ["--follow"]):
            printed = backline.run("events", *store, room, *options)
            assert [json.loads(line) for line in printed.stdout.splitlines()] == events[:seq - 1]
            assert printed.returncode == 69, printed
            assert f"event {seq} of room {room} is missing: run 'backline verify'" in printed.stderr, printed


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_nobody_resumes_into_a_renewed_epoch(servers, stores, kind):
    store = stores(kind)
    server = servers(store=store).start()
    ana, _, room, _ = write_some(server)
    other = ana.create_room("Other")["room"]["state"]["id"]
    with ana.socket() as client:
        epochs = {name: client.subscribe(name)["epoch"] for name in (room, other)}
        followers = dict(client.rooms)
    if kind == "sqlite":
        refused = backline.run("epoch", "renew", *store)
        assert refused.returncode == 69 and "stop it first" in refused.stderr, refused
    migrated = backline.run("migrate", *store)
    assert migrated.returncode == (69 if kind == "sqlite" else 0), migrated
    assert server.stop() == 0
    one = backline.run("epoch", "renew", *store, "--room", room)
    assert (one.returncode, one.stdout) == (0, "renewed the epoch of 1 room\n"), one
    ana.server = server = servers(store=store).start()
    with ana.socket() as client:
        answer = client.resume(followers[room])
        assert answer["type"] == "snapshot" and answer["epoch"] != epochs[room]
        assert client.resume(followers[other])["type"] == "resumed"
    assert server.stop() == 0
    every = backline.run("epoch", "renew", *store)
    assert (every.returncode, every.stdout) == (0, "renewed the epochs of 2 rooms\n"), every
    proven(store)


def test_who_watches_through_a_running_server_gets_a_snapshot_of_the_renewed_epoch(servers, stores):
    store = stores("postgres")
    server = servers(store=store).start()
    ana, _, room, _ = write_some(server)
    with ana.socket() as client:
        snapshot = client.subscribe(room)
        renewed = backline.run("epoch", "renew", *store)
        assert renewed.returncode == 0, renewed
        fresh = client.wait_for("snapshot")
        assert fresh["epoch"] != snapshot["epoch"] and fresh["seq"] == snapshot["seq"]
        seq = ana.command(room, "rename", name="Ana 2")["seq"]
        assert seq == snapshot["seq"] + 1
        assert client.catch_up(room, seq).state == ana.room(room)["room"]["state"]
    proven(store)


@pytest.mark.parametrize("arguments, code, word", [
    (["verify", "--store", "memory"], 64, "memory"),
    (["verify", "--store", "sqlite", "--data", "./nowhere"], 64, "no event log"),
    (["events", "--store", "sqlite", "--data", "./nowhere", "7K3M9Q"], 64, "no event log"),
    (["import", "--store", "sqlite", "--data", "./nowhere", "log.jsonl"], 64, "migrate"),
    (["export", "--store", "postgres", "--database-url", "postgres://nobody@127.0.0.1:1/none"], 69, "out of reach"),
], ids=["memory", "verify", "events", "import", "unreachable"])
def test_a_tool_without_a_log_says_so_in_one_line(arguments, code, word):
    ended = backline.run(*arguments)
    assert ended.returncode == code and word in ended.stderr and len(ended.stderr.splitlines()) == 1, ended
    assert not os.path.exists("./nowhere")


def test_tools_name_rooms_that_are_not_there(stores):
    store = stores("sqlite")
    for name, word in [("no-room", "its id or its code"), ("7K3M9Q", "no room"), (backline.room_id(), "no room")]:
        for command in (["events", *store, name], ["verify", *store, "--room", name],
                        ["epoch", "renew", *store, "--room", name]):
            ended = backline.run(*command)
            assert ended.returncode == 64 and word in ended.stderr, ended


def test_tools_want_the_schema_that_they_know(cluster, tmp_path):
    store = ["--store", "postgres", "--database-url", cluster.empty_database(), "--data", str(tmp_path)]
    for command in (["verify"], ["export"], ["import"], ["epoch", "renew"], ["events", "7K3M9Q"]):
        ended = backline.run(*command, *store)
        assert ended.returncode == 78 and "backline migrate" in ended.stderr, ended


def test_each_tool_explains_itself():
    for command in (["verify"], ["events"], ["export"], ["import"], ["epoch"], ["epoch", "renew"]):
        shown = backline.run(*command, "--help")
        assert shown.returncode == 0 and "OVERVIEW" in shown.stdout and "USAGE" in shown.stdout, command
