"""`after`: commands that are in flight together keep their order also where one of them is put off."""

import backline


def _send(client, room, number, after, kind, **fields):
    client.send({
        "type": "command", "id": number, "room": room, "key": f"k{number}", "after": after,
        "command": {"type": kind, **fields}})


def test_a_command_does_not_overtake_one_that_is_put_off(servers):
    """A long command is too much where a short one is not; each is put off with the one that it is behind."""
    server = servers("--max-commands-per-second", "2").start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    ana.command(room, "addTracks", tracks=backline.tracks(*(f"Song {n}" for n in range(100))))
    deck = {"queue": [{"track": n} for n in range(1, 101)], "playback": {"status": "stopped"}}
    with ana.socket() as client:
        number = 0
        while True:
            number += 10
            _send(client, room, number, None, "syncDeck", **deck)
            _send(client, room, number + 1, number, "rename", name=f"Ana {number}")
            _send(client, room, number + 2, number + 1, "rename", name=f"Bea {number}")
            _send(client, room, number + 3, None, "rename", name=f"Cem {number}")
            answers = [client.answer_to(number + n) for n in range(4)]
            if answers[0]["type"] == "error":
                break
            assert number < 100
        assert [answer.get("code") for answer in answers[:3]] == ["rate_limited"] * 3, answers
        assert all(answer["retryAfterMs"] > 0 for answer in answers[:3])
        # One without `after` stands alone.
        assert answers[3]["type"] in ("ack", "error")


def test_a_refusal_puts_nothing_off(servers):
    server = servers().start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    ana.command(room, "addTracks", tracks=backline.tracks("A song"))
    with ana.socket() as client:
        _send(client, room, 1, None, "vote", track=9_999)
        _send(client, room, 2, 1, "vote", track=1)
        _send(client, room, 3, 77_777, "unvote", track=1)
        assert client.answer_to(1)["code"] == "not_found"
        assert [client.answer_to(number)["type"] for number in (2, 3)] == ["ack", "ack"]
