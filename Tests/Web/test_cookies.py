"""A cookie of the session that does not come back: the page says why, and how to go on."""

import contextlib
import json
import os
import re

import pytest
from playwright.sync_api import expect

import browsers
import interop_chromium
import parties
import steps

REFUSED = "status of 401|response code: 401|HTTP Authentication failed"


@pytest.fixture
def without_cookies(playwright_driver, authority, tmp_path):
    """Opens a browser as `context(server)`, whose profile keeps no cookies."""
    preferences = tmp_path / "profile" / "Default" / "Preferences"
    preferences.parent.mkdir(parents=True)
    preferences.write_text(json.dumps({"profile": {"default_content_setting_values": {"cookies": 2}}}))
    with contextlib.ExitStack() as stack:
        yield lambda server: stack.enter_context(contextlib.closing(playwright_driver.chromium.launch_persistent_context(
            str(tmp_path / "profile"), executable_path=interop_chromium.program(), headless=True, args=browsers.FLAGS,
            env={**os.environ, "HOME": authority.home()}, base_url=browsers.origin(server), locale="en-GB")))


def test_a_browser_without_cookies_is_told_to_allow_them(without_cookies, party, house):
    room = party(parties.rooftop, house)
    page = without_cookies(house).new_page()
    page.goto(room.path)
    expect(page.get_by_text("This browser keeps no cookies for this site.")).to_be_visible()
    expect(page.get_by_text(re.compile(rf"Once cookies are allowed for \W?localhost:{house.port}\b"))).to_be_visible()
    expect(page.get_by_role("link", name="Open the https address")).to_have_count(0)
    page.goto("/")
    expect(page.get_by_text("This browser keeps no cookies for this site.")).to_be_visible()


def test_a_cookie_that_is_taken_away_is_told_and_tried_again(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house)
    page.watch.expect(REFUSED)
    steps.take_cookies(page)
    page.goto(room.path)
    expect(page.get_by_text("The server does not recognise this browser.")).to_be_visible()
    page.evaluate("window.takesCookies = false")
    page.get_by_role("button", name="Try again").click()
    steps.on_air(page, "Maré Alta")


def test_an_address_that_is_not_private_leads_to_the_https_one(chromium, servers):
    server = servers("--plain", certificate=False).start()
    address = f"://party.test:{server.port}/r/7KQ2ZM"
    with contextlib.closing(chromium.browser.new_context(locale="en-GB")) as context:
        page = context.new_page()
        page.goto(f"http{address}")
        expect(page.get_by_text("This address is not private.")).to_be_visible()
        expect(page.get_by_role("link", name="Open the https address")).to_have_attribute("href", f"https{address}")
