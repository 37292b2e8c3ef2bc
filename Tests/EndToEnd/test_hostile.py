"""One short round of every attack of Benchmarks/hostile.py: the server survives, and other clients lose nothing."""

import os
import sys
import threading

import pytest

import backline
from checks import check_log

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Benchmarks"))

import attacks  # noqa: E402

SECONDS = 0.4
"""The duration of one attack, in seconds."""
MEMORY_KIB = 400 * 1024
"""The most by which the server's memory may grow: generous, for a debug build and small attacks."""


class Voter(threading.Thread):
    """An ordinary member of a room of its own, who alternately votes and withdraws the vote."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.person = server.session("Ana")
        self.room = self.person.create_room("Ordinary")["room"]["state"]["id"]
        self.person.command(self.room, "addTracks", tracks=backline.tracks("One"))
        self.acknowledged, self.failure, self.stopping = [], None, threading.Event()

    def run(self):
        try:
            with self.person.socket() as socket:
                while not self.stopping.wait(0.02):
                    kind = "vote" if len(self.acknowledged) % 2 == 0 else "unvote"
                    answer = socket.command(self.room, kind, track=1)
                    assert answer["type"] == "ack", answer
                    self.acknowledged.append((answer["seq"], "voteCast" if kind == "vote" else "voteWithdrawn"))
        except BaseException as failure:
            self.failure = failure

    def end(self):
        """Stops voting; acknowledged votes must be in the log, once."""
        self.stopping.set()
        self.join(backline.PATIENCE)
        assert self.failure is None, self.failure
        events = check_log(self.person, self.room)
        assert [(event["seq"], event["type"]) for event in events if event["type"].startswith("vote")] \
            == self.acknowledged


def resident_kib(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


@pytest.mark.parametrize("measures", [
    False, pytest.param(True, marks=[pytest.mark.alone, pytest.mark.soak("memory is measured")])])
def test_a_round_of_every_attack_loses_nothing_and_leaves_the_server_well(servers, tmp_path, measures):
    store = ["--store", "sqlite", "--data", str(tmp_path / "data")]
    server = servers(store=store).start()
    voter = Voter(server)
    voter.start()
    backline.eventually(lambda: len(voter.acknowledged) > 5, "votes are acknowledged")
    before = resident_kib(server) if measures else 0
    # An address of its own: the limits of one address are the attacker's.
    attacker = attacks.Attacker(server.address, "127.0.0.7", attacks.SMALL)
    for attack in attacks.ATTACKS:
        votes = len(voter.acknowledged)
        # On a busy machine an attack takes longer to begin.
        for seconds in (SECONDS, 10 * SECONDS, 100 * SECONDS):
            attacker.make(attack, seconds)
            if attacker.made + attacker.refused > 0:
                break
        assert attacker.made + attacker.refused > 0, attack.__name__
        assert server.running, f"{attack.__name__}: {server.said()}"
        server.request("GET", "/healthz").expect(200)
        grown = resident_kib(server) - before if measures else 0
        assert grown < MEMORY_KIB, f"{attack.__name__}: {grown} KiB more than before the attacks"
        backline.eventually(
            lambda: len(voter.acknowledged) > votes or not voter.is_alive(), f"a vote, {attack.__name__}", 60)
        assert voter.is_alive(), f"{attack.__name__}: {voter.failure}"
    voter.end()
    assert server.stop() == 0
    checked = backline.run("verify", *store)
    assert checked.returncode == 0, checked.stdout + checked.stderr
