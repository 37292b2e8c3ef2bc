"""What is counted: equal to what the events say, on both stores, whatever happens."""

import contextlib
import json
import re
import subprocess
import time

import pytest

import backline
from counting import METRICS, MINUTE, Count, events_of

STEPS = {"minute": 1, "quarter": 15, "hour": 60, "day": 1_440}
NUMBERS = {
    "counts": ("starts", "plays", "skips", "votes", "unvotes", "requests", "joins", "leaves", "tracks_added", "played_ms"),
    "plays": ("number", "added_by", "started_at", "played_ms", "ended_at"),
}


def rows(sql):
    """All that is counted of rooms."""
    return [sql(f"SELECT * FROM statistics_{table} ORDER BY {key}") for table, key in (
        ("counts", "room_id, step, bucket"), ("plays", "room_id, entry"), ("tracks", "track"))]


def song(title, artist=None, duration=None, source_id=None):
    fields = {"source": "test", "sourceId": source_id or title, "title": title, "artist": artist, "durationMs": duration}
    return {name: value for name, value in fields.items() if value is not None}


def statistics(person, room, path="", **query):
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return person.request("GET", f"/v1/rooms/{room}/statistics{path}" + (f"?{text}" if text else "")).expect(200)


def counted(person, room):
    """The counts once they are at the room's head."""
    head = person.room(room)["room"]["seq"]

    def read():
        answer = statistics(person, room)
        return answer if answer["seq"] >= head else None

    return backline.eventually(read, "the room is counted")


def check(person, room):
    """Compares all answers about a room with its events."""
    answer = counted(person, room)
    count = Count(events_of(person, room, answer["seq"]))
    assert answer["room"] == room and answer["step"] == "hour" and answer["observed"] == []
    assert answer["to"] - answer["from"] in (86_400_000, 90_000_000)
    for step, minutes in STEPS.items():
        for offset in (0, 345, -840):
            if step == "minute" and offset:
                continue
            answer = statistics(person, room, step=step, offsetMinutes=offset)
            assert answer["seq"] == count.seq
            assert answer["buckets"] == count.buckets(minutes, answer["from"], answer["to"], offset), step
    total = statistics(person, room, step="total", **{"from": 0})
    assert total["buckets"] == count.buckets(10**9, 0, total["to"])
    plays = []
    query = {"limit": 2}
    while True:
        page = statistics(person, room, "/plays", **query)
        plays += page["plays"]
        if "next" not in page:
            break
        query["cursor"] = page["next"]
    assert plays == count.newest_plays
    return count


def age(server, sql):
    """Stops a server that counts nothing, makes its rooms a minute older, and starts it as one that counts.

    Then songs can have been heard in them: a device that was off line tells of that.
    """
    assert server.stop() == 0
    sql(f"UPDATE events SET at = at - {MINUTE}, checksum = NULL")
    server.options.remove("--no-statistics")
    server.start()


def hear(person, room, queue=(), **item):
    """Tells that an item was just heard for ten seconds."""
    began = person.room(room)["room"]["time"] - 11_000
    person.command(room, "syncDeck", queue=list(queue), playback={"status": "stopped"}, played=[
        {**item, "startedAtMs": began, "playedMs": 10_000, "reason": "ended"}])


@pytest.fixture
def lively(servers, storage, sql):
    """A server, and a room in it with something of everything that is counted: one song is heard whole."""
    server = servers(*backline.NO_GRACE, "--no-statistics", store=storage).start()
    ana, ben = server.session("Ana"), server.session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    ana.command(room, "addTracks", tracks=[
        song("Ten seconds", "Ártist", 10_000), song("Half an hour", "ÁRTIST", 1_800_000), song("Nobody's", source_id="x")])
    ben.command(room, "join")
    for track in (1, 2, 3):
        ben.command(room, "vote", track=track)
    ana.command(room, "vote", track=2)
    ben.command(room, "unvote", track=3)
    for track in (1, 2, 1, 3):
        ana.command(room, "enqueue", track=track)
    age(server, sql)
    hear(ana, room, [{"entry": entry} for entry in (2, 3, 4)], entry=1)
    ana.command(room, "play")
    ana.command(room, "skip")
    ana.command(room, "play", entry=4)
    ben.command(room, "leave")
    return server, ana, room


def test_counts_are_those_of_the_events(lively):
    server, ana, room = lively
    count = check(ana, room)
    assert sum(minute["plays"] for minute in count.minutes.values()) == 1
    assert sum(minute["skips"] for minute in count.minutes.values()) == 1
    tracks = statistics(ana, room, "/tracks")["tracks"]
    assert [(one["title"], one["plays"], one["skips"]) for one in tracks] == [("Ten seconds", 1, 0), ("Half an hour", 0, 1)]
    assert tracks[0]["track"] == 1 and tracks[0]["sourceId"] == "Ten seconds" and tracks[0]["addedBy"] == 1
    # Both songs have the same artist; the third is on air.
    artists = statistics(ana, room, "/artists")["artists"]
    assert [(one["plays"], one["skips"]) for one in artists] == [(1, 1)]
    assert statistics(ana, room, "/artists", to=1)["artists"] == []

    # What has left the pool is still counted, without its catalogue.
    ana.command(room, "skip")
    ana.command(room, "removeTracks", tracks=[1, 2])
    counted(ana, room)
    plays = statistics(ana, room, "/plays", limit=5)["plays"]
    gone = [play for play in plays if play["track"] == 1]
    assert [play["title"] for play in gone] == ["Ten seconds", "Ten seconds"] and "sourceId" not in gone[0]

    # A server that is killed has written little, and counts the rest when it starts.
    for track in (3, 3, 3):
        ana.command(room, "vote", track=track)
        ana.command(room, "unvote", track=track)
    server.kill()
    server.start()
    counted(ana, room)


def test_a_servers_counts_are_compared_and_repaired(lively, storage, sql):
    _, ana, room = lively
    count = check(ana, room)
    tool = lambda *arguments: backline.run("statistics", *arguments, *storage)  # noqa: E731

    told = tool("verify")
    assert (told.returncode, told.stdout.splitlines()[-1].split(" (")[0]) == (
        0, f"compared 1 rooms, {count.seq} events: 0 findings"), told
    assert "1 counted, 0 behind by 0 events" in tool("status").stdout
    changes = [
        "UPDATE statistics_counts SET votes = votes + 1", "UPDATE statistics_counts SET bucket = bucket - 15",
        "UPDATE statistics_plays SET played_ms = 1", "UPDATE statistics_plays SET is_play = NOT is_play",
        "DELETE FROM statistics_plays", "DELETE FROM statistics_counts", "DELETE FROM statistics_tracks",
        "UPDATE statistics_tracks SET title = 'x'",
    ]
    before = rows(sql)
    for change in changes:
        sql(change)
        found = tool("verify")
        assert found.returncode == 1 and f"room {room}: " in found.stdout, (change, found)
        assert tool("rebuild").returncode == 0
        assert rows(sql) == before, change
    assert check(ana, room).seq == count.seq
    # One more or one less in any number of any row is found: of two rows at a time, as each is reported by itself.
    for table, columns in NUMBERS.items():
        key = "room_id, entry" if table == "plays" else "room_id, step, bucket"

        def change(pair, by):
            for place, column in enumerate(pair):
                sql(f"UPDATE statistics_{table} SET {column} = {column} {by} 1 WHERE ({key}) = "
                    f"(SELECT {key} FROM statistics_{table} ORDER BY {key} LIMIT 1 OFFSET {place})")

        for pair in (columns[at:at + 2] for at in range(0, len(columns), 2)):
            change(pair, "+")
            found = tool("verify")
            assert found.returncode == 1 and found.stdout.count(f"room {room}: ") >= len(pair), (table, pair, found)
            change(pair, "-")
    assert tool("verify").returncode == 0
    # Other tools read what is counted.
    lines = [json.loads(line) for line in backline.run("export", "--statistics", *storage).stdout.splitlines()]
    assert {line["room"] for line in lines} == {room}
    plays = [line for line in lines if line["kind"] == "play"]
    assert [(line["entry"], line["title"], line["endedAt"], line["playedMs"], line["reason"], line["isPlay"])
            for line in plays] == [(play["entry"], play["title"], play["endedAt"], play["playedMs"], play["reason"], play["isPlay"])
                                   for play in count.newest_plays]
    spans = [line for line in lines if line["kind"] == "count"]
    assert {name: sum(line[name] for line in spans) for name in METRICS} == {
        name: sum(minute[name] for minute in count.minutes.values()) for name in METRICS}

    one = tool("rebuild", "--room", room)
    assert one.returncode == 0 and one.stdout.startswith(f"rebuilt 1 rooms, {count.seq} events"), one
    assert tool("verify", "--new").stdout.startswith("compared 0 rooms")
    assert tool("verify", "--since", "2100-01-01").stdout.startswith("compared 0 rooms")
    assert tool("rebuild", "--since", "2026-02-30").returncode == 64


@pytest.mark.soak("kills")
def test_a_rebuild_that_is_killed_goes_on_and_ends_the_same(servers, storage, sql):
    """More rooms than a page of the tool has, with songs in one of nine."""
    server = servers("--plain", *backline.NO_GRACE, store=storage).start()
    people = [server.session(f"Person {number}") for number in range(6)]
    rooms = []
    for number in range(300):
        person = people[number % 6]
        room = person.create_room()["room"]["state"]["id"]
        if number % 9 == 0:
            person.command(room, "addTracks", tracks=[song(f"Song {number % 4}")])
            person.command(room, "enqueue", track=1)
            person.command(room, "play")
            person.command(room, "skip")
        rooms.append((person, room))
    for person, room in rooms[::9] + rooms[-1:]:
        counted(person, room)
    assert server.stop() == 0

    before = rows(sql)
    command = [backline.program(), "statistics", "rebuild", *storage]
    left = 0
    for share in range(1, 9):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(share * 0.06)
            left += process.poll() is None
            process.kill()
    assert left, "the tool was killed while it ran"
    told = backline.run("statistics", "rebuild", *storage)
    assert told.returncode == 0 and rows(sql) == before
    verified = backline.run("statistics", "verify", *storage)
    assert verified.returncode == 0 and verified.stdout.startswith("compared 300 rooms"), verified
    # Twice changes nothing.
    assert backline.run("statistics", "rebuild", *storage).returncode == 0 and rows(sql) == before


def test_questions_that_cannot_be_answered(shared):
    ana, ben = shared.session("Ana"), shared.session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    path = f"/v1/rooms/{room}/statistics"
    for query in (
        "step=week", "step=", "offsetMinutes=7", "offsetMinutes=855", "from=x", "from=-1", "from=2&to=1", "to=0",
        "step=minute&from=0", "step=hour&from=0", "step=quarter&from=1&to=2000000000000",
    ):
        ana.request("GET", f"{path}?{query}").expect_problem(400, "bad_request")
    for query in ("limit=0", "cursor=x", "cursor=1.0", "from=5&to=5"):
        ana.request("GET", f"{path}/plays?{query}").expect_problem(400, "bad_request")
    assert statistics(ana, room, to=MINUTE, **{"from": 0})["buckets"] == []
    assert statistics(ana, room, "/plays", limit=10**9)["plays"] == []
    ana.request("GET", "/v1/rooms/ZZZZZZ/statistics").expect_problem(404, "not_found")
    ben.command(room, "join")
    ana.command(room, "kick", member=2, ban=True)
    for part in ("", "/plays", "/tracks", "/artists"):
        ben.request("GET", path + part).expect_problem(403, "banned")


def test_a_forgotten_room_counts_for_nothing(server, storage, sql):
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    ana.command(room, "addTracks", tracks=[song("Secret", "Somebody")])
    ana.command(room, "enqueue", track=1)
    with ana.socket() as socket:
        socket.subscribe(room)
        ana.command(room, "play")
        ana.command(room, "skip")
        counted(ana, room)
        # A server that stops writes what it has seen of listeners.
        assert server.stop() == 0
    server.start()
    assert statistics(ana, room, "/plays")["plays"][0]["title"] == "Secret"
    for table in ("counts", "plays", "tracks", "audience"):
        assert sql(f"SELECT count(*) FROM statistics_{table}") != "0", table
    assert statistics(ana, room, step="total", **{"from": 0})["buckets"] != []
    ana.command(room, "closeRoom", forget=True)
    # From the acknowledgement on.
    assert statistics(ana, room, "/plays")["plays"] == [] and statistics(ana, room, "/tracks")["tracks"] == []
    total = statistics(ana, room, step="total", **{"from": 0})
    assert (total["seq"], total["buckets"], total["observed"]) == (0, [], [])
    backline.eventually(lambda: sql("SELECT count(*) FROM statistics_plays") == "0", "nothing is kept", 60)
    # A server that starts looks at all rooms: once it has counted another one, it has passed this one over.
    server.kill()
    server.start()
    other = ana.create_room()["room"]["state"]["id"]
    counted(ana, other)
    assert statistics(ana, room)["seq"] == 0
    for table in ("plays", "tracks", "audience"):
        assert sql(f"SELECT count(*) FROM statistics_{table}") == "0", table
    assert sql("SELECT count(DISTINCT room_id) FROM statistics_counts") == "1"
    assert sql("SELECT count(*) FROM statistics_heads WHERE founder IS NOT NULL") == "1"
    assert room not in backline.run("export", "--statistics", *storage).stdout
    assert "1 forgotten" in backline.run("statistics", "status", *storage).stdout


def test_without_statistics_nothing_is_counted_until_they_are_turned_on(servers, storage, sql):
    quiet = servers(*backline.NO_GRACE, "--no-statistics", store=storage).start()
    ana = quiet.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    ana.command(room, "addTracks", tracks=[song("One"), song("Two")])
    ana.request("GET", f"/v1/rooms/{room}/statistics").expect_problem(404, "not_found")
    # A server that stops writes what it has counted.
    assert quiet.stop() == 0
    assert sql("SELECT count(*) FROM statistics_heads") == "0"
    loud = servers(*backline.NO_GRACE, store=storage).start()
    ana.server = loud
    check(ana, room)


def top(person, kind="tracks", **query):
    text = "&".join(f"{name}={value}" for name, value in query.items())
    return person.request("GET", f"/v1/statistics/{kind}?{text}").expect(200)[kind]


@pytest.mark.parametrize("waits", [False, pytest.param(True, marks=pytest.mark.soak("waits for an answer that is kept for a minute"))])
def test_a_song_is_named_when_rooms_of_enough_owners_have_played_it(servers, storage, sql, waits):
    """Four rooms play a song, and nobody learns it; a fifth, and all do; one is forgotten or leaves, and nobody does."""
    server = servers(*backline.NO_GRACE, "--max-searches-per-minute", "0", "--no-statistics", store=storage).start()
    place = {"lat": 41.15, "lon": -8.61}
    people = [server.session(f"Person {number}") for number in range(8)]
    rooms, common, rare = [], song("Common", "Somebody", 10_000), song("Rare", "Nobody", 10_000)
    for number, person in enumerate(people):
        # The last room is unlisted; the one before belongs to the owner of another one.
        owner = people[0] if number == 5 else person
        made = owner.create_room(location=place, visibility="unlisted" if number == 6 else "public")
        room = made["room"]["state"]["id"]
        owner.command(room, "addTracks", tracks=[common, rare])
        rooms.append((owner, room))

    age(server, sql)

    def play(chosen, track):
        for owner, room in chosen:
            hear(owner, room, track=track)
            counted(owner, room)

    watcher = server.session("Somebody")
    circles = [{"lat": 41.15 + step * 0.002, "lon": -8.61, "radiusMeters": 1_000} for step in range(-8, 9)]

    def named():
        answers = [top(watcher, window=window) for window in ("hour", "day", "week")]
        answers += [top(watcher, window="hour", **circle) for circle in circles]
        return {one["title"] for answer in answers for one in answer}

    def forget_answers():
        """A server that starts again has none of the answers that it keeps for a while."""
        server.kill()
        server.start()
        for owner, room in rooms:
            counted(owner, room)

    # Four owners, one of them twice, and a room that nobody can find.
    play(rooms[:4] + rooms[5:7], 1)
    assert named() == set() and top(watcher, "artists", window="hour") == []
    play(rooms[4:5], 1)
    here = {"window": "hour", **place, "radiusMeters": 5_000}
    assert top(watcher, **here) == [{"title": "Common", "artist": "Somebody", "plays": 6, "rooms": 5}]
    assert top(watcher, "artists", **here) == [{"artist": "Somebody", "plays": 6, "rooms": 5}]
    forget_answers()
    assert named() == {"Common"}
    for window in ("hour", "day", "week"):
        assert top(watcher, window=window) == [{"title": "Common", "artist": "Somebody", "plays": 6, "rooms": 5}]
    assert top(watcher, window="hour", lat=52.5, lon=13.4, radiusMeters=5_000) == []
    for query in ("window=month", "lat=41", "lat=41&lon=-8&radiusMeters=999", "limit=0"):
        watcher.request("GET", f"/v1/statistics/tracks?{query}").expect_problem(400, "bad_request")

    # An owner takes a room out, and with it what it has played before; another room takes its place.
    play(rooms[7:], 1)
    assert top(watcher, **here) == [{"title": "Common", "artist": "Somebody", "plays": 7, "rooms": 6}]
    owner, room = rooms[3]
    owner.command(room, "updateRoom", settings={"countedAcrossRooms": False})
    counted(owner, room)
    assert top(watcher, **here) == [{"title": "Common", "artist": "Somebody", "plays": 6, "rooms": 5}]
    # A room is forgotten: within a minute no answer has its share.
    owner, room = rooms[4]
    owner.command(room, "closeRoom", forget=True)
    assert top(watcher, **here) == []
    # That of an hour is the first that is made anew.
    if not waits:
        return
    backline.eventually(lambda: top(watcher, window="hour") == [], "no answer is kept")
    del rooms[4]
    forget_answers()
    assert named() == set()
    assert backline.run("statistics", "verify", *storage).returncode == 0


@pytest.mark.soak("waits for a minute")
@pytest.mark.long
def test_how_many_listened_is_observed(servers, tmp_path):
    """A server writes that once a minute, and when it stops."""
    server = servers(store=("--store", "sqlite", "--data", str(tmp_path / "data"))).start()
    ana, ben = server.session("Ana"), server.session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    ana.command(room, "addTracks", tracks=[song("One", duration=600_000)])
    ben.command(room, "join")
    ana.command(room, "enqueue", track=1)
    with ana.socket() as one, ben.socket() as other:
        one.subscribe(room)
        other.subscribe(room)
        began = time.monotonic()
        ana.command(room, "play")
        backline.eventually(
            lambda: sum(seen["listenedMs"] for seen in statistics(ana, room)["observed"]) > 0 or time.sleep(1),
            "a minute was observed", 90)
        seen = statistics(ana, room, step="minute")["observed"]
        lasted = time.monotonic() - began
    assert max(minute["peakListeners"] for minute in seen) == 2
    assert 0 < sum(minute["listenedMs"] for minute in seen) <= 2_000 * lasted + 1_000
    assert all(minute["listenedMs"] <= 2 * MINUTE for minute in seen)
    # Whoever leaves is not counted any more; a server that stops writes what it has seen.
    assert server.stop() == 0
    server.start()
    again = statistics(ana, room, step="total", **{"from": 0})["observed"]
    assert again[0]["peakListeners"] == 2 and again[0]["listenedMs"] >= sum(minute["listenedMs"] for minute in seen)


def test_who_comes_back_to_a_server_that_starts_again_is_counted_once(servers, tmp_path):
    """A minute goes on over the restart of the only server of its log."""
    server = servers(store=("--store", "sqlite", "--data", str(tmp_path / "data"))).start()
    ana, ben = server.session("Ana"), server.session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    ana.command(room, "addTracks", tracks=[song("One", duration=600_000)])
    ben.command(room, "join")
    ana.command(room, "enqueue", track=1)
    ana.command(room, "play")
    for _ in range(3):
        with ana.socket() as one, ben.socket() as other:
            one.subscribe(room)
            other.subscribe(room)
        # A server that stops writes what it has seen of listeners.
        assert server.stop() == 0
        server.start()
    assert statistics(ana, room, step="total", **{"from": 0})["observed"][0]["peakListeners"] == 2


def test_a_day_that_is_proven_is_sealed(server, storage, sql):
    """A device that was off line tells of yesterday: the day is computed, proven, sealed; and a change in it is found."""
    ana = server.session("Ana")
    room = ana.create_room(visibility="public")["room"]["state"]["id"]
    ana.command(room, "addTracks", tracks=[song("One", "A", 10_000)])
    day = 86_400_000
    now = ana.room(room)["room"]["time"]
    yesterday = (now // day - 1) * day + day // 2
    counted(ana, room)
    # As if the room had been there yesterday: the log tells the times, and servers count what it tells.
    assert server.stop() == 0
    sql(f"UPDATE events SET at = {yesterday}, checksum = NULL")
    server.start()
    ana.command(room, "syncDeck", queue=[], playback={"status": "stopped"}, played=[
        {"track": 1, "startedAtMs": yesterday + 60_000, "playedMs": 10_000, "reason": "ended"}])
    counted(ana, room)
    tool = lambda *arguments: backline.run("statistics", *arguments, *storage)  # noqa: E731
    assert tool("rebuild").returncode == 0
    told = tool("verify")
    assert told.returncode == 0, told
    status, through = tool("status").stdout, statistics(ana, room)["sealedThrough"]
    # The day before this one; or before the next, if that has begun meanwhile.
    last = [time.strftime("%Y-%m-%d", time.gmtime(at / 1000 - 86_400)) for at in (now, ana.room(room)["room"]["time"])]
    # The server computed eight days, of which yesterday is one only once the day is five minutes old.
    sealed = re.search(r"^sealed +[89] days, the last of them (\S+)$", status, re.MULTILINE)
    assert through in last and sealed and sealed[1] in last, status
    sql("UPDATE statistics_top SET plays = plays + 1")
    found = tool("verify")
    assert found.returncode == 1 and found.stdout.count("numbers across rooms") == 2, found
    assert tool("rebuild").returncode == 0 and tool("verify").returncode == 0
