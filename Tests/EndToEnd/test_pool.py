"""A room's pool, read in pages."""

import json
import pathlib
import urllib.parse

import backline
from test_process import cpu_seconds

SEARCHES = pathlib.Path(__file__).parents[1] / "Tables/search.json"

SONGS = [
    ("Zebra", "Ann", None), ("alpha", None, "Écoute"), ("Éclair", "Bob", None), ("Beta", "E\u0301clair", "One"),
    ("beta", None, None), ("Gamma", "ANN", "Two"),
]


def pages(person, room, **query):
    """The tracks of each page, to the end."""
    found = []
    while True:
        path = f"/v1/rooms/{room}/pool?{urllib.parse.urlencode(query, quote_via=urllib.parse.quote)}"
        page = person.request("GET", path).expect(200)
        found.append(page["tracks"])
        if page.get("next") is None:
            return found
        query["cursor"] = page["next"]


def numbers(found):
    return [track["track"] for page in found for track in page]


def filled(dj):
    room = dj.create_room()["room"]["state"]["id"]
    dj.command(room, "addTracks", tracks=[
        {"source": "s", "sourceId": str(number), "title": title, "artist": artist, "album": album}
        for number, (title, artist, album) in enumerate(SONGS)])
    return room


def test_pages_are_the_pool_of_the_rooms_state(shared):
    dj, guest = shared.session("Ana"), shared.session("Ben")
    room = filled(dj)
    guest.command(room, "join")
    for person, track in ((dj, 3), (guest, 6), (dj, 6), (dj, 1)):
        person.command(room, "vote", track=track)
    snapshot = dj.room(room)["room"]
    pool = snapshot["state"]["pool"]
    whole = guest.request("GET", f"/v1/rooms/{room}/pool").expect(200)
    assert whole == {"epoch": snapshot["epoch"], "seq": snapshot["seq"], "tracks": pool}
    for limit in (1, 2, 5, 6, 600):
        found = pages(guest, room, limit=limit)
        assert [track for page in found for track in page] == pool
        assert all(len(page) == limit for page in found[:-1])
    by_votes = [6, 3, 1, *(track["track"] for track in pool if track["votes"] == 0)]
    for limit in (1, 2, 3, 4, 100):
        assert numbers(pages(guest, room, limit=limit, sort="votes")) == by_votes
        assert numbers(pages(guest, room, limit=limit, sort="added")) == [1, 2, 3, 4, 5, 6]


def test_a_part_of_title_artist_or_album_is_found(shared):
    dj = shared.session("Ana")
    room = filled(dj)
    for text, found in {
        "ann": [1, 6], "ÉCL": [3, 4], "e\u0301c": [2, 3, 4], "beta": [4, 5], "two": [6], "nothing": [],
        "": range(1, 7), " zebra ": [1],
    }.items():
        assert numbers(pages(dj, room, q=text, sort="added", limit=2)) == list(found), text


def test_a_search_finds_what_the_table_says(shared):
    table = json.loads(SEARCHES.read_text())
    dj = shared.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    dj.command(room, "addTracks", tracks=[
        {"source": "s", "sourceId": str(number), "title": row["title"], "artist": row.get("artist"),
         "album": row.get("album")}
        for number, row in enumerate(table)])
    for number, row in enumerate(table, start=1):
        found = numbers(pages(dj, room, q=row["query"], limit=500))
        assert (number in found) == row["found"], row


def test_pages_go_on_where_they_ended_whatever_changes(shared):
    dj = shared.session("Ana")
    room = filled(dj)
    first = dj.request("GET", f"/v1/rooms/{room}/pool?limit=2").expect(200)
    assert numbers([first["tracks"]]) == [2, 4]
    dj.command(room, "removeTracks", tracks=[4])
    dj.command(room, "addTracks", tracks=backline.tracks("aardvark", "ceta"))
    rest = pages(dj, room, limit=2, cursor=first["next"])
    assert numbers(rest) == [5, 8, 6, 1, 3]


def test_what_no_page_can_be_is_refused(shared):
    dj = shared.session("Ana")
    room = filled(dj)
    path = f"/v1/rooms/{room}/pool"
    cursor = dj.request("GET", f"{path}?limit=1&sort=added").expect(200)["next"]
    for query in (
        "limit=0", "limit=-1", "limit=x", "sort=newest", "sort=", "cursor=", "cursor=x", "cursor=t.1.zz",
        f"cursor={cursor}", f"cursor={cursor}&sort=votes", f"q={'x' * 81}", "q=a%00b",
    ):
        dj.request("GET", f"{path}?{query}").expect_problem(400, "bad_request")
    shared.request("GET", path).expect_problem(401, "unauthorized")
    dj.request("GET", f"/v1/rooms/{backline.room_id()}/pool").expect_problem(404, "not_found")
    answer = dj.request("POST", path, {})
    answer.expect_problem(405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET, HEAD"


def test_a_large_pool_is_read_without_holes_while_it_changes(shared):
    dj = shared.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    for start in range(0, 10_000, 500):
        titles = (f"Song {number * 7919 % 10_000:05}" for number in range(start, start + 500))
        dj.command(room, "addTracks", tracks=backline.tracks(*titles))
    before = cpu_seconds(shared.process.pid)
    found = pages(dj, room, limit=500)
    assert len(found) == 20
    titles = [track["title"] for page in found for track in page]
    assert titles == [f"Song {number:05}" for number in range(10_000)]
    assert numbers(pages(dj, room, q="song 0999", limit=3)) == numbers(pages(dj, room, q="SONG 0999", limit=500))
    assert cpu_seconds(shared.process.pid) - before < 20
