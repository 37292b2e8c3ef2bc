"""Shared fixtures: a PostgreSQL cluster, and servers on each store."""

import contextlib
import os
import random
import sys

import pytest

import backline
import postgres


@pytest.fixture(scope="session")
def cluster():
    with contextlib.closing(postgres.Cluster()) as made:
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
    """The seed of a test with random input: a new one, or BACKLINE_SEED. All such tests take it from here."""
    number = int(os.environ.get("BACKLINE_SEED") or random.SystemRandom().randrange(1, 1_000_000))
    say(f"BACKLINE_SEED={number}")
    # Shown again with the failure.
    print(f"BACKLINE_SEED={number}")
    return number


def pytest_configure(config):
    for line in (
        "random: a test with random input, which Scripts/seeds runs with many seeds",
        "alone: a test that compares times or loads the machine, which Scripts/test runs with no other beside it",
        "long: a test that takes a minute or more, with which a worker begins where tests run side by side",
    ):
        config.addinivalue_line("markers", line)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if "seed" in item.fixturenames:
            item.add_marker("random")
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


@pytest.fixture(params=["postgres", "sqlite"])
def storage(request, tmp_path):
    """The options that name one empty store, once for each kind of durable store."""
    if request.param == "sqlite":
        return ["--store", "sqlite", "--data", str(tmp_path / "data")]
    # The development certificate is kept under the data folder whatever the store is.
    cluster = request.getfixturevalue("cluster")
    return ["--store", "postgres", "--database-url", cluster.database(), "--data", str(tmp_path / "data")]


@pytest.fixture
def server(servers, storage):
    """A running server on an empty store, once for each kind of durable store."""
    return servers(*backline.NO_GRACE, store=storage).start()


@pytest.fixture(scope="session", params=["postgres", "sqlite"])
def shared(request, tmp_path_factory):
    """A running server on each kind of durable store, for tests that leave it unchanged."""
    data = str(tmp_path_factory.mktemp("data"))
    store = ["--store", request.param, "--data", data]
    if request.param == "postgres":
        store += ["--database-url", request.getfixturevalue("cluster").database()]
    server = backline.Server(*backline.NO_GRACE, store=store)
    with server:
        yield server
        assert server.running, f"the server ended by itself:\n{server.said()}"
