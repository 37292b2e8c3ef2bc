"""Sessions that join and never return: two servers clear them away, each part once."""

import collections
import concurrent.futures
import time

import pytest

import backline
from checks import check_log

SESSIONS = 1_000
ROOMS = 5
LIFETIME = 30


@pytest.mark.long
def test_a_thousand_sessions_join_and_vanish(servers, cluster, tmp_path, say):
    database = cluster.database()
    nodes = [
        servers(
            "--plain", "--session-lifetime-seconds", str(LIFETIME),
            store=["--store", "postgres", "--database-url", database, "--data", str(tmp_path / name)]).start()
        for name in ("one", "two")
    ]
    owners = [nodes[number % 2].session(f"Owner {number}") for number in range(ROOMS)]
    rooms = [owner.create_room()["room"]["state"]["id"] for owner in owners]

    def rows(table):
        return int(cluster.sql(f"SELECT count(*) FROM {table}", database.rpartition("/")[2]))

    def come(number):
        """Makes a session and joins on a socket that follows the room."""
        node, room = nodes[number % 2], rooms[number % ROOMS]
        person = node.session(f"Guest {number}")
        client = backline.RawSocket(node, person.token, f"/v1/rooms/{room}/socket")
        client.send({"type": "command", "id": 1, "room": room, "command": {"type": "join"}})
        while (message := client.receive()).get("re") != 1:
            pass
        assert message["type"] == "ack", message
        return client, message["result"]["member"]

    def online():
        """The number of members that each room shows, at either server; asking keeps the owners' sessions."""
        return [
            backline.Person(node, owner.session, owner.token, owner.name).room(room)["room"]["presence"]["online"]
            for node in nodes for owner, room in zip(owners, rooms)
        ]

    def kept():
        """The events of each room; reading them keeps the owners' sessions."""
        return [owner.events(room) for owner, room in zip(owners, rooms)]

    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        guests = []
        for first in range(0, SESSIONS, 100):
            guests += pool.map(come, range(first, first + 100))
            kept()
    backline.eventually(lambda: online() == [SESSIONS // ROOMS] * 2 * ROOMS, "all are online", timeout=60)
    assert rows("sessions") == SESSIONS + ROOMS and rows("memberships") == SESSIONS + ROOMS
    gone = time.monotonic()
    for client, _ in guests:
        # Without a close frame or a `leave`.
        client.stream.close()
        client.reader.close()
    # A lost connection is noticed at once here; elsewhere within the silence limit.
    backline.eventually(lambda: online() == [0] * 2 * ROOMS, "none is online", timeout=30)
    offline = time.monotonic()

    def left():
        return sum(event["type"] == "memberLeft" for events in kept() for event in events)

    backline.eventually(lambda: (time.sleep(1), left() == SESSIONS)[1], "all have left", timeout=LIFETIME + 90)
    over = time.monotonic()
    backline.eventually(
        lambda: (time.sleep(1), kept(), rows("sessions") == ROOMS)[2], "their rows are gone", timeout=180)
    say(
        f"{SESSIONS} came in {gone - began:.0f} s; after they vanished: offline in {offline - gone:.1f} s, memberships "
        f"ended in {over - gone:.0f} s, rows gone in {time.monotonic() - gone:.0f} s"
    )
    assert rows("memberships") == ROOMS
    members = collections.Counter()
    for owner, room in zip(owners, rooms):
        events = check_log(owner, room)
        leavings = [event for event in events if event["type"] == "memberLeft"]
        assert {event["reason"] for event in leavings} == {"expired"} and not any("by" in event for event in leavings)
        members.update((room, event["member"]) for event in leavings)
        assert [member["member"] for member in owner.room(room)["room"]["state"]["members"]] == [1]
    assert members == collections.Counter(
        (rooms[number % ROOMS], member) for number, (_, member) in enumerate(guests))
    # One event for each arrival, one for each departure, and the room's own two.
    assert sum(len(events) for events in kept()) == 2 * SESSIONS + 2 * ROOMS
