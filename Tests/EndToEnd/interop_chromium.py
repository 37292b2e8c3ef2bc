"""Chromium's WebSocket, driven in a page that the server itself has served.

The browser connects to a relay in this process, which can cut a connection as a lost network does; a page cannot.
"""

import asyncio
import contextlib
import os
import shutil

import playwright.sync_api

import backline
from interop_clients import Client

FLAGS = [
    # No request leaves this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # /dev/shm is small in a container.
    "--disable-dev-shm-usage",
]

PAGE = """() => {
    let arrived = [], wake = null;
    const add = entry => { arrived.push(entry); if (wake) { wake(); wake = null; } };
    window.connect = (url, protocol) => new Promise((opened, failed) => {
        window.connection = new WebSocket(url, protocol);
        connection.onopen = () => opened({extensions: connection.extensions, protocol: connection.protocol});
        connection.onmessage = event => add({text: event.data});
        connection.onclose = event => {
            failed(new Error('closed with ' + event.code));
            add({code: event.code, clean: event.wasClean});
        };
    });
    window.take = async () => {
        if (!arrived.length) await new Promise(resume => { wake = resume; });
        return arrived.splice(0);
    };
}"""


def program():
    """Debian's Chromium, or the program that BACKLINE_CHROMIUM names."""
    path = os.environ.get("BACKLINE_CHROMIUM") or shutil.which("chromium")
    assert path, "there is no Chromium: apt-get install chromium fonts-dejavu-core (or set BACKLINE_CHROMIUM)"
    return path


class Chromium(Client):
    """A page of its own browser. It always offers permessage-deflate."""

    def __init__(self, server, person, deflate):
        super().__init__(server, person, deflate)
        self.arrived, self.code = [], None
        self.stack = contextlib.ExitStack()
        try:
            self._start()
        except BaseException:
            self.end()
            raise

    def _start(self):
        self.relay = self.stack.enter_context(Relay(self.server))
        browsers = self.stack.enter_context(playwright.sync_api.sync_playwright())
        browser = browsers.chromium.launch(executable_path=program(), headless=True, args=FLAGS)
        self.stack.callback(browser.close)
        # The server's certificate is self-signed, made for development. Its answers are not pages: the page used here
        # may do what the answers' policy forbids.
        context = browser.new_context(ignore_https_errors=True, bypass_csp=True)
        context.set_default_timeout(backline.PATIENCE * 1000)
        self.origin = f"127.0.0.1:{self.relay.port}"
        context.add_cookies([{
            "name": "__Host-backline_session", "value": self.person.token, "url": f"https://{self.origin}",
            "secure": True, "httpOnly": True, "sameSite": "Lax",
        }])
        self.page = context.new_page()
        self.page.goto(f"https://{self.origin}/healthz")
        self.page.evaluate(PAGE)

    def open(self):
        self.arrived, self.code = [], None
        made = self.page.evaluate(
            "([url, protocol]) => connect(url, protocol)", [f"wss://{self.origin}/v1/socket", backline.PROTOCOL])
        self.extensions, self.subprotocol = made["extensions"], made["protocol"]

    def send(self, text):
        self.page.evaluate("text => connection.send(text)", text)

    def receive(self):
        while not self.arrived:
            assert self.code is None, f"closed with {self.code}"
            self._take()
        return self.arrived.pop(0)

    def _take(self):
        for entry in self.page.evaluate("take()"):
            if "text" in entry:
                self.arrived.append(entry["text"])
            else:
                self.code, self.clean = entry["code"], entry["clean"]

    def _ended(self):
        while self.code is None:
            self._take()
        return self.code

    def drop(self):
        self.relay.cut()
        assert self._ended() == 1006, "no close frame came"

    def close(self):
        self.page.evaluate("connection.close(1000)")
        code = self._ended()
        assert self.clean
        return code

    def end(self):
        self.stack.close()


class Relay:
    """Passes bytes on between a port of its own and the server's."""

    def __init__(self, server):
        self.server = server
        self.transports = set()

    def __enter__(self):
        self.listener = backline._on_loop(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = self.listener.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_):
        async def stop():
            self.listener.close()
        backline._on_loop(stop())
        self.cut()

    def cut(self):
        """Resets every connection."""
        async def abort():
            for transport in self.transports:
                transport.abort()
        backline._on_loop(abort())

    async def _serve(self, reader, writer):
        up_reader, up_writer = await asyncio.open_connection(self.server.host, self.server.port)
        both = {writer.transport, up_writer.transport}
        self.transports |= both
        await asyncio.gather(self._pass(reader, up_writer), self._pass(up_reader, writer))
        self.transports -= both

    async def _pass(self, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        writer.close()
