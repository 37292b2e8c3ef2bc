"""The pages for people: links have targets, and the README's examples work as shown."""

import json
import os
import pathlib
import re
import signal
import subprocess
import threading

import pytest

import backline
from documents import TREE, anchors, blocks, links, missing, pages, prose, read


def test_links_lead_somewhere():
    for page in pages():
        broken = {target: missing(page, target) for target in links(page) if missing(page, target)}
        assert not broken, page


def test_links_are_found():
    assert "Documentation/Protocol.md" in links("README.md")
    assert "Documentation/command.svg" in links("README.md")
    assert missing("README.md", "Documentation/Nothing.md") == "no file Documentation/Nothing.md"
    assert missing("README.md", "Documentation/Protocol.md#nothing") == "no heading #nothing in Documentation/Protocol.md"
    assert {"6-error-codes", "presence-reactions-signals-live-never-in-the-log"} <= anchors("Documentation/Protocol.md")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_scripts_that_a_page_names_are_there(page):
    scripts = set(re.findall(r"\bScripts/[\w-]+", read(page)))
    assert scripts
    for script in scripts:
        assert os.access(os.path.join(TREE, script), os.X_OK), script


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "Documentation/Architecture.md", "Documentation/Glossary.md"])
def test_files_that_a_page_names_are_there(page):
    """A path that begins with a folder of the repository, without placeholders."""
    named = set(re.findall(r"`((?:Sources|Tests|Documentation|Schema|Benchmarks|Scripts)/[\w./+-]+)`", prose(page)))
    assert not {path for path in named if not os.path.exists(os.path.join(TREE, path))}


@pytest.mark.parametrize(("heading", "example", "others"), [
    ("Adding a command", "voteSkip", {
        "Sources/WebClient/Pages/wire/messages.d.ts", "Documentation/Client.md", "Documentation/Terminal.md"}),
    ("Adding an event", "skipVoteCast", {"Sources/RoomWire/EventJSON+Parts.swift"})])
def test_a_search_finds_the_files_that_an_addition_takes(heading, example, others):
    table = re.search(rf"^## {heading}$(.*?)^Tests:$", read("CONTRIBUTING.md"), re.MULTILINE | re.DOTALL)[1]
    named = {path for row in table.splitlines() if row.startswith("|")
             for path in re.findall(r"`((?:Sources|Documentation)/[^`]+\.\w+)`", row)}
    searched = [*pathlib.Path(TREE, "Sources").rglob("*.*"), *pathlib.Path(TREE, "Documentation").glob("*.*")]
    found = {str(path.relative_to(TREE)) for path in searched if path.is_file()
             and re.search(rf"\b{example}\b", path.read_text(encoding="utf-8", errors="ignore"))}
    assert others <= named and found == named - others


def test_the_readme_is_short():
    assert len(read("README.md").splitlines()) <= 150


class Shell:
    """A shell at the root of the repository, for typing a page's examples against a server of the test."""

    def __init__(self, server):
        self.server = server
        self.printed = ""

    def __enter__(self):
        # A session of its own, so that background processes end with it.
        self.process = subprocess.Popen(
            ["bash"], cwd=TREE, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        self.guard = threading.Timer(3 * backline.PATIENCE, self.end)
        self.guard.start()
        return self

    def __exit__(self, *_):
        self.guard.cancel()
        self.end()
        self.process.communicate()

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)

    def type(self, script, until):
        """Types a script, and returns all JSON texts printed so far, once there are enough of them."""
        self.process.stdin.write(script.replace("localhost:8443", f"127.0.0.1:{self.server.port}"))
        self.process.stdin.flush()
        for line in self.process.stdout:
            self.printed += line
            if until(found := texts(self.printed)):
                return found
        raise AssertionError(f"not enough was printed:\n{self.printed}")


def texts(printed):
    """The JSON objects in a text, several of which may be on one line."""
    found, decoder, position = [], json.JSONDecoder(), printed.find("{")
    while position >= 0:
        value, position = decoder.raw_decode(printed, position)
        found.append(value)
        position = printed.find("{", position)
    return found


def answers(found):
    """The answers to commands."""
    return [text for text in found if "type" not in text and "seq" in text]


def shown(found):
    """The rooms in the answers to requests for a room."""
    return [text["room"] for text in found if "type" not in text and "state" in text.get("room", {})]


def events(found):
    """The events of all deltas."""
    return [event for text in found if text.get("type") == "delta" for event in text["events"]]


def requests_of_the_readme():
    """Its examples that ask a server: a room in ten lines, the room again, rooms nearby."""
    return [block for block in blocks("README.md", "sh") if "$api" in block]


def test_the_readme_s_ten_lines_show_a_room(shared):
    """The README's description is right too: answers with numbers, a welcome, a snapshot, deltas, and the vote as
    printed.
    """
    example, again, _ = requests_of_the_readme()
    vote, = blocks("README.md", "json")
    lines = example.splitlines(keepends=True)
    assert len(lines) == 10
    with Shell(shared) as shell:
        shell.type("".join(lines[:6]), lambda found: any(text.get("type") == "snapshot" for text in found))
        found = shell.type(
            "".join(lines[6:]), lambda found: len(answers(found)) == 4
            and any(event["type"] == "playbackStarted" for event in events(found)))
        room, = shown(shell.type(again + "echo\n", shown))
    assert [answer["seq"] for answer in answers(found)] == [3, 4, 6, 7]
    assert [text["type"] for text in found if "type" in text][:2] == ["welcome", "snapshot"]
    assert room["state"]["playback"]["status"] == "playing" and room["seq"] == 7
    # Events that arrive together may be one delta: its fields, and the vote itself.
    printed, delta = json.loads(vote), next(text for text in found if text.get("type") == "delta")
    assert printed.keys() == delta.keys()
    cast, = [event for event in events(found) if event["type"] == "voteCast"]
    assert [{**cast, "at": 0}] == [{**event, "at": 0} for event in printed["events"]]


def test_the_readme_s_rooms_nearby_are_found(servers):
    with Shell(servers().start()) as shell:
        example, _, nearby = requests_of_the_readme()
        beginning = "".join(example.splitlines(keepends=True)[:4])
        found = shell.type(beginning + nearby, lambda found: found[-1:] and "rooms" in found[-1])
    assert [room["name"] for room in found[-1]["rooms"]] == ["Roof"]
    assert 0 < found[-1]["rooms"][0]["distanceMeters"] < 5000


def test_a_watcher_is_told_what_is_wrong(shared):
    watch = os.path.join(TREE, "Scripts", "watch")
    for arguments, told in [
        ([], "Usage: Scripts/watch URL TOKEN"), ([f"{shared.origin}/v1/socket", "nobody"], "refused: HTTP/1.1 401"),
        (["https://127.0.0.1:1/v1/socket", "nobody"], "Connection refused"),
    ]:
        said = subprocess.run([watch, *arguments], capture_output=True, text=True, timeout=backline.PATIENCE)
        assert said.returncode == 1 and told in said.stderr, said.stderr


def test_a_watcher_answers_pings_and_says_how_it_was_closed(servers):
    server = servers("--ping-interval-seconds", "0.2", "--silence-limit-seconds", "3600").start()
    person = server.session("Ana")
    with subprocess.Popen(
        [os.path.join(TREE, "Scripts", "watch"), f"{server.origin}/v1/socket", person.token], text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as watch:
        def pongs():
            metrics = server.request("GET", "/metrics").body.decode()
            return sum(float(line.split()[-1]) for line in metrics.splitlines()
                       if line.startswith("backline_websocket_frames_received_total{") and '"pong"' in line)
        try:
            backline.eventually(lambda: pongs() >= 3, "pings are answered")
            server.stop()
            assert watch.stderr.read() == "closed: 1012\n"
        finally:
            watch.kill()
