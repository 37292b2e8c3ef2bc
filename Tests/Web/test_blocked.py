"""A script that does not come: what an extension of the browser blocks, or another release no longer has."""

import re

import pytest
from playwright.sync_api import expect

import parties
import steps

FIRST = ["main.js", "view/dom.js", "view/room-screen.js", "wire/socket.js", "text/en.js"]
#: What the browser writes of it. A page that is loaded again ends what it was asking for.
BLOCKED = "ERR_BLOCKED_BY_CLIENT|Failed to fetch dynamically imported module|status of 404|WebSocket connection to"


def blocking(visit, server, script, **options):
    """A page without one of its scripts, and the requests for documents that it makes."""
    page, documents = visit(server, **options), []
    page.watch.expect(BLOCKED)
    page.on("request", lambda request: documents.append(request.url) if request.resource_type == "document" else None)
    page.route(re.compile(f"/assets/[^/]*/{re.escape(script)}$"),
               lambda route: route.continue_() if route.request.method == "HEAD" else route.abort("blockedbyclient"))
    return page, documents


@pytest.mark.parametrize("script", FIRST)
def test_a_page_without_one_of_its_first_scripts_says_so(visit, party, house, script):
    page, documents = blocking(visit, house, script)
    page.goto(party(parties.rooftop, house).path)
    told = page.locator(".halted p")
    if script == "main.js":
        # Nothing of the program runs: the style shows it after some time, which has not passed yet.
        expect(told.first).to_be_hidden()
        page.evaluate("document.getAnimations().forEach(one => one.effect.target.matches('.halted') && one.finish())")
    expect(told.first).to_contain_text("an extension of this browser holds a part of it back")
    expect(told.last).to_be_visible()
    # On the smallest screens too, it stands below what moves.
    for width, height in (320, 568), (568, 320):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("""() => {
            const [above, below] = ['.splash', '.halted p'].map(one => document.querySelector(one).getBoundingClientRect());
            return 0 <= above.top && above.bottom <= below.top && document.documentElement.scrollWidth <= innerWidth;
        }""")
    assert len(documents) == 1


def test_a_page_without_one_of_its_first_scripts_comes_again_by_itself_and_more_and_more_rarely(visit, party, house):
    room = party(parties.rooftop, house)
    page, documents = blocking(visit, house, "view/dom.js", person=room.mina)
    page.watch.expect("ERR_FAILED")
    page.clock.install()
    page.goto(room.path)
    told, server = page.locator(".halted.now"), "**/main.js"
    for ms in [30_000, 60_000, 120_000]:
        expect(told).to_be_visible()
        page.evaluate("window.isSame = true")
        page.clock.run_for(ms - 10_000)
        # What was asked for before this is answered.
        assert page.evaluate("fetch(location).then(() => window.isSame)")
        with page.expect_event("load"):
            page.clock.run_for(10_000)
    assert len(documents) == 4
    # Without a server the page stays, and comes when there is one again; what was blocked is no longer.
    expect(told).to_be_visible()
    page.route(server, lambda route: route.abort())
    with page.expect_event("requestfailed"):
        page.clock.run_for(240_000)
    page.evaluate("fetch(location).then(() => {})")
    assert len(documents) == 4
    page.unroute_all()
    with page.expect_event("load"):
        page.clock.run_for(30_000)
    steps.on_air(page, "Maré Alta")
    assert page.evaluate("sessionStorage.getItem('backline.reloadAfter')") is None


@pytest.mark.parametrize("script", ["view/share.js", "view/dialog.js", "text/en-more.js"])
def test_a_tap_that_needs_a_script_that_is_blocked_says_so_and_loads_nothing_again(visit, party, house, script):
    room = party(parties.rooftop, house)
    page, documents = blocking(visit, house, script, person=room.mina)
    page.goto(room.path)
    steps.on_air(page, "Maré Alta")
    page.get_by_role("button", name=re.compile("Share this room$")).click()
    expect(page.locator(".toast")).to_contain_text("An extension of this browser may hold it back.")
    # The sentence is not squeezed beside its buttons, on the smallest screens too.
    page.set_viewport_size({"width": 320, "height": 568})
    page.wait_for_function("document.querySelector('.toast p').offsetWidth > 240")
    expect(page.locator(".deck .song")).to_have_text("Maré Alta")
    assert len(documents) == 1
    with page.expect_event("load"):
        page.get_by_role("button", name="Load again").click()
    assert len(documents) == 2


def test_a_page_of_a_release_that_is_gone_is_loaded_again(visit, party, house):
    room = party(parties.rooftop, house)
    page, documents = blocking(visit, house, "view/share.js", person=room.mina)
    page.route(re.compile("/assets/[^/]*/main.js$"),
               lambda route: route.fulfill(status=404) if route.request.method == "HEAD" else route.continue_())
    page.goto(room.path)
    steps.on_air(page, "Maré Alta")
    with page.expect_event("load"):
        page.get_by_role("button", name=re.compile("Share this room$")).click()
    assert len(documents) == 2
