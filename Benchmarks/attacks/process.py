"""The attacker as a process of its own."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import struct
import time
import traceback

from . import ATTACKS
from .attacker import Attacker


SLICE_NS = 100_000
"""The attacker's turn on a processor that others wait for; the usual 3 ms are a wait that another machine never is."""
SET_ATTRIBUTES = {"x86_64": 314, "aarch64": 274}
"""The number of the call `sched_setattr`."""


def shorten_turns(priority: int) -> None:
    """Has this process give up its processor soon where others wait, if the system can (Linux 6.12 and later)."""
    # struct sched_attr: size, policy, flags, nice, priority, runtime, deadline, period
    attributes = struct.pack("=IIQiIQQQ", 48, os.SCHED_OTHER, 0, priority, 0, SLICE_NS, 0, 0)
    if (call := SET_ATTRIBUTES.get(platform.machine())) is not None:
        ctypes.CDLL(None).syscall(ctypes.c_long(call), 0, attributes, 0)


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
    shorten_turns(priority=19)
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
