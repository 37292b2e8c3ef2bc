"""What the page tells people of their place in the room: roles, bans, codes that lead nowhere, votes that come too late."""

import re

from playwright.sync_api import expect

import backline
import browsers
import parties
import steps


def told(page, text):
    expect(page.locator(".toast")).to_contain_text(text)
    page.locator(".toast").get_by_role("button", name="Close").click()


def test_people_are_told_when_their_role_changes(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.guests["Ines"])
    steps.on_air(page, "Maré Alta")
    ines = room.members["Ines"]
    room.tell("Mina", "setRole", member=ines, role="dj")
    told(page, "You are a DJ now")
    room.tell("Mina", "setRole", member=ines, role="guest")
    told(page, "You are a guest now")
    room.tell("Mina", "transferOwnership", member=ines)
    told(page, "You own this room now")


def banned(visit, party, house, **ban):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.guests["Ines"])
    page.watch.expect("status of 403|response code: 403")
    steps.on_air(page, "Maré Alta")
    room.tell("Mina", "kick", member=room.members["Ines"], ban=True, **ban)
    expect(page.get_by_text("You cannot enter this room.")).to_be_visible()
    return room, page


def test_a_ban_that_is_lifted_is_noticed(visit, party, house):
    """When the page is seen again, by the button, and now and then while it is looked at."""
    ways = (
        lambda page: steps.seen_again(page),
        lambda page: page.get_by_role("button", name="Try again").click(),
        lambda page: page.clock.run_for(31_000),
    )
    for way in ways:
        room, page = banned(visit, party, house, durationMs=3_600_000, reason="Kept shouting")
        expect(page.get_by_text("You can come back in")).to_be_visible()
        expect(page.locator(".reason")).to_contain_text("Kept shouting")
        if way is ways[-1]:
            page.clock.install()
            page.reload()
            page.clock.run_for(1_000)
            expect(page.get_by_text("You cannot enter this room.")).to_be_visible()
        page.get_by_role("button", name="Try again").click()
        expect(page.get_by_role("button", name="Try again")).not_to_have_attribute("aria-busy", "true")
        room.tell("Mina", "unban", member=room.members["Ines"])
        way(page)
        if way is ways[-1]:
            backline.eventually(lambda: page.clock.run_for(1_000) or page.get_by_label("Your name").is_visible(), "the room is offered again")
        expect(page.get_by_label("Your name")).to_be_visible()
        page.context.close()


def test_a_code_of_no_room_leads_on(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, "/r/ZZZZZZ")
    page.watch.expect("status of 404|response code: 404")
    field = page.get_by_role("textbox", name="Code")
    expect(field).to_have_value("ZZZZZZ")
    expect(page.get_by_role("link", name=re.compile("Rooms nearby"))).to_be_visible()
    # It looks alike whichever way one came.
    sizes = "() => [...document.querySelectorAll('.badge')].map(one => [one.offsetWidth, one.offsetHeight, getComputedStyle(one).borderRadius])"
    steps.is_prepared(page)
    seen = page.evaluate(sizes)
    page.goto("/")
    expect(page.get_by_text("Listen together.")).to_be_visible()
    field.fill("ZZZZZZ")
    page.keyboard.press("Enter")
    expect(page.get_by_text("There is no room here.")).to_be_visible()
    expect(field).to_have_value("ZZZZZZ")
    steps.is_prepared(page)
    assert page.evaluate(sizes) == seen and len(seen) == 3
    page.get_by_role("button", name=re.compile("Start a room")).click()
    expect(page.get_by_label("Name of the room")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    field.fill(f"#{room.code}.")
    page.keyboard.press("Enter")
    steps.on_air(page, "Maré Alta")


def test_a_song_on_air_or_in_the_queue_cannot_be_asked_for(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.guests["Ines"], device=browsers.LAPTOP)
    steps.on_air(page, "Maré Alta")

    def says(kind, title, text, name):
        steps.find(page, title)
        button = steps.vote_button(page, kind, title)
        expect(button).to_have_text(text)
        expect(button).to_have_attribute("aria-label", name)
        expect(button).to_have_attribute("aria-disabled", "true")
        # A finger presses it all the same.
        button.click(force=True)

    says("pool", "Maré Alta", "On air", "Maré Alta, on air")
    says("pool", "Salt Horizon", "Up next", "Salt Horizon, up next")
    says("pool", "Golden Machines", "No. 3", "Golden Machines, number 3 in the queue")
    # One that was asked for before it was queued.
    room.tell("Mina", "enqueue", track=room.ids["Warm Machines"])
    says("pool", "Warm Machines", "No. 5", "Warm Machines, number 5 in the queue")
    room.tell("Mina", "skip")
    says("pool", "Salt Horizon", "On air", "Salt Horizon, on air")
    steps.find(page, "Maré Alta")
    expect(steps.vote_button(page, "pool", "Maré Alta")).to_have_text("")
    expect(steps.row(page, "pool", "Maré Alta")).to_contain_text("4:00")
    assert {one["title"]: one["votes"] for one in room.state()["pool"]}["Salt Horizon"] == 0


def test_a_key_of_another_layout_skips_by_its_place(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    steps.on_air(page, "Maré Alta")
    page.evaluate("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'т', code: 'KeyN', bubbles: true, cancelable: true}))")
    steps.on_air(page, "Salt Horizon")


def test_rows_of_a_closed_room_have_no_votes_to_give(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    row = steps.row(page, "requests", "Warm Machines").locator("[data-do=vote]")
    expect(row).to_have_attribute("aria-pressed", "false")
    steps.open_menu(page, "Room settings")
    page.get_by_role("button", name="Close the room").click()
    question = page.locator("dialog[open]").last
    expect(question).to_contain_text("Close the room?")
    # What ends the room and what does not are called differently.
    assert question.get_by_role("button").all_inner_texts()[-2:] == ["Cancel", "Close the room"]
    question.get_by_role("button", name="Close the room").click()
    expect(page.get_by_text("This room is closed.")).to_be_visible()
    expect(page.locator("[data-do=vote][aria-pressed]")).to_have_count(0)
    expect(page.locator("[data-do=enqueue], [data-do=more]")).to_have_count(0)
    # The start page has it no more.
    page.locator("a.logo").click()
    expect(page.get_by_text("Listen together.")).to_be_visible()
    expect(page.locator(f".room-card[href='{room.path}']")).to_have_count(0)


def test_a_vote_to_skip_is_taken_back_by_a_second_tap(visit, party, house):
    room = party(parties.rooftop, house, present=True)
    page = visit(house, room.path, person=room.guests["Ines"])
    steps.on_air(page, "Maré Alta")
    before = room.state()["playback"].get("skipVotes", 0)
    skip = page.locator("button.skip")
    for votes in (before + 1, before):
        skip.click()
        backline.eventually(
            lambda votes=votes: room.state()["playback"].get("skipVotes", 0) == votes, f"{votes} votes to skip")


def test_what_the_deck_cannot_play_is_marked_for_everybody(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.guests["Ines"])
    steps.on_air(page, "Maré Alta")
    room.tell("Mina", "setMissing", tracks=[room.ids["Warm Machines"]])
    expect(steps.row(page, "requests", "Warm Machines")).to_contain_text("Not playable")
    room.tell("Mina", "setMissing", tracks=[])
    expect(steps.row(page, "requests", "Warm Machines")).not_to_contain_text("Not playable")
