"""The attacker as a process of its own."""

from __future__ import annotations

import contextlib
import os
import resource
import time
import traceback

from . import ATTACKS
from .attacker import Attacker


def settle(cpu: int | None, priority: int) -> None:
    """Pins this process to its processor, with as many descriptors as the system allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if cpu is not None:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {cpu})
    os.nice(priority)


def main(address, source, size, cpu: int | None, pipe) -> None:
    """Runs the attacks that it receives, as `(name, seconds)`, and reports the result of each; None ends it."""
    settle(cpu, priority=19)
    attacks = {attack.__name__: attack for attack in ATTACKS}
    attacker = Attacker(address, source, size)
    while (asked := pipe.recv()) is not None:
        name, seconds = asked
        fault, cpu = None, time.process_time()
        try:
            attacker.make(attacks[name], seconds)
        except Exception:
            fault = traceback.format_exc()
        pipe.send({"made": attacker.made, "refused": attacker.refused, "cpu_s": time.process_time() - cpu,
                   "notes": dict(attacker.notes.most_common(12)), "fault": fault})
