"""A network between browsers and a server that can be cut, lost, or fall silent."""

import asyncio
import contextlib

import interop_chromium


class Wire(interop_chromium.Relay):
    """Passes bytes on between a port of its own and a server's. Its address serves as the server's.

    With `delay`, bytes arrive so many seconds later in each direction, and the first ones of a connection wait for the
    round trip that opens it. With `rate`, all connections together carry so many bytes a second in each direction.
    """

    def __init__(self, server, delay=0.0, rate=None):
        super().__init__(server)
        self.delay, self.rate = delay, rate
        self._busy = {}
        #: Connections that have been opened so far.
        self.accepted = 0
        self._down = False
        self._lost = False
        self._passing = []

    def fall_silent(self):
        """From now on, no byte and no end passes on the connections that are open; neither end is told.

        Connections that are opened later pass everything.
        """
        for one in self._passing:
            one["silent"] = True

    def go_down(self):
        """Resets every connection, and every one that is opened later."""
        self._down = True
        self.cut()

    def come_up(self):
        self._down = False

    def lose_packets(self):
        """Cuts every connection; those that are opened from now on are never answered."""
        self._lost = True
        self.cut()

    def find_packets(self):
        """Connections that are opened from now on pass everything."""
        self._lost = False

    async def _serve(self, reader, writer):
        if self._down:
            writer.transport.abort()
            return
        self.accepted += 1
        state = {"silent": self._lost}
        self._passing.append(state)
        try:
            up_reader, up_writer = await asyncio.open_connection(self.server.host, self.server.port)
        except OSError:
            writer.transport.abort()
            return
        both = {writer.transport, up_writer.transport}
        self.transports |= both
        await asyncio.gather(
            self._carry(reader, up_writer, state, "up"), self._carry(up_reader, writer, state, "down"))
        self.transports -= both
        self._passing.remove(state)

    async def _carry(self, reader, writer, state, direction):
        if self.delay:
            await self._carry_late(reader, writer, direction)
            return
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                if not state["silent"]:
                    writer.write(data)
                    await writer.drain()
        if not state["silent"]:
            writer.close()

    async def _carry_late(self, reader, writer, direction):
        clock = asyncio.get_running_loop().time
        waiting = asyncio.Queue()

        async def deliver():
            opened = clock() + 2 * self.delay
            while True:
                arrived, data = await waiting.get()
                begins = max(arrived + self.delay, self._busy.get(direction, 0))
                self._busy[direction] = begins + (len(data) / self.rate if self.rate else 0)
                await asyncio.sleep(max(0, opened - clock(), self._busy[direction] - clock()))
                if not data:
                    break
                writer.write(data)
                await writer.drain()
            writer.close()

        delivering = asyncio.ensure_future(deliver())
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 14):
                waiting.put_nowait((clock(), data))
        waiting.put_nowait((clock(), b""))
        with contextlib.suppress(OSError):
            await delivering

