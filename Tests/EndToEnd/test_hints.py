"""Two server processes on one PostgreSQL announce changes to each other, over LISTEN and NOTIFY."""

import time

import pytest

import backline
from backline import eventually

# Without hints a server would see another server's writes only at its next comparison, every 5 s.
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


def test_a_room_with_a_new_epoch_is_shown_anew_to_who_follows(nodes, database):
    dj, watchers = nodes[0].session("Ana"), [node.session("Ben") for node in nodes]
    room = dj.create_room()["room"]["state"]["id"]
    dj.command(room, "rename", name="Anna")
    with watchers[0].socket(f"/v1/rooms/{room}/socket") as here, watchers[1].socket() as there:
        before = here.wait_for("snapshot")
        there.subscribe(room)
        renewed = backline.run("epoch", "renew", "--store", "postgres", "--database-url", database)
        assert renewed.returncode == 0, renewed.stderr
        for client in (here, there):
            shown = client.wait_for("snapshot")
            assert shown["epoch"] != before["epoch"]
            assert shown["seq"] == before["seq"] and shown["state"] == before["state"]
            assert "collapsed" not in shown and "re" not in shown
        for name in ("Anne", "Ana"):
            seq = dj.command(room, "rename", name=name)["seq"]
            for client in (here, there):
                delta = client.wait_for("delta")
                assert (delta["from"], delta["seq"]) == (seq, seq)
        # A position in the old epoch is answered with a snapshot.
        old = {"epoch": before["epoch"], "seq": before["seq"]}
        assert there.subscribe(room, old)["type"] == "snapshot"


def test_a_room_that_is_gone_still_ends(nodes, cluster, database):
    dj, watcher = nodes[0].session("Ana"), nodes[1].session("Ben")
    room = dj.create_room()["room"]["state"]["id"]
    with watcher.socket(f"/v1/rooms/{room}/socket") as client:
        client.wait_for("snapshot")
        for table in ("heads", "directory"):
            cluster.sql(f"DELETE FROM {table} WHERE room_id = '{room}'", database.rsplit("/", 1)[1])
        # A request makes the server look for the room.
        watcher.request("GET", f"/v1/rooms/{room}").expect_problem(404, "not_found")
        assert client.wait_for("ended")["code"] == "not_found"
        assert client.closed() == 4404
