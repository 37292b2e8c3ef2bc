"""The deck on a page, with real sound: what is heard, what the room says of it, and what leaves the device."""

import base64
import json
import re
import subprocess

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


def opened(visit, server, room, songs, person=None):
    """A page of a person, Mina unless told otherwise, which has songs and ears; the tracks are in the room."""
    page = visit(server, None, person or room.mina, device=browsers.LAPTOP)
    decks.listening(page.context)
    page.goto(room.path)
    page.get_by_role("button", name="Play on this device").wait_for()
    assert decks.keep_files(page, songs) == {"songs": len(songs), "skipped": []}
    return page, decks.add_tracks(page)


def start(page):
    """Has a page be the deck."""
    page.get_by_role("button", name="Play on this device").click()
    until(page, lambda: decks.deck(page)["phase"] == "on", "it is the deck")


def until(page, condition, what, seconds=15):
    """Waits for a condition, and lets the page's events arrive."""
    return backline.eventually(lambda: page.wait_for_timeout(20) or condition(), what, seconds)


def tones(page):
    """The songs that were heard so far, as `nights.songs_of`."""
    return nights.songs_of(decks.heard(page))


def hears(page, tone, after=200):
    """Waits until a tone sounds, and has for some ms."""
    until(page, lambda: (last := decks.heard(page)[-1:]) and last[0]["tone"] == tone and last[0]["to"] - last[0]["from"] > after,
          f"tone {tone} is heard")


def is_silent(page):
    heard = decks.heard(page)[-1]
    return heard["tone"] is None and heard["to"] - heard["from"] > 300


def logged(room):
    """What the log says was played, as `nights.log_of`."""
    return nights.log_of(room.mina.events(room.id))


def expect_log_as_heard(page, room):
    wrong, _ = nights.compare(tones(page), logged(room), nights.BUSY * nights.NEAR_MS)
    assert not wrong, wrong


TOLD = """async app => {
    const {positionAt} = await import(new URL('./room/room.js', document.querySelector('script[type=module]').src).href);
    return {at: Date.now(), told: positionAt(app.store.room.playback, app.store.clock.now())};
}"""

HEARD = """async app => ({at: Date.now(), ...(await app.device()).heard})"""


def test_songs_of_several_formats_sound_after_each_other_as_the_room_says(visit, party, house, tmp_path):
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, decks.make_songs(tmp_path, 3, 3.5, ("mp3", "opus", "m4a")))
    guest = visit(house, room.path, room.join("Ana"))
    start(page)
    entries = [room.tell("Mina", "enqueue", track=track)["entry"] for track in tracks]
    room.tell("Mina", "play", entry=entries[0])
    differences = []
    for tone in range(3):
        # By then the deck has corrected what it began late.
        hears(page, tone, 2500)
        heard, told = decks.run(page, HEARD), decks.run(guest, TOLD)
        differences.append(told["told"] - (heard["positionMs"] + told["at"] - heard["at"]))
    until(page, lambda: room.state()["playback"]["status"] == "stopped" and is_silent(page), "it is over")
    songs = tones(page)
    gaps = [end - begin for begin, end in nights.gaps_of(songs)]
    print("told - heard", differences, "gaps", gaps)
    assert [song["tone"] for song in songs] == [0, 1, 2] and not any(song["silences"] for song in songs), songs
    assert sorted(map(abs, differences))[1] <= NEAR_MS, differences
    assert max(map(abs, differences)) <= nights.BUSY * NEAR_MS, differences
    assert max(gaps) <= nights.BUSY * nights.GAP_MS, gaps
    expect_log_as_heard(page, room)
    assert [song["reason"] for song in logged(room)] == ["ended"] * 3
    theirs = until(page, lambda: all("waveform" in one for one in room.state()["pool"]) and room.state()["pool"], "waveforms are told")
    ours = decks.run(page, "async app => { const {library} = await app.device(); return app.store.room.pool.map("
                           "track => btoa(String.fromCharCode(...library.find(track).waveform))); }")
    for track, wave in zip(theirs, ours):
        answer = room.mina.request("GET", f"/v1/rooms/{room.id}/waveforms/{track['waveform']}")
        assert answer.body == base64.b64decode(wave) and len(answer.body) == 2048


def test_a_pause_by_the_system_pauses_the_room(visit, party, house, tmp_path):
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, decks.make_songs(tmp_path, 1, 20, ("flac",)))
    start(page)
    room.tell("Mina", "play", entry=room.tell("Mina", "enqueue", track=tracks[0])["entry"])
    hears(page, 0)
    page.evaluate("() => ears.elements.find(one => !one.paused).pause()")
    page.get_by_text("Paused by this device").wait_for()
    until(page, lambda: room.state()["playback"]["status"] == "paused", "the room is paused")
    until(page, lambda: is_silent(page), "it is silent")
    page.get_by_role("button", name="Go on playing").click()
    hears(page, 0, 400)
    assert room.state()["playback"]["status"] == "playing"
    expect(page.get_by_text("Paused by this device")).to_have_count(0)


NO_PICKER = "delete window.showOpenFilePicker; delete window.showDirectoryPicker;"


def test_nothing_of_files_and_pictures_leaves_the_page(visit, party, house, tmp_path):
    room = party(parties.empty, house)
    plain = decks.make_songs(tmp_path, 1, 8, ("mp3",))[0]
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
    page.add_init_script(NO_PICKER)
    sent = []
    page.context.on("request", lambda request: sent.append(request.url.encode() + b" " + (request.post_data_buffer or b"")))
    page.on("websocket", lambda socket: socket.on(
        "framesent", lambda frame: sent.append(frame if isinstance(frame, bytes) else frame.encode())))
    page.goto(room.path)
    steps.pane(page, "pool").get_by_role("button", name="Add music").first.click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose files").click()
    chooser.value.set_files(song)
    page.get_by_text("1 added", exact=True).wait_for()
    page.get_by_role("button", name="Done").click()
    start(page)
    track = room.state()["pool"][0]["track"]
    room.tell("Mina", "play", entry=room.tell("Mina", "enqueue", track=track)["entry"])
    hears(page, 0)
    page.locator(".deck .sleeve img[src^='blob:']").wait_for()
    shown = decks.run(page, """async () => {
        const {title, artist, artwork} = navigator.mediaSession.metadata;
        return {title, artist, pictures: artwork.map(one => [one.src.split(':')[0], one.type])};
    }""")
    assert shown == {"title": decks.title(0), "artist": "Generator", "pictures": [["blob", "image/png"]]}
    assert decks.run(page, "async app => [...new Uint8Array(await app.playing.picture.arrayBuffer())]") == list(picture)
    until(page, lambda: "waveform" in room.state()["pool"][0], "the waveform is told")
    everything = b"\n".join(sent)
    assert decks.title(0).encode() in everything and b"setWaveform" in everything
    assert b"Unheard" not in everything
    for secret in secrets:
        for skip in range(3):
            # Base64 of all bytes has these characters, wherever it begins.
            text = base64.b64encode(secret[skip:skip + 18])
            assert text not in everything and text.translate(bytes.maketrans(b"+/", b"-_")) not in everything
        assert secret not in everything


def test_a_song_without_a_file_is_skipped_with_a_word(visit, party, house, tmp_path):
    room = party(parties.empty, house, settings={"queueMode": "votes"})
    page, tracks = opened(visit, house, room, decks.make_songs(tmp_path, 2, 3, ("mp3", "flac")))
    guest = visit(house, room.path, room.join("Ana"))
    ghost = room.tell("Mina", "addTracks", tracks=[parties.track("Ghost", "Nobody", 200_000)])["tracks"][0]
    start(page)
    # The room has stopped, and begins by itself with what is asked for.
    room.tell("Ana", "vote", track=tracks[0])
    hears(page, 0)
    room.join("Ben")
    for name, track in (("Ana", ghost), ("Ben", ghost), ("Ana", tracks[1])):
        room.tell(name, "vote", track=track)
    guest.get_by_text(re.compile("Ghost.*was skipped")).first.wait_for()
    hears(page, 1)
    finished = [one for one in room.mina.events(room.id) if one["type"] == "entryFinished"]
    assert [(one["track"], one.get("missing", False)) for one in finished] == [(tracks[0], False), (ghost, True)]
    assert finished[1]["playedMs"] < 2_000, "of its 200 seconds"
    gap = nights.gaps_of(tones(page))[0]
    assert gap[1] - gap[0] <= 2 * nights.BUSY * nights.GAP_MS, gap


def test_what_is_played_and_done_off_line_is_told_in_one_command(visit, party, house, tmp_path):
    room = party(parties.empty, house)
    with wires.Wire(house) as wire:
        formats = ("mp3", "wav", "opus", "flac")
        decks.make_songs(tmp_path, 3, 2.5, formats)
        # The last one is long.
        page, tracks = opened(visit, wire, room, decks.make_songs(tmp_path, 4, 30, formats))
        page.watch.expect(browsers.LOST)
        sent = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
        guest = visit(house, room.path, room.join("Ana"))
        start(page)
        entries = [room.tell("Mina", "enqueue", track=track)["entry"] for track in tracks]
        room.tell("Mina", "play", entry=entries[0])
        hears(page, 0, 500)
        wire.go_down()
        hears(page, 1, 600)
        page.get_by_role("button", name="Pause", exact=True).click()
        until(page, lambda: is_silent(page), "it is paused")
        page.get_by_role("button", name="Continue", exact=True).click()
        hears(page, 2, 800)
        page.get_by_role("button", name="Next song", exact=True).click()
        hears(page, 3, 300)
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
        wrong, _ = nights.compare(tones(page), nights.log_of(room.mina.events(room.id), state["playback"]), nights.BUSY * nights.NEAR_MS)
        assert not wrong, wrong
        assert [(one["entry"], one["startedAt"], one["endedAt"], one["playedMs"]) for one in reversed(state["history"])] == [
            (one["entry"], one["from"], one["to"], one["ms"]) for one in logged(room)]


def test_the_deck_stops_without_the_right_to_play_and_with_the_room(visit, party, house, tmp_path):
    room = party(parties.empty, house)
    rui = room.join("Rui")
    room.tell("Mina", "setRole", member=room.members["Rui"], role="dj")
    page, tracks = opened(visit, house, room, decks.make_songs(tmp_path, 1, 20, ("flac",)), rui)
    start(page)
    room.tell("Mina", "play", entry=room.tell("Mina", "enqueue", track=tracks[0])["entry"])
    hears(page, 0)
    room.tell("Mina", "setRole", member=room.members["Rui"], role="guest")
    until(page, lambda: is_silent(page), "it is silent")
    assert decks.run(page, "app => [app.playing, app.store.room.deck.member ?? null, localStorage.getItem('backline.deck')]") == [None] * 3
    room.tell("Mina", "setRole", member=room.members["Rui"], role="dj")
    page.get_by_role("button", name="Take over").or_(page.get_by_role("button", name="Play on this device")).first.click()
    hears(page, 0)
    room.tell("Mina", "closeRoom")
    until(page, lambda: is_silent(page), "it is silent")
    assert decks.run(page, "app => app.playing") is None


KEPT = """async () => {
    const root = await navigator.storage.getDirectory(), names = [];
    for await (const name of root.keys()) names.push(name);
    return {deck: localStorage.getItem('backline.deck') !== null, copies: names.includes('backline-library'),
            songs: (await indexedDB.databases()).some(one => one.name === 'backline-library')};
}"""


def test_a_deck_goes_on_after_another_screen_and_ends_with_its_session(visit, party, house, tmp_path):
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, decks.make_songs(tmp_path, 1, 40, ("flac",)))
    page.watch.expect("status of 401")
    start(page)
    room.tell("Mina", "play", entry=room.tell("Mina", "enqueue", track=tracks[0])["entry"])
    hears(page, 0)
    page.evaluate("path => import(document.querySelector('script[type=module]').src).then(({app}) => app.go(path))", "/")
    until(page, lambda: is_silent(page), "it is silent")
    assert page.evaluate(KEPT)["deck"]
    page.go_back()
    hears(page, 0)
    until(page, lambda: decks.deck(page)["phase"] == "on" and not decks.deck(page)["leading"], "it is the deck")
    playback = room.state()["playback"]
    assert playback["status"] == "playing"
    # Somebody who asks how long the music was away hears the same.
    heard = decks.run(page, HEARD)
    assert abs(playback["positionMs"] + heard["at"] - playback["atMs"] - heard["positionMs"]) <= nights.BUSY * NEAR_MS
    # The session is ended elsewhere, and here, where that is only noticed.
    assert page.evaluate(KEPT) == {"deck": True, "copies": False, "songs": True}
    page.evaluate("navigator.storage.getDirectory().then(root => root.getDirectoryHandle('backline-library', {create: true})).then(() => 0)")
    room.mina.request("DELETE", "/v1/session")
    until(page, lambda: is_silent(page), "it is silent")
    assert decks.run(page, "app => app.playing") is None
    page.get_by_text("You have been signed out.").wait_for()
    assert page.evaluate(KEPT) == {"deck": False, "copies": True, "songs": True}


def test_signing_out_removes_the_deck_and_its_songs(visit, party, house, tmp_path):
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, decks.make_songs(tmp_path, 1, 40, ("flac",)))
    page.watch.expect("status of 401")
    start(page)
    room.tell("Mina", "play", entry=room.tell("Mina", "enqueue", track=tracks[0])["entry"])
    hears(page, 0)
    page.evaluate("navigator.storage.getDirectory().then(root => root.getDirectoryHandle('backline-library', {create: true})).then(() => 0)")
    assert page.evaluate(KEPT) == {"deck": True, "copies": True, "songs": True}
    steps.open_menu(page, "Sign out")
    page.locator("dialog[open]").last.get_by_role("button", name="Sign out").click()
    page.get_by_text("Listen together.").wait_for()
    assert page.evaluate(KEPT) == {"deck": False, "copies": False, "songs": False}
