"""Shared by all benchmarks: the server and its peers under load, the load generator, figures from /proc, tables.

A benchmark calls `enter()` first. The server under test has CPU 0 for itself, the load has CPU 1. Both talk over the
loopback of a network namespace made for the run, so that connection tracking and packet pacing of the machine do not
affect the figures.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import functools
import json
import os
import platform
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(HERE)
PYTHON = os.path.join(TREE, ".venv-benchmarks", "bin", "python")
LOAD = os.path.join(HERE, "load", "wsload")
FLOOR = os.path.join(HERE, "load", "floor")
PEERS = ("socketify", "nchan", "websockets", "floor")
SERVER_CPU, LOAD_CPU = 0, 1

os.environ.setdefault("BACKLINE_PROGRAM", os.path.join(TREE, ".build", "release", "backline"))
sys.path.insert(0, os.path.join(TREE, "Tests", "EndToEnd"))

from ports import free_port  # noqa: E402


def enter() -> None:
    """Starts the calling program again, ready for measuring: everything installed, in a network of its own.

    Without the rights for a network namespace (if not root) it stays in the machine's network.
    """
    if "BACKLINE_BENCHMARK" not in os.environ:
        subprocess.run([os.path.join(HERE, "prepare")], check=True)
        os.environ["BACKLINE_BENCHMARK"] = "entered"
        namespace = ["unshare", "--net", "--"] if os.geteuid() == 0 and shutil.which("unshare") else []
        command = [*namespace, PYTHON, *sys.argv]
        os.execvp(command[0], command)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if os.geteuid() == 0 and not any(name != "lo" for _, name in socket.if_nameindex()):
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        for name, value in (
            ("ipv4/tcp_congestion_control", "reno"), ("core/somaxconn", "4096"), ("ipv4/tcp_max_syn_backlog", "4096"),
            ("ipv4/ip_local_port_range", "10240 60999"),
        ):
            with contextlib.suppress(OSError), open(f"/proc/sys/net/{name}", "w", encoding="utf-8") as file:
                file.write(value)
    if cpus() > 1:
        os.sched_setaffinity(0, {LOAD_CPU})


def cpus() -> int:
    return os.cpu_count() or 1


def say(text: str) -> None:
    """One line of progress."""
    print(text, file=sys.stderr, flush=True)


@contextlib.contextmanager
def on_server_cpu() -> Iterator[None]:
    """Processes started in here run on the server's CPU."""
    before = os.sched_getaffinity(0)
    if cpus() > 1:
        os.sched_setaffinity(0, {SERVER_CPU})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


# Resources of a process.

def cpu_seconds(pid: int) -> float:
    """User and system time of all threads of a process."""
    total = 0
    with contextlib.suppress(FileNotFoundError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/task/{task}/schedstat", "rb") as file:
                total += int(file.read().split()[0])
    return total / 1e9


def database_seconds(cluster) -> float:
    """Processor time of all processes of a PostgreSQL so far, those that have ended included."""
    with open(os.path.join(cluster.data, "postmaster.pid"), encoding="ascii") as file:
        postmaster = int(file.readline())
    with open(f"/proc/{postmaster}/task/{postmaster}/children", encoding="ascii") as file:
        processes = [postmaster, *map(int, file.read().split())]
    with open(f"/proc/{postmaster}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    # proc(5): cutime and cstime are the 16th and 17th field, and the first two are cut off here.
    ended = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    return sum(map(cpu_seconds, processes)) + ended


def resident_kib(pid: int, kind: str = "VmRSS") -> int:
    """Resident memory of a process, KiB; `RssAnon` is the part without mapped files, such as the program itself."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(f"{kind}:"))


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


# Servers.

@dataclasses.dataclass
class Target:
    """A server under load: how the load generator reaches it and speaks to it."""

    name: str
    pid: int
    url: str
    #: The load generator's arguments for a subscriber.
    subscriber: list[str] = dataclasses.field(default_factory=list)
    #: The load generator's arguments for a publisher.
    publisher: list[str] = dataclasses.field(default_factory=list)


def backline_version() -> str:
    """The state that the server reports; some benchmarks need none."""
    program = os.environ["BACKLINE_PROGRAM"]
    return _output([program, "--version"]) if os.path.exists(program) else "not built"


@functools.cache
def serve_help() -> str:
    return _output([os.environ["BACKLINE_PROGRAM"], "serve", "--help"])


def supported(*options: str) -> list[str]:
    """Returns those of the `--flag value` pairs that the program knows."""
    pairs = zip(options[::2], options[1::2], strict=True)
    return [word for flag, value in pairs if f"{flag} <" in serve_help() for word in (flag, value)]


extra: list[str] = []
"""More flags for `backline serve`, from the command line of the benchmark."""

UNLIMITED = (
    "--max-connections-per-address", "0", "--max-messages-per-second", "0", "--max-sessions-per-minute", "0",
    "--max-requests-per-address", "0", "--max-requests-per-session", "0", "--max-commands-per-second", "0",
    "--max-messages-per-session", "0", "--max-messages-per-address", "0",
    "--max-failed-lookups-per-minute", "0", "--max-failed-lookups-per-address", "0", "--max-joins-per-minute", "0",
    "--max-sockets-per-session", "0", "--max-events-per-room", "0", "--max-events-per-session", "0",
    "--max-events-per-address", "0", "--max-signals-per-second", "0",
)
"""Turns off limits against abuse, since all load comes from one address and one publisher."""


@contextlib.contextmanager
def backline(*options: str, store: Sequence[str] = ("--store", "memory"), threads: int = 1, ends: bool = False):
    """The server, running with one event loop on its own CPU. If `ends` is set it may stop before the end."""
    from backline import Server

    certificate, key = certificate_files()
    server = Server(
        "--certificate", certificate, "--key", key, "--log-level", "warning", *supported("--threads", str(threads)),
        *supported(*UNLIMITED), *options, *extra, store=tuple(store),
    )
    try:
        with on_server_cpu():
            server.start()
        yield server
        assert ends or server.running, f"the server ended by itself:\n{server.said()}"
    finally:
        server.close()


@contextlib.contextmanager
def store(kind: str) -> Iterator[tuple[str, ...]]:
    """The flags for the store: `memory`, `sqlite`, or `postgres`, which is started for the run."""
    if kind != "postgres":
        yield ("--store", kind)
        return
    from postgres import Cluster

    with contextlib.closing(Cluster()) as cluster:
        yield ("--store", kind, "--database-url", cluster.database())


EVENT = '{"type":"command","room":"ROOM","command":{"type":"rename","name":"%T"}}'
"""One event a command, whose delta is about 200 bytes on the wire; without an id there is no acknowledgement."""


@contextlib.contextmanager
def backline_target(*options: str, tracks: int = 0) -> Iterator[Target]:
    """The server with one room, its owner who publishes, and a guest's session that every subscriber uses."""
    with backline(*options) as server:
        owner, guest = server.session("Owner"), server.session("Guest")
        room = make_room(owner, tracks)
        yield Target(
            "backline", server.process.pid, f"wss://127.0.0.1:{server.port}/v1/rooms/{room}/socket",
            ["--header", f"Authorization: Bearer {guest.token}", "--first", '"type":"snapshot"'],
            ["--pub-header", f"Authorization: Bearer {owner.token}", "--template", EVENT.replace("ROOM", room),
             "--multi"],
        )


def make_room(owner, tracks: int = 0) -> str:
    """Makes a room with so many tracks in its pool; returns its id."""
    room = owner.create_room("Benchmark")["room"]["state"]["id"]
    for first in range(0, tracks, 500):
        owner.command(room, "addTracks", tracks=[
            {"source": "benchmark", "sourceId": f"{number}", "title": f"Track {number}", "artist": "An artist",
             "durationMs": 180_000}
            for number in range(first, min(first + 500, tracks))
        ])
    return room


@contextlib.contextmanager
def peer_target(name: str) -> Iterator[Target]:
    """A peer that sends every message to every connection."""
    certificate, key = certificate_files()
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        command, environment = _peer_command(name, port, folder, certificate, key), dict(os.environ)
        environment |= {"CERT": certificate, "KEY": key}
        with open(os.path.join(folder, "log"), "w+", encoding="utf-8") as log:
            with on_server_cpu():
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
            try:
                _wait_for_port(port, process, log)
                yield Target(name, process.pid, f"wss://127.0.0.1:{port}/room", [], ["--size", "200"])
                assert process.poll() is None, f"{name} ended by itself"
            finally:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def target(name: str) -> contextlib.AbstractContextManager[Target]:
    return backline_target() if name == "backline" else peer_target(name)


def _peer_command(name: str, port: int, folder: str, certificate: str, key: str) -> list[str]:
    if name == "floor":
        return [FLOOR, str(port), "ssl"]
    if name == "nchan":
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        with open(os.path.join(HERE, "peers", "nginx.conf.in"), encoding="utf-8") as file:
            text = file.read()
        for mark, value in {
            "USER": "user root;" if os.geteuid() == 0 else "", "FILES": files, "CONNECTIONS": min(files - 100, 60_000),
            "PORT": port, "FOLDER": folder, "CERTIFICATE": certificate, "KEY": key,
        }.items():
            text = text.replace(f"@{mark}@", str(value))
        with open(os.path.join(folder, "nginx.conf"), "w", encoding="utf-8") as file:
            file.write(text)
        return ["/usr/sbin/nginx", "-p", folder, "-c", os.path.join(folder, "nginx.conf"), "-e", f"{folder}/error.log"]
    return [PYTHON, os.path.join(HERE, "peers", f"{name}_peer.py"), str(port), certificate, key]


def _wait_for_port(port: int, process: subprocess.Popen, log) -> None:
    deadline = time.monotonic() + 20
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None or time.monotonic() > deadline:
            log.seek(0)
            raise RuntimeError(f"{process.args} does not listen:\n{log.read()[-2000:]}")
        time.sleep(0.05)


@functools.cache
def certificate_files() -> tuple[str, str]:
    """A self-signed P-256 certificate and its key, the same for every server of a run."""
    folder = tempfile.TemporaryDirectory(prefix="benchmark-certificate-")
    _kept.append(folder)
    certificate, key = os.path.join(folder.name, "certificate.pem"), os.path.join(folder.name, "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key,
         "-out", certificate],
        check=True, capture_output=True,
    )
    return certificate, key


_kept: list = []


def metrics(server) -> dict[str, float]:
    """The server's figures at /metrics, by name and labels; nothing if it has no such page."""
    answer = server.request("GET", "/metrics")
    if answer.status != 200:
        return {}
    figures = {}
    for line in answer.body.decode().splitlines():
        name, _, value = line.rpartition(" ")
        if name and not line.startswith("#"):
            figures[name] = float(value)
    return figures


# The load generator.

def load(to: Target, *arguments: str, out: Results, timeout: float = 240) -> list[dict]:
    """Runs the load generator; returns its JSON lines, one a phase, which also go to `out`."""
    command = [LOAD, "-q", "--label", to.name, "--pid", str(to.pid), *to.subscriber, *arguments, to.url]
    if cpus() > 1:
        command[1:1] = ["--cpu", str(LOAD_CPU)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    try:
        lines = [json.loads(line) for line in done.stdout.splitlines()]
    except ValueError as error:
        raise RuntimeError(f"no JSON from {command}: {done.stdout[-2000:]}") from error
    if not lines:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    for line in lines:
        out.keep(line)
    return lines


def load_name(line: dict) -> str:
    """`w4`: four messages in flight; `r20`: twenty a second."""
    return f"w{line['window']}" if line["load"] == "closed" else f"r{line['rate']:g}"


def defects(line: dict) -> list[str]:
    """The reasons why a phase's figure does not count: losses, repetitions, lost connections."""
    names = ("missing", "gaps", "dups", "closed", "stalled_messages", "failed")
    found = [f"{name} {line[name]}" for name in names if line.get(name)]
    return [*found, *(line[name] for name in ("error", "first_failure") if line.get(name))]


def overloaded(line: dict) -> bool:
    """Whether a rate needs more than nine tenths of the server's CPU time."""
    if line.get("load") != "open":
        return False
    return line["rate"] * line["connections"] * line["server_cpu_us_per_delivery"] > 0.9e6


# Results.

class Results:
    """The raw lines of a run, also written to a file if one is named, and the failures of the run."""

    def __init__(self, path: str | None):
        self._file = open(path, "a", encoding="utf-8") if path else None
        self.failures: list[str] = []
        self.keep(machine())
        if (busy := os.getloadavg()[0]) > 1:
            say(f"the machine is busy (load average {busy:.1f}): the figures will be noisy")

    def keep(self, line: dict) -> None:
        if self._file:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()

    def fail(self, text: str) -> None:
        say(f"FAILED: {text}")
        self.failures.append(text)

    def end(self) -> None:
        """Ends the program: exit code 1 if anything failed."""
        for text in self.failures:
            print(f"FAILED: {text}")
        sys.exit(1 if self.failures else 0)


def machine() -> dict:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "unknown")
    return {
        "machine": {"cpu": model, "cpus": cpus(), "kernel": platform.release(), "load": os.getloadavg()[0],
                    "backline": backline_version()},
    }


def medians(lines: Iterable[dict], *path: str) -> float:
    """The median of one field, named by its path."""
    values = []
    for line in lines:
        value = line
        for name in path:
            value = value[name]
        values.append(value)
    return statistics.median(values)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints a Markdown table; the first column is text, the others are right-aligned."""
    print("| " + " | ".join(head) + " |")
    print("|---" + "|--:" * (len(head) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print(flush=True)


def options(description: str, add: Callable[[argparse.ArgumentParser], None], peers: str | None = None):
    """The arguments of a benchmark: `--serve` and `--out` for all, `--peers` and `--runs` for those with peers."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    add(parser)
    if peers is not None:
        parser.add_argument("--peers", default=peers, help=f"measured beside the server; known: {', '.join(PEERS)}")
        parser.add_argument("--runs", type=int, default=3, help="number of runs; the table shows their median")
    parser.add_argument("--serve", default="", help="more flags for `backline serve`, as one text")
    parser.add_argument("--out", default=None, help="file to which the raw figures are added, one JSON object a line")
    chosen = parser.parse_args()
    extra[:] = chosen.serve.split()
    if peers is not None:
        chosen.peers = [name for name in chosen.peers.split(",") if name]
    return chosen


def accept_queue_overflows() -> int:
    """How often a connection in this network found a listener's queue full and had to try again."""
    with open("/proc/net/netstat", encoding="ascii") as file:
        names, values = [line.split() for line in file if line.startswith("TcpExt:")]
    return int(values[names.index("ListenOverflows")])


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
