"""Runs a program, shows what it prints, and ends it when it has told nothing for long: a watchdog in place of a limit on
its whole time, which a slow machine would reach."""

import os
import pathlib
import selectors
import signal
import subprocess
import sys
import threading
import time

SILENCE = float(os.environ.get("BACKLINE_SILENCE", 600))
"""Seconds without a word after which a program is ended, because a test hangs."""
ENDING = 30
"""Seconds in which it may remove what it has made."""

_printing = threading.Lock()


def run(command, *, watching=(), shows=True, **settings):
    """Runs a program to its end; returns its exit code, what it printed, and whether it was ended for its silence.

    `watching` are files to which it may write instead of printing. `shows` says whether its output is printed as it
    comes, and not only returned.
    """
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **settings)
    os.set_blocking(process.stdout.fileno(), False)
    said, sizes, told, hung = [], None, time.monotonic(), False
    try:
        with process.stdout, selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                # It may leave programs behind that hold its output open, so its own end counts.
                has_ended = process.poll() is not None
                selector.select(0 if has_ended else 1)
                block = _take(process.stdout)
                if block:
                    said.append(block)
                    told = time.monotonic()
                    if shows:
                        show(block)
                elif has_ended:
                    break
                elif block == b"":
                    # It has closed its output and goes on.
                    time.sleep(0.1)
                if (now := [_size(path) for path in watching]) != sizes:
                    sizes, told = now, time.monotonic()
                if time.monotonic() - told > SILENCE:
                    hung = True
                    show(f"\nNothing was told for {SILENCE:.0f} s: a test hangs, and the run is ended.\n".encode())
                    end(process)
                    told = time.monotonic()
    except BaseException as error:
        # Ctrl-C reaches the program too; a second one would disturb it while it ends.
        if isinstance(error, KeyboardInterrupt):
            _wait(process, ())
        end(process)
        raise
    return process.returncode, b"".join(said).decode(errors="replace"), hung


def show(block):
    with _printing:
        sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()


def _take(stream):
    """What there is to read: bytes, none at the end, None if there is nothing now."""
    try:
        return os.read(stream.fileno(), 65_536)
    except BlockingIOError:
        return None


def _size(path):
    try:
        return pathlib.Path(path).stat().st_size
    except FileNotFoundError:
        return 0


def end(process):
    """Ends a program and what it has started: first as Ctrl-C would, so that tests remove what they have made, and in the
    end by force."""
    below = descendants(process.pid)
    for number in (signal.SIGINT, signal.SIGKILL):
        for identity in (process.pid, *below):
            if process.returncode is None or identity != process.pid:
                _signal(identity, number)
        if _wait(process, below):
            return


def _wait(process, others):
    """Waits until a program and others have ended; not for ever. Returns whether they have."""
    deadline = time.monotonic() + ENDING
    while time.monotonic() < deadline:
        if process.poll() is not None and not any(os.path.exists(f"/proc/{identity}") for identity in others):
            return True
        time.sleep(0.1)
    return False


def _signal(identity, number):
    try:
        os.kill(identity, number)
    except ProcessLookupError:
        pass


def descendants(identity):
    """The processes that a process has started, and those that they have started."""
    below = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of the program, in parentheses, may hold anything.
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        below.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found, waiting = [], [identity]
    while waiting:
        children = below.get(waiting.pop(), [])
        found += children
        waiting += children
    return found
