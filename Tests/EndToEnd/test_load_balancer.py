"""Two servers behind HAProxy, with the configuration that docker-compose.yml uses."""

import collections
import contextlib
import http.client
import http.server
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

import pytest
import websockets.exceptions
import yaml

import backline
import pages
from checks import check_followers, check_log, check_once
from ports import free_port

DOCUMENTATION = pathlib.Path(__file__).parents[2] / "Documentation"
CONFIGURATION = DOCUMENTATION / "haproxy.cfg"
OPTIONS = ["--plain", "--trusted-proxies", "127.0.0.1", "--drain-delay-seconds", "10", "--drain-window-seconds", "2"]
"""HAProxy asks each second; it has time enough to see that a server stops."""


class Balancer(backline.Address):
    """HAProxy before some servers."""

    def __init__(self, servers, folder, change=lambda text: text):
        super().__init__(port=free_port())
        self.status = backline.Address(port=free_port(), scheme="http")
        configuration, certificate = folder / "haproxy.cfg", folder / "site.pem"
        configuration.write_text(change(CONFIGURATION.read_text()))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-out", folder / "certificate.pem", "-keyout", folder / "key.pem"],
            check=True, capture_output=True)
        certificate.write_text((folder / "certificate.pem").read_text() + (folder / "key.pem").read_text())
        settings = {
            "LISTEN": f"127.0.0.1:{self.port}", "STATUS": f"127.0.0.1:{self.status.port}", "CERTIFICATE": certificate,
            "SERVER_A": f"127.0.0.1:{servers[0].port}", "SERVER_B": f"127.0.0.1:{servers[1].port}",
        }
        self.log = open(folder / "haproxy.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            ["haproxy", "-db", "-f", configuration], stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin", **{n: str(v) for n, v in settings.items()}})
        backline.eventually(self.is_up, "HAProxy is up")

    def is_up(self):
        assert self.process.poll() is None, pathlib.Path(self.log.name).read_text()
        with contextlib.suppress(OSError):
            return self.status.request("GET", "/up").status == 200

    def logged(self):
        """Status and request of each log line about one request."""
        text = pathlib.Path(self.log.name).read_text()
        return re.findall(r'^\S+ \[\S+\] clients~ \S+ \S+ (-?\d+) .* "(.*)"$', text, re.MULTILINE)

    def close(self):
        self.process.kill()
        self.process.wait()
        print(f"--- HAProxy\n{pathlib.Path(self.log.name).read_text()[-4000:]}")
        self.log.close()


class StandIn(http.server.ThreadingHTTPServer):
    """A server that is ready, and whose test answers all other requests."""

    def __init__(self, answer=None):
        """`answer` handles a GET request."""

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/readyz":
                    self.send_response(200)
                    self.end_headers()
                else:
                    self.server.answer(self)

        super().__init__(("127.0.0.1", free_port()), Handler)
        self.port, self.answer = self.server_port, answer
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


@pytest.fixture
def nodes(servers, cluster, tmp_path):
    store = ["--store", "postgres", "--database-url", cluster.database()]
    return [servers(*OPTIONS, store=[*store, "--data", str(tmp_path / name)]).start() for name in ("a", "b")]


@pytest.fixture
def balancer(nodes, tmp_path):
    with contextlib.closing(Balancer(nodes, tmp_path)) as made:
        yield made


def at(server, person):
    """The same session at another address."""
    return backline.Person(server, person.session, person.token, person.name)


def node_of(client):
    return client.wait_for("welcome")["server"]["node"]


def watch(person, room):
    return person.socket(f"/v1/rooms/{room}/socket", follow=room)


def test_a_room_through_the_load_balancer(nodes, balancer):
    """The README's example."""
    dj, guest = balancer.session("Ana"), balancer.session("Ben")
    room = dj.create_room("Kitchen")["room"]["state"]["id"]
    with watch(guest, room) as client:
        client.wait_for("snapshot")
        dj.command(room, "addTracks", tracks=backline.tracks("Blue Monday"))
        dj.command(room, "vote", track=1)
        dj.command(room, "enqueue", track=1)
        last = dj.command(room, "play")["seq"]
        follower = client.catch_up(room, last)
    check_followers(dj, room, [follower])
    # Each server by itself gives the same answers, and private paths stay private.
    logs = [check_log(at(node, dj), room) for node in nodes]
    assert logs[0] == logs[1] == check_log(dj, room)
    assert balancer.request("GET", "/metrics").status == 404
    assert nodes[0].request("GET", "/metrics").status == 200
    assert balancer.request("GET", "/readyz").status == 200


def target_status(balancer, target):
    """The status for a request line's target, sent unchanged."""
    with socket.create_connection((balancer.host, balancer.port), timeout=backline.PATIENCE) as plain:
        with balancer.context().wrap_socket(plain) as stream:
            stream.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            return int(stream.makefile("rb").readline().split()[1])


def test_only_plain_paths_pass(tmp_path):
    """No spelling of /metrics reaches a server, whatever a server would make of it."""
    reached = []

    def answer(handler):
        reached.append(handler.path)
        handler.send_response(200)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with contextlib.closing(StandIn(answer)) as server:
        with contextlib.closing(Balancer([server, server], tmp_path)) as balancer:
            for target in (
                "/metrics", "//metrics", "/metrics/", "/metrics//", "///metrics", "/metrics?x=1", "/metrics;x", "/metrics#x",
                "/%6detrics", "/metrics%2f", "/metrics%00", "/./metrics", "/../metrics", "/v1/../metrics", "/x/../metrics",
                "/%2e/metrics", "/metrics/.", "/metrics/..", "http://localhost/metrics", "https://localhost/metrics",
                "http://localhost//metrics", "https://localhost/metrics?x", "http:///metrics", "metrics", "*", "/v1/session/",
                "/v1//session", "https://localhost/v1/session", "/\\metrics", "/v1/%73ession", "/r/../metrics", "/r/%2e%2e/metrics",
                "/r/ABC123%2f..%2fmetrics", "/r/ABC123%5Cmetrics", "/r/ABC123/../metrics", "/r/.", "/r/%2e", "/x/ABC123%20",
            ):
                assert target_status(balancer, target) in (400, 404), target
            assert reached == []
            room = "/v1/rooms/01990000-0000-7000-8000-000000000001"
            plain = ["/", "/healthz", "/openapi.json", "/v1/session", f"{room}/pool?q=//&sort=%20", f"{room}/socket",
                     "/v1/rooms/ABC123", "/v1/rooms/nearby?lat=1&lon=2", "/r/ABC123", "/r/ABC123/", "/R/ABC123)", "/r/ABC123&fbclid=x",
                     "/r/ABC123%20", "/ABC123", "/some.page", "/some_page-1~a"]
            # Every route except the private one, and the one that the stand-in answers by itself.
            routes = set(yaml.safe_load((DOCUMENTATION / "openapi.yaml").read_text())["paths"])
            plain += [path.format(room="ABC123", waveform="-_" + "A" * 20) for path in sorted(routes - {"/metrics", "/readyz"})]
            assert len(routes) > 10 and "/metrics" in routes
            for target in plain:
                assert target_status(balancer, target) == 200, target
            assert reached == plain


def test_the_clients_of_a_room_meet_on_one_server(nodes, balancer):
    people = [balancer.session(name) for name in ("Ana", "Ben", "Cem")]
    used = collections.Counter()
    # Their ids are random: sooner or later there are two on each.
    while len(used) < 2 or min(used.values()) < 2:
        room = people[0].create_room()["room"]["state"]["id"]
        with contextlib.ExitStack() as stack:
            found = {node_of(stack.enter_context(watch(person, room))) for person in people}
        assert len(found) == 1
        used.update(found)


def test_a_server_that_is_killed_takes_nothing_with_it(nodes, balancer):
    """Its clients reconnect through the load balancer to the other one, and miss and repeat nothing."""
    people = [balancer.session(name) for name in ("Ana", "Ben")]
    rooms = [people[0].create_room()["room"]["state"]["id"] for _ in range(6)]
    names = {}
    for node in nodes:
        with node.session("Probe").socket() as probe:
            names[node_of(probe)] = node
    with contextlib.ExitStack() as stack:
        sockets, places = {}, {}
        for room in rooms:
            people[1].command(room, "join")
            sockets[room] = stack.enter_context(watch(people[1], room))
            places[room] = names[node_of(sockets[room])]
            sockets[room].wait_for("snapshot")
        victim = places[rooms[0]]
        acknowledged, stop = [], threading.Event()

        def talk():
            turn = 0
            while not stop.is_set():
                turn += 1
                room, name, key = rooms[turn % len(rooms)], f"Turn {turn}", backline.new_key()
                while True:
                    with contextlib.suppress(OSError, http.client.HTTPException):
                        answer = people[0].post_command(room, "rename", key, name=name)
                        if answer.status == 200:
                            acknowledged.append((room, name, answer.json["seq"]))
                            break
                        assert answer.status in (502, 503, 504), answer

        talking = threading.Thread(target=talk, daemon=True)
        talking.start()
        backline.eventually(lambda: len(acknowledged) > 30, "commands")
        victim.kill()
        followers = {}
        for room, client in sockets.items():
            follower = client.rooms[room]
            if places[room] is victim:
                with contextlib.suppress(websockets.exceptions.ConnectionClosed):
                    while True:
                        client.receive()

                def again(room=room, follower=follower):
                    with contextlib.suppress(OSError, websockets.exceptions.InvalidStatus):
                        back = stack.enter_context(people[1].socket())
                        return back if back.resume(follower)["type"] == "resumed" else None

                sockets[room] = backline.eventually(again, "the client is back")
            followers[room] = follower
        backline.eventually(lambda: len(acknowledged) > 90, "commands")
        stop.set()
        talking.join()
        for room in rooms:
            events = check_log(people[0], room)
            sockets[room].catch_up(room, events[-1]["seq"])
            for where, name, seq in acknowledged:
                if where == room:
                    event = check_once(events, name, lambda e: e["type"] == "memberRenamed" and e["name"] == name)
                    assert event["seq"] == seq
            check_followers(people[0], room, [followers[room]])
            assert followers[room].snapshots == 1


def test_nobody_is_sent_to_a_server_that_will_stop(servers, cluster, tmp_path):
    """Its clients stay for as long as it tells load balancers first; new ones go to the other server."""
    store = ["--store", "postgres", "--database-url", cluster.database()]
    options = ["--plain", "--trusted-proxies", "127.0.0.1", "--drain-delay-seconds", "600"]
    nodes = [servers(*options, store=[*store, "--data", str(tmp_path / name)]).start() for name in ("a", "b")]
    with contextlib.closing(Balancer(nodes, tmp_path)) as balancer, contextlib.ExitStack() as stack:
        ana = balancer.session("Ana")
        with nodes[0].session("Probe").socket() as probe:
            leaving = node_of(probe)
        rooms = []

        def opened():
            """A room whose sockets the load balancer gives to the first server."""
            rooms.append(ana.create_room()["room"]["state"]["id"])
            client = stack.enter_context(watch(ana, rooms[-1]))
            return client if node_of(client) == leaving else None

        client = backline.eventually(opened, "a socket is at the first server")
        nodes[0].process.send_signal(signal.SIGTERM)

        def is_elsewhere():
            with watch(ana, rooms[-1]) as late:
                return node_of(late) != leaving

        backline.eventually(is_elsewhere, "the load balancer has noticed")
        assert all(is_elsewhere() for _ in range(5))
        assert client.is_alive() and not [message for message in client.pushed if message["type"] == "goaway"]


@pytest.mark.soak("load, and an order by the clock")
def test_a_server_that_stops_leaves_rotation_before_its_clients_leave_it(nodes, balancer):
    people = [balancer.session(name) for name in ("Ana", "Ben")]
    with contextlib.ExitStack() as stack:
        rooms, clients = [], collections.defaultdict(list)
        while len(rooms) < 6 or len(clients) < 2:
            rooms.append(people[0].create_room()["room"]["state"]["id"])
            client = stack.enter_context(watch(people[1], rooms[-1]))
            clients[node_of(client)].append((rooms[-1], client))
        with nodes[0].session("Probe").socket() as probe:
            leaving = node_of(probe)
        told, wrong, stop = [], [], threading.Event()

        def ask():
            """Opens sockets and sends requests all the time: none is refused."""
            while not stop.is_set():
                for room in rooms:
                    try:
                        began = time.monotonic()
                        with watch(people[1], room) as client:
                            told.append((began, node_of(client)))
                        people[0].command(room, "rename", name=f"At {time.monotonic()}")
                    except (AssertionError, OSError, websockets.exceptions.WebSocketException) as error:
                        wrong.append(error)

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        backline.eventually(
            lambda: wrong or len({node for _, node in told}) == 2, "both servers answer new sockets")
        assert wrong == []
        nodes[0].process.send_signal(signal.SIGTERM)
        sent_away = []
        for room, client in clients[leaving]:
            sent_away.append(client.wait_for("goaway", 2 * backline.PATIENCE))
            arrived = time.monotonic()
            # For a while, new clients have been sent to the other one.
            late = [node for moment, node in told if moment > arrived - 0.3]
            assert leaving not in late
            assert client.closed() == 1012
            with people[1].socket() as back:
                assert back.resume(client.rooms[room])["type"] == "resumed"
        assert sent_away and nodes[0].process.wait(backline.PATIENCE) == 0
        stop.set()
        asking.join()
        assert wrong == []
        for node, those in clients.items():
            if node != leaving:
                assert all(client.is_alive() for _, client in those)

        # When it is back, it gets its rooms again.
        nodes[0].start()
        with nodes[0].session("Probe").socket() as probe:
            returned = node_of(probe)

        def is_used():
            with watch(people[1], clients[leaving][0][0]) as client:
                return node_of(client) == returned
        backline.eventually(is_used, "its rooms come back")


def test_open_sockets_outlive_the_times_of_requests(nodes, tmp_path):
    shorter = Balancer(nodes, tmp_path, lambda text: text.replace("65s", "3s"))
    with contextlib.closing(shorter), at(shorter, nodes[0].session("Ana")).socket() as client:
        # A request that begins later, and does not go on, is given up.
        with socket.create_connection((shorter.host, shorter.port), timeout=60) as plain:
            with shorter.context().wrap_socket(plain) as stream, contextlib.suppress(ConnectionError):
                stream.sendall(b"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
                while stream.recv(4_096):
                    pass
        assert client.is_alive()


def test_a_kept_connection_carries_requests_and_then_a_socket(balancer):
    dj = balancer.session("Ana")
    for _ in range(10):
        with contextlib.closing(http.client.HTTPSConnection(
            balancer.host, balancer.port, timeout=backline.PATIENCE, context=balancer.context()
        )) as connection:
            for _ in range(3):
                connection.request("GET", "/v1/session", headers={"Authorization": f"Bearer {dj.token}"})
                response = connection.getresponse()
                assert (response.status, bool(response.read())) == (200, True)
            connection.request("GET", "/v1/socket", headers={
                "Authorization": f"Bearer {dj.token}", "Connection": "Upgrade", "Upgrade": "websocket",
                "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="})
            stream = connection.sock.makefile("rb")
            assert stream.readline().split()[1] == b"101"


def test_clients_are_told_apart_behind_the_load_balancer(servers, tmp_path):
    options = ["--plain", "--trusted-proxies", "127.0.0.1", "--max-connections-per-address", "2"]
    nodes = [servers(*options).start() for _ in "ab"]
    with contextlib.closing(Balancer([nodes[0], nodes[0]], tmp_path)) as balancer:
        dj = balancer.session("Ana")
        forged = {"X-Forwarded-For": "203.0.113.1"}
        with dj.socket(), dj.socket(headers=forged):
            with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
                dj.socket(headers={"X-Forwarded-For": "203.0.113.2"})
            assert refused.value.response.status_code == 429


def test_where_somebody_searches_is_not_logged(tmp_path):
    """Failures are logged, with the path and without the query, even if the request cannot be parsed."""
    point = "lat=-47.987654321&lon=8.123456789"
    path = "/v1/rooms/nearby"
    over = threading.Event()
    with contextlib.ExitStack() as stack:
        server = StandIn()
        stopped = stack.enter_context(contextlib.ExitStack())
        stopped.callback(server.close)
        stack.callback(over.set)

        def balanced(name, change):
            (tmp_path / name).mkdir()
            made = stack.enter_context(contextlib.closing(Balancer([server, server], tmp_path / name, change)))
            return made, []

        # Only what never answers, and who never ends a request, is not waited for long.
        impatient = balanced("impatient", lambda text: text.replace("timeout server 65s", "timeout server 1s")
                             .replace("timeout http-request 10s", "timeout http-request 3s"))
        as_it_is = balanced("as it is", lambda text: text)

        def ask(status, where=as_it_is):
            assert where[0].request("GET", f"{path}?{point}").status == status
            where[1].append((str(status), f"GET {path}"))

        def say(text, status, where=as_it_is):
            balancer, expected = where
            with socket.create_connection((balancer.host, balancer.port), 60) as plain:
                with balancer.context().wrap_socket(plain) as stream:
                    stream.sendall(text.encode())
                    assert stream.makefile("rb").readline().split()[1] == str(status).encode(), text
            expected.append((str(status), "<BADREQ> -"))

        server.answer = lambda request: request.send_error(503)
        ask(503)
        # First it closes connections, and then it is silent.
        server.answer = lambda request: None
        ask(502)
        server.answer = lambda request: over.wait()
        ask(504, impatient)
        stopped.close()
        ask(503)
        for line in (
            f"GET {path}?{point} HTTP/1.1 HTTP/1.1", f"GET {path}? {point} HTTP/1.1", f"GET {path}?{point}\0 HTTP/1.1",
            f"GET {path}?{point} HTTP/one", f"GET {path}?{point} HTTP/1.1\r\nHost", f"{path}?{point}", point,
        ):
            say(f"{line}\r\n\r\n", 400)
        say(f"GET {path}?{point} HTTP/1.1\r\n", 408, impatient)
        for balancer, expected in as_it_is, impatient:
            backline.eventually(lambda: len(balancer.logged()) >= len(expected), "a line for each")
            assert sorted(balancer.logged()) == sorted(expected)
            log = pathlib.Path(balancer.log.name).read_text()
            assert [part for part in ("987654", "123456", "lat=", "lon=", "?") if part in log] == []


def test_the_code_of_a_room_is_not_logged(tmp_path):
    """Failures are logged, with the kind of the path where the path itself may have a code."""
    with contextlib.closing(StandIn(lambda request: request.send_error(503))) as server:
        with contextlib.closing(Balancer([server, server], tmp_path)) as balancer:
            expected = []
            for path, logged in (
                ("/r/K7M2QX9T", "/r/-"), ("/R/K7M2QX9T", "/r/-"), ("/r/k7m2qx9t?x=1", "/r/-"),
                ("/r/K7M2QX9T/", "/r/-"), ("/r/K7M2QX9T)", "/r/-"), ("/R/K7M2QX9T%20", "/r/-"), ("/K7M2QX9T", "/-"), ("/k7m2qx?x=1", "/-"),
                ("/v1/rooms/K7M2QX9T", "/v1/rooms/-"), ("/v1/rooms/K7M2QX9T/events?after=1", "/v1/rooms/-"),
                ("/v1/rooms/nearby?lat=1&lon=2", "/v1/rooms/nearby"), ("/v1/rooms", "/v1/rooms"), ("/nearby", "/nearby"),
            ):
                assert balancer.request("GET", path).status == 503
                expected.append(("503", f"GET {logged}"))
            for path in ("//r/K7M2QX9T", "/r/K7M2QX9T//", "/%72/K7M2QX9T", "/x/../r/K7M2QX9T"):
                assert target_status(balancer, path) == 404
            backline.eventually(lambda: len(balancer.logged()) >= len(expected), "a line for each")
            assert set(expected) <= set(balancer.logged())
            assert "k7m2qx9t" not in pathlib.Path(balancer.log.name).read_text().lower()


def test_the_page_s_files_are_found_while_only_one_server_has_their_version(servers, tmp_path):
    nodes = [servers(*OPTIONS).start(), servers(*OPTIONS, "--no-web").start()]
    page = nodes[0].request("GET", "/").body
    path = f"/assets/{pages.VERSION}/index.html"
    assert [node.request("GET", path).status for node in nodes] == [200, 404]
    with contextlib.closing(Balancer(nodes, tmp_path)) as balancer:
        for _ in range(20):
            answer = balancer.request("GET", path)
            assert answer.status == 200 and answer.body == page
        assert balancer.request("GET", "/assets/0000000000000000/index.html").status == 404


def test_searches_go_to_every_server_and_what_is_about_a_room_to_one(tmp_path):
    with contextlib.ExitStack() as stack:
        servers = []
        for name in ("a", "b"):
            def answer(request, name=name):
                request.send_response(200)
                request.send_header("Server-Name", name)
                request.end_headers()

            servers.append(stack.enter_context(contextlib.closing(StandIn(answer))))
        balancer = stack.enter_context(contextlib.closing(Balancer(servers, tmp_path)))

        def reached(*paths):
            """The servers that answer requests on new connections."""
            answers = [balancer.request("GET", path) for path in paths]
            assert {answer.status for answer in answers} == {200}
            return {answer.headers["Server-Name"] for answer in answers}

        search = "/v1/rooms/nearby?lat=52.52&lon=13.405"
        backline.eventually(lambda: reached(*[search] * 8) == {"a", "b"}, "both servers answer searches")
        for _ in range(8):
            room = f"/v1/rooms/{backline.room_id()}"
            assert len(reached(room, f"{room}/events?after=0", f"{room}/pool?at=1", room)) == 1
