"""A released program's data is migrated to this one's schema without loss or change, and works.

`Migrations/` has the rows of one log for each release with a new schema, and that release's answers about them.
"""

import contextlib
import glob
import json
import os
import re
import sqlite3
import subprocess
import time

import pytest

import backline
from checks import check_log
from fold import differences

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Schema")
#: Exports, of the logs of the embedded store.
EXPORTS = sorted(glob.glob(os.path.join(HERE, "Migrations", "*.export.jsonl")))
LOGS = sorted(glob.glob(os.path.join(HERE, "Migrations", "*.sql")))


def _each(paths):
    """A parameter for each file: the gate takes the oldest and the newest release, the soak all."""
    releases = sorted({os.path.basename(path).split(".")[0] for path in paths})
    between = pytest.mark.soak("a release between the oldest and the newest")
    return [
        pytest.param(path, id=name, marks=[] if name.split(".")[0] in (releases[0], releases[-1]) else [between])
        for path in paths for name in [os.path.basename(path)]]


def _schema(store):
    """The files of a store's migrations, in order."""
    return sorted(glob.glob(os.path.join(SCHEMA, store, f"*.{store}.sql")))


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


@pytest.fixture(params=_each(LOGS))
def log(request, tmp_path):
    """A database as a release wrote it."""
    number, store, _ = os.path.basename(request.param).split(".")
    statements = [_read(path) for path in _schema(store)[:int(number)]] + [_read(request.param)]
    # A session lives for 30 days without use, a key of a creation for 24 hours: these were used an hour ago.
    used = int((time.time() - 3_600) * 1_000)
    statements.append(f"UPDATE sessions SET expires_at = {used + 30 * 86_400_000}")
    keys = {"postgres": "creation_keys SET created_at", "sqlite": "creations SET at"}
    statements.append(f"UPDATE {keys[store]} = {used}")
    made = Log(int(number), store, json.loads(_read(request.param.removesuffix(".sql") + ".json")))
    data = str(tmp_path / "data")
    if store == "sqlite":
        os.mkdir(data)
        path = os.path.join(data, "backline.sqlite")
        with contextlib.closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.executescript(statement)
        made.options = ["--store", "sqlite", "--data", data]
    else:
        cluster = request.getfixturevalue("cluster")
        url = cluster.empty_database()
        made.sql = lambda statement: cluster.sql(statement, database=url.rpartition("/")[2])
        for statement in statements:
            made.sql(statement)
        made.options = ["--store", "postgres", "--database-url", url, "--data", data]
    return made


def _shown(events):
    """A release's answers about a log, without the locations from before the last clearing."""
    cleared = max((event["seq"] for event in events if event.get("locationCleared")), default=0)
    return [
        {name: value for name, value in event.items() if name != "location" or event["seq"] > cleared}
        for event in events]


class Log:
    def __init__(self, number, store, served):
        self.number, self.store, self.served = number, store, served
        self.pending = [os.path.basename(path).split(".")[0] for path in _schema(store)[number:]]
        self.options = []
        self.sql = None

    def files(self):
        """The files in which PostgreSQL stores the rows: a new file for a table means that the table was rewritten."""
        return self.sql(
            "SELECT pg_relation_filenode(oid) FROM pg_class WHERE relkind = 'r' "
            "AND relnamespace = 'public'::regnamespace AND relname <> ALL (ARRAY['removals', 'unfinished_imports']) "
            "ORDER BY 1")


@pytest.mark.parametrize("kind", ("sqlite", "postgres"))
@pytest.mark.parametrize("path", _each(EXPORTS))
def test_an_export_of_a_release_is_imported(path, kind, servers, stores):
    served = json.loads(_read(path.removesuffix(".export.jsonl") + ".sqlite.json"))
    store = stores(kind)
    for arguments in (["import", path], ["verify"]):
        done = backline.run(*arguments, *store)
        assert done.returncode == 0, done
    person = servers(store=store).start().session("Eva")
    for room in served["rooms"]:
        snapshot = person.room(room["room"])["room"]
        assert (snapshot["epoch"], snapshot["seq"]) == (room["epoch"], room["seq"])
        assert differences(snapshot["state"], room["state"]) == []
        assert person.events(room["room"]) == _shown(room["events"])
        check_log(person, room["room"])


def test_there_is_a_log_of_a_release_for_each_store():
    assert {os.path.basename(path).split(".")[1] for path in LOGS} == {"postgres", "sqlite"}


def test_a_log_of_a_release_is_migrated_and_goes_on(log, servers):
    if log.pending:
        refused = backline.run("serve", "--port", "0", *log.options)
        assert refused.returncode == 78, refused
        lacking = "a migration" if len(log.pending) == 1 else f"{len(log.pending)} migrations"
        assert f"the schema lacks {lacking}: run 'backline migrate'" in refused.stderr, refused
    before = log.files() if log.store == "postgres" else None

    # Several at once: each migration is applied by one of them. The embedded store has only one.
    command = [backline.program(), "migrate", *log.options]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(4)]
    printed = [process.communicate(timeout=60)[0] for process in processes]
    codes = {process.returncode for process in processes}
    assert 0 in codes and codes <= ({0, 69} if log.store == "sqlite" else {0}), printed
    applied = sorted(re.findall(r"^applied (\d+) (\S+)$", "".join(printed), re.M), key=lambda one: int(one[0]))
    assert [f"{int(number):04}_{name}" for number, name in applied] == log.pending
    if before:
        known = set(before.splitlines())
        assert known <= set(log.files().splitlines()), "a table was written anew"

    server = servers(store=log.options).start()
    people = [
        backline.Person(server.address, session["session"], session["token"], session["name"])
        for session in log.served["sessions"]]
    ana, ben, cyd, dan = people
    for person in people:
        assert person.request("GET", "/v1/session").expect(200)["session"]["name"] == person.name
    for room in log.served["rooms"]:
        snapshot = ana.room(room["room"])["room"]
        assert (snapshot["epoch"], snapshot["seq"]) == (room["epoch"], room["seq"])
        assert differences(snapshot["state"], room["state"]) == []
        assert ana.events(room["room"]) == _shown(room["events"])
        check_log(ana, room["room"])
        for seq in range(1, room["seq"] + 1):
            ana.request("GET", f"/v1/rooms/{room['room']}?at={seq}").expect(200)
    kitchen, garden, attic = (room["room"] for room in log.served["rooms"])

    # Commands acknowledged before are acknowledged again, and carried out once.
    seq = log.served["rooms"][0]["seq"]
    assert ben.command(kitchen, "vote", "after the snapshot", track=2)["seq"] == seq
    assert ben.command(kitchen, "join", "join 0")["result"] == {"member": 2}
    assert ana.create_room("Kitchen", key="kitchen", location={"lat": 52.52, "lon": 13.405})["room"]["seq"] == seq
    dan.post_command(attic, "join").expect_problem(410, "room_closed")
    cyd.post_command(kitchen, "join").expect_problem(403, "banned")

    # A client that was away resumes from its position; the rooms work.
    with ana.socket() as client:
        position = {"epoch": log.served["rooms"][0]["epoch"], "seq": seq - 3}
        assert client.ask("subscribe", room=kitchen, position=position)["type"] == "resumed"
        assert client.wait_for("delta")["seq"] == seq
    assert ana.command(kitchen, "rename", name="Anna")["seq"] == seq + 1
    ana.command(garden, "closeRoom", forget=True)
    epoch = log.served["rooms"][1]["epoch"]
    backline.eventually(lambda: ana.room(garden)["room"]["epoch"] != epoch, "the end of the forgetting")
    for room in (kitchen, garden, attic):
        check_log(ana, room)
    assert server.stop() == 0
    verified = backline.run("verify", *log.options)
    assert verified.returncode == 0, verified


def test_every_migration_is_applied_to_an_empty_database(storage_without_schema, servers):
    storage = storage_without_schema
    store = storage[1]
    done = backline.run("migrate", *storage)
    assert done.returncode == 0, done
    applied = re.findall(r"^applied (\d+) (\S+)$", done.stdout, re.M)
    assert [f"{int(number):04}_{name}.{store}.sql" for number, name in applied] == [
        os.path.basename(path) for path in _schema(store)]
    server = servers(store=storage).start()
    ana = server.session("Ana")
    check_log(ana, ana.create_room("Kitchen")["room"]["state"]["id"])
