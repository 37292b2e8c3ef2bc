"""Shared fixtures: a PostgreSQL cluster, and servers on each store.

A test takes the first of these with which it can prove its fact:

- `shared`, for what a client is told: what does not depend on the store is asked of one;
- `stored`, for what a store does;
- `nodes`, for two servers on one database;
- `server`, for a server that is alone on its store, and may be stopped; `own_nodes`, for two such servers;
- `servers`, for those that need settings.

Of the first three each worker has one, so that a test makes rooms, names and places of its own.
"""

import contextlib
import os
import shutil
import signal
import sqlite3
import sys

import pytest

import backline
import marks
import postgres
from exposition import Exposition
from identities import Provider


@pytest.fixture(scope="session")
def cluster():
    """A database server, each of whose databases has the schema from the start."""
    with contextlib.closing(postgres.Cluster(fsync=False)) as made:
        url = made.database()
        migrated = backline.run("migrate", "--store", "postgres", "--database-url", url)
        assert migrated.returncode == 0, migrated
        made.template = url.rpartition("/")[2]
        yield made


@pytest.fixture
def say(capsys, request):
    """Prints past pytest's capture: seeds are shown whether a test passes or fails.

    A worker of pytest-xdist has no standard output. Its standard error is that of the whole run, in which each line
    names its test.
    """

    def out(text, end="\n"):
        with capsys.disabled():
            print(text, end=end, flush=True)

    def out_of_worker(text, end="\n"):
        with capsys.disabled():
            print(f"\n{request.node.nodeid}: {text}", file=sys.stderr, flush=True)

    if "PYTEST_XDIST_WORKER" in os.environ:
        return out_of_worker
    out("")
    return out


@pytest.fixture
def seed(say):
    """The seed of a test with random input. All such tests take it from here."""
    number = marks.drawn_seed()
    say(f"BACKLINE_SEED={number}")
    # Shown again with the failure.
    print(f"BACKLINE_SEED={number}")
    return number


def pytest_configure(config):
    # Ignored where a shell runs the tests in the background, it would be ignored by all that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    marks.configure(config)


def pytest_itemcollected(item):
    marks.collected(item)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    begin_with_long_tests(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def begin_with_long_tests(items, workers):
    """Assigns each long test to the beginning of a worker, so that no long test is the last one.

    pytest-xdist first gives each worker an equal share of the tests; a worker that is done takes tests of others.
    """
    long = [item for item in items if item.get_closest_marker("long")]
    items[:] = [item for item in items if item not in long]
    count = len(items) + len(long)
    for number, item in enumerate(long):
        items.insert(count * (number % workers) // workers, item)


@pytest.fixture
def servers():
    """Makes servers that end with the test, however it ends. Their output is shown if the test failed."""
    made = []

    def make(*options, **settings):
        made.append(backline.Server(*options, **settings))
        return made[-1]

    yield make
    for server in made:
        print(f"--- {server.ready_line}\n{server.said()}")
        server.close()


KINDS = ["postgres", "sqlite"]
"""The durable stores."""
ONE_ADDRESS = (
    "--max-sessions-per-minute", "0", "--max-events-per-address", "0", "--max-failed-lookups-per-address", "0",
)
"""For servers that tests share: the clients of all of them have one address."""


@pytest.fixture(scope="session")
def empty_log(tmp_path_factory):
    """The file of an embedded store with the schema and nothing else."""
    folder = tmp_path_factory.mktemp("empty")
    migrated = backline.run("migrate", "--store", "sqlite", "--data", str(folder))
    assert migrated.returncode == 0, migrated
    return folder / "backline.sqlite"


@pytest.fixture
def stores(request, tmp_path):
    """Makes the options that name an empty store of a kind, with the schema."""
    made = []

    def make(kind):
        folder = tmp_path / f"data-{len(made)}"
        folder.mkdir()
        url = []
        if kind == "postgres":
            url = ["--database-url", request.getfixturevalue("cluster").database()]
        else:
            shutil.copy(request.getfixturevalue("empty_log"), folder)
        # The development certificate is kept in the data folder whatever the store is.
        made.append(["--store", kind, *url, "--data", str(folder)])
        return made[-1]

    return make


@pytest.fixture(params=KINDS)
def storage(request, stores):
    """The options that name one empty store with the schema, once for each kind of durable store."""
    return stores(request.param)


@pytest.fixture
def sql(storage, request):
    """Runs a statement on the store's tables."""
    def run(statement):
        if storage[1] == "postgres":
            return request.getfixturevalue("cluster").sql(statement, database=storage[3].rpartition("/")[2])
        with contextlib.closing(sqlite3.connect(storage[3] + "/backline.sqlite", timeout=60)) as database, database:
            return "\n".join("|".join(map(str, row)) for row in database.execute(statement).fetchall())

    return run


@pytest.fixture(params=KINDS)
def storage_without_schema(request, tmp_path):
    url = []
    if request.param == "postgres":
        url = ["--database-url", request.getfixturevalue("cluster").empty_database()]
    return ["--store", request.param, *url, "--data", str(tmp_path / "data")]


@pytest.fixture
def server(servers, storage):
    """A running server on an empty store, once for each kind of durable store."""
    return servers(*backline.NO_GRACE, store=storage).start()


@contextlib.contextmanager
def running(*stores, options=()):
    """Servers that tests share, which show what they said if they ended meanwhile."""
    with contextlib.ExitStack() as stack:
        made = [
            stack.enter_context(backline.Server(
                *backline.NO_GRACE, *backline.PATIENT, *ONE_ADDRESS, *options, store=store, keeps_connections=True))
            for store in stores]
        yield made
        for server in made:
            assert server.running, f"the server ended by itself:\n{server.said()}"


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """A running server on the embedded store, for tests that leave it running."""
    with running(["--store", "sqlite", "--data", str(tmp_path_factory.mktemp("data"))]) as (server,):
        yield server


@pytest.fixture(scope="session")
def provider(tmp_path_factory):
    return Provider(tmp_path_factory.mktemp("provider"))


@pytest.fixture(scope="session")
def trusting(provider, tmp_path_factory):
    """A running server that takes tokens of all three kinds of keys, for tests that leave it running."""
    store = ["--store", "sqlite", "--data", str(tmp_path_factory.mktemp("data"))]
    with running(store, options=[*provider.options("secret", "key", "jwks"), "--log-level", "debug"]) as (server,):
        yield server


@pytest.fixture(scope="session")
def exposed(shared):
    """Every metric exists from the start, except the lag of event loops, which exists once it was measured."""
    def read():
        return shared.request("GET", "/metrics").body.decode()
    backline.eventually(lambda: "backline_event_loop_lag_seconds_count{" in read(), "a lag is exposed")
    return Exposition(read())


@pytest.fixture(scope="session")
def shared_on_postgres(cluster, tmp_path_factory):
    store = ["--store", "postgres", "--database-url", cluster.database()]
    with running([*store, "--data", str(tmp_path_factory.mktemp("data"))]) as (server,):
        yield server


@pytest.fixture(params=KINDS)
def stored(request):
    """A running server, once for each kind of durable store, for tests that leave it running."""
    return request.getfixturevalue("shared" if request.param == "sqlite" else "shared_on_postgres")


def two_on_one_database(cluster, folder):
    """The stores of two servers."""
    url = cluster.database()
    return [
        ["--store", "postgres", "--database-url", url, "--data", str(folder / name)] for name in ("one", "two")]


@pytest.fixture(scope="session")
def nodes(cluster, tmp_path_factory):
    """Two running servers on one database, for tests that leave them running."""
    with running(*two_on_one_database(cluster, tmp_path_factory.mktemp("nodes"))) as made:
        yield made


@pytest.fixture
def own_nodes(servers, cluster, tmp_path):
    """Two running servers on one database of their own."""
    return [
        servers(*backline.NO_GRACE, *backline.PATIENT, store=store).start()
        for store in two_on_one_database(cluster, tmp_path)]
