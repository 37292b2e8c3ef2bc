"""Subscriptions to what is counted: what a client holds after each message is what the events say."""

import time

import pytest

import backline
from counting import MINUTE, Count, events_of
from test_statistics import counted, song

HOUR = 60 * MINUTE


class Watch:
    """A socket's subscription to a room's counts, and what its messages add up to."""

    def __init__(self, client, room, **fields):
        self.client, self.offset = client, fields.get("offsetMinutes", 0)
        answer = client.ask("statistics", room=room, **fields)
        assert answer["type"] == "statistics", answer
        assert answer["room"] == room or "-" not in room
        self.sub, self.messages = answer["re"], [answer]
        self.take(answer)

    def take(self, message):
        if message.get("whole", "room" in message):
            self.minutes = {}
        for bucket in message["minutes"]:
            self.minutes[bucket["at"]] = bucket
            if len(bucket) == 1:
                del self.minutes[bucket["at"]]
        self.seq, self.epoch, self.today = message["seq"], message["epoch"], message["today"]

    def read(self):
        """Takes the deltas so far."""
        for message in [one for one in self.client.pushed if one.get("sub") == self.sub]:
            self.client.pushed.remove(message)
            assert message["type"] == "statisticsDelta", message
            self.messages.append(message)
            self.take(message)

    def until(self, seq):
        def reached():
            self.read()
            return self.seq >= seq
        self.client.until(reached, f"counts at {seq}")

    def check(self, events):
        """Compares what the client holds with the events up to the position that the last message named."""
        count = Count(events[:self.seq])
        # The room is younger than an hour.
        assert self.minutes == {one["at"]: one for one in count.buckets(1, 0, 1 << 50)}
        day = self.today["at"]
        assert (day + self.offset * MINUTE) % (24 * HOUR) == 0
        total = count.buckets(24 * 60, day, day + 24 * HOUR, self.offset)
        assert [self.today] == (total or [{"at": day}])


def test_a_subscription_follows_the_events(server):
    ana, ben = server.session("Ana"), server.session("Ben")
    made = ana.create_room()["room"]["state"]
    room = made["id"]
    ana.command(room, "addTracks", tracks=[song("One"), song("Two"), song("Three")])
    with ana.socket() as client, ben.socket() as other:
        watch = Watch(client, made["code"])
        late = Watch(other, room, offsetMinutes=345)
        for turn in range(12):
            ben.command(room, "join") if turn == 0 else ana.command(room, "vote" if turn % 2 else "unvote", track=1)
            if turn % 4 == 3:
                watch.until(ana.room(room)["room"]["seq"])
                watch.check(ana.events(room))
        head = ana.room(room)["room"]["seq"]
        started = time.monotonic()
        for one in (watch, late):
            one.until(head)
            one.check(ana.events(room))
        print(f"the last delta came {time.monotonic() - started:.2f} s after its event")
        # Nothing comes where nothing happens; the end is answered, also twice.
        for _ in range(2):
            assert client.ask("statisticsStop", sub=watch.sub)["type"] == "ok"
        ana.command(room, "vote", track=2)
        late.until(head + 1)
        assert not [one for one in client.pushed if one.get("sub") == watch.sub]


def test_a_ban_ends_a_subscription_and_forgetting_empties_it(server):
    ana, ben = server.session("Ana"), server.session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    ben.command(room, "join")
    with ben.socket() as client, ana.socket() as owner:
        theirs, hers = Watch(client, room), Watch(owner, room)
        member = next(one["member"] for one in ana.room(room)["room"]["state"]["members"] if one["name"] == "Ben")
        ana.command(room, "kick", member=member, ban=True)
        end = client.wait_for("statisticsEnd")
        assert end == {"type": "statisticsEnd", "sub": theirs.sub, "code": "banned"}
        assert client.ask("statistics", room=room)["code"] == "banned"
        hers.until(ana.room(room)["room"]["seq"])
        hers.check(ana.events(room))
        assert hers.minutes
        ana.command(room, "closeRoom", forget=True)

        def empty():
            hers.read()
            return hers.seq == 0
        owner.until(empty, "nothing is counted")
        assert hers.minutes == {} and list(hers.today) == ["at"]


def test_subscriptions_are_bounded(shared):
    ana = shared.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    with ana.socket() as client:
        for bad in ({"offsetMinutes": 7}, {"offsetMinutes": 855}, {"offsetMinutes": "x"}, {"room": 5}):
            assert client.ask("statistics", **{"room": room, **bad})["code"] == "bad_request", bad
        assert client.ask("statistics", room="ZZZZZZ")["code"] == "not_found"
        for bad in ({"window": "month"}, {"lat": 1}, {"lat": 1, "lon": 1, "radiusMeters": 999}, {"limit": 0}, {"limit": 201}):
            assert client.ask("trending", **bad)["code"] == "bad_request", bad
        client.send({"type": "statistics", "room": room})
        assert client.wait_for("error")["code"] == "bad_request"
        subs = [client.ask("statistics", room=room)["re"] for _ in range(8)]
        subs += [client.ask("trending", window="hour")["re"] for _ in range(8)]
        assert client.ask("statistics", room=room)["code"] == "limit_reached"
        assert client.ask("trending")["code"] == "limit_reached"
        # The same number again takes the place of the first; an end makes room for another one.
        client.send({"type": "statistics", "id": subs[0], "room": room, "offsetMinutes": 60})
        assert client.answer_to(subs[0])["type"] == "statistics"
        assert client.ask("trendingStop", sub=subs[-1])["type"] == "ok"
        assert client.ask("trending")["type"] == "trending"


def test_a_server_that_counts_nothing_says_so(servers, storage):
    server = servers("--no-statistics", store=storage).start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    with ana.socket() as client:
        assert client.ask("statistics", room=room)["code"] == "not_found"
        assert client.ask("trending")["code"] == "not_found"
        assert client.ask("statisticsStop", sub=1)["type"] == "ok"


@pytest.mark.soak("a song of ten seconds is heard")
@pytest.mark.long
def test_what_is_played_is_told_when_it_changes(servers, tmp_path):
    """The one test in which a song is heard for its ten seconds."""
    store = ("--store", "sqlite", "--data", str(tmp_path / "data"))
    server = servers("--statistics-minimum-rooms", "2", store=store).start()
    place = {"lat": 41.15, "lon": -8.61}
    rooms = []
    for number in range(2):
        owner = server.session(f"Owner {number}")
        room = owner.create_room(location=place)["room"]["state"]["id"]
        owner.command(room, "addTracks", tracks=[song("Common", "Somebody", 10_000)])
        owner.command(room, "enqueue", track=1)
        rooms.append((owner, room))
    with server.session("Ana").socket() as client:
        here = client.ask("trending", window="hour", **place)
        everywhere = client.ask("trending", window="hour", limit=1)
        elsewhere = client.ask("trending", window="hour", lat=52.5, lon=13.4)
        for answer in (here, everywhere, elsewhere):
            assert answer["type"] == "trending" and answer["tracks"] == [] and answer["minimumRooms"] == 2
        for owner, room in rooms:
            owner.command(room, "play")
        time.sleep(10.1)
        for owner, room in rooms:
            owner.command(room, "skip")
            counted(owner, room)
        expected = [{"title": "Common", "artist": "Somebody", "plays": 2, "rooms": 2}]
        deltas = {}
        while len(deltas) < 2:
            delta = client.wait_for("trendingDelta", 60)
            deltas[delta["sub"]] = delta
        assert set(deltas) == {here["re"], everywhere["re"]}
        assert all(delta["tracks"] == expected and delta["window"] == "hour" for delta in deltas.values())
