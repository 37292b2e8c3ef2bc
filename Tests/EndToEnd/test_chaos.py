"""A short fault run: `Scripts/chaos` is the long one."""

import asyncio
import os
import random

import chaos


def test_two_servers_on_one_log_lose_and_repeat_nothing_whatever_breaks(say):
    seed = int(os.environ.get("BACKLINE_SEED") or random.SystemRandom().randrange(1 << 32))
    say(f"seed {seed} (BACKLINE_SEED repeats it)")
    wrong = asyncio.run(chaos.run(chaos.Plan(seed, seconds=76, every=12.5, rooms=8, clients=32), say))
    assert wrong == [], "\n".join(wrong)
