"""The commands of a person in a room, and a terminal for them: a pseudo-terminal, and what a person would see on it."""

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import threading
import time

import pyte
import websockets.asyncio.client
import websockets.asyncio.server
import websockets.exceptions

import backline


class Home:
    """A person's settings folder at one server, and the program that uses it."""

    def __init__(self, folder, server, authority=None, program=None):
        self.folder, self.server = folder, server
        self.authority, self.program = authority, program or backline.program()
        #: What the last command wrote to standard error.
        self.told = ""

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("BACKLINE_", "LC_")) and name not in ("LANG", "NO_COLOR", "TERM")}
        return {**kept, "XDG_CONFIG_HOME": str(self.folder), "LANG": "C.UTF-8", "TERM": "xterm-256color", **more}

    def run(self, *arguments, input="", code=0, **environment):
        """Runs a command to its end; returns its standard output, or its standard error, which `told` keeps, if it must fail."""
        ended = subprocess.run(
            [self.program, *arguments], capture_output=True, text=True, input=input, timeout=backline.PATIENCE,
            env=self.environment(**environment), cwd=self.folder)
        assert ended.returncode == code, ended
        assert not (ended.stdout and code), ended
        self.told = ended.stderr
        return ended.stderr if code else ended.stdout

    def remember(self, person, *rooms):
        """Writes what the program would remember of a session, and of rooms by code and name, the newest first."""
        known = {"token": person.token, "name": person.name, "authority": self.authority, "rooms": [
            {"code": code, "name": name} for code, name in rooms]}
        (self.folder / "backline").mkdir(mode=0o700, exist_ok=True)
        file = self.folder / "backline" / "terminal.json"
        file.write_text(json.dumps({"server": self.server.origin, "servers": {self.server.origin: known}}))
        file.chmod(0o600)

    def sign_in(self, name):
        self.run("sign-in", self.server.origin, "--name", name, "--ca", self.authority)
        return self


class Overheard:
    """The way of sockets to a server, which keeps the commands that are given over it."""

    def __init__(self, server):
        self.server = server
        #: The commands as they were sent, in order.
        self.commands = []

    async def _listen(self):
        return await websockets.asyncio.server.serve(
            self._pass, "127.0.0.1", 0, subprotocols=[backline.PROTOCOL], compression=None, ping_interval=None)

    async def _pass(self, client):
        path, token = client.request.path, client.request.headers["Authorization"]
        async with websockets.asyncio.client.connect(
                f"wss://{self.server.host}:{self.server.port}{path}", ssl=self.server.context(), proxy=None,
                additional_headers={"Authorization": token}, subprotocols=[backline.PROTOCOL]) as server:
            ways = [asyncio.create_task(self._copy(*way)) for way in ((client, server), (server, client))]
            # Where one side has gone, the other one is closed, too.
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()

    async def _copy(self, source, target):
        with contextlib.suppress(websockets.exceptions.ConnectionClosed):
            async for text in source:
                message = json.loads(text)
                if message["type"] == "command":
                    self.commands.append(message["command"])
                await target.send(text)

    def __enter__(self):
        self._listener = backline._on_loop(self._listen())
        self.origin = f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_):
        backline._loop().call_soon_threadsafe(self._listener.close)


class Lines:
    """A command that prints lines until it is stopped."""

    def __init__(self, home, *arguments, **environment):
        self.process = subprocess.Popen(
            [home.program, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=home.environment(**environment), cwd=home.folder)
        self.lines = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def until(self, text):
        """Waits for a line with this text, and returns it."""
        return backline.eventually(
            lambda: next((line for line in self.lines if text in line), None), f"{text!r} in {self.lines}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()


class Terminal:
    """A command on a pseudo-terminal, and the screen that it draws."""

    def __init__(self, home, *arguments, columns=120, rows=40, **environment):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        #: Every byte that was written.
        self.written = b""
        #: The text of the screen after each part of them, with the number of bytes so far.
        self.shown = [("", 0)]
        self.lock = threading.Lock()
        self.master, slave = pty.openpty()
        self.slave = slave
        self._set_size(columns, rows)
        self.before = termios.tcgetattr(slave)
        self.process = subprocess.Popen(
            [home.program, *arguments], stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env=home.environment(**environment), cwd=home.folder, preexec_fn=_take_terminal)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _set_size(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self):
        with contextlib.suppress(OSError):
            while True:
                ready, _, _ = select.select([self.master], [], [], 0.1)
                if not ready:
                    if self.process.poll() is not None:
                        return
                    continue
                data = os.read(self.master, 65536)
                with self.lock:
                    self.written += data
                    self.stream.feed(data)
                    self._note()

    def _note(self):
        self.shown.append(("\n".join(line.rstrip() for line in self.screen.display), len(self.written)))

    def resize(self, columns, rows):
        with self.lock:
            self.screen.resize(rows, columns)
            self._note()
        self._set_size(columns, rows)
        self.process.send_signal(signal.SIGWINCH)

    def press(self, text):
        os.write(self.master, text.encode())

    @property
    def display(self):
        with self.lock:
            return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.display)

    def until(self, condition, what=None):
        """Waits for a text on the screen, or until a function of the screen's text is true; returns that text.

        From now on no screen is missed, however short it is shown.
        """
        return self.found(condition, what)[0]

    def found(self, condition, what=None):
        """Waits as ``until`` does; returns the screen's text and the number of bytes written so far."""
        if isinstance(condition, str):
            sought = condition
            condition = lambda text: sought in text
            what = repr(sought)
        looked = len(self.shown) - 1

        def find():
            nonlocal looked
            while looked < len(self.shown):
                if condition(self.shown[looked][0]):
                    return self.shown[looked]
                looked += 1

        try:
            return backline.eventually(find, what)
        except AssertionError:
            raise AssertionError(f"not on the screen: {what}\n{self.text}") from None

    def is_sane(self):
        """The terminal is as it was: echo and lines, the first screen, a cursor, wrapped lines."""
        return (termios.tcgetattr(self.slave) == self.before
                and self.written.rstrip().endswith(b"\x1b[?1049l") and self.written.count(b"\x1b[?25l")
                == self.written.count(b"\x1b[?25h") and b"\x1b[?7h" in self.written)

    def ended(self):
        """Waits for the end; returns the exit code."""
        code = self.process.wait(backline.PATIENCE)
        self.reader.join(backline.PATIENCE)
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        os.close(self.master)
        os.close(self.slave)


def _take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def settled(terminal, seconds=0.3):
    """Waits until nothing was written for a while."""
    def rests():
        count = len(terminal.written)
        time.sleep(seconds)
        return len(terminal.written) == count

    backline.eventually(rests, f"{seconds} s in which nothing is drawn")
