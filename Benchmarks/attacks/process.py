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
    """Puts this process on its processor, with as many descriptors as there may be."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if cpu is not None:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {cpu})
    os.nice(priority)


def main(address, source, size, cpu: int | None, pipe) -> None:
    """Makes the attacks that are asked for, as `(name, seconds)`, and tells what came of each; ends with None."""
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
