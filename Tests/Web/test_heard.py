"""Files of music are heard through the browser's own elements, one after the other: an order, at whatever pace."""

import decks
import parties
import test_deck


def test_songs_of_several_formats_are_heard_one_after_the_other(visit, whole_chromium, party, house, make_songs):
    room = party(parties.empty, house)
    formats = ("mp3", "flac", "opus")
    page, tracks = test_deck.opened(
        lambda *arguments, **options: visit(*arguments, browser=whole_chromium, **options), house, room,
        make_songs(len(formats), 2, formats), ears=decks.REAL)
    test_deck.start(page)
    entries = [room.tell("Mina", "enqueue", track=track)["entry"] for track in tracks]
    room.tell("Mina", "play", entry=entries[0])
    test_deck.until(page, lambda: room.state()["playback"]["status"] == "stopped", "all are over")
    # However often a busy machine is silent in one of them.
    assert list(dict.fromkeys(song["tone"] for song in test_deck.tones(page))) == list(range(len(formats)))
    assert [(one["entry"], one["reason"]) for one in test_deck.logged(room)] == [(entry, "ended") for entry in entries]
