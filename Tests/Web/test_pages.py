"""Pages of several people in one room."""

import json
import re

from playwright.sync_api import expect

import backline
import browsers
import decks
import parties
import steps
import wires

LOST = browsers.LOST


def guest(visit, party, name, server=None, **options):
    page = visit(server or party.server, party.path, **options)
    steps.join(page, name)
    return page


def test_a_vote_is_counted_on_another_page(visit, party, house):
    room = party(parties.rooftop, house)
    one, other = guest(visit, room, "Ana"), guest(visit, room, "Ben", device=browsers.LAPTOP)
    steps.vote_button(one, "requests", "Maré Theory").click()
    expect(steps.vote_button(one, "requests", "Maré Theory")).to_have_attribute("aria-pressed", "true")
    expect(steps.vote_button(other, "requests", "Maré Theory")).to_have_text("4")
    expect(steps.vote_button(other, "requests", "Maré Theory")).to_have_attribute("aria-pressed", "false")
    # The second tap withdraws.
    steps.vote_button(one, "requests", "Maré Theory").click()
    expect(steps.vote_button(other, "requests", "Maré Theory")).to_have_text("3")
    steps.expect_equal_to_server(one, room.mina, room.id)


def test_votes_change_the_order_of_what_was_asked_for(visit, party, house):
    room = party(parties.rooftop, house)
    page = guest(visit, room, "Ana")
    expect(page.locator("[data-pane=requests] li.row .title").last).to_have_text("Second Parade")
    steps.vote_button(page, "requests", "Second Parade").click()
    # Two votes pass one vote.
    expect(page.locator("[data-pane=requests] li.row .title").nth(4)).to_have_text("Second Parade")


def test_a_skip_reaches_both_pages(visit, party, house):
    room = party(parties.rooftop, house)
    page = guest(visit, room, "Ana")
    mina = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    steps.on_air(mina, "Maré Alta")
    mina.get_by_role("button", name="Next song").click()
    steps.on_air(mina, "Salt Horizon")
    steps.on_air(page, "Salt Horizon")


def test_guests_skip_by_votes(visit, party, house):
    room = party(parties.rooftop, house, settings={"skipRatio": 1})
    one, other = guest(visit, room, "Ana"), guest(visit, room, "Ben")
    one.get_by_role("button", name=re.compile("^Vote to skip|^Skip")).click()
    expect(other.get_by_role("button", name=re.compile("1 of 2"))).to_be_visible()
    other.get_by_role("button", name=re.compile("1 of 2")).click()
    steps.on_air(one, "Salt Horizon")
    steps.on_air(other, "Salt Horizon")


def test_a_vote_to_skip_ends_with_the_membership(visit, party, house):
    room = party(parties.rooftop, house, present=True)
    page = guest(visit, room, "Ana")
    skip = page.get_by_role("button", name=re.compile("^Vote to skip"))
    skip.click()
    expect(skip).to_have_attribute("aria-pressed", "true")
    expect(skip).to_have_accessible_name(re.compile(": 1 of"))
    ana = next(one["member"] for one in room.state()["members"] if one["name"] == "Ana")
    room.tell("Mina", "kick", member=ana)
    steps.join(page, "Ana")
    expect(skip).to_have_accessible_name(re.compile(": 0 of"))
    expect(skip).to_have_attribute("aria-pressed", "false")


def test_a_waveform_that_could_not_be_loaded_comes_later(visit, party, house):
    room = party(parties.long_song, house)
    page = visit(house, person=room.mina)
    page.watch.expect("status of 503")
    page.clock.install()
    asked = []

    def refuse_once(route):
        asked.append(route.request.url)
        if len(asked) > 1:
            return route.continue_()
        route.fulfill(status=503, content_type="application/problem+json",
                      body=json.dumps({"status": 503, "code": "unavailable", "retryAfterMs": 200_000}))

    def draw():
        for _ in range(5):
            steps.draw_again(page)
        page.evaluate("0")

    page.route("**/waveforms/*", refuse_once)
    page.goto(room.path)
    steps.on_air(page, "Ten minutes")
    backline.eventually(lambda: page.evaluate("0") == 0 and asked, "the waveform is asked for")
    # What is drawn meanwhile does not ask.
    draw()
    page.clock.fast_forward(100_000)
    draw()
    assert len(asked) == 1
    page.clock.fast_forward(100_000)
    backline.eventually(lambda: page.evaluate("0") == 0 and len(asked) == 2, "it is asked for again")


def test_rooms_nearby_can_be_started_again_after_signing_out(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, "/nearby", person=room.mina, permissions=["geolocation"],
                 geolocation={"latitude": parties.PORTO["lat"], "longitude": parties.PORTO["lon"]})
    use = page.get_by_role("button", name="Use where I am")
    use.wait_for()
    steps.end_nearby_once(page)
    use.click()
    expect(page.get_by_text("You have been signed out.")).to_be_visible()
    page.get_by_role("button", name="Start again").click()
    use.click()
    page.locator(".nearby-list").get_by_text("Rooftop at Ribeira").first.wait_for()
    expect(page.get_by_role("button", name="Start again")).to_be_hidden()


def test_the_start_page_tells_why_rooms_are_not_listed_and_keeps_those_shown(visit, party, house):
    room = party(parties.empty, house, name="Kitchen with a listing")
    page = visit(house, person=room.mina)
    page.watch.expect("status of (429|503)")

    def refuse(pattern, code, status):
        page.route(pattern, lambda route: route.fulfill(
            status=status, content_type="application/problem+json",
            body=json.dumps({"status": status, "code": code, "retryAfterMs": 65_000})))

    refuse(re.compile(r"/v1/rooms\?"), "rate_limited", 429)
    page.goto("/")
    expect(page.get_by_text("That was a little fast. Try again in 1:05.")).to_be_visible()
    page.unroute_all()
    page.get_by_role("button", name="Try again").click()
    own = page.get_by_role("region", name="Your rooms").get_by_role("link")
    expect(own).to_have_count(1)
    # The rooms of one's own alone are refused.
    refuse("**/v1/session/rooms", "unavailable", 503)
    with page.expect_response("**/v1/session/rooms"), page.expect_response(re.compile(r"/v1/rooms\?")):
        page.clock.fast_forward(60_000)
        steps.seen_again(page)
    browsers.settle(page)
    expect(own).to_have_count(1)


def test_somebody_who_is_removed_is_told(visit, party, house):
    room = party(parties.rooftop, house)
    page = guest(visit, room, "Ana")
    member = next(one["member"] for one in room.state()["members"] if one["name"] == "Ana")
    room.tell("Mina", "kick", member=member)
    expect(page.get_by_text(re.compile("removed"))).to_be_visible()
    # Looking needs no membership, and joining again is allowed.
    steps.join(page)


def test_somebody_who_is_banned_is_told(visit, party, house):
    room = party(parties.rooftop, house)
    page = guest(visit, room, "Ana")
    page.watch.expect("status of 403|response code: 403")
    member = next(one["member"] for one in room.state()["members"] if one["name"] == "Ana")
    room.tell("Mina", "kick", member=member, ban=True, durationMs=3_600_000)
    expect(page.get_by_text("You cannot enter this room.")).to_be_visible()
    expect(page.get_by_text(re.compile("59:|1 hour|60:"))).to_be_visible()


def test_pages_resume_after_the_server_was_killed(visit, party, servers):
    server = servers().start()
    room = party(parties.rooftop, server)
    pages = [guest(visit, room, "Ana"), visit(server, room.path, person=room.mina, device=browsers.LAPTOP)]
    for page in pages:
        page.watch.expect(LOST)
        steps.on_air(page, "Maré Alta")
    server.kill()
    for page in pages:
        expect(page.get_by_text("Reconnecting…")).to_be_visible()
        # The last room stays.
        expect(page.locator("[data-pane=requests] li.row").first).to_be_visible()
    server.start()
    room.line = parties.Line(server)
    for page in pages:
        expect(page.get_by_text("Reconnecting…")).to_be_hidden()
        steps.expect_equal_to_server(page, room.mina, room.id)
    steps.vote_button(pages[0], "requests", "Maré Theory").click()
    expect(steps.vote_button(pages[1], "requests", "Maré Theory")).to_have_text("4")


def test_a_command_that_was_on_its_way_is_carried_out_once(visit, party, house):
    room = party(parties.rooftop, house)
    with wires.Wire(house) as wire:
        page = guest(visit, room, "Ana", wire)
        page.watch.expect(LOST)
        # The command is lost with its connection, or its answer is.
        wire.fall_silent()
        steps.vote_button(page, "requests", "Maré Theory").click()
        expect(steps.vote_button(page, "requests", "Maré Theory")).to_have_attribute("aria-busy", "true")
        wire.cut()
        expect(steps.vote_button(page, "requests", "Maré Theory")).not_to_have_attribute("aria-busy", "true")
        steps.expect_equal_to_server(page, room.mina, room.id)
        assert next(one["votes"] for one in room.state()["pool"] if one["title"] == "Maré Theory") == 4


def test_a_screen_that_cannot_be_loaded_leaves_the_room_as_it_is(visit, party, house):
    room = party(parties.rooftop, house)
    with wires.Wire(house) as wire:
        page = guest(visit, room, "Ana", wire)
        page.watch.expect(LOST)
        page.wait_for_load_state("networkidle")
        wire.go_down()
        page.locator("a.logo").click()
        expect(page).to_have_url(re.compile(f"{room.path}$"))
        steps.on_air(page, "Maré Alta")
        wire.come_up()
        room.tell("Mina", "skip")
        steps.on_air(page, "Salt Horizon")
        page.locator("a.logo").click()
        expect(page.get_by_text("Listen together.")).to_be_visible()
        expect(page).to_have_url(re.compile("/$"))


def test_an_address_that_nothing_can_be_made_of_has_no_room(visit, party, house):
    room = party(parties.rooftop, house)
    for path in "/r/%", "/r/%FF":
        page = visit(house, path)
        expect(page.get_by_text("There is no room here.")).to_be_visible()
        page.evaluate("path => import(document.querySelector('script[type=module]').src).then(({app}) => app.go(path))", room.path)
        steps.on_air(page, "Maré Alta")
        page.go_back()
        expect(page.get_by_text("There is no room here.")).to_be_visible()


def test_a_style_sheet_that_was_lost_is_asked_for_again(visit, party, house):
    """What is shown at once looks right as soon as there is a network, although nobody asks for its styles again."""
    room = party(parties.rooftop, house)
    page = visit(house, None, person=room.mina)
    page.watch.expect("style/dj.css|net::ERR_FAILED")
    page.route("**/style/dj.css", lambda route: route.abort(), times=2)
    page.goto(room.path)
    expect(page.locator("button.transport-play")).to_have_css("width", "64px")


def test_a_link_that_is_back_soon_was_never_lost(visit, party, house):
    """It is told after two seconds, and not before."""
    room = party(parties.rooftop, house)
    with wires.Wire(house) as wire:
        page = guest(visit, room, "Ana", wire)
        page.watch.expect(LOST)
        page.clock.install()
        page.evaluate("""() => {
            window.seen = [];
            const look = () => { if (document.querySelector('.link-bar')) window.seen.push(Math.round(performance.now())); };
            new MutationObserver(look).observe(document.body, {subtree: true, childList: true});
        }""")
        page.clock.pause_at(page.evaluate("Date.now() / 1000 + 1"))
        lost = "app => app.store.link.state !== 'live'"
        for waits, is_told in ((1_900, False), (2_100, True)):
            wire.go_down()
            backline.eventually(lambda: decks.run(page, lost), "the link is lost")
            page.clock.run_for(waits)
            assert bool(page.evaluate("window.seen")) == is_told
            wire.come_up()
            steps.connect_now(page)
            backline.eventually(
                lambda: page.clock.run_for(50) or not (decks.run(page, lost) or page.get_by_text("Reconnecting…").count()),
                "the link is back", 60)


def test_a_handshake_without_an_answer_does_not_hold_up_the_next_one(visit, party, house):
    """Browsers make one connection to an address at a time."""
    room = party(parties.rooftop, house)
    with wires.Wire(house) as wire:
        page = guest(visit, room, "Ana", wire)
        page.watch.expect(LOST)
        page.clock.install()
        opened = wire.accepted
        wire.lose_packets()
        backline.eventually(lambda: wire.accepted > opened, "a handshake is lost")
        wire.find_packets()
        room.tell("Mina", "skip")
        # The handshake is given up after 10 s.
        song = page.locator(".deck .song")
        backline.eventually(lambda: page.clock.run_for(1_000) or song.text_content() == "Salt Horizon", "the next handshake is answered", 60)
