"""Copies that are put back in the wrong way: refused with what to do, or right; never mixed with what came after them."""

import contextlib
import os
import shutil
import signal
import sqlite3

import backline
import pytest


class Evening:
    """An embedded store of which copies are made while its server is used."""

    def __init__(self, servers, folder):
        self.folder = folder / "data"
        self.file = self.folder / "backline.sqlite"
        self.log = self.folder / "backline.sqlite-wal"
        self.store = ("--store", "sqlite", "--data", str(self.folder))
        self.servers = servers
        self.server = servers("--plain", store=self.store).start()

    def use(self, moves=False):
        """Makes a room of which the whole is acknowledged; with `moves`, so large that the log moves into the file."""
        ana = self.server.session("Ana")
        room = ana.create_room()["room"]["state"]["id"]
        for turn in range(8 if moves else 1):
            ana.command(room, "addTracks", tracks=[
                {"source": "disc", "sourceId": f"{turn} {n}", "title": f"{n} " + "x" * 200} for n in range(100)])
            for name in range(30 if moves else 1):
                ana.command(room, "rename", name=f"Room {turn} {name}")
        return room

    def copy(self, name, statement=None):
        """A copy of the database as SQLite makes it while a server uses it."""
        copy = self.folder.parent / name
        with contextlib.closing(sqlite3.connect(self.file)) as source:
            if statement:
                source.execute(statement, [str(copy)])
            else:
                with contextlib.closing(sqlite3.connect(copy)) as target:
                    source.backup(target)
        return copy

    def run(self, *arguments):
        return backline.run(*arguments, *self.store)

    def start(self):
        return self.servers("--plain", store=self.store)

    def has(self, person, room):
        """Whether the server has a room, which the person may not look into."""
        status = person.request("GET", f"/v1/rooms/{room}").status
        assert status in (200, 403, 404), status
        return status != 404

    def verify(self):
        done = self.run("verify")
        assert done.returncode == 0, done.stdout + done.stderr

    def check(self, room=None, lost=None):
        """A server takes the files, has a room in them and not another one, and leaves them right when it is killed."""
        server = self.start().start()
        ana = server.session("Ana")
        ana.create_room()
        assert room is None or self.has(ana, room)
        assert lost is None or not self.has(ana, lost)
        server.kill()
        self.verify()


@pytest.fixture
def evening(servers, tmp_path):
    return Evening(servers, tmp_path)


def sqlite_backup(evening):
    return evening.copy("copy")


def sqlite_vacuum(evening):
    return evening.copy("copy", "VACUUM INTO ?")


def clean_stop(evening):
    assert evening.server.stop() == 0
    copy = shutil.copy(evening.file, evening.folder.parent / "copy")
    evening.server = evening.start().start()
    return copy


BESIDE_A_LOG = [
    pytest.param(make, was_restored, moves, id=f"{make.__name__}, {'again' if was_restored else 'first time'}, {'large' if moves else 'small'} log",
                 marks=[] if is_one else [pytest.mark.soak("each two of these three are together in a case of the gate")])
    for number, make in enumerate([sqlite_backup, sqlite_vacuum, clean_stop])
    for was_restored in (False, True)
    for moves in (False, True)
    for is_one in [(number == 1) == (was_restored != moves)]]


@pytest.mark.parametrize("make, was_restored, moves", BESIDE_A_LOG)
def test_a_copy_beside_the_log_of_a_killed_server_is_refused_until_the_log_is_removed(
        evening, make, was_restored, moves):
    before = evening.use()
    if was_restored:
        copy = sqlite_backup(evening)
        assert evening.server.stop() == 0
        shutil.move(copy, evening.file)
        assert evening.run("epoch", "renew").returncode == 0
        evening.server = evening.start().start()
    copy = make(evening)
    after = evening.use(moves)
    evening.server.kill()
    shutil.copy(copy, evening.file)
    kept = {path.name: path.read_bytes() for path in evening.folder.glob("backline.sqlite*")}
    for tool in ("serve", "migrate", "verify", "epoch renew", "export"):
        line = backline.refusal(evening.run(*tool.split(), *(["--port", "0"] if tool == "serve" else [])))
        assert "is not its write-ahead log" in line and "epoch renew" in line
        # Nothing was changed, the index that SQLite makes anew for each process aside.
        for name, content in kept.items():
            assert name.endswith("-shm") or (evening.folder / name).read_bytes() == content, (tool, name)
    # As it says:
    evening.log.unlink()
    evening.log.with_name("backline.sqlite-shm").unlink()
    assert evening.run("epoch", "renew").returncode == 0
    evening.verify()
    server = evening.start().start()
    ana = server.session("Ana")
    assert [evening.has(ana, room) for room in (before, after)] == [True, False]
    ana.create_room()
    assert server.stop() == 0
    evening.verify()


def test_nothing_is_acknowledged_once_a_copy_is_written_over_the_file_in_use(evening):
    evening.use()
    copy = evening.copy("copy")
    evening.use(moves=True)
    ana = evening.server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    shutil.copyfile(copy, evening.file)
    ana.post_command(room, "rename", name="Lost").expect_problem(503, "unavailable")
    backline.eventually(
        lambda: evening.server.request("GET", "/readyz").status == 503, "the server is not ready")
    backline.eventually(
        lambda: "was moved away or replaced while it was open" in evening.server.said(), "a line about the file")
    evening.server.stop()
    # It left both as they were.
    assert evening.file.read_bytes() == copy.read_bytes()
    assert "is not its write-ahead log" in backline.refusal(evening.run("serve", "--port", "0"))


def test_a_log_of_before_beside_the_file_is_refused(evening):
    evening.use()
    old = shutil.copy(evening.log, evening.folder.parent / "log")
    evening.use(moves=True)
    evening.server.kill()
    shutil.copy(old, evening.log)
    assert "is not its write-ahead log" in backline.refusal(evening.run("serve", "--port", "0"))


def test_a_log_of_another_store_beside_the_file_is_refused(servers, tmp_path):
    one, other = (Evening(servers, tmp_path / name) for name in ("one", "other"))
    for evening in (one, other):
        evening.use()
        evening.server.kill()
    shutil.copy(other.log, one.log)
    for index in (True, False):
        # SQLite makes it anew from the log where it is missing.
        if not index:
            one.log.with_name("backline.sqlite-shm").unlink()
        assert "is not its write-ahead log" in backline.refusal(one.run("serve", "--port", "0"))


def test_a_plain_copy_of_the_file_in_use_is_refused_once_its_log_has_gone(evening):
    evening.use(moves=True)
    copy = shutil.copy(evening.file, evening.folder.parent / "copy")
    evening.use()
    assert evening.server.stop() == 0
    shutil.copy(copy, evening.file)
    assert "is here without its write-ahead log" in backline.refusal(evening.run("serve", "--port", "0"))


@pytest.mark.parametrize("index", [True, False], ids=["all files", "without the index"])
def test_files_of_one_moment_are_right_also_over_those_of_a_later_one(evening, index):
    """As a snapshot of the file system has them."""
    room = evening.use(moves=True)
    evening.server.process.send_signal(signal.SIGSTOP)
    moment = shutil.copytree(evening.folder, evening.folder.parent / "moment")
    evening.server.process.send_signal(signal.SIGCONT)
    lost = evening.use(moves=True)
    evening.server.kill()
    for path in moment.glob("backline.sqlite*"):
        if index or not path.name.endswith("-shm"):
            shutil.copy(path, evening.folder)
    evening.verify()
    evening.check(room, lost)


def test_a_copy_that_sqlite_writes_into_a_killed_servers_file_is_right(evening):
    room = evening.use()
    copy = evening.copy("copy")
    lost = evening.use(moves=True)
    evening.server.kill()
    with contextlib.closing(sqlite3.connect(copy)) as source, contextlib.closing(sqlite3.connect(evening.file)) as target:
        source.backup(target)
    evening.check(room, lost)


def test_a_file_without_its_log_is_refused_until_an_operator_goes_on_without_it(evening):
    assert evening.server.stop() == 0
    evening.server = evening.start().start()
    evening.use()
    evening.server.kill()
    for name in ("wal", "shm"):
        evening.file.with_name(f"backline.sqlite-{name}").unlink()
    for tool in ("serve", "serve", "verify", "migrate", "serve"):
        line = backline.refusal(evening.run(tool))
        assert "is here without its write-ahead log" in line and "epoch renew" in line
    line = backline.refusal(evening.run("epoch", "renew", "--room", backline.room_id()))
    assert "is here without its write-ahead log" in line
    assert evening.run("epoch", "renew").returncode == 0
    assert evening.start().start().stop() == 0
    evening.verify()


@pytest.mark.parametrize("empty", [False, True], ids=["missing", "empty"])
def test_a_log_without_its_file_is_refused_and_kept(evening, empty):
    evening.use()
    evening.server.kill()
    log = evening.log.read_bytes()
    evening.file.unlink()
    if empty:
        evening.file.touch()
    for tool in ("serve", "migrate"):
        assert "is missing or empty, and its write-ahead log" in backline.refusal(evening.run(tool))
    assert evening.log.read_bytes() == log


@pytest.mark.parametrize("moves", [False, True], ids=["small log", "large log"])
def test_a_killed_servers_files_are_right_as_they_are_and_elsewhere(evening, moves):
    room = evening.use(moves)
    evening.server.kill()
    # All three, two of the three, and by another name for the folder.
    shutil.copytree(evening.folder, evening.folder.parent / "elsewhere")
    (evening.folder.parent / "elsewhere" / "backline.sqlite-shm").unlink()
    os.symlink(evening.folder.parent / "elsewhere", evening.folder.parent / "link")
    for folder in ("data", "link"):
        evening.folder = evening.folder.parent / folder
        evening.store = ("--store", "sqlite", "--data", str(evening.folder))
        for _ in range(2):
            evening.check(room)


def test_a_copy_of_an_earlier_release_is_brought_along(evening):
    room = evening.use()
    copy = evening.copy("copy")
    evening.server.kill()
    for path in evening.folder.glob("backline.sqlite*"):
        path.unlink()
    shutil.copy(copy, evening.file)
    with contextlib.closing(sqlite3.connect(evening.file)) as old, old:
        # The last migration, undone.
        old.executescript("DELETE FROM schema_migrations WHERE number = 11; ALTER TABLE heads DROP COLUMN tail")
    assert evening.run("migrate").returncode == 0
    assert evening.run("epoch", "renew").returncode == 0
    evening.check(room)


def test_another_program_may_move_the_log_and_change_the_schema(evening):
    evening.use()
    with contextlib.closing(sqlite3.connect(evening.file)) as operator:
        operator.execute("PRAGMA wal_checkpoint(FULL)")
        operator.execute("ANALYZE")
    room = evening.use()
    evening.server.kill()
    evening.check(room)


def test_a_copy_that_replaces_all_is_right(evening):
    evening.use()
    copy = evening.copy("copy")
    evening.use()
    assert evening.server.stop() == 0
    for path in evening.folder.glob("backline.sqlite*"):
        path.unlink()
    shutil.copy(copy, evening.file)
    assert evening.run("epoch", "renew").returncode == 0
    evening.check()


def test_a_database_of_before_in_the_place_of_the_one_in_use_is_gone_on_with(cluster, servers):
    url = cluster.database()
    name = url.rpartition("/")[2]
    server = servers("--plain", store=("--store", "postgres", "--database-url", url)).start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    # A database that is copied may have no connections.
    assert server.stop() == 0
    cluster.sql(f"CREATE DATABASE {name}_before TEMPLATE {name}", "postgres")
    server.start()
    ana.command(room, "rename", name="Lost")
    lost = ana.create_room()["room"]["state"]["id"]
    cluster.sql(f"DROP DATABASE {name} WITH (FORCE)", "postgres")
    cluster.sql(f"ALTER DATABASE {name}_before RENAME TO {name}", "postgres")
    backline.eventually(lambda: ana.post_command(room, "rename", name="Kept").status == 200, "a command succeeds")
    assert ana.request("GET", f"/v1/rooms/{lost}").status == 404
    server.kill()
    events = backline.run("events", room, "--database-url", url).stdout
    assert "Kept" in events and "Lost" not in events
    done = backline.run("verify", "--database-url", url)
    assert done.returncode == 0, done


@pytest.mark.parametrize("damage", ["zeros", "noise", "one byte of its header"])
def test_a_log_of_which_nothing_can_be_read_is_refused_as_a_missing_one(evening, damage):
    evening.use(moves=True)
    assert evening.server.stop() == 0
    evening.server = evening.start().start()
    evening.use()
    evening.server.kill()
    log = bytearray(evening.log.read_bytes())
    log[21] ^= 0xFF
    evening.log.write_bytes({"zeros": bytes(len(log)), "noise": os.urandom(len(log))}.get(damage, log))
    for tool in ("serve", "verify"):
        assert "is here without its write-ahead log" in backline.refusal(evening.run(tool))


def test_a_log_that_is_damaged_before_its_end_is_refused(evening):
    evening.use(moves=True)
    assert evening.server.stop() == 0
    evening.server = evening.start().start()
    evening.use()
    evening.use()
    evening.server.kill()
    with open(evening.log, "r+b") as log:
        log.seek(evening.log.stat().st_size // 2)
        log.write(b"\xff" * 64)
    assert "is not its write-ahead log, or one of them is damaged" in backline.refusal(evening.run("serve"))


def test_a_torn_transaction_before_what_was_rolled_back_is_no_damage(evening):
    """A large transaction that is rolled back leaves frames without a commit behind the log's end."""
    room = evening.use()
    evening.server.kill()
    moment = evening.folder.parent / "moment"

    def write(connection, first, count):
        rows = [(bytes(16), first + n, "x" * 1000) for n in range(count)]
        connection.executemany("INSERT INTO events (room_id, seq, at, type, payload) VALUES (?, ?, 0, 'x', ?)", rows)

    with contextlib.closing(sqlite3.connect(evening.file, isolation_level=None)) as operator:
        # More pages than these are written before the end of a transaction.
        for statement in "PRAGMA wal_autocheckpoint = 0", "PRAGMA cache_size = 100", "BEGIN":
            operator.execute(statement)
        write(operator, 1, 1500)
        for statement in "COMMIT", "BEGIN", "UPDATE events SET at = 1", "ROLLBACK", "BEGIN":
            operator.execute(statement)
        before = evening.log.read_bytes()
        write(operator, 1501, 20)
        operator.execute("COMMIT")
        shutil.copytree(evening.folder, moment)
    log = bytearray((moment / "backline.sqlite-wal").read_bytes())
    # The first frame of the last transaction has not reached the disk, those after it have.
    torn = next(at for at in range(32, len(log), 4120) if log[at:at + 4120] != before[at:at + 4120])
    log[torn:torn + 4120] = before[torn:torn + 4120]
    (moment / "backline.sqlite-wal").write_bytes(log)
    (moment / "backline.sqlite-shm").unlink()
    evening.store = ("--store", "sqlite", "--data", str(moment))
    assert evening.has(evening.start().start().session("Ben"), room)


def test_a_file_that_ends_too_early_is_refused(evening):
    """As of a copy that was not finished; what is in the log makes up for nothing."""
    evening.use(moves=True)
    evening.use(moves=True)
    evening.server.kill()
    os.truncate(evening.file, evening.file.stat().st_size // 8192 * 4096)
    backline.refusal(evening.run("serve", "--port", "0"))


def test_a_damaged_file_without_a_log_is_not_told_from_its_log(evening):
    evening.use(moves=True)
    assert evening.server.stop() == 0
    os.truncate(evening.file, evening.file.stat().st_size // 8192 * 4096)
    for tool in ("verify", "epoch renew"):
        assert "write-ahead log" not in backline.refusal(evening.run(*tool.split()))


def test_nothing_is_acknowledged_once_sqlite_has_written_a_copy_into_the_file_in_use(evening):
    evening.use()
    copy = evening.copy("copy")
    evening.use(moves=True)
    with contextlib.closing(sqlite3.connect(copy)) as source, contextlib.closing(sqlite3.connect(evening.file)) as target:
        source.backup(target)
    evening.server.request("POST", "/v1/sessions", {"name": "Ana"}).expect_problem(503, "unavailable")
    evening.server.kill()
    assert "is not its write-ahead log" in backline.refusal(evening.run("verify"))


def test_a_server_that_was_killed_as_it_began_to_use_the_file_starts_again(evening):
    """A rollback journal stands beside the file then: SQLite uses it until there is a write-ahead log."""
    room = evening.use()
    assert evening.server.stop() == 0
    moment = evening.folder.parent / "moment"
    with contextlib.closing(sqlite3.connect(evening.file, isolation_level=None)) as operator:
        # Pages are written before the end of the transaction, and its journal before them.
        for statement in "PRAGMA journal_mode = DELETE", "PRAGMA cache_size = 1", "BEGIN":
            operator.execute(statement)
        for seq in range(100):
            operator.execute(
                "INSERT INTO events (room_id, seq, at, type, payload) VALUES (?, ?, 0, 'x', ?)", (bytes(16), seq, "x" * 3000))
        shutil.copytree(evening.folder, moment)
    assert (moment / "backline.sqlite-journal").stat().st_size > 0
    evening.store = ("--store", "sqlite", "--data", str(moment))
    evening.check(room)
