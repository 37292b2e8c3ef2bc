"""`Tests/Runner`, which runs the tests and judges what failed: broken, or unsteady."""

import os
import pathlib
import subprocess
import sys

import pytest

RUNNER = pathlib.Path(__file__).parents[1] / "Runner"

IN_PYTHON = """
import os, pathlib, pytest

def once(name):
    path = pathlib.Path(name)
    was_there = path.exists()
    path.touch()
    return was_there

def test_passes(): pass
@pytest.mark.parametrize("what", ["[b::c]"])
def test_fails_once(what):
    print("BACKLINE_SEED=4711")
    assert once("python-once"), "x" * 1000
    assert os.environ["BACKLINE_NEW_SEED"] == "4711", "it is run again with its seed"
def test_fails(): assert 1 == 2
def test_ends_its_process(): os._exit(3)
"""
IN_NODE = """
import test from "node:test";
import { existsSync, writeFileSync } from "node:fs";
const once = (name) => { const was = existsSync(name); writeFileSync(name, ""); return was; };
test("passes", () => {});
test("a group", async (t) => {
  await t.test("fails once", () => { if (!once("node-once")) throw new Error("unlucky"); });
});
"""
BROKEN_IN_NODE = """
import test from "node:test";
test("fails", () => { throw new Error("no luck"); });
"""


@pytest.fixture
def runner(tmp_path):
    """Runs it in a folder of its own; returns the exit code and what it printed."""
    (tmp_path / "reports").mkdir()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "BACKLINE_"))},
        "BACKLINE_REPORTS": str(tmp_path / "reports")}

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, RUNNER, *arguments], cwd=tmp_path, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    return run


def test_what_fails_is_judged_alone(runner, tmp_path):
    (tmp_path / "test_it.py").write_text(IN_PYTHON)
    (tmp_path / "once.test.mjs").write_text(IN_NODE)
    (tmp_path / "fails.test.mjs").write_text(BROKEN_IN_NODE)
    assert runner("python", "--numprocesses", "2", "test_it.py")[0] == 0
    assert runner("node", "once.test.mjs", "fails.test.mjs")[0] == 0
    code, said = runner("judge", "a step")
    assert code == 1
    summary = (tmp_path / "reports" / "failures.txt").read_text()
    assert said.rstrip().endswith(summary.rstrip())
    assert {line for line in summary.splitlines() if not line.startswith(" ")} == {
        "failed: a step",
        "broken: node, fails.test.mjs::fails",
        "broken: python, test_it.py::test_ends_its_process",
        "broken: python, test_it.py::test_fails",
        "unsteady: node, once.test.mjs::a group > fails once",
        "unsteady: python, test_it.py::test_fails_once[[b::c]] (BACKLINE_SEED=4711)",
    }
    assert "assert 1 == 2" in summary and "    Error: unlucky" in summary
    assert max(len(line) for line in summary.splitlines()) < 350


def test_a_run_with_unsteady_tests_alone_passes(runner, tmp_path):
    (tmp_path / "once.test.mjs").write_text(IN_NODE)
    runner("node", "once.test.mjs")
    code, said = runner("judge")
    assert code == 0 and "== 0 broken, 1 unsteady" in said


def test_more_than_ten_that_fail_are_not_run_again(runner, tmp_path):
    (tmp_path / "it.test.mjs").write_text(
        "import test from 'node:test'; for (let n = 0; n < 11; n++) test(`${n}`, () => { throw new Error('no'); });\n")
    runner("node", "it.test.mjs")
    code, said = runner("judge")
    assert code == 1 and "== 11 tests failed: too many to run them again" in said and "-- alone" not in said


def test_what_fails_outside_of_any_test_is_broken(runner, tmp_path):
    (tmp_path / "test_it.py").write_text("import nothing_of_this_name\n")
    (tmp_path / "it.test.mjs").write_text("throw new Error('no luck');\n")
    runner("python", "test_it.py")
    runner("node", "it.test.mjs")
    code, said = runner("judge")
    assert code == 1 and "broken: python, outside of any test" in said and "nothing_of_this_name" in said
    assert "broken: node, it.test.mjs" in said


def test_a_program_that_tells_nothing_is_ended_with_what_it_has_started(tmp_path):
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)"
    code = "import sys, watched; print(watched.run([sys.executable, '-c', sys.argv[1]])[2], watched.descendants(os.getpid()))"
    done = subprocess.run(
        [sys.executable, "-c", f"import os\n{code}", script], cwd=RUNNER, text=True, stdout=subprocess.PIPE,
        env={**os.environ, "BACKLINE_SILENCE": "0.1"})
    assert done.stdout.splitlines()[-1] == "True []"
