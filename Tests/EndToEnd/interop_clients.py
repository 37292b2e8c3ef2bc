"""WebSocket clients of other authors, all with the same blocking interface."""

import asyncio
import contextlib
import select
import socket
import struct
import zlib

import aiohttp
import picows.websockets
import picows.websockets.asyncio.client
import pycurl
import websocket
import websockets.asyncio.client
import websockets.exceptions

import backline

OFFER = "permessage-deflate; client_max_window_bits"


class Client:
    """One person's connection, which can be opened again after it was dropped.

    `open` needs a server that answers 101; `receive` returns the next message's text; `drop` cuts the connection
    without a close frame; `close` closes with 1000 and returns the server's close code; `end` frees the remaining
    resources.
    """

    #: Whether the library knows permessage-deflate.
    deflates = True

    def __init__(self, server, person, deflate):
        self.server, self.person, self.deflate = server, person, deflate
        #: `Sec-WebSocket-Extensions` of the server's answer; empty if it had none.
        self.extensions = ""
        self.subprotocol = None

    @property
    def url(self):
        return f"wss://{self.server.host}:{self.server.port}/v1/socket"

    @property
    def headers(self):
        return {"Authorization": f"Bearer {self.person.token}"}

    @property
    def compresses(self):
        """Whether the library itself reports that it compresses."""
        return "permessage-deflate" in self.extensions

    def end(self):
        pass


class OnLoop(Client):
    """A client of an asyncio library, which runs only during calls."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.loop = asyncio.new_event_loop()

    def run(self, coroutine):
        return self.loop.run_until_complete(asyncio.wait_for(coroutine, backline.PATIENCE))

    def end(self):
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()


class Websockets(OnLoop):
    """`websockets`."""

    connect = staticmethod(websockets.asyncio.client.connect)
    #: The exception of `receive` without a connection.
    closed = websockets.exceptions.ConnectionClosed

    def open(self):
        self.run(self._open())
        self.extensions = self.connection.response.headers.get("Sec-WebSocket-Extensions") or ""
        self.subprotocol = self.connection.subprotocol

    async def _open(self):
        self.socket = socket.create_connection((self.server.host, self.server.port))
        self.connection = await self.connect(
            self.url, ssl=self.server.context(), additional_headers=self.headers, subprotocols=[backline.PROTOCOL],
            compression="deflate" if self.deflate else None, proxy=None, max_size=None, ping_interval=None,
            sock=self.socket,
        )

    @property
    def compresses(self):
        return any(extension.name == "permessage-deflate" for extension in self.connection.protocol.extensions)

    def send(self, text):
        self.run(self.connection.send(text))

    def receive(self):
        return self.run(self.connection.recv())

    def drop(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        # The library stops reading while many messages wait to be received: it sees the end after them.
        with contextlib.suppress(self.closed):
            while True:
                self.receive()
        self.run(self.connection.wait_closed())

    def close(self):
        self.run(self.connection.close())
        return self.connection.close_code


class Picows(Websockets):
    """`picows`, by the interface that it shares with `websockets`."""

    connect = staticmethod(picows.websockets.asyncio.client.connect)
    closed = picows.websockets.ConnectionClosed

    @property
    def compresses(self):
        return "permessage-deflate" in self.extensions


class Aiohttp(OnLoop):
    """`aiohttp`."""

    def open(self):
        self.run(self._open())
        self.subprotocol = self.connection.protocol

    async def _open(self):
        self.session = aiohttp.ClientSession()
        self.connection = await self.session.ws_connect(
            self.url, ssl=self.server.context(), headers=self.headers, protocols=[backline.PROTOCOL],
            compress=15 if self.deflate else 0, max_msg_size=0, autoclose=False,
        )
        self.extensions = self.connection._response.headers.get("Sec-WebSocket-Extensions") or ""

    @property
    def compresses(self):
        return self.connection.compress != 0

    def send(self, text):
        self.run(self.connection.send_str(text))

    def receive(self):
        return self.run(self.connection.receive_str())

    def drop(self):
        self.connection.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        self.run(self.session.close())

    def close(self):
        self.run(self.connection.close(code=1000))
        return self.connection.close_code

    def end(self):
        self.run(self.session.close())
        super().end()


class WebsocketClient(Client):
    """`websocket-client`, which has no compression."""

    deflates = False

    def open(self):
        self.connection = websocket.create_connection(
            self.url, timeout=backline.PATIENCE, header=self.headers, subprotocols=[backline.PROTOCOL],
            sslopt={"context": self.server.context()}, http_no_proxy=["*"],
        )
        self.extensions = self.connection.getheaders().get("sec-websocket-extensions", "")
        self.subprotocol = self.connection.getsubprotocol()

    def send(self, text):
        self.connection.send(text)

    def receive(self):
        return self.connection.recv()

    def drop(self):
        self.connection.shutdown()

    def close(self):
        self.connection.send_close(1000)
        while True:
            opcode, data = self.connection.recv_data()
            if opcode == websocket.ABNF.OPCODE_CLOSE:
                self.connection.shutdown()
                return struct.unpack("!H", data[:2])[0]


class Curl(Client):
    """libcurl's WebSocket without compression, in the version that `pycurl` contains.

    The curl program of some systems is built without `wss`.
    """

    deflates = False

    def open(self):
        self.curl = pycurl.Curl()
        lines = []
        self.curl.setopt(pycurl.URL, self.url)
        self.curl.setopt(pycurl.CONNECT_ONLY, 2)
        self.curl.setopt(pycurl.SSL_VERIFYPEER, 0)
        self.curl.setopt(pycurl.SSL_VERIFYHOST, 0)
        self.curl.setopt(pycurl.NOPROXY, "*")
        self.curl.setopt(pycurl.CONNECTTIMEOUT, int(backline.PATIENCE))
        self.curl.setopt(pycurl.HTTPHEADER, [
            *(f"{name}: {value}" for name, value in self.headers.items()),
            f"Sec-WebSocket-Protocol: {backline.PROTOCOL}",
        ])
        self.curl.setopt(pycurl.HEADERFUNCTION, lines.append)
        self.curl.perform()
        fields = dict(line.decode().strip().lower().split(": ", 1) for line in lines if b": " in line)
        self.extensions = fields.get("sec-websocket-extensions", "")
        self.subprotocol = fields.get("sec-websocket-protocol")

    def _wait(self, reading):
        number = [self.curl.getinfo(pycurl.ACTIVESOCKET)]
        ready = select.select(number if reading else [], [] if reading else number, [], backline.PATIENCE)
        if not any(ready):
            raise TimeoutError(f"nothing for {backline.PATIENCE} s")

    def send(self, text):
        data = text.encode()
        while True:
            try:
                assert self.curl.ws_send(data, pycurl.WS_TEXT) == len(data)
                return
            except BlockingIOError:
                self._wait(reading=False)

    def receive(self):
        flags, message = self._receive()
        assert flags & pycurl.WS_TEXT, (flags, message)
        return message.decode()

    def _receive(self):
        """The next message other than a pong: its flags and payload."""
        message = b""
        while True:
            try:
                part, about = self.curl.ws_recv(1 << 16)
            except BlockingIOError:
                self._wait(reading=True)
                continue
            if about.flags & (pycurl.WS_PING | pycurl.WS_PONG):
                continue  # libcurl answers a ping by itself.
            message += part
            if not about.bytesleft and not about.flags & pycurl.WS_CONT:
                return about.flags, message

    def drop(self):
        with socket.socket(fileno=socket.dup(self.curl.getinfo(pycurl.ACTIVESOCKET))) as copy:
            copy.shutdown(socket.SHUT_RDWR)
        self.curl.close()

    def close(self):
        self.curl.ws_close(1000)
        while True:
            flags, data = self._receive()
            if flags & pycurl.WS_CLOSE:
                self.curl.close()
                return struct.unpack("!H", data[:2])[0]


class Raw(Client):
    """A socket, TLS, and RFC 6455 and RFC 7692 written out here."""

    def open(self):
        self.raw = backline.RawSocket(
            self.server, self.person.token,
            headers=[f"Sec-WebSocket-Protocol: {backline.PROTOCOL}"]
            + ([f"Sec-WebSocket-Extensions: {OFFER}"] if self.deflate else []),
        )
        assert self.raw.status == 101, self.raw.status
        # RFC 6455 section 1.3: the answer to the key of `RawSocket`.
        assert self.raw.headers["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        self.subprotocol = self.raw.headers["Sec-WebSocket-Protocol"]
        self.extensions = self.raw.headers.get("Sec-WebSocket-Extensions", "")
        agreed = dict(part.strip().partition("=")[::2] for part in self.extensions.split(";"))
        self.window = int(agreed.get("client_max_window_bits", "").strip('"') or 15)
        self.keeps_ours = "client_no_context_takeover" not in agreed
        self.keeps_theirs = "server_no_context_takeover" not in agreed
        self.deflater = self.inflater = None
        #: Compressed messages from the server.
        self.inflated = 0

    def send(self, text):
        data = text.encode()
        if not self.compresses:
            return self.raw.send_frame(1, data)
        # RFC 7692 section 7.2.1: flushed, without the last four bytes.
        if self.deflater is None or not self.keeps_ours:
            self.deflater = zlib.compressobj(wbits=-self.window)
        data = self.deflater.compress(data) + self.deflater.flush(zlib.Z_SYNC_FLUSH)
        self.raw.send_frame(1, data[:-4], reserved=4)

    def _frame(self):
        """The next frame: its FIN bit, its reserved bits, opcode and payload."""
        first, second = self._read(2)
        assert second < 128, "a server's frame is not masked"
        length = second
        if second == 126:
            (length,) = struct.unpack("!H", self._read(2))
        elif second == 127:
            (length,) = struct.unpack("!Q", self._read(8))
        return first >= 128, first >> 4 & 7, first & 15, self._read(length)

    def _read(self, count):
        data = self.raw.reader.read(count)
        if len(data) < count:
            raise ConnectionError("the connection ended inside a frame")
        return data

    def receive(self):
        message, compressed = b"", False
        while True:
            final, reserved, opcode, payload = self._frame()
            if opcode == 9:
                self.raw.send_frame(10, payload)
            if opcode > 8:
                continue
            assert opcode in (0, 1) and (opcode == 1) == (message == b""), (opcode, payload)
            assert reserved == 0 or (reserved == 4 and opcode == 1 and self.compresses), reserved
            compressed = compressed or reserved == 4
            message += payload
            if final:
                return (self._inflate(message) if compressed else message).decode()

    def _inflate(self, data):
        # RFC 7692 section 7.2.2: with the four bytes that the sender removed.
        self.inflated += 1
        if self.inflater is None or not self.keeps_theirs:
            self.inflater = zlib.decompressobj(wbits=-15)
        return self.inflater.decompress(data + b"\x00\x00\xff\xff")

    def drop(self):
        # An immediate reset, whereas the other clients' TCP connections end in order.
        self.raw.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.raw.__exit__()

    def close(self):
        self.raw.send_frame(8, struct.pack("!H", 1000))
        while True:
            _, _, opcode, payload = self._frame()
            if opcode == 8:
                # After the server's close frame only the end follows.
                assert self.raw.reader.read() == b""
                self.raw.__exit__()
                return struct.unpack("!H", payload[:2])[0]
