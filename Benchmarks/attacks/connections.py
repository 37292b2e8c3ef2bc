"""Low-level connections: HTTP requests on a kept connection, and WebSocket frames without flow control or checks."""

from __future__ import annotations

import json
import socket
import ssl
import struct
import zlib

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
PATIENCE = 4.0
"""Seconds after which an answer or a write without progress counts as interrupted."""


class Ended(Exception):
    """The server has ended the connection, or refused to make it a WebSocket."""


BROKEN = (OSError, ssl.SSLError, Ended, ValueError, IndexError)
"""The exceptions of a connection that the server or the network has ended."""


def dial(
    address, source: str | None = None, receive_buffer: int | None = None, tls: bool = True, patience: float = PATIENCE,
) -> socket.socket:
    """A connection from a chosen address, with TLS if the server uses it."""
    plain = socket.socket()
    try:
        plain.settimeout(patience)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if receive_buffer is not None:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if source is not None:
            plain.bind((source, 0))
        plain.connect((address.host, address.port))
        if not tls or address.scheme == "http":
            return plain
        return context().wrap_socket(plain, server_hostname="localhost")
    except BaseException:
        plain.close()
        raise


_context: list[ssl.SSLContext] = []


def context() -> ssl.SSLContext:
    """TLS without verification, the same for all connections of the process."""
    if not _context:
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
        _context.append(made)
    return _context[0]


def head(address, method: str, path: str, token: str | None, *fields: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {address.host}:{address.port}", *fields]
    if token is not None:
        lines.append(f"Authorization: Bearer {token}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


class Line:
    """A kept connection: one HTTP request after the other."""

    def __init__(self, address, token: str | None = None, source: str | None = None, patience: float = PATIENCE):
        self.address, self.token = address, token
        self._stream = dial(address, source, patience=patience)
        self._reader = self._stream.makefile("rb")

    def ask(self, method: str, path: str, body=None, token: str | None = None) -> tuple[int, bytes]:
        """The status and the body of an answer; a JSON body is sent as bytes or as an object."""
        fields = []
        if body is not None:
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            fields = ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        self._stream.sendall(head(self.address, method, path, token or self.token, *fields) + (body or b""))
        status = int(self._reader.readline().split()[1])
        length, ends = 0, False
        while (line := self._reader.readline().strip().lower()) != b"":
            name, _, value = line.partition(b":")
            if name == b"content-length":
                length = int(value)
            elif name == b"transfer-encoding":
                length = -1
            elif name == b"connection" and value.strip() == b"close":
                ends = True
        content = self._chunks() if length < 0 else self._reader.read(length)
        if ends:
            self.close()
        return status, content

    def _chunks(self) -> bytes:
        parts = []
        while (length := int(self._reader.readline().split(b";")[0], 16)) > 0:
            parts.append(self._reader.read(length))
            self._reader.readline()
        self._reader.readline()
        return b"".join(parts)

    def close(self) -> None:
        self._reader.close()
        self._stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def frame(opcode: int, payload: bytes = b"", final: bool = True, compressed: bool = False) -> bytes:
    """A client's frame. A masking key of zeros leaves the payload as it is."""
    first = (0x80 if final else 0) | (0x40 if compressed else 0) | opcode
    if len(payload) < 126:
        head = struct.pack("!BB", first, 0x80 | len(payload))
    elif len(payload) < 65536:
        head = struct.pack("!BBH", first, 0xFE, len(payload))
    else:
        head = struct.pack("!BBQ", first, 0xFF, len(payload))
    return head + bytes(4) + payload


def message(value) -> bytes:
    """A message as a frame."""
    return frame(TEXT, json.dumps(value, separators=(",", ":")).encode())


def deflated(text: bytes) -> bytes:
    """A message as a compressed frame."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    payload = packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH)
    return frame(TEXT, payload[:-4], compressed=True)


class Pipe:
    """A connection for non-blocking writes: bytes that cannot be sent at once wait here and are tried again."""

    def __init__(self, stream: socket.socket):
        self.stream, self._rest, self._patience = stream, b"", stream.gettimeout()

    def offer(self, data: bytes) -> bool:
        """Continues the write before, or begins this one; returns whether all bytes have been sent."""
        self._rest = self._rest or data
        self.stream.setblocking(False)
        try:
            self._rest = self._rest[self.stream.send(self._rest):]
        except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
            return False
        finally:
            self.stream.settimeout(self._patience)
        return not self._rest

    def look(self) -> bytes | None:
        """Bytes that have arrived, up to a limit; None if there are none. Raises if the connection has ended."""
        self.stream.setblocking(False)
        try:
            part = self.stream.recv(65_536)
        except (BlockingIOError, ssl.SSLWantReadError):
            return None
        finally:
            self.stream.settimeout(self._patience)
        if not part:
            raise Ended("the connection has ended")
        return part

    def close(self) -> None:
        self.stream.close()


class Frames(Pipe):
    """A WebSocket."""

    def __init__(
        self, address, token: str, path: str = "/v1/socket", *, deflate: bool = False,
        receive_buffer: int | None = None, source: str | None = None, patience: float = PATIENCE,
    ):
        super().__init__(dial(address, source, receive_buffer, patience=patience))
        fields = [
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: backline.v1.json",
        ]
        if deflate:
            fields.append("Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover")
        try:
            self.stream.sendall(head(address, "GET", path, token, *fields))
            text = b""
            while not text.endswith(b"\r\n\r\n"):
                byte = self.stream.recv(1)
                if not byte:
                    raise Ended("no answer to the opening handshake")
                text += byte
            if b" 101 " not in text.split(b"\r\n", 1)[0]:
                raise Ended(text.split(b"\r\n", 1)[0].decode())
        except BaseException:
            self.stream.close()
            raise
        self._bytes = b""

    def send(self, data: bytes) -> None:
        self.stream.sendall(data)

    def receive(self) -> tuple[int, bytes]:
        """The next frame's opcode and payload."""
        opcode, length = self._more(2)
        length &= 0x7F
        if length == 126:
            length = int.from_bytes(self._more(2))
        elif length == 127:
            length = int.from_bytes(self._more(8))
        return opcode & 0x0F, self._more(length)

    def _more(self, count: int) -> bytes:
        parts, have = [self._bytes], len(self._bytes)
        while have < count:
            part = self.stream.recv(262_144)
            if not part:
                raise Ended("closed without a close frame")
            parts.append(part)
            have += len(part)
        whole = b"".join(parts)
        self._bytes = whole[count:]
        return whole[:count]

    def waiting_frames(self) -> list[tuple[int, bytes]]:
        """The frames that have arrived; raises if a close frame is among them."""
        found = []
        while (part := self.look()) is not None:
            self._bytes += part
            while (read := self._whole()) is not None:
                if read[0] == CLOSE:
                    raise Ended(f"closed with {int.from_bytes(read[1][:2])}")
                found.append(read)
        return found

    def waiting(self) -> list[dict]:
        """The messages that have arrived, on a connection without compression."""
        return [json.loads(payload) for opcode, payload in self.waiting_frames() if opcode == TEXT]

    def _whole(self) -> tuple[int, bytes] | None:
        data = self._bytes
        if len(data) < 2:
            return None
        length, body = data[1] & 0x7F, 2
        if length >= 126:
            body = 4 if length == 126 else 10
            length = int.from_bytes(data[2:body])
        if len(data) < body + length:
            return None
        self._bytes = data[body + length:]
        return data[0] & 0x0F, data[body:body + length]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
