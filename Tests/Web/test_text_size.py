"""Texts at twice their size: they grow, and the page stays usable on a phone and a laptop."""

import contextlib
import re

import pytest
from playwright.sync_api import expect

import browsers
import parties
import steps

#: The smallest text that is shown, in px, and words of buttons, tabs and headings that are broken over two lines.
TEXTS = """() => {
    const shown = node => node.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) && !node.closest('.unseen, [aria-hidden=true], svg');
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), broken = [];
    let least = Infinity;
    while (texts.nextNode()) {
        const text = texts.currentNode, node = text.parentElement;
        if (!text.data.trim() || !shown(node)) continue;
        least = Math.min(least, parseFloat(getComputedStyle(node).fontSize));
        if (!node.closest('button, label, h1, h2, h3')) continue;
        for (const {0: word, index} of text.data.matchAll(/\\S+/g)) {
            const range = document.createRange();
            range.setStart(text, index), range.setEnd(text, index + word.length);
            if (new Set([...range.getClientRects()].map(one => Math.round(one.top))).size > 1) broken.push(word);
        }
    }
    return [least, broken];
}"""


@pytest.fixture(scope="module")
def large_texts(playwright_driver, authority):
    """A browser whose person has chosen texts of 32 px instead of 16."""
    with contextlib.closing(browsers.Chromium(
            playwright_driver, authority.home(), flags=["--blink-settings=defaultFontSize=32"], shell=True)) as made:
        yield made


def looks(page):
    """What is wrong with a page whose texts are twice as large."""
    browsers.settle(page)
    least, broken = page.evaluate(TEXTS)
    return (browsers.layout_faults(page) + browsers.small_targets(page) + [f"broken: {word}" for word in broken]
            + ([f"a text of {least} px"] if least < 22 else []))


@pytest.mark.parametrize("device", browsers.DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize(
    "language", ["de-DE", pytest.param("en-GB", marks=pytest.mark.soak("the same with shorter words"))])
def test_the_page_grows_with_its_texts(visit, party, house, large_texts, device, language):
    room = party(parties.rooftop, house, settings={"guestsMayAdd": True})
    options = {"browser": large_texts, "device": device, "language": language, "reduced_motion": "reduce"}
    faults = {}
    page = visit(house, "/", **options)
    page.get_by_text("Rooftop at Ribeira").first.wait_for()
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "32px"
    faults["home"] = looks(page)
    page = visit(house, room.path, **options)
    page.locator(".sheet input").wait_for()
    faults["join"] = looks(page)
    # What is to be tapped may be scrolled to.
    for button in page.locator(".sheet button").all():
        button.scroll_into_view_if_needed()
        expect(button).to_be_in_viewport(ratio=1)
    for role, person in ("guest", room.guests["Ines"]), ("DJ", room.mina):
        page = visit(house, room.path, person=person, **options)
        steps.on_air(page, "Maré Alta")
        for tab in page.get_by_role("tab").all():
            tab.click()
            page.locator("section.pane:visible li.row").first.wait_for()
            faults[f"{role}, {tab.inner_text()}"] = looks(page)
        page.get_by_role("button", name=re.compile("^(Song|Musik) hinzufügen$|^Add (a song|music)$")).last.click()
        page.locator("dialog[open]").wait_for()
        faults[f"{role}, adding"] = looks(page)
        for button in page.locator("dialog[open] .dialog-foot button:visible").all():
            expect(button).to_be_in_viewport(ratio=1)
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")
        page.locator("header.top .here").click()
        page.locator("dialog[open] li.person").first.wait_for()
        faults[f"{role}, people"] = looks(page)
    page.locator("dialog[open] .person-more:visible").first.click()
    page.locator("dialog[open] .member-head").wait_for()
    faults["member"] = looks(page)
    assert {screen: found for screen, found in faults.items() if found} == {}
