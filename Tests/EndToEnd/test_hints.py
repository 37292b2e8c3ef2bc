"""Two server processes on one PostgreSQL tell each other what moved, over LISTEN and NOTIFY."""

import time

import pytest

from backline import eventually

# Without hints a server would see what another wrote when it next compares, every 5 s.
COMPARISON = 5


@pytest.fixture
def database(cluster):
    return cluster.database()


@pytest.fixture
def nodes(servers, database, tmp_path):
    """Two servers on one database, whose buses are connected."""
    store = ["--store", "postgres", "--database-url", database]
    made = [servers(store=[*store, "--data", str(tmp_path / name)]).start() for name in ("one", "two")]
    for node in made:
        eventually(lambda: metric(node, "backline_bus_connected") == 1, "the bus to be connected")
    return made


def metric(node, name):
    for line in node.request("GET", "/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.split()[1])
    return None


def test_what_one_server_writes_reaches_followers_on_another_by_hint(nodes):
    dj, watcher = nodes[0].session("Ana"), nodes[1].session("Ben")
    room = dj.create_room()["room"]["state"]["id"]
    with dj.socket() as writing, watcher.socket() as watching:
        assert watching.subscribe(room)["type"] == "snapshot"
        start = time.monotonic()
        for turn in range(40):
            ack = writing.command(room, "rename", name=f"Ana {turn}")
            delta = watching.wait_for("delta")
            assert (delta["from"], delta["seq"]) == (ack["seq"], ack["seq"])
        # Forty times a comparison is more than a minute, however they fall.
        assert time.monotonic() - start < 40 * COMPARISON / 4
    assert metric(nodes[0], "backline_bus_messages_sent_total") >= 40
    assert metric(nodes[1], "backline_bus_notices_received_total") >= 40


def test_a_bus_that_is_cut_connects_again_and_nothing_is_missed(nodes, cluster, database):
    dj, watcher = nodes[0].session("Ana"), nodes[1].session("Ben")
    room = dj.create_room()["room"]["state"]["id"]
    name = database.rsplit("/", 1)[1]
    with dj.socket() as writing, watcher.socket() as watching:
        assert watching.subscribe(room)["type"] == "snapshot"
        for turn in range(10):
            cut = cluster.sql(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                "WHERE datname = current_database() AND application_name = 'backline bus'", name)
            assert int(cut) <= 2
            ack = writing.command(room, "rename", name=f"Ana {turn}")
            delta = watching.wait_for("delta")
            assert (delta["from"], delta["seq"]) == (ack["seq"], ack["seq"])
    for node in nodes:
        eventually(lambda: metric(node, "backline_bus_connected") == 1, "the bus to be connected again")
        assert metric(node, "backline_bus_connections_total") > 1


def test_a_session_that_ends_closes_its_sockets_on_every_server(nodes):
    person = nodes[0].session("Ana")
    room = person.create_room()["room"]["state"]["id"]
    elsewhere = nodes[1].session("Ben")
    elsewhere.token = person.token
    with elsewhere.socket() as client:
        assert client.subscribe(room)["type"] == "snapshot"
        person.request("DELETE", "/v1/session").expect(204)
        assert client.closed() == 4401
