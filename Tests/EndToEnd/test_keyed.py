"""`keyed`, the count of a room's keyed commands: what clients are told of it, by every server and after every change."""

import backline


def told(person, room):
    """The count in each answer about a room: over HTTP, in a snapshot, and after a resume."""
    with person.socket() as client:
        snapshot = client.subscribe(room)
        assert snapshot["type"] == "snapshot"
        resumed = client.subscribe(room, {"epoch": snapshot["epoch"], "seq": snapshot["seq"]})
        assert resumed["type"] == "resumed"
        return [person.room(room)["room"]["keyed"], snapshot["keyed"], resumed["keyed"]]


def test_the_count_grows_with_each_keyed_command_whatever_it_changes(server):
    ana = server.session("Ana")
    made = ana.create_room(key="the-room")["room"]
    room = made["state"]["id"]
    assert made["keyed"] == 0, "the key of a new room is not a keyed command in it"
    assert told(ana, room) == [0, 0, 0]
    assert ana.command(room, "addTracks", tracks=backline.tracks("One"))["keyed"] == 0, "without a key"
    assert ana.command(room, "vote", key="a", track=1) == {"seq": 4, "keyed": 1}
    # Commands that change nothing count too.
    assert ana.command(room, "vote", key="b", track=1) == {"seq": 4, "keyed": 2}
    assert ana.command(room, "pause", key="c") == {"seq": 4, "keyed": 3}
    # A retry gets the first outcome and counts no second time. A refusal does not count.
    assert ana.command(room, "vote", key="b", track=1) == {"seq": 4, "keyed": 2}
    ana.post_command(room, "vote", key="d", track=99).expect_problem(404, "not_found")
    with ana.socket() as client:
        client.subscribe(room)
        answer = client.command(room, "vote", key="e", track=1)
        assert (answer["seq"], answer["keyed"]) == (4, 4)
        unkeyed = client.ask("command", room=room, command={"type": "pause"})
        assert unkeyed["keyed"] == 4
    assert told(ana, room) == [4, 4, 4]
    # A view of the past has no count.
    assert "keyed" not in ana.request("GET", f"/v1/rooms/{room}?at=3").expect(200)["room"]

    server.stop()
    server.start()
    assert told(ana, room) == [4, 4, 4]
    assert ana.command(room, "pause", key="f")["keyed"] == 5


def test_the_count_does_not_end_with_the_keys_that_are_remembered(shared):
    ana = shared.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    with ana.socket() as client:
        client.subscribe(room)
        # A few more than a session may send at once, so the last ones have to wait.
        keys, counts = [str(number) for number in range(1_050)], {}
        while keys:
            for number, key in enumerate(keys):
                client.send({"type": "command", "id": number, "room": room, "key": key, "command": {"type": "pause"}})
            answers = {key: client.answer_to(number) for number, key in enumerate(keys)}
            counts |= {key: answer["keyed"] for key, answer in answers.items() if answer["type"] == "ack"}
            keys = [key for key in keys if key not in counts]
            if keys:
                backline.rest(answers[keys[-1]])
    assert sorted(counts.values()) == list(range(1, 1_051))
    first, last = (next(key for key, count in counts.items() if count == found) for found in (1, 1_050))
    assert told(ana, room) == [1_050] * 3
    # The first key is forgotten: its command is a new one. The last is remembered.
    assert ana.command(room, "pause", key=first)["keyed"] == 1_051
    assert ana.command(room, "pause", key=last)["keyed"] == 1_050


def test_forgetting_a_room_keeps_its_count(stored):
    ana = stored.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    ana.command(room, "pause", key="a")
    epoch = ana.room(room)["room"]["epoch"]
    assert ana.command(room, "closeRoom", key="b", forget=True)["keyed"] == 2
    backline.eventually(lambda: ana.room(room)["room"]["epoch"] != epoch, "the rewritten log")
    assert ana.room(room)["room"]["keyed"] == 2


def test_a_server_tells_what_others_have_counted_without_events(nodes):
    ana, ben = nodes[0].session("Ana"), nodes[1].session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    ben.command(room, "join")
    with ben.socket() as follower:
        position = follower.subscribe(room)
        assert position["keyed"] == 0
        # The other server counts commands that change nothing, of which no server tells another.
        for number in range(1, 21):
            assert ana.command(room, "pause", key=str(number))["keyed"] == number
            answer = follower.subscribe(room, {"epoch": position["epoch"], "seq": position["seq"]})
            assert (answer["type"], answer["keyed"]) == ("resumed", number)
            assert ben.room(room)["room"]["keyed"] == number
        assert ben.command(room, "rename", key="1", name="Ben")["keyed"] == 21, "of another session"
    assert told(ana, room) == told(ben, room) == [21, 21, 21]


def test_export_and_import_keep_the_count(stores, servers, tmp_path):
    one, two = stores("sqlite"), stores("postgres")
    server = servers("--max-commands-per-second", "0", store=one).start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    with ana.socket() as client:
        for number in range(1_010):
            client.send({"type": "command", "id": number, "room": room, "key": str(number), "command": {"type": "pause"}})
        assert client.answer_to(1_009)["keyed"] == 1_010
    assert ana.room(room)["room"]["keyed"] == 1_010
    server.stop()
    file = str(tmp_path / "log.jsonl")
    exported = backline.run("export", *one, "--out", file)
    assert exported.returncode == 0, exported
    imported = backline.run("import", *two, file)
    assert imported.returncode == 0, imported
    ben = servers(store=two).start().session("Ben")
    assert ben.room(room)["room"]["keyed"] == 1_010
