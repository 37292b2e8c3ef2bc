"""A short night: a deck that nobody attends, whose network is lost, whose server is killed, and whose page is loaded again."""

import pytest

import nights
import serving

pytestmark = [pytest.mark.alone, pytest.mark.soak("sound in real time")]
"""Sound in real time: a browser beside would take it the processor."""


def test_what_is_heard_in_a_night_is_what_the_log_says(chromium, authority, tmp_path):
    """Three songs: the server is killed, the network is lost across a song's end, and the page is loaded again without it."""
    data = tmp_path / "data"
    store = ["--store", "sqlite", "--data", str(data)]
    plan = [nights.Fault(1, 1, "kill", 0.5), nights.Fault(2, 5.5, "reset", 4), nights.Fault(3, 2, "reload", 1)]
    server = serving.make_server(authority, data, store=store)
    night = nights.Night(chromium, server, store, tmp_path, songs=3, seed=16, plan=plan, gap=5 * nights.GAP_MS,
                         near=nights.BUSY * nights.NEAR_MS)
    night.run()
    print(night.table())
    assert not night.wrong, "\n".join(night.wrong)
    assert night.sent.count("syncDeck") >= 2, night.sent
