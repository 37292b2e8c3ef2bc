"""The server program as a child process, and the clients that drive it over the network."""

import asyncio
import base64
import contextlib
import dataclasses
import functools
import hashlib
import http.client
import json
import os
import pathlib
import queue
import select
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import uuid

import websockets.asyncio.client
import websockets.exceptions

from fold import Follower
from ports import free_port

PROTOCOL = "backline.v1.json"
PATIENCE = 120.0
"""Seconds after which an expected event counts as not happening: only what hangs takes so long."""


NO_GRACE = ("--presence-grace-seconds", "0")
"""For tests that wait until a member is offline: a member without a connection is offline at once."""


PATIENT = ("--stall-limit-seconds", "3600", "--silence-limit-seconds", "3600")
"""For tests with clients that do not read, or say nothing, for as long as the test takes."""


def program():
    """The program under test: BACKLINE_PROGRAM, else the debug build."""
    tree = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.path.abspath(os.environ.get("BACKLINE_PROGRAM") or os.path.join(tree, ".build", "debug", "backline"))
    assert os.access(path, os.X_OK), f"there is no program at {path}: swift build --product backline"
    return path


def run(*arguments, environment=None, timeout=60):
    """Runs the program to its end in an empty folder; returns its completed process, with both outputs as text."""
    with tempfile.TemporaryDirectory(prefix="backline-") as folder:
        return subprocess.run(
            [program(), *arguments], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
            env=_environment(environment), cwd=folder,
        )


def refusal(ended, code=78):
    """The one line with which the program said why it ended with this code, whatever it had logged before."""
    lines = [line for line in ended.stderr.splitlines() if line.startswith("backline: ")]
    assert ended.returncode == code and len(lines) == 1 and "listening" not in ended.stdout, ended
    return lines[0]


def eventually(condition, what, timeout=PATIENCE):
    """Calls a function until its result is true, and returns it; fails after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while True:
        answer = condition()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"still not after {timeout} s: {what}"
        time.sleep(0.02)


class TooSlow(Exception):
    """An action took longer than its time limit, so its result proves nothing."""


@contextlib.contextmanager
def within(seconds):
    """Checks that an action ends before a time that the server counts is over; the time began no earlier than this."""
    began = time.monotonic()
    try:
        yield
    except Exception as failure:
        if time.monotonic() - began >= seconds:
            raise TooSlow(f"more than {seconds} s") from failure
        raise
    if time.monotonic() - began >= seconds:
        raise TooSlow(f"more than {seconds} s")


def patiently(attempt, times=10):
    """Repeats an action from its beginning until it was done in time: a machine may stall for a while."""
    for turn in range(1, times + 1):
        try:
            return attempt()
        except TooSlow:
            if turn == times:
                raise


def rest(answer):
    """Waits for as long as a refusal says, plus a margin for the error of clocks."""
    time.sleep(answer["retryAfterMs"] / 1000 + 0.01)


def new_key():
    return str(uuid.uuid4())


def room_id():
    """A UUIDv7 that no room has."""
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    number = number & ~(0xF << 76) | 0x7 << 76
    return str(uuid.UUID(int=number & ~(0x3 << 62) | 0x2 << 62))


def _environment(extra=None):
    """The environment without the settings of the person who runs the tests."""
    kept = {
        name: value for name, value in os.environ.items()
        if not name.startswith(("BACKLINE_", "PG")) and name != "DATABASE_URL"
    }
    return {**kept, **(extra or {})}


def _unverified():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


@functools.cache
def _shared_context():
    """To make one takes as long as a handshake."""
    return _unverified()


@dataclasses.dataclass
class Address:
    """A server's address, and requests to it. It can be handed to another process."""

    host: str = "127.0.0.1"
    port: int = 0
    scheme: str = "https"

    @property
    def origin(self):
        return f"{self.scheme}://{self.host}:{self.port}"

    def context(self):
        """TLS without verification: the certificate is the server's own, made for development."""
        return None if self.scheme == "http" else _unverified()

    def connect(self, timeout=PATIENCE):
        """A connection for requests."""
        if self.scheme == "http":
            connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        else:
            connection = http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=_shared_context())
        connection.connect()
        return connection

    def connected(self, headers, timeout):
        """A connection for one request with these fields, as a context."""
        return contextlib.closing(self.connect(timeout))

    def request(self, method, path, body=None, token=None, headers=None, timeout=PATIENCE):
        """One request. `body` is sent as JSON unless it is bytes."""
        sent = dict(headers or {})
        if token is not None:
            sent.setdefault("Authorization", f"Bearer {token}")
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        with self.connected(sent, timeout) as connection:
            began = time.monotonic()
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            took = time.monotonic() - began
            return Answer(response.status, response.headers, response.read(), took)

    def session(self, name):
        """Makes a session."""
        made = self.request("POST", "/v1/sessions", {"name": name}).expect(201)
        return Person(self, made["session"]["id"], made["token"], name)


class Server(Address):
    """One process of the program. It keeps its port and its data across restarts."""

    def __init__(
        self, *options, store=("--store", "memory"), environment=None, host="127.0.0.1", prefix=(),
        keeps_connections=False,
    ):
        """`prefix` is the beginning of the command, such as one that enters a network namespace.

        If it keeps connections, a thread's requests take one in turn, as those of an app do.
        """
        super().__init__(host)
        self.kept = threading.local() if keeps_connections else None
        self.prefix = prefix
        self.options = [*store, *options]
        self.environment = environment
        self.process = None
        self.ready_line = None
        #: Every line on standard output since the last start.
        self.printed = []
        # If a test names no data folder, the default one is made in here.
        self.folder = tempfile.TemporaryDirectory(prefix="backline-")
        self.errors = tempfile.NamedTemporaryFile("w+", prefix="backline-stderr-", suffix=".txt")

    def start(self):
        """Starts the program and waits for its line `listening on …`."""
        self.port = self.port or free_port()
        command = [*self.prefix, program(), "serve", "--host", self.host, "--port", str(self.port), *self.options]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors, text=True,
            env=_environment(self.environment), cwd=self.folder.name,
        )
        lines, self.printed = queue.Queue(), []
        threading.Thread(target=_pump, args=(self.process.stdout, self.printed, lines), daemon=True).start()
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                line = lines.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                self.kill()
                raise AssertionError(f"the program did not become ready: {command}\n{self.said()}") from None
            if line is None:
                code = self.process.wait()
                raise AssertionError(f"the program ended with {code} before it was ready: {command}\n{self.said()}")
            if line.startswith("listening on "):
                self.ready_line = line
                address = line.removeprefix("listening on ")
                self.scheme, _, rest = address.partition("://")
                self.port = int(rest.rstrip("/").rpartition(":")[2])
                return self

    def kill(self):
        """`kill -9`: the process cannot react."""
        self.process.kill()
        self.process.wait()

    def stop(self, by=signal.SIGTERM):
        """Sends a signal and waits; returns the exit code."""
        self.process.send_signal(by)
        return self.process.wait(PATIENCE)

    @contextlib.contextmanager
    def connected(self, headers, timeout):
        # A handshake that is refused ends its connection.
        if self.kept is None or "Upgrade" in headers:
            with super().connected(headers, timeout) as connection:
                yield connection
            return
        if not self._has_kept():
            self.kept.connection = self.connect()
        connection = self.kept.connection
        connection.sock.settimeout(timeout)
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self.kept.since = time.monotonic()

    def _has_kept(self):
        """Whether this thread has a connection that the server has not closed, and is not about to: after 130 s."""
        connection = getattr(self.kept, "connection", None)
        return (
            connection is not None and connection.sock is not None and time.monotonic() - self.kept.since < 30
            and not select.select([connection.sock], [], [], 0)[0])

    @property
    def data(self):
        """Its data folder."""
        return pathlib.Path(self.options[self.options.index("--data") + 1])

    @property
    def running(self):
        return self.process is not None and self.process.poll() is None

    def close(self):
        if self.running:
            self.kill()
        if self.process is not None:
            self.process.stdout.close()
        self.errors.close()
        self.folder.cleanup()

    def said(self):
        """The end of the program's output, from both streams."""
        with open(self.errors.name, encoding="utf-8", errors="replace") as file:
            return "\n".join([*self.printed, file.read()[-8000:]])

    @property
    def address(self):
        """Its address, without the process: each request has a connection of its own."""
        return Address(self.host, self.port, self.scheme)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()


@dataclasses.dataclass
class Answer:
    """The answer to one HTTP request."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes
    #: Seconds from the request to the answer's head.
    took: float = 0.0

    @property
    def json(self):
        return json.loads(self.body)

    def expect(self, status):
        """The JSON of an answer that must have this status."""
        assert self.status == status, f"{self.status}: {self.body[:2000]!r}"
        return self.json if self.body else None

    def expect_problem(self, status, code):
        """The problem of a refused request, checked against RFC 9457 and section 2 of the protocol."""
        assert self.status == status, f"{self.status}: {self.body[:2000]!r}"
        assert self.headers.get_content_type() == "application/problem+json", self.headers
        problem = self.json
        assert problem["status"] == status and problem["code"] == code, problem
        assert problem["type"] == "about:blank" and problem["title"], problem
        return problem


@dataclasses.dataclass
class Person:
    """A session and its bearer token."""

    server: Address
    session: str
    token: str
    name: str

    def request(self, method, path, body=None, headers=None):
        return self.server.request(method, path, body, self.token, headers)

    def create_room(self, name="A room", key=None, **fields):
        """Creates a room, or finds it again by a key; returns the answer's `{"room":Snapshot,"you":You}`."""
        headers = {"Idempotency-Key": key} if key else {}
        answer = self.request("POST", "/v1/rooms", {"name": name, **fields}, headers)
        return answer.expect(200 if key and answer.status == 200 else 201)

    def room(self, room):
        return self.request("GET", f"/v1/rooms/{room}").expect(200)

    def post_command(self, room, type, key=None, **fields):
        """Sends a command over HTTP; returns the whole answer."""
        headers = {"Idempotency-Key": key} if key else {}
        return self.request("POST", f"/v1/rooms/{room}/commands", {"command": {"type": type, **fields}}, headers)

    def command(self, room, type, key=None, **fields):
        """Sends a command over HTTP that must succeed; returns `{"seq","result"?}`."""
        return self.post_command(room, type, key, **fields).expect(200)

    def events(self, room, after=0, limit=1000):
        """Every event of a room after a position, page by page, as fast as the server allows it."""
        found = []
        while True:
            answer = self.request("GET", f"/v1/rooms/{room}/events?after={after}&limit={limit}")
            if answer.status == 429:
                # A long log is more than a session may read at once.
                rest(answer.json)
                continue
            page = answer.expect(200)
            found += page["events"]
            if not page["events"] or found[-1]["seq"] >= page["seq"]:
                return found
            after = found[-1]["seq"]

    def socket(self, path="/v1/socket", **options):
        return Socket(self.server, path, token=self.token, **options)


def tracks(*titles, source="test"):
    """Tracks to add, by their titles."""
    return [{"source": source, "sourceId": f"id-{title}", "title": title} for title in titles]


def waveform_text(data):
    """The `data` of `setWaveform`."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def waveform_name(data):
    """The name of a waveform, by the protocol's rule."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()[:16]).decode().rstrip("=")


@functools.cache
def _loop():
    """The loop of this process's sockets, on a thread of its own.

    Not the package's threaded client: it reads and writes one TLS connection on two threads at once, which Python's
    `ssl` does not allow, and hangs now and then.
    """
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop


def _on_loop(coroutine):
    """Runs a coroutine of a socket and returns its result."""
    return asyncio.run_coroutine_threadsafe(coroutine, _loop()).result(2 * PATIENCE)


class Socket:
    """A WebSocket client. Pushed messages are kept in order, and folded into the rooms that it follows."""

    def __init__(
        self, server, path="/v1/socket", token=None, headers=None, subprotocols=(PROTOCOL,), origin=None, follow=None,
    ):
        sent = dict(headers or {})
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        scheme = "ws" if server.scheme == "http" else "wss"
        self._opening = websockets.asyncio.client.connect(
            f"{scheme}://{server.host}:{server.port}{path}", ssl=_shared_context() if scheme == "wss" else None,
            additional_headers=sent,
            subprotocols=list(subprotocols) or None, origin=origin, compression=None, proxy=None, max_size=None,
            max_queue=None, ping_interval=None, open_timeout=PATIENCE, close_timeout=5,
        )
        self.connection = _on_loop(self._opening.__aenter__())
        self._arrived = queue.Queue()
        self._reading = asyncio.run_coroutine_threadsafe(self._read(), _loop())
        # A socket that was opened for one room is subscribed to it from the start.
        self.rooms = {follow: Follower(follow)} if follow else {}
        self.pushed = []
        self._id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    async def _read(self):
        """Handles messages as they come, and at last the reason why no more come."""
        try:
            while True:
                self._arrived.put(await self.connection.recv())
        except websockets.exceptions.ConnectionClosed as end:
            self._arrived.put(end)

    def close(self):
        _on_loop(self._opening.__aexit__(None, None, None))
        self._reading.result(PATIENCE)

    def drop(self):
        """Cuts the connection without a close frame, as a lost network does."""
        _loop().call_soon_threadsafe(self.connection.transport.abort)

    def next_id(self):
        self._id += 1
        return self._id

    def send(self, message):
        _on_loop(self.connection.send(message if isinstance(message, (str, bytes)) else json.dumps(message)))

    def receive(self, timeout=PATIENCE):
        """The next message of any kind, after the rooms handled it."""
        try:
            text = self._arrived.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(f"no message for {timeout:.1f} s") from None
        if isinstance(text, websockets.exceptions.ConnectionClosed):
            self._arrived.put(text)  # Later callers get the same reason.
            raise text
        assert isinstance(text, str), f"a binary frame from the server: {text!r}"
        message = json.loads(text)
        if message.get("room") in self.rooms:
            self.rooms[message["room"]].take(message, text)
        return message

    def answer_to(self, number, timeout=PATIENCE):
        """The answer with this `re`, whatever comes before it; earlier messages are kept in `pushed`."""
        for message in self.pushed:
            if message.get("re") == number:
                self.pushed.remove(message)
                return message
        deadline = time.monotonic() + timeout
        while True:
            message = self.receive(max(0.01, deadline - time.monotonic()))
            if message.get("re") == number:
                return message
            self.pushed.append(message)

    def ask(self, type, **fields):
        """Sends a message with an `id` and returns its answer."""
        number = self.next_id()
        self.send({"type": type, "id": number, **fields})
        return self.answer_to(number)

    def until(self, condition, what, timeout=PATIENCE):
        """Reads until `condition()` holds."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, f"still not after {timeout} s: {what}"
            try:
                self.pushed.append(self.receive(max(0.01, deadline - time.monotonic())))
            except TimeoutError:
                continue

    def wait_for(self, type, timeout=PATIENCE):
        """The first pushed message of a type, which is removed from `pushed`."""
        def found():
            return next((message for message in self.pushed if message["type"] == type), None)
        self.until(found, f"a message {type}", timeout)
        message = found()
        self.pushed.remove(message)
        return message

    def subscribe(self, room, position=None):
        """Subscribes and follows a room; returns the answer."""
        self.rooms.setdefault(room, Follower(room))
        position = {} if position is None else {"position": position}
        return self.ask("subscribe", room=room, **position)

    def resume(self, follower):
        """Subscribes with the position of another connection's room; returns the answer."""
        self.rooms[follower.room] = follower
        return self.subscribe(follower.room, follower.position)

    def command(self, room, type, key=None, **fields):
        """Sends a command and returns its answer, an ack or an error."""
        return self.ask("command", room=room, key=key or new_key(), command={"type": type, **fields})

    def catch_up(self, room, seq):
        """Reads until the followed room is at a position."""
        follower = self.rooms[room]
        self.until(lambda: follower.seq is not None and follower.seq >= seq, f"event {seq} of the room")
        return follower

    def closed(self, timeout=PATIENCE):
        """Reads until the server closes; returns the close code."""
        deadline = time.monotonic() + timeout
        try:
            while True:
                self.pushed.append(self.receive(max(0.01, deadline - time.monotonic())))
        except websockets.exceptions.ConnectionClosed as end:
            assert end.rcvd is not None, f"the connection broke without a close frame: {end}"
            return end.rcvd.code

    def is_alive(self):
        """Whether the connection still answers."""
        return self.ask("time", t1=1)["type"] == "time"


class RawSocket:
    """A WebSocket whose frames are made by hand, for sending what no correct client sends."""

    def __init__(self, server, token, path="/v1/socket", headers=(), receive_buffer=None):
        plain = socket.socket()
        plain.settimeout(PATIENCE)
        if receive_buffer is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.connect((server.host, server.port))
        is_plain = server.scheme == "http"
        self.stream = plain if is_plain else _shared_context().wrap_socket(plain, server_hostname="localhost")
        lines = [
            f"GET {path} HTTP/1.1", f"Host: {server.host}:{server.port}", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
            f"Authorization: Bearer {token}", *headers,
        ]
        self.stream.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.reader = self.stream.makefile("rb")
        self.status = int(self.reader.readline().split()[1])
        self.headers = http.client.parse_headers(self.reader)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reader.close()
        self.stream.close()

    def send_frame(self, opcode, payload, final=True, masked=True, reserved=0):
        first = (0x80 if final else 0) | reserved << 4 | opcode
        mask_bit = 0x80 if masked else 0
        if len(payload) < 126:
            head = struct.pack("!BB", first, mask_bit | len(payload))
        elif len(payload) < 65536:
            head = struct.pack("!BBH", first, mask_bit | 126, len(payload))
        else:
            head = struct.pack("!BBQ", first, mask_bit | 127, len(payload))
        mask = b"\x11\x22\x33\x44"
        if masked:
            payload = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.stream.sendall(head + (mask if masked else b"") + payload)

    def send(self, message):
        """Sends a message as a correct client does."""
        self.send_frame(1, json.dumps(message).encode())

    def receive(self):
        """The next message."""
        while True:
            opcode, payload = self.receive_frame()
            if opcode == 1:
                return json.loads(payload)

    def receive_frame(self):
        """The next frame's opcode and payload."""
        first, second = self.reader.read(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", self.reader.read(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self.reader.read(8))
        return first & 0x0F, self.reader.read(length)

    def close_code(self):
        """Reads up to the server's close frame; returns its code."""
        while True:
            opcode, payload = self.receive_frame()
            if opcode == 8:
                return struct.unpack("!H", payload[:2])[0] if payload else None


def _pump(stream, printed, lines):
    """Moves a child's output lines into a list and a queue; None at their end."""
    for line in stream:
        printed.append(line.rstrip("\n"))
        lines.put(printed[-1])
    lines.put(None)
