"""HTTP connections of peers that send or take too little, too much or invalid bytes."""

import contextlib
import http.client
import json
import signal
import socket
import threading
import time

import pytest

import backline
from test_limits import UPGRADE, resident

SMALL = 4_096
"""A receive buffer so small that a peer that does not read is soon noticed."""


@pytest.fixture
def plain(servers):
    """Makes a server without TLS, so that its bytes can be checked."""
    return lambda *options: servers("--plain", *options).start()


@pytest.fixture(scope="module", params=["tls", "plain"])
def kept(request):
    """A server for all tests that change nothing, with TLS and without."""
    with backline.Server(*(["--plain"] if request.param == "plain" else [])) as server:
        yield server


def connect(server, receive_buffer=None):
    stream = socket.socket()
    stream.settimeout(backline.PATIENCE)
    if receive_buffer is not None:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    stream.connect((server.host, server.port))
    context = server.context()
    return context.wrap_socket(stream, server_hostname="localhost") if context else stream


class Wire:
    """An HTTP connection for sending any bytes."""

    def __init__(self, server, receive_buffer=None):
        self.stream = connect(server, receive_buffer)
        self.reader = self.stream.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reader.close()
        self.stream.close()

    def send(self, *lines, body=b"", end="\r\n\r\n"):
        self.stream.sendall(("\r\n".join(lines) + end).encode() + body)

    def head(self):
        """The status and fields of the next answer; None at the end."""
        line = self.reader.readline()
        if not line:
            return None, None
        return int(line.split()[1]), http.client.parse_headers(self.reader)

    def answer(self):
        """The next answer with a body."""
        status, fields = self.head()
        return status, fields, self.reader.read(int(fields["Content-Length"]))

    def is_closed(self):
        """Whether the server closes; its remaining bytes are read."""
        try:
            return self.reader.read() == b""
        except ConnectionError:
            return True


def ask(server, *lines, body=b""):
    """Sends one request; returns the status, whether the connection stays open, and the answer's body."""
    with Wire(server) as wire:
        wire.send(*lines, body=body)
        status, fields, answered = wire.answer()
        if fields["Connection"] == "close":
            return status, False, answered
        wire.send("GET /healthz HTTP/1.1", "Host: here")
        return status, wire.head()[0] == 200, answered


# HEAD


@pytest.mark.parametrize("path", ["/v1/sessions", "/v1/nothing", "/nothing", "/v1/session", "/v1/rooms/x/commands",
                                  "//metrics", "/healthz", "/openapi.json"])
def test_no_answer_to_head_has_a_body(kept, path):
    """The next bytes are the next answer; the fields are those of the answer to GET."""
    with Wire(kept) as wire:
        wire.send(f"GET {path} HTTP/1.1", "Host: here")
        status, fields, _ = wire.answer()
        wire.send(f"HEAD {path} HTTP/1.1", "Host: here")
        head_status, head_fields = wire.head()
        assert head_status == status
        assert sorted(head_fields.items()) == sorted(fields.items())
        wire.send("GET /healthz HTTP/1.1", "Host: here")
        assert wire.answer()[0] == 200


def test_no_refusal_of_a_handshake_by_head_has_a_body(kept):
    fields = [f"{name}: {value}" for name, value in UPGRADE.items()]
    for before in (False, True):
        with Wire(kept) as wire:
            if before:
                wire.send("GET /healthz HTTP/1.1", "Host: here")
                assert wire.answer()[0] == 200
            wire.send("HEAD /v1/socket HTTP/1.1", "Host: here", *fields)
            assert wire.head()[0] == 405
            assert wire.reader.read() == b""


# Heads

BAD_HOSTS = {
    "none": [], "an empty one": ["Host:"], "a blank one": ["Host:  "], "two": ["Host: here", "Host: here"],
    "two others": ["Host: here", "Host: there"], "a list": ["Host: here, there"], "a path": ["Host: here/there"],
    "a user": ["Host: me@here"], "a blank inside": ["Host: here there"], "a port that is none": ["Host: here:http"],
    "half a bracket": ["Host: [::1"], "nothing before the port": ["Host: :80"], "half an escape": ["Host: a%2"],
}


@pytest.mark.parametrize("fields", BAD_HOSTS.values(), ids=BAD_HOSTS.keys())
def test_a_request_without_exactly_one_host_is_refused(kept, fields):
    for path in ("/healthz", "/v1/socket"):
        with Wire(kept) as wire:
            upgrade = [f"{name}: {value}" for name, value in UPGRADE.items()] if path == "/v1/socket" else []
            wire.send(f"GET {path} HTTP/1.1", *fields, *upgrade)
            status, _, body = wire.answer()
            assert (status, json.loads(body)["code"]) == (400, "bad_request")
    # The same after other requests.
    with Wire(kept) as wire:
        wire.send("GET /healthz HTTP/1.1", "Host: here", "", "GET /healthz HTTP/1.1", *fields)
        assert [wire.answer()[0] for _ in range(2)] == [200, 400]
        if len(fields) == 2:
            assert wire.is_closed()


@pytest.mark.parametrize("host", ["here", "here:", "here:8443", "127.0.0.1:1", "[::1]:8443", "[2001:db8::1]", "a%2Db",
                                  "x_y.example.org"])
def test_a_host_may_be_any(kept, host):
    assert ask(kept, "GET /healthz HTTP/1.1", f"Host: {host}")[:2] == (200, True)


def test_http_1_0_needs_no_host_and_has_no_transfer_encoding(kept):
    assert ask(kept, "GET /healthz HTTP/1.0")[:2] == (200, False)
    assert ask(kept, "GET /healthz HTTP/1.0", "Connection: keep-alive")[:2] == (200, True)
    assert ask(kept, "GET /healthz HTTP/1.0", "Host: a", "Host: b")[0] == 400
    chunked = ["Transfer-Encoding: chunked", "Content-Type: application/json"]
    status, lives, body = ask(kept, "POST /v1/sessions HTTP/1.0", *chunked, body=b"2\r\n{}\r\n0\r\n\r\n")
    assert (status, lives, json.loads(body)["code"]) == (400, False, "bad_request")


def test_a_target_is_a_path_or_an_address(kept):
    for target, status in [
        ("http://here/healthz", 200), ("HTTPS://here:8443/healthz?x=1", 200), ("http://here", 200),
        ("http://here/metrics/", 404), ("http://here//metrics", 404), ("http:///healthz", 400), ("ftp://here/healthz", 400),
        ("healthz", 400), ("*", 400), ("/healthz#x", 400), ("http://me@here/healthz", 400),
    ]:
        assert ask(kept, f"GET {target} HTTP/1.1", "Host: elsewhere")[0] == status, target
    # An absolute target does not replace the field.
    assert ask(kept, "GET http://here/healthz HTTP/1.1")[0] == 400
    with Wire(kept) as wire:
        wire.send("CONNECT here:80 HTTP/1.1", "Host: here")
        assert wire.answer()[0] == 400


@pytest.mark.parametrize("path", [
    "//metrics", "/metrics/", "///metrics", "/./metrics", "/x/../metrics", "/%2e/metrics", "/x/%2E%2e/metrics",
    "/%6Detrics", "/metrics%2F", "/v1//session", "/v1/session/", "//v1/session", "/metrics//", "//", "/v1/rooms//pool",
    "/healthz/", "/v1/rooms/x%2Fpool", "/v1\\session", "/metrics;x",
])
def test_a_path_is_written_in_one_way(kept, path):
    """A path that a proxy blocks cannot be reached by another spelling."""
    for method in ("GET", "POST", "PUT"):
        status, lives, body = ask(kept, f"{method} {path} HTTP/1.1", "Host: here", "Content-Length: 0")
        assert (status, lives, json.loads(body)["code"]) == (404, True, "not_found"), method
    assert ask(kept, f"GET http://here{path} HTTP/1.1", "Host: here")[0] == 404
    fields = [f"{name}: {value}" for name, value in UPGRADE.items()]
    with Wire(kept) as wire:
        wire.send(f"GET {path} HTTP/1.1", "Host: here", *fields)
        assert wire.answer()[0] == 404


def test_more_than_one_origin_opens_no_socket(kept):
    person = kept.session("Ana")
    own = f"http://{kept.host}:{kept.port}" if kept.context() is None else f"https://{kept.host}:{kept.port}"
    for origins, status in [([own], 101), ([own, own], 403), ([own, "https://elsewhere.example"], 403)]:
        with backline.RawSocket(kept, person.token, headers=[f"Origin: {origin}" for origin in origins]) as raw:
            assert raw.status == status, origins


@pytest.mark.parametrize("value", ["+5", "05", " 5", "5 ", "5.0", "5e0", "\u0665", "0x5", "", "five"])
def test_integers_in_a_query_are_plain_digits(kept, value):
    person = kept.session("Ana")
    room = person.create_room()["room"]["state"]["id"]
    quoted = "".join(f"%{byte:02X}" for byte in value.encode())
    for path in ("/v1/rooms?limit=", f"/v1/rooms/{room}/events?limit=", f"/v1/rooms/{room}/events?after=",
                 f"/v1/rooms/{room}/pool?limit=", f"/v1/rooms/{room}?at="):
        person.request("GET", path + quoted).expect_problem(400, "bad_request")
    person.request("GET", f"/v1/rooms/{room}/events?limit=5&after=0").expect(200)


# Requests in a line


def test_requests_in_a_line_are_answered_in_their_order(kept):
    """However the bytes are split."""
    person = kept.session("Ana")
    lines, statuses = [], []
    for number in range(60):
        body = json.dumps({"name": f"Ana {number}"})
        kind, status = [
            (f"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n", 200),
            (f"HEAD /nothing HTTP/1.1\r\nHost: here\r\n\r\n", 404),
            (f"PATCH /v1/session HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {person.token}\r\n"
             f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}", 200),
            (f"POST /v1/sessions HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"
             f"Transfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n{body}\r\n0\r\n\r\n", 201),
        ][number % 4]
        lines.append(kind)
        statuses.append(status)
    sent = "".join(lines).encode()
    for length in (len(sent), 700, 97):
        with Wire(kept) as wire:
            # All of it is less than the systems' buffers hold: nobody need read meanwhile.
            for start in range(0, len(sent), length):
                wire.stream.sendall(sent[start:start + length])
            seen = []
            for number in range(60):
                status, fields = wire.head()
                if number % 4 != 1:
                    wire.reader.read(int(fields["Content-Length"]))
                seen.append(status)
            assert seen == statuses


def heavy(server, tracks=2_000):
    """A person and the path of an unshared answer of some hundred kilobytes."""
    person = server.session("Ana")
    room = person.create_room()["room"]["state"]["id"]
    titles = [{"source": "s", "sourceId": str(n), "title": f"Large {n} " + "x" * 280} for n in range(tracks)]
    for start in range(0, tracks, 500):
        person.command(room, "addTracks", tracks=titles[start:start + 500])
    return person, f"/v1/rooms/{room}/events?limit=1000"


def metric(server, name):
    exposition = server.request("GET", "/metrics").body.decode()
    lines = dict(line.rsplit(" ", 1) for line in exposition.splitlines() if line and not line.startswith("#"))
    return float(lines[f"backline_{name}"])


def waiting(server):
    return metric(server, "waiting_bytes")


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_client_that_closes_its_side_gets_its_answer(plain, method):
    server = plain()
    body = b'{"name":"Ana"}' if method == "POST" else b""
    lines = [f"{method} {'/v1/sessions' if body else '/v1/rooms'} HTTP/1.1", "Host: localhost",
             f"Authorization: Bearer {server.session('Ana').token}", "Content-Type: application/json",
             f"Content-Length: {len(body)}"]
    for at_once in (False, True):
        with Wire(server) as wire:
            wire.send(*lines, body=body)
            if not at_once:
                # A connection that was used before.
                assert wire.answer()[0] == (201 if body else 200)
                wire.send(*lines, body=body)
            wire.stream.shutdown(socket.SHUT_WR)
            answer = wire.reader.read()
            assert answer.startswith(b"HTTP/1.1 201" if body else b"HTTP/1.1 200"), answer
    # One that has asked for nothing, or not to the end, ends with its client's side.
    for part in ([], lines[:1]):
        with Wire(server) as wire:
            if part:
                wire.send(*part, end="\r\n")
            wire.stream.shutdown(socket.SHUT_WR)
            assert wire.reader.read() == b""


@contextlib.contextmanager
def full_of_answers(server, person, path):
    """Peers that do not read the answers to their pipelined requests."""
    request = f"GET {path} HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {person.token}\r\n\r\n".encode() * 20
    with contextlib.ExitStack() as stack:
        peers = [stack.enter_context(contextlib.closing(connect(server, SMALL))) for _ in range(40)]
        for peer in peers:
            peer.sendall(request)
        yield peers


@pytest.mark.soak("load, and memory is measured")
def test_answers_that_nobody_takes_are_bounded_and_given_back(plain):
    """Pipelined requests whose answers nobody reads use up the memory for answers.

    Long answers are then refused and short ones given; everything is released once the peers are closed.
    """
    limit = 4 << 20
    server = plain(
        "--max-waiting-bytes-per-address", str(limit), "--stall-limit-seconds", "600", "--max-requests-per-session", "0")
    person, path = heavy(server)
    whole = person.request("GET", path)
    whole.expect(200)
    size = len(whole.body)
    assert size > 300_000
    before = resident(server)
    with full_of_answers(server, person, path):
        backline.eventually(lambda: waiting(server) > limit - 2 * size, "little room is left")
        refused = person.request("GET", path)
        refused.expect_problem(429, "rate_limited")
        assert refused.json["retryAfterMs"] > 0 and refused.headers["Retry-After"]
        assert waiting(server) <= limit
        # Short answers have their own memory, and so have shared ones.
        person.request("GET", "/v1/session").expect(200)
        # A slice each, the memory charged for answers, and answers that were computed and refused.
        assert resident(server) - before < 64 << 20
    backline.eventually(lambda: waiting(server) == 0, "everything is given back")
    backline.eventually(lambda: person.request("GET", path).status == 200, "there is room again")


def test_a_server_closes_who_takes_no_answers_and_has_everything_back(plain):
    server = plain(
        "--max-waiting-bytes-per-address", str(4 << 20), "--stall-limit-seconds", "0.5", "--max-requests-per-session", "0")
    person, path = heavy(server)
    with full_of_answers(server, person, path) as peers:
        begun = [peer.recv(12) for peer in peers]
        assert set(begun) == {b"HTTP/1.1 200", b"HTTP/1.1 429"}
        # The server closes those with long answers while the peers keep them open. One connection is that of the question.
        left = begun.count(b"HTTP/1.1 429") + 1
        backline.eventually(
            lambda: metric(server, 'connections{protocol="http"}') <= left, "they are closed", timeout=2 * backline.PATIENCE)
        backline.eventually(lambda: waiting(server) == 0, "everything is given back")
        backline.eventually(lambda: person.request("GET", path).status == 200, "there is room again")


@pytest.mark.soak("reads for longer than the stall limit")
@pytest.mark.alone
def test_a_reader_that_makes_progress_is_never_cut_off(plain):
    """However long it takes, although the whole answer was handed to the system long before."""
    server = plain("--stall-limit-seconds", "4", "--http-idle-seconds", "4")
    person, path = heavy(server)
    with Wire(server, 16_384) as wire:
        wire.send(f"GET {path} HTTP/1.1", "Host: here", f"Authorization: Bearer {person.token}")
        status, fields = wire.head()
        length, taken, began = int(fields["Content-Length"]), 0, time.monotonic()
        while taken < length:
            part = wire.reader.read(min(32_768, length - taken))
            assert part, f"cut off after {taken} of {length} bytes, {time.monotonic() - began:.1f} s"
            taken += len(part)
            time.sleep(0.4)
        assert status == 200
        assert time.monotonic() - began > 8, "the answer is too short to show anything"
        wire.send("GET /healthz HTTP/1.1", "Host: here")
        assert wire.answer()[0] == 200


# Bodies


def test_a_body_must_come_at_some_rate(servers):
    server = servers("--plain", "--body-grace-seconds", "0.5").start()
    with Wire(server) as wire:
        wire.send("POST /v1/sessions HTTP/1.1", "Host: here", "Content-Type: application/json", "Content-Length: 1000")
        stop = threading.Event()

        def drip():
            with contextlib.suppress(OSError):
                while not stop.wait(0.1):
                    wire.stream.sendall(b" ")

        dripping = threading.Thread(target=drip)
        dripping.start()
        status, fields, body = wire.answer()
        stop.set()
        dripping.join()
        assert (status, json.loads(body)["code"], fields["Connection"]) == (408, "bad_request", "close")
        assert wire.is_closed()


def test_a_body_that_arrives_in_two_pieces_is_accepted(servers):
    server = servers("--plain", "--body-grace-seconds", "600").start()
    with Wire(server) as wire:
        wire.send("POST /v1/sessions HTTP/1.1", "Host: here", "Content-Type: application/json", "Content-Length: 14",
                  body=b'{"name":')
        wire.stream.sendall(b'"Ana"}')
        assert wire.answer()[0] == 201


def test_a_later_head_must_end_in_time_too(servers):
    server = servers("--plain", "--handshake-timeout-seconds", "0.5").start()
    # While it is stopped, the connection and its first head queue up, so that this head is in time.
    server.process.send_signal(signal.SIGSTOP)
    with Wire(server) as wire:
        wire.send("GET /healthz HTTP/1.1", "Host: here")
        server.process.send_signal(signal.SIGCONT)
        assert wire.answer()[0] == 200
        wire.send("GET /healthz HTTP/1.1", "Host:", end="")
        assert wire.answer()[0] == 408
        assert wire.is_closed()


def test_a_body_that_nobody_wants_is_not_read_for_ever(kept):
    """It is answered before its end, and only a limited part is read after that."""
    with Wire(kept) as wire:
        wire.send("POST /nothing HTTP/1.1", "Host: here", "Content-Length: 100000000")
        assert wire.answer()[0] == 404
        with pytest.raises(OSError):
            for _ in range(1_000):
                wire.stream.sendall(bytes(65_536))
    # A short body is read, and the connection stays open.
    assert ask(kept, "POST /nothing HTTP/1.1", "Host: here", "Content-Length: 100000", body=bytes(100_000))[:2] == (
        404, True)
