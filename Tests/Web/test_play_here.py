"""Which device plays, adding files, and what a DJ is told of missing ones. What is played: see the tests of the deck."""

import base64
import re
import struct

import pytest
from playwright.sync_api import expect

import browsers
import decks
import parties
import steps


def sound(title=None, artist=None, level=0, seconds=0.1):
    """A WAV file with what its INFO list says."""
    samples = bytes([128 + level]) * round(8000 * seconds)
    names = b""
    for name, value in ((b"INAM", title), (b"IART", artist)):
        if value:
            text = value.encode() + b"\0"
            names += name + struct.pack("<I", len(text)) + text + b"\0" * (len(text) % 2)
    chunks = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    if names:
        chunks += b"LIST" + struct.pack("<I", len(names) + 4) + b"INFO" + names
    chunks += b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks


def choose(page, files):
    """Chooses files, (name, content) each, in the dialog "Add music", which is open."""
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name=re.compile("Choose files|More files")).click()
    chooser.value.set_files([{"name": name, "mimeType": "", "buffer": content} for name, content in files])


def add_music(page):
    steps.pane(page, "pool").get_by_role("button", name="Add music").first.click()
    expect(page.get_by_role("button", name="Choose files")).to_be_enabled()


def told(page, text):
    return page.locator(".device", has_text=text)


#: Notes the audio elements that a tap, while it lasts, has loaded, if only with nothing.
NOTE_TAPPED = """(() => {
    const {load} = HTMLMediaElement.prototype;
    globalThis.tapped = new Set();
    globalThis.isTap = false;
    addEventListener('click', () => { isTap = true; setTimeout(() => { isTap = false; }); }, true);
    HTMLMediaElement.prototype.load = function () {
        if (isTap) tapped.add(this);
        return load.call(this);
    };
})();"""


DEVICE = "**/deck/device.js"


@pytest.mark.parametrize("name", ["Play on this device", "Play", "Play it here"])
def test_a_tap_reaches_both_audio_elements_before_the_deck_is_loaded(name, visit, party, house):
    room = party(parties.empty, house)
    if name != "Play on this device":
        track = room.tell("Mina", "addTracks", tracks=[{"source": "manual", "sourceId": "a", "title": "A"}])["tracks"][0]
        entry = room.tell("Mina", "enqueue", track=track)["entry"]
    if name == "Play it here":
        room.tell("Mina", "play", entry=entry)
    page = visit(house, None, room.mina)
    page.add_init_script(NOTE_TAPPED)
    page.route(DEVICE, lambda route: None)
    page.goto(room.path)
    page.get_by_role("button", name=name, exact=True).click()
    assert page.evaluate("() => tapped.size") == 2
    # What is held is let through, and what is asked for only now.
    page.unroute(DEVICE)
    if name != "Play":
        told(page, "Playing on this device").wait_for()


def test_one_device_plays_and_another_takes_over(visit, party, house):
    room = party(parties.rooftop, house)
    mina = visit(house, room.path, room.mina)
    rui = visit(house, room.path, room.guests["Rui"], device=browsers.LAPTOP)
    guest = visit(house, room.path, room.guests["Ines"])
    guest.get_by_text("No device is playing").wait_for()
    play = mina.get_by_role("button", name="Play on this device")
    play.focus()
    mina.keyboard.press("Enter")
    told(mina, "Playing on this device").wait_for()
    expect(mina.locator(".device button").first).to_be_focused()
    told(rui, "Mina’s device is playing.").wait_for()
    expect(guest.get_by_text("No device is playing")).to_be_hidden()
    expect(guest.locator(".device")).to_have_count(0)
    rui.get_by_role("button", name="Take over?").click()
    told(mina, "Rui’s device plays now.").wait_for()
    told(rui, "Playing on this device").wait_for()
    mina.get_by_role("button", name="OK", exact=True).click()
    told(mina, "Rui’s device is playing.").wait_for()
    # Ending it on purpose leaves no device to wait for.
    rui.get_by_role("button", name=re.compile("fade", re.I)).click()
    rui.get_by_role("button", name="Stop playing here").click()
    mina.get_by_role("button", name="Play on this device").wait_for()
    rui.get_by_role("button", name="Play on this device").wait_for()


def test_a_deck_that_vanishes_has_time_to_come_back(visit, party, house):
    room = party(parties.rooftop, house, present=True)
    rui = visit(house, None, room.guests["Rui"])
    # The page's own clock is told to be later.
    rui.add_init_script("""let later = 0; const now = performance.now.bind(performance);
        performance.now = () => now() + later; globalThis.wait = ms => { later += ms; };""")
    rui.goto(room.path)
    room.sockets[0].send({"type": "deck", "room": room.id, "on": True})
    rui.get_by_role("button", name="Take over?").wait_for()
    room.sockets.pop(0).close()
    told(rui, "Mina’s device has lost its connection.").wait_for()
    expect(rui.get_by_role("button", name=re.compile("Take over|Play on this"))).to_have_count(0)
    rui.evaluate("wait(14000)")
    steps.draw_again(rui)
    told(rui, "Mina’s device has lost its connection.").wait_for()
    rui.evaluate("wait(1100)")
    steps.draw_again(rui)
    rui.get_by_role("button", name="Play on this device").wait_for()


def test_files_become_tracks_once(visit, party, house):
    room = party(parties.empty, house)
    page = visit(house, None, room.mina)
    page.add_init_script(decks.NO_PICKER)
    page.goto(room.path)
    add_music(page)
    page.get_by_text("Your files and their pictures stay on this device. Titles, artists, albums, lengths and waveforms are sent; of a file without a title, its name.").wait_for()
    songs = [(f"Nothing {number:03}.wav", sound(f"Song {number:03}", "Zonda", number % 100)) for number in range(40)]
    bad = [("notes <b>.mp3", b"This is no music. " * 40), ("silence.flac", b"")]
    choose(page, songs + bad)
    page.get_by_text("40 added · 2 skipped").wait_for()
    skipped = page.locator(".files-left li").all_inner_texts()
    assert [line.split("\n")[0] for line in skipped] == [name for name, _ in bad]
    assert "not a format that can be played here" in skipped[0] and "empty" in skipped[1]
    pool = room.state()["pool"]
    assert sorted(track["title"] for track in pool) == sorted(f"Song {number:03}" for number in range(40))
    assert {track["source"] for track in pool} == {"local"} and "Nothing" not in str(pool)
    assert all(track["durationMs"] == 100 for track in pool)
    # Once more, with one that is new.
    choose(page, songs + [("another.wav", sound("Another"))])
    page.get_by_text("1 added · 40 here already").wait_for()
    left = page.locator(".files-left li").all_inner_texts()
    assert [line.split("\n") for line in left] == [[name, "in the room already"] for name, _ in songs]
    assert len(room.state()["pool"]) == 41
    page.get_by_role("button", name="Done").click()
    expect(page.locator("dialog")).to_have_count(0)


def test_files_are_dropped_on_the_page_and_on_the_dialog(visit, party, house):
    room = party(parties.empty, house)
    page = visit(house, room.path, room.mina, device=browsers.LAPTOP)
    steps.pane(page, "pool")
    # As a browser does: it tells again and again that a file is over the page, until it is dropped.
    drag = """([name, text, selector]) => {
        const dataTransfer = new DataTransfer(), over = document.querySelector(selector);
        dataTransfer.items.add(new File([Uint8Array.from(atob(text), one => one.charCodeAt(0))], name));
        const tell = type => over.dispatchEvent(new DragEvent(type, {dataTransfer, bubbles: true, cancelable: true}));
        const timer = setInterval(tell, 50, 'dragover');
        window.dropIt = () => { clearInterval(timer); tell('drop'); };
    }"""
    for number, selector in enumerate((".deck", "dialog .drop-zone")):
        page.evaluate(drag, [f"{number}.wav", base64.b64encode(sound(f"Dropped {number}", level=number)).decode(), selector])
        page.locator(".drop-page").wait_for()
        page.evaluate("dropIt()")
        expect(page.locator(".drop-page")).to_have_count(0)
        steps.expect_titles(room, [f"Dropped {one}" for one in range(number + 1)])
        page.get_by_text("1 added", exact=True).wait_for()


def test_reading_files_is_cancelled(visit, party, house):
    room = party(parties.empty, house)
    page = visit(house, room.path, room.mina)
    steps.pane(page, "pool")
    steps.pretend_deck(page)
    add_music(page)
    page.get_by_role("button", name="Choose files").click()
    page.get_by_text("128 of 500 read").wait_for()
    # It goes on while the dialog is closed.
    page.keyboard.press("Escape")
    add_music_again = steps.pane(page, "pool").get_by_role("button", name="Add music").first
    add_music_again.click()
    page.get_by_text("128 of 500 read").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Cancelled. Nothing was added.").wait_for()
    assert room.state()["pool"] == []


def test_songs_without_a_file_are_marked(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, None, room.mina)
    page.add_init_script(decks.NO_PICKER)
    page.goto(room.path)
    add_music(page)
    # Files of the same titles, artists and lengths.
    seconds = {track["title"]: track.get("durationMs", 100) / 1000 for track in room.state()["pool"]}
    files = [("Salt Horizon", "Amber Room"), ("Maré Alta", "Linha Azul")]
    choose(page, [(f"{number}.wav", sound(*names, number, seconds[names[0]])) for number, names in enumerate(files)])
    page.get_by_text("0 added · 2 here already").wait_for()
    page.keyboard.press("Escape")
    expect(steps.pane(page, "queue").get_by_text("File missing")).to_have_count(0)
    page.get_by_role("button", name="Play on this device").click()
    expect(steps.row(page, "queue", "Slow Station").get_by_text("File missing")).to_be_attached()
    expect(steps.row(page, "queue", "Salt Horizon").get_by_text("File missing")).not_to_be_attached()
    told(page, "Playing on this device").wait_for()


def test_controls_of_the_deck_by_keyboard(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, room.mina)
    page.get_by_role("button", name="Play on this device").click()
    opener = page.get_by_role("button", name="Playing on this device")
    opener.focus()
    page.keyboard.press("Enter")
    volume = page.get_by_role("dialog").get_by_label("Volume")
    volume.focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    expect(volume).to_have_attribute("aria-valuetext", "90 %")
    fade = page.get_by_role("dialog").get_by_label("Fade")
    fade.focus()
    page.keyboard.press("End")
    expect(fade).to_have_attribute("aria-valuetext", "12\u00a0s")
    level = page.get_by_role("switch")
    level.focus()
    page.keyboard.press("Space")
    expect(level).not_to_be_checked()
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()
    chosen = page.evaluate("JSON.parse(localStorage.getItem('backline.preferences')).deck")
    assert chosen == {"volume": 0.9, "fadeMs": 12_000, "levelled": False}


def test_guests_hear_of_a_song_that_was_skipped_for_want_of_its_file(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, room.guests["Ines"])
    steps.on_air(page, "Maré Alta")
    steps.tell_event(page, {"type": "entryFinished", "missing": True, "reason": "skipped", "playedMs": 0})
    page.locator(".toast", has_text="“\u2068Maré Alta\u2069” was skipped: the deck cannot play it.").wait_for()
    steps.open_menu(page, "History")
    page.get_by_role("dialog").get_by_text("skipped, the deck could not play it").wait_for()


def test_the_deck_speaks_another_language_at_once(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, room.mina, language="de-DE")
    page.get_by_role("button", name="Auf diesem Gerät spielen").wait_for()
    page.evaluate("import(document.querySelector('script[type=module]').src).then(({app}) => app.preferences.set('language', 'en'))")
    page.get_by_role("button", name="Play on this device").wait_for()
