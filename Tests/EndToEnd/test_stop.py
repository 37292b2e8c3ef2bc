"""A stop on request: goaway, 1012, exit code 0, and no acknowledged command is lost."""

import contextlib
import http.client
import signal
import socket
import threading

import pytest
import websockets.exceptions

import backline
from checks import check_followers, check_log, check_once


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT], ids=lambda by: by.name)
def test_a_signal_sends_everybody_away_and_ends_well(servers, by):
    server = servers().start()
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    sockets = [dj.socket(), dj.socket(f"/v1/rooms/{room}/socket"), server.session("Ben").socket()]
    server.process.send_signal(by)
    for client in sockets:
        goaway = client.wait_for("goaway")
        assert goaway["reason"] == "restart" and goaway["reconnectInMs"] >= 0
        assert client.closed() == 1012
    assert server.process.wait(backline.PATIENCE) == 0


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT], ids=lambda by: by.name)
def test_commands_in_flight_are_finished_or_refused(server, by):
    """Acknowledged commands are in the log, and others can be sent again with their keys."""
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    client = dj.socket()
    client.subscribe(room)
    # Fewer than the 1,000 keys that a room remembers.
    keys = {1000 + number: backline.new_key() for number in range(900)}

    def command(number):
        return {"type": "command", "room": room, "key": keys[number],
                "command": {"type": "rename", "name": f"Name {number}"}}

    def send():
        try:
            for number in keys:
                client.send({"id": number, **command(number)})
        except (websockets.exceptions.ConnectionClosed, OSError):
            pass  # The server has gone.

    answers = {}
    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    with pytest.raises(websockets.exceptions.ConnectionClosed) as end:
        while True:
            message = client.receive()
            if message.get("re", 0) >= 1000:
                answers[message["re"]] = message
                if len(answers) == 50:
                    server.process.send_signal(by)
    assert end.value.rcvd is not None and end.value.rcvd.code == 1012
    sender.join(backline.PATIENCE)
    assert server.process.wait(backline.PATIENCE) == 0
    acknowledged = {number: answer for number, answer in answers.items() if answer["type"] == "ack"}
    refused = [answer["code"] for answer in answers.values() if answer["type"] == "error"]
    assert len(acknowledged) >= 50 and set(refused) <= {"unavailable"}

    server.start()
    follower = client.rooms[room]
    with dj.socket() as client:
        assert client.resume(follower)["type"] == "resumed"
        for number in keys:
            client.send({"id": number, **command(number)})
        for number in keys:
            answer = client.answer_to(number, timeout=60)
            assert answer["type"] == "ack", answer
            if number in acknowledged:
                assert answer["seq"] == acknowledged[number]["seq"]
        events = check_log(dj, room)
        for number in acknowledged:
            event = check_once(events, number, lambda e: e.get("name") == f"Name {number}")
            assert event["seq"] == acknowledged[number]["seq"]
        assert len([event for event in events if event["type"] == "memberRenamed"]) == len(keys)
        check_followers(dj, room, [client.catch_up(room, len(events))])


def test_reconnects_are_spread(servers):
    """Many sockets are told different times, and each is closed at its time."""
    server = servers().start()
    dj = server.session("Ana")
    clients = [dj.socket() for _ in range(20)]
    server.process.send_signal(signal.SIGTERM)
    told = [client.wait_for("goaway")["reconnectInMs"] for client in clients]
    assert len(set(told)) > 1, told
    assert all(client.closed() == 1012 for client in clients)
    assert server.process.wait(backline.PATIENCE) == 0


def test_a_second_signal_does_not_spoil_the_first(servers):
    server = servers().start()
    client = server.session("Ana").socket()
    server.process.send_signal(signal.SIGTERM)
    server.process.send_signal(signal.SIGINT)
    assert client.closed() == 1012
    assert server.process.wait(backline.PATIENCE) == 0


def test_a_stop_does_not_wait_for_who_says_nothing(servers):
    """Connections that are idle, half open, or do not read delay nothing beyond the close handshake's time."""
    server = servers().start()
    dj = server.session("Ana")
    with contextlib.ExitStack() as open_connections:
        silent = socket.create_connection((server.host, server.port))
        open_connections.enter_context(contextlib.closing(silent))
        idle = http.client.HTTPSConnection(server.host, server.port, context=server.context())
        open_connections.enter_context(contextlib.closing(idle))
        idle.request("GET", "/healthz")
        assert idle.getresponse().read()
        halfway = server.context().wrap_socket(socket.create_connection((server.host, server.port)))
        open_connections.enter_context(contextlib.closing(halfway))
        halfway.sendall(b"GET /healthz HTTP/1.1\r\nHost:")
        deaf = open_connections.enter_context(backline.RawSocket(server, dj.token))
        assert deaf.receive()["type"] == "welcome"
        assert server.stop() == 0


def test_a_stopped_server_frees_its_port_at_once(servers):
    server = servers().start()
    client = server.session("Ana").socket()
    port = server.port
    assert server.stop() == 0
    assert client.closed() == 1012
    server.start()
    assert server.port == port
    assert server.request("GET", "/readyz").status == 200


def test_what_was_read_before_a_stop_is_answered(server):
    """Of many commands sent at once, those in the log were acknowledged before the socket was closed."""
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    client = dj.socket()
    for number in range(400):
        client.send({"type": "command", "id": number, "room": room, "key": backline.new_key(),
                     "command": {"type": "rename", "name": f"Name {number}"}})
    server.process.send_signal(signal.SIGTERM)
    acknowledged = set()
    with pytest.raises(websockets.exceptions.ConnectionClosed) as end:
        while True:
            message = client.receive()
            if message["type"] == "ack":
                acknowledged.add(message["seq"])
    assert end.value.rcvd.code == 1012
    assert server.process.wait(backline.PATIENCE) == 0
    server.start()
    renamed = {event["seq"] for event in dj.events(room) if event["type"] == "memberRenamed"}
    assert acknowledged == renamed
