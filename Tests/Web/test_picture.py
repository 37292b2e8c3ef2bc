"""The picture of the README, made from the built server: a party whose music plays on this device, from real files."""

import os
import pathlib
import subprocess

import backline
import browsers
import decks
import parties
import pictures
import steps

PICTURE = pathlib.Path(__file__).parents[2] / "Documentation" / "page.png"
MOST = 200_000
"""Bytes that the picture may have."""
WRITES = bool(os.environ.get("BACKLINE_PICTURE"))
TRACKS = 24 if WRITES else 11
PLAYS = """({playing, store}) => playing.heard.isHeard && !store.room.pool.some(({missing}) => missing)"""
LOOKED = "({playing}) => [...playing.library.songs.values()].every(({lufs}) => lufs !== undefined) && playing.analysis.state.waiting === 0"


def files_of(tracks, folder):
    """A file of music for each track, as its tags say."""
    made = []
    for number, track in enumerate(tracks):
        path = folder / f"{number}.mp3"
        tags = [f"{name}={track[name]}" for name in ("title", "artist", "album")]
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"sine=sample_rate=8000:duration={track['durationMs'] / 1000}",
             *(part for tag in tags for part in ("-metadata", tag)), "-b:a", "16k", str(path)], check=True)
        made.append(path)
    return made


def test_the_readme_shows_the_page(visit, party, house, tmp_path):
    """BACKLINE_PICTURE=yes writes it anew; else it is made to see that it can be."""
    room = party(parties.rooftop, house, present=True, tracks=TRACKS)
    page = visit(house, None, room.mina, device=browsers.Device("picture", 1280, 800, 1, False))
    page.add_init_script(decks.NO_PICKER)
    page.goto(room.path)
    steps.on_air(page, "Maré Alta")
    page.get_by_role("button", name="Play on this device").click()
    with page.expect_file_chooser() as chooser:
        page.locator(".silence").get_by_role("button", name="Choose files").click()
    chooser.value.set_files(files_of(parties.collection(TRACKS), tmp_path))
    decks.run(page, "({playing}) => { playing.fadeMs = 4000; playing.volume = 0.8; }")
    backline.eventually(lambda: decks.run(page, PLAYS), "it plays, and the room knows it", browsers.PATIENCE / 1000)
    if WRITES:
        backline.eventually(lambda: decks.run(page, LOOKED), "the deck has looked at all songs", browsers.PATIENCE / 1000)
    page.mouse.move(0, 0)
    page.locator(".silence").wait_for(state="hidden")
    page.wait_for_load_state("networkidle")
    browsers.settle(page)
    steps.on_air(page, "Maré Alta")
    target = PICTURE if WRITES else tmp_path / "page.png"
    empty = page.context.new_page()
    target.write_bytes(pictures.with_few_colours(empty, page.screenshot()))
    assert target.stat().st_size <= MOST
    readme = (PICTURE.parents[1] / "README.md").read_text(encoding="utf-8")
    assert "Documentation/page.png" in readme
    assert 10_000 < PICTURE.stat().st_size <= MOST
