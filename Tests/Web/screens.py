"""Every screen and state of the page, each reached through what causes it at a real server.

A scene is a generator: it yields a name and a page that shows a state. `Scripts/screens` makes pictures of each, and
`test_screens.py` checks each.
"""

import contextlib
import re
import time

from playwright.sync_api import expect

import backline
import browsers
import evenings
import parties
import steps
import wires

SCENES = []
#: Those of SCENES whose layout is the same on a laptop but for its width, such as dialogs. With little motion they are there at once.
NARROW = set()


def scene(function):
    SCENES.append(function)
    return function


def narrow_scene(function):
    NARROW.add(function)
    return scene(function)


class Stage:
    """One device at one server. Pages and parties end with `clear`."""

    def __init__(self, chromium, server, device, make_server=None, **preferences):
        self.chromium, self.server, self.device, self.make_server = chromium, server, device, make_server
        self.preferences = preferences
        self._ends = contextlib.ExitStack()
        self.watches = []

    @property
    def on_phone(self):
        return self.device.touch

    def party(self, kind=parties.rooftop, server=None, **options):
        if kind is parties.rooftop:
            options.setdefault("present", True)
        made = kind(server or self.server, **options)
        for one in made if isinstance(made, list) else [made]:
            self._ends.callback(one.end)
        return made

    def page(self, path, person=None, server=None, has_clock=False, **options):
        """A page of a new profile; with `has_clock`, its time can be moved on."""
        context = self.chromium.context(server or self.server, device=self.device, **self.preferences | options)
        self._ends.callback(context.close)
        self.watches.append(context.watch)
        if person:
            browsers.sign_in(context, person)
        page = context.new_page()
        page.watch = context.watch
        if has_clock:
            page.clock.install()
        page.goto(path)
        return page

    def guest(self, party, name="Ana", **options):
        """The page of somebody who has joined."""
        page = self.page(party.path, person=party.admit(party.line.session(name)), **options)
        page.locator("section.pane:visible").first.wait_for()
        return page

    def dj(self, party, **options):
        """The page of the room's owner."""
        page = self.page(party.path, person=party.mina, **options)
        page.locator("section.pane:visible").first.wait_for()
        return page

    def wire(self, server=None):
        return self._ends.enter_context(wires.Wire(server or self.server))

    def new_server(self, *options):
        return self._ends.enter_context(self.make_server(*options))

    def clear(self):
        self._ends.close()
        self._ends = contextlib.ExitStack()
        self.watches = []


def dialog(page):
    """The dialog on top, once it is shown."""
    top = page.locator("dialog[open]").last
    top.wait_for()
    return top


def close_dialog(page):
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")


# Home.


@scene
def home(stage):
    empty = stage.new_server()
    page = stage.page("/", server=empty)
    page.get_by_text("No public room is open").wait_for()
    yield "home-nothing-open", page
    stage.party(parties.neighbourhood)
    page = stage.page("/")
    page.get_by_text("Garden at Foz").first.wait_for()
    yield "home", page
    page.get_by_label("Code").first.fill("12")
    page.keyboard.press("Enter")
    page.get_by_text("A code has 6 or 8 letters and digits.").wait_for()
    yield "home-wrong-code", page
    page.get_by_role("button", name="Start a room").click()
    page.get_by_label("Name of the room").wait_for()
    yield "start-a-room", page
    page.get_by_label("Your name").fill("Mina")
    page.get_by_role("button", name="Start the room").click()
    page.get_by_text("Give the room a name.").wait_for()
    yield "start-a-room-nameless", page


@narrow_scene
def home_with_rooms_of_ones_own(stage):
    mina = parties.Line(stage.server).session("Mina")
    first = stage.party(parties.rooftop, owner=mina)
    second = stage.party(parties.Party, name="Sunday cleaning, with a name that is as long as the names of rooms may be, 80")
    second.admit(mina)
    page = stage.page("/", person=mina)
    page.get_by_text(first.name).first.wait_for()
    yield "home-my-rooms", page


@narrow_scene
def home_without_a_connection(stage):
    wire = stage.wire()
    page = stage.page("/", server=wire, has_clock=True)
    page.get_by_text("Listen together.").wait_for()
    page.watch.expect(LOST)
    steps.is_prepared(page)
    wire.go_down()
    page.get_by_label("Code").first.fill("V631KK")
    page.keyboard.press("Enter")
    told = page.get_by_text("Reconnecting…").or_(page.get_by_text("No connection")).first
    backline.eventually(lambda: page.clock.run_for(1_000) or told.is_visible(), "the page tells it")
    yield "home-no-connection", page


# Joining.


@narrow_scene
def joining(stage):
    party = stage.party()
    page = stage.page(party.path)
    page.get_by_label("Your name").wait_for()
    steps.on_air(page, "Maré Alta")
    yield "join", page
    page.get_by_label("Your name").fill("")
    page.get_by_role("button", name=re.compile("^Join")).click()
    yield "join-nameless", page
    page = stage.page(party.path, person=party.line.session("Ines Magalhães"))
    page.get_by_role("button", name=re.compile("^Join as")).wait_for()
    yield "join-as", page


# A guest.


@scene
def a_guest(stage):
    party = stage.party()
    page = stage.guest(party)
    steps.on_air(page, "Maré Alta")
    for title in "Warm Machines", "Distant Avenue":
        steps.vote_button(page, "requests", title).click()
        expect(steps.vote_button(page, "requests", title)).to_have_attribute("aria-pressed", "true")
    yield "guest", page
    steps.pane(page, "queue")
    if stage.on_phone:
        yield "guest-up-next", page
    steps.pane(page, "pool").locator("li.row").first.wait_for()
    if stage.on_phone:
        yield "guest-all-tracks", page
    steps.find(page, "mare")
    page.get_by_text(re.compile("of 58")).wait_for()
    yield "guest-search", page
    steps.find(page, "zzz")
    page.get_by_text("No song matches.").wait_for()
    yield "guest-no-match", page
    steps.find(page, "")
    # What moves below the deck has arrived.
    steps.pane(page, "pool").locator("li.row").first.wait_for()
    browsers.settle(page)
    page.get_by_role("button", name=re.compile("^Vote to skip|^Skip")).click()
    page.get_by_role("button", name=re.compile("1 of")).wait_for()
    steps.pane(page, "requests")
    yield "guest-voted-to-skip", page


@narrow_scene
def a_guest_on_a_small_phone(stage):
    if not stage.on_phone:
        return
    party = stage.party()
    page = stage.guest(party, "Ana")
    steps.on_air(page, "Maré Alta")
    page.set_viewport_size({"width": 320, "height": 568})
    yield "guest-small", page
    page.set_viewport_size({"width": 844, "height": 390})
    yield "guest-landscape", page
    mina = stage.dj(party)
    steps.on_air(mina, "Maré Alta")
    mina.set_viewport_size({"width": 844, "height": 390})
    mina.get_by_role("button", name="Pause").wait_for()
    yield "dj-landscape", mina


@scene
def between_phone_and_laptop(stage):
    if stage.on_phone:
        return
    party = stage.party()
    page = stage.dj(party)
    steps.on_air(page, "Maré Alta")
    page.set_viewport_size({"width": 800, "height": 1000})
    yield "dj-tablet", page
    page.set_viewport_size({"width": 1920, "height": 1080})
    yield "dj-wide", page


@narrow_scene
def reactions(stage):
    party = stage.party()
    page = stage.guest(party, reduced_motion="no-preference")
    steps.on_air(page, "Maré Alta")
    page.locator(".reaction").first.wait_for()
    # They rise for two minutes, not two seconds.
    session = page.context.new_cdp_session(page)
    session.send("Animation.enable")
    session.send("Animation.setPlaybackRate", {"playbackRate": 0.02})
    for socket in party.sockets:
        for emoji in "🔥", "❤️", "🙌":
            socket.send({"type": "react", "room": party.id, "emoji": emoji})
    page.locator(".rising span").first.wait_for()
    yield "reactions", page
    still = stage.guest(party, "Bo", reduced_motion="reduce")
    still.locator(".reaction").first.wait_for()
    for socket in party.sockets:
        socket.send({"type": "react", "room": party.id, "emoji": "🔥"})
    still.locator(".reaction .tally").get_by_text(str(len(party.sockets)), exact=True).wait_for()
    yield "reactions-counted", still


@scene
def nothing_here_yet(stage):
    for mode, text in ("dj", "The DJ has queued nothing right now."), (
            "votes", "The most wanted song comes next. Nobody is asking for one right now."), (
            "fair", "The people who vote take turns. Nobody is asking for a song right now."):
        party = stage.party(parties.empty, name="An empty room", settings={"queueMode": mode})
        page = stage.guest(party)
        page.get_by_text("Nothing is playing").first.wait_for()
        if mode == "dj":
            page.get_by_text("Nobody is asking for a song right now.").wait_for()
            yield "empty", page
            steps.pane(page, "pool")
            yield "empty-all-tracks", page
        steps.pane(page, "queue")
        page.get_by_text(text).wait_for()
        yield f"empty-{mode}", page
        if mode == "dj":
            party.add(parties.collection(12))
            page.get_by_text("A DJ decides what is played.").wait_for()
            yield "asked-for-nothing-dj", page
            party.tell("Mina", "enqueue", track=party.ids["Maré Alta"])
            page.get_by_text("A DJ starts the music.").wait_for()
            yield "waits-for-a-dj", page
    page = stage.dj(party)
    page.get_by_text("Nothing is playing").first.wait_for()
    yield "empty-dj", page
    if stage.on_phone:
        steps.pane(page, "pool")
        yield "empty-dj-all-tracks", page
    party.add(parties.collection(12))
    page = stage.guest(party)
    page.get_by_text("Choose a song, and ask for it.").wait_for()
    yield "asked-for-nothing", page


@scene
def odd_states_of_what_is_on_air(stage):
    party = stage.party()
    party.tell("Mina", "pause")
    page = stage.guest(party)
    page.get_by_text("Paused").first.wait_for()
    yield "paused", page
    party.add([parties.track("A short one", "Zonda", 1_000)])
    party.play("A short one")
    page.get_by_text("Waiting for the deck").wait_for()
    yield "past-its-end", page
    mina = stage.dj(party)
    mina.get_by_text("Waiting for the deck").wait_for()
    yield "past-its-end-dj", mina
    long = parties.track("The very long title of a song that somebody recorded in one take, live at the harbour", "A band "
                         "whose name is not short either, and their friends", 4_000_000, "Everything we ever played")
    party.add([long, parties.track("Untitled"), parties.track("عندما يأتي المساء", "محمد عبد الوهاب", 260_000)])
    party.play(long["title"])
    steps.on_air(page, long["title"])
    yield "long-title", page
    party.play("عندما يأتي المساء")
    steps.on_air(page, "عندما يأتي المساء")
    yield "right-to-left-title", page
    party.play("Untitled")
    steps.on_air(page, "Untitled")
    yield "no-artist-no-length", page


@narrow_scene
def why_a_song_is_on_air(stage):
    for mode, shown in ("votes", "Most votes"), ("fair", "turn"):
        party = stage.party(parties.empty, name="The room decides", settings={"queueMode": mode})
        party.add(parties.collection(20))
        party.join(*parties.GUESTS)
        for title, _, votes in parties.WANTED:
            party.vote(title, *parties.GUESTS[-votes:])
        party.play("Maré Alta")
        party.tell("Mina", "skip")
        page = stage.guest(party)
        page.get_by_role("button", name=re.compile("Why|Chosen")).click()
        page.get_by_text(re.compile(shown)).first.wait_for()
        yield f"why-{mode}", page


# Adding songs.


@narrow_scene
def adding(stage):
    party = stage.party(settings={"guestsMayAdd": True, "slowModeMs": 130_000})
    page = stage.guest(party)
    pool = steps.pane(page, "pool")
    pool.get_by_role("button", name="Add a song").click()
    dialog(page)
    yield "add-a-song", page
    dialog(page).get_by_label("Title").fill("A song of mine")
    dialog(page).get_by_label("Artist").fill("Ana")
    dialog(page).get_by_role("button", name=re.compile("^(Ask for it|Add)$")).click()
    page.get_by_text(re.compile("Added")).first.wait_for()
    yield "added-a-song", page
    close_dialog(page)
    page.get_by_text(re.compile("You can add again in")).first.wait_for()
    yield "slow-mode", page
    party.tell("Mina", "updateRoom", settings={"queueLocked": True})
    page.get_by_text("For now, DJs decide.").first.wait_for()
    yield "requests-closed", page
    mina = stage.dj(party)
    steps.pane(mina, "pool").get_by_role("button", name="Add music").click()
    dialog(mina)
    yield "add-music", mina
    dialog(mina).locator("label", has_text="A list").click()
    dialog(mina).get_by_role("textbox").first.fill(
        "Zonda – Passo 3:21\nMoss – Second Theory\n\n" + "x" * 301 + "\nKestrel – Long Roads 4:05\nZonda – Passo 3:21")
    dialog(mina).get_by_role("button", name=re.compile("^Add 3 songs")).wait_for()
    yield "add-a-list", mina
    dialog(mina).get_by_role("button", name=re.compile("^Add 3 songs")).click()
    mina.get_by_text("3 songs added").first.wait_for()
    yield "added-a-list", mina


# The DJ.


@scene
def the_dj(stage):
    party = stage.party()
    # With motion, on a laptop too.
    page = stage.dj(party, reduced_motion="no-preference")
    steps.on_air(page, "Maré Alta")
    steps.pane(page, "pool").locator("li.row").first.wait_for()
    if stage.on_phone:
        yield "dj-all-tracks", page
    steps.pane(page, "requests")
    if stage.on_phone:
        yield "dj-asked-for", page
    steps.pane(page, "queue")
    yield "dj", page
    steps.row(page, "queue", "Golden Machines").locator("[data-do=more]").click()
    page.get_by_text("Move up").wait_for()
    yield "dj-row-menu", page
    page.get_by_role("button", name="Remove from the queue").or_(page.get_by_text("Remove from the queue")).first.click()
    page.get_by_role("button", name="Undo").wait_for()
    yield "dj-undo", page
    if not stage.on_phone:
        box = steps.row(page, "queue", "Paper Season").bounding_box()
        page.mouse.move(box["x"] + 120, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + 120, box["y"] - 30, steps=5)
        page.mouse.move(box["x"] + 120, box["y"] - 60, steps=5)
        yield "dj-drag", page
        page.mouse.up()
    steps.pane(page, "pool")
    page.locator("[data-pane=pool] [data-do=more]").nth(2).click()
    page.get_by_text("Remove from the room").wait_for()
    yield "dj-track-menu", page
    page.get_by_text("Remove from the room").click()
    page.get_by_text("It goes for everybody").wait_for()
    yield "dj-remove-track", page


@narrow_scene
def refusals(stage):
    party = stage.party(settings={"repeatAfterPlays": 5})
    page = stage.dj(party)
    steps.find(page, "Maré Alta")
    page.locator("[data-pane=pool] [data-do=enqueue]").first.click()
    page.get_by_text("It was played too recently.").wait_for()
    yield "refused", page


# Dialogs.


@narrow_scene
def the_menu(stage):
    party = stage.party()
    page = stage.guest(party)
    steps.open_menu(page)
    dialog(page)
    yield "menu-guest", page
    dialog(page).get_by_role("button", name=re.compile("^(Your name|Change your name|Rename)")).click()
    page.get_by_label(re.compile("name", re.I)).last.wait_for()
    yield "menu-own-name", page
    close_dialog(page)
    steps.open_menu(page, re.compile("^Leave"))
    dialog(page)
    yield "menu-leave", page
    close_dialog(page)
    steps.open_menu(page, re.compile("^Sign out"))
    dialog(page)
    yield "menu-sign-out", page
    mina = stage.dj(party)
    steps.open_menu(mina)
    dialog(mina)
    yield "menu-owner", mina
    dialog(mina).get_by_role("button", name="Preferences").click()
    dialog(mina)
    yield "preferences", mina
    close_dialog(mina)
    if not stage.on_phone:
        mina.keyboard.press("?")
        dialog(mina)
        yield "keys", mina


@narrow_scene
def people(stage):
    party = stage.party()
    page = stage.guest(party)
    steps.open_menu(page, re.compile("^People"))
    dialog(page).get_by_text("Mina").wait_for()
    yield "people-guest", page
    mina = stage.dj(party)
    steps.open_menu(mina, re.compile("^People"))
    dialog(mina).get_by_text("Yuki").wait_for()
    yield "people-owner", mina
    dialog(mina).get_by_role("button", name=re.compile("Yuki")).first.click()
    mina.get_by_text(re.compile("^Make DJ|Make a DJ")).first.wait_for()
    yield "people-member", mina
    mina.get_by_role("button", name=re.compile("^Ban")).first.click()
    mina.get_by_label(re.compile("Reason")).fill("Kept shouting the names of other songs")
    yield "people-ban", mina
    mina.locator("dialog[open] form button[type=submit]").click()
    mina.get_by_role("button", name="Undo").wait_for()
    yield "people-banned", mina
    dialog(mina).locator("label", has_text="Banned").click()
    mina.get_by_text(re.compile("Yuki")).first.wait_for()
    yield "people-bans", mina


@narrow_scene
def people_with_one_name(stage):
    party = stage.party()
    for name in ("Ana", "Ana", *["Anastasia Maria Theodora from next door"] * 2):
        party.admit(party.line.session(name))
    page = stage.page(party.path)
    page.get_by_label("Your name").fill("Ana")
    page.get_by_text("Somebody here has this name").wait_for()
    yield "join-taken", page
    mina = stage.dj(party)
    steps.open_menu(mina, re.compile("^People"))
    dialog(mina).get_by_role("searchbox").fill("ana")
    dialog(mina).locator("li.person", has_text="Ana (").last.wait_for()
    yield "people-one-name", mina
    dialog(mina).locator("li.person", has_text="Ana (").last.get_by_role("button").click()
    mina.get_by_role("button", name=re.compile("^Ban")).first.click()
    mina.get_by_label(re.compile("Reason")).wait_for()
    yield "people-one-name-ban", mina
    page = stage.dj(party)
    steps.open_menu(page, re.compile("^Your name"))
    dialog(page).locator("input").fill("Ana")
    page.get_by_text("Somebody here has this name").wait_for()
    yield "menu-own-name-taken", page


@narrow_scene
def very_many_people(stage):
    party = stage.party(parties.large, tracks=58, members=400)
    page = stage.dj(party)
    steps.open_menu(page, re.compile("^People"))
    dialog(page).locator("li").nth(3).wait_for()
    yield "people-400", page
    dialog(page).get_by_role("searchbox").fill("Yuki 9")
    dialog(page).get_by_text("Yuki 9", exact=True).wait_for()
    yield "people-400-found", page


@narrow_scene
def room_settings(stage):
    party = stage.party()
    page = stage.dj(party, permissions=["geolocation"], geolocation={"latitude": 41.15, "longitude": -8.61})
    steps.open_menu(page, re.compile("^Room settings|^Settings"))
    body = dialog(page).locator(".dialog-body, .settings").first
    yield "settings", page
    for number, legend in enumerate(("order", "guests", "owner", "end")):
        page.locator("dialog[open] fieldset").nth(number + 1).scroll_into_view_if_needed()
        if number in (0, 1, 3):
            yield f"settings-{legend}", page
    page.get_by_role("button", name=re.compile("^Close")).last.click()
    expect(page.locator("dialog[open]")).to_have_count(2)
    yield "settings-close", page
    del body


@narrow_scene
def sharing(stage):
    party = stage.party()
    page = stage.guest(party)
    steps.open_menu(page, re.compile("^Share"))
    dialog(page).get_by_text("only this computer").wait_for()
    yield "share-unreachable", page
    dialog(page).get_by_role("button", name=re.compile("big", re.I)).click()
    page.locator(".wall").wait_for()
    yield "share-wall-unreachable", page
    page = stage.guest(party, "Bo", host="party.test")
    steps.open_menu(page, re.compile("^Share"))
    dialog(page)
    yield "share", page
    dialog(page).get_by_role("button", name=re.compile("wall|full screen|big", re.I)).click()
    page.locator(".wall").wait_for()
    yield "share-wall", page
    unlisted = stage.party(visibility="unlisted")
    page = stage.guest(unlisted, host="party.test")
    steps.open_menu(page, re.compile("^Share"))
    dialog(page)
    yield "share-unlisted", page


@narrow_scene
def history(stage):
    party = stage.party()
    page = stage.guest(party)
    steps.open_menu(page, "History")
    dialog(page).locator("li").first.wait_for()
    yield "history", page
    quiet = stage.guest(stage.party(parties.empty, name="An empty room"))
    steps.open_menu(quiet, "History")
    dialog(quiet)
    yield "history-empty", quiet
    for title in list(party.ids)[12:47]:
        party.play(title)
        party.tell("Mina", "skip")
        party.play(ON_AIR)
    page = stage.guest(party, "Bo")
    steps.open_menu(page, "History")
    earlier = dialog(page).get_by_role("button", name=re.compile("Earlier"))
    earlier.scroll_into_view_if_needed()
    yield "history-earlier", page


ON_AIR = parties.ON_AIR[0]


# Statistics.


def statistics(page):
    """Opens a room's statistics."""
    steps.open_menu(page, re.compile("^Statisti"))
    return dialog(page)


@narrow_scene
def statistics_of_an_evening(stage):
    server = stage.new_server(*evenings.OPTIONS)
    evening = stage.party(evenings.Evening, server)
    page = stage.page(evening.room.path, person=evening.ana, server=server)
    shown = statistics(page)
    shown.get_by_text("Most played").wait_for()
    expect(shown.locator(".ranked-song").first).to_be_visible()
    yield "statistics", page
    plays = shown.get_by_role("slider", name="Songs played")
    plays.focus()
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
    shown.get_by_text("Show as table").first.click()
    plays.focus()
    yield "statistics-bar-and-table", page
    shown.get_by_text("Listeners at once").last.scroll_into_view_if_needed()
    yield "statistics-listeners", page
    shown.get_by_text("Yours", exact=True).scroll_into_view_if_needed()
    yield "statistics-yours", page
    shown.locator("label", has_text="Last hour").click()
    shown.locator("[aria-busy=false]").wait_for()
    shown.get_by_text("Songs played").first.scroll_into_view_if_needed()
    yield "statistics-hour", page
    shown.locator("label", has_text="7 days").click()
    shown.locator("[aria-busy=false]").wait_for()
    yield "statistics-week", page
    if stage.on_phone:
        page.set_viewport_size({"width": 320, "height": 568})
        yield "statistics-small", page
    german = stage.page(evening.room.path, person=evening.ana, server=server, language="de-DE")
    german.locator("[data-pane] li.row").first.wait_for()
    german.locator("header button[aria-haspopup]").last.click()
    dialog(german).get_by_role("button", name="Statistik").click()
    dialog(german).locator("[aria-busy=false]").wait_for()
    yield "german-statistics", german
    place = {"latitude": 41.1405, "longitude": -8.6110}
    near = stage.page("/nearby", server=server, permissions=["geolocation"], geolocation=place)
    near.get_by_role("button", name=re.compile("where I am", re.I)).click()
    near.locator(".trending .ranked-song").first.wait_for()
    near.locator(".trending").scroll_into_view_if_needed()
    yield "nearby-played", near


@narrow_scene
def statistics_of_nothing(stage):
    page = stage.dj(stage.party(parties.empty, name="An empty room"))
    statistics(page).get_by_text("Quiet so far").wait_for()
    yield "statistics-empty", page
    silent = stage.new_server("--no-statistics")
    page = stage.dj(stage.party(parties.empty, name="Not counted", server=silent), server=silent)
    page.watch.expect("status of 404")
    statistics(page).get_by_text("This server counts nothing.").wait_for()
    yield "statistics-off", page
    page = stage.guest(stage.party())
    page.route(re.compile("/v1/rooms/.*/statistics"), lambda route: None)
    statistics(page).get_by_role("status").get_by_text("Counting").wait_for()
    yield "statistics-counting", page
    wire = stage.wire()
    page = stage.guest(stage.party(), server=wire)
    page.watch.expect(LOST)
    statistics(page).locator("[aria-busy=false]").wait_for()
    steps.is_prepared(page)
    wire.go_down()
    page.get_by_text("No connection. What you see is of").wait_for()
    yield "statistics-off-line", page


# Nearby.


@narrow_scene
def nearby(stage):
    stage.party(parties.neighbourhood)
    place = {"latitude": 41.1405, "longitude": -8.6110}
    page = stage.page("/nearby", permissions=["geolocation"], geolocation=place)
    use = page.get_by_role("button", name=re.compile("Use where I am|where I am", re.I))
    use.click(trial=True)
    yield "nearby", page
    use.click()
    page.locator(".nearby-list").get_by_text("Garden at Foz").wait_for()
    page.get_by_text("A song is named here once").wait_for()
    yield "nearby-found", page
    far = stage.page("/nearby", permissions=["geolocation"], geolocation={"latitude": -54.8, "longitude": 3.4})
    far.get_by_role("button", name=re.compile("where I am", re.I)).click()
    far.locator(".nearby-nobody").wait_for()
    yield "nearby-nobody", far
    ended = stage.page("/nearby", permissions=["geolocation"], geolocation=place)
    steps.end_nearby_once(ended)
    ended.get_by_role("button", name=re.compile("where I am", re.I)).click()
    ended.get_by_role("button", name="Start again").wait_for()
    yield "nearby-signed-out", ended
    refused = stage.page("/nearby", permissions=[])
    session = refused.context.new_cdp_session(refused)
    session.send("Browser.setPermission", {
        "permission": {"name": "geolocation"}, "setting": "denied", "origin": refused.watch.origin})
    refused.get_by_role("button", name=re.compile("where I am", re.I)).click()
    refused.get_by_text("Enter a code instead.").wait_for()
    yield "nearby-refused", refused


# The link.


LOST = browsers.LOST


@narrow_scene
def a_lost_link(stage):
    wire = stage.wire()
    party = stage.party()
    page = stage.guest(party, server=wire, has_clock=True)
    mina = stage.dj(party, server=wire, has_clock=True)
    for one in page, mina:
        one.watch.expect(LOST)
        steps.on_air(one, "Maré Alta")
        steps.is_prepared(one)
    wire.go_down()
    page.get_by_text("Reconnecting…").wait_for()
    yield "reconnecting", page
    for name, one in ("no-connection", page), ("no-connection-dj", mina):
        one.clock.fast_forward(10_000)
        one.get_by_text(re.compile("No connection. Trying again")).wait_for()
        yield name, one


#: From now on, no socket comes about.
NO_SOCKETS = """() => {
    window.WebSocket = class {
        constructor() { setTimeout(() => this.onclose?.({code: 1006})); }
        close() {}
    };
}"""


@narrow_scene
def sockets_that_are_refused(stage):
    wire = stage.wire()
    page = stage.guest(stage.party(), server=wire, has_clock=True)
    page.watch.expect(LOST)
    steps.on_air(page, "Maré Alta")
    steps.is_prepared(page)
    page.evaluate(NO_SOCKETS)
    wire.cut()
    told = page.get_by_text("The server answers, but no lasting connection")
    backline.eventually(lambda: page.clock.fast_forward(5000) or told.is_visible(), "the page says what to do")
    yield "sockets-refused", page


@narrow_scene
def ends_of_a_link(stage):
    party = stage.party()
    page = stage.guest(party, "Ana")
    page.watch.expect("status of 401|response code: 401")
    steps.on_air(page, "Maré Alta")
    party.line.request(party.guests["Ana"].token, "DELETE", "/v1/session")
    page.get_by_text("You have been signed out.").wait_for()
    yield "signed-out", page
    for name, fields in ("banned-for-an-hour", {"durationMs": 3_600_000, "reason": "Kept shouting the names of other songs"}), ("banned-for-good", {}):
        page = stage.guest(party, name)
        page.watch.expect("status of 403|response code: 403")
        steps.on_air(page, "Maré Alta")
        party.tell("Mina", "kick", member=party.members[name], ban=True, **fields)
        page.get_by_text("You cannot enter this room.").wait_for()
        yield name, page
    for name, keeps, text in ("no-cookies", False, "keeps no cookies"), ("cookie-lost", True, "does not recognise"):
        page = stage.page("/nearby")
        page.watch.expect("status of 401|response code: 401|HTTP Authentication failed")
        steps.take_cookies(page, keeps)
        page.goto(party.path)
        page.get_by_text(text).wait_for()
        yield name, page
    page = stage.page("/nearby")
    page.watch.expect("status of 40[13]|response code: 40[13]|HTTP Authentication failed")
    steps.be_unknown(page)
    page.goto(party.path)
    page.get_by_text("does not know this address").wait_for()
    yield "foreign", page
    page = stage.page("/r/ZZZZZZ")
    page.watch.expect("status of 404|response code: 404")
    page.get_by_role("button", name="Start a room").wait_for()
    yield "no-room", page


@narrow_scene
def another_role(stage):
    party = stage.party()
    page = stage.guest(party, "Ana")
    steps.on_air(page, "Maré Alta")
    party.tell("Mina", "setRole", member=party.members["Ana"], role="dj")
    page.locator(".toast", has_text="You are a DJ now").wait_for()
    yield "made-dj", page


@narrow_scene
def removed_from_a_room(stage):
    party = stage.party()
    page = stage.guest(party, "Ana")
    steps.on_air(page, "Maré Alta")
    party.tell("Mina", "kick", member=party.members["Ana"], reason="Wrong room?")
    page.get_by_label("Your name").or_(page.get_by_text(re.compile("removed"))).first.wait_for()
    yield "removed", page


@narrow_scene
def a_closed_room(stage):
    party = stage.party()
    page = stage.guest(party)
    mina = stage.dj(party)
    party.tell("Mina", "closeRoom", reason="It is late")
    page.get_by_text("This room is closed.").first.wait_for()
    yield "closed", page
    mina.get_by_text("This room is closed.").first.wait_for()
    yield "closed-dj", mina
    party.tell("Mina", "closeRoom", forget=True)
    steps.open_menu(page, re.compile("^People"))
    dialog(page).get_by_text("-", exact=True).first.wait_for()
    yield "forgotten-people", page


# The deck.


def take_deck(party, on=True):
    """Has another device of Mina's say that it is the deck, or not any more."""
    party.sockets[0].send({"type": "deck", "room": party.id, "on": on})


def note(page, text):
    """What the deck needs, where it says so."""
    return page.locator(".device-note", has_text=text)


@narrow_scene
def which_device_plays(stage):
    party = stage.party()
    page = stage.dj(party)
    page.get_by_role("button", name="Play on this device").wait_for()
    yield "play-here", page
    page.locator(".silence", has_text="Nobody hears this").wait_for()
    yield "nobody-hears", page
    rui = stage.page(party.path, person=party.guests["Rui"])
    steps.on_air(rui, "Maré Alta")
    take_deck(party)
    page.get_by_text("Your other device is playing.").wait_for()
    rui.get_by_text("Mina’s device is playing.").wait_for()
    rui.get_by_role("button", name="Take over?").wait_for()
    yield "play-here-take-over", rui
    take_deck(party, on=False)
    rui.get_by_text("Mina’s device has lost its connection.").wait_for()
    yield "play-here-lost-connection", rui


@scene
def the_deck(stage):
    party = stage.party()
    page = stage.dj(party)
    steps.on_air(page, "Maré Alta")
    steps.pretend_deck(page, away=["Golden Machines", "Distant Avenue", "Bright Fever"], waiting=1200)
    page.get_by_text("Playing on this device").wait_for()
    steps.pane(page, "queue")
    yield "deck", page
    page.locator("a.logo").click()
    dialog(page).get_by_text("The music stops").wait_for()
    yield "deck-leave", page
    close_dialog(page)
    steps.pretend_deck(page, missing="Maré Alta", skipInMs=12_000)
    page.get_by_role("button", name="Find the file").wait_for()
    yield "deck-missing", page
    steps.pretend_deck(page, missing="Maré Alta", skipInMs=12_000, unplayable=["Maré Alta"])
    page.get_by_role("button", name="Choose another file").wait_for()
    yield "deck-unplayable", page
    steps.pretend_deck(page, next="Salt Horizon")
    note(page, "Next:").wait_for()
    yield "deck-next-missing", page
    steps.pretend_deck(page, next="Salt Horizon", unplayable=["Salt Horizon"])
    note(page, "cannot be played").wait_for()
    yield "deck-next-unplayable", page
    steps.pretend_deck(page, lacksFiles=True)
    page.locator(".silence", has_text="Choose them, and").wait_for()
    yield "deck-no-files", page
    steps.pretend_deck(page, lacksFiles=True, state={"keeps": False})
    page.locator(".silence", has_text="only until this page is closed").wait_for()
    yield "deck-no-files-kept", page
    steps.pretend_deck(page, lacksFiles=True, promisesMusic=False)
    page.locator(".silence", has_text="Choose them so that they can be played").wait_for()
    yield "deck-no-files-yet", page
    steps.pretend_deck(page, lack={"isBare": False, "lost": 12, "unkept": 0})
    page.locator(".silence", has_text="for 12 of your songs").wait_for()
    yield "deck-lost-files", page
    steps.pretend_deck(page, lack={"isBare": False, "lost": 0, "unkept": 12})
    note(page, "of 12 songs only until").wait_for()
    yield "deck-unkept", page
    steps.pretend_deck(page, phase="lost", lostTo=party.members["Ines"])
    note(page, "Ines’s device plays now.").wait_for()
    yield "deck-lost", page


@narrow_scene
def what_a_deck_needs_and_adding_files(stage):
    party = stage.party()
    page = stage.dj(party)
    steps.on_air(page, "Maré Alta")
    for name, fields, text in (
            ("gesture", {"phase": "starting", "wants": "gesture"}, "The browser waits for a tap."),
            ("permission", {"phase": "starting", "wants": "permission"}, "The browser wants your word again"),
            ("paused", {"pausedBySystem": True}, "Paused by this device"),
            ("other-tab", {"phase": "off", "otherTab": True}, "in another tab of this browser")):
        steps.pretend_deck(page, **fields)
        note(page, text).wait_for()
        yield f"deck-{name}", page
    steps.pretend_deck(page, waiting=12)
    page.get_by_role("button", name="Playing on this device").click()
    dialog(page)
    yield "deck-panel", page
    close_dialog(page)
    steps.pretend_deck(page, canSetVolume=False, state={"keeps": False})
    page.get_by_role("button", name="Playing on this device").click()
    dialog(page).get_by_text("no page set its volume").wait_for()
    yield "deck-panel-fixed-volume", page
    close_dialog(page)
    steps.pretend_deck(page)
    steps.pane(page, "pool").get_by_role("button", name="Add music").click()
    files = dialog(page).get_by_role("button", name="Choose files")
    expect(files).to_be_enabled()
    yield "add-files", page
    close_dialog(page)
    steps.pretend_deck(page, state={"keeps": False})
    steps.pane(page, "pool").get_by_role("button", name="Add music").click()
    dialog(page).get_by_text("only until this page is closed").wait_for()
    yield "add-files-not-kept", page
    close_dialog(page)
    steps.pretend_deck(page)
    steps.pane(page, "pool").get_by_role("button", name="Add music").click()
    expect(files).to_be_enabled()
    files.click()
    page.get_by_text("128 of 500 read").wait_for()
    yield "add-files-reading", page
    steps.finish_reading(page)
    page.get_by_text(re.compile("^486 added")).wait_for()
    yield "added-files", page


@narrow_scene
def a_deck_off_line(stage):
    wire = stage.wire()
    party = stage.party()
    page = stage.dj(party, server=wire)
    page.watch.expect(LOST)
    steps.on_air(page, "Maré Alta")
    steps.pretend_deck(page)
    steps.is_prepared(page)
    wire.go_down()
    bar = page.locator(".link-bar", has_text="The music goes on here")
    bar.wait_for()
    steps.pretend_deck(page, leading=True)
    yield "deck-off-line", page
    wire.come_up()
    steps.connect_now(page)
    bar.wait_for(state="detached")
    steps.pretend_deck(page)
    page.locator(".toast", has_text="The room knows what was played.").wait_for()
    yield "deck-back", page


# Hard content.


@narrow_scene
def hostile_content(stage):
    party = stage.party(parties.hostile)
    page = stage.page(party.path)
    page.get_by_label("Your name").wait_for()
    yield "hostile-join", page
    page = stage.guest(party, "<b>Ana</b>")
    steps.on_air(page, parties.HOSTILE_TITLES[0])
    yield "hostile", page
    if stage.on_phone:
        for kind in "queue", "pool":
            steps.pane(page, kind).locator("li.row").first.wait_for()
            yield f"hostile-{kind}", page
    mina = stage.dj(party)
    steps.on_air(mina, parties.HOSTILE_TITLES[0])
    yield "hostile-dj", mina
    for item in "People", "History", "Statistics", "Share":
        steps.open_menu(mina, re.compile(f"^{item}"))
        if item == "Statistics":
            dialog(mina).locator(".statistics[aria-busy=false]").wait_for()
        dialog(mina)
        yield f"hostile-{item.lower()}", mina
        close_dialog(mina)


@scene
def ten_thousand_tracks(stage):
    party = stage.party(parties.large)
    page = stage.guest(party)
    pool = steps.pane(page, "pool")
    pool.locator("li.row").first.wait_for()
    yield "large", page
    steps.scroll(page, "pool", 0.5)
    expect(pool.locator("li.row .title").filter(has_text=re.compile("^[G-P]")).first).to_be_visible()
    yield "large-scrolled", page
    steps.find(page, "golden fever 3")
    expect(pool.get_by_text("Golden Fever 3", exact=False).first).to_be_visible()
    yield "large-search", page


@narrow_scene
def in_german(stage):
    party = stage.party()
    page = stage.page("/", language="de-DE")
    page.locator("html[lang=de]").wait_for()
    yield "german-home", page
    page = stage.page(party.path, language="de-DE")
    page.locator("html[lang=de] form input").first.wait_for()
    yield "german-join", page
    page = stage.page(party.path, person=party.mina, language="de-DE")
    page.locator("[data-pane] li.row").first.wait_for()
    yield "german-dj", page
    page.locator("header button[aria-haspopup]").last.click()
    dialog(page)
    yield "german-menu", page


def run(stage, scenes, show):
    """Plays scenes; calls `show(name, page)` for each state. A scene that fails is told with its name."""
    failures = []
    for one in scenes:
        began = time.monotonic()
        try:
            for name, page in one(stage):
                show(name, page)
        except Exception as failure:  # The other scenes are of use all the same.
            failures.append((one.__name__, failure))
            print(f"{one.__name__} failed: {' '.join(str(failure).split())[:300]}", flush=True)
        finally:
            stage.clear()
        print(f"{one.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    return failures
