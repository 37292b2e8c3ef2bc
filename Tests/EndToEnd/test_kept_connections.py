"""A WebSocket's opening handshake on a connection that served requests before, as proxies send it."""

import contextlib
import http.client
import signal
import socket

import pytest

import backline
from test_limits import UPGRADE


def connect(server):
    return http.client.HTTPSConnection(
        server.host, server.port, timeout=backline.PATIENCE, context=server.context())


def asked(connection, method, path, token=None, body=None, headers=None):
    """Sends a request on a connection and reads its answer."""
    sent = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request(method, path, body, {**sent, **(headers or {})})
    response = connection.getresponse()
    return backline.Answer(response.status, response.headers, response.read())


class Kept(backline.RawSocket):
    """A socket whose handshake follows other requests on its connection."""

    def __init__(self, server, token, path, before):
        plain = socket.create_connection((server.host, server.port), timeout=backline.PATIENCE)
        self.stream = server.context().wrap_socket(plain, server_hostname="localhost")
        self.stream.sendall(before)
        lines = [f"GET {path} HTTP/1.1", "Host: here", f"Authorization: Bearer {token}"]
        lines += [f"{name}: {value}" for name, value in UPGRADE.items()]
        self.stream.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.reader = self.stream.makefile("rb")

    def answer(self):
        """The status of the next answer, and its body."""
        status = int(self.reader.readline().split()[1])
        headers = http.client.parse_headers(self.reader)
        return status, self.reader.read(int(headers.get("Content-Length", 0)))


def request(token, path="/v1/session", method="GET", body=b"", extra=""):
    head = f"{method} {path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {token}\r\n"
    if body and not extra:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"{head}{extra}\r\n".encode() + body


@pytest.mark.parametrize("path", ["/v1/socket", "room"])
def test_a_socket_opens_behind_requests(shared, path):
    dj = shared.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    command = b'{"command":{"type":"rename","name":"Anna"}}'
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(command), command)
    kinds = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    for before, count in [
        (request(dj.token), 1),
        (request(dj.token) * 3, 3),
        (request(dj.token, f"/v1/rooms/{room}/commands", "POST", command), 1),
        (request(dj.token, f"/v1/rooms/{room}/commands", "POST", chunked, kinds), 1),
        (request("nobody"), 1),
    ]:
        where = path if path != "room" else f"/v1/rooms/{room}/socket"
        with Kept(shared, dj.token, where, before) as client:
            for _ in range(count):
                assert client.answer()[0] in (200, 401)
            assert client.answer()[0] == 101
            assert client.receive()["type"] == "welcome"
            if path == "room":
                assert client.receive()["type"] == "snapshot"
            client.send({"type": "command", "id": 1, "room": room, "command": {"type": "rename", "name": "Ann"}})
            backline.eventually(lambda: client.receive().get("re") == 1, "the command's answer")


def test_a_socket_behind_requests_is_counted_as_a_socket(servers):
    server = servers().start()
    dj = server.session("Ana")
    with Kept(server, dj.token, "/v1/socket", request(dj.token)) as client:
        assert [client.answer()[0] for _ in range(2)] == [200, 101]
        assert client.receive()["type"] == "welcome"

        def connections():
            exposition = server.request("GET", "/metrics").body.decode()
            lines = dict(line.rsplit(" ", 1) for line in exposition.splitlines() if line and not line.startswith("#"))
            return [lines[f'backline_connections{{protocol="{protocol}"}}'] for protocol in ("websocket", "http")]

        # And the last one, after the earlier ones have closed.
        backline.eventually(lambda: connections() == ["1", "1"], "one of each")


def test_a_refused_handshake_behind_requests_ends_the_connection(shared):
    dj = shared.session("Ana")
    for token, path, status in (
        ("bls_" + "x" * 43, "/v1/socket", 401), (dj.token, f"/v1/rooms/{backline.room_id()}/socket", 404),
        (dj.token, "/v1/session", 404),
    ):
        with Kept(shared, token, path, request(dj.token)) as client:
            assert client.answer()[0] == 200
            assert client.answer()[0] == status
            assert client.reader.read() == b""


def test_a_wish_for_another_protocol_is_answered_and_ends_the_connection(servers):
    """The server could not parse the bytes after it on the connection."""
    # A connection that is left open stays so for longer than the test waits.
    server = servers("--http-idle-seconds", "3600").start()
    dj = server.session("Ana")
    with contextlib.closing(connect(server)) as connection:
        answer = asked(connection, "GET", "/v1/session", dj.token, headers={
            "Connection": "Upgrade, HTTP2-Settings", "Upgrade": "h2c", "HTTP2-Settings": "AAMAAABkAAQCAAAAAAIAAAAA"})
        answer.expect(200)
        assert answer.headers["Connection"] == "close"
        assert asked(connection, "GET", "/v1/session", dj.token).status == 200


def test_a_stop_sends_away_who_came_behind_a_request(servers):
    server = servers("--drain-window-seconds", "1").start()
    dj = server.session("Ana")
    with Kept(server, dj.token, "/v1/socket", request(dj.token)) as client:
        assert [client.answer()[0] for _ in range(2)] == [200, 101]
        assert client.receive()["type"] == "welcome"
        server.process.send_signal(signal.SIGTERM)
        assert client.receive()["type"] == "goaway"
        assert client.close_code() == 1012
        client.send_frame(8, b"")
        assert server.process.wait(backline.PATIENCE) == 0
