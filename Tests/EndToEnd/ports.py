"""Ports for servers that are told theirs: nobody else takes one between its choice and its use, nor over a restart.

They are outside the range from which the kernel gives ports to connections and to who asks for any port. Each process
has blocks of its own, so that tests that run side by side, and whole runs of them, do not meet. It holds the first port
of each block, bound and unused, until it ends: what another process holds is no longer free.
"""

import os
import socket
import threading

SIZE = 100
"""Ports of a block."""
LOWEST = 11_000
"""Browsers refuse some ports below, as do many services of a machine."""

_choosing = threading.Lock()
_held = []


def free_port():
    """A port that this process was not given before, and that nobody uses."""
    with _choosing:
        return next(_ports)


def _all():
    for first in _blocks():
        holder = _bound(first)
        if holder is None:
            continue
        _held.append(holder)
        for port in range(first + 1, first + SIZE):
            probe = _bound(port)
            if probe is not None:
                probe.close()
                yield port
    raise RuntimeError("no port is free any more")


def _blocks():
    """The first port of each block, beginning where few other processes begin."""
    firsts = range(LOWEST, 65_536 - SIZE, SIZE)
    lowest, highest = _given_by_the_kernel()
    # Where it gives all of them, any will do.
    firsts = [first for first in firsts if first + SIZE <= lowest or first > highest] or firsts
    begin = os.getpid() * 17 % len(firsts)
    return [*firsts[begin:], *firsts[:begin]]


def _given_by_the_kernel():
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
            return tuple(map(int, file.read().split()))
    except FileNotFoundError:
        # That of IANA, which systems other than Linux use.
        return 49_152, 65_535


def _bound(port):
    """A socket on a port of all addresses; None if somebody has it on any of them."""
    made = socket.socket(socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET)
    try:
        if made.family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        made.bind(("", port))
    except OSError:
        made.close()
        return None
    return made


_ports = _all()
