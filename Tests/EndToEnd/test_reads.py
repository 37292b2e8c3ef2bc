"""Reads of logs, pools and the directory: limited for each request, and apart from all other work."""

import concurrent.futures
import contextlib
import statistics
import threading
import time

import pytest

import backline

MARKS = "".join(chr(0x300 + n % 0x70) for n in range(299))
MIB = 1 << 20


def heavy_room(dj, batches):
    """A room whose log has this number of events of some 200 KB each."""
    room = dj.create_room()["room"]["state"]["id"]
    for batch in range(batches):
        dj.command(room, "addTracks", tracks=[
            {"source": "s", "sourceId": f"{batch}.{n}", "title": f"Large {n}",
             "artworkUrl": "https://example.org/" + "x" * 2000} for n in range(90)])
    return room


def test_a_page_of_events_ends_at_one_mebibyte(server):
    dj = server.session("Ana")
    room = heavy_room(dj, 8)
    last = dj.room(room)["room"]["seq"]
    found, pages = [], 0
    while not found or found[-1]["seq"] < last:
        after = found[-1]["seq"] if found else 0
        answer = dj.request("GET", f"/v1/rooms/{room}/events?after={after}")
        page = answer.expect(200)
        assert len(answer.body) <= MIB
        assert page["seq"] == last and page["events"]
        found += page["events"]
        pages += 1
    assert [event["seq"] for event in found] == list(range(1, last + 1))
    # Some 1.5 MB: every page is as long as it may be.
    assert pages == 2
    assert dj.room(room)["room"] | {"time": 0, "presence": 0, "keyed": 0} \
        == dj.request("GET", f"/v1/rooms/{room}?at={last}").expect(200)["room"] \
        | {"time": 0, "presence": 0, "keyed": 0}


def test_a_session_that_asks_for_too_much_at_once_is_told_so(servers, storage):
    server = servers(*backline.NO_GRACE, "--max-heavy-reads", "1", store=storage).start()
    dj, guest = server.session("Ana"), server.session("Ben")
    room = heavy_room(dj, 6)
    path = f"/v1/rooms/{room}/events"
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        seen = set()
        while 429 not in seen:
            for answer in pool.map(lambda _: dj.request("GET", path), range(32)):
                seen.add(answer.status)
                if answer.status == 429:
                    problem = answer.expect_problem(429, "rate_limited")
                    assert problem["retryAfterMs"] > 0
        # Others have their turn.
        flood = [pool.submit(dj.request, "GET", path) for _ in range(31)]
        guest.request("GET", path).expect(200)
        for request in flood:
            assert request.result().status in (200, 429)
    assert seen == {200, 429}


@contextlib.contextmanager
def load(server, paths):
    """Requests these paths again and again, each with a session of its own; yields those who ask, and how long
    each answer took.
    """
    stop, took = threading.Event(), []

    def ask(path):
        person = server.session("Load")
        while not stop.is_set():
            began = time.monotonic()
            status = person.request("GET", path).status
            assert status in (200, 429)
            if status == 200:
                took.append(time.monotonic() - began)

    with concurrent.futures.ThreadPoolExecutor(len(paths)) as pool:
        asking = [pool.submit(ask, path) for path in paths]
        try:
            yield asking, took
        finally:
            stop.set()
        for each in asking:
            each.result()


@pytest.mark.soak("times of answers are compared")
@pytest.mark.alone
def test_health_and_other_rooms_wait_for_no_search_and_no_log(servers, storage):
    server = servers(*backline.NO_GRACE, "--threads", "1", store=storage).start()
    dj = server.session("Ana")
    room = heavy_room(dj, 5)
    for _ in range(7):
        dj.command(room, "addTracks", tracks=[
            {"source": "s", "sourceId": str(n), "title": "a" + MARKS, "artist": "b" + MARKS, "album": "c" + MARKS}
            for n in range(45)])
    last, other = dj.room(room)["room"]["seq"], dj.create_room()["room"]["state"]["id"]
    searches = [f"/v1/rooms/{room}/pool?q=zzz"] * 4
    logs = [f"/v1/rooms/{room}/events", f"/v1/rooms/{room}?at={last - 1}"] * 2
    for paths in (searches, logs):
        with load(server, paths) as (asking, took):
            waits = {"health": [], "ready": [], "command": []}
            while len(took) < len(paths) or len(waits["command"]) < 8:
                assert not any(each.done() for each in asking), "they ask to the end"
                for name, ask in (
                    ("health", lambda: server.request("GET", "/healthz").expect(200)),
                    ("ready", lambda: server.request("GET", "/readyz").expect(200)),
                    ("command", lambda: dj.command(other, "rename", name=f"Ana {time.monotonic()}")),
                ):
                    began = time.monotonic()
                    ask()
                    waits[name].append(time.monotonic() - began)
        # Whoever had to wait for the work that is under way would wait for as long as those who asked for it.
        for name, times in waits.items():
            assert statistics.median(times) < statistics.median(took), (name, paths[0], times, took)


def test_a_search_goes_on_behind_its_cursor(servers):
    dj = servers(*backline.NO_GRACE).start().session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    for batch in range(28):
        dj.command(room, "addTracks", tracks=[
            {"source": "s", "sourceId": "1", "title": f"{batch}.{n:02} " + "中" * 290, "artist": "文" * 300,
             "album": "字" * 299 + ("x" if n == 7 else "?")} for n in range(45)])
    for sort in ("title", "votes", "added"):
        path, found, pages = f"/v1/rooms/{room}/pool?sort={sort}&q=x", [], 0
        cursor = ""
        while cursor is not None:
            page = dj.request("GET", path + cursor).expect(200)
            found += [track["track"] for track in page["tracks"]]
            pages += 1
            cursor = f"&cursor={page['next']}" if "next" in page else None
        # Some 3.4 MB of keys, 2 MiB of them for each page.
        assert pages == 2
        assert sorted(found) == [45 * batch + 8 for batch in range(28)]
