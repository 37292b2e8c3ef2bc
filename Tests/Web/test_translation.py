"""A browser that translates the page: it changes the page's own words only, and what is shown goes on being shown.

That nothing else may be translated is asserted of every screen in `test_screens.py`, by `browsers.translatable`.
"""

import re

from playwright.sync_api import expect

import browsers
import parties
import steps

#: What browsers' translators do: each text that may be translated becomes two elements `font`, now and when it changes.
TRANSLATOR = """() => {
    const walk = () => {
        const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
        while (texts.nextNode()) found.push(texts.currentNode);
        for (const text of found) {
            if (!text.data.trim() || text.parentElement.closest('font, script, style, [translate=no]')) continue;
            const outer = document.createElement('font'), inner = document.createElement('font');
            inner.textContent = `[${text.data}]`;
            outer.append(inner);
            text.replaceWith(outer);
        }
    };
    walk();
    new MutationObserver(walk).observe(document.body, {childList: true, subtree: true, characterData: true});
}"""


def test_a_translated_page_shows_what_happens_and_leaves_titles_names_and_the_code(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.guests["Ines"], device=browsers.LAPTOP)
    steps.on_air(page, "Maré Alta")
    page.evaluate(TRANSLATOR)
    expect(page.locator("header.top .code")).to_have_text(re.compile("^[0-9A-Z]+$"))
    expect(page.locator("header.top h1")).to_have_text("Rooftop at Ribeira")
    expect(page.locator(".deck .song")).to_have_text("Maré Alta")
    expect(page.locator(".who-name")).to_have_text("[Played by ]Mina")
    expect(page.locator("[data-pane=queue] .by").first).to_have_text(re.compile(r"^\[added by \]\W?Mina\W?$"))
    title = page.locator("[data-pane=requests] .title", has_text="Broken Lanterns")
    expect(title).to_have_text("Broken Lanterns")
    # What changes is shown, and translated again.
    for count in "[2]", "[3]":
        room.vote("Broken Lanterns", *("Ines", "Rui", "Tomé", "Sofia")[:int(count[1]) - 1][-1:])
        expect(steps.vote_button(page, "requests", "Broken Lanterns").locator(".votes")).to_have_text(count)
    room.tell("Mina", "updateRoom", settings={"queueMode": "dj"})
    for _ in range(1 + len(room.state()["queue"])):
        room.tell("Mina", "skip")
    expect(page.locator(".deck .song")).to_have_text("[Nothing is playing]")
    room.play("Warm Machines")
    expect(page.locator(".deck .song")).to_have_text("Warm Machines")
    room.tell("Mina", "updateRoom", name="Cellar at Foz")
    expect(page.locator("header.top h1")).to_have_text("Cellar at Foz")
    room.tell("Mina", "pause")
    expect(page.locator(".deck .eyebrow")).to_have_text("[Paused]")
    steps.open_menu(page, re.compile("People"))
    expect(page.locator("dialog[open] li.person .title").first).to_have_text("Ines")
    assert browsers.translatable(page) == []


def test_what_is_written_again_stays_as_it_was_translated(visit, house):
    page = visit(house, "/")
    page.get_by_text("Listen together.").wait_for()
    page.evaluate(TRANSLATOR)
    written = page.evaluate("""async () => {
        const {text, h} = await import(new URL('view/dom.js', document.querySelector('script[type=module]').src));
        const node = h('p'), shown = [], frame = () => new Promise(requestAnimationFrame);
        document.body.append(node);
        for (const words of ['Up next', 'Up next', 'Asked for', '\\u2068Ana\\u2069 has left', '\\u2068Ana\\u2069 has left']) {
            text(node, words);
            await frame();
            const before = node.querySelector('font');
            text(node, words);
            shown.push([node.textContent, node.querySelector('font') === before]);
        }
        return shown;
    }""")
    assert written == [["[Up next]", True]] * 2 + [["[Asked for]", True]] + [["\u2068Ana\u2069[ has left]", True]] * 2
