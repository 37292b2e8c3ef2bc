"""What a test did, in one form for all parts, and the files in which a run keeps it."""

import dataclasses
import json
import os
import pathlib
import re

SUFFIX = ".results.jsonl"


@dataclasses.dataclass(frozen=True)
class Result:
    """A test in one run."""

    part: str
    """How it is run again: one of `parts.PARTS`."""
    test: str
    """Its name, by which its part finds it. Empty if it failed outside of any test."""
    seconds: float
    passed: bool
    output: str = ""
    """What it said, if it failed."""
    title: str = ""
    """Its name for people, where it has another one."""

    @property
    def name(self):
        return self.title or self.test or "outside of any test"

    @property
    def seed(self):
        """The seed that repeats it, if it told one."""
        found = re.findall(r"BACKLINE_SEED[=:] ?(\d+)", self.output)
        return found[-1] if found else None


def folder():
    """Where the results of a run are kept."""
    return pathlib.Path(os.environ["BACKLINE_REPORTS"])


def add(results):
    """Keeps results. Each call has a file of its own, so that several runs may add at once."""
    results = list(results)
    number = len(list(folder().glob(f"*{SUFFIX}")))
    while True:
        try:
            file = open(folder() / f"{number:03}{SUFFIX}", "x", encoding="utf-8")
            break
        except FileExistsError:
            number += 1
    with file:
        for result in results:
            file.write(json.dumps(dataclasses.asdict(result)) + "\n")
    return results


def read(place):
    """All results in a folder."""
    return [
        Result(**json.loads(line)) for path in sorted(pathlib.Path(place).glob(f"*{SUFFIX}"))
        for line in path.read_text(encoding="utf-8").splitlines()]


def records(path):
    """The lines of JSON in a file; the last one of a run that was ended may be half a line."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue
