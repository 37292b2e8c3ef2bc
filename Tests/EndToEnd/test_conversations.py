"""`backline rehearse`: the conversations of `Tests/Conversations`, held with all clients of this project."""

import json
import os
import subprocess
import sys

import pytest

import backline

HERE = os.path.dirname(os.path.abspath(__file__))
CONVERSATIONS = os.path.join(HERE, "..", "Conversations")
CLIENTS = {
    "python": [sys.executable, os.path.join(CONVERSATIONS, "clients", "python_client.py")],
    "page": ["node", os.path.join(CONVERSATIONS, "clients", "page_client.mjs")],
    # Built beside the program.
    "swift": [os.path.join(os.path.dirname(backline.program()), "RehearsedClient")],
}


def rehearse(program, *options, environment=None):
    """Runs the command; returns its exit code and the reports by name."""
    command = [backline.program(), "rehearse", "--json", *options, CONVERSATIONS, "--", *program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=environment)
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, {report["name"]: report for report in reports}


def failures(reports):
    return {name: report["message"] for name, report in reports.items() if report["result"] == "failed"}


@pytest.mark.parametrize("client", [
    # The gate holds them with the app on RoomClient in Swift, too.
    client if client == "page" else pytest.param(client, marks=pytest.mark.soak("load: a program for each conversation"))
    for client in CLIENTS])
def test_a_client_passes_all_conversations(client):
    code, reports = rehearse(CLIENTS[client], "--jobs", "2")
    assert failures(reports) == {}
    assert code == 0
    assert len(reports) >= 30
    assert {name for name, report in reports.items() if report["result"] == "skipped"} == set()


def test_the_example_client_holds_conversations():
    names = ["first-snapshot", "resume-with-deltas", "lost-ack"]
    code, reports = rehearse(CLIENTS["python"], *(option for name in names for option in ("--only", name)))
    assert (code, failures(reports), sorted(reports)) == (0, {}, sorted(names))


@pytest.mark.soak("load: a write for each byte")
def test_a_client_takes_messages_that_are_cut_at_every_byte():
    """The one that reads frames by this project's own code."""
    chosen = ["first-snapshot", "fold", "resume-with-deltas", "lost-ack", "nearby", "signal", "close-4401"]
    only = [option for name in chosen for option in ("--only", name)]
    _, reports = rehearse(CLIENTS["swift"], "--cut", *only)
    assert failures(reports) == {}
    assert set(reports) == set(chosen)


def program(code):
    """A program that is no client."""
    return [sys.executable, "-c", f"import sys, time\n{code}"]


@pytest.mark.parametrize(("code", "message"), [
    ("print('hello', flush=True); time.sleep(600)", "what is no JSON object"),
    ("sys.exit(7)", "exit code 7"),
    ("input(); print('{\"can\":[]}', flush=True); sys.stdout.write('x' * 99999999); time.sleep(600)", "without an end"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "signal 9"),
    ("input(); print('{\"can\":[]}\\n' * 9, flush=True); time.sleep(600)", "nobody asked for"),
    ("input(); print('{\"can\":[]}', flush=True); input(); print('{\"cannot\":\"no\"}'); sys.exit()", "cannot do it"),
])
def test_a_program_that_is_no_client_fails_and_is_ended(code, message):
    # Not waited for: it would be there for longer than the test waits.
    exit_code, reports = rehearse(program(code), "--only", "first-snapshot")
    assert exit_code == 1
    assert message in failures(reports)["first-snapshot"]


def test_a_program_holds_no_connection_of_another_conversation():
    code = (
        "import os\n"
        "input(); print('{\"can\":[\"resume\",\"commands\"]}', flush=True); input()\n"
        "links = [os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}')]\n"
        "print('{\"cannot\":\"%d sockets\"}' % sum(link.startswith('socket') for link in links), flush=True)\n"
        "time.sleep(0.2)"
    )
    _, reports = rehearse(program(code), "--jobs", "8")
    found = failures(reports)
    assert len(found) > 30
    assert {name: message for name, message in found.items() if "0 sockets" not in message} == {}


def test_what_a_program_cannot_do_is_told():
    lines = "input(); print('{\"can\":[\"presence\"]}', flush=True)\nfor _ in sys.stdin: pass"
    code, reports = rehearse(program(lines), "--only", "hole", "--only", "nearby")
    assert code == 0
    assert {name: report["lacks"] for name, report in reports.items()} == {"hole": ["resume"], "nearby": ["nearby"]}


def test_a_failure_tells_the_line_what_was_expected_and_what_came():
    # A client that has a state of its own, and never connects.
    lines = (
        "input(); print('{\"can\":[]}', flush=True)\n"
        "for line in sys.stdin: print('{\"done\":true}', flush=True)"
    )
    command = [backline.program(), "rehearse", CONVERSATIONS, "--only", "first-snapshot", "--", *program(lines)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "✘ first-snapshot" in done.stdout
    assert "first-snapshot.jsonl:4: no message" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("0 passed, 1 failed")


@pytest.mark.parametrize(("arguments", "message"), [
    (["/nowhere", "--", "true"], "there is no /nowhere"),
    ([CONVERSATIONS], "no program"),
    ([CONVERSATIONS, "--only", "x", "--", "true"], "there is no conversation x"),
    ([CONVERSATIONS, "--jobs", "0", "--", "true"], "--jobs"),
    ([CONVERSATIONS, "--", "/nowhere/program"], "cannot be started"),
])
def test_a_wrong_command_line_is_told(arguments, message):
    done = subprocess.run([backline.program(), "rehearse", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 64
    assert message in done.stderr


def test_a_file_that_is_no_conversation_is_told(tmp_path):
    file = tmp_path / "x.jsonl"
    file.write_text('{"conversation":"x","rooms":{"room":{"id":"01935000-0000-7000-8000-0000000000aa","code":"7K3M9Q"}}}'
                    '\n{"hope":1}\n')
    done = subprocess.run([backline.program(), "rehearse", file, "--", "true"], capture_output=True, text=True)
    assert done.returncode == 64
    assert 'x.jsonl:2: there is no "hope"' in done.stderr
