"""The wall: what is on air for a whole place to see, on a full screen."""

import re

from playwright.sync_api import expect

import backline
import browsers
import parties


def test_the_wall_shows_what_is_on_air_and_leaves_by_escape(visit, party, house):
    room = party(parties.rooftop, house, present=False)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    page.get_by_role("button", name=re.compile(f"^Code {room.code}")).click()
    page.get_by_role("button", name=re.compile("big screen")).click()
    wall = page.locator("dialog.wall")
    expect(wall.locator(".wall-title")).to_have_text("Maré Alta")
    expect(wall.get_by_role("img", name=re.compile(room.code))).to_be_visible()
    room.tell("Mina", "skip")
    expect(wall.locator(".wall-title")).to_have_text("Salt Horizon")
    page.keyboard.press("Escape")
    expect(wall).to_have_count(0)
    # A browser leaves the full screen a moment later.
    backline.eventually(lambda: page.evaluate("document.fullscreenElement === null"), "the screen is the page's again")
