"""Two devices that want to be one room's deck: one plays, the other says so, and the log has everything once."""

import time

from playwright.sync_api import expect

import browsers
import decks
import nights
import parties
import steps
import wires
from test_deck import hears, is_silent, logged, opened, says_what_it_plays, start, until


def frames(page):
    """The frames that a page sends, for each of its sockets."""
    sent = []

    def socket_opened(socket):
        mine = []
        sent.append(mine)
        socket.on("framesent", lambda frame: mine.append(frame))

    page.on("websocket", socket_opened)
    return sent


def two_pages(visit, party, server, first_server, songs):
    """A room whose owner is its deck, and another DJ's page with the same song."""
    room = party(parties.empty, server)
    rui = room.join("Rui")
    room.tell("Mina", "setRole", member=room.members["Rui"], role="dj")
    first, tracks = opened(visit, first_server, room, songs)
    start(first)
    second = visit(server, None, rui, device=browsers.LAPTOP)
    decks.listening(second.context)
    second.goto(room.path)
    second.get_by_role("button", name="Take over").wait_for()
    decks.keep_files(second, songs)
    room.tell("Mina", "play", entry=room.tell("Mina", "enqueue", track=tracks[0])["entry"])
    hears(first, 0)
    return room, first, second


def expect_one_sounds(playing, silent):
    until(silent, lambda: decks.heard(silent) == [] or is_silent(silent), "one is silent")
    hears(playing, 0, 400)
    assert decks.heard(silent) == [] or is_silent(silent)


def expect_nothing_twice(room):
    entries = [song["entry"] for song in logged(room)]
    starts = [event["entry"] for event in room.mina.events(room.id) if event["type"] == "playbackStarted"]
    assert len(set(entries)) == len(entries) and len(set(starts)) == len(starts), (entries, starts)


def told(page, text):
    return page.locator(".device", has_text=text)


def test_another_device_takes_over(visit, party, house, long_songs):
    room, first, second = two_pages(visit, party, house, house, long_songs())
    second.get_by_role("button", name="Take over").click()
    told(first, "Rui’s device plays now").wait_for()
    until(second, lambda: decks.deck(second)["phase"] == "on", "the second one is the deck")
    expect_one_sounds(second, first)
    assert decks.deck(first)["lostTo"] == room.members["Rui"]
    assert room.state()["playback"]["status"] == "playing"
    expect_nothing_twice(room)


def test_a_deck_that_comes_back_too_late_stops(visit, party, house, long_songs):
    with wires.Wire(house) as wire:
        room, first, second = two_pages(visit, party, house, wire, long_songs())
        first.watch.expect(browsers.LOST)
        sent = frames(first)
        wire.go_down()
        first.get_by_text("off line").first.wait_for()
        # Off line, it goes its own way.
        first.get_by_role("button", name="Pause", exact=True).click()
        until(first, lambda: decks.deck(first)["leading"], "it leads")
        first.get_by_role("button", name="Continue", exact=True).click()
        hears(first, 0)
        second.get_by_text("Mina’s device has lost its connection").wait_for()
        # As its button does when the first one has not come back for a while.
        decks.run(second, """async app => {
            const device = await app.device();
            document.body.addEventListener('click', () => device.start({takeOver: true}), {once: true});
        }""")
        second.locator("body").click()
        until(second, lambda: decks.deck(second)["phase"] == "on", "the second one is the deck")
        hears(second, 0)
        wire.come_up()
        told(first, "Rui’s device plays now").wait_for()
        assert decks.deck(first)["phase"] == "lost"
        expect_one_sounds(second, first)
        assert sent and not [frame for socket in sent for frame in socket if '"syncDeck"' in frame]
        expect_nothing_twice(room)
        assert room.state()["playback"]["status"] == "playing"


def test_a_deck_goes_on_where_the_server_still_has_its_connection_of_before(visit, party, house, long_songs):
    room = party(parties.empty, house)
    with wires.Wire(house) as wire:
        page, tracks = opened(visit, wire, room, long_songs())
        page.watch.expect(browsers.LOST)
        start(page)
        room.tell("Mina", "play", entry=room.tell("Mina", "enqueue", track=tracks[0])["entry"])
        hears(page, 0)
        sent = frames(page)
        wire.fall_silent()
        # The page notices, as when the network of a telephone changes; the server does not.
        page.evaluate("dispatchEvent(new Event('offline'))")
        page.evaluate("dispatchEvent(new Event('online'))")
        until(page, lambda: any('"deck"' in frame and '"on":true' in frame for socket in sent for frame in socket), "it claims again")
        until(page, lambda: decks.run(page, "app => app.playing?.phase === 'on' && !app.playing.leading && app.store.room.deck.here === true"),
              "it is the deck again")
        hears(page, 0)
        # Whatever the claim has caused has come by then.
        steps.expect_equal_to_server(page, room.mina, room.id)
        assert decks.deck(page)["phase"] == "on" and not decks.deck(page)["leading"]
        (song,) = nights.songs_of(decks.heard(page))
        assert not song["silences"], song
        assert room.state()["playback"]["status"] == "playing"
        expect_nothing_twice(room)


def test_of_two_tabs_one_plays_and_what_it_heard_without_the_room_is_kept(visit, party, house, long_songs):
    room = party(parties.empty, house)
    with wires.Wire(house) as wire:
        first, tracks = opened(visit, wire, room, long_songs())
        first.watch.expect(browsers.LOST)
        start(first)
        room.tell("Mina", "play", entry=room.tell("Mina", "enqueue", track=tracks[0])["entry"])
        hears(first, 0)
        # The ears of both tabs write where the profile keeps things: only what sounds now is compared.
        second = first.context.new_page()
        second.watch = first.watch
        second.goto(room.path)
        told(second, "This room plays in another tab").wait_for()
        hears(first, 0)
        second.get_by_role("button", name="Play here instead").click()
        until(second, lambda: decks.deck(second)["phase"] == "on", "the second tab is the deck")
        told(first, "This room plays in another tab").wait_for()
        expect_one_sounds(second, first)
        assert decks.deck(first)["otherTab"]
        expect(told(second, "Playing on this device")).to_be_visible()
        assert room.state()["playback"]["status"] == "playing"
        # Without the network, too.
        wire.go_down()
        for page in (first, second):
            until(page, lambda page=page: decks.run(page, "app => app.store.link.state !== 'live'"), "it is off line")
        second.get_by_role("button", name="Pause", exact=True).click()
        until(second, lambda: is_silent(second), "it is paused")
        heard = decks.deck(second)
        first.get_by_role("button", name="Play here instead").click()
        until(first, lambda: decks.deck(first)["phase"] == "on", "the first tab is the deck")
        until(second, lambda: decks.deck(second)["otherTab"], "the second tab is not")
        assert heard["leading"] and decks.deck(first)["leading"]
        began = time.monotonic()
        first.get_by_role("button", name="Continue", exact=True).click()
        hears(first, 0)
        says_what_it_plays(first)
        first.get_by_role("button", name="Pause", exact=True).click()
        until(first, lambda: not decks.deck(first)["heard"]["isHeard"], "it is paused")
        position = decks.deck(first)["heard"]["positionMs"]
        # It went on where the other tab stopped, and has played for no longer than this has lasted.
        assert 0 < position - heard["heard"]["positionMs"] < 300 + 1000 * (time.monotonic() - began)
        assert room.state()["playback"]["status"] == "playing"
        wire.come_up()
        steps.connect_now(first)
        until(first, lambda: not decks.deck(first)["leading"], "the room is told")
        playback = room.state()["playback"]
        assert playback["status"] == "paused" and abs(playback["positionMs"] - position) < 300
        expect_nothing_twice(room)
