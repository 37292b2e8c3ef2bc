"""`after`: commands that are in flight together keep their order also where one of them is put off."""

import pytest

import backline


def _command(room, number, after, kind, **fields):
    return {
        "type": "command", "id": number, "room": room, "key": f"k{number}", "after": after,
        "command": {"type": kind, **fields}}


def _answers(client, *commands):
    """Sends the commands together; returns their answers."""
    for command in commands:
        client.send(command)
    return [client.answer_to(command["id"]) for command in commands]


@pytest.fixture
def slow_room(shared):
    """A room in slow mode and a guest of it, who has added a song just now: another one is put off."""
    ana, ben = shared.session("Ana"), shared.session("Ben")
    room = ana.create_room()["room"]["state"]["id"]
    ana.command(room, "updateRoom", settings={"slowModeMs": 3_600_000, "guestsMayAdd": True})
    ben.command(room, "join")
    ben.command(room, "addTracks", tracks=backline.tracks("First"))
    return ana, ben, room


def test_a_command_does_not_overtake_one_that_is_put_off(slow_room):
    ana, ben, room = slow_room
    more = {"tracks": backline.tracks("Second")}
    with ben.socket() as client:
        answers = _answers(
            client,
            _command(room, 1, None, "addTracks", **more),
            _command(room, 2, 1, "rename", name="Benjamin"),
            _command(room, 3, 2, "vote", track=1),
            _command(room, 4, None, "vote", track=1))
        assert [answer.get("code") for answer in answers] == ["rate_limited"] * 3 + [None]
        assert all(answer["retryAfterMs"] > 0 for answer in answers[:3])
        # The same messages again, once they are carried out.
        ana.command(room, "updateRoom", settings={"slowModeMs": 0})
        answers = _answers(
            client,
            _command(room, 1, None, "addTracks", **more),
            _command(room, 2, 1, "rename", name="Benjamin"),
            _command(room, 3, 2, "vote", track=1))
        assert [answer["type"] for answer in answers] == ["ack"] * 3
        assert answers[0]["seq"] < answers[1]["seq"]


def test_a_refusal_puts_nothing_off(slow_room):
    _, ben, room = slow_room
    with ben.socket() as client:
        answers = _answers(
            client,
            _command(room, 1, None, "vote", track=9_999),
            _command(room, 2, 1, "vote", track=1),
            _command(room, 3, 77_777, "unvote", track=1))
        assert [answer.get("code") for answer in answers] == ["not_found", None, None]


def test_what_the_socket_puts_off_is_not_overtaken(servers):
    """Too many commands are refused before the room knows of them."""
    server = servers("--max-commands-per-second", "2").start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    with ana.socket() as client:
        many = [_command(room, number, None, "rename", name=f"Ana {number}") for number in range(1_000, 1_100)]
        answers = _answers(client, *many)
        late = next(answer["re"] for answer in answers if answer.get("code") == "rate_limited")
        # Once a command is let in again, it is not the one that stands before it and behind the other.
        alone = {"code": "rate_limited"}
        while alone.get("code") == "rate_limited":
            behind, alone = _answers(
                client, _command(room, 2_000, late, "rename", name="Bea"),
                _command(room, 2_001, None, "rename", name="Bea"))
            assert behind["code"] == "rate_limited"
        assert alone["type"] == "ack"
