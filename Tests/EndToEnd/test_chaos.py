"""A short fault run: `Scripts/chaos` is the long one."""

import asyncio

import pytest

import chaos
import chaos_network


@pytest.mark.long
def test_two_servers_on_one_log_lose_and_repeat_nothing_whatever_breaks(seed, say):
    plan = chaos.Plan(seed, seconds=76, every=12.5, rooms=8, clients=32, moments=3)
    with chaos_network.apart():
        wrong = asyncio.run(chaos.run(plan, say))
    assert wrong == [], "\n".join(wrong)
