"""Budgets that count something. Those of time, processor and memory are in Benchmarks/page.py."""

import re
import time

import pytest
from playwright.sync_api import expect

import backline
import browsers
import decks
import parties
import steps

REQUESTS, BYTES = 24, 60_000
DECK_BYTES = 45_000
LAYOUTS, STYLES, SCRIPT_MS = 2, 8, 5
"""A second; a script's is the processor's time, which stands here at so many times its limit: SLACK."""
SLACK = 5
ROWS = 40


def first_visit(visit, party, server, device=browsers.PHONE):
    """A guest's first visit; returns its page, and for each request its address and the bytes of the content as it came."""
    room = party(parties.rooftop, server, present=True)
    page = visit(server, device=device)
    # It does not settle meanwhile, however long that takes.
    page.add_init_script("""(() => {
        const {setTimeout} = window;
        window.setTimeout = (run, ms, ...given) => ms === 10_000 ? 0 : setTimeout(run, ms, ...given);
    })()""")
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    urls, sizes = {}, {}
    session.on("Network.requestWillBeSent", lambda event: urls.update({event["requestId"]: event["request"]["url"]}))
    session.on("Network.webSocketCreated", lambda event: urls.update({event["requestId"]: event["url"]}))
    session.on("Network.responseReceived", lambda event: sizes.update({event["requestId"]: content(event["response"])}))
    page.goto(room.path)
    steps.on_air(page, "Maré Alta")
    page.get_by_label("Your name").wait_for()
    page.wait_for_load_state("networkidle")
    return page, [(url, sizes.get(request, 0)) for request, url in urls.items()]


def content(response):
    fields = {name.lower(): value for name, value in response["headers"].items()}
    return int(fields.get("content-length", 0))


def test_the_weight_of_a_first_visit(visit, party, house):
    page, requests = first_visit(visit, party, house)
    listing = "\n".join(f"{size:6.0f} {url.removeprefix(page.watch.origin)}" for url, size in requests)
    print(listing)
    assert len(requests) <= REQUESTS, f"{len(requests)} requests:\n{listing}"
    total = sum(size for _, size in requests)
    assert total <= BYTES, f"{total:.0f} bytes:\n{listing}"


def deck_files(requests):
    return {url.split("/", 5)[-1]: size for url, size in requests if "/deck/" in url}


def test_the_weight_of_the_deck(visit, party, house, make_songs):
    """What a page loads of the deck until its music plays, as it is sent. A guest's visit has none of it."""
    _, requests = first_visit(visit, party, house)
    assert not deck_files(requests)
    room = party(parties.empty, house)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    decks.keep_files(page, make_songs(1, 8, ("mp3",)))
    room.tell("Mina", "enqueue", track=decks.add_tracks(page)[0])
    backline.eventually(lambda: decks.run(page, "async app => [...(await app.device()).library.songs.values()].every(song => song.waveform)"),
                        "the song has been looked at")
    # Another visit, to a page that knows its songs.
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    urls, sizes = {}, {}
    session.on("Network.requestWillBeSent", lambda event: urls.update({event["requestId"]: event["request"]["url"]}))
    session.on("Network.responseReceived", lambda event: sizes.update({event["requestId"]: content(event["response"])}))
    page.reload()
    page.get_by_role("button", name="Play on this device").click()
    room.tell("Mina", "play")
    backline.eventually(lambda: decks.deck(page)["heard"]["isHeard"], "the music plays")
    page.wait_for_load_state("networkidle")
    loaded = deck_files([(url, sizes.get(request, 0)) for request, url in urls.items()])
    listing = "\n".join(f"{size:6} {name}" for name, size in loaded.items())
    print(listing, sum(loaded.values()))
    assert "deck/device.js" in loaded and not [name for name in loaded if "demux" in name]
    assert sum(loaded.values()) <= DECK_BYTES, listing


def metrics(session):
    return {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}


def elapsed(page):
    minutes, seconds = re.search(r"(\d+):(\d+)", page.locator(".deck .elapsed").text_content()).groups()
    return int(minutes) * 60 + int(seconds)


def while_playing(pages, seconds=3):
    """Metrics a second, of pages that nobody touches while a song plays: for each page as a dictionary."""
    sessions = [page.context.new_cdp_session(page) for page in pages]
    for session in sessions:
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
    start = elapsed(pages[0])
    # What joining moves has arrived.
    pages[0].wait_for_timeout(1_000)
    before, began = [metrics(session) for session in sessions], time.monotonic()
    pages[0].wait_for_timeout(seconds * 1_000)
    after, took = [metrics(session) for session in sessions], time.monotonic() - began
    # A busy machine draws the second a moment later.
    backline.eventually(lambda: elapsed(pages[0]) >= start + seconds, "the song plays")
    return [
        {name: (late[name] - early[name]) / took
         for name in ("LayoutCount", "RecalcStyleCount", "ScriptDuration")}
        for early, late in zip(before, after, strict=True)]


@pytest.mark.soak("what a page does in seconds is measured")
def test_a_page_that_nobody_touches_does_little(visit, party, house):
    pages = [first_visit(visit, party, house, device)[0] for device in browsers.DEVICES]
    for page in pages:
        steps.join(page, "Ana")
    for device, rates in zip(browsers.DEVICES, while_playing(pages), strict=True):
        print(device.name, rates)
        assert rates["LayoutCount"] <= LAYOUTS, rates
        assert rates["RecalcStyleCount"] <= STYLES, rates
        assert rates["ScriptDuration"] * 1000 <= SCRIPT_MS * SLACK, rates


@pytest.mark.soak("what a page does in seconds is measured")
def test_a_deck_that_plays_does_little(visit, party, house, long_songs):
    room = party(parties.empty, house)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    decks.keep_files(page, long_songs(1, ("opus",)))
    [track] = decks.add_tracks(page)
    page.get_by_role("button", name="Play on this device").click()
    entry = room.tell("Mina", "enqueue", track=track)["entry"]
    room.tell("Mina", "play", entry=entry)
    steps.on_air(page, decks.title(0))
    # The waveform has arrived, and the start has been looked at.
    backline.eventually(lambda: room.state()["pool"][0].get("waveform"), "the deck sends the waveform")
    page.wait_for_timeout(4_000)
    [rates] = while_playing([page])
    print(rates)
    assert rates["LayoutCount"] <= LAYOUTS, rates
    assert rates["RecalcStyleCount"] <= STYLES, rates
    assert rates["ScriptDuration"] * 1000 <= SCRIPT_MS * SLACK, rates


def test_a_waveform_is_drawn_once_for_each_pixel(visit, party, house):
    """A song of 600 s on 680 pixels: a frame for each pixel, and no raster."""
    seconds = 3
    room = party(parties.long_song, house)
    page = visit(house, person=room.mina, device=browsers.LAPTOP)
    page.clock.install()
    page.goto(room.path)
    steps.on_air(page, "Ten minutes")
    steps.waveform_of_680_pixels(page)
    page.wait_for_load_state("networkidle")
    # Its time stands still from here, whatever the server says; what has begun before is drawn.
    page.evaluate("""() => import(document.querySelector('script[type=module]').src).then(({app: {store: {clock}}}) => {
        const {offset} = clock;
        Object.defineProperty(clock, 'offset', {get: () => offset, set() {}});
    })""")
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 60)
    drawn = True
    while drawn:
        with browsers.counting_frames(page) as counts:
            page.wait_for_timeout(300)
        drawn = counts["draws"]
    start = elapsed(page)
    with browsers.counting_frames(page) as counts:
        for _ in range(seconds * 10):
            page.clock.run_for(100)
            page.wait_for_timeout(20)
    # The clock is written some milliseconds after its second has begun.
    assert start + seconds - 1 <= elapsed(page) <= start + seconds, "the song plays"
    # A pixel is 882 ms: three of them begin in 3 s, or four. A browser that is slow may draw two at once.
    assert 1 <= counts["draws"] <= 4, counts
    assert counts["raster"] == 0, counts


def test_a_list_of_ten_thousand_has_few_rows(visit, party, house):
    room = party(parties.large, house)
    page = visit(house, room.path, device=browsers.LAPTOP)
    steps.join(page, "Ana")
    pool = steps.pane(page, "pool")
    rows = pool.locator("li")
    assert 5 <= rows.count() <= ROWS
    last = max(room.ids, key=lambda title: title.casefold())
    steps.scroll(page, "pool", 1)
    expect(rows.locator(".title", has_text=last).first).to_be_visible()
    assert rows.count() <= ROWS
    assert int(rows.first.get_attribute("aria-setsize")) == 10_000
