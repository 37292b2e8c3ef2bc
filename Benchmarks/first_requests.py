#!/usr/bin/env python3
"""First requests: the server's memory and CPU time for a new connection, until it is a socket or served as HTTP.

    Benchmarks/first_requests.py [--connections 4000] [--requests 4000] [--runs 3] [--out FILE]

Without TLS, whose cost would hide the rest. Memory is resident memory for each connection that has sent nothing, for
each idle socket without a room, and for each idle HTTP connection. CPU time is the server's for each connection that is
opened, makes one request and is closed again, one after the other. With several programs in BACKLINE_PROGRAMS,
separated by commas, they take turns.
"""

import contextlib
import os
import socket
import time

import servers

SETTLE = 1.5
"""Seconds after which resident memory is read."""


def add_options(parser):
    parser.add_argument("--connections", type=int, default=4_000, help="connections that are open at once")
    parser.add_argument("--requests", type=int, default=4_000, help="connections that are opened and closed")
    parser.add_argument("--runs", type=int, default=3, help="number of runs; the table shows their median")


def request(token, kind):
    """The bytes of a request, and those that end its answer."""
    if kind == "http":
        return b"GET /healthz HTTP/1.1\r\nHost: here\r\n\r\n", b"\r\n\r\n"
    return (
        "GET /v1/socket HTTP/1.1\r\nHost: here\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Authorization: Bearer {token}\r\n\r\n".encode(), b'"type":"welcome"'
    )


def connect(server, sent=b"", end=b""):
    stream = socket.create_connection((server.host, server.port), 20)
    if sent:
        stream.sendall(sent)
        answer = b""
        while end not in answer:
            part = stream.recv(4_096)
            assert part, answer
            answer += part
    return stream


def memory(server, count, sent=b"", end=b""):
    """Resident memory for each of so many connections, KiB."""
    pid = server.process.pid
    # The first connections make what all others share.
    for _ in range(50):
        connect(server, sent, end).close()
    time.sleep(SETTLE)
    before = servers.resident_kib(pid)
    with contextlib.ExitStack() as open_connections:
        for _ in range(count):
            open_connections.enter_context(connect(server, sent, end))
        time.sleep(SETTLE)
        return (servers.resident_kib(pid) - before) / count


def time_of(server, count, sent, end):
    """The server's CPU time for each connection with one request, µs."""
    pid = server.process.pid
    for _ in range(count // 10):
        connect(server, sent, end).close()
    before = servers.cpu_seconds(pid)
    for _ in range(count):
        connect(server, sent, end).close()
    return (servers.cpu_seconds(pid) - before) / count * 1e6


def measure(options):
    figures = {}
    for what, kind in (("new", None), ("socket", "socket"), ("http", "http")):
        with plain_server() as server:
            token = server.session("Ana").token
            sent = request(token, kind) if kind else (b"", b"")
            figures[f"{what} KiB"] = memory(server, options.connections, *sent)
    with plain_server() as server:
        token = server.session("Ana").token
        for kind in ("socket", "http"):
            figures[f"{kind} µs"] = time_of(server, options.requests, *request(token, kind))
    return figures


@contextlib.contextmanager
def plain_server():
    from backline import Server

    server = Server(
        "--plain", "--log-level", "warning", *servers.supported("--threads", "1"),
        *servers.supported(*servers.UNLIMITED), "--handshake-timeout-seconds", "300", "--http-idle-seconds", "300",
        *servers.extra,
    )
    try:
        with servers.on_server_cpu():
            server.start()
        yield server
        assert server.running, f"the server ended by itself:\n{server.said()}"
    finally:
        server.close()


def main():
    options = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    out = servers.Results(options.out)
    programs = os.environ.get("BACKLINE_PROGRAMS", os.environ.get("BACKLINE_PROGRAM", "")).split(",")
    found = {}
    for run in range(1, options.runs + 1):
        for program in programs:
            servers.say(f"run {run} of {options.runs}: {program}")
            os.environ["BACKLINE_PROGRAM"] = program
            servers.serve_help.cache_clear()
            figures = measure(options)
            out.keep({"program": program, **figures})
            found.setdefault(program, []).append(figures)
    names = list(found[programs[0]][0])
    servers.table(
        ("program", *names),
        [(program, *(f"{servers.medians(lines, name):.2f}" for name in names)) for program, lines in found.items()],
    )
    out.end()


if __name__ == "__main__":
    main()
