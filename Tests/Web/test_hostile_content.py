"""Names, titles, artists and reasons that are made to break a page: shown as text, with the layout whole."""

import pytest
from playwright.sync_api import expect

import browsers
import parties
import steps


def check_harmless(page):
    assert page.evaluate("document.querySelectorAll('img, iframe, object, embed, b, i, style').length") == 0
    assert page.evaluate("document.scripts.length") == 1
    assert page.title() != "owned"
    assert browsers.layout_faults(page) == []


@pytest.mark.parametrize("device", browsers.in_the_gate_on(browsers.PHONE))
def test_a_guest_sees_hostile_texts_as_text(visit, party, house, device):
    room = party(parties.hostile, house)
    page = visit(house, room.path, device=device)
    steps.on_air(page, parties.HOSTILE_TITLES[0])
    check_harmless(page)
    steps.join(page, "<b>Ana</b>")
    for kind in "requests", "queue", "pool":
        steps.pane(page, kind)
        check_harmless(page)
    shown = page.locator("[data-pane=pool] li.row .title").evaluate_all("all => all.map(one => one.textContent)")
    assert len(shown) >= 5 and set(shown) <= {title.strip() for title in parties.HOSTILE_TITLES}, shown


@pytest.mark.parametrize("device", browsers.in_the_gate_on(browsers.LAPTOP))
def test_a_dj_sees_hostile_texts_as_text(visit, party, house, device):
    room = party(parties.hostile, house)
    page = visit(house, room.path, person=room.mina, device=device)
    steps.on_air(page, parties.HOSTILE_TITLES[0])
    for kind in "requests", "queue", "pool":
        steps.pane(page, kind)
        check_harmless(page)
    for item in "People", "History", "Room settings", "Share":
        steps.open_menu(page, item)
        expect(page.get_by_role("dialog").last).to_be_visible()
        check_harmless(page)
        page.keyboard.press("Escape")


def test_names_of_a_song_stay_apart(visit, party, house):
    title, artist, album = "\u202eeltit", "\u2067שיר", "B-\u2069side"
    room = party(parties.empty, house, name="Room of a song")
    room.add([parties.track(title, artist, 200_000, album)])
    room.play(title)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    names = page.locator("[data-pane=pool] li.row .artist")
    expect(names.locator("bdi")).to_have_text([artist, album])
    # Where only characters can do it, a text ends what it begins.
    assert page.title() == f"\u2068{title}\u2069 · \u2068Room of a song\u2069"
    home = visit(house, "/", person=room.mina)
    card = home.get_by_role("region", name="Your rooms").get_by_role("link", name="Room of a song")
    expect(card.locator(".playing bdi")).to_have_text([title, artist])


def test_trusted_types_are_on(visit, house):
    """The page's policy refuses markup from strings, whoever tries."""
    page = visit(house, "/")
    page.get_by_text("Listen together.").wait_for()
    page.watch.expect("TrustedHTML|trusted-types|require-trusted-types-for")
    assert page.evaluate(
        "() => { try { document.body.innerHTML = '<b>'; return 'written'; } catch (error) { return error.name; } }"
    ) == "TypeError"
