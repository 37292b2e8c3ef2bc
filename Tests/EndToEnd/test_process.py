"""The environment of the process: broken outputs, logs that nobody reads, descriptors, metrics on another address."""

import contextlib
import os
import pathlib
import re
import resource
import socket
import subprocess
import threading
import time

import pytest

import backline
from ports import free_port

BROKEN = {
    # The reader of the pipe has gone: writing gives EPIPE, or SIGPIPE.
    "a broken pipe": "exec 3<>/dev/null; mkfifo {fifo}; exec 4<>{fifo}; exec 2>{fifo}; exec 4<&-; exec \"$@\"",
    "closed": "exec 2>&-; exec \"$@\"",
    "closed with all others": "exec 0<&- 2>&-; exec \"$@\"",
}


@pytest.mark.parametrize("script", BROKEN.values(), ids=BROKEN.keys())
def test_a_server_starts_and_serves_without_its_standard_error(servers, tmp_path, script):
    prefix = ("bash", "-c", script.format(fifo=tmp_path / "fifo"), "bash")
    data = tmp_path / "data"
    server = servers("--log-level", "trace", store=["--store", "sqlite", "--data", str(data)], prefix=prefix).start()
    room = server.session("Ana").create_room()["room"]["state"]["id"]
    assert room
    # No file of the server has the number of standard error, into which the log would be written.
    assert os.readlink(f"/proc/{server.process.pid}/fd/2") != str(data / "backline.sqlite")
    for name in os.listdir(data):
        assert not os.path.isfile(data / name) or b"[backline]" not in (data / name).read_bytes(), name
    assert server.stop() == 0


def test_a_reason_to_end_is_no_crash_where_nobody_reads_it(tmp_path):
    for script in BROKEN.values():
        fifo = tmp_path / f"fifo-{len(os.listdir(tmp_path))}"
        ended = subprocess.run(
            ["bash", "-c", script.format(fifo=fifo), "bash", backline.program(), "serve", "--port", "none"],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=backline.PATIENCE)
        assert ended.returncode == 64, ended


def test_a_log_that_nobody_reads_stops_no_request(servers, tmp_path):
    """Lines are dropped and counted, and reported once somebody reads; the lines that are read are whole and in
    order.
    """
    reading, writing = os.pipe()
    secret = tmp_path / "secret"
    secret.write_text("x" * 32)
    server = servers(
        "--plain", "--log-level", "trace", "--max-requests-per-address", "0", "--jwt-secret-file", str(secret))
    server.errors.close()
    server.errors = os.fdopen(writing, "w")
    server.start()
    server.errors.close()
    server.errors = open(os.devnull, encoding="utf-8")

    def dropped():
        text = server.request("GET", "/metrics").body.decode()
        return int(re.search(r"^backline_log_lines_dropped_total (\d+)$", text, re.MULTILINE).group(1))

    assert dropped() == 0
    # Each invalid token gives a line of the log.
    request = b"GET /v1/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a.b.c\r\n\r\n"
    with socket.create_connection((server.host, server.port), timeout=backline.PATIENCE) as connection:
        asked, received = 0, b""
        while dropped() == 0:
            assert asked < 100_000
            connection.sendall(request * 250)
            asked += 250
            answered = 0
            while answered < 250:
                received += connection.recv(65536)
                answered += received.count(b"HTTP/1.1 401 ")
                # Possibly the beginning of the next status line.
                received = received[received.rfind(b"HTTP/1.1 401 ") + 13:][-12:]
    print(f"{asked} requests filled the queue")
    read = bytearray()

    def drain():
        while chunk := os.read(reading, 1 << 20):
            read.extend(chunk)

    reader = threading.Thread(target=drain, daemon=True)
    reader.start()
    backline.eventually(lambda: b"log lines were dropped" in read, "somebody is told how many lines were dropped")
    assert server.stop() == 0
    reader.join(backline.PATIENCE)
    os.close(reading)
    lines = read.decode().splitlines()
    report = r"backline: (\d+) log lines were dropped: nobody read standard error"
    told = [int(match.group(1)) for line in lines if (match := re.fullmatch(report, line))]
    assert sum(told) >= 1
    others = [line for line in lines if not re.fullmatch(report, line)]
    shape = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S+ \w+ backline: .*"
    assert all(re.fullmatch(shape, line) for line in others), [line for line in others if not re.fullmatch(shape, line)]
    assert others == sorted(others, key=lambda line: line[:19])
    assert "Stopped" in others[-1]


def test_a_server_stops_although_nobody_reads_its_log(servers):
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, b"x" * 4096)
    os.set_blocking(writing, True)
    server = servers()
    server.errors.close()
    server.errors = os.fdopen(writing, "w")
    server.start()
    assert server.stop() == 0
    os.close(reading)
    server.errors = open(os.devnull, encoding="utf-8")


# --- Metrics on an address of their own

def asked_plainly(port, target, method="GET", host="127.0.0.1"):
    with socket.create_connection((host, port), timeout=backline.PATIENCE) as connection:
        connection.sendall(f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        received = b""
        while chunk := connection.recv(65536):
            received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), head.decode().lower(), body


def test_metrics_have_an_address_of_their_own(servers):
    port = free_port()
    server = servers("--metrics-address", f"127.0.0.1:{port}").start()
    status, head, body = asked_plainly(port, "/metrics")
    assert status == 200 and "text/plain; version=0.0.4" in head and "connection: close" in head
    assert b"\nbackline_build_info{" in body and f"content-length: {len(body)}" in head
    status, head, body = asked_plainly(port, "/metrics", "HEAD")
    assert status == 200 and body == b"" and "content-length: 0" not in head
    assert asked_plainly(port, "/metrics?x=1")[0] == 200
    assert asked_plainly(port, "/metrics", "POST")[0] == 405
    for other in ("/", "/healthz", "/readyz", "/v1/rooms", "/openapi.json", "/metrics/", "//metrics", "/v1/../metrics"):
        assert asked_plainly(port, other)[0] == 404, other
    # The port of clients no longer serves them.
    for method in ("GET", "HEAD", "POST"):
        assert server.request(method, "/metrics").status == 404
    # It serves until the end, and no connection to it delays the end.
    with socket.create_connection(("127.0.0.1", port)):
        assert server.stop() == 0
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port))


def test_an_address_for_metrics_that_cannot_be_had_is_one_clear_line(servers, tmp_path):
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = backline.run(
            "serve", "--store", "memory", "--plain", "--port", "0", "--metrics-address", address, "--data", str(tmp_path))
    assert ended.returncode == 69 and address in ended.stderr.splitlines()[-1], ended
    assert "listening on" not in ended.stdout


# --- Descriptors

def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def connections_to(server, count, stack):
    return [
        stack.enter_context(socket.create_connection((server.host, server.port), timeout=backline.PATIENCE))
        for _ in range(count)
    ]


def is_answered(connection):
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return b" 200 " in connection.recv(100)


def test_connections_leave_descriptors_for_the_process(servers):
    """The system's thread library ends a process in which it cannot open a file."""
    server = servers(
        "--plain", "--max-connections-per-address", "0", "--handshake-timeout-seconds", "600", "--metrics-address",
        f"127.0.0.1:{(metrics := free_port())}",
        prefix=("sh", "-c", 'ulimit -n 300; exec "$@"', "sh")).start()
    pid = server.process.pid
    with server.session("Ana").socket() as ana, contextlib.ExitStack() as stack:
        # Enough for all that there are, with those that are accepted together with the last one.
        connections = connections_to(server, 300, stack)
        backline.eventually(
            lambda: "No further connections are accepted" in server.said(), "the operator is told that some wait")
        # The server keeps 64, of which its store and its threads may have taken some since.
        assert 300 - 192 <= len(os.listdir(f"/proc/{pid}/fd")) <= 300 - 32
        assert ana.is_alive()
        assert is_answered(connections[0])
        assert backline.Address(host="127.0.0.1", port=metrics, scheme="http").request("GET", "/metrics").status == 200
        for connection in connections[:-1]:
            connection.close()
        assert is_answered(connections[-1])
        assert ana.is_alive()


@pytest.mark.soak("the time of the processor is measured")
def test_the_accept_loop_rests_while_all_descriptors_are_used(servers):
    server = servers("--plain", "--max-connections-per-address", "0", "--handshake-timeout-seconds", "600").start()
    with server.session("Ana").socket() as ana, contextlib.ExitStack() as stack:
        pid = server.process.pid
        used = len(os.listdir(f"/proc/{pid}/fd"))
        _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (used + 5, hard))
        waiting = connections_to(server, 20, stack)
        backline.eventually(lambda: len(os.listdir(f"/proc/{pid}/fd")) >= used + 5, "all descriptors are used")
        before, began = cpu_seconds(pid), time.monotonic()
        time.sleep(2)
        share = (cpu_seconds(pid) - before) / (time.monotonic() - began)
        assert share < 0.2, f"{share:.0%} of a core"
        # Open connections continue, and the others are accepted once there is room.
        assert ana.is_alive()
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (hard, hard))
        assert is_answered(waiting[-1])
        assert ana.is_alive()


@pytest.mark.parametrize("options", [[], ["--plain"]], ids=["with TLS", "plain"])
def test_the_health_check_of_the_image_works_with_and_without_tls(servers, options):
    with open(pathlib.Path(__file__).parents[2] / "Dockerfile", encoding="utf-8") as file:
        check = re.search(r"^HEALTHCHECK .*\\\n +CMD ((?:.*\\\n)*.*)$", file.read(), re.MULTILINE).group(1)
    server = servers(*options).start()

    def asked():
        environment = {**os.environ, "BACKLINE_PORT": str(server.port)}
        return subprocess.run(["sh", "-c", check.replace("\\\n", "")], env=environment, timeout=backline.PATIENCE)

    assert asked().returncode == 0
    assert server.stop() == 0
    assert asked().returncode != 0
