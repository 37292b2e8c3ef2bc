"""Budgets that count something. Those of time, processor and memory are in Benchmarks/page.py."""

import re
import time

from playwright.sync_api import expect

import backline
import browsers
import decks
import parties
import steps

REQUESTS, BYTES = 24, 60_000
DECK_BYTES = 45_000
LAYOUTS, STYLES, SCRIPT_MS = 2, 8, 5
ROWS = 40
DRAWS = 1.2
SLACK = 5
"""Rows of time stand here at so many times their limit, to catch what hangs."""


def first_visit(visit, party, server, device=browsers.PHONE):
    """A guest's first visit; returns its page, and for each request its address and the bytes of the content as it came."""
    room = party(parties.rooftop, server)
    page = visit(server, device=device)
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


def test_the_weight_of_the_deck(visit, party, house, tmp_path):
    """What a page loads of the deck until its music plays, as it is sent. A guest's visit has none of it."""
    _, requests = first_visit(visit, party, house)
    assert not deck_files(requests)
    room = party(parties.empty, house)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    decks.keep_files(page, decks.make_songs(tmp_path, 1, 10, endings=["mp3"]))
    room.tell("Mina", "enqueue", track=decks.add_tracks(page)[0])
    page.get_by_text("Looking at").wait_for(state="detached")
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


def while_playing(pages, seconds=4):
    """Metrics a second, of pages that nobody touches while a song plays: for each page as a dictionary."""
    sessions = [page.context.new_cdp_session(page) for page in pages]
    for session in sessions:
        session.send("Performance.enable")
    start = elapsed(pages[0])
    # What joining moves has arrived.
    pages[0].wait_for_timeout(1_000)
    before = [metrics(session) for session in sessions]
    pages[0].wait_for_timeout(seconds * 1_000)
    after = [metrics(session) for session in sessions]
    assert elapsed(pages[0]) >= start + seconds, "the song plays"
    return [
        {name: (late[name] - early[name]) / (late["Timestamp"] - early["Timestamp"])
         for name in ("LayoutCount", "RecalcStyleCount", "ScriptDuration")}
        for early, late in zip(before, after, strict=True)]


def test_a_page_that_nobody_touches_does_little(visit, party, house):
    pages = [first_visit(visit, party, house, device)[0] for device in browsers.DEVICES]
    for page in pages:
        steps.join(page, "Ana")
    for device, rates in zip(browsers.DEVICES, while_playing(pages), strict=True):
        print(device.name, rates)
        assert rates["LayoutCount"] <= LAYOUTS, rates
        assert rates["RecalcStyleCount"] <= STYLES, rates
        assert rates["ScriptDuration"] * 1000 <= SCRIPT_MS * SLACK, rates


def test_a_deck_that_plays_does_little(visit, party, house, tmp_path):
    room = party(parties.empty, house)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    decks.keep_files(page, decks.make_songs(tmp_path, 1, 30, endings=["opus"]))
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
    seconds = 5
    room = party(parties.long_song, house)
    page = visit(house, room.path, person=room.mina, device=browsers.LAPTOP)
    steps.on_air(page, "Ten minutes")
    steps.waveform_of_680_pixels(page)
    page.wait_for_load_state("networkidle")
    browsers.settle(page)
    page.wait_for_timeout(1_000)
    began, start = time.monotonic(), elapsed(page)
    with browsers.counting_frames(page) as counts:
        page.wait_for_timeout(seconds * 1_000)
    took = time.monotonic() - began
    assert elapsed(page) >= start + seconds - 1, "the song plays"
    # One frame more at the edge of the time.
    assert counts["draws"] <= DRAWS * took + 1, counts
    assert counts["raster"] <= 2, counts


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
