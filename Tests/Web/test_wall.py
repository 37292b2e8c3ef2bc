"""The wall: what is on air for a whole place to see, on a full screen."""

import re

from playwright.sync_api import expect

import backline
import browsers
import parties


def test_the_wall_shows_what_is_on_air_and_leaves_by_escape(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP, host="party.test")
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


def test_no_code_is_shown_that_leads_nobody_here(visit, party, house):
    room = party(parties.rooftop, house)
    for host in browsers.HOSTS:
        page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP, host=host)
        leads = int(host != "localhost")

        def shows(where):
            expect(where).to_contain_text(room.code)
            expect(where.get_by_role("img", name=re.compile(room.code))).to_have_count(leads)
            expect(where.get_by_text(f"{host}:{house.port}/r/{room.code}")).to_have_count(leads)
            expect(where.get_by_text("only this computer finds the server")).to_have_count(1 - leads)

        page.get_by_role("button", name=re.compile(f"^Code {room.code}")).click()
        sheet = page.locator("dialog.dialog")
        shows(sheet)
        expect(sheet.get_by_role("button", name="Copy the link")).to_have_count(leads)
        page.get_by_role("button", name=re.compile("big screen")).click()
        shows(page.locator("dialog.wall"))
