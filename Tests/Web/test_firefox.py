"""The page in Firefox."""

import pytest

import backline
import browsers
import parties

pytestmark = pytest.mark.soak("Firefox")


def test_a_guest_in_firefox(party, house, fox):
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

    before, first, after = position(), seconds(), position()
    assert before - 1.5 <= first <= after + 1.5, (before, first, after)
    backline.eventually(lambda: seconds() >= first + 2, "the song goes on")
    assert fox.faults(browsers.origin(house)) == []


def test_back_in_firefox(party, house, fox):
    """Back closes a sheet, also one that took the place of another, and leaves no step behind."""
    room = party(parties.rooftop, house)
    fox.goto(browsers.origin(house) + "/")
    fox.find(css=".home-code")
    fox.run("import(document.querySelector('script[type=module]').src).then(({app}) => { app.go(%r); })" % room.path)
    fox.find(css="[data-pane] li.row")
    # Nothing else can be used before.
    fox.click(role="button", name="Look around first")
    rests_in(fox, room.path, 0)
    for item in "History", "Share this room":
        fox.click(role="button", name="Menu")
        fox.click(role="button", name=item)
        rests_in(fox, room.path, 1)
        backline.eventually(lambda: item in fox.run("document.querySelector('dialog[open] h2')?.textContent ?? ''"), item)
        press_back(fox)
        rests_in(fox, room.path, 0)
    fox.click(role="button", name="Menu")
    rests_in(fox, room.path, 1)
    fox.click(css="dialog[open] .dialog-close")
    rests_in(fox, room.path, 0)
    fox.click(role="button", name="Menu")
    rests_in(fox, room.path, 1)
    fox.ask("browsingContext.reload", context=fox.tab, wait="complete")
    fox.find(css="[data-pane] li.row")
    rests_in(fox, room.path, 0)
    press_back(fox)
    rests_in(fox, "/", 0)
    assert fox.faults(browsers.origin(house)) == []


def press_back(fox):
    fox.ask("browsingContext.traverseHistory", context=fox.tab, delta=-1)


def rests_in(fox, path, sheets):
    """Waits until so many sheets are open on a screen, and as many steps of the history are theirs."""
    now = "[location.pathname, document.querySelectorAll('dialog[open]').length, history.state?.sheets].join(' ')"
    backline.eventually(lambda: fox.run(now) == f"{path} {sheets} {sheets}", f"{sheets} sheets at {path}")
