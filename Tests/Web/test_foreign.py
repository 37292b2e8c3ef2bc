"""A page whose address a proxy has changed on the way: the server does not take it for its own."""

import contextlib
import re

import pytest
from playwright.sync_api import expect

import interop_chromium


class PortDropper(interop_chromium.Relay):
    """A proxy that passes on `Host` without its port, as nginx does with `$host`, while it `drops`."""

    drops = True

    async def _pass(self, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                if self.drops:
                    data = data.replace(b"Host: localhost:%d\r\n" % self.port, b"Host: localhost\r\n")
                writer.write(data)
                await writer.drain()
        writer.close()


@pytest.fixture
def look(chromium):
    """Opens a page at an address in a new profile."""
    with contextlib.ExitStack() as stack:
        def open(url, context=None):
            if context is None:
                context = stack.enter_context(contextlib.closing(chromium.browser.new_context(locale="en-GB")))
            page = context.new_page()
            page.goto(url)
            return page
        yield open


def _room(server):
    """The path of a room's page."""
    made = server.session("Mina").request("POST", "/v1/rooms", {"name": "Cellar"}).expect(201)
    return f"/r/{made['room']['state']['code']}"


def test_a_page_that_the_server_does_not_know_says_so_and_the_log_says_what_to_do(look, servers):
    server = servers("--plain", certificate=False).start()
    path = _room(server)
    with PortDropper(server) as proxy:
        origin = f"http://localhost:{proxy.port}"
        page = look(origin + path)
        expect(page.get_by_role("heading", name="The server does not know this address.")).to_be_visible()
        expect(page.get_by_text(re.compile(rf"can allow pages of \W?{re.escape(origin)}\W?\."))).to_be_visible()
        page = look(origin)
        page.get_by_role("button", name="Start a room").click()
        page.get_by_label("Name of the room").fill("Cellar")
        page.get_by_role("dialog").get_by_role("button", name="Start").click()
        expect(page.get_by_text("The server does not know this address. A line in its log says")).to_be_visible()
        told = [line for line in server.said().splitlines() if "A page was refused" in line]
        assert len(told) == 1 and origin in told[0] and "--origin" in told[0], told


def test_a_visitor_of_before_is_told_as_well_that_the_server_does_not_know_the_page(look, servers):
    server = servers("--plain", certificate=False).start()
    path = _room(server)
    with PortDropper(server) as proxy:
        proxy.drops = False
        page = look(f"http://localhost:{proxy.port}{path}")
        expect(page.get_by_text("Cellar").first).to_be_visible()
        proxy.drops = True
        page = look(f"http://localhost:{proxy.port}{path}", page.context)
        expect(page.get_by_role("heading", name="The server does not know this address.")).to_be_visible()


def test_a_page_whose_address_is_named_to_the_server_opens_the_room(look, servers):
    # The port of the proxy is known once it listens, and the server needs it before.
    server = servers("--plain", certificate=False)
    with PortDropper(server) as proxy:
        server.options += ["--origin", f"http://localhost:{proxy.port}"]
        server.start()
        path = _room(server)
        page = look(f"http://localhost:{proxy.port}{path}")
        expect(page.get_by_text("Cellar").first).to_be_visible()
