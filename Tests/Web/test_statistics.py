"""A room's statistics, and what is played nearby: equal to what the server answers, and live."""

import json
import re
import time

import pytest
from playwright.sync_api import expect

import backline
import browsers
import evenings
import parties
import steps
import wires


def tell_sent(page):
    """The types of what a page sends on its sockets, from now on."""
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda text: sent.append(json.loads(text)["type"])))
    return sent


def statistics(page, span=None):
    steps.open_menu(page, "Statistics")
    shown = page.locator("dialog[open]").last
    shown.locator("[aria-busy=false]").first.wait_for()
    if span:
        shown.locator("label", has_text=span).click()
        shown.locator("[aria-busy=false]").first.wait_for()
    return shown


QUESTIONS = re.compile("/v1/rooms/.*/statistics")


def tile(shown, name):
    return shown.locator(".tile", has_text=name).locator("dd")


def chart(shown, name):
    return shown.get_by_role("slider", name=name)


def rows(shown, name):
    """The table of a chart, as pairs of texts."""
    group = shown.get_by_role("group", name=name, exact=True).first
    if not group.locator("table").is_visible():
        group.get_by_text("Show as table").click()
    group.locator("tbody tr").first.wait_for()
    cells = group.locator("tbody tr > *").all_inner_texts()
    return list(zip(cells[::2], cells[1::2], strict=True))


def counted(party, **query):
    """The server's counts once they are at the room's head."""
    head = party.line.request(party.mina.token, "GET", f"/v1/rooms/{party.id}")["room"]["seq"]
    text = "&".join(f"{name}={value}" for name, value in query.items())

    def read():
        answer = party.line.request(party.mina.token, "GET", f"/v1/rooms/{party.id}/statistics?{text}")
        return answer if answer["seq"] >= head else None

    return backline.eventually(read, "the room is counted")


def until_shown(located, text, what):
    """Waits for a text; prints how long it took."""
    began = time.monotonic()
    expect(located).to_have_text(text)
    print(f"{what}: {time.monotonic() - began:.2f} s")


@pytest.mark.soak("a song of ten seconds is heard")
def test_a_song_that_ends_is_shown_to_all_who_look(servers, visit, party):
    """Two rooms play a song: the charts of the first change by themselves, and then the song is named nearby."""
    server = servers(*evenings.OPTIONS).start()
    rooms = [party(parties.Party, server, name, owner_name=name, location=parties.PORTO, settings={"guestsMayAdd": True})
             for name in ("One", "Two")]
    songs = [parties.track("Common", "Somebody", 10_000), parties.track("Wanted", "Somebody", 10_000)]
    for room in rooms:
        ana = room.admit(room.line.session("Ana"))
        room.ids["Common"], room.ids["Wanted"] = room.tell(ana, "addTracks", tracks=songs)["tracks"]
    first = rooms[0]
    pages = [visit(server, first.path, person=first.mina, device=browsers.LAPTOP),
             visit(server, first.path, person=first.guests["Ana"])]
    for room in rooms:
        room.play("Common")
    began = time.monotonic()
    shown = [statistics(page, "Last hour") for page in pages]
    near = visit(server, "/nearby", permissions=["geolocation"], geolocation={"latitude": 41.1405, "longitude": -8.611})
    near.get_by_role("button", name="Use where I am").click()
    expect(near.locator(".trending")).to_contain_text("rooms of 2 different people")
    # A vote is told: it is shown while no question of theirs is let through.
    for page in pages:
        page.route(QUESTIONS, lambda route: None)
    first.vote("Wanted", "Ana")
    for one, who in zip(shown, ("laptop", "phone"), strict=True):
        until_shown(tile(one, "Votes"), "1", f"a vote on the {who}")
        expect(tile(one, "Songs played")).to_have_text("0")
        expect(one.locator(".ranked", has_text="Wanted most right now").locator("li")).to_have_count(1)
    for page in pages:
        page.unroute(QUESTIONS)
    pages[0].wait_for_timeout(max(0, 10_100 - (time.monotonic() - began) * 1000))
    for room in rooms:
        room.tell("Mina", "finish", entry=room.state()["playback"]["entry"])
    for one, who in zip(shown, ("laptop", "phone"), strict=True):
        until_shown(tile(one, "Songs played"), "1", f"a play on the {who}")
        # In its bar or, where five minutes have gone by since, in the one before.
        backline.eventually(lambda: one.page.wait_for_timeout(20) or numbers(rows(one, "Songs played")) == [1], "the chart has the play")
        expect(one.locator(".ranked", has_text="Most played").locator("li")).to_contain_text("Common")
    expect(shown[1].locator(".ranked", has_text="Yours").locator("li")).to_contain_text(re.compile(r"Common.*\d\d:\d\d\s*$"))
    expect(shown[0].locator(".ranked", has_text="Yours")).to_contain_text("None of your songs was on air")
    ended = time.monotonic()
    expect(near.locator(".trending li")).to_contain_text("2 plays in 2 rooms")
    print(f"named nearby: {time.monotonic() - ended:.2f} s")
    # The second room leaves the numbers, with what it has played.
    rooms[1].tell("Mina", "updateRoom", settings={"countedAcrossRooms": False})
    counted(rooms[1])
    assert first.line.request(first.mina.token, "GET", "/v1/statistics/tracks?window=hour&lat=41.1405&lon=-8.611")["tracks"] == []


def numbers(table):
    """The values of a chart's table that are not 0."""
    values = [re.match(r"\d*", value).group() for _, value in table]
    return [int(value) for value in values if value not in ("", "0")]


def test_what_is_shown_is_what_the_server_answers(servers, visit, party):
    server = servers(*evenings.OPTIONS).start()
    evening = party(evenings.Evening, server)
    room = evening.room
    page = visit(server, room.path, person=evening.ana, device=browsers.LAPTOP)
    shown = statistics(page)
    offset = page.evaluate("0 - new Date().getTimezoneOffset()")
    for span, step, length in ("12 hours", "quarter", 12 * 3_600_000), ("7 days", "day", 6 * 86_400_000):
        shown.locator("label", has_text=span).click()
        shown.locator("[aria-busy=false]").first.wait_for()
        answer = counted(room, step=step, offsetMinutes=offset, **{"from": evening.now - length})
        for name, key in ("Songs played", "plays"), ("Votes", "votes"):
            values = [bucket[key] for bucket in answer["buckets"] if key in bucket]
            expect(tile(shown, name)).to_have_text(str(sum(values)))
            assert numbers(rows(shown, name)) == values
        seen = [one["peakListeners"] for one in answer["observed"]]
        table = rows(shown, "Listeners at once")
        # An upper bound, and so it is told.
        expect(tile(shown, "Listeners at once")).to_have_text(re.compile(r"^≤ \d+$"))
        # The bar of the present grows, in the one that was read first.
        measured = numbers(table)
        over = min(len(measured), len(seen)) - 1
        assert over >= (span == "12 hours")
        assert measured[:over] == seen[:over] and "nothing seen" in dict(table).values()
        ask = f"/v1/rooms/{room.id}/statistics/{{}}?from={answer['from']}&limit=500"
        tracks = room.line.request(room.mina.token, "GET", ask.format("tracks"))["tracks"]
        top = shown.locator(".ranked", has_text="Most played").locator("li")
        assert [one.split("\n")[::2] for one in top.all_inner_texts()] == [[one["title"], str(one["plays"])] for one in tracks[:10]]
        plays = room.line.request(room.mina.token, "GET", ask.format("plays"))["plays"]
        own = shown.locator(".ranked", has_text="Yours").locator("li .title")
        expect(own).to_have_text([one["title"] for one in plays if one["track"] in evening.own])
    wanted = shown.locator(".ranked", has_text="Wanted most right now").locator("li")
    state = room.state()
    titles = {one["track"]: one["title"] for one in state["pool"]}
    assert [one.split("\n")[0] for one in wanted.all_inner_texts()] == [titles[track] for track in state["requests"][:5]]
    last = titles[state["requests"][-1]]
    room.vote(last, *[name for name in parties.GUESTS if name not in ("Ines", "Rui")])
    expect(wanted.filter(has_text=last)).to_have_count(1)


def noon():
    """A time zone in which it is about noon: no day begins while a test runs."""
    return f"Etc/GMT{time.gmtime().tm_hour - 12:+d}"


def test_a_chart_by_keyboard(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path, person=room.mina, timezone_id=noon())
    shown = statistics(page, "7 days")
    votes = chart(shown, "Votes")
    readout = shown.locator(".chart.votes .chart-readout")
    expect(readout).to_have_text("26 votes")
    votes.focus()
    today = votes.get_attribute("aria-valuetext")
    assert today.endswith(": 26 votes") and votes.get_attribute("aria-valuenow") == "7"
    for key, place in ("ArrowLeft", "6"), ("ArrowDown", "5"), ("ArrowUp", "6"), ("Home", "1"), ("ArrowLeft", "1"), ("PageUp", "2"), (
            "End", "7"), ("ArrowRight", "7"):
        page.keyboard.press(key)
        expect(votes).to_have_attribute("aria-valuenow", place)
        expect(readout).to_have_text(votes.get_attribute("aria-valuetext"))
    assert votes.get_attribute("aria-valuetext") == today
    page.keyboard.press("Shift+Tab")
    expect(readout).to_have_text("26 votes")
    # By hand: the middle of the fourth of seven bars.
    box = votes.bounding_box()
    page.mouse.move(box["x"] + 24 + (box["width"] - 24) * 3.5 / 7, box["y"] + 40)
    expect(votes).to_have_attribute("aria-valuenow", "4")
    expect(readout).to_have_text(re.compile(": 0 votes$"))


@pytest.mark.parametrize("way", ["down", "replaced"])
def test_statistics_come_back_with_the_connection(visit, party, house, way):
    room = party(parties.rooftop, house)
    with wires.Wire(house) as wire:
        page = visit(wire, device=browsers.LAPTOP)
        browsers.sign_in(page.context, room.mina)
        sent = tell_sent(page)
        page.watch.expect(browsers.LOST)
        page.goto(room.path)
        shown = statistics(page)
        expect(tile(shown, "Votes")).to_have_text("26")
        if way == "down":
            wire.go_down()
            expect(shown.get_by_text("No connection. What you see is of")).to_be_visible()
            expect(tile(shown, "Votes")).to_have_text("26")
            room.vote("Second Parade", "Ines")
            wire.come_up()
            steps.connect_now(page)
        else:
            wire.cut()
            room.vote("Second Parade", "Ines")
        expect(tile(shown, "Votes")).to_have_text("27")
        expect(shown.locator(".statistics-note")).to_have_text("")
        room.vote("Second Parade", "Rui")
        expect(tile(shown, "Votes")).to_have_text("28")
        assert sent.count("statistics") == 2 and "statisticsStop" not in sent
        page.keyboard.press("Escape")
        backline.eventually(lambda: page.evaluate("0") == 0 and sent.count("statisticsStop") == 1, "the subscription is ended")
