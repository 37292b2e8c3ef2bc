"""A log that is not where, or not what, the server believes it to be: told, and nothing is acknowledged and lost."""

import contextlib
import shutil
import sqlite3

import backline
import pytest

@pytest.fixture
def embedded(servers, tmp_path):
    """A running server on the embedded store, and the store's file."""
    data = tmp_path / "data"
    return servers(store=("--store", "sqlite", "--data", str(data))).start(), data / "backline.sqlite"


def is_ready(server):
    return server.request("GET", "/readyz").status == 200


@pytest.mark.parametrize("is_replaced", [False, True], ids=["moved away", "replaced"])
def test_what_cannot_be_kept_is_not_acknowledged(embedded, is_replaced):
    server, file = embedded
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    away = file.with_name("away.sqlite")
    file.rename(away)
    if is_replaced:
        shutil.copy(away, file)
    ana.post_command(room, "rename", name="Lost").expect_problem(503, "unavailable")
    backline.eventually(lambda: not is_ready(server), "the server is not ready")
    # The file is back, and nothing has to be started again.
    away.rename(file)
    backline.eventually(lambda: is_ready(server), "the server is ready again")
    ana.command(room, "rename", name="Kept")
    assert [event.get("name") for event in ana.events(room)][-1] == "Kept"


def test_a_lock_of_another_process_makes_the_server_unready_soon(embedded):
    server, file = embedded
    assert is_ready(server)
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        # A result of the last two seconds may stand in.
        backline.eventually(lambda: not is_ready(server), "the server is not ready")
        answers = [server.request("GET", "/readyz") for _ in range(3)]
        assert [answer.status for answer in answers] == [503] * 3
        # The lock is waited for longer. An answer may take long on a busy machine, but not every one.
        assert min(answer.took for answer in answers) < 5
        other.execute("ROLLBACK")
    backline.eventually(lambda: is_ready(server), "the server is ready again")


def test_a_database_that_cannot_hold_every_text_is_refused(cluster):
    cluster.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0", "postgres")
    store = ("--store", "postgres", "--database-url", cluster.url("latin"))
    for tool in ("migrate", "serve"):
        done = backline.run(tool, *store)
        assert done.returncode != 0
        assert "the database's encoding is LATIN1, and not UTF8" in done.stderr, done.stderr
