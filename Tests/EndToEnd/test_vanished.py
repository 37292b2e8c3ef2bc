"""Sessions that join and never return: two servers clear them away, each part once."""

import collections
import concurrent.futures

import pytest

import backline
from checks import check_log

SESSIONS = 60
ROOMS = 3
LONG_AGO = 60_001
"""The row of a session that is over is kept for a minute, in milliseconds."""


@pytest.mark.soak("waits for rounds, which come every ten seconds")
def test_sessions_that_join_and_vanish_are_cleared_away_once(servers, cluster, tmp_path):
    database = cluster.database()
    nodes = [
        servers("--plain", store=["--store", "postgres", "--database-url", database, "--data", str(tmp_path / name)])
        .start() for name in ("one", "two")
    ]
    owners = [nodes[number % 2].session(f"Owner {number}") for number in range(ROOMS)]
    rooms = [owner.create_room()["room"]["state"]["id"] for owner in owners]

    def sql(statement):
        return cluster.sql(statement, database.rpartition("/")[2])

    def rows(table):
        return int(sql(f"SELECT count(*) FROM {table}"))

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
        """The number of members that each room shows, at either server."""
        return [
            backline.Person(node, owner.session, owner.token, owner.name).room(room)["room"]["presence"]["online"]
            for node in nodes for owner, room in zip(owners, rooms)
        ]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        guests = list(pool.map(come, range(SESSIONS)))
    backline.eventually(lambda: online() == [SESSIONS // ROOMS] * 2 * ROOMS, "all are online", timeout=60)
    assert rows("sessions") == SESSIONS + ROOMS and rows("memberships") == SESSIONS + ROOMS
    for client, _ in guests:
        # Without a close frame or a `leave`.
        client.stream.close()
        client.reader.close()
    # A lost connection is noticed at once here; elsewhere within the silence limit.
    backline.eventually(lambda: online() == [0] * 2 * ROOMS, "none is online", timeout=60)
    # As if a month had gone by in which only the owners came.
    sql(f"UPDATE sessions SET expires_at = created_at - {LONG_AGO} WHERE name LIKE 'Guest %'")
    backline.eventually(lambda: rows("sessions") == ROOMS, "their rows are gone", timeout=60)
    assert rows("memberships") == ROOMS
    members, count = collections.Counter(), 0
    for owner, room in zip(owners, rooms):
        events = check_log(owner, room)
        count += len(events)
        leavings = [event for event in events if event["type"] == "memberLeft"]
        assert {event["reason"] for event in leavings} == {"expired"} and not any("by" in event for event in leavings)
        members.update((room, event["member"]) for event in leavings)
        assert [member["member"] for member in owner.room(room)["room"]["state"]["members"]] == [1]
    assert members == collections.Counter(
        (rooms[number % ROOMS], member) for number, (_, member) in enumerate(guests))
    # One event for each arrival, one for each departure, and the room's own two.
    assert count == 2 * SESSIONS + 2 * ROOMS
