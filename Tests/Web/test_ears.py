"""The ears of `decks`, without a page: which breaks of a tone they take for silences."""

import pytest

import nights


def written(tone_at, asked):
    """What the ears write of a tone: `tone_at` tells it of a window of samples, by its beginning and its end in ms."""
    found = []
    for at in asked:
        tone = tone_at(at - nights.WINDOW_MS, at)
        if found and found[-1]["tone"] == tone:
            found[-1]["to"] = at
        else:
            found.append({"tone": tone, "from": at, "to": at, "isFirst": not found})
    return found


def on_time(phase):
    return range(phase, 2000, 20)


@pytest.mark.parametrize("ms", [140, 150, 300])
def test_a_silence_is_found(ms):
    for phase in range(20):
        (song,) = nights.songs_of(written(lambda begin, end: None if 1000 <= begin and end <= 1000 + ms else 0, on_time(phase)))
        assert len(song["silences"]) == 1 and song["silences"][0] <= ms, (phase, song)


def test_one_sample_that_is_off_is_no_silence():
    for phase in range(20):
        (song,) = nights.songs_of(written(lambda begin, end: 7 if begin <= 1000 <= end else 0, on_time(phase)))
        assert song["silences"] == [] and [tone for tone, _, _ in song["breaks"][0]] == [7], (phase, song)


def test_a_page_that_asks_late_hears_no_silence():
    for phase in range(20):
        asked = [at for at in on_time(phase) if not 900 < at < 1000 and not 1005 < at < 1200]
        (song,) = nights.songs_of(written(lambda begin, end: 7 if begin <= 990 <= end else 0, asked))
        assert song["silences"] == [], (phase, song)


def test_a_page_that_was_loaded_again_was_silent_meanwhile():
    heard = [{"tone": 0, "from": begin, "to": begin + 500, "isFirst": True} for begin in (0, 3000)]
    (song,) = nights.songs_of(heard)
    assert song["silences"] == [2500] and song["ms"] == 1000
