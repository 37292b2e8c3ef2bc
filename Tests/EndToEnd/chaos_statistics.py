"""What servers say they have counted, asked during the fault run and at its end, for `chaos_checks` to compare."""

import asyncio
import collections
import json
import time

from chaos_checks import PLAYS, check_statistics
from chaos_clients import LOST

QUESTIONS = {
    "total": "?step=total&from=0", "quarter": "?step=quarter", "minute": "?step=minute", "plays": f"/plays?limit={PLAYS}"}
ASKED_TOGETHER = 4
PATIENCE = 330.0
"""Seconds after which everything must be counted: a server looks at all rooms every five minutes."""


class Counted:
    """All answers about statistics, by room."""

    def __init__(self, world, client):
        self.world = world
        self.client = client
        self.answers = collections.defaultdict(list)

    async def watch(self, moments, seconds):
        """Asks about every room at so many moments of the run."""
        began = time.monotonic()
        for moment in range(1, moments + 1):
            await asyncio.sleep(max(0.0, began + seconds * moment / (moments + 1) - time.monotonic()))
            await self._ask_all()
            self.world.say(f"statistics of {len(self.world.rooms)} rooms are read")

    async def judge(self, logs):
        """Waits until everything is counted, asks about every room, and compares all answers with the logs."""
        began = time.monotonic()
        behind = list(self.world.rooms)
        while behind:
            seqs = await asyncio.gather(*(self._ask(room, "total") for room in behind))
            if time.monotonic() > began + PATIENCE:
                return [f"room {room.id} is counted to {seq}, its log ends at {len(logs[room.id])}"
                        for room, seq in zip(behind, seqs)][:20]
            behind = [room for room, seq in zip(behind, seqs) if seq < len(logs[room.id])]
            await asyncio.sleep(0.25 if behind else 0)
        self.world.say(f"everything is counted {time.monotonic() - began:.1f} s later")
        await self._ask_all()
        wrong = []
        for room in self.world.rooms:
            wrong += check_statistics(room, logs[room.id], self.answers[room.id])
            self.world.counts["answers about statistics compared"] += len(self.answers[room.id])
        return wrong

    async def _ask_all(self):
        waiting = [(room, question) for room in self.world.rooms for question in QUESTIONS]

        async def work():
            while waiting:
                await self._ask(*waiting.pop())

        await asyncio.gather(*(work() for _ in range(ASKED_TOGETHER)))

    async def _ask(self, room, question):
        """Asks any server until one answers; returns the position to which the room is counted."""
        path = f"/v1/rooms/{room.id}/statistics{QUESTIONS[question]}"
        while True:
            node = self.client.chance.choice(self.world.nodes)
            try:
                status, answer = await self.world.request(node, "GET", path, self.client.token)
                if status == 200:
                    self.answers[room.id].append((question, node.origin, answer))
                    return answer["seq"]
                if status not in (429, 503):
                    raise AssertionError(f"{path}: {status} {answer}")
            except (*LOST, json.JSONDecodeError):
                pass
            await asyncio.sleep(0.3)
