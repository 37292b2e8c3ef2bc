"""A short fault run with apps on the Swift client library: `Scripts/chaos --apps 6` is the long one."""

import pytest

import chaos
import chaos_apps
import chaos_network


@pytest.mark.soak("chaos")
@pytest.mark.long
def test_apps_that_are_killed_lose_and_repeat_nothing_whatever_breaks(seed, say):
    plan = chaos.Plan(seed, pace=0.1, **chaos.ONE_ROUND)
    with chaos_network.apart():
        wrong = chaos_apps.run(plan, 3, say, lives=3)
    assert wrong == [], "\n".join(wrong)
