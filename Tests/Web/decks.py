"""Pages that play: files of music, and ears that write down which song sounds when.

Each song is a tone of its own, so that the sound itself says which one is heard.
"""

import base64
import pathlib
import re
import subprocess

LOWEST, STEP = 400, 60
"""The first song's tone, and the distance of two, in Hz."""

ENDINGS = ("mp3", "flac", "ogg", "opus", "m4a", "wav")

NO_PICKER = "delete window.showOpenFilePicker; delete window.showDirectoryPicker;"
"""A browser without a picker of its own, which no test can answer: the page has an element for files."""

SILENCE = -75
"""Decibels below which nothing is heard."""

WINDOW = 2048
"""Samples that the ears hear at once, each 20 ms."""

EARS = """(() => {
    if (window !== top || !/^https:/.test(location.protocol)) return;
    const LOWEST = %(lowest)d, STEP = %(step)d, SILENCE = %(silence)d, WINDOW = %(window)d, KEY = 'test.heard';
    const made = [], Native = window.Audio;
    const kept = () => JSON.parse(localStorage.getItem(KEY) ?? '[]');
    const save = segment => localStorage.setItem(KEY, JSON.stringify([...kept(), segment]));
    let now = null;
    const write = tone => {
        const at = Date.now();
        if (now && now.tone === tone) now.to = at;
        else {
            if (now) save(now);
            now = {tone, from: at, to: at, isFirst: !now};
        }
    };
    window.ears = {heard: () => now ? [...kept(), now] : kept(), elements: made, level: () => 0};
    addEventListener('pagehide', () => { if (now) save(now); now = null; });
    %%s
})();""" % {"lowest": LOWEST, "step": STEP, "silence": SILENCE, "window": WINDOW}
"""Ears of a page, which `ears` gives to a test, but for how they hear."""

REAL = EARS % """
    let context = null, analyser = null, bins = null;
    window.Audio = function (...given) {
        const element = new Native(...given);
        made.push(element);
        if (context) connect(element);
        // A page that may play without a tap may listen without one.
        else element.addEventListener('playing', listen);
        return element;
    };
    const connect = element => context.createMediaElementSource(element).connect(analyser);
    const listen = () => {
        if (context) return;
        context = new AudioContext();
        analyser = new AnalyserNode(context, {fftSize: WINDOW, smoothingTimeConstant: 0});
        bins = new Float32Array(analyser.frequencyBinCount);
        const samples = new Float32Array(WINDOW);
        analyser.connect(context.destination);
        made.forEach(connect);
        window.ears.level = () => {
            analyser.getFloatTimeDomainData(samples);
            return 10 * Math.log10(samples.reduce((sum, one) => sum + one * one, 0) / samples.length + 1e-12);
        };
        window.ears.bins = () => { analyser.getFloatFrequencyData(bins); return bins; };
        window.ears.context = context;
        setInterval(() => {
            analyser.getFloatFrequencyData(bins);
            let best = 0;
            for (let bin = 8; bin < bins.length; bin++) if (bins[bin] > bins[best]) best = bin;
            write(bins[best] < SILENCE ? null : Math.round((best * context.sampleRate / WINDOW - LOWEST) / STEP));
        }, 20);
    };
    addEventListener('pointerdown', listen, {capture: true});
"""
"""Hears sound: in real time, and so only where nothing runs beside."""

MODEL = EARS % ("""
    const {Media, Music} = (() => {
        %s
        return {Media, Music};
    })();
    const listen = () => write(media.sounds.sort((one, other) => other.volume - one.volume)[0]?.name ?? null);
    const media = new Media({clock: {
        get now() { return performance.now(); },
        after: (run, ms) => setTimeout(() => { run(); listen(); }, ms),
        cancel: timer => clearTimeout(timer),
    }});
    media.ports.elements = made;
    const {createObjectURL} = URL;
    URL.createObjectURL = blob => {
        const url = createObjectURL.call(URL, blob), [, tone = 0, seconds = 90] = /^(\\d+)-(.+)s\\./.exec(blob.name) ?? [];
        media.urls.set(url, blob.name ? new Music(Number(tone), Number(seconds)) : new Music(null, 0.1));
        return url;
    };
    window.Audio = function () {
        made.push(media.ports.element());
        return made.at(-1);
    };
    window.ears.end = () => { for (const {element, at} of media.sounds) element.music.seconds = at + 0.3; };
    setInterval(listen, 20);
""" % re.sub(r"^import .*$|^export ", "", pathlib.Path(__file__).with_name("fake-media.mjs").read_text(encoding="utf-8"), flags=re.M))
"""Hears what the elements of `fake-media.mjs` would play, which are those of the page."""


def title(number):
    return f"Tone {number:02}"


def make_songs(folder, count, seconds, endings=ENDINGS, rate=48_000):
    """Files of music in a folder, each a tone: the song of a number has that title. What is there is not made again."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number in range(count):
        ending = endings[number % len(endings)]
        path = folder / f"{number:02}-{seconds:g}s.{ending}"
        if not path.exists():
            # A sine of full scale of ffmpeg's has an amplitude of 1/8.
            subprocess.run(
                ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i",
                 f"sine=frequency={LOWEST + STEP * number}:sample_rate={rate}:duration={seconds}",
                 "-af", "volume=6.06dB", "-ac", "2" if rate == 48_000 else "1", "-metadata", f"title={title(number)}",
                 "-metadata", "artist=Generator", *_codec(ending), str(path)], check=True)
        made.append(path)
    return made


def _codec(ending):
    return {"opus": ["-c:a", "libopus", "-b:a", "96k"], "ogg": ["-c:a", "libvorbis"], "mp3": ["-c:a", "libmp3lame"],
            "m4a": ["-c:a", "aac"]}.get(ending, [])


def listening(context, ears=MODEL):
    """Gives the pages of a profile ears. Call it before they are opened."""
    context.add_init_script(ears)


def end(page):
    """Ends the song that sounds in the model's element, as one whose header has claimed more."""
    page.evaluate("() => ears.end()")


def run(page, script, *arguments):
    """Runs a function of `app`, the page's parts, and gives its result; a promise is awaited."""
    return page.evaluate(
        """async ([source, given]) => {
            const {app} = await import(document.querySelector('script[type=module]').src);
            return (%s)(app, ...given);
        }""" % script, [None, list(arguments)])


def keep_files(page, paths):
    """Puts files into the browser's own folder, and adds them to the library by their handles, as the deck's songs."""
    folder = page.evaluate("() => navigator.storage.getDirectory().then(root => root.getDirectoryHandle('music', {create: true})).then(() => 'music')")
    for path in paths:
        page.evaluate(
            """async ([name, text]) => {
                const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('music');
                const file = await (await folder.getFileHandle(name, {create: true})).createWritable();
                await file.write(Uint8Array.from(atob(text), one => one.charCodeAt(0)));
                await file.close();
            }""", [path.name, base64.b64encode(path.read_bytes()).decode()])
    return run(page, """async (app, folder) => {
        const device = await app.device();
        await device.ready;
        const handle = await (await navigator.storage.getDirectory()).getDirectoryHandle(folder);
        const {songs, skipped} = await device.library.add([handle]);
        return {songs: songs.length, skipped};
    }""", folder)


def add_tracks(page):
    """Adds the library's songs to the room."""
    return run(page, """async app => {
        const {library} = await app.device();
        const tracks = [...library.songs.values()].sort((a, b) => a.name < b.name ? -1 : 1).map(song => library.toTrack(song));
        return (await app.store.send({type: 'addTracks', tracks})).tracks;
    }""")


def heard(page):
    """What has been heard so far: `{tone, from, to, isFirst}`, silences with the tone None. Times are in ms.

    Before the first one of a page nobody listened.
    """
    return page.evaluate("() => ears.heard()")


def deck(page):
    """The state of this page's device."""
    return run(page, """async app => {
        const device = await app.device();
        const {phase, wants, leading, otherTab, lostTo, missing, pausedBySystem} = device;
        return {phase, wants, leading, otherTab, lostTo, missing: missing && missing.track.title, pausedBySystem, heard: device.heard};
    }""")
