"""What needs a trusted certificate: the service worker, and what the page does without it."""

import contextlib
import os

import pytest
from playwright.sync_api import Error, expect

import backline
import browsers
import interop_chromium
import parties
import steps
import wires


@pytest.fixture
def stranger(playwright_driver, authority):
    """A browser that does not know the authority."""
    with contextlib.closing(browsers.Chromium(playwright_driver, authority.home(trusted=False))) as made:
        yield made


def test_an_untrusted_certificate_leaves_the_page_without_its_worker(visit, party, house, stranger):
    """As on a phone that opens the development certificate's address: the person says that it is fine."""
    room = party(parties.rooftop, house)
    page = visit(house, browser=stranger)
    page.watch.expect("ERR_CERT_AUTHORITY_INVALID|An SSL certificate error occurred|chrome-error")
    with contextlib.suppress(Error):
        page.goto(room.path)
    backline.eventually(lambda: page.title() == "Privacy error", "the browser warns")
    # What the warning takes for "proceed".
    page.keyboard.type("thisisunsafe")
    steps.join(page, "Ana")
    steps.vote_button(page, "requests", "Maré Theory").click()
    expect(steps.vote_button(page, "requests", "Maré Theory")).to_have_text("4")
    steps.settle(page)
    # It is told where somebody looks for it, and not over a form that is being filled in.
    refused = "JSON.parse(localStorage.getItem('backline.preferences') ?? '{}').workerRefused === true"
    backline.eventually(lambda: page.evaluate(refused), "the worker is refused")
    steps.open_menu(page, "Preferences")
    expect(page.get_by_text("does not trust the server’s certificate")).to_be_visible()
    assert page.evaluate("navigator.serviceWorker.getRegistrations().then(all => all.length)") == 0
    steps.expect_equal_to_server(page, room.mina, room.id)


def test_the_page_is_installable(playwright_driver, authority, house, tmp_path):
    """In a profile that is kept: a private one installs nothing."""
    context = playwright_driver.chromium.launch_persistent_context(
        str(tmp_path / "profile"), executable_path=interop_chromium.program(), headless=True, args=browsers.FLAGS,
        env={**os.environ, "HOME": authority.home()}, base_url=browsers.origin(house))
    with contextlib.closing(context):
        page = context.new_page()
        page.goto("/")
        steps.keep_page(page)
        session = context.new_cdp_session(page)
        manifest = session.send("Page.getAppManifest")
        assert manifest["errors"] == [], manifest
        assert session.send("Page.getInstallabilityErrors")["installabilityErrors"] == []


def test_a_reload_without_a_connection_brings_the_shell(visit, party, house):
    room = party(parties.rooftop, house)
    with wires.Wire(house) as wire:
        page = visit(wire, room.path)
        page.watch.expect(browsers.LOST)
        # What is still on its way when the page is left.
        page.watch.expect("net::ERR_ABORTED")
        steps.join(page, "Ana")
        steps.keep_page(page)
        wire.go_down()
        page.reload()
        expect(page.get_by_text("Reconnecting…").or_(page.get_by_text("No connection"))).to_be_visible()
        wire.come_up()
        steps.on_air(page, "Maré Alta")
        steps.expect_equal_to_server(page, room.mina, room.id)
