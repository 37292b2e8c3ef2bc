"""Files of music for tests in browsers, and what the page's worker finds in them."""

import json
import pathlib
import subprocess

TONES = pathlib.Path(__file__).with_name("tones.mjs")

FORMATS = ["vbr.mp3", "music.m4a", "music.flac", "music.ogg", "music.opus", "music.wav"]
"""One of each format."""

LOOK = """async (input, {within}) => {
    // The page's own modules, with its own policy.
    const script = document.querySelector('script[type=module]').src;
    const [{app}, {Analysis}] = await Promise.all([import(script), import(new URL('deck/analysis.js', script).href)]);
    const files = new Map([...input.files].map(file => [file.name, file])), longest = {ms: 0};
    const songs = new Map([...files.keys()].map(name => [name, {sourceId: name, title: name, size: files.get(name).size}]));
    if (PerformanceObserver.supportedEntryTypes.includes('longtask'))
        new PerformanceObserver(list => list.getEntries().forEach(one => { longest.ms = Math.max(longest.ms, one.duration); }))
            .observe({type: 'longtask'});
    const results = {}, library = {
        songs, file: async song => files.get(song.sourceId),
        remember: (id, found) => Object.assign(songs.get(id), found),
    };
    let started = performance.now();
    await new Promise((all, late) => {
        setTimeout(() => late(new Error(`not done: ${JSON.stringify(analysis.state)}`)), within);
        const analysis = new Analysis({library, scriptURL: app.scriptURL, done: song => {
            const now = performance.now();
            results[song.sourceId] = {lufs: song.lufs, durationMs: song.durationMs, ms: now - started,
                waveform: song.waveform && [...song.waveform]};
            started = now;
            if (Object.keys(results).length === files.size) { analysis.close(); all(); }
        }});
        analysis.want([...songs.keys()]);
    });
    return {results, longestTaskMs: longest.ms};
}"""
"""Has the page's analysis look at the files of an `<input>`."""


def make_tones(folder, names):
    """Makes files and what is to be found in them: name → {waveform, lufs, seconds}."""
    subprocess.run(["node", str(TONES), str(folder), *names], check=True, timeout=120)
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in names}


def lengthen(path, seconds):
    """A file with the music of another one again and again, for so long: `4m-music.mp3` beside `music.mp3`."""
    longer = path.with_name(f"{seconds}s-{path.name}")
    loop = ["ffmpeg", "-nostdin", "-v", "error", "-y", "-stream_loop", "-1", "-i"]
    if path.suffix == ".flac":
        # Frames of FLAC are numbered: they are made anew.
        subprocess.run([*loop, path, "-t", str(seconds), "-compression_level", "0", longer], check=True, timeout=600)
    else:
        subprocess.run([*loop, path, "-c", "copy", "-t", str(seconds), longer], check=True, timeout=600)
    return longer


def pick(page, paths):
    """An `<input>` of the page with these files, as if somebody had picked them."""
    page.evaluate("""() => {
        document.querySelector('#analysed')?.remove();
        const input = document.createElement('input');
        Object.assign(input, {type: 'file', multiple: true, id: 'analysed', hidden: true});
        document.body.append(input);
    }""")
    page.locator("#analysed").set_input_files([str(path) for path in paths])
    return page.locator("#analysed")


def look_at(page, paths, within=60_000):
    """Has a page look at files.

    What it found by name (`waveform`, `lufs`, `durationMs`, and how long that took, `ms`), and the longest task of the
    page meanwhile in milliseconds.
    """
    answer = pick(page, paths).evaluate(LOOK, {"within": within}, timeout=within + 10_000)
    return answer["results"], answer["longestTaskMs"]


def renderer_mb(browser):
    """What the largest renderer of a Chromium has held at most, in MB: resident memory, as the system counts it."""
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    peaks = [0]
    for process in processes:
        if process["type"] == "renderer":
            status = pathlib.Path(f"/proc/{process['id']}/status").read_text().split("VmHWM:")[1]
            peaks.append(int(status.split()[0]) / 1024)
    return max(peaks)


def measure(page, path):
    """Time and memory of a look at one file: (ms, longest task in ms, MB of the largest renderer)."""
    results, longest = look_at(page, [path], within=300_000)
    return results[path.name]["ms"], longest, renderer_mb(page.context.browser)


def difference(found, expected):
    """How much a waveform differs at most."""
    return max(abs(one - other) for one, other in zip(found, expected, strict=True))
