"""What the page's worker finds in files of music, by the browser's own decoders."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import time

import pytest

import browsers

TONES = pathlib.Path(__file__).with_name("tones.mjs")

FILES = ["vbr.mp3", "music.m4a", "music.flac", "music.ogg", "music.opus", "music.wav"]
"""One of each format."""

WHOLE = """async input => {
    // The page's own modules, with its own policy.
    const script = document.querySelector('script[type=module]').src;
    const [{app}, {Analysis}] = await Promise.all([import(script), import(new URL('deck/analysis.js', script).href)]);
    const files = new Map([...input.files].map(file => [file.name, file]));
    const songs = new Map([...files.values()].map(file => [file.name, {sourceId: file.name, title: file.name, size: file.size}]));
    const longest = {ms: 0};
    new PerformanceObserver(list => list.getEntries().forEach(one => { longest.ms = Math.max(longest.ms, one.duration); }))
        .observe({type: 'longtask'});
    const results = {}, library = {
        songs, file: async song => files.get(song.sourceId),
        remember: (id, found) => Object.assign(songs.get(id), found),
    };
    let started = performance.now();
    await new Promise(all => {
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


def find_in(page, paths):
    """Has a page look at files: what it found in each, and its longest task meanwhile in milliseconds."""
    page.evaluate("""() => {
        const input = document.createElement('input');
        Object.assign(input, {type: 'file', multiple: true, id: 'analysed', hidden: true});
        document.querySelector('#analysed')?.remove();
        document.body.append(input);
    }""")
    page.locator("#analysed").set_input_files([str(path) for path in paths])
    answer = page.locator("#analysed").evaluate(WHOLE)
    return answer["results"], answer["longestTaskMs"]


def make_tones(folder, names):
    """Makes files and what is to be found in them: name → {waveform, lufs, seconds}."""
    subprocess.run(["node", str(TONES), str(folder), *names], check=True, timeout=120)
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in names}
