"""What comes out of the deck's elements: fades, levels, volume, and no silence. Through an analyser in the page."""

import base64
import re
import subprocess

import pytest

import decks
import nights
import parties
from test_deck import NEAR_MS, hears, is_silent, logged, opened, start, tones, until

pytestmark = [pytest.mark.alone, pytest.mark.soak("sound in real time")]
"""Sound in real time: a browser beside would take it the processor."""

FAR = 5
"""A tone that an analyser tells from the first one."""

SAMPLE = """() => {
    const found = globalThis.levels = [];
    const bin = tone => Math.round((%d + %d * tone) * 2048 / ears.context.sampleRate);
    setInterval(() => {
        const bins = ears.bins(), peak = tone => Math.max(...bins.slice(bin(tone) - 1, bin(tone) + 2));
        found.push({at: Date.now(), level: ears.level(), peaks: [peak(0), peak(%d)],
            sounding: ears.elements.filter(one => !one.paused && !one.ended && one.volume > 0).length});
    }, 50);
}""" % (decks.LOWEST, decks.STEP, FAR)


@pytest.fixture
def chromium(whole_chromium):
    return whole_chromium


def two_songs(visit, party, house, paths, mode="dj", **settings):
    """A page that is the deck, of a room with two songs in its queue; the tracks of others are in the room."""
    room = party(parties.empty, house, settings={"queueMode": mode})
    page, tracks = opened(visit, house, room, paths, ears=decks.REAL)
    decks.run(page, "async (app, settings) => { Object.assign(await app.device(), settings); }", settings)
    start(page)
    entries = [room.tell("Mina", "enqueue", track=track)["entry"] for track in tracks[:2]]
    return room, page, entries, tracks[2:]


def levels(page):
    return page.evaluate("levels")


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


@pytest.mark.parametrize("third", [None, "enqueue", "vote"], ids=["next alone", "next and one more", "next and one that is asked for"])
def test_songs_fade_into_each_other_as_loud(visit, party, house, make_songs, third):
    songs = make_songs(2 * FAR + 1, 8, ("wav", "flac"))[::FAR][:3 if third else 2]
    room, page, entries, others = two_songs(visit, party, house, songs, mode="votes" if third == "vote" else "dj", fadeMs=3000)
    room.tell("Mina", "play", entry=entries[0])
    for track in others:
        room.tell("Mina", third, track=track)
    hears(page, 0)
    page.evaluate(SAMPLE)
    hears(page, FAR, 2800)
    found = levels(page)
    both = [one for one in found if min(one["peaks"]) > -54]
    assert both, "one song stopped before the other one sounded"
    begin, end = both[0]["at"], both[-1]["at"]
    steady = [median([one["level"] for one in found if begin - 1500 < one["at"] < begin - 300]),
              median([one["level"] for one in found if end + 200 < one["at"] < end + 1500])]
    fade = [one for one in found if begin <= one["at"] <= end]
    # What is cut off before its time is missing behind the last look at both.
    faded = sorted(one["level"] for one in found if begin <= one["at"] <= end + 1000)
    print("fade", end - begin, "ms; levels", steady, "in the fade", faded)
    # It began after the look before, and ended before the one after: a busy machine looks less often.
    before = max(one["at"] for one in found if one["at"] < begin)
    after = min(one["at"] for one in found if one["at"] > end)
    print("looked", begin - before, "ms before and", after - end, "ms after")
    assert end - begin < 3600 and 1500 < after - before
    assert {one["sounding"] for one in fade} == {2}
    # A machine that is late with a few samples is silent for one look.
    assert len(both) >= len(fade) - 1
    assert faded[1] >= min(steady) - 2 and faded[-1] <= max(steady) + 2
    assert abs(steady[0] - steady[1]) < 1


TOLD = """async app => {
    const {positionAt} = await import(new URL('./room/room.js', document.querySelector('script[type=module]').src).href);
    return {at: Date.now(), told: positionAt(app.store.room.playback, app.store.clock.now())};
}"""

HEARD = """async app => ({at: Date.now(), ...(await app.device()).heard})"""


def test_songs_of_several_formats_sound_after_each_other_as_the_room_says(visit, party, house, make_songs):
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, make_songs(3, 4, ("mp3", "opus", "m4a")), ears=decks.REAL)
    guest = visit(house, room.path, room.join("Ana"))
    start(page)
    entries = [room.tell("Mina", "enqueue", track=track)["entry"] for track in tracks]
    room.tell("Mina", "play", entry=entries[0])
    differences = []
    for tone in range(3):
        # By then the deck has corrected what it began late.
        hears(page, tone, 2000)
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
    wrong, _ = nights.compare(songs, logged(room), nights.BUSY * nights.NEAR_MS)
    assert not wrong, wrong
    assert [song["reason"] for song in logged(room)] == ["ended"] * 3
    theirs = until(page, lambda: all("waveform" in one for one in room.state()["pool"]) and room.state()["pool"], "waveforms are told")
    ours = decks.run(page, "async app => { const {library} = await app.device(); return app.store.room.pool.map("
                           "track => btoa(String.fromCharCode(...library.find(track).waveform))); }")
    for track, wave in zip(theirs, ours):
        answer = room.mina.request("GET", f"/v1/rooms/{room.id}/waveforms/{track['waveform']}")
        assert answer.body == base64.b64decode(wave) and len(answer.body) == 2048


def noise(path, lufs):
    """Six seconds of noise of a loudness."""
    def made(volume, out):
        return subprocess.run(
            ["ffmpeg", "-v", "info", "-y", "-nostats", "-f", "lavfi", "-i", "anoisesrc=color=pink:sample_rate=48000:duration=6:seed=7:amplitude=0.25",
             "-af", f"highpass=f=80,volume={volume}dB,alimiter=limit=0.98:level=false,ebur128", "-metadata", f"title=Noise {lufs}", "-ac", "2", *out],
            check=True, capture_output=True, text=True).stderr

    volume = 0.0
    for _ in range(3):
        told = float(re.findall(r"I:\s+(-?[\d.]+) LUFS", made(volume, ["-f", "null", "-"]))[-1])
        volume += lufs - told
    made(volume, ["-c:a", "flac", str(path)])
    return path


def average(page):
    """The mean level of more than a second."""
    return page.evaluate("""() => new Promise(done => {
        const found = [], asks = setInterval(() => {
            found.push(10 ** (ears.level() / 10));
            if (found.length < 48) return;
            clearInterval(asks);
            done(10 * Math.log10(found.reduce((sum, one) => sum + one) / found.length));
        }, 25);
    })""")


def test_loud_and_quiet_songs_are_heard_as_loud_and_the_volume_is_the_persons(visit, party, house, tmp_path):
    paths = [noise(tmp_path / "00.flac", -8), noise(tmp_path / "01.flac", -23)]
    room, page, entries, _ = two_songs(visit, party, house, paths)
    measured = until(page, lambda: decks.run(page, """async app => {
        const found = [...(await app.device()).library.songs.values()].sort((a, b) => a.name < b.name ? -1 : 1).map(one => one.lufs);
        return found.every(Number.isFinite) && found;
    }"""), "both have been looked at")
    assert measured == pytest.approx([-8, -23], abs=0.5)
    heard = []
    for entry in entries:
        room.tell("Mina", "play", entry=entry)
        until(page, lambda: room.state()["playback"]["entry"] == entry and decks.deck(page)["heard"]["isHeard"]
              and decks.deck(page)["heard"]["positionMs"] > 500, "it is heard")
        heard.append(average(page))
    decks.run(page, "app => { app.playing.volume = 0.5; }")
    heard.append(average(page))
    print("LUFS", measured, "heard", heard)
    assert min(heard) > -60 and abs(heard[0] - heard[1]) <= 1
    assert heard[2] - heard[1] == pytest.approx(-6.02, abs=0.5)
