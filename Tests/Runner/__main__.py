"""Runs parts of the test suite, and judges at the end; `Scripts/test` calls it.

  PART ARGUMENT...   runs tests of a part (swift, python, node, conformance), and keeps what each did; exits with 0
                     whatever failed, as that is judged later
  judge [STEP]...    runs again, each alone and three times, what failed beside others: what passes each time was unsteady,
                     what fails once is broken. Says what is to be mended; exits with 1 if the run has failed. Each STEP is
                     one that failed and has no tests

BACKLINE_REPORTS  the folder, which is there, in which results are kept
BACKLINE_SILENCE  seconds without a word after which a test hangs (600)
"""

import os
import signal
import sys

import results
from parts import PARTS

TIMES = 3
"""How often a test is run again, alone."""
MOST = 10
"""Tests that may be unsteady; where more have failed, the run has."""
LINES, WIDTH = 12, 300
"""Of what a failure said, in the summary."""


def run(part, arguments):
    found = results.add(PARTS[part][0](*arguments))
    failed = sum(not result.passed for result in found)
    print(f"\n{len(found) - failed} passed, {failed} failed", flush=True)
    return 0


def judge(steps):
    """Prints what failed, by what it is, and returns whether the run has failed."""
    failed = [result for result in results.read(results.folder()) if not result.passed]
    tests = [result for result in failed if result.test]
    broken = [result for result in failed if not result.test]
    unsteady = []
    if len(tests) > MOST:
        print(f"\n== {len(tests)} tests failed: too many to run them again", flush=True)
        broken += tests
    elif tests and os.environ.get("BACKLINE_AGAIN") == "0":
        broken += tests
    elif tests:
        print(f"\n== running again, alone, what failed: {len(tests)}", flush=True)
        for result in tests:
            (unsteady if passes_alone(result) else broken).append(result)
    summary = [*(f"failed: {step}" for step in steps)]
    for what, those in (("broken", broken), ("unsteady", unsteady)):
        summary += [line for result in those for line in described(what, result)]
    (results.folder() / "failures.txt").write_text("".join(f"{line}\n" for line in summary), encoding="utf-8")
    if summary:
        print(f"\n== {len(broken) + len(steps)} broken, {len(unsteady)} unsteady; this list is in "
              f"{results.folder()}/failures.txt")
        print("\n".join(summary), flush=True)
    return bool(broken or steps)


def passes_alone(result):
    # As new, so that all other input is as it was: of several seeds, BACKLINE_SEED would leave one, and change fixed ones.
    environment = {**os.environ, **({"BACKLINE_NEW_SEED": result.seed} if result.seed else {})}
    for number in range(1, TIMES + 1):
        print(f"\n-- alone, {number} of {TIMES}: {result.name}", flush=True)
        if not PARTS[result.part][1](result.test, environment):
            return False
    return True


def described(what, result):
    yield f"{what}: {result.part}, {result.name}{f' (BACKLINE_SEED={result.seed})' if result.seed else ''}"
    lines = [line for line in result.output.splitlines() if line.strip()]
    # What pytest says of an error, and not the source that it shows before.
    said = [line for line in lines if line.startswith("E ")] or lines
    # The end tells of what failed outside of any test.
    for line in said[:LINES] if result.test else said[-LINES:]:
        yield f"    {line if len(line) <= WIDTH else f'{line[:WIDTH]}… ({len(line)} characters)'}"


def main(action, *arguments):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if action == "judge":
        return 1 if judge(arguments) else 0
    return run(action, arguments)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("judge", *PARTS):
        sys.exit(__doc__)
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        # A shell goes on after a program that has only exited.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
