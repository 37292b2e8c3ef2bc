"""Pages behind a proxy that changes the address of the request."""

import websockets.exceptions

import backline

PAGE = "https://music.example.org:8443"


def _handshake(server, token, **headers):
    """The status of a handshake of the page at PAGE."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with backline.Socket(server, token=token, origin=PAGE, headers=fields):
            return 101
    except websockets.exceptions.InvalidStatus as refusal:
        return refusal.response.status_code


def test_a_trusted_proxy_tells_the_address_that_the_browser_asked_for(servers):
    server = servers("--plain", "--trusted-proxies", "127.0.0.1").start()
    token = server.session("Ana").token
    assert _handshake(server, token, X_Forwarded_Host="music.example.org:8443") == 101
    assert _handshake(server, token, X_Forwarded_Host="music.example.org", X_Forwarded_Port="8443") == 101
    assert _handshake(server, token, Forwarded='host="music.example.org:8443"') == 101
    assert _handshake(server, token, X_Forwarded_Host="elsewhere.example") == 403


def test_a_refused_page_is_one_line_with_both_addresses_and_the_setting(servers):
    server = servers("--plain").start()
    token = server.session("Ana").token
    for _ in range(3):
        assert _handshake(server, token, X_Forwarded_Host="music.example.org:8443") == 403
        server.request("POST", "/v1/sessions", {"name": "A"}, headers={"Origin": PAGE}).expect_problem(403, "forbidden")
    lines = [line for line in server.said().splitlines() if "A page was refused" in line]
    assert len(lines) == 1, lines
    assert PAGE in lines[0] and f"{server.host}:{server.port}" in lines[0] and "--origin" in lines[0]
