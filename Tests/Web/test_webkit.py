"""The page in WebKitGTK."""

import backline
import browsers
import decks
import parties
import steps


def arrive(page, server, room, name="Ana"):
    """Somebody comes to the room, joins by the form, and is made a DJ."""
    page.goto(browsers.origin(server) + room.path)
    page.type("#join-name", name)
    page.click("button", "Join")
    member = backline.eventually(
        lambda: next((one["member"] for one in room.state()["members"] if one["name"] == name), None), f"{name} has joined")
    room.tell("Mina", "setRole", member=member, role="dj")


def open_chooser(page):
    """A DJ who looks at all songs opens the chooser of files."""
    page.click("[data-pane=pool] button", "Add music")
    page.click("dialog button", "Choose files")
    backline.eventually(lambda: page.ask("chooser"), "a chooser is open")


#: Elements as one that opens a chooser, which are older than it.
MAKE_KIN = "window.kin = Array.from({length: 50}, () => Object.assign(document.createElement('input'), {type: 'file', onchange() {}}))"

#: Makes garbage of them, and other garbage until they are collected. What lies on a stack by chance is not.
COLLECT = """
    const kin = window.kin.map(one => new WeakRef(one));
    delete window.kin;
    for (let kept = []; kin.filter(one => one.deref()).length > 5; kept = []) {
        for (let i = 0; i < 100000; i++) kept.push({i});
        await new Promise(resolve => setTimeout(resolve));
    }"""


def test_files_arrive_from_a_chooser_that_was_open_while_garbage_was_collected(party, house, webkits, make_songs):
    room = party(parties.empty, house)
    page = webkits()
    arrive(page, house, room)
    page.run(MAKE_KIN)
    open_chooser(page)
    page.run(COLLECT)
    page.choose(make_songs(2, 1, ("flac", "wav")))
    steps.expect_titles(room, [decks.title(0), decks.title(1)])
    assert page.faults(browsers.origin(house)) == []
