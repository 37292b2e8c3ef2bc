"""Security fields in every HTTP answer."""

import http.client
import io
import socket

import pytest

import backline

FIELDS = {
    "X-Content-Type-Options": ["nosniff"],
    "Referrer-Policy": ["no-referrer"],
    "Cache-Control": ["no-store"],
    "Content-Security-Policy": ["default-src 'none'; frame-ancestors 'none'"],
}
STRICT_TRANSPORT = {"Strict-Transport-Security": ["max-age=31536000"]}
HANDSHAKE = {
    "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def expect(answer, status, fields):
    assert answer.status == status, answer.body
    for name in {**FIELDS, **STRICT_TRANSPORT}:
        assert (answer.headers.get_all(name) or []) == fields.get(name, []), f"{name}: {answer.headers}"


@pytest.mark.parametrize("tls", ["tls", "plain"])
def test_every_answer_has_security_headers(servers, tls):
    server = servers(*(["--plain"] if tls == "plain" else [])).start()
    fields = {**FIELDS, **(STRICT_TRANSPORT if tls == "tls" else {})}
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    for method in ("GET", "HEAD"):
        for path in ("/healthz", "/readyz", "/metrics", "/openapi.json", "/v1/session", f"/v1/rooms/{room}"):
            expect(dj.request(method, path), 200, fields)
    for path in ("/v1/session", "/v1/rooms"):
        expect(server.request("GET", path), 401, fields)
    expect(server.request("POST", "/v1/sessions", {"name": "Ben"}), 201, fields)
    expect(dj.request("POST", f"/v1/rooms/{room}/commands", {"command": {"type": "pause"}}), 200, fields)
    expect(dj.request("GET", "/nowhere"), 404, fields)
    expect(dj.request("PUT", "/v1/rooms"), 405, fields)
    expect(dj.request("POST", "/v1/rooms", b"x" * (300 << 10)), 413, fields)
    # Answers to handshakes are made elsewhere.
    expect(server.request("GET", "/v1/socket", headers=HANDSHAKE), 401, fields)
    expect(dj.request("GET", "/v1/nowhere", headers=HANDSHAKE), 404, fields)
    # And so are answers to bytes that are not a request.
    expect(_raw(server, b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\n"), 400, fields)
    expect(dj.request("DELETE", "/v1/session"), 204, fields)


def _raw(server, request):
    """The last answer to these bytes, after which the server closes."""
    with socket.create_connection((server.host, server.port), timeout=backline.PATIENCE) as connection:
        if server.context():
            connection = server.context().wrap_socket(connection)
        with connection:
            connection.sendall(request)
            received = b"".join(iter(lambda: connection.recv(65_536), b""))
    status, _, head = received.rpartition(b"HTTP/1.1 ")[2].partition(b"\r\n")
    return backline.Answer(int(status.split()[0]), http.client.parse_headers(io.BytesIO(head)), b"")
