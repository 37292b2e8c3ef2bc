"""What fits where: narrow and enlarged windows, a phone on its side, what stands at the lower edge, and lists without rows."""

import re

import pytest
from playwright.sync_api import expect

import backline
import browsers
import parties
import steps

NARROW = browsers.Device("narrow", 320, 640, 2, True)
ON_ITS_SIDE = browsers.Device("on its side", 844, 390, 2, True)
#: A laptop's window of 1,280 × 800 at 200 %.
ENLARGED = browsers.Device("enlarged", 640, 400, 2, False)

#: What a sentence at the lower edge covers of what somebody needs, as one line for each. What scrolls out of view counts
#: where it is seen.
COVERED = """() => [...document.querySelectorAll('.floor')].flatMap(floor => {
    const place = floor.closest('dialog') ?? document.body, sentence = floor.getBoundingClientRect();
    return [...place.querySelectorAll('button, input, a[href], li.row, li.member, .setting')].flatMap(node => {
        if (floor.contains(node) || !node.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) || node.closest('[inert]')) return [];
        let {top, bottom, left, right} = node.getBoundingClientRect();
        for (let one = node.parentElement; one && one !== document.body; one = one.parentElement) {
            if (getComputedStyle(one).overflowY === 'visible') continue;
            const box = one.getBoundingClientRect();
            top = Math.max(top, box.top), bottom = Math.min(bottom, box.bottom);
        }
        if (bottom - top < 1 || bottom <= sentence.top + 1 || top >= sentence.bottom || right <= sentence.left || left >= sentence.right) return [];
        return [`${Math.round(top)} to ${Math.round(bottom)}, below ${Math.round(sentence.top)}: ${node.outerHTML.slice(0, 90)}`];
    });
})"""

IN_VIEW = """() => [...document.querySelectorAll('section.pane li.row')].filter(row => {
    const {top, bottom, left} = row.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight && left >= 0
        && row.contains(document.elementFromPoint(left + 30, (top + bottom) / 2));
}).length"""


def toast(page, sentence="In the queue: a song with a title that takes two lines of a narrow phone, and more", label="Undo"):
    page.evaluate(
        """([sentence, label]) => import(document.querySelector('script[type=module]').src)
            .then(({app}) => app.toast(sentence, {label, action() {}, seconds: 600}))""", [sentence, label])
    page.locator(".toast").wait_for()
    browsers.settle(page)


def to_the_end(page):
    """Scrolls the page and all that scrolls in it to the end."""
    page.evaluate("""() => {
        for (const node of [document.scrollingElement, ...document.querySelectorAll('*')]) {
            if (node.checkVisibility?.() && node.scrollHeight > node.clientHeight) node.scrollTop = node.scrollHeight;
        }
    }""")
    browsers.settle(page)


@pytest.mark.parametrize("device", [NARROW, ENLARGED, ON_ITS_SIDE], ids=lambda device: device.name)
@pytest.mark.parametrize(
    "language", ["de-DE", pytest.param("en-GB", marks=pytest.mark.soak("the same with shorter words"))])
def test_nothing_is_wider_than_a_small_window(visit, party, house, device, language):
    room = party(parties.rooftop, house)
    for person in room.mina, room.guests["Ines"]:
        page = visit(house, room.path, person=person, device=device, language=language)
        steps.on_air(page, "Maré Alta")
        page.locator("section.pane:visible li.row").first.wait_for()
        for tab in page.get_by_role("tab").all():
            tab.click()
            page.locator("section.pane:visible li.row").first.wait_for()
            browsers.settle(page)
            assert browsers.layout_faults(page) == []
        for item in range(len(page.locator("header.top button").all())):
            page.locator("header.top button").nth(item).click()
            page.locator("dialog[open]").wait_for()
            browsers.settle(page)
            assert browsers.layout_faults(page) == []
            page.keyboard.press("Escape")
            page.locator("dialog[open]").wait_for(state="detached")
    page = visit(house, "/", device=device, language=language)
    page.get_by_text("Rooftop at Ribeira").first.wait_for()
    assert browsers.layout_faults(page) == []


def test_a_look_at_a_layout_finds_own_texts_that_a_part_of_a_pixel_cuts(visit, house):
    page = visit(house, "/")
    page.evaluate("""async () => {
        const {t} = await import(new URL('text/en-deck.js', document.querySelector('script[type=module]').src));
        for (const [text, less] of [[t.lists.queue, 0.05], [t.lists.pool, 0], [t.deck.looking(12, '12'), 0.05], ['A title', 20]]) {
            const node = document.createElement('p');
            node.textContent = text;
            node.style.cssText = 'position: fixed; top: 0; overflow: hidden; white-space: nowrap; text-overflow: ellipsis';
            document.body.append(node);
            node.style.width = `${node.getBoundingClientRect().width - less}px`;
        }
    }""")
    assert browsers.layout_faults(page) == ['cut off: p "Up next"', 'cut off: p "Checking 12 songs"']


def test_a_window_that_becomes_narrower_is_not_widened_by_the_hint_of_the_waveform(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    steps.on_air(page, "Maré Alta")
    page.locator("wave-form[role=slider]").wait_for()
    box = page.locator("wave-form").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + 20)
    page.locator("wave-form .hint.on").wait_for(state="attached")
    page.mouse.move(10, 10)
    page.set_viewport_size({"width": ENLARGED.width, "height": ENLARGED.height})
    browsers.settle(page)
    assert page.evaluate("document.scrollingElement.scrollWidth") == ENLARGED.width


@pytest.mark.parametrize("role", ["guest", "dj"])
def test_a_phone_on_its_side_shows_the_lists_beside_the_deck(visit, party, house, role):
    room = party(parties.rooftop, house)
    # A DJ whose music nobody hears is told so below the lists.
    room.tell("Mina", "pause")
    page = visit(house, room.path, person=room.mina if role == "dj" else room.guests["Ines"], device=ON_ITS_SIDE)
    steps.on_air(page, "Maré Alta")
    page.locator("section.pane:visible li.row").first.wait_for()
    browsers.settle(page)
    assert page.evaluate(IN_VIEW) >= 3
    # The deck stays, and lists are used by taps, wherever they are scrolled to.
    for kind in "pool", "queue", "requests":
        steps.pane(page, kind).locator("li.row").first.wait_for()
    steps.scroll(page, "requests", 1)
    browsers.settle(page)
    assert page.evaluate(IN_VIEW) >= 3
    expect(page.locator(".deck .song")).to_be_in_viewport()
    # With another number of votes it may stand elsewhere.
    title = page.locator("[data-pane=requests] li.row .title").last.inner_text()
    vote = steps.vote_button(page, "requests", title)
    before = vote.get_attribute("aria-pressed")
    vote.click()
    expect(vote).not_to_have_attribute("aria-pressed", before)
    page.get_by_role("tab", name="Up next").click()
    expect(page.locator("[data-pane=queue] li.row").first).to_be_in_viewport()


@pytest.mark.parametrize("device", [browsers.PHONE, browsers.LAPTOP, NARROW, ON_ITS_SIDE], ids=lambda device: device.name)
def test_a_sentence_at_the_lower_edge_covers_nothing_that_is_needed(visit, party, house, device):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina, device=device)
    steps.on_air(page, "Maré Alta")
    kinds = ("requests",) if device is browsers.LAPTOP else ("requests", "queue", "pool")
    toast(page)
    for kind in kinds:
        steps.pane(page, kind).locator("li.row").first.wait_for()
        to_the_end(page)
        assert page.evaluate(COVERED) == [], kind
    steps.open_menu(page, "Room settings")
    page.locator("dialog[open]").last.wait_for()
    toast(page, "That did not work.")
    to_the_end(page)
    assert page.evaluate(COVERED) == []


def test_a_list_without_rows_leads_to_the_songs(visit, party, house):
    room = party(parties.empty, house, name="Nobody has asked", settings={"queueMode": "votes"})
    page = visit(house, room.path, person=room.admit(room.line.session("Ana")))
    page.get_by_text("The DJ is still unpacking.").first.wait_for()
    on = page.get_by_role("button", name="To the songs")
    expect(on).to_be_hidden()
    room.add([parties.track("The only one", "Zonda", 200_000)])
    for kind, sentence in ("requests", "Nobody is asking for a song right now."), (
            "queue", "The most wanted song comes next. Nobody is asking for one right now."):
        empty = steps.pane(page, kind)
        expect(empty).to_contain_text(sentence)
        empty.get_by_role("button", name="To the songs").click()
        expect(page.locator("[data-pane=pool] li.row")).to_be_visible()
    steps.vote_button(page, "pool", "The only one").click()
    # What comes next is named where it is known.
    expect(steps.pane(page, "queue")).to_contain_text(re.compile("The most wanted song comes next: .?The only one"))
    # Where the lists stand side by side, the songs are there already.
    wide = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    expect(wide.locator("[data-pane=queue]")).to_contain_text("The only one")
    expect(wide.get_by_role("button", name="To the songs").first).to_be_hidden()


def test_an_empty_room_gives_everybody_one_order(visit, party, house):
    room = party(parties.empty, house, name="Orders", settings={"queueMode": "votes"})
    dj = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    guest = visit(house, room.path, person=room.admit(room.line.session("Ana")))
    hint, credit = dj.locator(".transport-hint"), guest.locator(".deck .credit")
    expect(hint).to_have_text("Add music first.")
    expect(dj.locator(".deck .credit")).to_have_text("")
    expect(credit).to_have_text("The DJ is still unpacking.")
    room.tell("Mina", "updateRoom", settings={"guestsMayAdd": True})
    expect(credit).to_have_text("There are no songs yet. Add the first one.")
    room.add([parties.track("The only one", "Zonda", 200_000)])
    expect(credit).to_have_text("Choose a song, and ask for it.")
    expect(hint).to_have_text("Nobody is asking for a song right now. You can add a song to the queue, and play it.")
    room.tell("Mina", "updateRoom", settings={"queueMode": "dj"})
    expect(credit).to_have_text("Choose a song, and ask for it. A DJ decides what is played.")
    expect(hint).to_have_text("Add a song to the queue, then play it.")


@pytest.mark.parametrize("slow", [None, 130_000])
def test_a_guest_who_has_added_a_song_is_back_at_the_list(visit, party, house, slow):
    settings = {"guestsMayAdd": True, **({"slowModeMs": slow} if slow else {})}
    room = party(parties.rooftop, house, settings=settings)
    page = visit(house, room.path, person=room.guests["Ines"])
    steps.pane(page, "pool").get_by_role("button", name="Add a song").click()
    page.get_by_role("dialog").get_by_label("Title").fill("One more")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator(".toast")).to_contain_text(re.compile("Added and asked for: .?One more"))
    backline.eventually(lambda: [one["votes"] for one in room.state()["pool"] if one["title"] == "One more"] == [1], "the vote is there")


def test_the_form_of_a_dj_is_ready_for_the_next_song(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina)
    steps.pane(page, "pool").get_by_role("button", name="Add music").click()
    form = page.get_by_role("dialog")
    form.locator("label", has_text="One song").click()
    for title in "One more", "Two more":
        form.get_by_label("Title", exact=True).fill(title)
        form.get_by_label("Artist", exact=True).fill("Zonda")
        page.keyboard.press("Enter")
        expect(form.locator(".dialog-notice")).to_contain_text(title)
        expect(form.get_by_label("Title", exact=True)).to_have_value("")
        expect(form.get_by_label("Artist", exact=True)).to_have_value("")
        expect(form.get_by_label("Title", exact=True)).to_be_focused()
        expect(form.get_by_role("button", name="Add", exact=True)).to_be_enabled()


def test_a_first_visit_that_is_slow_has_lost_nothing(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house)
    # The socket opens, and says nothing.
    page.route_web_socket(re.compile("/socket"), lambda socket: None)
    page.add_init_script("""addEventListener('DOMContentLoaded', () => {
        window.said = [];
        new MutationObserver(() => window.said.push(document.getElementById('live').textContent))
            .observe(document.getElementById('live'), {childList: true, subtree: true, characterData: true});
    });""")
    page.goto(room.path)
    expect(page.locator(".link-bar")).to_contain_text("Connecting…")
    expect(page.locator("#live")).to_contain_text("Connecting…")
    assert not [one for one in page.evaluate("window.said") if "lost" in one]
    expect(page.get_by_text("Reconnecting…")).to_have_count(0)


#: A keyboard of so many pixels as iOS has it: it covers the page's lower edge, and only `visualViewport` knows.
KEYBOARD = """height => {
    if (!window.keyboard) {
        window.keyboard = Object.assign(new EventTarget(), {height: innerHeight, offsetTop: 0, scale: 1});
        Object.defineProperty(window, 'visualViewport', {value: window.keyboard});
    }
    window.keyboard.height = innerHeight - height;
    window.keyboard.dispatchEvent(new Event('resize'));
}"""


@pytest.mark.parametrize("device, height", [(browsers.PHONE, 336), (NARROW, 260), (ON_ITS_SIDE, 220)], ids=lambda one: getattr(one, "name", one))
def test_a_keyboard_that_covers_the_page_covers_no_button_of_what_is_typed(visit, party, house, device, height):
    room = party(parties.rooftop, house, settings={"guestsMayAdd": True})
    left = device.height - height

    def reachable(page, button):
        page.evaluate(KEYBOARD, height)
        browsers.settle(page)
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        return box["y"] >= 0 and box["y"] + box["height"] <= left + 1

    options = {"device": device, "reduced_motion": "reduce"}
    page = visit(house, **options)
    page.add_init_script(f"({KEYBOARD})(0)")
    page.goto(room.path)
    page.get_by_label("Your name").fill("Ana")
    assert reachable(page, page.get_by_role("button", name="Join", exact=True))
    page = visit(house, person=room.mina, **options)
    page.add_init_script(f"({KEYBOARD})(0)")
    page.goto(room.path)
    steps.on_air(page, "Maré Alta")
    steps.open_menu(page, re.compile("^Your name"))
    assert reachable(page, page.get_by_role("button", name="Save"))
    page.keyboard.press("Escape")
    steps.pane(page, "pool").get_by_role("button", name="Add music").click()
    page.locator("dialog[open] label", has_text="One song").click()
    assert reachable(page, page.locator("dialog[open] .dialog-foot button:visible"))
    assert reachable(page, page.get_by_label("Length"))
    page.keyboard.press("Escape")
    page.evaluate(KEYBOARD, 0)
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--keyboard')") == "0px"


def test_the_start_page_fits_on_a_phone_on_its_side(visit, party, house):
    party(parties.rooftop, house)
    for device in ON_ITS_SIDE, browsers.Device("large, on its side", 932, 430, 2, True):
        page = visit(house, "/", device=device)
        page.get_by_text("Rooftop at Ribeira").first.wait_for()
        assert browsers.layout_faults(page) == []
        expect(page.get_by_label("Code").first).to_be_in_viewport(ratio=1)
