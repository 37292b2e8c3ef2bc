"""The deck: the one device that plays for a room, told to everybody who follows it."""

import pytest

import backline


def there(person, server):
    """The same session at another server."""
    return backline.Person(server.address, person.session, person.token, person.name)


def deck(client, room):
    """The newest deck that a client was told: its member, and whether it is this client."""
    messages = [m for m in client.pushed if m.get("room") == room and m["type"] in ("deck", "snapshot", "resumed")]
    newest = messages[-1]
    member = newest.get("member") if newest["type"] == "deck" else newest.get("deck")
    return member, newest.get("here", False)


def follow(person, room, position=None):
    """A socket that follows a room; the answer is kept among its messages."""
    client = person.socket()
    client.first = client.subscribe(room, position)
    client.pushed.append(client.first)
    return client


def await_deck(client, room, member, here=False):
    client.until(lambda: deck(client, room) == (member, here), f"the deck {member}, here: {here}")


def party(server, others=()):
    """A room of Ana's, and the DJs and guests who joined it; returns the room, Ana and the others."""
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    people = []
    for name, role in others:
        person = server.session(name)
        member = person.command(room, "join")["result"]["member"]
        if role != "guest":
            ana.command(room, "setRole", member=member, role=role)
        people.append(person)
    return room, ana, *people


def test_a_device_becomes_the_deck_and_everybody_is_told(shared):
    room, ana, ben, cyd = party(shared, [("Ben", "dj"), ("Cyd", "guest")])
    phone, laptop, guest = follow(ana, room), follow(ana, room), follow(cyd, room)
    assert [deck(client, room) for client in (phone, laptop, guest)] == [(None, False)] * 3
    assert "deck" not in phone.first and "here" not in phone.first

    assert laptop.ask("deck", room=room, on=True)["type"] == "ok"
    await_deck(laptop, room, 1, here=True)
    await_deck(phone, room, 1)
    await_deck(guest, room, 1)
    # A client that comes later is told in its snapshot, and one that resumes in `resumed`.
    late = follow(ben, room)
    assert late.first["deck"] == 1 and "here" not in late.first
    resumed = guest.subscribe(room, {name: guest.first[name] for name in ("epoch", "seq")})
    assert (resumed["type"], resumed["deck"]) == ("resumed", 1)
    assert laptop.subscribe(room)["here"] is True

    # Another device of the same member takes over, then another member.
    assert phone.ask("deck", room=room, on=True)["type"] == "ok"
    await_deck(phone, room, 1, here=True)
    await_deck(laptop, room, 1)
    assert late.ask("deck", room=room, on=True)["type"] == "ok"
    await_deck(late, room, 2, here=True)
    for client in (phone, laptop, guest):
        await_deck(client, room, 2)
    # One that is not the deck ends nothing.
    assert phone.ask("deck", room=room, on=False)["type"] == "ok"
    assert guest.is_alive() and deck(guest, room) == (2, False)
    assert late.ask("deck", room=room, on=False)["type"] == "ok"
    for client in (phone, laptop, guest, late):
        await_deck(client, room, None)
        client.close()
    assert "deck" not in str(ana.room(room)["room"]), "it is in no state"
    assert "deck" not in str(ana.events(room)), "and in no event"


def test_a_claim_ends_with_its_connection_its_subscription_and_its_role(shared):
    room, ana, ben = party(shared, [("Ben", "dj")])
    watcher = follow(ana, room)

    def begun():
        client = follow(ben, room)
        assert client.ask("deck", room=room, on=True)["type"] == "ok"
        await_deck(watcher, room, 2)
        return client

    # Another connection of the same member does not keep the claim.
    other = follow(ben, room)
    client = begun()
    client.drop()
    await_deck(watcher, room, None)
    await_deck(other, room, None)
    client = begun()
    assert client.ask("unsubscribe", room=room)["type"] == "ok"
    await_deck(watcher, room, None)
    client.close()
    client = begun()
    ana.command(room, "setRole", member=2, role="guest")
    await_deck(watcher, room, None)
    assert client.ask("deck", room=room, on=True)["code"] == "forbidden"
    ana.command(room, "setRole", member=2, role="dj")
    assert client.ask("deck", room=room, on=True)["type"] == "ok"
    await_deck(watcher, room, 2)
    ana.command(room, "kick", member=2, ban=True)
    await_deck(watcher, room, None)
    for socket in (client, other, watcher):
        socket.close()


def test_claims_are_refused_for_the_first_reason_that_holds(shared):
    room, ana, ben, cyd = party(shared, [("Ben", "guest"), ("Cyd", "dj")])
    dan = shared.session("Dan")

    def refusal(person, subscribed=True, **fields):
        client = follow(person, room) if subscribed else person.socket()
        try:
            answer = client.ask("deck", **{"room": room, "on": True, **fields})
            return answer["code"] if answer["type"] == "error" else answer["type"]
        finally:
            client.close()

    assert refusal(ana, on=None) == refusal(ana, on="yes") == refusal(ana, room=7) == "bad_request"
    assert refusal(ana, room=backline.room_id()) == "not_found"
    assert refusal(dan) == "not_member"
    assert refusal(ben) == "forbidden"
    assert refusal(ben, subscribed=False) == "forbidden"
    assert refusal(ana, subscribed=False) == "conflict"
    assert refusal(ana) == refusal(cyd) == "ok"
    ana.command(room, "kick", member=2, ban=True)
    assert refusal(ben, subscribed=False) == "banned"
    ana.command(room, "closeRoom")
    assert refusal(ana) == refusal(dan) == "room_closed"
    # Without an id only refusals are answered.
    with follow(dan, room) as client:
        client.send({"type": "deck", "room": room, "on": True})
        assert client.wait_for("error")["code"] == "room_closed"


@pytest.mark.soak("a rate: six claims within a second")
def test_a_member_may_claim_five_times_a_second(shared):
    room, ana = party(shared)
    clients = [follow(ana, room) for _ in range(2)]

    def attempt():
        for client in clients:
            client.pushed.clear()
        with backline.within(1):
            answers = [clients[turn % 2].ask("deck", room=room, on=True) for turn in range(6)]
        return answers

    answers = backline.patiently(attempt)
    assert [answer["type"] for answer in answers] == ["ok"] * 5 + ["error"]
    assert answers[5]["code"] == "rate_limited"
    backline.rest(answers[5])
    assert clients[1].ask("deck", room=room, on=True)["type"] == "ok"
    for client in clients:
        client.close()


def test_two_servers_know_the_same_deck(nodes):
    room, ana, ben = party(nodes[0], [("Ben", "dj")])
    one, two = follow(ana, room), follow(there(ben, nodes[1]), room)
    assert one.ask("deck", room=room, on=True)["type"] == "ok"
    await_deck(one, room, 1, here=True)
    await_deck(two, room, 1)
    # The newest claim counts, wherever it was accepted.
    for _ in range(3):
        assert two.ask("deck", room=room, on=True)["type"] == "ok"
        await_deck(two, room, 2, here=True)
        await_deck(one, room, 2)
        assert one.ask("deck", room=room, on=True)["type"] == "ok"
        await_deck(one, room, 1, here=True)
        await_deck(two, room, 1)
    # A server that nobody of the room was connected to knows it too.
    late = follow(there(ana, nodes[1]), room)
    assert late.first["deck"] == 1
    # The role ends it, wherever the command was sent.
    assert two.ask("deck", room=room, on=True)["type"] == "ok"
    await_deck(one, room, 2)
    ana.command(room, "setRole", member=2, role="guest")
    for client in (one, two, late):
        await_deck(client, room, None)
    # And the connection.
    assert late.ask("deck", room=room, on=True)["type"] == "ok"
    await_deck(one, room, 1)
    late.drop()
    await_deck(one, room, None)
    for client in (one, two):
        client.close()


@pytest.mark.soak("waits for a lease of twenty seconds")
@pytest.mark.long
def test_the_deck_of_a_server_that_dies_ends_with_its_lease(own_nodes):
    room, ana, ben = party(own_nodes[0], [("Ben", "dj")])
    one, two = follow(ana, room), follow(there(ben, own_nodes[1]), room)
    assert two.ask("deck", room=room, on=True)["type"] == "ok"
    await_deck(one, room, 2)
    own_nodes[1].kill()
    one.until(lambda: deck(one, room) == (None, False), "no deck")
    assert one.ask("deck", room=room, on=True)["type"] == "ok"
    await_deck(one, room, 1, here=True)
    # The server comes back, and learns the deck from the other.
    own_nodes[1].start()
    again = follow(there(ben, own_nodes[1]), room)
    again.until(lambda: deck(again, room) == (1, False), "the deck")
    for client in (one, again):
        client.close()


def test_a_server_that_stops_takes_its_deck_along(own_nodes):
    room, ana, ben = party(own_nodes[0], [("Ben", "dj")])
    one, two = follow(ana, room), follow(there(ben, own_nodes[1]), room)
    assert two.ask("deck", room=room, on=True)["type"] == "ok"
    await_deck(one, room, 2)
    assert own_nodes[1].stop() == 0
    await_deck(one, room, None)
    one.close()


def test_old_clients_and_unknown_fields(shared):
    """A client that does not know `deck` ignores it; the server ignores fields that it does not know."""
    room, ana = party(shared)
    with follow(ana, room) as client:
        assert client.ask("deck", room=room, on=True, since=7)["type"] == "ok"
        await_deck(client, room, 1, here=True)
        client.command(room, "addTracks", tracks=backline.tracks("One"))
        assert client.is_alive()
