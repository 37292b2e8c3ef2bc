"""The browser's Back: it closes a sheet, and asks before the music of this device ends."""

import re

import pytest
from playwright.sync_api import expect

import backline
import browsers
import parties
import steps


def sheets(page):
    return page.locator("dialog[open]")


def at_home(page):
    expect(page.get_by_text("Listen together.")).to_be_visible()
    expect(page).to_have_url(re.compile("/$"))


def in_room(page, room):
    """The page shows the room, without a sheet, and stays in it."""
    expect(sheets(page)).to_have_count(0)
    expect(page).to_have_url(re.compile(f"{room.path}$"))
    steps.on_air(page, "Maré Alta")


def entered(visit, house, room, person, device):
    """A page that came to the room from the start page."""
    page = visit(house, "/", person=person, device=device)
    at_home(page)
    page.get_by_label("Code").first.fill(room.code)
    page.keyboard.press("Enter")
    steps.on_air(page, "Maré Alta")
    return page


def rests(page):
    """Waits until the history has as many steps as there are sheets."""
    backline.eventually(lambda: page.evaluate("history.state.sheets") == sheets(page).count(), "the history is at rest")


def plays_no_more(page):
    """Ends what `steps.pretend_deck` began."""
    page.evaluate("() => import(document.querySelector('script[type=module]').src).then(({app}) => { app.playing = null; })")


OPENS = {
    "menu": lambda page: steps.open_menu(page),
    "people": lambda page: steps.open_menu(page, "People"),
    "share": lambda page: steps.open_menu(page, "Share"),
    "statistics": lambda page: steps.open_menu(page, "Statistics"),
    "settings": lambda page: steps.open_menu(page, "Room settings"),
    "preferences": lambda page: steps.open_menu(page, "Preferences"),
    "history": lambda page: steps.open_menu(page, "History"),
    "own name": lambda page: steps.open_menu(page, "Your name"),
    "question": lambda page: steps.open_menu(page, "Leave the room"),
    "add": lambda page: steps.pane(page, "pool").get_by_role("button", name="Add music").click(),
    "row": lambda page: steps.pane(page, "pool").locator("[data-do=more]").first.click(),
    "deck": lambda page: page.get_by_role("button", name="Playing on this device").click(),
}


@pytest.mark.parametrize("device", browsers.in_the_gate_on(browsers.PHONE))
def test_back_closes_every_kind_of_sheet_and_then_leaves(visit, party, house, device):
    room = party(parties.rooftop, house)
    page = entered(visit, house, room, room.mina, device)
    length = page.evaluate("history.length")
    steps.pretend_deck(page, phase="on")
    for name, open in OPENS.items():
        open(page)
        expect(sheets(page), name).to_have_count(1)
        rests(page)
        page.go_back()
        in_room(page, room)
    # The wall, over the sheet that led there.
    steps.open_menu(page, "Share")
    page.get_by_role("button", name=re.compile("big screen")).click()
    expect(page.locator("dialog.wall")).to_be_visible()
    rests(page)
    page.go_back()
    in_room(page, room)
    # One over another, one at a time.
    steps.open_menu(page, "People")
    sheets(page).get_by_role("button", name="What to do about Ines", exact=True).click()
    expect(sheets(page)).to_have_count(2)
    sheets(page).last.get_by_role("button", name="Ban").click()
    expect(sheets(page).last).to_contain_text("For how long")
    rests(page)
    for left in 1, 0:
        page.go_back()
        expect(sheets(page)).to_have_count(left)
    in_room(page, room)
    # Closed in other ways, sheets leave nothing behind.
    for close in (lambda: page.keyboard.press("Escape"), lambda: sheets(page).get_by_role("button", name="Close").click(),
                  lambda: page.mouse.click(4, 4)):
        steps.open_menu(page)
        expect(sheets(page)).to_have_count(1)
        close()
        expect(sheets(page)).to_have_count(0)
        rests(page)
    assert page.evaluate("history.length") <= length + 2, "steps are used again"
    room.tell("Mina", "pause")
    plays_no_more(page)
    page.go_back()
    at_home(page)
    page.go_forward()
    in_room(page, room)


def test_a_reload_with_a_sheet_open_leaves_no_step(visit, party, house):
    room = party(parties.rooftop, house)
    page = entered(visit, house, room, room.guests["Ines"], browsers.PHONE)
    steps.open_menu(page, "History")
    expect(sheets(page)).to_have_count(1)
    rests(page)
    page.reload()
    in_room(page, room)
    rests(page)
    page.go_back()
    at_home(page)


def test_a_sheet_that_ends_in_another_room_leaves_no_step(visit, house):
    page = visit(house, "/")
    at_home(page)
    page.get_by_role("button", name="Start a room").click()
    page.get_by_label("Name of the room").fill("Cellar")
    page.get_by_label("Your name").fill("Mina")
    page.get_by_role("button", name="Start the room").click()
    expect(page).to_have_url(re.compile("/r/"))
    page.get_by_text("Nothing is playing").first.wait_for()
    page.go_back()
    at_home(page)


@pytest.mark.parametrize("device", browsers.in_the_gate_on(browsers.LAPTOP))
def test_music_of_this_device_ends_after_a_question_only(visit, party, house, device):
    room = party(parties.rooftop, house)
    page = entered(visit, house, room, room.mina, device)
    steps.pretend_deck(page, phase="on")
    for leave in page.go_back, page.locator("a.logo").click:
        leave()
        expect(sheets(page)).to_contain_text("The music stops")
        sheets(page).get_by_role("button", name="Stay").click()
        in_room(page, room)
        rests(page)
        # Back is to stay, too.
        leave()
        expect(sheets(page)).to_contain_text("The music stops")
        rests(page)
        page.go_back()
        in_room(page, room)
        rests(page)
    # The browser asks where the tab is closed.
    asked = []
    page.on("dialog", lambda one: (asked.append(one.type), one.dismiss()))
    page.close(run_before_unload=True)
    backline.eventually(lambda: page.evaluate("0") == 0 and asked == ["beforeunload"], "it asks")
    page.go_back()
    sheets(page).get_by_role("button", name="Leave").click()
    at_home(page)
    # Nothing is asked where nothing plays here.
    plays_no_more(page)
    page.go_forward()
    in_room(page, room)
    page.locator("a.logo").click()
    at_home(page)
