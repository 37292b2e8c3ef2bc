"""A log that can be read but not written: `/readyz` reports it, and recovers by itself."""

import contextlib
import glob
import os
import resource
import shutil
import sqlite3
import stat
import time

import pytest

import backline


def ready(server):
    return server.request("GET", "/readyz").status


def fill(person, room):
    """Adds tracks until the server refuses them; returns how many were acknowledged."""
    for count in range(2_000):
        answer = person.post_command(
            room, "addTracks", tracks=[{"source": "test", "sourceId": f"{count}-{n}", "title": "x" * 200} for n in range(100)])
        if answer.status == 503:
            return count * 100
        answer.expect(200)
    raise AssertionError("the disk is never full")


def test_readyz_knows_a_full_disk(servers, tmp_path):
    """The embedded store's files may not grow any more, as on a full disk or beyond a quota; then they may again."""
    server = servers("--plain", store=["--store", "sqlite", "--data", str(tmp_path)]).start()
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    assert ready(server) == 200
    pid = server.process.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    size = max(os.path.getsize(path) for path in glob.glob(str(tmp_path / "backline.sqlite*")))
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size + 300_000, hard))
    added = fill(dj, room)
    # What is smaller than the last batch does not fit either, also where the write-ahead log begins anew meanwhile.
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, hard))
    # At once, and for as long as it lasts, although reads work.
    for _ in range(3):
        server.request("GET", "/readyz").expect_problem(503, "unavailable")
        assert dj.room(room)["room"]["seq"] > 0 and server.request("GET", "/healthz").status == 200
        time.sleep(0.4)
    # A waveform is refused as a whole: neither its event nor its row is written.
    data = bytes(2_048)
    # A commit that failed might still be found after a crash.
    dj.post_command(room, "setWaveform", track=1, data=backline.waveform_text(data)).expect_problem(
        503, "outcome_unknown")
    path = f"/v1/rooms/{room}/waveforms/{backline.waveform_name(data)}"
    dj.request("GET", path).expect_problem(404, "not_found")
    # Nobody writes: the server notices by itself.
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
    backline.eventually(lambda: ready(server) == 200, "/readyz is 200 again")
    dj.command(room, "setWaveform", track=1, data=backline.waveform_text(data))
    assert dj.request("GET", path).body == data
    dj.command(room, "addTracks", tracks=backline.tracks("After"))
    assert len(dj.room(room)["room"]["state"]["pool"]) == added + 1
    assert server.stop() == 0
    verified = backline.run("verify", "--store", "sqlite", "--data", str(tmp_path))
    assert verified.returncode == 0, verified


def test_readyz_knows_a_database_that_refuses_to_write(servers, cluster, tmp_path):
    url = cluster.database()
    database = url.rpartition("/")[2]
    server = servers("--plain", store=["--store", "postgres", "--database-url", url, "--data", str(tmp_path)]).start()
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    assert ready(server) == 200
    # PostgreSQL's error when a file cannot grow.
    cluster.sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION "
        "'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$; "
        "CREATE TRIGGER refuse BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION refuse()", database=database)
    assert dj.post_command(room, "rename", name="Anna").status == 503
    for _ in range(3):
        server.request("GET", "/readyz").expect_problem(503, "unavailable")
        time.sleep(0.4)
    cluster.sql("DROP TRIGGER refuse ON events", database=database)
    backline.eventually(lambda: ready(server) == 200, "/readyz is 200 again")
    assert cluster.sql("SELECT count(*) FROM events WHERE type = 'probe'", database=database) == "0"
    dj.command(room, "rename", name="Anna")
    assert backline.run("verify", "--store", "postgres", "--database-url", url).returncode == 0


def test_a_plain_copy_of_a_stopped_server_has_everything(servers, tmp_path):
    """The main file alone is complete: it contains the write-ahead log."""
    data = tmp_path / "data"
    server = servers("--plain", store=["--store", "sqlite", "--data", str(data)]).start()
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    last = dj.command(room, "addTracks", tracks=backline.tracks("Blue Monday"))["seq"]
    assert server.stop() == 0
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(data / "backline.sqlite", copy)
    # Another port: it is another server.
    restored = servers("--plain", store=["--store", "sqlite", "--data", str(copy)]).start()
    seen = backline.Person(restored, dj.session, dj.token, dj.name).room(room)["room"]
    assert seen["seq"] == last and seen["state"]["pool"][0]["title"] == "Blue Monday"


def test_a_reader_that_holds_the_log_back_is_in_the_log_of_the_stop(servers, tmp_path):
    server = servers("--plain", store=["--store", "sqlite", "--data", str(tmp_path)]).start()
    with contextlib.closing(sqlite3.connect(tmp_path / "backline.sqlite", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM heads").fetchall()
        server.session("Ana").create_room()
        assert server.stop() == 0
    assert "Not all of the embedded store is in its main file" in server.said()


@pytest.mark.parametrize("before", [False, True], ids=["new files", "files of an earlier release"])
def test_files_are_their_owners_alone_in_a_folder_that_others_may_enter(servers, tmp_path, before):
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    options = {"store": ["--store", "sqlite", "--data", str(data)], "prefix": ("sh", "-c", 'umask 0; exec "$@"', "sh")}
    if before:
        server = servers(**options).start()
        server.session("Ana")
        server.kill()
        for name in os.listdir(data):
            os.chmod(data / name, 0o644)
    server = servers(**options).start()
    server.session("Ana")
    modes = {name: stat.S_IMODE(os.stat(data / name).st_mode) for name in os.listdir(data)}
    assert {"backline.sqlite", "backline.sqlite-wal", "backline.sqlite-shm", "key.pem"} <= modes.keys()
    # A certificate is for everybody.
    assert {name for name, mode in modes.items() if mode & 0o077} <= {"ca.pem", "certificate.pem", "serve.lock"}, modes
    assert stat.S_IMODE(os.stat(data).st_mode) == 0o755
