"""Lists of songs: their place, their focus, dragging, taking back, and adding songs."""

import re

from playwright.sync_api import expect

import browsers
import parties
import steps

IN_VIEW = """list => {
    const {top} = list.bounds;
    const rows = [...list.querySelectorAll('li')].map(li => ({
        title: li.querySelector('.title').textContent, top: Math.round(li.getBoundingClientRect().top),
        place: Number(li.getAttribute('aria-posinset')), of: Number(li.getAttribute('aria-setsize'))}));
    return rows.filter(row => row.top >= top).sort((one, other) => one.top - other.top)[0];
}"""


def mina(visit, room, device=browsers.LAPTOP):
    page = visit(room.server, room.path, person=room.mina, device=device)
    page.locator("section.pane:visible").first.wait_for()
    return page


def queue_of(page):
    return page.locator("[data-pane=queue] li.row .title")


def undo(page):
    page.get_by_role("button", name="Undo").click()


def drag(page, source, target, below=0.0, release=True):
    """Drags the row of a title to another row's place; `below` is in rows."""
    page.locator(".can-drag").first.wait_for()
    start, end = source.bounding_box(), target.bounding_box()
    page.mouse.move(start["x"] + 10, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(start["x"] + 14, start["y"] + 20, steps=3)
    page.mouse.move(end["x"] + 10, end["y"] + 8 + below * 60, steps=8)
    if release:
        page.mouse.up()


def test_a_list_keeps_its_place_when_songs_come_above_it(visit, party, house):
    room = party(parties.large, house, tracks=1000)
    for device in (browsers.PHONE, browsers.LAPTOP):
        page = visit(house, room.path, person=room.guests["Ines"], device=device)
        songs = steps.pane(page, "pool").locator("track-list")
        songs.locator("li").first.wait_for()
        steps.scroll(page, "pool", 0.5)
        expect(songs.locator("li[aria-posinset='1']")).to_have_count(0)
        before = songs.evaluate(IN_VIEW)
        room.add([parties.track(f"AAA {device.name} {number}") for number in range(40)])
        expect(songs.locator("li").first).to_have_attribute("aria-setsize", str(before["of"] + 40))
        after = songs.evaluate(IN_VIEW)
        assert (after["title"], after["place"]) == (before["title"], before["place"] + 40)
        assert abs(after["top"] - before["top"]) <= 1


def test_the_list_has_the_focus_when_its_row_has_left(visit, party, house):
    room = party(parties.large, house, tracks=300)
    page = visit(house, room.path, person=room.guests["Ines"], device=browsers.LAPTOP)
    songs = steps.pane(page, "pool").locator("track-list")
    songs.locator("[data-do=vote]").first.focus()
    steps.scroll(page, "pool", 1)
    expect(songs.locator("ol")).to_be_focused()

    # The focus goes on from row to row, through the whole list.
    steps.scroll(page, "pool", 0)
    expect(songs.locator("li").first).to_have_attribute("aria-posinset", "1")
    songs.locator("[data-do=vote]").first.focus()
    for _ in range(45):
        page.keyboard.press("Tab")
    focused = songs.locator("li:has(:focus)")
    expect(focused).to_have_attribute("aria-posinset", "46")
    for _ in range(30):
        page.keyboard.press("ArrowUp")
    expect(focused).to_have_attribute("aria-posinset", "16")
    places = [int(place) for place in songs.locator("li").evaluate_all("rows => rows.map(row => row.getAttribute('aria-posinset'))")]
    assert places == list(range(places[0], places[0] + len(places)))


def test_the_focus_stays_with_a_song_that_changes_its_rank(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path)
    steps.join(page, "Ana")
    row = steps.row(page, "requests", "Second Parade")
    vote = row.locator("[data-do=vote]")
    vote.focus()
    page.keyboard.press("Enter")
    expect(row).to_have_attribute("aria-posinset", "5")
    expect(vote).to_be_focused()


def test_rows_are_dragged_and_put_back(visit, party, house):
    room = party(parties.rooftop, house)
    page = mina(visit, room)
    titles = [title for title, _ in parties.WAITING]
    expect(queue_of(page)).to_have_text(titles)
    moved = [titles[1], titles[2], titles[0], titles[3]]
    drag(page, queue_of(page).nth(0), queue_of(page).nth(2))
    expect(queue_of(page)).to_have_text(moved)
    steps.expect_equal_to_server(page, room.mina, room.id)
    undo(page)
    expect(queue_of(page)).to_have_text(titles)
    drag(page, queue_of(page).nth(0), queue_of(page).nth(2), release=False)
    expect(page.locator(".drop-gap")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".drop-gap, .drag-ghost")).to_have_count(0)
    page.mouse.up()
    expect(queue_of(page)).to_have_text(titles)

    # A song of another list, too.
    drag(page, page.locator("[data-pane=requests] li.row .title").nth(1), queue_of(page).nth(1))
    expect(queue_of(page)).to_have_text([titles[0], "Second Theory II", *titles[1:]])
    undo(page)
    expect(queue_of(page)).to_have_text(titles)


def test_the_queue_says_how_soon_a_song_begins(visit, party, house):
    room = party(parties.rooftop, house)
    page = mina(visit, room)
    first = queue_of(page).first.locator("xpath=ancestor::li").locator(".when")
    for seconds, says in (60, "in 3 min"), (215, "in a moment"), (180, "in 1 min"):
        room.tell("Mina", "seek", positionMs=seconds * 1000)
        expect(first).to_contain_text(says)


def test_a_finger_drags_a_row_by_its_handle(visit, party, house):
    room = party(parties.rooftop, house)
    page = mina(visit, room, browsers.PHONE)
    steps.pane(page, "queue")
    grip = page.locator(".grip").first
    grip.wait_for()
    box = grip.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    session = page.context.new_cdp_session(page)
    for step in range(9):
        session.send("Input.dispatchTouchEvent", {
            "type": "touchMove" if step else "touchStart", "touchPoints": [{"x": x, "y": y + step * 15}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    titles = [title for title, _ in parties.WAITING]
    expect(queue_of(page)).to_have_text([titles[1], titles[2], titles[0], titles[3]])


def test_what_a_menu_and_keys_did_is_taken_back(visit, party, house):
    room = party(parties.rooftop, house)
    page = mina(visit, room)
    titles = [title for title, _ in parties.WAITING]
    for action, then in (("Remove from the queue", [titles[0], *titles[2:]]), ("Move down", [titles[0], titles[2], titles[1], titles[3]]),
                         ("To the top", [titles[1], titles[0], *titles[2:]])):
        steps.row(page, "queue", titles[1]).locator("[data-do=more]").click()
        page.get_by_role("button", name=action, exact=True).click()
        expect(queue_of(page)).to_have_text(then)
        undo(page)
        expect(queue_of(page)).to_have_text(titles)
    steps.find(page, "warm machines")
    steps.row(page, "pool", "Warm Machines").locator("[data-do=more]").click()
    page.get_by_role("button", name="Play next", exact=True).click()
    expect(queue_of(page)).to_have_text(["Warm Machines", *titles])
    undo(page)
    expect(queue_of(page)).to_have_text(titles)

    # Without the menu: Alt and an arrow.
    page.locator(".can-drag").first.wait_for()
    more = steps.row(page, "queue", titles[0]).locator("[data-do=more]")
    more.focus()
    page.keyboard.press("Alt+ArrowDown")
    expect(queue_of(page)).to_have_text([titles[1], titles[0], *titles[2:]])
    expect(more).to_be_focused()


def test_rows_follow_the_role(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.guests["Ines"], device=browsers.LAPTOP)
    more = page.locator("[data-do=enqueue]")
    page.locator("[data-pane=pool] li.row").first.wait_for()
    expect(more).to_have_count(0)
    room.tell("Mina", "setRole", member=room.members["Ines"], role="dj")
    expect(more.first).to_be_visible()
    room.tell("Mina", "setRole", member=room.members["Ines"], role="guest")
    expect(more).to_have_count(0)


def test_slow_mode_is_learned_from_a_refusal(visit, party, house):
    room = party(parties.rooftop, house, settings={"guestsMayAdd": True, "slowModeMs": 130_000})
    room.tell("Ines", "addTracks", tracks=[parties.track("An earlier one")])
    page = visit(house, room.path, person=room.guests["Ines"])
    steps.pane(page, "pool").get_by_role("button", name="Add a song").click()
    page.get_by_role("textbox", name="Title").fill("One more")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_text(re.compile(r"^You can add again in [12]:\d\d\.$"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    expect(page.get_by_text(re.compile(r"^You can add again in [12]:\d\d\.$"))).to_be_visible()
    expect(steps.pane(page, "pool").get_by_role("button", name="Add a song")).to_be_disabled()


def test_a_pasted_list_is_added_piece_by_piece(visit, party, house):
    room = party(parties.empty, house)
    page = mina(visit, room)
    page.get_by_role("button", name="Add music").click()
    page.get_by_text("A list", exact=True).click()
    lines = [f"{number}. Moss – Song number {number} 3:{number % 60:02}" for number in range(1, 701)]
    page.get_by_role("textbox").fill("\n".join([*lines, lines[0], "x" * 301]))
    expect(page.get_by_text("2 lines left out")).to_be_visible()
    page.get_by_role("button", name="Add 700 songs").click()
    expect(page.locator("[data-pane=pool] .count")).to_have_text("700")
    added = next(track for track in room.state()["pool"] if track["title"] == "Song number 7")
    assert (added["artist"], added["durationMs"], added["source"]) == ("Moss", 187_000, "manual")


def test_rooms_of_ones_own_stand_first(visit, party, house):
    room = party(parties.empty, house, name="Kitchen of one's own")
    page = visit(house, "/", person=room.mina)
    link = page.get_by_role("region", name="Your rooms").get_by_role("link", name=re.compile("Kitchen of one's own"))
    expect(link).to_contain_text("Yours")
    # It is not shown a second time.
    expect(page.get_by_role("link", name=re.compile("Kitchen of one's own"))).to_have_count(1)
    link.click()
    expect(page.get_by_role("heading", name="Kitchen of one's own")).to_be_visible()
