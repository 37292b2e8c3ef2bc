"""The picture of the README, made from the built server."""

import os
import pathlib

import browsers
import parties
import pictures
import steps

PICTURE = pathlib.Path(__file__).parents[2] / "Documentation" / "page.png"
MOST = 200_000
"""Bytes that the picture may have."""


def test_the_readme_shows_the_page(visit, party, house, tmp_path):
    """BACKLINE_PICTURE=yes writes it anew; else it is made to see that it can be."""
    room = party(parties.rooftop, house, present=True)
    page = visit(house, room.path, person=room.mina, device=browsers.Device("picture", 1280, 800, 1, False))
    steps.on_air(page, "Maré Alta")
    steps.pane(page, "pool").locator("li.row").first.wait_for()
    # The music plays, and on this device.
    steps.pretend_deck(page)
    page.get_by_text("Playing on this device").wait_for()
    page.wait_for_load_state("networkidle")
    browsers.settle(page)
    target = PICTURE if os.environ.get("BACKLINE_PICTURE") else tmp_path / "page.png"
    empty = page.context.new_page()
    target.write_bytes(pictures.with_few_colours(empty, page.screenshot()))
    assert target.stat().st_size <= MOST
    readme = (PICTURE.parents[1] / "README.md").read_text(encoding="utf-8")
    assert "Documentation/page.png" in readme
    assert 10_000 < PICTURE.stat().st_size <= MOST
