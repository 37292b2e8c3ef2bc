#!/usr/bin/env python3
"""The page in Chromium: weight and time of a first visit, work while a song plays, large rooms, and votes.

    Benchmarks/page.py [--runs 5] [--only first-visit …] [--out FILE]

It starts the built server and Debian's Chromium, which trusts the server's certificate through its own store. Each
figure is the median of some runs, each with a new profile. "4×" is the browser's own slow-down of its processor. A
network of 100 ms and 8 Mbit/s is a relay that holds back each byte for 50 ms and opens a connection after one round
trip. The limits stand beside the figures; the exit code is 1 if a figure is over its limit.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parents[1]
PYTHON = TREE / ".venv" / "bin" / "python"


def enter() -> None:
    """Starts the program again in the tests' Python, with everything installed, in a network of its own."""
    if os.environ.get("BACKLINE_BENCHMARK") != "page":
        subprocess.run(
            ["bash", "-c", 'source Scripts/prerequisites && need_packages openssl "${web_packages[@]}" && need_python'],
            cwd=TREE, check=True, stdout=sys.stderr)
        os.environ["BACKLINE_BENCHMARK"] = "page"
        apart = ["unshare", "--net", "--"] if os.geteuid() == 0 else []
        os.execvp([*apart, "env"][0], [*apart, "env", str(PYTHON), *sys.argv])
    if os.geteuid() == 0:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


enter()
os.environ.setdefault("BACKLINE_PROGRAM", str(TREE / ".build" / "release" / "backline"))
sys.path[1:1] = [str(TREE / "Tests" / "Web"), str(TREE / "Tests" / "EndToEnd")]

import playwright.sync_api  # noqa: E402

import browsers  # noqa: E402
import decks  # noqa: E402
import music  # noqa: E402
import parties  # noqa: E402
import serving  # noqa: E402
import steps  # noqa: E402
import trust  # noqa: E402
import wires  # noqa: E402

VOTE_AT_ONCE = """
(() => {
    if (location.protocol !== 'https:') return;
    let tapped = null;
    const looking = setInterval(() => {
        const button = tapped ?? document.querySelector('[data-pane=requests] [data-do=vote]:not([aria-disabled=true])');
        if (!button) return;
        window.shownAt ??= performance.now();
        if (button.getAttribute('aria-busy') === 'true') return;
        if (tapped && button.getAttribute('aria-pressed') === 'true') {
            window.votedAt = performance.now();
            document.documentElement.dataset.voted = 'yes';
            clearInterval(looking);
        } else {
            button.click();
            tapped = button;
        }
    }, 5);
})();
"""


class Bench:
    """A browser, a server, and rooms at it."""

    def __init__(self, stack, folder, runs):
        self.runs, self.folder = runs, folder
        self.authority = trust.Authority(folder)
        driver = stack.enter_context(playwright.sync_api.sync_playwright())
        self.chromium = stack.enter_context(contextlib.closing(browsers.Chromium(driver, self.authority.home())))
        self.server = stack.enter_context(serving.make_server(self.authority, folder / "data"))
        self.stack = stack
        self.party = stack.enter_context(parties.rooftop(self.server, present=True))
        self.members = 0
        self._large = None

    @property
    def large(self):
        if not self._large:
            self._large = self.stack.enter_context(parties.large(self.server))
        return self._large

    def member(self, party):
        """Somebody new who has joined."""
        self.members += 1
        return party.admit(party.line.session(f"Visitor {self.members}"))

    @contextlib.contextmanager
    def page(self, party=None, server=None, slow=1, path=None, script=None, person=None, **options):
        context = self.chromium.context(server or self.server, **options)
        try:
            if person or party:
                browsers.sign_in(context, person or self.member(party))
            if script:
                context.add_init_script(script)
            page = context.new_page()
            session = context.new_cdp_session(page)
            page.cdp = session
            if slow > 1:
                session.send("Emulation.setCPUThrottlingRate", {"rate": slow})
            if path is not None or party:
                page.goto(path or party.path, wait_until="commit")
            yield page
        finally:
            context.close()

    def cpu_seconds(self):
        """Processor time so far of the browser's renderers and its GPU process."""
        session = self.chromium.browser.new_browser_cdp_session()
        try:
            processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
        finally:
            session.detach()
        return sum(one["cpuTime"] for one in processes if one["type"] in ("renderer", "GPU"))


def weight(bench):
    """Bytes and requests of a guest's first visit, without the socket's messages."""
    content, sizes, urls = {}, {}, {}

    def responded(event):
        fields = {name.lower(): value for name, value in event["response"]["headers"].items()}
        content[event["requestId"]] = int(fields.get("content-length", 0))

    with bench.page(person=None) as page:
        page.cdp.on("Network.responseReceived", responded)
        page.cdp.send("Network.enable")
        page.cdp.on("Network.requestWillBeSent", lambda event: urls.update({event["requestId"]: event["request"]["url"]}))
        page.cdp.on("Network.webSocketCreated", lambda event: urls.update({event["requestId"]: event["url"]}))
        page.cdp.on("Network.loadingFinished", lambda event: sizes.update({event["requestId"]: event["encodedDataLength"]}))
        page.goto(bench.party.path)
        steps.on_air(page, parties.ON_AIR[0])
        page.wait_for_load_state("networkidle")
        return {"content": sum(content.values()), "bytes": sum(sizes.values()), "requests": len(urls)}


def usable(bench, party, slow=4, delay=0.0, rate=None):
    """Milliseconds from the beginning of the navigation to the room on the screen, and to an accepted vote."""
    with contextlib.ExitStack() as stack:
        server = bench.server
        if delay:
            server = stack.enter_context(wires.Wire(bench.server, delay=delay, rate=rate))
        page = stack.enter_context(bench.page(party, server=server, slow=slow, script=VOTE_AT_ONCE))
        page.locator("html[data-voted=yes]").wait_for(state="attached", timeout=60_000)
        return {"shown": page.evaluate("shownAt"), "voted": page.evaluate("votedAt")}


def metrics(page):
    return {one["name"]: one["value"] for one in page.cdp.send("Performance.getMetrics")["metrics"]}


def while_untouched(bench, page, seconds):
    """Work a second of a page that nobody touches, once what follows a first visit is there: the worker, later styles."""
    page.wait_for_load_state("networkidle")
    page.locator("link[rel=manifest]").wait_for(state="attached", timeout=30_000)
    page.wait_for_load_state("networkidle")
    page.cdp.send("Performance.enable")
    before, used = metrics(page), bench.cpu_seconds()
    time.sleep(seconds)
    after, used = metrics(page), bench.cpu_seconds() - used
    took = after["Timestamp"] - before["Timestamp"]
    return {
        "layouts": (after["LayoutCount"] - before["LayoutCount"]) / took,
        "styles": (after["RecalcStyleCount"] - before["RecalcStyleCount"]) / took,
        "script": (after["ScriptDuration"] - before["ScriptDuration"]) / took * 1000,
        "cpu": used / took * 100,
    }


def playing(bench, seconds=20):
    """Work a second while a song plays and nobody touches the page."""
    with bench.page(bench.party) as page:
        steps.on_air(page, parties.ON_AIR[0])
        return while_untouched(bench, page, seconds)


def frames(bench, seconds=20):
    """Frames a second for a song of 600 s whose waveform is 680 px wide. The clock beside it, which has frames of its
    own, is hidden."""
    party = bench.stack.enter_context(parties.long_song(bench.server))
    with bench.page(party, device=browsers.LAPTOP) as page:
        steps.on_air(page, "Ten minutes")
        steps.waveform_of_680_pixels(page)
        page.locator("link[rel=manifest]").wait_for(state="attached", timeout=30_000)
        page.wait_for_load_state("networkidle")
        with browsers.counting_frames(page) as counts:
            time.sleep(seconds)
        return {name: count / seconds for name, count in counts.items()}


def ten_thousand(bench):
    """A room of 10,000 tracks: memory, rows, the first list, the filter, and scrolling, at a fourth of the speed."""
    with bench.page(bench.large, device=browsers.PHONE) as page:
        steps.on_air(page, parties.ON_AIR[0])
        page.evaluate("""() => import(document.querySelector('script[type=module]').src.replace('main.js', 'view/pool.js'))""")
        page.wait_for_load_state("networkidle")
        page.cdp.send("Emulation.setCPUThrottlingRate", {"rate": 4})
        tab = page.get_by_role("tab", name="All songs")
        first = tab.evaluate("""tab => new Promise(done => {
            const began = performance.now();
            const look = () => {
                if (document.querySelector('[data-pane=pool] li.row .title')?.textContent) done(performance.now() - began);
                else requestAnimationFrame(look);
            };
            tab.click();
            look();
        })""")
        rows = page.locator("[data-pane=pool] li").count()
        scrolled = page.evaluate("""() => new Promise(done => {
            const times = [], list = document.querySelector('[data-pane=pool] track-list');
            let scroller = list;
            while (scroller && scroller.scrollHeight <= scroller.clientHeight + 1) scroller = scroller.parentElement;
            scroller ??= document.scrollingElement;
            let last = 0;
            const step = now => {
                if (last) times.push(now - last);
                last = now;
                scroller.scrollTop += 300;
                if (times.length < 120) requestAnimationFrame(step); else done(times.slice(5));
            };
            requestAnimationFrame(step);
        })""")
        keys = []
        box = page.locator("[data-pane=pool]").get_by_role("searchbox")
        box.evaluate("""box => {
            window.took = [];
            box.addEventListener('input', () => {
                const began = performance.now(), list = document.querySelector('[data-pane=pool]');
                const watch = new MutationObserver(() => { window.took.push(performance.now() - began); watch.disconnect(); });
                watch.observe(list, {subtree: true, childList: true, characterData: true, attributes: true});
            }, {capture: true});
        }""")
        box.scroll_into_view_if_needed()
        box.click()
        for number, key in enumerate("golden"):
            page.keyboard.type(key)
            while page.evaluate("took.length") <= number:
                time.sleep(0.01)
        keys = page.evaluate("took")
        page.cdp.send("Emulation.setCPUThrottlingRate", {"rate": 1})
        page.cdp.send("HeapProfiler.enable")
        for _ in range(2):
            page.cdp.send("HeapProfiler.collectGarbage")
        heap = page.cdp.send("Runtime.getHeapUsage")["usedSize"]
        frames = sorted(scrolled)
        return {
            "first": first, "rows": rows, "heap": heap / 1e6, "median": statistics.median(frames),
            "p95": frames[int(len(frames) * 0.95)], "first key": keys[0], "later keys": max(keys[1:]),
        }


def votes(bench, count=40):
    """Milliseconds from a tap to the count on another page; the 95th percentile."""
    party = bench.party
    with bench.page(party) as one, bench.page(party) as other:
        for page in one, other:
            steps.on_air(page, parties.ON_AIR[0])
        other.evaluate("""() => {
            window.seen = [];
            const button = [...document.querySelectorAll('[data-pane=requests] li.row')]
                .find(row => row.textContent.includes('Second Theory II')).querySelector('[data-do=vote]');
            new MutationObserver(() => window.seen.push(performance.timeOrigin + performance.now()))
                .observe(button, {subtree: true, childList: true, characterData: true});
        }""")
        button = steps.vote_button(one, "requests", "Second Theory II")
        times = []
        for number in range(count):
            tapped = button.evaluate("button => { const at = performance.timeOrigin + performance.now(); button.click(); return at; }")
            while len(seen := other.evaluate("seen")) <= number:
                time.sleep(0.005)
            times.append(seen[number] - tapped)
            while button.get_attribute("aria-busy") == "true":
                time.sleep(0.005)
        return {"p95": sorted(times)[int(len(times) * 0.95)], "median": statistics.median(times)}


def deck_playing(bench, seconds=20):
    """Work a second of a page that plays a song of its own files, untouched."""
    folder = bench.folder / "songs"
    with bench.stack.enter_context(parties.empty(bench.server)) as party, bench.page(
            party, person=party.mina, device=browsers.LAPTOP) as page:
        decks.keep_files(page, decks.make_songs(folder, 1, 60, endings=["mp3"]))
        [track] = decks.add_tracks(page)
        page.get_by_role("button", name="Play on this device").click()
        entry = party.tell("Mina", "enqueue", track=track)["entry"]
        party.tell("Mina", "play", entry=entry)
        steps.on_air(page, decks.title(0))
        return while_untouched(bench, page, seconds)


def looked_at(bench, seconds):
    """A file of so many seconds in each format, or of an hour in one: the slowest, and what it costs the page."""
    folder = bench.folder / "tones"
    folder.mkdir(exist_ok=True)
    names = music.FORMATS if seconds <= 600 else ["vbr.mp3"]
    music.make_tones(folder, names)
    figures = []
    for name in names:
        with bench.page(path="/") as page:
            figures.append(music.measure(page, music.lengthen(folder / name, seconds)))
    ms, longest, megabytes = (max(column) for column in zip(*figures))
    return {"ms": ms, "longest": longest, "megabytes": megabytes}


def code():
    """Lines and files of the page's own JavaScript."""
    files = list((TREE / "Sources" / "WebClient" / "Pages").rglob("*.js"))
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files), len(files)


PARTS = {
    "first-visit": lambda bench: weight(bench),
    "usable": lambda bench: usable(bench, bench.party),
    "usable-far": lambda bench: usable(bench, bench.party, delay=0.05, rate=1_000_000),
    "usable-large": lambda bench: usable(bench, bench.large),
    "playing": playing,
    "frames": frames,
    "large": ten_thousand,
    "votes": votes,
    "deck": deck_playing,
    "file": lambda bench: looked_at(bench, 240),
    "hour": lambda bench: looked_at(bench, 3600),
}

#: Part, figure, what it is, limit, format.
ROWS = (
    ("first-visit", "content", "a guest's first visit, without the snapshot: bytes of compressed content", 60_000, "{:,.0f}"),
    ("first-visit", "bytes", "the same with the heads of all answers", None, "{:,.0f}"),
    ("first-visit", "requests", "requests of a first visit", 24, "{:.0f}"),
    ("usable", "voted", "a vote is accepted, 4×, loopback: ms", 1500, "{:,.0f}"),
    ("usable-far", "voted", "a vote is accepted, 4×, 100 ms and 8 Mbit/s: ms", 2000, "{:,.0f}"),
    ("usable-large", "voted", "a vote is accepted, 4×, loopback, 10,000 tracks: ms", 2000, "{:,.0f}"),
    ("playing", "layouts", "a song plays, page untouched: layouts a second", 2, "{:.1f}"),
    ("playing", "styles", "style updates a second", 8, "{:.1f}"),
    ("playing", "script", "script, ms a second", 5, "{:.1f}"),
    ("playing", "cpu", "renderer and GPU process, % of a core", 5, "{:.1f}"),
    ("frames", "draws", "a song of 600 s, waveform 680 px wide: frames a second", 1.2, "{:.2f}"),
    ("large", "heap", "10,000 tracks: heap after garbage collection, MB", 12, "{:.1f}"),
    ("large", "rows", "row elements", 40, "{:.0f}"),
    ("large", "first", "first list, 4×: ms", 50, "{:.0f}"),
    ("large", "median", "scrolling, 4×: frame, median ms", 20, "{:.1f}"),
    ("large", "p95", "frame, 95th percentile ms", 40, "{:.1f}"),
    ("large", "first key", "filter as you type, 4×: first key, ms", 60, "{:.0f}"),
    ("large", "later keys", "slowest later key, ms", 30, "{:.0f}"),
    ("votes", "p95", "a vote, from the tap to the count on another page: 95th percentile, ms", 50, "{:.0f}"),
    ("deck", "layouts", "the deck plays, page untouched: layouts a second", 2, "{:.1f}"),
    ("deck", "styles", "style updates a second", 8, "{:.1f}"),
    ("deck", "script", "script, ms a second", 5, "{:.1f}"),
    ("deck", "cpu", "renderer and GPU process, % of a core", None, "{:.1f}"),
    ("file", "ms", "waveform and loudness of a file of 4 minutes, slowest of six formats: ms", 3000, "{:,.0f}"),
    ("file", "longest", "longest task of the page meanwhile: ms", 50, "{:.0f}"),
    ("hour", "ms", "the same for a file of 60 minutes: ms", None, "{:,.0f}"),
    ("hour", "longest", "longest task of the page meanwhile: ms", 50, "{:.0f}"),
    ("hour", "megabytes", "memory of the renderer, MB", 350, "{:.0f}"),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=PARTS, help="only these parts")
    parser.add_argument("--out", type=argparse.FileType("a"), help="a file for the raw figures, one JSON object a line")
    asked = parser.parse_args()
    figures = {}
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="backline-page-")))
        bench = Bench(stack, folder, asked.runs)
        for part in asked.only or PARTS:
            for run in range(asked.runs):
                result = PARTS[part](bench)
                print(f"{part} {run + 1}: {result}", file=sys.stderr, flush=True)
                if asked.out:
                    print(json.dumps({"part": part, **result}), file=asked.out, flush=True)
                for name, value in result.items():
                    figures.setdefault((part, name), []).append(value)
    over = False
    print("| what | limit | measured |\n|---|--:|--:|")
    for part, name, what, limit, form in ROWS:
        if (part, name) in figures:
            value = statistics.median(figures[part, name])
            is_over = limit is not None and value > limit
            over |= is_over
            allowed = "–" if limit is None else form.format(limit)
            print(f"| {what} | {allowed} | {form.format(value)}{' **over**' if is_over else ''} |")
    lines, files = code()
    print(f"\nThe page's own JavaScript: {lines:,} lines in {files} files.")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
