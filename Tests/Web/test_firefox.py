"""The page in Firefox."""

import contextlib

import pytest

import backline
import browsers
import firefox
import parties


@pytest.fixture
def fox(authority, tmp_path):
    with contextlib.closing(firefox.Firefox(authority, tmp_path / "firefox")) as made:
        yield made


def test_a_guest_in_firefox(party, house, authority, fox):
    """Join, vote, and the position of the song; nothing on the console."""
    room = party(parties.rooftop, house)
    fox.goto(browsers.origin(house) + room.path)
    fox.click(css="input#name, dialog input, form input")
    fox.type("Ana")
    fox.click(role="button", name="Join")
    backline.eventually(
        lambda: "Ana" in [one["name"] for one in room.state()["members"]], "Ana has joined")
    fox.click(css="[data-pane=requests] li.row:nth-of-type(4) [data-do=vote]")
    backline.eventually(
        lambda: next(one["votes"] for one in room.state()["pool"] if one["title"] == "Maré Theory") == 4,
        "the vote is counted")
    backline.eventually(
        lambda: fox.run("document.querySelector('[data-pane=requests] li.row:nth-of-type(4) [data-do=vote]').textContent")
        == "4", "the count is shown")

    def seconds():
        minutes, rest = fox.run("document.querySelector('.deck .elapsed').textContent").split(":")
        return int(minutes) * 60 + int(rest)

    def position():
        now = room.line.request(room.mina.token, "GET", f"/v1/rooms/{room.id}")["room"]
        playback = now["state"]["playback"]
        return (playback["positionMs"] + now["time"] - playback["atMs"]) / 1000

    first = seconds()
    assert abs(first - position()) <= 1.5, (first, position())
    backline.eventually(lambda: seconds() >= first + 2, "the song goes on")
    assert fox.faults(browsers.origin(house)) == []
