"""What the dialogs change at the server, and what they show when others change it."""

import re

import pytest
from playwright.sync_api import expect

import backline
import browsers
import parties
import steps
import wires


def top(page):
    """The dialog that is open, the one on top where there are two."""
    expect(page.locator("dialog[open]").first).to_be_visible()
    return page.locator("dialog[open]").last


def setting(page, name):
    return top(page).locator(".setting", has=page.locator(".setting-name", has_text=name))


def until(room, part, wanted):
    """Waits until a part of the room's state is as wanted."""
    backline.eventually(lambda: part(room.state()) == wanted, f"it is {wanted!r}")


def roles(room):
    return {one["name"]: one["role"] for one in room.state()["members"]}


def test_each_setting_is_a_command(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP, permissions=["geolocation"],
                 geolocation={"latitude": 41.2, "longitude": -8.7})
    steps.open_menu(page, "Room settings")
    setting(page, "Name").get_by_role("textbox").fill("Cellar")
    page.keyboard.press("Enter")
    until(room, lambda state: state["name"], "Cellar")
    top(page).get_by_label("Only with the code or the link").check()
    until(room, lambda state: state["visibility"], "unlisted")
    top(page).get_by_role("button", name="Use where I am").click()
    until(room, lambda state: round(state["location"]["lat"], 2), 41.2)
    expect(setting(page, "Place")).to_contain_text("Near 41.2")
    top(page).get_by_role("button", name="Remove the place").click()
    until(room, lambda state: state.get("location"), None)
    until(room, lambda state: state["settings"]["queueMode"], "dj")
    for mode, name in ("votes", "The most wanted song"), ("fair", "Everybody gets a turn"):
        top(page).get_by_label(name).check()
        until(room, lambda state: state["settings"]["queueMode"], mode)
    slider = top(page).get_by_role("slider")
    slider.focus()
    expect(slider).to_have_attribute("aria-valuetext", "Half of those here")
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    until(room, lambda state: state["settings"]["skipRatio"], 0.4)
    for name, key, presses in ("Waiting songs", "maxWaitingPerMember", 2), ("Repeat a song", "repeatAfterPlays", 3):
        for _ in range(presses):
            setting(page, name).get_by_role("button", name="More").click()
        until(room, lambda state: state["settings"][key], presses)
    top(page).get_by_label("Guests may add songs").click()
    until(room, lambda state: state["settings"].get("guestsMayAdd"), True)
    top(page).get_by_label("DJs decide for now").click()
    until(room, lambda state: state["settings"].get("queueLocked"), True)
    counted = top(page).get_by_label("Count in numbers across rooms")
    expect(counted).to_be_checked()
    counted.click()
    until(room, lambda state: state["settings"].get("countedAcrossRooms", True), False)
    top(page).get_by_label("Slow mode").select_option("2 minutes")
    until(room, lambda state: state["settings"].get("slowModeMs"), 120_000)
    top(page).get_by_label("Hand over after").select_option("1 hour")
    until(room, lambda state: state["settings"].get("ownerAwayMs"), 3_600_000)


def test_settings_show_what_others_set_and_why_a_change_is_refused(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina)
    steps.open_menu(page, "Room settings")
    expect(top(page).get_by_role("radio", name=re.compile("^DJs decide"))).to_be_checked()
    room.tell("Mina", "updateRoom", settings={"queueMode": "votes", "slowModeMs": 45_000, "countedAcrossRooms": False})
    expect(top(page).get_by_label("The most wanted song")).to_be_checked()
    expect(top(page).get_by_label("Slow mode")).to_have_value("45000")
    expect(top(page).get_by_label("Count in numbers across rooms")).not_to_be_checked()
    # The server refuses the name, and the room keeps the one that it had.
    name = setting(page, "Name").get_by_role("textbox")
    name.fill("Rooftop\U000e0067")
    name.press("Tab")
    expect(setting(page, "Name").get_by_role("alert")).to_have_text(re.compile(r"U\+E0067, an invisible tag"))
    expect(name).to_have_value("Rooftop at Ribeira")
    # Who owns the room no more has nothing to set.
    room.tell("Mina", "transferOwnership", member=room.members["Rui"])
    expect(page.locator("dialog[open]")).to_have_count(0)
    steps.open_menu(page)
    expect(top(page).get_by_role("button", name="People")).to_be_visible()
    expect(top(page).get_by_role("button", name="Room settings")).to_have_count(0)


@pytest.mark.parametrize("device", browsers.in_the_gate_on(browsers.PHONE))
def test_an_owner_gives_roles_and_hands_the_room_over(visit, party, house, device):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina, device=device)
    steps.open_menu(page, "People")
    for act, role in ("Make DJ", "dj"), ("Make guest", "guest"):
        top(page).get_by_role("button", name="What to do about Ines", exact=True).click()
        top(page).get_by_role("button", name=act).click()
        backline.eventually(lambda: roles(room)["Ines"] == role, act)
        expect(page.locator("dialog[open]")).to_have_count(1)
    top(page).get_by_role("button", name="What to do about Ines", exact=True).click()
    top(page).get_by_role("button", name="Hand over").click()
    top(page).get_by_role("button", name="Cancel").click()
    expect(page.locator("dialog[open]")).to_have_count(1)
    top(page).get_by_role("button", name="What to do about Ines", exact=True).click()
    top(page).get_by_role("button", name="Hand over").click()
    top(page).get_by_role("button", name="Hand over").click()
    backline.eventually(lambda: (roles(room)["Ines"], roles(room)["Mina"]) == ("owner", "dj"), "the room is handed over")
    # Mina is a DJ now, and may do nothing about the owner and other DJs.
    expect(top(page).get_by_role("button", name="What to do about Rui", exact=True)).to_have_count(0)
    expect(top(page).get_by_role("button", name="What to do about Ines", exact=True)).to_have_count(0)
    top(page).get_by_role("button", name="What to do about Tomé", exact=True).click()
    expect(top(page).get_by_role("button", name="Ban")).to_be_visible()
    expect(top(page).get_by_role("button", name="Make DJ")).to_have_count(0)


def test_a_ban_is_told_listed_and_undone(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina)
    guest = visit(house, room.path, person=room.guests["Yuki"])
    guest.watch.expect("status of 403")
    steps.open_menu(guest, "History")
    top(guest)
    steps.open_menu(page, "People")
    top(page).get_by_role("button", name="What to do about Yuki", exact=True).click()
    top(page).get_by_role("button", name="Ban").click()
    top(page).get_by_label("1 hour").check()
    top(page).get_by_label(re.compile("Reason")).fill("<b>too loud</b>")
    top(page).locator("button[type=submit]").click()
    # The dialog of the room that is gone for the guest goes with it.
    expect(guest.get_by_text("You cannot enter this room.")).to_be_visible()
    expect(guest.locator("dialog[open]")).to_have_count(0)
    told = top(page).locator(".dialog-notice")
    expect(told).to_contain_text(re.compile(r"Yuki.* is banned until (\w+ )?\d+:\d\d"))
    top(page).get_by_text("Banned", exact=True).click()
    ban = top(page).locator(".ban")
    expect(ban).to_contain_text(re.compile(r"Banned until (\w+ )?\d+:\d\d"))
    expect(ban).to_contain_text("<b>too loud</b>")
    ban.get_by_role("button").click()
    expect(ban).to_have_count(0)
    assert room.tell(room.guests["Yuki"], "join")["member"] > room.members["Yuki"]


def test_a_closed_room_can_only_be_forgotten(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina)
    steps.open_menu(page, "Room settings")
    top(page).get_by_role("button", name="Close the room", exact=True).last.click()
    top(page).get_by_role("button", name="Close the room", exact=True).last.click()
    until(room, lambda state: "closedAt" in state, True)
    expect(page.get_by_text("This room is closed.")).to_be_visible()
    steps.open_menu(page, "Room settings")
    expect(top(page).locator(".setting:visible")).to_have_count(1)
    top(page).get_by_role("button", name="Forget").click()
    top(page).get_by_role("button", name="Forget").click()
    backline.eventually(lambda: set(roles(room)) == {"-"}, "all names are forgotten")


def test_earlier_songs_come_from_the_events(visit, party, house):
    room = party(parties.rooftop, house)
    for title in list(room.ids)[5:57]:
        room.play(title)
    room.tell("Mina", "removeTracks", tracks=[room.ids["Night Harbour"]])
    page = visit(house, room.path, person=room.guests["Ines"])
    steps.open_menu(page, "History")
    songs = top(page).locator(".history > li")
    expect(songs).to_have_count(50)
    top(page).get_by_role("button", name="Earlier").click()
    expect(top(page).get_by_text("That was the first song of this room.")).to_be_visible()
    played = [one for one in room.line.request(room.mina.token, "GET", f"/v1/rooms/{room.id}/events")["events"]
              if one["type"] == "entryFinished"]
    expect(songs).to_have_count(len(played))
    gone = songs.filter(has_text="Night Harbour").last
    expect(gone).to_contain_text("not in the room any more")
    expect(gone.get_by_role("button")).to_have_count(0)
    again = songs.get_by_role("button", pressed=False).last
    title = re.fullmatch("Ask for (.*) again", again.get_attribute("aria-label")).group(1)
    again.click()
    expect(songs.get_by_role("button", pressed=True).last).to_have_attribute("aria-label", f"Ask for {title} again")
    until(room, lambda state: room.ids[title] in state["requests"], True)


def test_leaving_and_signing_out(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.guests["Ines"])
    steps.open_menu(page, "Leave the room")
    top(page).get_by_role("button", name="Leave").click()
    expect(page).to_have_url(re.compile("/$"))
    assert "Ines" not in roles(room)
    page.goto(room.path)
    page.watch.expect("status of 401")
    steps.join(page, "Ines")
    steps.open_menu(page, "Sign out")
    top(page).get_by_role("button", name="Sign out").click()
    expect(page).to_have_url(re.compile("/$"))
    backline.eventually(lambda: "Ines" not in roles(room), "the session has left the room")


def test_a_ban_that_comes_while_bans_are_read_is_listed_with_the_others(visit, party, house):
    room = party(parties.rooftop, house)
    room.tell("Mina", "kick", member=room.members["Yuki"], ban=True)
    page = visit(house, room.path, person=room.mina)
    steps.open_menu(page, "People")
    top(page)
    held = []
    page.route("**/events?after=*", lambda route: route.continue_() if held else held.append(route))
    top(page).get_by_text("Banned", exact=True).click()
    expect(top(page).get_by_text("Looking…")).to_be_visible()
    backline.eventually(lambda: page.evaluate("0") == 0 and held, "the bans are being read")
    room.tell("Mina", "kick", member=room.members["Omar"], ban=True)
    expect(top(page).locator(".ban")).to_have_count(2)
    held[0].continue_()
    page.wait_for_load_state("networkidle")
    expect(top(page).locator(".ban .title")).to_have_text(["Omar", "Yuki"])


@pytest.mark.parametrize("end", ["removed", "banned", "signed out"])
def test_the_end_is_told_in_front_of_every_dialog(visit, party, house, end):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.guests["Yuki"], device=browsers.LAPTOP)
    page.watch.expect("status of 40[13]")
    steps.open_menu(page, "Preferences")
    expect(top(page)).to_be_visible()
    if end == "signed out":
        room.line.request(room.guests["Yuki"].token, "DELETE", "/v1/session")
        told = page.get_by_role("heading", name="You have been signed out.")
    else:
        room.tell("Mina", "kick", member=room.members["Yuki"], ban=end == "banned")
        told = page.get_by_role("heading", name="You cannot enter this room.")
    if end == "removed":
        expect(page.get_by_text("You have been removed from this room.")).to_be_visible()
        told = page.get_by_label("Your name")
    expect(told).to_be_focused()
    expect(page.locator("dialog")).to_have_count(0)
    page.locator("html.held").wait_for(state="detached")


def test_what_guests_change_waits_for_the_link(visit, party, house):
    room = party(parties.rooftop, house, settings={"guestsMayAdd": True})
    with wires.Wire(house) as wire:
        page = visit(wire, room.path, person=room.guests["Ines"], device=browsers.LAPTOP)
        page.watch.expect(browsers.LOST)
        add = steps.pane(page, "pool").get_by_role("button", name="Add a song")
        expect(add).to_be_enabled()
        steps.open_menu(page, "History")
        again = top(page).locator(".history").get_by_role("button").first
        expect(again).to_have_attribute("aria-disabled", "false")
        page.keyboard.press("Escape")
        add.click()
        top(page).get_by_label("Title").fill("One more")
        wire.go_down()
        expect(top(page).get_by_text("Reconnecting…").first).to_be_visible()
        expect(top(page).get_by_role("button", name="Add", exact=True)).to_be_disabled()
        page.keyboard.press("Escape")
        expect(add).to_be_disabled()
        steps.open_menu(page, "History")
        expect(again).to_have_attribute("aria-disabled", "true")
        wire.come_up()
        expect(again).to_have_attribute("aria-disabled", "false")
        expect(add).to_be_enabled()


def test_a_song_is_added_once_however_often_it_is_sent(visit, party, house):
    room = party(parties.rooftop, house, settings={"guestsMayAdd": True})
    with wires.Wire(house) as wire:
        page = visit(wire, room.path, person=room.guests["Ines"])
        page.watch.expect(browsers.LOST)
        steps.pane(page, "pool").get_by_role("button", name="Add a song").click()
        top(page).get_by_label("Title").fill("One more")
        wire.fall_silent()
        page.keyboard.press("Enter")
        steps.draw_again(page)
        expect(top(page).get_by_role("button", name="Add", exact=True)).to_be_disabled()
        page.keyboard.press("Enter")
        wire.cut()
        expect(page.get_by_role("dialog")).to_have_count(0)
        steps.expect_equal_to_server(page, room.mina, room.id)
        assert [one["title"] for one in room.state()["pool"]].count("One more") == 1
