"""Pages that play: files of music, and ears that write down which song sounds when.

Each song is a tone of its own, so that the sound itself says which one is heard.
"""

import json
import pathlib
import subprocess

import backline
import browsers

LOWEST, STEP = 400, 60
"""The first song's tone, and the distance of two, in Hz."""

ENDINGS = ("mp3", "flac", "ogg", "opus", "m4a", "wav")

SILENCE = -75
"""Decibels below which nothing is heard."""

EARS = """(() => {
    if (window !== top || !/^https:/.test(location.protocol)) return;
    const LOWEST = %(lowest)d, STEP = %(step)d, SILENCE = %(silence)d, KEY = 'test.heard';
    const made = [], Native = window.Audio;
    const kept = () => JSON.parse(localStorage.getItem(KEY) ?? '[]');
    let now = null, context = null, analyser = null, bins = null;
    const save = segment => localStorage.setItem(KEY, JSON.stringify([...kept(), segment]));
    window.ears = {heard: () => now ? [...kept(), now] : kept(), elements: made, level: () => 0};
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
        analyser = new AnalyserNode(context, {fftSize: 2048, smoothingTimeConstant: 0});
        bins = new Float32Array(analyser.frequencyBinCount);
        const samples = new Float32Array(2048);
        analyser.connect(context.destination);
        made.forEach(connect);
        window.ears.level = () => {
            analyser.getFloatTimeDomainData(samples);
            return 10 * Math.log10(samples.reduce((sum, one) => sum + one * one, 0) / samples.length + 1e-12);
        };
        window.ears.bins = () => { analyser.getFloatFrequencyData(bins); return bins; };
        window.ears.context = context;
        window.ears.analyser = analyser;
        setInterval(() => {
            analyser.getFloatFrequencyData(bins);
            let best = 0;
            for (let bin = 8; bin < bins.length; bin++) if (bins[bin] > bins[best]) best = bin;
            const tone = bins[best] < SILENCE ? null : Math.round((best * context.sampleRate / 2048 - LOWEST) / STEP);
            const at = Date.now();
            if (now && now.tone === tone) now.to = at;
            else {
                if (now) save(now);
                now = {tone, from: at, to: at};
            }
        }, 20);
    };
    addEventListener('pointerdown', listen, {capture: true});
    addEventListener('pagehide', () => { if (now) save(now); now = null; });
})();""" % {"lowest": LOWEST, "step": STEP, "silence": SILENCE}


def title(number):
    return f"Tone {number:02}"


def make_songs(folder, count, seconds, endings=ENDINGS, decibels=-12.0):
    """Files of music in a folder, each a tone: the song of a number has that title."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number in range(count):
        ending = endings[number % len(endings)]
        path = folder / f"{number:02}.{ending}"
        if not path.exists():
            # A sine of full scale of ffmpeg's has an amplitude of 1/8.
            subprocess.run(
                ["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i",
                 f"sine=frequency={LOWEST + STEP * number}:sample_rate=48000:duration={seconds}",
                 "-af", f"volume={18.06 + decibels}dB", "-ac", "2", "-metadata", f"title={title(number)}",
                 "-metadata", "artist=Generator", *_codec(ending), str(path)], check=True)
        made.append(path)
    return made


def _codec(ending):
    return {"opus": ["-c:a", "libopus", "-b:a", "96k"], "ogg": ["-c:a", "libvorbis"], "mp3": ["-c:a", "libmp3lame"],
            "m4a": ["-c:a", "aac"]}.get(ending, [])


def listening(context):
    """Gives the pages of a profile ears. Call it before they are opened."""
    context.add_init_script(EARS)


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
            }""", [path.name, __import__("base64").b64encode(path.read_bytes()).decode()])
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
    """What has been heard so far: `{tone, from, to}`, silences with the tone None. Times are in ms."""
    return page.evaluate("() => ears.heard()")


def deck(page):
    """The state of this page's device."""
    return run(page, """async app => {
        const device = await app.device();
        const {phase, wants, leading, otherTab, lostTo, missing, pausedBySystem} = device;
        return {phase, wants, leading, otherTab, lostTo, missing: missing && missing.track.title, pausedBySystem, heard: device.heard};
    }""")
