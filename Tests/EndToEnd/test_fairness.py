"""One client's effect on others: input beyond its allowance, silent connections, states that it never takes."""

import contextlib
import json
import signal
import socket

import pytest

import backline

MANY = [{"source": "s", "sourceId": str(number), "title": f"{number} " + "x" * 290} for number in range(500)]


def opened(servers, *options):
    server = servers(*options).start()
    dj = server.session("Ana")
    return server, dj, dj.create_room()["room"]["state"]["id"]


@pytest.mark.alone
@pytest.mark.soak("a rate: how many of a thousand messages are refused")
def test_a_session_that_sends_too_much_is_not_read_from_for_a_while(servers):
    """Input beyond its allowance waits in the network: of 1,000 messages some are refused, but not five hundred."""
    server, dj, _ = opened(servers, "--max-messages-per-session", "100")
    with backline.RawSocket(server, dj.token) as raw:
        frames = bytearray()
        for number in range(1_000):
            text = json.dumps({"type": "time", "id": number, "t1": 1}).encode()
            frames += bytes([0x81, 0x80 | len(text)]) + bytes(4) + text
        # It is stopped until all of them have come, so that they come at once.
        server.process.send_signal(signal.SIGSTOP)
        raw.stream.sendall(bytes(frames))
        server.process.send_signal(signal.SIGCONT)
        answers = []
        while len(answers) < 1_000:
            answer = raw.receive()
            if "re" in answer:
                answers.append(answer)
    assert [answer["re"] for answer in answers] == list(range(1_000))
    refused = [answer for answer in answers if answer["type"] == "error"]
    assert all(answer["code"] == "rate_limited" and answer["retryAfterMs"] > 0 for answer in refused)
    assert 1 <= len(refused) <= 125, len(refused)


@pytest.mark.alone
@pytest.mark.soak("load: a megabyte of commands")
def test_a_flood_on_one_socket_leaves_others_on_its_loop_their_turn(servers):
    """On one event loop, a message that arrives after a second's work is answered before most of that work."""
    server, dj, room = opened(servers, "--threads", "1", "--max-commands-per-second", "0")
    dj.command(room, "addTracks", tracks=MANY)
    queue = [{"track": number} for number in range(1, 501)]
    text = json.dumps(
        {"type": "command", "room": room, "id": 1, "command": {
            "type": "syncDeck", "queue": queue, "playback": {"status": "stopped"}}}).encode()
    frame = bytes([0x81, 0x80 | 126]) + len(text).to_bytes(2) + bytes(4) + text
    with backline.RawSocket(server, dj.token) as flooding, server.session("Ben").socket() as other:
        count = 1_000_000 // len(text)
        flooding.stream.settimeout(60)
        flooding.stream.sendall(frame * count)
        assert other.ask("time", t1=1)["type"] == "time"
        # Everything was carried out, and nothing was done twice.
        answered = 0
        while answered < count:
            answered += flooding.receive().get("re") == 1


def test_an_address_has_few_connections_that_ask_for_nothing(servers):
    """A quarter of its limit, here the smallest: one more is closed at once, and connections with requests are
    served.
    """
    server, dj, room = opened(servers, "--max-connections-per-address", "80", "--handshake-timeout-seconds", "600")
    silent = [socket.create_connection((server.host, server.port), timeout=backline.PATIENCE) for _ in range(64)]
    with socket.create_connection((server.host, server.port), timeout=backline.PATIENCE) as excess:
        try:
            assert excess.recv(1) == b""
        except ConnectionResetError:
            pass
    for stream in silent:
        stream.close()
    backline.eventually(lambda: _answers(dj, room), "places become free")


def _answers(person, room):
    try:
        return person.request("GET", f"/v1/rooms/{room}").status == 200
    except OSError:
        return False


@pytest.mark.alone
@pytest.mark.soak("load: a reader that takes nothing of large states")
def test_who_takes_no_state_is_charged_for_each_position(servers):
    """A state is kept while a client takes it. A client that asks for ever new positions is refused in the end."""
    server, dj, room = opened(servers, "--max-waiting-bytes-per-address", "3000000")
    for part in range(8):
        dj.command(room, "addTracks", tracks=[{**track, "sourceId": f"{part} {track['sourceId']}"} for track in MANY])
    state = len(dj.request("GET", f"/v1/rooms/{room}").body)
    assert state > 1_000_000
    held, refused = 0, None
    with contextlib.ExitStack() as stack:
        for number in range(8):
            dj.command(room, "rename", name=f"Ana {number}")
            raw = stack.enter_context(backline.RawSocket(server, dj.token, receive_buffer=4_096))
            assert raw.receive()["type"] == "welcome"
            raw.send({"type": "subscribe", "room": room, "id": 1})
            # The first bytes of the snapshot have arrived, or all of the refusal.
            first, second = raw.reader.peek(2)[:2]
            if second & 0x7F < 127:
                refused = raw.receive()
                break
            held += 1
    assert refused is not None and refused["code"] == "rate_limited" and refused["retryAfterMs"] > 0, refused
    assert 2 <= held <= 3_000_000 // state + 1, held
    with dj.socket() as client:
        def follows():
            return client.ask("subscribe", room=room)["type"] == "snapshot"
        backline.eventually(follows, "the places become free")


def test_messages_that_never_end_are_charged_to_their_address(servers):
    """Of eight messages of 200,000 bytes some fit into a million bytes, but not all."""
    server, dj, _ = opened(servers, "--max-waiting-bytes-per-address", "1000000")
    part = bytes([0x81, 0x80 | 127]) + (200_000).to_bytes(8) + bytes(4) + b" " * 190_000
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(backline.RawSocket(server, dj.token)) for _ in range(8)]
        for raw in sockets:
            with contextlib.suppress(OSError):
                raw.stream.sendall(part)
        backline.eventually(lambda: _closed(server, 1013) >= 2, "some are closed")
        assert _closed(server, 1013) <= 6
    with backline.RawSocket(server, dj.token) as raw:
        def whole():
            raw.stream.sendall(part + b" " * 10_000)
            while (answer := raw.receive())["type"] == "welcome":
                pass
            return answer["code"] == "bad_request"
        backline.eventually(whole, "there is room again")


def _closed(server, code):
    metrics = server.request("GET", "/metrics").body.decode()
    found = [line for line in metrics.splitlines()
             if line.startswith("backline_websocket_closes_total{") and f'"{code}"' in line]
    return sum(float(line.rpartition(" ")[2]) for line in found)


def test_bodies_that_never_end_are_charged_to_their_address(servers):
    """Other requests of the address are told to wait, and are served when the bodies are gone."""
    server, dj, room = opened(servers, "--max-waiting-bytes-per-address", "1000000")
    # Each is charged eleven steps of 16 KiB; the fifth fits also where something else is charged for a moment.
    head = (f"POST /v1/sessions HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nContent-Type: application/json\r\n"
            "Content-Length: 190000\r\n\r\n").encode()
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            plain = socket.create_connection((server.host, server.port), timeout=backline.PATIENCE)
            stream = stack.enter_context(server.context().wrap_socket(plain, server_hostname="localhost"))
            stream.sendall(head + b"{" * 50)

        def is_refused():
            body = {"name": "Eve", "padding": "x" * 120_000}
            return server.request("POST", "/v1/sessions", body).status == 429
        backline.eventually(is_refused, "there is no room for another")
        assert server.request("POST", "/v1/sessions", {"name": "Eve"}).status == 201, "a short one"
    backline.eventually(lambda: not is_refused(), "there is room again")
