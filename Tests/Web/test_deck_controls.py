"""The deck from elsewhere: a system's own controls, changes of the queue off line, and a person with two devices."""

import json

import browsers
import decks
import nights
import parties
import steps
import wires
from test_deck import hears, is_silent, logged, opened, says_what_it_plays, start, until

KEEP_HANDLERS = """(() => {
    const native = MediaSession.prototype.setActionHandler;
    globalThis.controls = {};
    MediaSession.prototype.setActionHandler = function (action, handler) {
        if (handler) controls[action] = handler;
        else delete controls[action];
        return native.call(this, action, handler);
    };
})();"""


KEEP_NAMES = """() => {
    const metadata = Object.getOwnPropertyDescriptor(MediaSession.prototype, 'metadata');
    globalThis.named = [];
    Object.defineProperty(MediaSession.prototype, 'metadata', {...metadata, set(given) { named.push(given?.title); metadata.set.call(this, given); }});
}"""


def test_the_systems_controls_are_a_djs(visit, party, house, long_songs):
    room = party(parties.empty, house)
    page = visit(house, None, room.mina, device=browsers.LAPTOP)
    page.add_init_script(KEEP_HANDLERS)
    decks.listening(page.context)
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(json.loads(frame))))
    page.goto(room.path)
    page.get_by_role("button", name="Play on this device").wait_for()
    decks.keep_files(page, long_songs(2, ("mp3", "flac")))
    entries = [room.tell("Mina", "enqueue", track=track)["entry"] for track in decks.add_tracks(page)]
    start(page)
    room.tell("Mina", "play", entry=entries[0])
    hears(page, 0)

    def control(action, details="{}"):
        page.evaluate("([action, details]) => controls[action]({action, ...JSON.parse(details)})", [action, details])

    def playback(**wanted):
        until(page, lambda: all(room.state()["playback"].get(name) == value for name, value in wanted.items()), f"the room has {wanted}")

    # Others would take the place of "next" on a lock screen.
    assert sorted(page.evaluate("() => Object.keys(controls)")) == ["nexttrack", "pause", "play", "seekto"]
    control("pause")
    playback(status="paused")
    until(page, lambda: is_silent(page), "it is silent")
    assert not decks.deck(page)["pausedBySystem"]
    control("play")
    playback(status="playing")
    hears(page, 0)
    control("seekto", json.dumps({"seekTime": 12.5}))
    playback(positionMs=12_500)
    until(page, lambda: decks.deck(page)["heard"]["positionMs"] > 12_500, "it is heard from there")
    control("nexttrack")
    playback(entry=entries[1])
    hears(page, 1)
    # Each says which song is meant.
    named = [one["command"] for one in sent if one.get("type") == "command" and one["command"]["type"] in ("pause", "resume", "seek", "skip")]
    assert [(one["type"], one["entry"]) for one in named] == [(type, entries[0]) for type in ("pause", "resume", "seek", "skip")]
    page.get_by_role("button", name="Playing on this device").click()
    page.get_by_role("button", name="Stop playing here").click()
    until(page, lambda: is_silent(page), "it is silent")
    assert page.evaluate("() => [Object.keys(controls), navigator.mediaSession.metadata]") == [[], None]


def test_the_lock_screen_names_what_is_heard_where_the_room_is_not_told_yet(visit, party, house, long_songs):
    room = party(parties.empty, house)
    with wires.Wire(house) as wire:
        page, tracks = opened(visit, wire, room, long_songs(2, ("mp3", "flac")))
        page.watch.expect(browsers.LOST)
        entries = [room.tell("Mina", "enqueue", track=track)["entry"] for track in tracks]
        titles = {track["track"]: track["title"] for track in room.state()["pool"]}
        page.evaluate(KEEP_NAMES)
        start(page)
        room.tell("Mina", "play", entry=entries[0])
        hears(page, 0)
        assert page.evaluate("() => named.splice(0).at(-1)") == titles[tracks[0]]
        wire.fall_silent()
        page.get_by_role("button", name="Next song").click()
        # The deck goes on by itself.
        hears(page, 1)
        assert set(page.evaluate("() => named")) == {titles[tracks[1]]}
        until(page, lambda: room.state()["playback"].get("entry") == entries[1], "the room is told")


def test_a_queue_that_is_changed_off_line_is_the_rooms(visit, party, house, long_songs):
    room = party(parties.empty, house)
    with wires.Wire(house) as wire:
        page, tracks = opened(visit, wire, room, long_songs(4, ("mp3", "flac", "opus", "m4a")))
        page.watch.expect(browsers.LOST)
        sent = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
        start(page)
        entries = [room.tell("Mina", "enqueue", track=track)["entry"] for track in tracks]
        room.tell("Mina", "play", entry=entries[0])
        hears(page, 0)
        wire.go_down()
        page.get_by_text("off line").first.wait_for()
        for command in ({"type": "move", "entry": entries[3], "to": 0}, {"type": "dequeue", "entry": entries[1]},
                        {"type": "enqueue", "track": tracks[0]}):
            decks.run(page, "(app, command) => app.act(command).then(() => 0)", command)
        steps.expect_list(page, "queue", [decks.title(tone) for tone in (3, 2, 0)])
        # Somebody else's change of meanwhile stays.
        added = room.tell("Mina", "enqueue", track=tracks[1])["entry"]
        wire.come_up()
        until(page, lambda: not decks.deck(page)["leading"], "the room is told")
        steps.expect_equal_to_server(page, room.mina, room.id)
        queue = room.state()["queue"]
        assert [one["track"] for one in queue] == [tracks[tone] for tone in (3, 2, 0, 1)], queue
        assert [queue[0]["entry"], queue[1]["entry"], queue[3]["entry"]] == [entries[3], entries[2], added]
        assert len([frame for frame in sent if '"syncDeck"' in frame]) == 1
        assert room.state()["playback"]["entry"] == entries[0] and logged(room) == []
        (song,) = nights.songs_of(decks.heard(page))
        assert not song["silences"], song


def test_a_deck_that_is_ended_off_line_tells_the_room_before(visit, party, house, long_songs):
    room = party(parties.empty, house)
    with wires.Wire(house) as wire:
        page, tracks = opened(visit, wire, room, long_songs())
        page.watch.expect(browsers.LOST)
        start(page)
        room.tell("Mina", "play", entry=room.tell("Mina", "enqueue", track=tracks[0])["entry"])
        hears(page, 0)
        says_what_it_plays(page)
        page.get_by_role("button", name="Playing on this device").click()
        page.get_by_role("button", name="Stop playing here").wait_for()
        wire.go_down()
        until(page, lambda: decks.run(page, "app => app.store.link.state !== 'live'"), "it is off line")
        page.get_by_role("button", name="Stop playing here").click()
        until(page, lambda: is_silent(page), "it is silent")
        heard = decks.deck(page)["heard"]["positionMs"]
        assert room.state()["playback"]["status"] == "playing"
        wire.come_up()
        steps.connect_now(page)
        until(page, lambda: decks.deck(page)["phase"] == "off", "it has ended")
        playback = room.state()["playback"]
        assert playback["status"] == "paused" and abs(playback["positionMs"] - heard) < 300, (playback, heard)
        # Who the deck is comes in a message of its own.
        until(page, lambda: decks.run(
            page, "app => [app.store.room.deck.member ?? null, localStorage.getItem('backline.deck')]") == [None, None],
            "nobody is the deck")
        # Whoever looks at the button later, for which the page makes a device, does not start what has ended.
        decks.run(page, "async app => { await (await app.device()).ready; }")
        assert decks.deck(page)["phase"] == "off"


def test_of_a_persons_two_devices_the_one_that_was_asked_last_plays(visit, party, house, long_songs):
    """The room tells which member is the deck, and not which device: the one that comes back has to ask."""
    room = party(parties.empty, house)
    songs = long_songs()
    with wires.Wire(house) as wire:
        first, tracks = opened(visit, wire, room, songs)
        first.watch.expect(browsers.LOST)
        start(first)
        second = visit(house, None, room.mina, device=browsers.LAPTOP)
        decks.listening(second.context)
        second.goto(room.path)
        second.get_by_text("Your other device is playing.").wait_for()
        decks.keep_files(second, songs)
        room.tell("Mina", "play", entry=room.tell("Mina", "enqueue", track=tracks[0])["entry"])
        hears(first, 0)
        sent = []
        first.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
        wire.fall_silent()
        second.get_by_role("button", name="Take over").click()
        until(second, lambda: decks.deck(second)["phase"] == "on", "the second one is the deck")
        hears(second, 0)
        assert decks.deck(first)["phase"] == "on"
        # The page notices, as when the network of a telephone changes.
        first.evaluate("() => { dispatchEvent(new Event('online')); }")
        first.get_by_role("group", name="Deck").get_by_text("Your other device plays now.").wait_for()
        until(first, lambda: is_silent(first), "the first one is silent")
        assert decks.deck(second)["phase"] == "on"
        hears(second, 0, 1000)
        assert not [frame for frame in sent if '"syncDeck"' in frame]
        assert not [frame for frame in sent if '"deck"' in frame and '"on":true' in frame]
        assert room.state()["playback"]["status"] == "playing" and logged(room) == []
