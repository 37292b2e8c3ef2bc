"""Runs Autobahn|Testsuite over TLS against EchoServer and EchoClient, and judges its reports."""

import argparse
import contextlib
import fnmatch
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter

# Programs that are told their port get it as in the end-to-end tests.
sys.path.insert(1, str(pathlib.Path(__file__).parents[1] / "EndToEnd"))

from ports import free_port  # noqa: E402

PASSING = {"OK", "NON-STRICT", "INFORMATIONAL"}
"""What Autobahn may say about a case, and about how it closed, for the case to count as passed."""

AGENT = "Backline"
PATIENCE = 20
"""Seconds in which a program has to begin to listen, or to end when it is told to."""

STANDSTILL = 600
"""Seconds after which a case counts as never ending: the suite itself gives the longest ones 480 s."""

CASES_IN_SUITE = """
import json
from autobahntestsuite.case import Cases, CaseCategories, CaseSubCategories, CaseSetname, CaseBasename
from autobahntestsuite.caseset import CaseSet
names = CaseSet(CaseSetname, CaseBasename, Cases, CaseCategories, CaseSubCategories)
print(json.dumps([names.caseClasstoId(case) for case in Cases]))
"""


class Trouble(Exception):
    """Why the suite could not be run to its end."""


def arguments():
    parser = argparse.ArgumentParser(
        prog="Scripts/conformance", description=__doc__,
        epilog="Exit status 0: every selected case ran, was passed and closed cleanly. Without --cases and --all the "
        "groups 12 and 13 (compression) are left out.",
    )
    parser.add_argument("--role", choices=["server", "client", "both"], default="both", help="what is tested (both)")
    parser.add_argument("--cases", metavar="LIST", help="patterns of cases, such as '1.*,7.7.1'")
    parser.add_argument("--exclude", metavar="LIST", default="", help="patterns of cases to leave out")
    parser.add_argument("--all", action="store_true", help="every group: compression takes ten minutes a role")
    parser.add_argument("--reports", metavar="DIR", type=pathlib.Path, help="keep Autobahn's reports here")
    parser.add_argument("--results", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--suite", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.cases and chosen.all:
        parser.error("--cases and --all rule each other out")
    return chosen


def select(known, chosen):
    """The cases to run, in the suite's order."""

    def matching(patterns):
        found = set()
        for pattern in filter(None, (part.strip() for part in patterns.split(","))):
            hits = fnmatch.filter(known, pattern)
            if not hits:
                raise Trouble(f"no case is called {pattern}")
            found.update(hits)
        return found

    selected = matching(chosen.cases) if chosen.cases else set(known)
    if not (chosen.cases or chosen.all):
        selected -= matching("12.*,13.*")
    selected -= matching(chosen.exclude)
    if not selected:
        raise Trouble("no case is left to run")
    return [case for case in known if case in selected]


# Programs


@contextlib.contextmanager
def running(*command, **settings):
    """A child process, which is ended with the block."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **settings)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def suite(chosen, folder, mode, specification):
    """Autobahn's program in one of its modes; what it says is in the folder's wstest.log."""
    path = folder / "specification.json"
    path.write_text(json.dumps({"outdir": str(folder), "options": {"failByDrop": False}, **specification}, indent=1))
    with (folder / "wstest.log").open("w") as log:
        command = [chosen.suite / "bin/wstest", "--mode", mode, "--spec", path, "--webport", "0"]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore"}
        with running(*command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, env=environment) as process:
            yield process


def wait(process, what, folder):
    """Waits for a program that runs the cases, as long as Autobahn goes on to say that it begins another one."""
    log = folder / "wstest.log"
    size, since = 0, time.monotonic()
    while process.poll() is None:
        if log.stat().st_size != size:
            size, since = log.stat().st_size, time.monotonic()
        if time.monotonic() - since > STANDSTILL:
            raise Trouble(f"{what} has been at the same case for {STANDSTILL} s")
        time.sleep(0.1)
    if process.returncode != 0:
        raise Trouble(f"{what} ended with exit code {process.returncode}")


def serve_cases(chosen, folder, cases):
    """Autobahn's fuzzing client against EchoServer."""
    with running(chosen.programs / "EchoServer", stdout=subprocess.PIPE, text=True) as server:
        line = server.stdout.readline()
        ready = re.fullmatch(r"listening on https://(.+)\n", line)
        if not ready:
            raise Trouble(f"EchoServer is not ready; it said {line!r}")
        specification = {"servers": [{"agent": AGENT, "url": f"wss://{ready[1]}"}], **only(cases)}
        with suite(chosen, folder, "fuzzingclient", specification) as client:
            wait(client, "Autobahn's fuzzing client", folder)
        if server.poll() is not None:
            raise Trouble(f"EchoServer ended by itself, with exit code {server.returncode}")
        server.terminate()
        if server.wait(PATIENCE) != 0:
            raise Trouble(f"EchoServer was told to stop and ended with exit code {server.returncode}")


def follow_cases(chosen, folder, cases):
    """EchoClient against Autobahn's fuzzing server."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-keyout", key, "-out", certificate],
        check=True, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    port = free_port()
    specification = {
        "url": f"wss://127.0.0.1:{port}", "key": str(key), "cert": str(certificate), **only(cases),
    }
    with suite(chosen, folder, "fuzzingserver", specification) as server:
        deadline = time.monotonic() + PATIENCE
        while not listens(port):
            if server.poll() is not None or time.monotonic() > deadline:
                raise Trouble("Autobahn's fuzzing server does not listen")
            time.sleep(0.05)
        with running(chosen.programs / "EchoClient", "--port", str(port), "--agent", AGENT) as client:
            wait(client, "EchoClient", folder)


def only(cases):
    return {"cases": cases, "exclude-cases": [], "exclude-agent-cases": {}}


def listens(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    except OSError:
        return False


# Reports


def results(folder):
    """What Autobahn says about each case that ran: its behaviour, its close's, and why."""
    index = folder / "index.json"
    if not index.exists():
        return {}
    found = {}
    for case, entry in json.loads(index.read_text()).get(AGENT, {}).items():
        detail = json.loads((folder / entry["reportfile"]).read_text(errors="replace"))
        behaviour, close = entry["behavior"], entry["behaviorClose"]
        # Cases that are informational whatever happens say so also of a connection that was never opened.
        if not (detail["httpResponse"] or "").startswith("HTTP/1.1 101"):
            behaviour, close = "FAILED", "FAILED"
        why = detail["result"] if behaviour not in PASSING else ""
        if close not in PASSING:
            why = " ".join(filter(None, [why, detail["resultClose"], detail["wasNotCleanReason"]]))
        found[case] = (behaviour, close, why)
    return found


def judge(role, cases, found, seconds):
    """Prints what became of the cases; returns whether all is well."""
    missing = [case for case in cases if case not in found]
    counts = Counter(behaviour for behaviour, _, _ in found.values())
    closes = Counter(close for _, close, _ in found.values())
    for name, kind in (("behaviour", 0), ("close", 1)):
        for word in ("NON-STRICT", "INFORMATIONAL"):
            named = [case for case in cases if case in found and found[case][kind] == word]
            if named:
                print(f"{word} {name}: {' '.join(named)}")
    failing = [case for case in cases if case in found and not PASSING.issuperset(found[case][:2])]
    for case in failing:
        behaviour, close, why = found[case]
        print(f"{case}: {behaviour}, close {close}: {why}")
    if missing:
        print(f"NOT RUN: {' '.join(missing)}")
    summary = ", ".join(f"{count} {word}" for word, count in sorted(counts.items(), key=lambda item: -item[1]))
    closing = ", ".join(f"{count} {word}" for word, count in sorted(closes.items(), key=lambda item: -item[1]))
    print(
        f"{role}: {len(found)} of {len(cases)} cases in {seconds:.0f} s: {summary or 'none'}; closes: {closing or 'none'}",
        flush=True,
    )
    return not failing and not missing


def tell(path, role, cases, found):
    """Adds what became of each case to a file, a line of JSON each; those in the other role may be added meanwhile."""
    with path.open("a", encoding="utf-8") as file:
        file.writelines(
            json.dumps({
                "case": f"{role} {case}", "why": why or f"{behaviour}, close {close}",
                "passed": PASSING.issuperset((behaviour, close)),
            }) + "\n"
            for case in cases for behaviour, close, why in [found.get(case, ("NOT RUN", "NOT RUN", ""))])


def prove(role, run, chosen, cases):
    """Runs the cases in one role and judges them; keeps the reports of a failure, and where they are asked for."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"autobahn-{role}-"))
    began = time.monotonic()
    keeps = False
    try:
        trouble = None
        try:
            run(chosen, folder, cases)
        except Trouble as error:
            trouble = error
        found = results(folder)
        passed = judge(role, cases, found, time.monotonic() - began) and trouble is None
        if chosen.results:
            tell(chosen.results, role, cases, found)
        if trouble:
            print(f"{role}: {trouble}")
        if chosen.reports:
            shutil.copytree(folder, chosen.reports / role, dirs_exist_ok=True)
        keeps = not passed
        if keeps:
            print(f"{role}: reports in {folder}/index.html, Autobahn's log in {folder}/wstest.log")
        return passed
    finally:
        if not keeps:
            shutil.rmtree(folder)


def main():
    chosen = arguments()
    # Whatever ends this program ends its children: `running` does that on the way out.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if chosen.role == "both":
        return in_both_roles()
    listing = subprocess.run(
        [chosen.suite / "bin/python", "-c", CASES_IN_SUITE], stdout=subprocess.PIPE, check=True, text=True
    )
    cases = select(json.loads(listing.stdout), chosen)
    roles = {"server": serve_cases, "client": follow_cases}
    return 0 if prove(chosen.role, roles[chosen.role], chosen, cases) else 1


def in_both_roles():
    """Runs this program once for each role, side by side: the suite uses one processor."""
    with contextlib.ExitStack() as stack:
        started = [
            stack.enter_context(running(sys.executable, __file__, *sys.argv[1:], "--role", role))
            for role in ("server", "client")
        ]
        return 1 if any([process.wait() for process in started]) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as error:
        sys.exit(f"conformance: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
