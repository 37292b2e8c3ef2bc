"""Compiles all mutants of the sources in Swift into one test program, whose environment says which of them it is."""

import os
import pathlib
import re
import subprocess
import sys

from changes import bodies, masked

sys.path.insert(1, str(pathlib.Path(__file__).parents[1] / "Runner"))
import parts  # noqa: E402

SWITCH = """
import Glibc

private let chosen = getenv("BACKLINE_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

package func mutant(_ number: Int) -> Bool { number == chosen }
"""
ERROR = re.compile(r"^(/\S+\.swift):(\d+):\d+: error: ", re.M)


def environment(**more):
    return os.environ | {"SWIFT_BACKTRACE": "enable=no", "NO_COLOR": "1"} | more


def with_mutants(text, numbered):
    """A file with mutants, and for each range of its lines the numbers of the mutants that stand there."""
    code, pieces, ranges, at = masked(text, "swift"), [], [], 0

    def put(piece, *numbers):
        first = sum(piece.count("\n") for piece in pieces) + 1
        pieces.append(piece)
        ranges.append((first, first + piece.count("\n"), numbers))

    if "import ByteText" not in code:
        put("import ByteText\n")
    for number, one in numbered:
        if one.form == "sql":
            put(text[at:one.start])
            put(f'\\(mutant({number}) ? "{one.after}" : "{one.before}")', number)
            at = one.end
    for start, end, _ in bodies(code, "swift"):
        inside = [(number, one) for number, one in numbered if one.form == "code" and start <= one.start < end]
        if inside:
            put(text[at:start] + "\n")
            for number, one in inside:
                # The function's body once more, with the change.
                put(f"if mutant({number}) {{\n{text[start:one.start]}{one.after}{text[one.end:end]}\n}} else ", number)
            put(f"{{\n{text[start:end]}\n}}\n", *(number for number, _ in inside))
            at = end
    put(text[at:])
    return "".join(pieces), ranges


def build(tree, numbered, suites, say):
    """Builds a copy of the sources with mutants; returns the numbers of those that compile."""
    (tree / "Sources/ByteText/Mutant.swift").write_text(SWITCH)
    manifest = (tree / "Package.swift").read_text()
    (tree / "Package.swift").write_text(manifest.replace(".treatAllWarnings(as: .error),", ""))
    sources = {path: (tree / path).read_text() for path in {one.path for _, one in numbered}}
    left = dict(numbered)
    # What does not compile is found in its own target first: the tests take far longer.
    targets = dict.fromkeys(one.path.split("/")[1] for _, one in numbered)
    steps = [*(["--target", target] for target in targets), ["--build-tests"]]
    while steps:
        ranges = {}
        for path, text in sources.items():
            mine = sorted((of for of in left.items() if of[1].path == path), key=lambda of: of[1].start)
            changed, ranges[str(tree / path)] = with_mutants(text, mine)
            if (tree / path).read_text() != changed:
                (tree / path).write_text(changed)
        done = subprocess.run(
            ["swift", "build", *steps[0], "--package-path", tree],
            env=environment(ONLY=" ".join(suites).replace("|", " ")), text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        if done.returncode == 0:
            del steps[0]
            continue
        failed = {
            number for path, line in ERROR.findall(done.stdout) for first, last, numbers in ranges.get(path, [])
            if first <= int(line) <= last for number in numbers if number in left}
        if not failed:
            raise SystemExit(done.stdout[-5000:] + "\nThe sources do not compile.")
        say(f"{len(failed)} mutants do not compile")
        for number in failed:
            del left[number]
    return set(left)


def command(tree, suite):
    """The command of some test targets, or of the simulation."""
    folder = tree / ".build/debug"
    if suite == "Simulate":
        return [folder / suite, "--stop-at-first", "--seeds", "200"]
    return [
        folder / "BacklinePackageTests.xctest", "--testing-library", "swift-testing",
        "--experimental-maximum-parallelization-width", str(parts.WIDTH), "--filter", rf"^({suite})\."]
