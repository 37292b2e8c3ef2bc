"""Signals that are no request to stop, and the certificate that is read again."""

import contextlib
import os
import pty
import re
import signal
import socket
import ssl
import subprocess

import pytest

import backline


def make_certificate(folder, name, days=2):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", str(days),
         "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", folder / "key.pem",
         "-out", folder / "certificate.pem"], check=True, capture_output=True)


def served(server):
    """The certificate that a new connection gets."""
    with socket.create_connection((server.host, server.port), timeout=backline.PATIENCE) as connection:
        with server.context().wrap_socket(connection) as tls:
            return ssl.DER_cert_to_PEM_cert(tls.getpeercert(binary_form=True)).strip()


def in_file(folder):
    return (folder / "certificate.pem").read_text().strip()


def test_no_signal_but_a_request_to_stop_ends_the_server(servers):
    server = servers().start()
    ana = server.session("Ana")
    with ana.socket() as client:
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGUSR1):
            server.process.send_signal(number)
        # SIGHUP is answered by a line.
        backline.eventually(lambda: "read again" in server.said(), "the certificate is read again")
        assert client.is_alive()
    assert server.stop() == 0


def test_sighup_takes_the_new_certificate_and_keeps_connections(servers, tmp_path):
    make_certificate(tmp_path, "first", days=30)
    files = ("--certificate", str(tmp_path / "certificate.pem"), "--key", str(tmp_path / "key.pem"))
    server = servers(*files).start()
    first = in_file(tmp_path)
    assert served(server) == first
    with server.session("Ana").socket() as client:
        make_certificate(tmp_path, "second", days=3)
        server.process.send_signal(signal.SIGHUP)
        backline.eventually(lambda: served(server) == in_file(tmp_path), "the new certificate is served")
        backline.eventually(lambda: "expires soon" in server.said(), "it ends within a week")

        def metric(name):
            metrics = server.request("GET", "/metrics").body.decode()
            return float(re.search(rf"^backline_certificate_{name} (\S+)$", metrics, re.MULTILINE)[1])

        told = subprocess.run(["openssl", "x509", "-in", tmp_path / "certificate.pem", "-noout", "-enddate"],
                              capture_output=True, text=True, check=True).stdout.strip().partition("=")[2]
        assert metric("end_seconds") == ssl.cert_time_to_seconds(told) and metric("refused") == 0
        # What cannot be used leaves it as it is.
        second = in_file(tmp_path)
        (tmp_path / "certificate.pem").write_text("nothing")
        server.process.send_signal(signal.SIGHUP)
        backline.eventually(lambda: "the one before stays" in server.said(), "the reason is told")
        assert served(server) == second and metric("refused") == 1
        assert client.is_alive()
    assert server.stop() == 0


@pytest.mark.soak("load: 1,000 sockets; and files that are looked at every ten seconds")
def test_a_thousand_sockets_outlive_ten_certificates(servers, tmp_path):
    """As an ACME client renews it: new files in a folder of their own, and a link that is turned."""
    live = tmp_path / "live"

    def renew(number, name, chain=None):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        make_certificate(folder, name, days=30)
        if chain is not None:
            (folder / "certificate.pem").write_text(chain)
        (tmp_path / "turned").symlink_to(folder)
        (tmp_path / "turned").rename(live)

    renew(0, "first")
    files = ("--certificate", str(live / "certificate.pem"), "--key", str(live / "key.pem"))
    server = servers(*files, "--max-sockets-per-session", "0").start()
    ana = server.session("Ana")
    room = ana.create_room()["room"]["state"]["id"]
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(ana.socket()) for _ in range(1_000)]
        sockets[0].subscribe(room)
        for number in range(1, 11):
            renew(number, f"renewed {number}")
            if number % 2:
                server.process.send_signal(signal.SIGHUP)
            backline.eventually(lambda: served(server) == in_file(live), "the new certificate is served")
            if number in (3, 6):
                # Another key's, and nothing that could be a certificate.
                good = in_file(live)
                renew(100 + number, "broken", chain=good if number == 3 else "nothing")
                backline.eventually(
                    lambda count=number // 3: server.said().count("the one before stays") == count, "the reason is told")
                assert served(server) == good
        assert all(client.is_alive() for client in sockets)
        assert sockets[0].command(room, "addTracks", tracks=backline.tracks("Still here"))["type"] == "ack"
    assert server.stop() == 0


@pytest.mark.parametrize("has_file", [True, False])
def test_a_service_manager_is_told_when_the_server_is_ready_lives_and_stops(servers, tmp_path, has_file):
    """As systemd does for a unit of Type=notify with WatchdogSec=."""
    name = str(tmp_path / "notify") if has_file else f"@backline-{tmp_path.name}-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(name if has_file else "\0" + name[1:])
        manager.settimeout(backline.PATIENCE)
        server = servers(environment={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "200000"}).start()

        def told(word):
            """The first message with it, of those that have not been read."""
            while True:
                message = manager.recv(4096).decode().splitlines()
                if message[0] == word:
                    return message

        assert told("READY=1") == ["READY=1", f"STATUS={server.ready_line}, page https://localhost:{server.port}/"]
        for _ in range(3):
            told("WATCHDOG=1")
        server.process.send_signal(signal.SIGTERM)
        told("STOPPING=1")
        assert server.process.wait(backline.PATIENCE) == 0


@pytest.mark.parametrize("watchdog", [("200000", "1"), ("0", ""), ("text", ""), ("9223372036854775808", "")])
def test_a_watchdog_of_another_process_or_of_no_time_is_told_nothing(servers, tmp_path, watchdog):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(backline.PATIENCE)
        usec, pid = watchdog
        server = servers(environment={
            "NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": usec, "WATCHDOG_PID": pid}).start()
        assert server.stop() == 0
        words = [manager.recv(4096).decode().splitlines()[0] for _ in range(2)]
        assert words == ["READY=1", "STOPPING=1"]
        assert ("watchdog cannot be served" in server.said()) == (not pid)


@pytest.mark.parametrize("name", ["/nowhere/notify", "@", "n" * 200, ""])
def test_a_service_manager_that_is_not_there_keeps_nothing_up(servers, name):
    server = servers(environment={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "200000"}).start()
    server.session("Ana")
    assert server.stop() == 0
    assert ("cannot be told that the server is ready" in server.said()) == bool(name)


def test_a_server_stops_with_its_terminal(tmp_path):
    """Whoever closes the window wants no server that goes on unseen."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(backline.program(), ["backline", "serve", "--port", "0", "--data", str(tmp_path), "--drain-window-seconds", "0"])
    shown = b""
    while b"listening on" not in shown:
        shown += os.read(terminal, 65_536)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
