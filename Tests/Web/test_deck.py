"""The deck on a page: what is heard, what the room says of it, and what leaves the device.

Its elements are a model's: `test_sound.py` has sound.
"""

import base64
import json
import re
import subprocess

import pytest
from playwright.sync_api import expect

import backline
import browsers
import decks
import nights
import parties
import steps
import wires

NEAR_MS = 150
"""What is told is what is heard, within this."""

def opened(visit, server, room, songs, person=None, ears=decks.MODEL, **options):
    """A page of a person, Mina unless told otherwise, which has songs and ears; the tracks are in the room."""
    page = visit(server, None, person or room.mina, device=browsers.LAPTOP, **options)
    decks.listening(page.context, ears)
    page.goto(room.path)
    page.get_by_role("button", name="Play on this device").wait_for()
    assert decks.keep_files(page, songs) == {"songs": len(songs), "skipped": []}
    return page, decks.add_tracks(page)


def choose(page, where, songs):
    """Chooses files by a button of the page."""
    with page.expect_file_chooser() as chooser:
        where.get_by_role("button", name="Choose files").click()
    chooser.value.set_files(songs)


def opened_forgetful(visit, server, room, songs):
    """Mina's page in a browser that has songs until it is loaded again, and the tracks in the room, by title."""
    page = visit(server, None, room.mina, device=browsers.LAPTOP)
    decks.listening(page.context)
    page.add_init_script(KEEPS_NOTHING)
    page.goto(room.path)
    steps.pane(page, "pool").get_by_role("button", name="Add music").first.click()
    choose(page, page, songs)
    page.get_by_text(f"{len(songs)} added", exact=True).wait_for()
    page.get_by_role("button", name="Done").click()
    return page, [track["track"] for track in sorted(room.state()["pool"], key=lambda track: track["title"])]


def start(page):
    """Has a page be the deck."""
    page.get_by_role("button", name="Play on this device").click()
    until(page, lambda: decks.deck(page)["phase"] == "on", "it is the deck")


def until(page, condition, what):
    """Waits for a condition, and lets the page's events arrive."""
    return backline.eventually(lambda: page.wait_for_timeout(20) or condition(), what, browsers.PATIENCE / 1000)


def tones(page):
    """The songs that were heard so far, as `nights.songs_of`."""
    return nights.songs_of(decks.heard(page))


def hears(page, tone, after=200):
    """Waits until a tone sounds, and has for some ms."""
    until(page, lambda: (last := decks.heard(page)[-1:]) and last[0]["tone"] == tone and last[0]["to"] - last[0]["from"] > after,
          f"tone {tone} is heard")


def begin(page, room, track):
    """Has a page be the deck, which plays the first of its songs."""
    start(page)
    room.tell("Mina", "play", entry=room.tell("Mina", "enqueue", track=track)["entry"])
    hears(page, 0)


def is_silent(page):
    heard = decks.heard(page)[-1]
    return heard["tone"] is None and heard["to"] - heard["from"] > 300


def logged(room):
    """What the log says was played, as `nights.log_of`."""
    return nights.log_of(room.mina.events(room.id))


LATE = """async app => {
    const {positionAt} = await import(new URL('./room/room.js', document.querySelector('script[type=module]').src).href);
    const {heard} = await app.device(), {playback} = app.store.room;
    return heard.isHeard && playback.status === 'playing' ? positionAt(playback, app.store.clock.now()) - heard.positionMs : null;
}"""


def says_what_it_plays(page):
    """Waits until the room, as a page that plays has it, says where the song is: the deck corrects what began late."""
    until(page, lambda: (late := decks.run(page, LATE)) is not None and abs(late) <= NEAR_MS, "what is told is what is heard")


def test_a_pause_by_the_system_pauses_the_room_where_nobody_goes_on(visit, party, house, long_songs):
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, long_songs())
    begin(page, room, tracks[0])
    note, stop = page.locator(".device-note"), "() => (globalThis.stopped = ears.elements.find(one => !one.paused)).pause()"
    page.evaluate(stop)
    expect(note).to_contain_text("Paused by this device")
    until(page, lambda: is_silent(page), "it is silent")
    assert room.state()["playback"]["status"] == "playing"
    page.evaluate("() => stopped.play()")
    hears(page, 0, 400)
    expect(note).to_be_hidden()
    page.evaluate(stop)
    until(page, lambda: is_silent(page), "it is silent")
    page.get_by_role("button", name="Go on playing").click()
    hears(page, 0, 400)
    expect(note).to_be_hidden()
    page.evaluate(stop)
    page.get_by_role("button", name="Pause", exact=True).click()
    until(page, lambda: room.state()["playback"]["status"] == "paused", "the room is paused")
    page.get_by_role("button", name="Go on playing").click()
    hears(page, 0, 400)
    until(page, lambda: room.state()["playback"]["status"] == "playing", "the room goes on")
    expect(note).to_be_hidden()


#: A browser that keeps neither handles nor copies of files.
KEEPS_NOTHING = decks.NO_PICKER + """
    StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('', 'SecurityError'));
    // As in WebKit's private windows.
    const {put} = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (value, ...key) {
        if (value instanceof Blob) throw new DOMException('BlobURLs are not yet supported.', 'DataCloneError');
        return put.call(this, value, ...key);
    };"""


def test_play_begins_the_deck_where_there_is_none(visit, party, house, long_songs):
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, long_songs(2, ("flac", "mp3")), reduced_motion="no-preference")
    entries = [room.tell("Mina", "enqueue", track=track)["entry"] for track in tracks]
    other = visit(house, None, room.mina, device=browsers.LAPTOP)
    sent = []
    for one in (page, other):
        one.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(json.loads(frame))))
    page.reload()
    other.goto(room.path)
    play = page.get_by_role("button", name="Play", exact=True)
    play.press("Space")
    hears(page, 0)
    until(page, lambda: decks.deck(page)["phase"] == "on", "it is the deck")
    assert room.state()["playback"]["entry"] == entries[0]
    # Where a device plays, another one commands it, and does not become the deck.
    other.get_by_role("button", name="Pause", exact=True).click()
    until(page, lambda: is_silent(page), "it is paused")
    other.get_by_role("button", name="Continue", exact=True).click()
    hears(page, 0)
    assert decks.run(other, "app => app.playing") is None
    for one in (page, other):
        one.locator("wave-form").click(position={"x": 30, "y": 8})
    other.get_by_role("button", name="Next song", exact=True).click()
    hears(page, 1)
    # Each command says which song is meant.
    named = [one["command"] for one in sent if one.get("type") == "command" and one["command"]["type"] in ("play", "pause", "resume", "seek", "skip")]
    assert {"play", "pause", "resume", "seek", "skip"} <= {one["type"] for one in named}
    assert all(one.get("entry") in entries for one in named), named


#: A browser that wants a tap before it reads files again, as Chromium after a restart.
ASKS_AGAIN = """
    window.asked = 0;
    FileSystemHandle.prototype.queryPermission = async () => asked > 0 ? 'granted' : 'prompt';
    FileSystemHandle.prototype.requestPermission = async () => (asked += Number(navigator.userActivation.isActive)) > 0 ? 'granted' : 'prompt';
"""


def test_play_asks_for_files_that_the_browser_keeps_closed(visit, party, house, long_songs):
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, long_songs(2, ("flac", "mp3")))
    begin(page, room, tracks[0])
    page.add_init_script(ASKS_AGAIN)
    page.reload()
    allow = page.get_by_role("button", name="Allow")
    allow.wait_for()
    until(page, lambda: room.state()["playback"]["status"] == "paused", "it waits for its files")
    # The biggest button does what the one beside the sentence does.
    page.get_by_role("button", name="Continue", exact=True).click()
    hears(page, 0)
    until(page, lambda: room.state()["playback"]["status"] == "playing", "the room goes on")
    expect(allow).to_be_hidden()


def test_a_song_that_no_device_plays_is_said_loudly(visit, party, house):
    room = party(parties.empty, house)
    track = room.tell("Mina", "addTracks", tracks=[parties.track("Ghost", "Nobody", 200_000)])["tracks"][0]
    room.tell("Mina", "enqueue", track=track)
    page = visit(house, room.path, room.mina)
    page.get_by_role("button", name="Play", exact=True).click()
    line = page.locator(".silence")
    expect(line).to_contain_text("Nobody hears this")
    for kind in ("requests", "queue", "pool"):
        steps.pane(page, kind)
        expect(line).to_be_in_viewport(ratio=1)
    line.get_by_role("button", name="Play it here").click()
    expect(line).to_contain_text("Choose them, and")
    until(page, lambda: room.state()["playback"]["status"] == "paused", "it waits for its files")
    # What is remembered of songs without a file does not grow for ever.
    size = page.evaluate("""async () => {
        const {miss, missed} = await import(new URL('./view/on-air.js', document.querySelector('script[type=module]').src).href);
        for (let entry = 0; entry < 5000; entry++) miss('room', entry);
        return [missed.size, missed.has('room 4999')];
    }""")
    assert size == [2000, True]


def test_a_deck_that_has_lost_its_files_waits_for_them(visit, party, house, long_songs):
    room = party(parties.empty, house, settings={"queueMode": "votes"})
    songs = long_songs(3, ("mp3", "opus", "flac"))
    page, tracks = opened_forgetful(visit, house, room, songs)
    room.join("Ana")
    start(page)
    room.tell("Ana", "vote", track=tracks[0])
    hears(page, 0)
    for track in tracks[1:]:
        room.tell("Ana", "vote", track=track)
    page.reload()
    line = page.locator(".silence")
    expect(line).to_contain_text("Choose them, and")
    until(page, lambda: room.state()["playback"]["status"] == "paused", "it waits for its files")
    until(page, lambda: all(track.get("missing") for track in room.state()["pool"]), "the room knows what is not there")
    choose(page, line, songs)
    hears(page, 0)
    expect(line).to_be_hidden()
    until(page, lambda: not any(track.get("missing") for track in room.state()["pool"]), "the room knows what is there")
    until(page, lambda: room.state()["playback"]["status"] == "playing", "the room goes on")
    # Nothing was skipped, and no vote was spent.
    assert not [one for one in room.mina.events(room.id) if one["type"] == "entryFinished"]
    assert [track["votes"] for track in sorted(room.state()["pool"], key=lambda track: track["title"])] == [0, 1, 1]


def test_a_browser_that_keeps_no_files_says_so_before_they_are_lost(visit, party, house, long_songs):
    room = party(parties.empty, house)
    songs = long_songs(2, ("mp3", "flac"))
    page = visit(house, None, room.mina, device=browsers.LAPTOP)
    page.add_init_script(KEEPS_NOTHING)
    page.goto(room.path)
    told = "This browser keeps your files only until this page is closed or loaded again."
    steps.pane(page, "pool").get_by_role("button", name="Add music").first.click()
    expect(page.get_by_role("dialog").get_by_text(told)).to_be_visible()
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    choose(page, page, songs)
    page.get_by_text("2 added", exact=True).wait_for()
    page.get_by_role("button", name="Done").click()
    # Nothing plays yet: all the same the browser asks, and the page stays.
    page.close(run_before_unload=True)
    backline.eventually(lambda: page.evaluate("0") == 0 and asked == ["beforeunload"], "it asks")
    start(page)
    page.get_by_role("button", name="Playing on this device").click()
    expect(page.get_by_role("dialog").get_by_text(told)).to_be_visible()


def test_a_song_whose_copy_has_no_room_is_told(visit, party, house, long_songs):
    room = party(parties.empty, house)
    songs = long_songs(2, ("mp3", "flac"))
    page = visit(house, None, room.mina, device=browsers.LAPTOP)
    page.add_init_script(decks.NO_PICKER + "StorageManager.prototype.estimate = async () => ({quota: %d});" % (2 * songs[0].stat().st_size + 100))
    page.goto(room.path)
    steps.pane(page, "pool").get_by_role("button", name="Add music").first.click()
    choose(page, page, songs)
    page.get_by_text("2 added", exact=True).wait_for()
    page.get_by_role("button", name="Done").click()
    start(page)
    for track in sorted(room.state()["pool"], key=lambda track: track["title"]):
        room.tell("Mina", "enqueue", track=track["track"])
    note = page.locator(".device-note", has_text="keeps the file of 1 song only until this page is closed")
    note.get_by_role("button", name="OK").click()
    expect(note).to_be_hidden()
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.close(run_before_unload=True)
    backline.eventually(lambda: page.evaluate("0") == 0 and asked == ["beforeunload"], "it asks")


@pytest.mark.parametrize("mode", ["votes", "dj"])
def test_play_asks_for_files_that_a_reload_has_lost(mode, visit, party, house, long_songs):
    room = party(parties.empty, house, settings={"queueMode": mode})
    songs = long_songs(2, ("mp3", "flac"))
    page, tracks = opened_forgetful(visit, house, room, songs)
    page.reload()
    room.join("Ana")
    if mode == "votes":
        room.tell("Ana", "vote", track=tracks[1])
    else:
        room.tell("Mina", "enqueue", track=tracks[1])
    page.get_by_text("Play starts").wait_for()
    page.get_by_role("button", name="Play", exact=True).dblclick()
    line = page.locator(".silence")
    expect(line).to_contain_text("Choose them, and the music goes on")
    # Nothing is on air that nobody hears, however often Play is pressed. Once the files are here, what was asked for is.
    if mode == "votes":
        expect(steps.pane(page, "queue").get_by_text("has no file that can be played")).to_be_visible()
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_load_state("networkidle")
    assert room.state()["playback"]["status"] == "stopped"
    choose(page, line, songs)
    hears(page, 1)
    assert room.state()["playback"]["track"] == tracks[1]
    expect(line).to_be_hidden()


def test_a_deck_without_files_promises_no_music_that_no_dj_has_asked_for(visit, party, house, long_songs):
    room = party(parties.empty, house)
    songs = long_songs(2, ("mp3", "flac"))
    page, tracks = opened_forgetful(visit, house, room, songs)
    page.reload()
    room.tell("Mina", "enqueue", track=tracks[1])
    start(page)
    line = page.locator(".silence")
    expect(line).to_contain_text("Choose them so that they can be played")
    choose(page, line, songs)
    expect(line).to_be_hidden()
    page.get_by_text("Play starts").wait_for()


def test_nothing_of_files_and_pictures_leaves_the_page(visit, party, house, tmp_path, make_songs):
    room = party(parties.empty, house)
    plain = make_songs(1, 8, ("mp3",))[0]
    cover, song = tmp_path / "cover.png", tmp_path / "Unheard of name.mp3"
    subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=s=64x64:d=1", "-frames:v", "1", str(cover)], check=True)
    subprocess.run(["ffmpeg", "-v", "error", "-i", str(plain), "-i", str(cover), "-map", "0", "-map", "1", "-c", "copy",
                    "-disposition:v", "attached_pic", str(song)], check=True)
    picture = cover.read_bytes()
    # Some bytes of the picture, and others of the sound.
    secrets = [picture[at:at + 24] for at in (0, 41, len(picture) // 2)] + [plain.read_bytes()[20_000:20_024]]
    assert all(secret in song.read_bytes() for secret in secrets)
    page = visit(house, None, room.mina, device=browsers.LAPTOP)
    decks.listening(page.context)
    page.add_init_script(decks.NO_PICKER)
    sent = []
    page.context.on("request", lambda request: sent.append(request.url.encode() + b" " + (request.post_data_buffer or b"")))
    page.on("websocket", lambda socket: socket.on(
        "framesent", lambda frame: sent.append(frame if isinstance(frame, bytes) else frame.encode())))
    page.goto(room.path)
    steps.pane(page, "pool").get_by_role("button", name="Add music").first.click()
    choose(page, page, song)
    page.get_by_text("1 added", exact=True).wait_for()
    page.get_by_role("button", name="Done").click()
    begin(page, room, room.state()["pool"][0]["track"])
    page.locator(".deck .sleeve img[src^='blob:']").wait_for()
    shown = decks.run(page, """async () => {
        const {title, artist, artwork} = navigator.mediaSession.metadata;
        return {title, artist, pictures: artwork.map(one => [one.src.split(':')[0], one.type])};
    }""")
    assert shown == {"title": decks.title(0), "artist": "Generator", "pictures": [["blob", "image/png"]]}
    assert decks.run(page, "async app => [...new Uint8Array(await app.playing.picture.arrayBuffer())]") == list(picture)
    until(page, lambda: "waveform" in room.state()["pool"][0], "the waveform is told")
    # The browser tells of a frame a little after it was sent.
    until(page, lambda: all(any(part in one for one in sent) for part in (decks.title(0).encode(), b"setWaveform")),
          "the browser tells what was sent")
    everything = b"\n".join(sent)
    assert b"Unheard" not in everything
    for secret in secrets:
        for skip in range(3):
            # Base64 of all bytes has these characters, wherever it begins.
            text = base64.b64encode(secret[skip:skip + 18])
            assert text not in everything and text.translate(bytes.maketrans(b"+/", b"-_")) not in everything
        assert secret not in everything


def test_a_song_without_a_file_is_not_chosen_and_skipped_with_a_word(visit, party, house, long_songs):
    room = party(parties.empty, house, settings={"queueMode": "votes"})
    page, tracks = opened(visit, house, room, long_songs(2, ("mp3", "flac")))
    guest = visit(house, room.path, room.join("Ana"))
    ghost = room.tell("Mina", "addTracks", tracks=[parties.track("Ghost", "Nobody", 200_000)])["tracks"][0]
    start(page)
    # The room has stopped, and begins by itself with what is asked for.
    room.tell("Ana", "vote", track=tracks[0])
    hears(page, 0)
    room.join("Ben")
    for name, track in (("Ana", ghost), ("Ben", ghost), ("Ana", tracks[1])):
        room.tell(name, "vote", track=track)
    decks.end(page)
    # The room does not choose it: its votes stay.
    hears(page, 1)
    assert [track["votes"] for track in room.state()["pool"] if track["track"] == ghost] == [2]
    # A person may put it on air.
    room.tell("Mina", "play", entry=room.tell("Mina", "enqueue", track=ghost)["entry"])
    guest.get_by_text(re.compile("Ghost.*was skipped")).first.wait_for()
    finished = lambda: [one for one in room.mina.events(room.id) if one["type"] == "entryFinished"]
    until(page, lambda: len(finished()) == 3, "it is skipped")
    assert [(one["track"], one.get("missing", False)) for one in finished()] == [(tracks[0], False), (tracks[1], False), (ghost, True)]


def test_a_file_that_cannot_be_played_is_not_said_to_be_missing(visit, party, house, long_songs):
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, long_songs(2, ("mp3", "flac")))
    begin(page, room, tracks[0])
    next_entry = room.tell("Mina", "enqueue", track=tracks[1])["entry"]
    decks.run(page, """async (app, track) => {
        const device = await app.device();
        device.songOf(track).unplayable = true;
        device.touch();
    }""", tracks[1])
    # A screen reader is told the same, in a place of its own.
    note = page.locator(".device-note")
    expect(note).to_contain_text(re.compile("Next: .*cannot be played on this device."))
    expect(page.get_by_role("button", name="Choose another file")).to_be_visible()
    room.tell("Mina", "play", entry=next_entry)
    expect(note).to_contain_text("This song cannot be played on this device.")
    expect(page.get_by_role("button", name="Choose another file")).to_be_visible()
    expect(page.get_by_text("is not on this device.")).to_have_count(0)


def test_a_song_whose_element_fails_is_opened_anew_once(visit, party, house, long_songs):
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, long_songs())
    begin(page, room, tracks[0])
    fail = """() => {
        const element = ears.elements.find(one => !one.paused);
        element.error = {code: 2};
        element.onerror();
    }"""
    page.evaluate(fail)
    hears(page, 0, 400)
    says_what_it_plays(page)
    assert room.state()["playback"]["status"] == "playing"
    page.evaluate(fail)
    expect(steps.pane(page, "pool").locator("li.row").first).to_contain_text("Not playable")


def test_a_song_goes_on_beyond_the_length_that_is_claimed(visit, party, house, make_songs):
    room = party(parties.empty, house)
    page = visit(house, None, room.mina, device=browsers.LAPTOP)
    decks.listening(page.context)
    page.goto(room.path)
    page.get_by_role("button", name="Play on this device").wait_for()
    decks.keep_files(page, make_songs(1, 16, ("flac",)))
    (track,) = decks.run(page, """async app => {
        const {library} = await app.device(), [song] = library.songs.values();
        return (await app.store.send({type: 'addTracks', tracks: [{...library.toTrack(song), durationMs: 1000}]})).tracks;
    }""")
    guest = visit(house, room.path, room.join("Ana"))
    begin(page, room, track)
    for one in (page, guest):
        until(one, lambda one=one: one.locator(".deck .elapsed").inner_text() >= "0:02", "it is shown for longer")
        expect(one.locator(".deck .eyebrow")).to_have_text("On air", ignore_case=True)
    # A click lands where the music is that is drawn there.
    box = page.locator("wave-form").bounding_box()
    page.mouse.click(box["x"] + 0.75 * box["width"], box["y"] + box["height"] / 2)
    until(page, lambda: any(one["type"] == "playbackSeeked" and 11_800 < one["positionMs"] < 12_600 for one in room.mina.events(room.id)),
          "it is sought to 12 s")
    assert room.state()["playback"]["status"] == "playing"
    decks.end(page)
    until(page, lambda: room.state()["playback"]["status"] == "stopped", "it is heard to its end")
    (song,) = tones(page)
    assert song["to"] - song["from"] > 1000


def test_what_is_played_and_done_off_line_is_told_in_one_command(visit, party, house, long_songs):
    room = party(parties.empty, house)
    with wires.Wire(house) as wire:
        page, tracks = opened(visit, wire, room, long_songs(4, ("mp3", "m4a", "opus", "flac")))
        page.watch.expect(browsers.LOST)
        sent = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
        guest = visit(house, room.path, room.join("Ana"))
        start(page)
        entries = [room.tell("Mina", "enqueue", track=track)["entry"] for track in tracks]
        room.tell("Mina", "play", entry=entries[0])
        hears(page, 0)
        says_what_it_plays(page)
        wire.go_down()
        until(page, lambda: decks.run(page, "app => app.store.link.state !== 'live'"), "it is off line")
        decks.end(page)
        hears(page, 1)
        page.get_by_role("button", name="Pause", exact=True).click()
        until(page, lambda: is_silent(page), "it is paused")
        page.get_by_role("button", name="Continue", exact=True).click()
        hears(page, 1)
        says_what_it_plays(page)
        decks.end(page)
        hears(page, 2)
        says_what_it_plays(page)
        page.get_by_role("button", name="Next song", exact=True).click()
        hears(page, 3)
        says_what_it_plays(page)
        assert decks.deck(page)["leading"]
        page.get_by_text("off line").first.wait_for()
        assert room.state()["playback"]["entry"] == entries[0]
        wire.come_up()
        steps.connect_now(page)
        until(page, lambda: not decks.deck(page)["leading"], "the room is told")
        page.get_by_role("button", name="Pause", exact=True).click()
        until(page, lambda: room.state()["playback"]["status"] == "paused", "it is paused")
        steps.expect_equal_to_server(page, room.mina, room.id)
        steps.expect_equal_to_server(guest, room.mina, room.id)
        told = [frame for frame in sent if '"syncDeck"' in frame]
        assert len(told) == 1, told
        assert [item["reason"] for item in json.loads(told[0])["command"]["played"]][:3] == ["ended", "ended", "skipped"]
        assert [(one["entry"], one["reason"]) for one in logged(room)] == list(zip(entries, ["ended", "ended", "skipped"]))
        state = room.state()
        # When each began and ended is compared in the soak, by a whole night.
        told = nights.log_of(room.mina.events(room.id), state["playback"])
        assert [decks.title(one["tone"]) for one in tones(page)] == [one["title"] for one in told]
        assert [(one["entry"], one["startedAt"], one["endedAt"], one["playedMs"]) for one in reversed(state["history"])] == [
            (one["entry"], one["from"], one["to"], one["ms"]) for one in logged(room)]


def test_the_deck_stops_without_the_right_to_play_and_with_the_room(visit, party, house, long_songs):
    room = party(parties.empty, house)
    rui = room.join("Rui")
    room.tell("Mina", "setRole", member=room.members["Rui"], role="dj")
    page, tracks = opened(visit, house, room, long_songs(), rui)
    begin(page, room, tracks[0])
    room.tell("Mina", "setRole", member=room.members["Rui"], role="guest")
    until(page, lambda: is_silent(page), "it is silent")
    until(page, lambda: decks.run(
        page, "app => [app.playing, app.store.room.deck.member ?? null, localStorage.getItem('backline.deck')]") == [None] * 3,
        "it is no deck")
    room.tell("Mina", "setRole", member=room.members["Rui"], role="dj")
    page.get_by_role("button", name="Take over").or_(page.get_by_role("button", name="Play on this device")).first.click()
    hears(page, 0)
    room.tell("Mina", "closeRoom")
    until(page, lambda: is_silent(page), "it is silent")
    until(page, lambda: decks.run(page, "app => app.playing") is None, "it is no deck")


KEPT = """async () => {
    const root = await navigator.storage.getDirectory(), names = [];
    for await (const name of root.keys()) names.push(name);
    return {deck: localStorage.getItem('backline.deck') !== null, copies: names.includes('backline-library'),
            songs: (await indexedDB.databases()).some(one => one.name === 'backline-library')};
}"""


def test_a_deck_goes_on_after_another_screen_and_ends_with_its_session(visit, party, house, long_songs):
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, long_songs())
    page.watch.expect("status of 401")
    begin(page, room, tracks[0])
    page.evaluate("path => import(document.querySelector('script[type=module]').src).then(({app}) => app.go(path))", "/")
    until(page, lambda: is_silent(page), "it is silent")
    assert page.evaluate(KEPT)["deck"]
    page.go_back()
    hears(page, 0)
    until(page, lambda: decks.deck(page)["phase"] == "on" and not decks.deck(page)["leading"], "it is the deck")
    # Somebody who asks how long the music was away hears the same.
    says_what_it_plays(page)
    steps.expect_equal_to_server(page, room.mina, room.id)
    # The session is ended elsewhere, and here, where that is only noticed.
    assert page.evaluate(KEPT) == {"deck": True, "copies": False, "songs": True}
    page.evaluate("navigator.storage.getDirectory().then(root => root.getDirectoryHandle('backline-library', {create: true})).then(() => 0)")
    room.mina.request("DELETE", "/v1/session")
    until(page, lambda: is_silent(page), "it is silent")
    until(page, lambda: decks.run(page, "app => app.playing") is None, "it is no deck")
    page.get_by_text("You have been signed out.").wait_for()
    assert page.evaluate(KEPT) == {"deck": False, "copies": True, "songs": True}


def test_signing_out_removes_the_deck_and_its_songs(visit, party, house, long_songs):
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, long_songs())
    page.watch.expect("status of 401")
    begin(page, room, tracks[0])
    page.evaluate("navigator.storage.getDirectory().then(root => root.getDirectoryHandle('backline-library', {create: true})).then(() => 0)")
    assert page.evaluate(KEPT) == {"deck": True, "copies": True, "songs": True}
    steps.open_menu(page, "Sign out")
    page.locator("dialog[open]").last.get_by_role("button", name="Sign out").click()
    page.get_by_text("Listen together.").wait_for()
    assert page.evaluate(KEPT) == {"deck": False, "copies": False, "songs": False}
