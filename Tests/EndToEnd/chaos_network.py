"""A server's own network: a namespace with one link for clients and one for the database, which can be cut.

Needs root and `ip` (Debian: iproute2).
"""

import contextlib
import ctypes
import os
import subprocess

# <sched.h>
CLONE_NEWNET = 0x4000_0000


@contextlib.contextmanager
def apart():
    """A network namespace for this thread, and for the threads and processes that it starts meanwhile.

    In the machine's own namespace, links that come and go disturb other tests: Chromium aborts the page that it is
    loading.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        if libc.unshare(CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True, stdin=subprocess.DEVNULL, timeout=60)
            yield
        finally:
            if libc.setns(before, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
    finally:
        os.close(before)


class Namespace:
    """A network namespace. Clients reach it at `address`, it reaches the database at `database`.

    The addresses are of 198.18.0.0/15, which is for tests of networks (RFC 2544).
    """

    def __init__(self, number):
        block = (os.getpid() * 4 + number) % 16_000
        third, fourth = block // 64, block % 64 * 4
        self.name = f"backline-{os.getpid()}-{number}"
        self.address, self.database = f"198.18.{third}.{fourth + 2}", f"198.19.{third}.{fourth + 1}"
        self._links = {}
        self._routes = []
        self._ip("netns", "add", self.name)
        try:
            self._ip("-n", self.name, "link", "set", "lo", "up")
            for kind, network in ("c", f"198.18.{third}."), ("d", f"198.19.{third}."):
                outer, inner = f"bl{block}{kind}", f"bl{block}{kind}i"
                self._ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", self.name)
                self._links[kind] = outer
                self._ip("address", "add", f"{network}{fourth + 1}/30", "dev", outer)
                self._ip("-n", self.name, "address", "add", f"{network}{fourth + 2}/30", "dev", inner)
                self._ip("link", "set", outer, "up")
                self._ip("-n", self.name, "link", "set", inner, "up")
                # While a link is cut, its packets do not leave the machine in another way.
                route = ["blackhole", f"{network}{fourth}/30", "metric", "9999"]
                self._ip("route", "add", *route)
                self._routes.append(route)
        except BaseException:
            self.close()
            raise

    @property
    def prefix(self):
        """The beginning of a command that runs in this namespace, in the same process."""
        return ["ip", "netns", "exec", self.name]

    def cut(self):
        """Drops all packets between this namespace and the database; neither end is told."""
        self._ip("link", "set", self._links["d"], "down")

    def mend(self):
        self._ip("link", "set", self._links["d"], "up")

    def close(self):
        for route in self._routes:
            self._ip("route", "delete", *route, check=False)
        for link in self._links.values():
            self._ip("link", "delete", link, check=False)
        self._ip("netns", "delete", self.name, check=False)

    def _ip(self, *arguments, check=True):
        done = subprocess.run(["ip", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
        if check and done.returncode != 0:
            raise RuntimeError(f"ip {' '.join(arguments)} ended with {done.returncode}: {done.stderr.strip()}")
