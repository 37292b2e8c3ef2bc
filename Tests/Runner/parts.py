"""The parts of the test suite: how each runs its tests, beside each other or one alone, and what it tells of them."""

import collections
import concurrent.futures
import contextlib
import os
import pathlib
import re
import tempfile

import results
import watched
from results import Result

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
SWIFT_TESTS = os.environ.get("BACKLINE_SWIFT_TESTS", f"{TREE}/.build/debug/BacklinePackageTests.xctest")
PYTHON = f"{TREE}/.venv/bin/python"
PLUGINS = ("no:cacheprovider", "pytest_timeout", "xdist.plugin", "pytest_results")
WIDTH = 12
"""Tests in Swift at once. With few of them, processors have nothing to do while all wait for a database. All at once, they
would wait minutes for a thread, and what they run would take that for a lost connection."""
TEST_ENDS = 0.9
"""Of the time of silence after which a run is ended: what is left for a test in Python that hangs, so that it is told with
the place at which it stands, and the others go on."""
ROUNDS = 3
"""How often a part begins again without the tests that ended it, or were under way as it was ended."""
END = 4_000
"""Characters of the output of a program that are kept of its end."""
LAST = 20
"""Lines of it that are told of a test that did not end."""


@contextlib.contextmanager
def _file(name):
    with tempfile.TemporaryDirectory(prefix="backline-tests-") as folder:
        yield pathlib.Path(folder) / name


# Swift


def swift(*arguments):
    """All tests in Swift, or those that a filter leaves."""
    found, skipped = {}, []
    for _ in range(ROUNDS):
        ended, unfinished, fault = _swift_once([*arguments, *skipped])
        # What failed once has failed.
        found.update({
            result.test: result for result in ended + unfinished if result.test not in found or found[result.test].passed})
        # It begins again without those that were under way, so that all others have run. There are few where one hung.
        if not unfinished or len(unfinished) > WIDTH:
            break
        skipped += [word for result in unfinished for word in ("--skip", _exactly(result.test))]
    told = list(found.values())
    if not told and not fault:
        fault = "no test in Swift has this name"
    if unfinished and not fault:
        fault = "the program ended before all tests had run"
    return told + ([Result("swift", "", 0.0, False, fault)] if fault else [])


def swift_alone(test, environment):
    ended, unfinished, fault = _swift_once(["--filter", _exactly(test)], environment)
    return bool(ended) and not unfinished and not fault and all(result.passed for result in ended)


def _exactly(test):
    return f"^{re.escape(test)}$"


def _swift_once(arguments, environment=None):
    """Runs the program with the tests. Returns what ended; what was under way as it ended; and what failed outside."""
    with _file("events.jsonl") as events:
        code, said, _ = watched.run(
            [SWIFT_TESTS, "--testing-library", "swift-testing", "--experimental-maximum-parallelization-width",
             str(WIDTH), "--event-stream-version", "0", "--event-stream-output-path", events, *arguments],
            watching=[events], env={**(environment or os.environ), "NO_COLOR": "1"})
        ended, unfinished, outside = _swift_events(events, said)
        is_whole = any(record["payload"].get("kind") == "runEnded" for record in results.records(events))
    if not outside and not unfinished and not (is_whole and (code == 0 or any(not result.passed for result in ended))):
        outside = f"the tests in Swift ended with {code}\n{said[-END:]}"
    return ended, unfinished, outside


def _swift_events(path, said):
    """Reads the stream of events. A test begins before it is its turn: its time is that in which one of its cases ran."""
    output, seconds, ended = collections.defaultdict(str), collections.Counter(), {}
    # Of a test without arguments no case is told.
    started, running, since = set(), collections.Counter(), {}
    functions, now = set(), 0.0
    for record in results.records(path):
        payload = record["payload"]
        if record["kind"] == "test":
            if payload["kind"] == "function":
                functions.add(payload["id"])
            continue
        kind, test, now = payload["kind"], payload.get("testID"), payload["instant"]["absolute"]
        messages = payload["messages"]
        if kind == "testStarted":
            started.add(test)
        elif kind == "testCaseStarted":
            if running[test] == 0:
                since[test] = now
            running[test] += 1
        elif kind == "testCaseEnded":
            running[test] -= 1
            if running[test] == 0:
                seconds[test] += now - since[test]
        elif kind == "issueRecorded":
            place = payload["issue"].get("sourceLocation", {})
            output[test] += f"{place.get('fileID')}:{place.get('line')}\n" + "".join(f"{m['text']}\n" for m in messages)
        elif kind == "testEnded":
            ended[test] = not any(message["symbol"] == "fail" for message in messages)

    def result(test, passed, more=""):
        return Result(
            "swift", test, seconds[test], passed, "" if passed else output[test] + more + _swift_seed(test, said),
            title=swift_title(test))

    done = [result(test, ended[test]) for test in sorted(functions) if test in ended]
    under_way = [test for test in sorted(functions & started) if test not in ended]
    for test in under_way:
        if running[test] > 0:
            seconds[test] += now - since[test]
    # A crash says why on its own lines, among those of tests that begin and end.
    words = [line for line in said[-END:].splitlines() if line[:1] not in "◇✔✘↳" and "BACKLINE_SEED" not in line]
    unfinished = [
        result(test, False, "\n".join(["It did not end: it hung, or the program ended.", *words[-LAST:], ""]))
        for test in under_way]
    return done, unfinished, output[None]


def _swift_seed(test, said):
    """The line in which a test has told its seed, which names its function or its file."""
    target, _, function = test.partition("/")
    file = function.rpartition("/")[2].partition(":")[0]
    names = {f"{target.partition('.')[0]}/{file}", function.rpartition("/")[0].rpartition("/")[2]}
    lines = (re.match(r"(.*): BACKLINE_SEED=\d+$", line) for line in said.splitlines())
    found = [line[0] for line in lines if line and (line[1] in names or f"`{line[1].strip('`')}`" in names)]
    return "".join(f"{line}\n" for line in found[-1:])


def swift_title(test):
    """Without the test's place in its file, and what marks a name as a sentence."""
    return re.sub(r"\(\)$", "", test.rpartition("/")[0].replace("`", ""))


# Python


def python(*arguments):
    """Tests end to end, and of the page in browsers."""
    found, left = {}, []
    for _ in range(ROUNDS):
        ended, unfinished, planned, fault = _python_once([*arguments, *left])
        found.update({result.test: result for result in ended + unfinished})
        left = [test for test in planned if test not in found]
        if fault or not left:
            break
        # Where a test hung, those behind it did not run: they do now, without it.
        arguments = [argument for argument in arguments if not argument.startswith("Tests/")]
    if left and not fault:
        fault = f"these tests did not run: {' '.join(left)}"
    return [*found.values(), *([Result("python", "", 0.0, False, fault)] if fault else [])]


def python_alone(test, environment):
    ended, unfinished, _, fault = _python_once([test], environment)
    return bool(ended) and not unfinished and not fault and all(result.passed for result in ended)


def _python_once(arguments, environment=None):
    with _file("tests.jsonl") as path:
        environment = {
            **(environment or os.environ), "BACKLINE_RESULTS": str(path),
            # Of the plugins that are there, those of other tools take seconds of each start.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")])),
        }
        code, said, _ = watched.run(
            [PYTHON, "-m", "pytest", *(word for name in PLUGINS for word in ("-p", name)), "--rootdir", ".", "--durations=5",
             f"--timeout={TEST_ENDS * watched.SILENCE}", "--timeout-method=signal", *arguments],
            env=environment)
        ended, unfinished, planned, faults = _lines("python", path, said)
    # 1: tests failed; 5: no test is selected, as where an option for all groups selects some tests.
    if code not in (0, 1) and not unfinished and not (code == 5 and os.environ.get("PYTEST_ADDOPTS")):
        faults.append(f"pytest ended with {code}\n{said[-END:]}")
    return ended, unfinished, planned, "\n".join(dict.fromkeys(faults))


def _lines(part, path, said):
    """Reads what `pytest_results` wrote: what ended, what was under way, all that was to run, and faults."""
    began, ended, planned, faults = [], [], {}, []
    for record in results.records(path):
        planned.update(dict.fromkeys(record.get("planned", ())))
        if "fault" in record:
            faults.append(record["fault"])
        elif "began" in record:
            began.append(record["began"])
        elif "ended" in record:
            ended.append(Result(part, record["ended"], record["seconds"], record["passed"], record["output"]))
    done = {result.test for result in ended}
    unfinished = [
        Result(part, test, 0.0, False, f"It did not end. The last words of all:\n{said[-END:]}")
        for test in dict.fromkeys(began) if test not in done]
    return ended, unfinished, list(planned), faults


# The page's parts


def node(*files):
    """Tests of the page's parts without a browser: a process for each file."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [result for found in pool.map(_node_once, files) for result in found]


def node_alone(test, environment):
    return all(result.passed for result in _node_once(test.partition("::")[0], environment))


def _node_once(file, environment=None):
    with _file("tests.jsonl") as path:
        code, said, hung = watched.run(
            ["node", "--test-reporter", "spec", "--test-reporter-destination", "stdout",
             "--test-reporter", HERE / "node-results.mjs", "--test-reporter-destination", path, file],
            watching=[path], shows=False, env=environment)
        found, under_way = [], []
        for record in results.records(path):
            under_way = under_way[:record["depth"]]
            if "began" in record:
                under_way.append(record["began"])
                continue
            name = " > ".join([*under_way, record["ended"]])
            found.append(Result(
                "node", f"{file}::{name}", record["seconds"], record["passed"],
                "" if record["passed"] else f"{record['output']}\n{_seed(said)}"))
    watched.show(f"\n{file}\n{said}".encode())
    if hung or (code != 0 and all(result.passed for result in found)):
        # It hung, it ended by itself, or it could not be read.
        found.append(Result(
            "node", "::".join([file, *filter(None, [" > ".join(under_way)])]), 0.0, False,
            f"{'It did not end.' if hung else f'It ended with {code}.'} Its last words:\n{said[-END:]}"))
    return found


def _seed(said):
    found = re.findall(r"BACKLINE_SEED=\d+", said)
    return found[-1] if found else ""


# Conformance


def conformance(*arguments):
    """Cases of the conformance suite."""
    found, fault = _conformance_once(arguments)
    return found + ([Result("conformance", "", 0.0, False, fault)] if fault else [])


def conformance_alone(test, environment):
    role, case = test.split()
    found, fault = _conformance_once(["--role", role, "--cases", case], environment)
    return bool(found) and not fault and all(result.passed for result in found)


def _conformance_once(arguments, environment=None):
    with _file("cases.jsonl") as path:
        code, said, _ = watched.run(
            [TREE / "Scripts/conformance", "--built", "--results", path, *arguments], env=environment)
        found = [
            Result("conformance", record["case"], 0.0, record["passed"], record["why"])
            for record in results.records(path)]
    if code != 0 and all(result.passed for result in found):
        return found, f"the conformance suite ended with {code}\n{said[-END:]}"
    return found, ""


PARTS = {
    "swift": (swift, swift_alone), "python": (python, python_alone), "node": (node, node_alone),
    "conformance": (conformance, conformance_alone),
}
