"""Draws mutants of the sources, runs the quick tests with each, and lists those that no test finds: Scripts/mutants."""

import argparse
import collections
import concurrent.futures
import glob
import os
import pathlib
import queue
import re
import resource
import signal
import subprocess
import threading

import changes
import in_swift

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = ROOT / ".build-mutants"
PAGES = "Sources/WebClient/Pages"
Part = collections.namedtuple("Part", "name files language share suites")
"""Sources that are changed: how many of 200 mutants are theirs, and the tests in Swift that look for them, in order."""
PARTS = [
    Part("RoomDomain", "Sources/RoomDomain/*.swift", "swift", 60,
         ["RoomDomainTests", "RoomWireTests|RoomReplicaTests|RoomStatisticsTests", "Simulate", "RoomServiceTests"]),
    Part("RoomWriter", "Sources/RoomService/Room/RoomWriter*.swift", "swift", 25, ["RoomServiceTests", "Simulate"]),
    Part("append", "Sources/PostgresEventStore/Statement+Append.swift", "sql", 10, ["PostgresEventStoreTests"]),
    Part("RoomReplica", "Sources/RoomReplica/*/*.swift", "swift", 40,
         ["RoomReplicaTests", "RehearsalTests", "Simulate"]),
    Part("room.js", f"{PAGES}/room/room.js", "js", 20, []),
    Part("deck.js", f"{PAGES}/deck/deck.js", "js", 30, []),
    Part("player.js", f"{PAGES}/deck/player.js", "js", 15, []),
]
CHECKS = "Sources/RoomDomain/RoomState+Invariants.swift"
"""This file only checks what others do."""
SHORTEST_LIMIT = 60
"""Seconds of a processor, or ten times what the tests take without a mutant: a mutant that takes more hangs."""
WAITING = 5
"""A mutant that waits for nothing hangs, too: after so many times this limit."""
MEMORY = 12 * 2**30
FAILURE = re.compile(r"^✘ Test (.*?) (?:recorded an issue|failed)|^(seed .*)|^\s*(?:✖|not ok \d+ -) (.*)")
# A file that is the same as in the last run keeps its time, so that it is not built again.
COPY = """mkdir -p "$1"
    git ls-files -z | xargs -0 cp -a --parents -t "$1"
    [[ ! -f Package.resolved ]] || cp -a Package.resolved "$1"
    comm -z -23 <(cd "$1" && find . -name '.[bs]*' -prune -o -type f -printf '%P\\0' | sort -z) \\
        <(git ls-files -z | sort -z) | (cd "$1" && xargs -0 --no-run-if-empty rm)"""


def say(text):
    print(text, flush=True)


def copied(tree, name):
    """Copies the files of the tree that Git knows."""
    copy = SCRATCH / name
    subprocess.run(["bash", "-euo", "pipefail", "-c", COPY, "-", copy], cwd=tree, check=True)
    return copy


def run(command, limit, cwd, mutant=0):
    """Runs tests up to the first that fails; returns what has failed, or None."""
    def prepare():
        if command[0] != "node":
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    process = subprocess.Popen(
        command, cwd=cwd, env=in_swift.environment(BACKLINE_MUTANT=str(mutant)), text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=prepare)
    late = threading.Event()
    timer = threading.Timer(WAITING * limit, lambda: (late.set(), process.kill()))
    timer.start()
    found = next((next(filter(None, match.groups())) for match in map(FAILURE.match, process.stdout) if match), None)
    if found:
        # The others tell nothing more.
        process.kill()
    process.stdout.close()
    code = process.wait()
    timer.cancel()
    if late.is_set() or code in (-signal.SIGXCPU, -signal.SIGKILL) and not found:
        return "it hangs"
    return found or code and (signal.Signals(-code).name if code < 0 else f"exit code {code}") or None


def run_all(commands, cwd, mutant=0):
    """Runs commands, each with its limit, up to the first test that fails."""
    return next(filter(None, (run(command, limit, cwd, mutant) for command, limit in commands)), None)


def limit_of(name, command, cwd):
    """The limit of a command, which has to pass without a mutant."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = run(command, 1800, cwd)
    if found:
        raise SystemExit(f"{name} fails without a mutant: {found}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    say(f"{name} takes {took:.1f} s of a processor")
    return max(SHORTEST_LIMIT, 10 * int(took))


def look_for(jobs, look):
    """Looks for mutants, two at a time; returns what found each of them, if anything did."""
    results = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        running = {pool.submit(look, *job): job[0] for job in jobs}
        for done in concurrent.futures.as_completed(running):
            one = running[done]
            results[one] = done.result()
            say(f"SURVIVES {described(one)}" if results[one] is None else f"found    {described(one)}: {results[one]}")
    return results


def described(one):
    """A mutant in one line."""
    return f"{one.path}:{one.line}: {' '.join(one.before.split())} → {' '.join(one.after.split()) or 'nothing'}"


def mutated(copy, one):
    """The text of a mutant's file."""
    text = (copy / one.path).read_text()
    return text[:one.start] + one.after + text[one.end:]


def importers(tree, path):
    """The tests of the page that import a file, or a file that imports it."""
    def imported(file, seen):
        if file not in seen and file.is_file():
            seen.add(file)
            for name in re.findall(r"\b(?:from|import)\b\s*\(?\s*['\"`](\.[^'\"`?]+)", file.read_text()):
                imported((file.parent / name).resolve(), seen)
        return seen

    return [test for test in sorted((tree / "Tests/Web").glob("*.test.mjs")) if tree / path in imported(test, set())]


def try_page(tree, drawn):
    """Looks for mutants of the page."""
    copies = queue.SimpleQueue()
    for name in ("page-1", "page-2"):
        copy = copied(tree, name)
        copies.put(copy)
    limits, jobs = {}, []
    for part, mutants, count in drawn:
        # The test of the same name finds most.
        tests = sorted(
            (test.relative_to(copy) for test in importers(copy, part.files)),
            key=lambda test: not part.files.endswith(f"/{test.name.split('.')[0]}.js"))
        for test in tests:
            limits[test] = limits.get(test) or limit_of(test.name, ["node", test], copy)
        commands = [(["node", "--max-old-space-size=1024", test], limits[test]) for test in tests]
        readable = (one for one in mutants if subprocess.run(
            ["node", "--input-type=module", "--check"], input=mutated(tree, one), text=True,
            stderr=subprocess.DEVNULL).returncode == 0)
        jobs += [(one, commands) for one, _ in zip(readable, range(count))]

    def look(one, commands):
        copy = copies.get()
        file = copy / one.path
        text = file.read_text()
        try:
            file.write_text(mutated(copy, one))
            return run_all(commands, copy)
        finally:
            file.write_text(text)
            copies.put(copy)

    return look_for(jobs, look)


def try_swift(tree, drawn):
    """Looks for mutants of the sources in Swift."""
    copy = copied(tree, "tree")
    # Some do not compile.
    numbered = list(enumerate((one for _, mutants, count in drawn for one in mutants[:count * 8 // 5 + 4]), 1))
    suites = list(dict.fromkeys(suite for part, _, _ in drawn for suite in part.suites))
    say(f"building with {len(numbered)} mutants")
    compiled = in_swift.build(copy, numbered, suites, say)
    steps = {suite: in_swift.command(copy, suite) for suite in suites}
    steps = {suite: (command, limit_of(suite, command, copy)) for suite, command in steps.items()}
    jobs = []
    for part, _, count in drawn:
        mine = [(number, one) for number, one in numbered if one.part == part.name and number in compiled]
        jobs += [(one, number, [steps[suite] for suite in part.suites]) for number, one in mine[:count]]
    return look_for(jobs, lambda one, number, commands: run_all(commands, copy, number))


def say_table(drawn, results):
    """The mutants of each part and each of its files: how many there are, and how many were found."""
    say(f"\n{'':40}{'mutants':>8}{'found':>7}{'survive':>9}")

    def row(name, of):
        found = sum(results[one] is not None for one in of)
        say(f"{name:40}{len(of):8}{found:7}{len(of) - found:9}")

    for part, _, _ in drawn:
        mine = [one for one in results if one.part == part.name]
        row(part.name, mine)
        paths = sorted({one.path for one in mine})
        for path in paths if len(paths) > 1 else []:
            row(f"  {os.path.basename(path)}", [one for one in mine if one.path == path])
    row("all", list(results))


def main():
    parser = argparse.ArgumentParser(prog="Scripts/mutants", description=__doc__)
    names = [part.name for part in PARTS]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(names)} (all)")
    parser.add_argument("--seed", type=int, default=1, help="draws the mutants (1)")
    parser.add_argument("--count", type=int, default=200, help="mutants of all parts together (200)")
    parser.add_argument("--tree", type=pathlib.Path, default=ROOT, help="another clone: its sources and its tests")
    parser.add_argument("--list", action="store_true", help="lists mutants, and runs nothing; some may not compile")
    options = parser.parse_args()
    if not set(options.parts) <= set(names):
        parser.error(f"a part is one of {', '.join(names)}")
    tree, drawn, results = options.tree.resolve(), [], {}
    for part in PARTS:
        if not options.parts or part.name in options.parts:
            paths = [path for path in sorted(glob.glob(part.files, root_dir=tree)) if path != CHECKS]
            mutants = sorted(one for path in paths for one in changes.mutants(part, path, tree, options.seed))
            drawn.append((part, mutants, part.share * options.count // 200))
    if options.list:
        say("\n".join(described(one) for _, mutants, count in drawn for one in mutants[:count]))
        return
    for look, is_page in ((try_page, True), (try_swift, False)):
        mine = [one for one in drawn if (one[0].language == "js") == is_page]
        results |= look(tree, mine) if mine else {}
    say("\nMutants that survive:")
    for one in sorted((one for one in results if results[one] is None), key=lambda one: (one.path, one.line)):
        say(described(one))
    say_table(drawn, results)


main()
