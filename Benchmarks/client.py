"""A WebSocket client over TLS for thousands of connections in one process, which can also misbehave.

It can stop reading, drop the connection without a close frame, or fall silent. TLS runs on memory buffers, so that the
client controls the TCP socket itself. All clients of a process run on one event loop and call back on it.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import ssl
import struct
import time
from collections.abc import Callable

HOST = "127.0.0.1"
OPEN, CLOSED = "open", "closed"


def run(main) -> object:
    """Runs a coroutine on a fast event loop."""
    import uvloop  # Only the Python environment that `prepare` makes has this module.

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


def tls() -> ssl.SSLContext:
    """TLS without verification: every run makes its own certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Refused(Exception):
    """The connection was not established, or did not become a WebSocket."""


class Client(asyncio.Protocol):
    """One connection. `connect` makes it."""

    def __init__(self, context: ssl.SSLContext, request: bytes, take: Callable[[dict], None]):
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname="localhost")
        self._request = request
        self._take = take
        self._state = "handshake"
        self._bytes = b""
        self._silent = False
        loop = asyncio.get_running_loop()
        self.transport: asyncio.Transport | None = None
        #: Completes when the server has accepted the WebSocket; fails with `Refused`.
        self.opened: asyncio.Future[None] = loop.create_future()
        #: The close code when the connection has ended; None if it broke without one.
        self.ended: asyncio.Future[int | None] = loop.create_future()
        #: When the close frame arrived, on the monotonic clock.
        self.close_arrived: float | None = None
        self._code: int | None = None

    # Sending.

    def send(self, message: dict) -> None:
        self._send_frame(1, json.dumps(message, separators=(",", ":")).encode())

    def _send_frame(self, opcode: int, payload: bytes) -> None:
        if self._state == CLOSED:
            return
        length = len(payload)
        if length < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | length)
        elif length < 65536:
            head = struct.pack("!BBH", 0x80 | opcode, 0xFE, length)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0xFF, length)
        # A masking key of zeros leaves the payload as it is.
        self._tls.write(head + bytes(4) + payload)
        self._flush()

    def _flush(self) -> None:
        if self._outgoing.pending and self.transport is not None and not self.transport.is_closing():
            self.transport.write(self._outgoing.read())

    # Ending and misbehaving.

    def close(self) -> None:
        """Begins the closing handshake."""
        self._send_frame(8, struct.pack("!H", 1000))

    def drop(self) -> None:
        """Cuts the connection without a close frame."""
        if self.transport is not None:
            self.transport.abort()

    def stop_reading(self) -> None:
        """Stops reading: the kernel's buffers fill, then the server's; pings stay unanswered."""
        self.transport.pause_reading()

    def read_on(self) -> None:
        self.transport.resume_reading()

    def fall_silent(self) -> None:
        """Goes on reading, but answers nothing, not even a ping."""
        self._silent = True

    # Receiving.

    def connection_made(self, transport) -> None:
        self.transport = transport
        self._shake_hands()

    def _shake_hands(self) -> None:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
            return
        self._state = "upgrade"
        self._tls.write(self._request)
        self._flush()

    def data_received(self, data: bytes) -> None:
        try:
            self._incoming.write(data)
            if self._state == "handshake":
                self._shake_hands()
            if self._state != "handshake":
                self._read()
        except ssl.SSLError as error:
            self._fail(Refused(f"TLS: {error}"))

    def _read(self) -> None:
        parts = [self._bytes] if self._bytes else []
        try:
            while part := self._tls.read(262_144):
                parts.append(part)
        except (ssl.SSLWantReadError, ssl.SSLZeroReturnError, ssl.SSLEOFError):
            pass
        data = parts[0] if len(parts) == 1 else b"".join(parts)
        if self._state == "upgrade":
            head, found, rest = data.partition(b"\r\n\r\n")
            if not found:
                self._bytes = data
                return
            status = head.split(b"\r\n", 1)[0]
            if b" 101 " not in status:
                self._fail(Refused(status.decode()))
                return
            self._state = OPEN
            self.opened.set_result(None)
            data = rest
        self._bytes = self._frames(data)

    def _frames(self, data: bytes) -> bytes:
        at, end = 0, len(data)
        while end - at >= 2:
            opcode, length, body = data[at] & 15, data[at + 1], at + 2
            if length == 126:
                if end - at < 4:
                    break
                length, body = int.from_bytes(data[at + 2:at + 4]), at + 4
            elif length == 127:
                if end - at < 10:
                    break
                length, body = int.from_bytes(data[at + 2:at + 10]), at + 10
            if end - body < length:
                break
            payload, at = data[body:body + length], body + length
            if opcode == 1:
                self._take(json.loads(payload))
            elif opcode == 9:
                if not self._silent:
                    self._send_frame(10, payload)
            elif opcode == 8:
                self._code = int.from_bytes(payload[:2]) if len(payload) >= 2 else 1005
                self.close_arrived = time.monotonic()
                self._send_frame(8, payload[:2])
                self.transport.close()
                return b""
        return data[at:]

    def _fail(self, error: Exception) -> None:
        if not self.opened.done():
            self.opened.set_exception(error)
        self.transport.abort()

    def connection_lost(self, error) -> None:
        if not self.opened.done():
            self.opened.set_exception(Refused(f"the connection broke: {error}"))
        self._state = CLOSED
        if not self.ended.done():
            self.ended.set_result(self._code)


async def connect(
    port: int, path: str, token: str, take: Callable[[dict], None], context: ssl.SSLContext, *,
    receive_buffer: int | None = None, patience: float = 30, source: str | None = None,
) -> Client:
    """Opens a WebSocket, from the address `source`; messages are given to `take`. Raises `Refused` or `OSError`."""
    request = (
        f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Protocol: backline.v1.json\r\nAuthorization: Bearer {token}\r\n\r\n"
    ).encode()
    loop = asyncio.get_running_loop()
    plain = socket.socket()
    plain.setblocking(False)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if receive_buffer is not None:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    client = None
    try:
        if source is not None:
            plain.bind((source, 0))
        async with asyncio.timeout(patience):
            await loop.sock_connect(plain, (HOST, port))
            _, client = await loop.create_connection(lambda: Client(context, request, take), sock=plain)
            await client.opened
            return client
    except BaseException:
        if client is None:
            plain.close()
        else:
            client.drop()
        raise


class Follower:
    """One client's view of one room: its position, and every gap or repetition of sequence numbers."""

    __slots__ = ("room", "epoch", "seq", "faults", "snapshots", "collapsed", "events")

    def __init__(self, room: str):
        self.room = room
        self.epoch: str | None = None
        self.seq: int | None = None
        self.faults: list[str] = []
        self.snapshots = 0
        self.collapsed: list[dict] = []
        self.events = 0

    def take(self, message: dict) -> None:
        kind = message["type"]
        if kind == "delta":
            first, last = message["from"], message["seq"]
            if self.seq is None or first != self.seq + 1 or last - first + 1 != len(message["events"]):
                self.faults.append(f"delta {first}…{last} after {self.seq}")
            self.seq = last
            self.events += last - first + 1
        elif kind == "snapshot":
            self.snapshots += 1
            if collapsed := message.get("collapsed"):
                self.collapsed.append(collapsed)
                if collapsed["from"] != (self.seq or 0) + 1 or collapsed["seq"] != message["seq"]:
                    self.faults.append(f"collapsed {collapsed} after {self.seq}, snapshot at {message['seq']}")
            elif self.seq is not None and message["seq"] < self.seq:
                self.faults.append(f"snapshot at {message['seq']} after {self.seq}")
            self.epoch, self.seq = message["epoch"], message["seq"]

    @property
    def position(self) -> dict:
        return {"epoch": self.epoch, "seq": self.seq}

    def subscribe(self, number: int = 1) -> dict:
        """The message that subscribes, from the client's position if it has one."""
        message = {"type": "subscribe", "id": number, "room": self.room}
        return message if self.seq is None else {**message, "position": self.position}


def backoff(attempt: int, base: float = 0.05, most: float = 2.0) -> float:
    """Seconds to wait before the next attempt: full jitter."""
    return random.uniform(0, min(most, base * 2 ** attempt))
