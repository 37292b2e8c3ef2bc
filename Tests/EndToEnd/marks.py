"""The marks of tests, end to end and of the page, and the seed of those whose input is random.

`Scripts/test` runs what is not marked `soak`; `Scripts/test soak` runs the rest.
"""

import os
import random

import pytest

LINES = (
    "random: a test with random input, which Scripts/seeds runs with many seeds, and the soak with new ones",
    "soak(why): a test that loads the machine, kills, compares times, or really waits: Scripts/test soak runs it",
    "alone: a test of the soak that runs with no other beside it, as it compares times",
    "long: a test that takes a minute or more, with which a worker begins where tests run side by side",
)


def configure(config):
    for line in LINES:
        config.addinivalue_line("markers", line)


def collected(item):
    """Marks a test that takes a seed, and refuses marks without what they need."""
    if "seed" in item.fixturenames:
        item.add_marker("random")
    soaks = list(item.iter_markers("soak"))
    if not all(len(mark.args) == 1 and mark.args[0] for mark in soaks):
        raise pytest.UsageError(f"{item.nodeid} does not say why it is of the soak")
    if item.get_closest_marker("alone") and not soaks:
        raise pytest.UsageError(f"{item.nodeid} runs alone, and is not of the soak")


def drawn_seed():
    """The seed of a test with random input: BACKLINE_SEED, the one that is the same in each run of the gate, or a new one."""
    given = os.environ.get("BACKLINE_SEED") or os.environ.get("BACKLINE_NEW_SEED")
    return int(given or random.SystemRandom().randrange(1, 1_000_000))
