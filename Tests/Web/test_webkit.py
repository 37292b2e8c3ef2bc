"""The page in WebKitGTK."""

import pytest

import backline
import browsers
import decks
import parties
import steps
import webkit


def arrive(page, server, room, name="Ana"):
    """Somebody comes to the room, and joins by the form; the member."""
    page.goto(browsers.origin(server) + room.path)
    page.type("#join-name", name)
    page.click("button", "Join")
    return backline.eventually(
        lambda: next((one["member"] for one in room.state()["members"] if one["name"] == name), None), f"{name} has joined")


def make_dj(page, room, member):
    """Makes the member of a page a DJ."""
    room.tell("Mina", "setRole", member=member, role="dj")
    # What a DJ has moves what is below it.
    page.find(".transport")
    page.find(".device")


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
    # Without its decoder of packets, which ends its process where not all formats are installed.
    page = webkits(features=webkit.SAFARI["18"])
    make_dj(page, room, arrive(page, house, room))
    page.run(MAKE_KIN)
    open_chooser(page)
    page.run(COLLECT)
    page.choose(make_songs(2, 1, ("flac", "wav")))
    steps.expect_titles(room, [decks.title(0), decks.title(1)])
    assert page.faults(browsers.origin(house)) == []


#: Writes down, while the page lives, how its elements sound: for each that plays, its volume and where it is.
LISTEN = """
    window.elements = [];
    window.sounds = [];
    const Native = Audio;
    window.Audio = function (...given) {
        elements.push(new Native(...given));
        return elements.at(-1);
    };
    setInterval(() => sounds.push(elements.filter(one => !one.paused && !one.ended && one.volume > 0)
        .map(({volume, currentTime}) => [volume, currentTime])), 50);
"""

#: What WebKit itself writes to the console while no server answers.
LOST = r"WebSocket connection to '.*' failed|Could not connect|(connection|Connection) (was )?(lost|refused|terminated)"


def show(page, label):
    """Brings a list to the front where the lists are tabs."""
    if page.device.touch:
        page.click("[role=tab]", label)


def on_air(room, title):
    """Waits until the room plays a song."""
    def plays():
        state = room.state()
        song = next((one for one in state["pool"] if one["track"] == state["playback"].get("track")), {})
        return state["playback"]["status"] == "playing" and song.get("title") == title

    backline.eventually(plays, f"{title} is on air", 60)


def hears(page):
    """Waits until one song is heard for two seconds; where it is then, in seconds."""
    page.run("sounds.length = 0")
    return backline.eventually(lambda: page.run("""
        const last = sounds.slice(-40), [[, from] = []] = last.at(0) ?? [[]], [[, to] = []] = last.at(-1) ?? [[]];
        return last.length === 40 && last.every(one => one.length === 1) && to - from > 1.5 ? to : null;"""), "a song is heard", 60)


#: The moments in which two songs were heard, the younger first, once one is heard alone again.
FADE = """
    const both = sounds.filter(one => one.length === 2 && one.every(([, at]) => at > 0));
    return both.length > 0 && sounds.at(-1).length === 1 ? both.map(one => one.toSorted(([, a], [, b]) => a - b)) : null;"""


def go_on(page):
    """Has a page that was loaded again go on. It may want a tap: WebKit knows late that an element has sound."""
    wants = "[...document.querySelectorAll('button')].some(one => one.textContent === 'Go on playing')"
    backline.eventually(lambda: page.run(f"return sounds.flat().length > 0 || {wants}"), "the page goes on, or wants a tap", 60)
    if page.run(f"return {wants}"):
        page.click("button", "Go on playing")


@pytest.mark.soak("plays sound in real time")
@pytest.mark.parametrize("device", browsers.DEVICES, ids=lambda device: device.name)
@pytest.mark.parametrize("safari", webkit.SAFARI)
def test_an_evening(party, servers, webkits, make_songs, safari, device):
    server = servers().start()
    room = party(parties.empty, server)
    room.add([parties.track("Fado", "Zonda", 200_000)])
    refuses_ogg = safari != "26"
    page = webkits(device, webkit.SAFARI[safari], [LISTEN], off=webkit.OGG if refuses_ogg else ())
    ana = arrive(page, server, room)
    show(page, "All songs")
    page.click("[data-pane=pool] [data-do=vote]")
    backline.eventually(lambda: room.state()["pool"][0]["votes"] == 1, "the vote is counted")
    make_dj(page, room, ana)
    # Small, and none of AAC: its packets end WebKitGTK's process, and a larger file fails to open now and then.
    songs = make_songs(4, 40, ("mp3", "flac", "wav", "ogg"), rate=8000)
    open_chooser(page)
    page.choose(songs)
    page.find("dialog", "3 added · 1 skipped" if refuses_ogg else "4 added")
    if refuses_ogg:
        page.find("dialog", "this browser cannot play this format")
    page.click("dialog button", "Done")
    tracks = {one["title"]: one["track"] for one in room.state()["pool"]}
    for number in range(3):
        room.tell("Mina", "enqueue", track=tracks[decks.title(number)])

    page.click(".transport-play")
    on_air(room, decks.title(0))
    assert hears(page) < 30
    page.app("(await app.device()).fadeMs = 4000")
    page.click("wave-form", at=0.8)
    backline.eventually(lambda: page.run("return sounds.at(-1).some(([, at]) => at > 31)"), "the song is heard from where was tapped", 60)
    on_air(room, decks.title(1))
    both = backline.eventually(lambda: page.run(FADE), "one song fades into the other", 60)
    (new, _), (old, _) = both[0]
    (risen, _), (fallen, _) = both[-1]
    assert len(both) > 20 and new < risen and fallen < old, both
    page.click(".transport-skip")
    on_air(room, decks.title(2))
    left = hears(page)

    page.reload()
    go_on(page)
    on_air(room, decks.title(2))
    assert backline.eventually(lambda: page.run("return sounds.find(one => one.length > 0)?.[0][1]"), "it is heard") > left - 2
    server.kill()
    away = hears(page)
    server.start()
    room.line = parties.Line(server)
    backline.eventually(lambda: page.app("app.store.link.state") == "live", "the page is connected")
    assert hears(page) > away
    on_air(room, decks.title(2))
    assert page.faults(browsers.origin(server), LOST) == []
