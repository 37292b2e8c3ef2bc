"""The socket: welcome, subscriptions, resuming, keys, bans, time."""

import contextlib
import json
import socket
import time

import pytest

import backline
from checks import check_followers, check_log
from fold import Follower, differences


@pytest.fixture
def dj(shared):
    return shared.session("Ana")


@pytest.fixture
def guest(shared):
    return shared.session("Ben")


@pytest.fixture
def room(dj):
    room = dj.create_room()["room"]["state"]["id"]
    dj.command(room, "addTracks", tracks=backline.tracks("One", "Two", "Three"))
    return room


def test_a_socket_is_welcomed(dj):
    with dj.socket() as client:
        welcome = client.receive()
        assert welcome["type"] == "welcome"
        assert welcome["session"] == {"id": dj.session, "name": "Ana"}
        assert welcome["server"]["version"] and welcome["server"]["node"]
        assert welcome["beatMs"] == 25_000 and abs(welcome["time"] - time.time() * 1000) < 60_000


def test_time_is_told(dj):
    with dj.socket() as client:
        last = 0
        for _ in range(8):
            sent = time.time() * 1000
            answer = client.ask("time", t1=sent)
            assert answer["t1"] == sent
            assert last < answer["t2"] <= answer["t3"], "the clock never steps back"
            assert abs(answer["t2"] - sent) < 60_000
            last = answer["t3"]


def test_looking_needs_no_membership(guest, room):
    with guest.socket() as client:
        answer = client.subscribe(room)
        assert answer["type"] == "snapshot" and answer["room"] == room and answer.get("you") is None
        assert answer["presence"]["online"] == 0, "only members are counted"
        assert differences(answer["state"], guest.room(room)["room"]["state"]) == []
        assert abs(answer["time"] - time.time() * 1000) < 60_000


def test_a_socket_for_one_room_begins_with_its_snapshot(dj, room):
    with dj.socket(f"/v1/rooms/{room}/socket", follow=room) as client:
        kinds = [client.receive()["type"], client.receive()["type"]]
        assert kinds == ["welcome", "snapshot"]
        answer = client.command(room, "vote", track=1)
        follower = client.catch_up(room, answer["seq"])
        check_followers(dj, room, [follower])


def test_members_with_a_live_subscription_are_online(dj, guest, room):
    guest.command(room, "join")
    with dj.socket() as first, guest.socket() as second:
        first.subscribe(room)
        assert second.subscribe(room)["presence"]["online"] == 2
        backline.eventually(lambda: dj.room(room)["room"]["presence"]["online"] == 2, "two are online")
    backline.eventually(lambda: dj.room(room)["room"]["presence"]["online"] == 0, "nobody is online")


def test_subscribing_twice_leaves_one_subscription(dj, room):
    with dj.socket() as client:
        client.subscribe(room)
        assert client.subscribe(room)["type"] == "snapshot"
        answer = client.command(room, "vote", track=1)
        # A second delta of the same event would be a repeated event, which the follower refuses.
        client.catch_up(room, answer["seq"])
        assert client.is_alive()
        resumed = client.subscribe(room, client.rooms[room].position)
        assert resumed["type"] == "resumed" and resumed["seq"] == answer["seq"]
        answer = client.command(room, "vote", track=2)
        check_followers(dj, room, [client.catch_up(room, answer["seq"])])
        assert client.is_alive()
        assert client.ask("unsubscribe", room=room)["type"] == "ok"
        dj.command(room, "vote", track=3)
        assert client.is_alive()
        assert client.rooms[room].seq == answer["seq"], "one unsubscribe ends it"


def test_who_unsubscribed_hears_no_more_and_may_come_back(dj, room):
    with dj.socket() as client:
        client.subscribe(room)
        assert client.ask("unsubscribe", room=room) == {"type": "ok", "re": client._id}
        seq = dj.command(room, "vote", track=1)["seq"]
        assert client.is_alive() and client.is_alive()
        assert not [message for message in client.pushed if message["type"] == "delta"]
        assert client.resume(client.rooms[room])["type"] == "resumed"
        client.catch_up(room, seq)
        # Ending a subscription that does not exist is not an error.
        client.ask("unsubscribe", room=room)
        assert client.ask("unsubscribe", room=room)["type"] == "ok"


def test_messages_are_taken_in_their_order(dj, room):
    """Everything is sent at once; each message sees the effects of the earlier ones."""
    with dj.socket() as client:
        client.rooms[room] = Follower(room)
        numbers = [client.next_id() for _ in range(6)]
        for number, message in zip(numbers, (
            {"type": "subscribe", "room": room}, {"type": "unsubscribe", "room": room},
            {"type": "subscribe", "room": room}, {"type": "command", "room": room, "command": {"type": "leave"}},
            {"type": "command", "room": room, "command": {"type": "join"}}, {"type": "unsubscribe", "room": room},
        )):
            client.send({**message, "id": number})
        told = [client.answer_to(number)["type"] for number in numbers[:3]]
        assert told == ["snapshot", "ok", "snapshot"]
        # The owner was the only member: leaving closed the room.
        assert client.answer_to(numbers[3])["type"] == "ack"
        assert client.answer_to(numbers[4])["code"] == "room_closed"
        assert client.answer_to(numbers[5])["type"] == "ok"


def test_who_unsubscribes_at_once_is_not_left_subscribed(dj, room):
    with dj.socket() as client:
        for _ in range(20):
            client.send({"type": "subscribe", "room": room})
            client.send({"type": "unsubscribe", "room": room})
        assert client.ask("unsubscribe", room=room)["type"] == "ok"
        client.pushed.clear()
        for number in range(5):
            assert client.command(room, "rename", name=f"Ana {number}")["type"] == "ack"
        assert client.is_alive()
        assert not [message for message in client.pushed if message["type"] == "delta"]
        assert dj.room(room)["room"]["presence"]["online"] == 0


@pytest.mark.parametrize("named", [True, False], ids=["with an id", "without one"])
def test_a_socket_that_left_its_room_is_not_closed_for_want_of_another(dj, room, named):
    """Only losing its own room closes a socket that was opened for one room."""
    with dj.socket(f"/v1/rooms/{room}/socket") as client:
        assert client.wait_for("snapshot")["room"] == room
        assert client.ask("unsubscribe", room=room)["type"] == "ok"
        client.send({"type": "subscribe", "room": backline.room_id(), **({"id": 77} if named else {})})
        refused = client.wait_for("error")
        assert refused["code"] == "not_found" and refused.get("re") == (77 if named else None), refused
        assert client.is_alive()
        assert client.subscribe(room)["type"] == "snapshot"


def test_one_socket_follows_many_rooms(dj):
    rooms = [dj.create_room(f"Room {number}")["room"]["state"]["id"] for number in range(5)]
    with dj.socket() as client:
        for room in rooms:
            client.subscribe(room)
        last = {room: client.command(room, "rename", name=f"Ana {i}")["seq"] for i, room in enumerate(rooms)}
        for room, seq in last.items():
            check_followers(dj, room, [client.catch_up(room, seq)])


@pytest.mark.parametrize("back", [0, 1, 7])
def test_a_position_is_resumed_with_exactly_what_came_after_it(dj, room, back):
    with dj.socket() as client:
        client.subscribe(room)
        follower = client.rooms[room]
    start = follower.seq
    for number in range(back):
        dj.command(room, "rename", name=f"Ana {number}")
    with dj.socket() as client:
        answer = client.resume(follower)
        assert (answer["type"], answer["seq"]) == ("resumed", start + back), answer
        assert answer["you"]["role"] == "owner" and answer["presence"]["online"] >= 0
        assert not [message for message in client.pushed if message.get("room") == room], "preceded by nothing"
        client.catch_up(room, start + back)
        assert list(follower.events) == list(range(start + 1, start + back + 1))
        check_followers(dj, room, [follower])


def test_a_whole_history_is_resumed_from_its_first_event(dj, room):
    events = dj.events(room)
    follower = Follower(room)
    follower.epoch, follower.seq = dj.room(room)["room"]["epoch"], 1
    follower.state = dj.request("GET", f"/v1/rooms/{room}?at=1").expect(200)["room"]["state"]
    with dj.socket() as client:
        assert client.resume(follower)["type"] == "resumed"
        client.catch_up(room, len(events))
        check_followers(dj, room, [follower])


def test_a_position_that_is_not_the_rooms_is_answered_with_a_snapshot(dj, room):
    snapshot = dj.room(room)["room"]
    for position in (
        {"epoch": "another", "seq": 1}, {"epoch": snapshot["epoch"], "seq": snapshot["seq"] + 1},
        {"epoch": snapshot["epoch"], "seq": (1 << 53) - 1}, {"epoch": "", "seq": 0},
    ):
        with dj.socket() as client:
            answer = client.subscribe(room, position)
            assert (answer["type"], answer["seq"]) == ("snapshot", snapshot["seq"]), (position, answer)
            assert differences(answer["state"], snapshot["state"]) == []


def test_a_key_has_one_outcome(server):
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    with dj.socket() as client:
        key = backline.new_key()
        fields = {"tracks": backline.tracks("One", "Two")}
        first = client.command(room, "addTracks", key=key, **fields)
        assert first["type"] == "ack" and first["result"] == {"tracks": [1, 2]}
        again = client.command(room, "addTracks", key=key, **fields)
        assert (again["seq"], again["result"]) == (first["seq"], first["result"])
        # Over HTTP the key is a header, and the outcome is the same.
        assert dj.command(room, "addTracks", key, **fields) == {
            name: first[name] for name in ("seq", "keyed", "result")}
        answer = client.command(room, "addTracks", key=key, tracks=backline.tracks("Three"))
        assert (answer["type"], answer["code"]) == ("error", "conflict"), answer
        dj.post_command(room, "vote", key, track=1).expect_problem(409, "conflict")

        # A refusal is not remembered: the same key may succeed later.
        later = backline.new_key()
        answer = client.command(room, "enqueue", key=later, track=3)
        assert (answer["type"], answer["code"]) == ("error", "not_found")
        client.command(room, "addTracks", tracks=backline.tracks("Three"))
        entered = client.command(room, "enqueue", key=later, track=3)
        assert entered["type"] == "ack" and entered["result"] == {"entry": 1}

    # Another session's keys are its own.
    guest = server.session("Ben")
    guest.command(room, "join")
    assert guest.command(room, "vote", key, track=1)["seq"] > entered["seq"]

    server.kill()
    server.start()
    with dj.socket() as client:
        again = client.command(room, "addTracks", key=key, **fields)
        assert (again["seq"], again["result"]) == (first["seq"], first["result"])
        answer = client.command(room, "enqueue", key=key, track=1)
        assert (answer["type"], answer["code"]) == ("error", "conflict")
    events = check_log(dj, room)
    assert [event["type"] for event in events].count("tracksAdded") == 2


def test_what_is_already_so_is_acknowledged_and_changes_nothing(dj, guest, room):
    joined = guest.command(room, "join")
    guest.command(room, "vote", track=1)
    seq = dj.room(room)["room"]["seq"]
    with guest.socket() as client:
        for type, fields in (("vote", {"track": 1}), ("unvote", {"track": 2}), ("rename", {"name": "Ben"})):
            key = backline.new_key()
            for _ in range(2):
                answer = client.command(room, type, key=key, **fields)
                assert (answer["type"], answer["seq"]) == ("ack", seq), (type, answer)
    with dj.socket() as client:
        for type, fields in (
            ("pause", {}), ("resume", {}), ("seek", {"positionMs": 5}), ("skip", {}), ("finish", {"entry": 1}),
            ("setRole", {"member": 2, "role": "guest"}), ("unban", {"member": 2}),
        ):
            answer = client.command(room, type, **fields)
            assert (answer["type"], answer["seq"]) == ("ack", seq), (type, answer)
        answer = client.command(room, "play")
        assert (answer["type"], answer["code"]) == ("error", "not_found"), "there is nothing to play"
    again = guest.command(room, "join")
    assert (again["seq"], again["result"]) == (seq, joined["result"])
    assert dj.room(room)["room"]["seq"] == seq


def test_the_song_on_air_stays_in_the_pool(dj, room):
    dj.command(room, "enqueue", track=1)
    dj.command(room, "play")
    dj.post_command(room, "removeTracks", tracks=[2, 1]).expect_problem(409, "conflict")
    seq = dj.command(room, "removeTracks", tracks=[2])["seq"]
    assert dj.command(room, "finish", entry=99)["seq"] == seq, "finishing what is not on air changes nothing"
    check_log(dj, room)


def test_who_is_banned_is_put_out_and_kept_out(shared, dj, room):
    guest = shared.session("Ben")
    member = guest.command(room, "join")["result"]["member"]
    with guest.socket() as many, guest.socket(f"/v1/rooms/{room}/socket", follow=room) as one, dj.socket() as ours:
        many.subscribe(room)
        one.wait_for("snapshot")
        ours.subscribe(room)
        seq = ours.command(room, "kick", member=member, ban=True, reason="noise")["seq"]
        events = ours.catch_up(room, seq).events
        assert [(event["type"], event.get("reason")) for event in events.values()] == [
            ("memberLeft", "banned"), ("memberBanned", "noise")]
        for client in (many, one):
            ended = client.wait_for("ended")
            assert (ended["room"], ended["code"]) == (room, "banned")
        assert one.closed() == 4403
        assert many.is_alive(), "the other socket was not for this room alone"
        answer = many.subscribe(room)
        assert (answer["type"], answer["code"]) == ("error", "banned")
        answer = many.command(room, "join")
        assert (answer["type"], answer["code"]) == ("error", "banned")
        guest.post_command(room, "join").expect_problem(403, "banned")
        with pytest.raises(backline.websockets.exceptions.InvalidStatus) as refusal:
            guest.socket(f"/v1/rooms/{room}/socket")
        assert refusal.value.response.status_code == 403

        assert ours.command(room, "unban", member=member)["type"] == "ack"
        assert many.subscribe(room)["type"] == "snapshot"
        assert many.command(room, "join")["result"]["member"] == member + 1, "a new membership has a new number"
    check_log(dj, room)


def test_who_is_kicked_may_come_back(dj, guest, room):
    guest.command(room, "join")
    with guest.socket() as client:
        client.subscribe(room)
        seq = dj.command(room, "kick", member=2)["seq"]
        # A kick ends the membership, not the subscription.
        follower = client.catch_up(room, seq)
        assert follower.events[seq]["reason"] == "kicked" and follower.events[seq]["by"] == 1
        answer = client.command(room, "vote", track=1)
        assert (answer["type"], answer["code"]) == ("error", "not_member")
        assert client.command(room, "join")["result"] == {"member": 3}


def test_a_djs_powers_end_where_the_owners_begin(shared, dj, guest, room):
    other = shared.session("Caro")
    for person in (guest, other):
        person.command(room, "join")
    dj.command(room, "setRole", member=2, role="dj")
    guest.post_command(room, "kick", member=1).expect_problem(403, "forbidden")
    guest.post_command(room, "updateRoom", name="Mine").expect_problem(403, "forbidden")
    assert guest.command(room, "kick", member=3)["seq"]
    assert guest.command(room, "enqueue", track=1)["result"] == {"entry": 1}


def test_a_lost_connection_does_not_hold_up_the_others(dj, guest, room):
    """A connection is cut without a close frame; the others continue."""
    cut, client = guest.socket(), dj.socket()
    cut.subscribe(room)
    client.subscribe(room)
    cut.drop()
    for number in range(20):
        answer = client.command(room, "rename", name=f"Ana {number}")
        assert answer["type"] == "ack"
    check_followers(dj, room, [client.catch_up(room, answer["seq"])])
    client.close()
    cut.close()


def test_who_cannot_keep_up_gets_one_snapshot_in_place_of_what_it_missed(shared, dj, guest, room):
    """A client stops reading while megabytes of events happen, and then reads again."""
    picture = "https://example.org/" + "x" * 2000
    large = [{"source": "s", "sourceId": str(n), "title": f"Large {n}", "artworkUrl": picture} for n in range(100)]
    with backline.RawSocket(shared, guest.token, receive_buffer=64 << 10) as slow, dj.socket() as fast:
        follower = Follower(room)
        slow.send({"type": "subscribe", "id": 1, "room": room})
        while follower.state is None:
            follower.take(slow.receive())
        fast.subscribe(room)
        # Six megabytes: more than the system's buffers hold.
        for _ in range(30):
            added = fast.command(room, "addTracks", tracks=large)
            assert added["type"] == "ack", added
            last = fast.command(room, "removeTracks", tracks=added["result"]["tracks"])["seq"]
        assert fast.catch_up(room, last).snapshots == 1, "who keeps up is not concerned"
        slow.send({"type": "time", "id": 2, "t1": 0})

        # Messages under way arrive, then the snapshot, and the answer, which is never dropped.
        collapsed, answered = [], False
        while follower.seq < last or not answered:
            message = slow.receive()
            answered = answered or message.get("re") == 2
            if message["type"] == "snapshot":
                collapsed.append(message["collapsed"])
                assert collapsed[-1] == {"from": follower.seq + 1, "seq": message["seq"]}
                assert message.get("re") is None
            follower.take(message)
        assert len(collapsed) == 1, collapsed
        # From here on it gets every event again.
        answer = fast.command(room, "vote", track=1)
        while follower.seq < answer["seq"]:
            follower.take(slow.receive())
        assert follower.events[answer["seq"]]["type"] == "voteCast"
        check_followers(dj, room, [follower, fast.catch_up(room, answer["seq"])])


@pytest.mark.soak("memory is measured")
def test_a_client_that_asks_much_and_reads_nothing_costs_little(servers):
    """A client requests ninety snapshots of a large room at once and reads none: they are not queued for it."""
    server = servers("--plain", *backline.PATIENT).start()
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    for start in range(0, 2_000, 100):
        dj.command(room, "addTracks", tracks=[
            {"source": "test", "sourceId": f"{number}", "title": f"{number} {'x' * 250}", "album": "y" * 300}
            for number in range(start, start + 100)
        ])
    size = len(dj.request("GET", f"/v1/rooms/{room}").body)

    def resident():
        with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))

    before = resident()
    with contextlib.closing(socket.socket()) as peer:
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        peer.connect((server.host, server.port))
        peer.sendall(
            f"GET /v1/socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {'A' * 22}==\r\n"
            f"Authorization: Bearer {dj.token}\r\n\r\n".encode())
        assert peer.recv(12) == b"HTTP/1.1 101"
        message = json.dumps({"type": "subscribe", "id": 1, "room": room}).encode()
        frame = bytes([0x81, 0x80 | len(message), 0, 0, 0, 0]) + message
        peer.sendall(frame * 90)
        # The server has read them all when it has answered a later message of another client.
        for _ in range(20):
            dj.command(room, "updateRoom", name=backline.new_key())
        assert resident() - before < 10 * size
