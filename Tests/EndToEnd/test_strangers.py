"""Databases and files that are somebody else's, or a part of ours: refused with 78, and left as they are."""

import contextlib
import os
import sqlite3

import backline
import pytest

RAILS = "CREATE TABLE schema_migrations (version text PRIMARY KEY); CREATE TABLE users (id int); CREATE VIEW u AS SELECT 1"


def refused(*store):
    """The line with which the server and the tool that makes a schema refuse a store, which is the same."""
    lines = {backline.refusal(backline.run(*tool, *store)) for tool in (("serve", "--plain", "--port", "0"), ("migrate",))}
    assert len(lines) == 1, lines
    return lines.pop()


@pytest.fixture
def database(cluster):
    """Runs SQL in an empty database, and its URL."""
    url = cluster.empty_database()
    return lambda statement: cluster.sql(statement, url.rsplit("/", 1)[1]), url


def tables(sql):
    return sql("SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'v') AND relnamespace = 'public'::regnamespace "
               "ORDER BY 1").splitlines()


@pytest.mark.parametrize("theirs", [
    RAILS, "CREATE TABLE events (id int)", "CREATE TABLE schema_migrations (version bigint, dirty bool)",
    "CREATE TABLE schema_migrations (id bigint, checksum text)",
], ids=["schema_migrations of Rails", "a name that is taken", "schema_migrations alone", "with checksums"])
def test_a_schema_with_tables_of_another_program_is_refused_and_a_schema_of_its_own_is_not(servers, database, theirs):
    sql, url = database
    sql(theirs)
    before = tables(sql)
    line = refused("--database-url", url)
    assert f"not recorded as this program's ({', '.join(before)})" in line and "a schema, a database" in line
    assert tables(sql) == before
    # As Deployment.md says:
    sql("CREATE SCHEMA backline")
    server = servers("--plain", store=(
        "--store", "postgres", "--database-url", url + "?options=-csearch_path%3Dbackline,public")).start()
    server.session("Ana").create_room()
    assert server.stop() == 0
    assert tables(sql) == before


@pytest.mark.parametrize("theirs", [
    "CREATE SEQUENCE events", "CREATE TYPE events AS (id int)", None,
], ids=["a sequence with the name of a table", "a type with it", "a column that is gone"])
def test_a_schema_in_which_something_is_in_the_way_or_gone_is_refused(database, theirs):
    sql, url = database
    if theirs is None:
        assert backline.run("migrate", "--database-url", url).returncode == 0
    sql(theirs or "ALTER TABLE events DROP COLUMN at CASCADE")
    ended = backline.run("serve", "--plain", "--port", "0", "--database-url", url)
    assert "the schema is not as this program's migrations make it" in backline.refusal(ended)


def test_tables_of_extensions_and_of_others_beside_our_own_are_no_reason(servers, database):
    sql, url = database
    sql("CREATE EXTENSION pg_buffercache")
    store = ("--store", "postgres", "--database-url", url)
    assert servers("--plain", store=store).start().stop() == 0
    sql("CREATE VIEW reports AS SELECT count(*) FROM events")
    assert servers("--plain", store=store).start().stop() == 0


@pytest.mark.parametrize("damage, word", [
    ("UPDATE schema_migrations SET checksum = 'edited' WHERE number = 1", "was applied with checksum edited"),
    ("INSERT INTO schema_migrations SELECT 99, 'from_the_future', checksum, applied_at FROM schema_migrations "
     "WHERE number = 1", "has migration 99 (from_the_future)"),
    ("DELETE FROM schema_migrations", "not recorded as this program's (command_keys, "),
    ("DROP TABLE waveforms", "tables are missing (waveforms)"),
    ("DROP TABLE schema_migrations", "not recorded as this program's (command_keys, "),
], ids=["edited", "unknown", "a schema without its data", "a table fewer", "without its record"])
def test_a_schema_that_is_not_as_this_program_made_it_is_refused(storage, sql, damage, word):
    sql(damage)
    assert word in refused(*storage)


def test_a_file_of_another_program_is_refused_and_left_as_it_is(tmp_path):
    file = tmp_path / "backline.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as theirs, theirs:
        theirs.executescript(RAILS.replace("text", "TEXT") + "; PRAGMA user_version = 7")
    before = file.read_bytes()
    for tool in ("serve", "migrate", "verify", "export"):
        assert "not recorded as this program's (schema_migrations, u, users)" in backline.refusal(
            backline.run(tool, "--store", "sqlite", "--data", str(tmp_path)))
    assert file.read_bytes() == before


def test_one_file_by_two_names_is_served_once(servers, tmp_path):
    first = servers("--plain", store=("--store", "sqlite", "--data", str(tmp_path / "a"))).start()
    for name, link in (("b", os.symlink), ("c", os.link)):
        (tmp_path / name).mkdir()
        link(tmp_path / "a" / "backline.sqlite", tmp_path / name / "backline.sqlite")
        ended = backline.run("serve", "--plain", "--port", "0", "--store", "sqlite", "--data", str(tmp_path / name))
        assert ended.returncode == 69 and "stop it first" in ended.stderr, ended
    first.session("Ana").create_room()
    assert first.stop() == 0
    done = backline.run("verify", "--store", "sqlite", "--data", str(tmp_path / "b"))
    assert done.returncode == 0 and "verified 1 rooms" in done.stdout, done
