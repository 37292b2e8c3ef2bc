"""What the page's worker finds in files of music, by the browser's own decoders."""

import random

import pytest

import backline
import browsers
import music

SHORT = ["vbr.mp3", "plain.mp3", "mpeg25.mp3", "music.m4a", "pieces.mp4", "surround.m4a", "music.flac", "fine.flac",
         "music.ogg", "music.opus", "mono.opus", "music.wav", "silence.wav", "tiny.wav", "tiny.mp3", "tiny.opus"]

LONGEST_TASK_MS = 250
"""The page's own thread does no more at once: its worker decodes. `Benchmarks/page.py` has the limit of a quiet machine."""

WITHOUT_WEBCODECS = "delete self.AudioDecoder;\n"

HANGS = "postMessage({ready: true}); onmessage = () => { for (;;); };"

START = """async (input, {failing}) => {
    const script = document.querySelector('script[type=module]').src;
    const [{app}, {Analysis}] = await Promise.all([import(script), import(new URL('deck/analysis.js', script).href)]);
    const songs = new Map([...input.files].map(file => [file.name, {sourceId: file.name, title: file.name, size: file.size, file}]));
    const kept = document.body.appendChild(document.createElement('ol'));
    kept.id = 'kept';
    const say = text => { kept.appendChild(document.createElement('li')).textContent = text; };
    const library = {
        songs, state: {permission: 'prompt'},
        file: async song => { if (failing.includes(song.sourceId)) throw Object.assign(new Error(), {why: 'permission'}); return song.file; },
        remember: (id, found) => { say(`${id} seen ${found.lufs}`); Object.assign(songs.get(id), found); },
    };
    const done = song => { if (!song.waveform) say(`${song.sourceId} failed`); };
    const analysis = new Analysis({library, scriptURL: app.scriptURL, done});
    globalThis.looking = {analysis, library, failing};
    analysis.want([...songs.keys()]);
}"""
"""Begins to look at files; what the library would keep, and what failed, is a list on the page."""


@pytest.fixture(scope="module")
def tones(tmp_path_factory):
    """A folder with files, and what is to be found in them."""
    folder = tmp_path_factory.mktemp("tones")
    return folder, music.make_tones(folder, sorted({*SHORT, *music.FORMATS, "mulaw.wav", "adpcm.wav", "alac.m4a", "layer2.mp3"}))


def is_near(found, expected):
    """Whether a loudness is that of ffmpeg, ± 0.2 LU; below −69 there is none."""
    return found is None if expected < -69 else found is not None and abs(found - expected) <= 0.2


def test_waveforms_and_loudness_are_those_of_ffmpeg(house, visit, tones):
    """Every format: columns ± 2, loudness ± 0.2 LU, the length without what encoders put before and behind."""
    folder, expected = tones
    page = visit(house, "/")
    found, _ = music.look_at(page, [folder / name for name in SHORT])
    wrong = []
    for name in SHORT:
        mine, theirs = found[name], expected[name]
        differs = music.difference(mine["waveform"], theirs["waveform"]) if mine["waveform"] else None
        print(f"{name}: columns ±{differs}, {mine['lufs']} LUFS (ffmpeg {theirs['lufs']}), {mine['durationMs']} ms, in {mine['ms']:.0f} ms")
        if differs is None or differs > 2 or abs(mine["durationMs"] - 1000 * theirs["seconds"]) > 10:
            wrong.append(name)
        # ffmpeg pads what is shorter than a block.
        elif not is_near(mine["lufs"], theirs["lufs"]) and theirs["seconds"] > 1:
            wrong.append(name)
    assert not wrong


@pytest.mark.soak("times and memory are measured")
def test_two_minutes_of_each_format(house, visit, tones):
    """Memory: the limit is five times that of the benchmark, which looks at longer files, and at the time, too."""
    folder, _ = tones
    page = visit(house, "/")
    for name in music.FORMATS:
        with browsers.longest_task(page) as longest:
            _, _, megabytes = music.measure(page, music.lengthen(folder / name, 120))
        print(f"{name}: longest task {longest['ms']:.0f} ms, largest renderer {megabytes:.0f} MB (350)")
        assert longest["ms"] <= LONGEST_TASK_MS and megabytes <= 1750


def take_webcodecs(page):
    """Has the page's worker find no decoders."""
    worker = page.evaluate("""() => fetch(new URL('deck/analysis-worker.js', document.querySelector('script[type=module]').src))
        .then(answer => answer.text())""")
    page.route("**/deck/analysis-worker.js", lambda route: route.fulfill(
        body=WITHOUT_WEBCODECS + worker, content_type="text/javascript"))


@pytest.mark.soak("times are measured")
def test_without_webcodecs_no_task_is_long(house, visit, tones):
    folder, _ = tones
    page = visit(house, "/")
    take_webcodecs(page)
    with browsers.longest_task(page) as longest:
        music.look_at(page, [folder / name for name in music.FORMATS])
    assert longest["ms"] <= LONGEST_TASK_MS


def test_without_webcodecs_the_browser_decodes_files_whole(house, visit, tones):
    """Browsers without `AudioDecoder`, and codecs that it does not know; what nothing decodes has no waveform."""
    folder, expected = tones
    page = visit(house, "/")
    names = ["mulaw.wav", "adpcm.wav", "alac.m4a", "layer2.mp3"]
    found, _ = music.look_at(page, [folder / name for name in names])
    assert music.difference(found["mulaw.wav"]["waveform"], expected["mulaw.wav"]["waveform"]) <= 40
    assert [(found[name]["waveform"], found[name]["lufs"]) for name in names[1:]] == [(None, None)] * 3

    take_webcodecs(page)
    found, _ = music.look_at(page, [folder / name for name in music.FORMATS])
    for name in music.FORMATS:
        mine, theirs = found[name], expected[name]
        print(f"{name}: {mine['lufs']} LUFS (ffmpeg {theirs['lufs']}), {mine['durationMs']} ms, in {mine['ms']:.0f} ms")
        # At 22,050 Hz without the highest notes.
        assert music.difference(mine["waveform"], theirs["waveform"]) <= 40 and abs(mine["lufs"] - theirs["lufs"]) <= 1
        assert abs(mine["durationMs"] - 1000 * theirs["seconds"]) <= 60


def test_damaged_files_end(house, visit, tones, tmp_path, seed):
    """Damage in the middle is heard past. Files that were changed and cut at random end somehow, and the page is well."""
    folder, expected = tones
    chosen, paths = random.Random(seed), []

    def write(name, data):
        paths.append(tmp_path / name)
        paths[-1].write_bytes(data)

    # The same bytes always: others may be a loud noise.
    damage = random.Random(1).randbytes(20)
    for name in music.FORMATS:
        data = bytearray((folder / name).read_bytes())
        middle = len(data) // 2
        data[middle:middle + 20] = damage
        write(f"hurt-{name}", data)
    for number in range(18):
        name = music.FORMATS[number % len(music.FORMATS)]
        data = bytearray((folder / name).read_bytes())
        for _ in range(chosen.choice([1, 10, 200])):
            at = chosen.randrange(len(data)) if chosen.random() < 0.8 else chosen.randrange(2000)
            data[at:at + 1] = chosen.randbytes(chosen.choice([0, 1, 1, 1, 30]))
        if chosen.random() < 0.3:
            del data[chosen.randrange(len(data)):]
        write(f"{number}-{name}", data)
    page = visit(house, "/")
    found, _ = music.look_at(page, [*paths, folder / "music.flac"])
    for name in music.FORMATS:
        mine, theirs = found[f"hurt-{name}"], expected[name]
        print(f"{name}: {mine['lufs']} LUFS (whole {theirs['lufs']}), {mine['durationMs']} ms")
        # A damaged packet may be loud: that is what people hear.
        assert mine["waveform"] and mine["lufs"] < 5 and abs(mine["durationMs"] - 1000 * theirs["seconds"]) <= 500
    print(f"{sum(1 for one in found.values() if one['waveform'])} of {len(found)} have a waveform")
    assert all(one["waveform"] is None or len(one["waveform"]) == 2048 for one in found.values())
    assert found["music.flac"]["waveform"]


def test_a_file_that_hangs_is_given_up_and_the_worker_ends(house, visit, tones):
    """A worker that says nothing is ended; songs that could not be read wait; the worker ends when nothing is left."""
    folder, _ = tones
    page = visit(house)
    page.clock.install()
    page.goto("/")
    hanging = [True]
    page.route("**/deck/analysis-worker.js", lambda route: route.fulfill(
        body=HANGS, content_type="text/javascript") if hanging[0] else route.continue_())
    # The browser cannot decode it whole either.
    files = music.pick(page, [folder / name for name in ("adpcm.wav", "music.wav", "music.opus")])
    files.evaluate(START, {"failing": ["music.opus"]})
    backline.eventually(lambda: page.evaluate("looking.analysis.state.name") == "adpcm.wav" and page.workers, "the worker runs")
    assert page.evaluate("looking.analysis.state.waiting") == 3
    hanging[0] = False
    failed = page.locator("#kept li").get_by_text("adpcm.wav failed")

    def is_given_up():
        if not failed.count():
            page.clock.fast_forward(16_000)
            page.wait_for_timeout(300)
        return failed.count()

    backline.eventually(is_given_up, "the file is given up", 90)
    page.clock.run_for(1000)
    page.locator("#kept li").get_by_text("music.wav seen -").wait_for(state="attached")
    assert page.evaluate("looking.analysis.state.waiting") == 1, "the song without permission waits"
    # What is known is not looked at again. With the permission, the rest is.
    page.evaluate("looking.failing.length = 0; looking.library.state.permission = 'granted'; looking.analysis.want(['adpcm.wav', 'music.wav', 'music.opus'])")
    page.clock.run_for(1000)
    page.locator("#kept li").get_by_text("music.opus seen -").wait_for(state="attached")
    assert page.locator("#kept li").count() == 3
    backline.eventually(lambda: page.evaluate("0") == 0 and len(page.workers) == 1, "the worker that hung has ended")
    page.clock.fast_forward(31_000)
    backline.eventually(lambda: page.evaluate("0") == 0 and not page.workers, "the worker has ended")
