"""Retries with a key: every command, over every transport, before and after a kill; and two devices of one person."""

import backline
import test_authorisation
from checks import check_followers, check_log

#: Every command, with its sender and parameters, in an order in which each is accepted and changes the room. Members:
#: Ana, who made the room, is 1, Ben 2, Cleo 3, Dan 4.
STEPS = [
    ("Ben", "join", {}),
    ("Cleo", "join", {"name": "Cléo"}),
    ("Dan", "join", {}),
    ("Ben", "rename", {"name": "DJ Ben"}),
    ("Ana", "setRole", {"member": 2, "role": "dj"}),
    ("Ana", "updateRoom", {"name": "Cellar", "settings": {"skipRatio": 1}}),
    ("Ben", "addTracks", {"tracks": backline.tracks("One", "Two", "Three", "Four", "Five", "Six")}),
    ("Ben", "setWaveform", {"track": 1, "data": backline.waveform_text(bytes(2_048))}),
    ("Ben", "setDuration", {"track": 1, "durationMs": 61_500}),
    ("Ben", "setMissing", {"tracks": [6]}),
    ("Cleo", "vote", {"track": 6}),
    ("Cleo", "unvote", {"track": 6}),
    ("Cleo", "vote", {"track": 1}),
    *[("Ben", "enqueue", {"track": track}) for track in (1, 2, 3, 4, 5)],
    ("Ben", "move", {"entry": 3, "to": 0}),
    ("Ben", "dequeue", {"entry": 4}),
    ("Ben", "play", {}),
    ("Ben", "pause", {}),
    ("Ben", "resume", {}),
    ("Ben", "seek", {"positionMs": 5_000}),
    ("Cleo", "voteSkip", {"entry": 3}),
    ("Cleo", "unvoteSkip", {"entry": 3}),
    ("Ben", "finish", {"entry": 3}),
    ("Ben", "skip", {"entry": 1}),
    ("Ben", "syncDeck", {"queue": [{"track": 4}, {"track": 5}], "playback": {"status": "stopped"}}),
    ("Ben", "removeTracks", {"tracks": [6]}),
    ("Ana", "kick", {"member": 4, "ban": True}),
    ("Ana", "unban", {"member": 4}),
    ("Cleo", "leave", {}),
    ("Ana", "transferOwnership", {"member": 2}),
    ("Ben", "closeRoom", {}),
]


def outcome(answer):
    """The part of an answer that must be the same for every retry."""
    return {name: answer[name] for name in ("seq", "result") if name in answer}


def over_socket(socket, room, key, type, fields):
    answer = socket.command(room, type, key=key, **fields)
    assert answer["type"] == "ack", (type, answer)
    return outcome(answer)


def over_http(person, room, key, type, fields):
    return outcome(person.command(room, type, key=key, **fields))


def test_every_command_that_is_sent_again_has_its_first_outcome(server, storage):
    """On one store it is sent over a socket first, on the other over HTTP."""
    way = "socket" if "sqlite" in storage else "http"
    assert {type for _, type, _ in STEPS} == {type for type, _, _ in test_authorisation.COMMANDS}
    people = {name: server.session(name) for name in ("Ana", "Ben", "Cleo", "Dan")}
    ana = people["Ana"]
    room = ana.create_room()["room"]["state"]["id"]
    sockets = {name: person.socket() for name, person in people.items()}
    # All are online: one vote to skip does not suffice.
    for socket in sockets.values():
        socket.subscribe(room)
    others = {name: person.socket() for name, person in people.items()}
    done, seq = [], ana.room(room)["room"]["seq"]
    for number, (who, type, fields) in enumerate(STEPS):
        # A key need not be a UUID.
        key = backline.new_key() if number % 2 else f"step {number}"
        if way == "socket":
            first = over_socket(sockets[who], room, key, type, fields)
        else:
            first = over_http(people[who], room, key, type, fields)
        assert first["seq"] > seq, f"{type} changes nothing"
        seq = first["seq"]
        for again in over_socket(sockets[who], room, key, type, fields), \
                over_socket(others[who], room, key, type, fields), over_http(people[who], room, key, type, fields):
            assert again == first, type
        assert ana.room(room)["room"]["seq"] == seq, f"{type} is in the log a second time"
        done.append((who, type, fields, key, first))
    events = check_log(ana, room)

    server.kill()
    server.start()
    for socket in [*sockets.values(), *others.values()]:
        socket.drop()
    sockets = {name: person.socket() for name, person in people.items()}
    for who, type, fields, key, first in done:
        assert over_socket(sockets[who], room, key, type, fields) == first, type
        assert over_http(people[who], room, key, type, fields) == first, type
    assert check_log(ana, room) == events


def test_two_devices_of_one_person_see_each_others_votes(shared):
    ana, ben = shared.session("Ana"), shared.session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    ana.command(room, "addTracks", tracks=backline.tracks("One", "Two", "Three"))
    ben.command(room, "join")
    with ben.socket() as phone, ben.socket() as tablet:
        assert phone.subscribe(room)["you"]["votes"] == tablet.subscribe(room)["you"]["votes"] == []
        seqs = [phone.command(room, "vote", track=1)["seq"], tablet.command(room, "vote", track=3)["seq"]]
        # The other device's vote is already counted: voting again changes nothing.
        assert tablet.command(room, "vote", track=1)["seq"] == phone.command(room, "vote", track=3)["seq"] == seqs[1]
        for device in phone, tablet:
            follower = device.catch_up(room, seqs[1])
            votes = [follower.events[seq] for seq in seqs]
            assert [(vote["type"], vote["track"], vote["by"], vote["votes"]) for vote in votes] == [
                ("voteCast", 1, 2, 1), ("voteCast", 3, 2, 1)]
        check_followers(ben, room, [phone.rooms[room], tablet.rooms[room]])
        assert phone.subscribe(room)["you"]["votes"] == tablet.subscribe(room)["you"]["votes"] == [1, 3]
        withdrawn = tablet.command(room, "unvote", track=1)["seq"]
        assert phone.catch_up(room, withdrawn).events[withdrawn]["type"] == "voteWithdrawn"
        answer = phone.subscribe(room, phone.rooms[room].position)
        assert (answer["type"], answer["you"]["votes"]) == ("resumed", [3])
        assert tablet.subscribe(room)["you"]["votes"] == [3]
    ana.command(room, "closeRoom")
