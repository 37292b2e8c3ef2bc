"""A short fault run: `Scripts/chaos` is the long one."""

import asyncio

import pytest

import chaos
import chaos_network


@pytest.mark.soak("chaos")
@pytest.mark.long
def test_two_servers_on_one_log_lose_and_repeat_nothing_whatever_breaks(seed, say):
    plan = chaos.Plan(seed, rooms=6, clients=24, moments=3, **chaos.ONE_ROUND)
    with chaos_network.apart():
        wrong = asyncio.run(chaos.run(plan, say))
    assert wrong == [], "\n".join(wrong)
