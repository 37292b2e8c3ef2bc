"""The page by keyboard alone. Nothing here clicks, and nothing sets the focus but keys."""

import re

import pytest
from playwright.sync_api import expect

import backline
import browsers
import parties
import steps

NAME = """() => {
    const node = document.activeElement;
    if (!node || node === document.body) return '';
    const labels = node.labels && [...node.labels].map(one => one.textContent).join(' ');
    return (node.getAttribute('aria-label') || labels || node.placeholder || node.textContent || node.tagName).trim();
}"""


def focused(page):
    """The name of what has the focus."""
    return page.evaluate(NAME)


def go_to(page, pattern, key="Tab", most=150):
    """Presses a key until what has the focus has a name that the expression finds."""
    seen = []
    for _ in range(most):
        page.keyboard.press(key)
        seen.append(focused(page))
        if re.search(pattern, seen[-1]):
            return seen[-1]
    raise AssertionError(f"no {pattern!r} is reached; the focus went to {seen}")


def press(page, pattern, key="Enter", **options):
    go_to(page, pattern, **options)
    page.keyboard.press(key)


@pytest.fixture(params=browsers.DEVICES, ids=lambda device: device.name)
def device(request):
    return request.param


def test_a_guest_joins_finds_votes_and_withdraws(visit, party, house, device):
    room = party(parties.rooftop, house)
    page = visit(house, "/", device=device)
    page.get_by_text("Listen together.").wait_for()
    go_to(page, "Code")
    page.keyboard.type(room.code.lower())
    page.keyboard.press("Enter")
    page.get_by_label("Your name").wait_for()
    if not re.search("Your name", focused(page)):
        go_to(page, "Your name", most=10)
    page.keyboard.press("Control+A")
    page.keyboard.type("Ana")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Your name")).to_be_hidden()
    # `/` goes to the search.
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("mare the")
    row = page.locator("[data-pane=pool] li.row")
    expect(row).to_have_count(1)
    button = row.locator("[data-do=vote]")
    go_to(page, "Maré Theory", most=10)
    page.keyboard.press("Space")
    expect(button).to_have_text("4")
    expect(button).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Space")
    expect(button).to_have_text("3")
    expect(button).to_have_attribute("aria-pressed", "false")
    steps.expect_equal_to_server(page, room.mina, room.id)


def test_a_dj_queues_reorders_and_bans(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    steps.on_air(page, "Maré Alta")
    before = [one["entry"] for one in room.state()["queue"]]
    go_to(page, "Add .*Warm Machines|Warm Machines.*queue")
    page.keyboard.press("Enter")
    expect(page.locator("[data-pane=queue] li.row .title").last).to_have_text("Warm Machines")
    # To the top, by the row's menu.
    go_to(page, "Paper Season", key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Move up")).to_be_visible()
    press(page, "^Move up", most=20)
    backline.eventually(
        lambda: [one["entry"] for one in room.state()["queue"]][:4] == [before[0], before[1], before[3], before[2]],
        "the entry has moved up")
    page.keyboard.press("Escape")
    go_to(page, "^Menu$", key="Shift+Tab")
    page.keyboard.press("Enter")
    shown = page.locator("dialog[open]")
    expect(shown).to_contain_text("People")
    press(page, "^People", most=20)
    expect(shown).to_contain_text("Yuki")
    press(page, "Yuki")
    expect(shown.last).to_contain_text("Ban from the room")
    press(page, "^Ban from the room", most=30)
    expect(shown.last).to_contain_text("For how long")
    press(page, "^Ban$", most=30)
    backline.eventually(
        lambda: room.members["Yuki"] not in [one["member"] for one in room.state()["members"]], "Yuki is gone")


def test_the_focus_stays_in_a_dialog_and_goes_back(visit, party, house, device):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.admit(room.line.session("Ana")), device=device)
    steps.on_air(page, "Maré Alta")
    go_to(page, "^Menu$")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    for _ in range(30):
        page.keyboard.press("Tab")
        assert page.evaluate("!document.hasFocus() || document.activeElement === document.body || "
                             "document.activeElement.closest('dialog') !== null"), focused(page)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert focused(page) == "Menu"


def test_keys_have_a_list_and_can_be_turned_off(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    steps.on_air(page, "Maré Alta")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    steps.on_air(page, "Salt Horizon")
    page.keyboard.press("Space")
    backline.eventually(lambda: room.state()["playback"]["status"] == "paused", "the song is paused")


def test_keys_that_seek_make_one_seek_whatever_is_drawn_meanwhile(visit, party, house):
    room = party(parties.long_song, house)
    room.tell("Mina", "pause")
    before = room.state()["playback"]["positionMs"]
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    steps.on_air(page, "Ten minutes")
    page.get_by_role("slider", name="Position in the song").focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
        steps.draw_again(page)
    backline.eventually(lambda: room.state()["playback"]["positionMs"] == before + 90_000, "the seek has come")
    # Then the slider follows the song again.
    room.tell("Mina", "seek", positionMs=300_000)
    expect(page.get_by_role("slider", name="Position in the song")).to_have_attribute("aria-valuetext", "5:00 of 10:00")


def test_tabs_move_with_arrow_keys(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.admit(room.line.session("Ana")))
    steps.on_air(page, "Maré Alta")
    go_to(page, "^Asked for$")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Up next")).to_be_focused()
    expect(page.get_by_role("tab", name="Up next")).to_have_attribute("aria-selected", "true")
    expect(page.locator("[data-pane=queue]")).to_be_visible()


def test_the_first_key_is_kept_from_the_browser_before_the_keys_are_loaded(visit, party, house):
    room = party(parties.rooftop, house)
    taken = """([selector, key, more]) => {
        const press = new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true, ...more});
        document.querySelector(selector).dispatchEvent(press);
        return press.defaultPrevented;
    }"""
    for person, selector, key, more, wanted in (
            (room.mina, "body", "/", {}, True), (room.mina, "body", " ", {}, True), (room.mina, "button", "/", {}, True),
            (room.mina, "button", " ", {}, False), (room.mina, "body", "/", {"ctrlKey": True}, False),
            # The space bar scrolls for a guest.
            (room.guests["Ines"], "body", " ", {}, False)):
        page = visit(house, room.path, person=person, device=browsers.LAPTOP)
        steps.on_air(page, "Maré Alta")
        assert page.evaluate(taken, [selector, key, more]) is wanted, (selector, key, more)
        page.context.close()
