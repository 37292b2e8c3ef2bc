"""Presence, reactions and signals, through one server and through two on one PostgreSQL."""

import contextlib
import json
import re
import time

import pytest

import backline


class Who:
    """A client's view of presence, from the protocol only."""

    def __init__(self, socket, room):
        self.socket, self.room, self.frames = socket, room, []
        answer = socket.subscribe(room)
        self.online, self.members = answer["presence"]["online"], set(answer["presence"].get("members", []))

    def take(self):
        """Applies the frames that have arrived."""
        for message in [m for m in self.socket.pushed if m["type"] == "presence" and m["room"] == self.room]:
            self.socket.pushed.remove(message)
            assert message["on"] == sorted(message["on"]) and message["off"] == sorted(message["off"])
            self.members = (self.members | set(message["on"])) - set(message["off"])
            self.online = message["online"]
            self.frames.append(time.monotonic())
            assert self.online == len(self.members), message

    def until(self, members, timeout=backline.PATIENCE):
        """Reads until exactly these members are online."""
        def holds():
            self.take()
            return self.members == set(members)
        self.socket.until(holds, f"{members} online, not {self.members}", timeout)


def join(person, room):
    return person.command(room, "join")["result"]["member"]


def on(server, person):
    """The same session through another server."""
    return backline.Person(server.address, person.session, person.token, person.name)


def listeners(person, room):
    """Of a room with one at least: those come first in the list."""
    rooms = person.request("GET", "/v1/rooms?limit=200").expect(200)["rooms"]
    return next((found["listeners"] for found in rooms if found["id"] == room), None)


def test_presence_follows_connections_and_memberships(shared):
    ana, ben = shared.session("Ana"), shared.session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    with ana.socket() as first:
        who = Who(first, room)
        assert (who.online, who.members) == (1, {1}), "who subscribes is in its own snapshot"
        with ben.socket() as second:
            assert second.subscribe(room)["presence"] == {"online": 1, "members": [1]}
            assert second.command(room, "join")["type"] == "ack"
            who.until({1, 2})
            with ben.socket() as third:
                assert third.subscribe(room)["presence"] == {"online": 2, "members": [1, 2]}
            # One connection is left.
            assert ana.room(room)["room"]["presence"] == {"online": 2, "members": [1, 2]}
            assert second.ask("unsubscribe", room=room) == {"type": "ok", "re": second._id}
            who.until({1})
            assert second.subscribe(room)["presence"]["online"] == 2
            who.until({1, 2})
            assert listeners(ana, room) == 2
            ana.command(room, "kick", member=2)
            who.until({1})
            assert second.command(room, "join")["result"] == {"member": 3}
            who.until({1, 3})
        who.until({1})
        assert listeners(ana, room) == 1


def test_frames_are_at_most_four_a_second(shared):
    ana = shared.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    people = [shared.session(f"Person {number}") for number in range(4)]
    members = {join(person, room) for person in people}
    with ana.socket() as watching:
        start, turn = time.monotonic(), 0
        who = Who(watching, room)
        sockets = [person.socket() for person in people]
        while time.monotonic() < start + 3 or turn <= 50 or len(who.frames) <= 5:
            assert time.monotonic() < start + 2 * backline.PATIENCE, (turn, who.frames)
            sockets[turn % 4].ask("subscribe" if turn // 4 % 2 == 0 else "unsubscribe", room=room)
            turn += 1
            watching.ask("time", t1=0)
            who.take()
        for client in sockets:
            client.subscribe(room)
        who.until({1} | members)
        # Measured from the start, because one frame may be read late, and is then nearer to the next.
        assert all(count <= 4 * (at - start) + 1 for count, at in enumerate(who.frames, 1)), (start, who.frames)
        for client in sockets:
            client.close()


def test_reactions_reach_all_subscribers_five_a_second(shared):
    ana, ben, cyd = (shared.session(name) for name in ("Ana", "Ben", "Cyd"))
    room = ana.create_room()["room"]["state"]["id"]
    code = ana.room(room)["room"]["state"]["code"]
    join(ben, room)
    with ana.socket() as first, ben.socket() as second, cyd.socket() as third:
        for client in (first, third):
            client.subscribe(room)
        for emoji in ("👍", "👩🏻‍❤️‍💋‍👨🏿", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", "é"):
            assert second.ask("react", room=code, emoji=emoji)["type"] == "ok"
            for client in (first, third):
                assert client.wait_for("reaction") == {"type": "reaction", "room": room, "from": 2, "emoji": emoji}
        # Without an id there is no answer.
        second.send({"type": "react", "room": room, "emoji": " 🎉\n"})
        assert first.wait_for("reaction")["emoji"] == "🎉"

        def sixth():
            """The answer to the last of six in a row; None if that took a second."""
            numbers = [second.next_id() for _ in range(6)]
            for number in numbers:
                second.send({"type": "react", "id": number, "room": room, "emoji": "🎉"})
            answer = [second.answer_to(number) for number in numbers][-1]
            return answer if answer["type"] != "ok" else None

        refused = backline.eventually(sixth, "the sixth in a second")
        assert refused["code"] == "rate_limited" and 0 < refused["retryAfterMs"] <= 1000, refused
        backline.rest(refused)
        assert second.ask("react", room=room, emoji="🎉")["type"] == "ok"
        # Nobody else's reactions count for Ben.
        assert first.ask("react", room=room, emoji="👋")["type"] == "ok"
        assert third.ask("react", room=room, emoji="👋")["code"] == "not_member"
        for emoji in ("", " ", "ab", "👍👍", "\n", "\u0007", 7, None, ["👍"], "e" + "\u0301" * 40):
            assert first.ask("react", room=room, emoji=emoji)["code"] == "bad_request", emoji
        assert first.ask("react", room=backline.new_key(), emoji="👍")["code"] == "not_found"
        assert first.ask("react", emoji="👍")["code"] == "bad_request"
        assert third.pushed == [] or all(m["type"] != "reaction" or m["from"] != 3 for m in third.pushed)


def test_signals_reach_one_member_as_they_are_written(shared):
    ana, ben, cyd = (shared.session(name) for name in ("Ana", "Ben", "Cyd"))
    room = ana.create_room()["room"]["state"]["id"]
    join(ben, room)
    join(cyd, room)
    with ana.socket() as first, ben.socket() as second, ben.socket() as again, cyd.socket() as third:
        assert first.ask("signal", room=room, to=2, data=1)["code"] == "not_found", "Ben does not follow"
        for client in (first, second, again, third):
            client.subscribe(room)
        for data in ({"sdp": "v=0\r\n", "type": "offer"}, [1, 2.5, 10**30], "text", 0, False, None, {}):
            assert first.ask("signal", room=room, to=2, data=data)["type"] == "ok"
            for client in (second, again):
                assert client.wait_for("signal") == {"type": "signal", "room": room, "from": 1, "data": data}
        largest = "x" * (65_536 - 2)
        assert second.ask("signal", room=room, to=1, data=largest)["type"] == "ok"
        assert first.wait_for("signal")["data"] == largest
        assert second.ask("signal", room=room, to=1, data=largest + "x")["code"] == "too_large"
        # To oneself.
        assert second.ask("signal", room=room, to=2, data="me")["type"] == "ok"
        assert again.wait_for("signal")["from"] == 2
        for wrong in ({"to": 0}, {"to": "1"}, {"to": None}, {"to": 1.5}, {"room": 7}):
            assert first.ask("signal", **{"room": room, "to": 2, "data": 1, **wrong})["code"] == "bad_request", wrong
        number = first.next_id()
        first.send({"type": "signal", "id": number, "room": room, "to": 2})
        assert first.answer_to(number)["code"] == "bad_request"
        assert first.ask("signal", room=room, to=77, data=1)["code"] == "not_found"
        ana.command(room, "kick", member=3)
        assert first.ask("signal", room=room, to=3, data=1)["code"] == "not_found"
        assert third.ask("signal", room=room, to=1, data=1)["code"] == "not_member"
        assert all(m["type"] != "signal" for client in (first, third) for m in client.pushed), "nobody else's"


def _negotiate(client, room, to):
    """Sends 40 signals of 64 KiB together without waiting; returns the numbers of their answers."""
    numbers = []
    for size in [8_000] * 2 + [1_380] * 35 + [400] * 3:
        number = client.next_id()
        client.send({"type": "signal", "id": number, "room": room, "to": to, "data": "x" * (size - 2)})
        numbers.append(number)
    return numbers


def test_negotiations_of_eight_pairs_at_once_always_fit(shared):
    """One member with eight others, all at once: 40 signals each way, 64 KiB together, as the limits are."""
    ana = shared.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    others = [shared.session(f"Peer {number}") for number in range(8)]
    members = [join(other, room) for other in others]
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(ana.socket())
        clients = [stack.enter_context(other.socket()) for other in others]
        for client in (first, *clients):
            client.subscribe(room)
        asked = [(first, _negotiate(first, room, member)) for member in members]
        asked += [(client, _negotiate(client, room, 1)) for client in clients]
        for client, numbers in asked:
            assert [client.answer_to(number)["type"] for number in numbers] == ["ok"] * 40
        for client in clients:
            client.until(lambda: sum(m["type"] == "signal" for m in client.pushed) == 40, "all signals")
        first.until(lambda: sum(m["type"] == "signal" for m in first.pushed) == 320, "all signals")


def test_whoever_floods_a_member_with_signals_is_refused_and_the_member_stays(servers):
    """Several members send as much as they can to one that reads nothing: they are refused, and it keeps its
    connection.
    """
    server = servers(*backline.NO_GRACE, *backline.PATIENT).start()
    ana, ben = server.session("Ana"), server.session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    join(ben, room)
    others = [server.session(f"Peer {number}") for number in range(12)]
    for other in others:
        join(other, room)
    with backline.RawSocket(server, ben.token, f"/v1/rooms/{room}/socket", receive_buffer=4096) as deaf:
        while deaf.receive()["type"] != "snapshot":
            pass
        # A single sender is refused long before a megabyte waits.
        with ana.socket() as client:
            who = Who(client, room)
            who.until({1, 2})
            # All are sent before the first answer: a slow machine would leave it time for another one between two.
            numbers = [client.next_id() for _ in range(20)]
            for number in numbers:
                client.send({"type": "signal", "id": number, "room": room, "to": 2, "data": "x" * 60_000})
            answers = [client.answer_to(number) for number in numbers]
            assert [answer["type"] for answer in answers[:4]] == ["ok"] * 4
            refused = [answer for answer in answers if answer["type"] == "error"][-1]
            assert refused["code"] == "rate_limited" and refused["retryAfterMs"] > 0, refused
            # Another member is still reached, and a sender that waits as told reaches this one.
            backline.rest(refused)
            assert client.ask("signal", room=room, to=2, data="still there?")["type"] == "ok"
            said = []
            for other in others:
                with other.socket() as peer:
                    said += [peer.ask("signal", room=room, to=2, data="x" * 60_000) for _ in range(6)]
            assert all(answer["type"] == "ok" or answer["code"] == "rate_limited" for answer in said), said
            # No more of the last senders' signals fits.
            assert said[-6]["type"] == "error", said[-6:]
            metrics = server.request("GET", "/metrics").body.decode()
            assert counted(metrics, "signals") and counted(metrics, "signals_waiting")
            # He reads again: every accepted signal arrives, and later new ones do.
            accepted = sum(answer["type"] == "ok" for answer in (*answers, *said)) + 1
            for _ in range(accepted):
                while deaf.receive()["type"] != "signal":
                    pass
            deaf.send({"type": "time", "id": 1, "t1": 1})
            while deaf.receive()["type"] != "time":
                pass
            backline.eventually(
                lambda: client.ask("signal", room=room, to=2, data="again")["type"] == "ok", "room for signals")
            who.until({1, 2})


def counted(metrics, limit):
    """The number of refusals by a limit."""
    return int(re.search(rf'backline_rate_limited_total\{{limit="{limit}"\}} (\d+)', metrics)[1])


def test_what_another_server_relays_never_closes_who_does_not_read(own_nodes):
    """The receiving server drops signals that it cannot deliver, counts them, and keeps the connection."""
    first, second = own_nodes
    ana, ben = first.session("Ana"), first.session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    join(ben, room)
    others = [first.session(f"Peer {number}") for number in range(12)]
    for other in others:
        join(other, room)
    with backline.RawSocket(second, ben.token, f"/v1/rooms/{room}/socket", receive_buffer=4096) as deaf:
        while deaf.receive()["type"] != "snapshot":
            pass
        with ana.socket() as client:
            who = Who(client, room)
            who.until({1, 2})
            said = []
            for other in others:
                with other.socket() as peer:
                    said += [peer.ask("signal", room=room, to=2, data="x" * 60_000) for _ in range(8)]
            sent = sum(answer["type"] == "ok" for answer in said)
            assert {answer.get("code", "ok") for answer in said} == {"ok", "rate_limited"}, said

            def dropped():
                metrics = second.request("GET", "/metrics").body.decode()
                return int(re.search(r"backline_signals_not_arrived_total (\d+)", metrics)[1])

            lost = backline.eventually(dropped, "signals are dropped")
            arrived = 0
            while arrived < sent - dropped():
                arrived += deaf.receive()["type"] == "signal"
            assert lost <= dropped() < sent
            deaf.send({"type": "time", "id": 1, "t1": 1})
            while deaf.receive()["type"] != "time":
                pass
            who.until({1, 2})


def test_without_tls_it_is_all_the_same(servers):
    server = servers("--plain").start()
    ana, ben = server.session("Ana"), server.session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    join(ben, room)
    with ana.socket() as first, ben.socket() as second:
        who = Who(first, room)
        second.subscribe(room)
        who.until({1, 2})
        assert second.ask("react", room=room, emoji="👍")["type"] == "ok"
        assert first.wait_for("reaction")["from"] == 2
        assert second.ask("signal", room=room, to=1, data="hello")["type"] == "ok"
        assert first.wait_for("signal")["data"] == "hello"


def test_presence_reactions_and_signals_cross_servers(nodes):
    ana, ben = nodes[0].session("Ana"), nodes[1].session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    join(ben, room)
    with ana.socket() as first, ben.socket() as second:
        here = Who(first, room)
        there = Who(second, room)
        for who in (here, there):
            who.until({1, 2})
        for person in (ana, ben, on(nodes[1], ana)):
            assert person.room(room)["room"]["presence"] == {"online": 2, "members": [1, 2]}
            assert listeners(person, room) == 2
        # A room that was never in this server's memory is listed with all its listeners.
        other = ben.create_room("Elsewhere")["room"]["state"]["id"]
        with ben.socket() as third:
            third.subscribe(other)
            backline.eventually(lambda: listeners(ana, other) == 1, "the other server's listeners are counted")
        assert first.ask("react", room=room, emoji="👍")["type"] == "ok"
        assert second.ask("react", room=room, emoji="🎉")["type"] == "ok"
        for client in (first, second):
            seen = {(m["from"], m["emoji"]) for m in (client.wait_for("reaction"), client.wait_for("reaction"))}
            assert seen == {(1, "👍"), (2, "🎉")}
        data = {"sdp": 'v=0\r\no=- 4611 "quoted" \u0000 é 😀', "n": [1e-7, 10**30], "d": json.loads("[" * 30 + "]" * 30)}
        assert first.ask("signal", room=room, to=2, data=data)["type"] == "ok"
        assert second.wait_for("signal") == {"type": "signal", "room": room, "from": 1, "data": data}
        largest = '"\\' * 16_383
        assert second.ask("signal", room=room, to=1, data=largest)["type"] == "ok"
        assert first.wait_for("signal")["data"] == largest
        # One member at both servers: both of its connections get it, and it is online until both are closed.
        with on(nodes[1], ana).socket() as far:
            assert far.subscribe(room)["presence"]["online"] == 2
            deadline = time.monotonic() + backline.PATIENCE
            while True:
                assert second.ask("signal", room=room, to=1, data="both")["type"] == "ok"
                first.wait_for("signal")
                far.ask("time", t1=0)
                if any(m["type"] == "signal" for m in far.pushed):
                    break
                assert time.monotonic() < deadline, "the signal does not reach both"
            first.ask("unsubscribe", room=room)
            assert ben.room(room)["room"]["presence"]["online"] == 2
        there.until({2})
        assert second.ask("signal", room=room, to=1, data=1)["code"] == "not_found"


def servers_lost(server):
    metrics = server.request("GET", "/metrics").body.decode()
    return int(re.search(r"backline_other_servers_lost_total (\d+)", metrics)[1])


@pytest.mark.soak("waits for a lease of twenty seconds")
def test_members_of_a_dead_server_are_offline_within_half_a_minute(own_nodes):
    ana, ben = own_nodes[0].session("Ana"), own_nodes[1].session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    join(ben, room)
    with ana.socket() as first:
        who = Who(first, room)
        second = ben.socket()
        second.subscribe(room)
        who.until({1, 2})
        before = time.monotonic()
        own_nodes[1].kill()
        killed = time.monotonic()
        who.until({1}, timeout=2 * backline.PATIENCE)
        seen = time.monotonic()
        assert seen - before > 5 and seen - killed < 30, (before, killed, seen)
        assert servers_lost(own_nodes[0]) == 1
        assert listeners(ana, room) == 1
        assert first.ask("signal", room=room, to=2, data=1)["code"] == "not_found"
        # It comes back under another name.
        own_nodes[1].start()
        with ben.socket() as again:
            there = Who(again, room)
            who.until({1, 2})
            there.until({1, 2})
        who.until({1})


def test_members_of_a_server_that_stops_are_offline_at_once(own_nodes):
    ana, ben = own_nodes[0].session("Ana"), own_nodes[1].session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    join(ben, room)
    with ana.socket() as first, ben.socket() as second:
        who = Who(first, room)
        second.subscribe(room)
        who.until({1, 2})
        assert own_nodes[1].stop() == 0
        # It says so itself: nobody waits until it has not been heard for long.
        who.until({1}, timeout=2 * backline.PATIENCE)
        assert servers_lost(own_nodes[0]) == 0
