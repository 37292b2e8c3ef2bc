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

sys.path.insert(1, str(pathlib.Path(__file__).parents[1] / "Runner"))

import results as kept  # noqa: E402

BLOCK = bytes(2**20)
BLOCKS = 64
FLOOR = 1.0
"""Seconds. A test that takes less is not slow, whatever it takes usually."""
FEWEST = 3
"""Runs from which the usual time of a test is known."""

def add(path, place, name, code, seconds):
    """Adds a run to the file of all results, prints how many tests passed, and keeps of the run's files what tells about
    failures. Returns whether any test has run."""
    place = pathlib.Path(place)
    results = kept.read(place / "reports")
    has_run = bool(results)
    failed = [result for result in results if not result.passed]
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed, {seconds} s", flush=True)
    if not has_run or (code != "0" and not failed):
        log = (place / "log").read_text(encoding="utf-8", errors="replace")
        failed.append(kept.Result(name, "", 0.0, False, log))
        results.append(failed[-1])
        print(f"It failed outside of any test:\n{log[-2000:]}", flush=True)
    with open(path, "a", encoding="utf-8") as file:
        for result in results:
            file.write(json.dumps([result.name, result.seconds, result.passed]) + "\n")
    shutil.rmtree(place / "reports")
    for number, result in enumerate(failed, 1):
        short = re.sub(r"\W+", "-", result.name.rpartition("/")[2])[:80].strip("-")
        (place / f"{number}-{short}.txt").write_text(f"{result.name}\n\n{result.output}", encoding="utf-8")
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
