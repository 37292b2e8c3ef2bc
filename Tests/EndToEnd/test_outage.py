"""PostgreSQL is stopped while commands arrive, and comes back."""

import contextlib

import pytest

import backline
import postgres
from checks import check_followers, check_log, check_once


@pytest.fixture(scope="module")
def spare_cluster():
    with contextlib.closing(postgres.Cluster()) as made:
        yield made


def _start(url):
    """Starts a server that cannot do its work; returns its exit code and its output."""
    ended = backline.run("serve", "--plain", "--port", "0", "--store", "postgres", "--database-url", url)
    return ended.returncode, ended.stderr


def test_a_database_that_takes_no_writes_ends_a_start_with_its_reason(cluster):
    url = cluster.database()
    name = url.rpartition("/")[2]
    cluster.sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on", "postgres")
    code, said = _start(url)
    assert code == 69, said
    assert "read-only transaction" in said.splitlines()[-1]


def test_a_database_whose_role_may_not_write_ends_a_start_with_its_reason(cluster):
    url = cluster.database()
    name = url.rpartition("/")[2]
    cluster.sql("CREATE ROLE reader LOGIN", "postgres")
    cluster.sql("GRANT USAGE ON SCHEMA public TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader", name)
    code, said = _start(url.replace("backline@", "reader@"))
    assert code == 69, said
    assert "permission denied" in said.splitlines()[-1]


def test_of_several_servers_the_one_that_takes_writes_is_used_at_a_start(servers):
    with contextlib.closing(postgres.Cluster(fsync=False)) as primary:
        name = primary.empty_database().rpartition("/")[2]
        with contextlib.closing(postgres.Cluster(fsync=False, primary=primary)) as standby:
            backline.eventually(lambda: standby.has_all_of(primary), "the standby has the database")
            both = f"postgres://backline@127.0.0.1:{standby.port},127.0.0.1:{primary.port}/{name}"
            server = servers(store=("--store", "postgres", "--database-url", both)).start()
            assert server.request("GET", "/readyz").status == 200
            server.session("Ana")
            backline.eventually(lambda: standby.has_all_of(primary), "the standby has the schema")
            code, said = _start(standby.url(name))
            assert code == 69 and "read-only transaction" in said, said


def test_too_few_connections_for_statistics_are_told_when_somebody_asks_and_when_they_suffice(cluster, servers):
    url = cluster.database()
    name = url.rpartition("/")[2]
    # Of seven connections the log and the bus take five.
    cluster.sql(f"CREATE ROLE few LOGIN CONNECTION LIMIT 5; GRANT ALL ON ALL TABLES IN SCHEMA public TO few; "
                "GRANT ALL ON SCHEMA public TO few", name)
    server = servers("--plain", store=("--store", "postgres", "--database-url", url.replace("backline@", "few@"))).start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]

    def status():
        return ana.request("GET", f"/v1/rooms/{room}/statistics").status

    backline.eventually(lambda: status() == 503 and "Statistics cannot be read" in server.said(), "there are too few")
    assert status() == 503 and server.said().count("Statistics cannot be read") == 1 and 'too many connections for role "few"' in server.said()
    cluster.sql("ALTER ROLE few CONNECTION LIMIT -1", "postgres")
    backline.eventually(lambda: status() == 200, "statistics are read")
    assert server.said().count("Statistics can be read again") == 1


@pytest.mark.parametrize("wrong", [("/backline_", "/nothing_"), ("backline@", "nobody@")])
def test_a_database_or_role_that_is_none_ends_a_start_at_once(cluster, wrong):
    code, said = _start(cluster.database().replace(*wrong))
    assert code == 69, said
    assert "trying again" not in said and "does not exist" in said


@pytest.fixture
def own_cluster(spare_cluster):
    """A cluster that a test may stop."""
    if not spare_cluster.running:
        spare_cluster.start()
    return spare_cluster


@pytest.mark.soak("a database that ends under load")
def test_without_its_log_a_server_refuses_changes_and_shows_none(own_cluster, servers, tmp_path):
    server = servers(store=[
        "--store", "postgres", "--database-url", own_cluster.database(), "--data", str(tmp_path / "data")]).start()
    assert server.request("GET", "/readyz").status == 200
    dj, guest = server.session("Ana"), server.session("Ben")
    room = dj.create_room()["room"]["state"]["id"]
    guest.command(room, "join")
    client, watcher = dj.socket(), guest.socket()
    for socket in (client, watcher):
        socket.subscribe(room)

    # Commands arrive continuously; PostgreSQL stops during them and all later ones are refused.
    sent, answers = {}, {}

    def send(count):
        for _ in range(count):
            number = 1000 + len(sent)
            sent[number] = {"key": backline.new_key(), "command": {"type": "rename", "name": f"Name {number}"}}
            client.send({"type": "command", "id": number, "room": room, **sent[number]})

    def collect():
        for number in sent.keys() - answers.keys():
            answers[number] = client.answer_to(number, timeout=60)

    send(200)
    own_cluster.stop("immediate")
    send(50)
    collect()
    refused = [number for number, answer in answers.items() if answer["type"] == "error"]
    # Of those that were on their way to the log, nobody knows. Nothing of the others was done.
    codes = {number: answers[number]["code"] for number in refused}
    assert set(codes.values()) <= {"unavailable", "outcome_unknown"}
    assert all(codes[number] == "unavailable" for number in list(sent)[-10:]), codes
    assert all(number in refused for number in list(sent)[200:]), "what came after the stop is refused"
    durable = max([a["seq"] for a in answers.values() if a["type"] == "ack"], default=0)

    # HTTP gives the same answer, with the time to come back.
    answer = dj.post_command(room, "rename", key=backline.new_key(), name="Nobody")
    problem = answer.expect_problem(503, "unavailable")
    assert problem["retryAfterMs"] > 0 and int(answer.headers["Retry-After"]) > 0
    backline.eventually(lambda: server.request("GET", "/readyz").status == 503, "/readyz is 503")
    assert server.request("GET", "/healthz").status == 200

    # Snapshots are still served, and show nothing that is not durable.
    seen = dj.room(room)["room"]
    assert seen["seq"] >= durable
    again = watcher.subscribe(room)
    assert (again["type"], again["seq"]) == ("snapshot", seen["seq"])
    assert client.is_alive()

    own_cluster.start()
    backline.eventually(lambda: server.request("GET", "/readyz").status == 200, "/readyz is 200 again", timeout=60)
    # Everything shown during the outage is in the log.
    events = dj.events(room)
    assert len(events) >= seen["seq"]

    # Every refused command is sent again with its key, and every acknowledged one too: each is applied once.
    for number, line in sent.items():
        client.send({"type": "command", "id": 10_000 + number, "room": room, **line})
    for number in sent:
        answer = client.answer_to(10_000 + number, timeout=60)
        assert answer["type"] == "ack", answer
        if answers[number]["type"] == "ack":
            assert answer["seq"] == answers[number]["seq"]
        answers[number] = answer
    events = check_log(dj, room)
    for number, line in sent.items():
        name = line["command"]["name"]
        event = check_once(events, name, lambda e: e["type"] == "memberRenamed" and e["name"] == name)
        assert event["seq"] == answers[number]["seq"]
    assert "Nobody" not in [event.get("name") for event in events]
    followers = [socket.catch_up(room, events[-1]["seq"]) for socket in (client, watcher)]
    check_followers(dj, room, followers)
    assert server.stop() == 0


def test_the_outage_reaches_nobody_who_watches(own_cluster, servers, tmp_path):
    """While the log is unreachable, a watcher gets no delta, however many commands others send."""
    server = servers(store=[
        "--store", "postgres", "--database-url", own_cluster.database(), "--data", str(tmp_path / "data")]).start()
    dj, guest = server.session("Ana"), server.session("Ben")
    room = dj.create_room()["room"]["state"]["id"]
    client, watcher = dj.socket(), guest.socket()
    for socket in (client, watcher):
        socket.subscribe(room)
    own_cluster.stop("immediate")
    for number in range(20):
        answer = client.command(room, "rename", name=f"Name {number}")
        assert answer["type"] == "error" and answer["code"] in ("unavailable", "outcome_unknown"), answer
    for socket in (client, watcher):
        assert socket.is_alive()
        assert not [message for message in socket.pushed if message["type"] == "delta"]
    own_cluster.start()

    def accepted():
        answer = client.command(room, "rename", name="Back")
        assert answer["type"] == "ack" or answer["code"] == "unavailable", answer
        return answer["type"] == "ack" and answer

    answer = backline.eventually(accepted, "commands are accepted again", timeout=60)
    for socket in (client, watcher):
        follower = socket.catch_up(room, answer["seq"])
        assert [event["name"] for event in follower.events.values()] == ["Back"]
    check_log(dj, room)


def test_a_stop_during_an_outage_is_clean(own_cluster, servers, tmp_path):
    server = servers(store=[
        "--store", "postgres", "--database-url", own_cluster.database(), "--data", str(tmp_path / "data")]).start()
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    own_cluster.stop("immediate")
    dj.post_command(room, "rename", name="Nobody").expect_problem(503, "unavailable")
    assert server.stop() == 0
