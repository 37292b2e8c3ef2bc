"""What of the tests asks the machine's clock: CONTRIBUTING.md lists each file that does, and why."""

import ast
import collections
import os
import re

from documents import TREE, read, rows

SLEEPS = {"sleep", "wait_for_timeout"}
MINUTE = 60


def in_python(source):
    """The calls that sleep, and those that name a deadline below a minute."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", None))
        if name in SLEEPS:
            yield node.lineno
        deadlines = [word.value for word in node.keywords if word.arg and word.arg.endswith("timeout")]
        if name == "eventually":
            deadlines += node.args[2:]
        for deadline in deadlines:
            if isinstance(deadline, ast.Constant) and deadline.value:
                # The browser driver counts in milliseconds.
                seconds = deadline.value / 1000 if deadline.value >= 1000 else deadline.value
                if seconds < MINUTE:
                    yield node.lineno


def by_words(*words):
    pattern = re.compile("|".join(words))

    def found(source):
        for number, line in enumerate(source.splitlines(), 1):
            if pattern.search(line.partition("//")[0]):
                yield number

    return found


READERS = {
    ".py": in_python,
    ".swift": by_words(r"\b(Task|Thread)\.sleep\b", r"\busleep\("),
    ".mjs": by_words(r"(?<![\w.])set(Timeout|Interval)\("),
}


def waits():
    """The lines of each file of the tests that ask the machine's clock."""
    found = {}
    for folder, _, names in os.walk(os.path.join(TREE, "Tests")):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), TREE)
            reader = READERS.get(os.path.splitext(name)[1])
            lines = sorted(reader(read(path))) if reader else []
            if lines:
                found[path] = lines
    return found


def test_each_wait_is_listed():
    listed = collections.Counter()
    for path, count, reason in rows("CONTRIBUTING.md", 3):
        if path.startswith("`Tests/") and count.isdigit():
            assert reason, path
            listed[path.strip("`")] += int(count)
    found = waits()
    assert {path: len(lines) for path, lines in found.items()} == listed, found


def test_waits_are_found():
    source = "time.sleep(1)\nclient.receive(timeout=5)\npage.wait_for(timeout=30_000)\nclient.receive(timeout=60)\n"
    assert list(in_python(source)) == [1, 2, 3]
    assert list(READERS[".swift"]("try await Task.sleep(for: .seconds(1))\n// Task.sleep\nclock.sleep(1)")) == [1]
    assert list(READERS[".mjs"]("setTimeout(done, 5)\nclock.setTimeout(done)")) == [1]
