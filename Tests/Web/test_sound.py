"""What comes out of the deck's elements: fades, levels, volume, and no silence. Through an analyser in the page."""

import re
import subprocess

import pytest

import browsers
import decks
import nights
import parties
from test_deck import hears, opened, start, tones, until

FAR = 5
"""A tone that an analyser tells from the first one."""

SAMPLE = """() => {
    const found = globalThis.levels = [];
    const bin = tone => Math.round((%d + %d * tone) * 2048 / ears.context.sampleRate);
    setInterval(() => {
        const bins = ears.bins(), peak = tone => Math.max(...bins.slice(bin(tone) - 1, bin(tone) + 2));
        found.push({at: Date.now(), level: ears.level(), peaks: [peak(0), peak(%d)]});
    }, 50);
}""" % (decks.LOWEST, decks.STEP, FAR)


@pytest.fixture
def chromium(whole_chromium):
    return whole_chromium


def two_songs(visit, party, house, paths, **settings):
    """A page that is the deck, of a room with two songs in its queue, the first of which is heard."""
    room = party(parties.empty, house)
    page, tracks = opened(visit, house, room, paths)
    decks.run(page, "async (app, settings) => { Object.assign(await app.device(), settings); }", settings)
    start(page)
    entries = [room.tell("Mina", "enqueue", track=track)["entry"] for track in tracks]
    return room, page, entries


def levels(page):
    return page.evaluate("levels")


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def test_songs_fade_into_each_other_as_loud(visit, party, house, tmp_path):
    room, page, entries = two_songs(visit, party, house, decks.make_songs(tmp_path, FAR + 1, 4.5, ("wav", "flac"))[::FAR], fadeMs=2000)
    room.tell("Mina", "play", entry=entries[0])
    hears(page, 0)
    page.evaluate(SAMPLE)
    hears(page, FAR, 2000)
    found = levels(page)
    both = [one for one in found if min(one["peaks"]) > -54]
    begin, end = both[0]["at"], both[-1]["at"]
    steady = [median([one["level"] for one in found if begin - 1500 < one["at"] < begin - 400]),
              median([one["level"] for one in found if end + 200 < one["at"] < end + 1500])]
    faded = [one["level"] for one in found if begin <= one["at"] <= end]
    print("fade", end - begin, "ms; levels", steady, "least", min(faded), "most", max(faded))
    assert 1400 < end - begin < 2600
    assert min(faded) >= min(steady) - 2 and max(faded) <= max(steady) + 2
    assert abs(steady[0] - steady[1]) < 1


def test_without_a_fade_there_is_no_silence(visit, party, house, tmp_path):
    room, page, entries = two_songs(visit, party, house, decks.make_songs(tmp_path, 2, 2.2, ("opus", "mp3")), fadeMs=0)
    room.tell("Mina", "play", entry=entries[0])
    hears(page, 1, 400)
    (begin, end), = nights.gaps_of(tones(page))
    print("silence", end - begin)
    assert end - begin <= nights.BUSY * nights.GAP_MS
    assert not any(song["silences"] for song in tones(page))


def noise(path, lufs):
    """Ten seconds of noise of a loudness."""
    def made(volume, out):
        return subprocess.run(
            ["ffmpeg", "-v", "info", "-y", "-nostats", "-f", "lavfi", "-i", "anoisesrc=color=pink:sample_rate=48000:duration=10:seed=7:amplitude=0.25",
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
    room, page, entries = two_songs(visit, party, house, paths)
    measured = until(page, lambda: decks.run(page, """async app => {
        const found = [...(await app.device()).library.songs.values()].sort((a, b) => a.name < b.name ? -1 : 1).map(one => one.lufs);
        return found.every(Number.isFinite) && found;
    }"""), "both have been looked at")
    assert measured == pytest.approx([-8, -23], abs=0.5)
    heard = []
    for entry in entries:
        room.tell("Mina", "play", entry=entry)
        until(page, lambda: room.state()["playback"]["entry"] == entry and decks.deck(page)["heard"]["isHeard"]
              and decks.deck(page)["heard"]["positionMs"] > 2000, "it is heard")
        heard.append(average(page))
    decks.run(page, "app => { app.playing.volume = 0.5; }")
    heard.append(average(page))
    print("LUFS", measured, "heard", heard)
    assert min(heard) > -60 and abs(heard[0] - heard[1]) <= 1
    assert heard[2] - heard[1] == pytest.approx(-6.02, abs=0.5)
