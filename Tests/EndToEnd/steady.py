"""Reads what runs of the tests report, and lists what failed or was slow; `Scripts/steady` calls it."""

import collections
import json
import os
import pathlib
import re
import shutil
import statistics
import sys
import tempfile
import xml.etree.ElementTree

BLOCK = bytes(2**20)
BLOCKS = 64
FLOOR = 1.0
"""Seconds. A test that takes less is not slow, whatever it takes usually."""
FEWEST = 3
"""Runs from which the usual time of a test is known."""

Result = collections.namedtuple("Result", "test seconds passed output")
"""A test in one run: its name, its time in seconds, and what it said if it failed."""


def results_of(folder):
    """The results of all reports in a folder. A test that is in them twice, as for what its fixtures did, has the sum
    of its times, and has passed if it did each time."""
    merged = {}
    for report in sorted(pathlib.Path(folder).iterdir()):
        read = _read_events if report.suffix == ".jsonl" else _read_junit
        for result in read(report):
            before = merged.get(result.test, Result(result.test, 0.0, True, ""))
            merged[result.test] = Result(
                result.test, before.seconds + result.seconds, before.passed and result.passed,
                before.output + result.output)
    return list(merged.values())


def _read_junit(report):
    """Reports of pytest and of node. A run that was ended leaves none, or half a report."""
    try:
        root = xml.etree.ElementTree.parse(report).getroot()
    except xml.etree.ElementTree.ParseError:
        return
    yield from _cases(root, ())


def _cases(element, within):
    for child in element:
        if child.tag == "testsuite":
            # For node, a test with others in it is a suite. pytest's one suite has its own name.
            inner = child.get("name")
            yield from _cases(child, within if inner == "pytest" else (*within, inner))
        elif child.tag == "testcase" and child.find("skipped") is None:
            module = child.get("classname")
            name = " > ".join((*within, child.get("name")))
            faults = [*child.iter("failure"), *child.iter("error")]
            said = [*faults, *child.iter("system-out"), *child.iter("system-err")] if faults else []
            output = "".join(f"{part.text or part.get('message')}\n" for part in said)
            yield Result(
                # Node does not name the file.
                f"node: {name}" if module == "test" else f"{module.replace('.', '/')}.py::{name}",
                float(child.get("time", 0)), not faults, output)


def _read_events(report):
    """The stream of events of tests in Swift.

    A test begins before it is its turn. Its time is therefore that in which at least one of its cases ran.
    """
    output, seconds, ended = collections.defaultdict(str), collections.Counter(), {}
    running, since = collections.Counter(), {}
    functions, now = set(), 0.0
    for line in report.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            # The last line of a run that was ended.
            continue
        payload = record["payload"]
        if record["kind"] == "test":
            if payload["kind"] == "function":
                functions.add(payload["id"])
            continue
        kind, test, now = payload["kind"], payload.get("testID"), payload["instant"]["absolute"]
        messages = payload["messages"]
        if kind == "testCaseStarted":
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
    for test in sorted(functions):
        if test in ended:
            yield Result(_name_in_swift(test), seconds[test], ended[test], "" if ended[test] else output[test])
        elif running[test] > 0:
            yield Result(
                _name_in_swift(test), seconds[test] + now - since[test], False,
                f"{output[test]}It did not end: it hung, or the process ended.\n")
    if output[None]:
        yield Result("Swift, outside of any test", 0.0, False, output[None])


def _name_in_swift(identity):
    """Without the test's place in its file, and what marks a name as a sentence."""
    return re.sub(r"\(\)$", "", identity.rpartition("/")[0].replace("`", ""))


def add(path, place, name, code, seconds):
    """Adds a run to the file of all results, prints how many tests passed, and keeps of the run's files what tells about
    failures. Returns whether any test has run."""
    place = pathlib.Path(place)
    results = results_of(place / "reports")
    has_run = bool(results)
    failed = [result for result in results if not result.passed]
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed, {seconds} s", flush=True)
    if not has_run or (code != "0" and not failed):
        log = (place / "log").read_text(encoding="utf-8", errors="replace")
        failed.append(Result(f"{name}, outside of any test", 0.0, False, log))
        results.append(failed[-1])
        print(f"It failed outside of any test:\n{log[-2000:]}", flush=True)
    with open(path, "a", encoding="utf-8") as file:
        for result in results:
            file.write(json.dumps([result.test, result.seconds, result.passed]) + "\n")
    shutil.rmtree(place / "reports")
    for number, result in enumerate(failed, 1):
        short = re.sub(r"\W+", "-", result.test.rpartition("/")[2])[:80].strip("-")
        (place / f"{number}-{short}.txt").write_text(f"{result.test}\n\n{result.output}", encoding="utf-8")
    if not failed:
        shutil.rmtree(place)
    return has_run


def table(results):
    """The lines of the table, from the test, the seconds and whether it passed, of each test in each run; and whether
    one failed."""
    times, passed, runs = collections.defaultdict(list), collections.defaultdict(list), collections.Counter()
    for test, seconds, has_passed in results:
        runs[test] += 1
        times[test].append(seconds)
        if has_passed:
            passed[test].append(seconds)
    rows = []
    for test, all_times in times.items():
        usual, longest = statistics.median(passed[test] or [0.0]), max(all_times)
        failures = runs[test] - len(passed[test])
        is_slow = len(passed[test]) >= FEWEST and longest >= FLOOR and longest > 2 * usual
        if failures or is_slow:
            rows.append((-failures, -longest, test, usual if passed[test] else None))
    if not rows:
        return [f"no test of {len(runs)} failed or was slow"], False
    lines = [f"{len(rows)} tests of {len(runs)} failed or were slow", "runs failed  usual time  longest  test"]
    for failures, longest, test, usual in sorted(rows, key=lambda row: row[:3]):
        of = f"{-failures} of {runs[test]}"
        lines.append(f"{of:>11}  {'-' if usual is None else f'{usual:.1f} s':>10}  {f'{-longest:.1f} s':>7}  {test}")
    return lines, any(failures for failures, *_ in rows)


def write():
    """Writes blocks into a file without a name, and waits for the disk after each, until the script has ended."""
    script = os.getppid()
    with tempfile.TemporaryFile(buffering=0) as file:
        while os.getppid() == script:
            file.seek(0)
            for _ in range(BLOCKS):
                file.write(BLOCK)
                os.fsync(file.fileno())


def main(action, *arguments):
    if action == "write":
        write()
    elif action == "add":
        sys.exit(0 if add(*arguments) else 1)
    elif action == "table":
        lines = pathlib.Path(*arguments).read_text(encoding="utf-8").splitlines()
        rows, has_failed = table([json.loads(line) for line in lines])
        print("\n== " + "\n".join(rows), flush=True)
        sys.exit(1 if has_failed else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
