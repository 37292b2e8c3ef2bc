"""What people do on the page, by what they see of it: roles, names and texts."""

import json
import re

from playwright.sync_api import expect

import backline


def join(page, name=None):
    """Joins the room through the sheet: as `name`, else as the name that is there."""
    if name is not None:
        page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name=re.compile("^Join")).click()
    expect(page.get_by_label("Your name")).to_be_hidden()


def pane(page, kind):
    """The list `requests`, `queue` or `pool`, brought to the front where the lists are tabs."""
    tab = page.get_by_role("tab", name={"requests": "Asked for", "queue": "Up next", "pool": "All songs"}[kind])
    found = page.locator(f"section.pane[data-pane={kind}]")
    # The lists are there as soon as the room is.
    page.locator("section.pane:visible").first.wait_for()
    if tab.is_visible():
        tab.click()
    found.wait_for()
    return found


def row(page, kind, title):
    """A track's row in a list."""
    return pane(page, kind).locator("li.row").filter(has=page.get_by_text(title, exact=True))


def vote_button(page, kind, title):
    return row(page, kind, title).locator("[data-do=vote]")


def find(page, text):
    """Searches in all tracks."""
    box = pane(page, "pool").get_by_role("searchbox")
    box.fill(text)
    return box


def scroll(page, kind, to):
    """Scrolls a list, or the page that it scrolls with, to a part (0 … 1) of its length."""
    pane(page, kind).locator("track-list").evaluate("""(list, to) => {
        let node = list;
        while (node && !(/auto|scroll/.test(getComputedStyle(node).overflowY) && node.scrollHeight > node.clientHeight)) {
            node = node.parentElement;
        }
        node ??= document.scrollingElement;
        node.scrollTop = to * (node.scrollHeight - node.clientHeight);
    }""", to)


def expect_list(page, kind, titles):
    """Waits until a list shows these titles, in this order."""
    expect(pane(page, kind).locator("li.row .title")).to_have_text(titles)


SHEETS = """async () => {
    const {app} = await import(document.querySelector('script[type=module]').src);
    const isThere = name => document.querySelector(`.${name}`)?.hidden === false;
    return !app.store.room?.isDJ || isThere('transport') && isThere('device');
}"""


def is_prepared(page):
    """Waits until a page has loaded what tells that there is no connection: it does so once it has nothing else to do.

    On a DJ's page, what runs the deck has its styles as well.
    """
    def loaded():
        # Events arrive while a call is under way.
        page.evaluate("0")
        return next((one for one in page.watch.requests if one.url.endswith("/view/link.js")), None)

    backline.eventually(loaded, "the page is prepared").response().finished()
    backline.eventually(lambda: page.evaluate(SHEETS), "the deck has its styles")
    page.wait_for_load_state("networkidle")


def on_air(page, title):
    """Waits until a track is on air."""
    expect(page.locator(".deck .song")).to_have_text(title)


def waveform_of_680_pixels(page):
    """Makes a page so wide that the waveform has 680 pixels, and hides the clock, which is drawn each second."""
    for width in range(680, 900, 2):
        page.set_viewport_size({"width": width, "height": 900})
        if page.locator("wave-form").bounding_box()["width"] >= 680:
            break
    page.locator(".times").evaluate("node => node.style.setProperty('visibility', 'hidden')")


def open_menu(page, item=None):
    """Opens the room's menu, and an item of it."""
    page.get_by_role("button", name="Menu").click()
    if item:
        page.get_by_role("dialog").get_by_role("button", name=item).click()


def room_of(page):
    """The room as the page has it: `epoch`, `seq` and `state`, or None."""
    return json.loads(page.evaluate(
        """() => import(document.querySelector('script[type=module]').src).then(({app}) => {
            const {room} = app.store;
            return JSON.stringify(room && {epoch: room.epoch, seq: room.seq, state: room.toState()});
        })"""))


def expect_equal_to_server(page, person, room):
    """Waits until the page's room is the server's."""
    def equal():
        theirs = person.room(room)["room"]
        ours = room_of(page)
        return ours is not None and ours["seq"] == theirs["seq"] and (ours, theirs)

    ours, theirs = backline.eventually(equal, "the page is where the server is", 60)
    assert ours["epoch"] == theirs["epoch"]
    assert ours["state"] == theirs["state"]


def draw_again(page, parts=0xfff):
    """Has the page draw parts of the room again, as it does when somebody else changes them."""
    page.evaluate(
        """parts => import(document.querySelector('script[type=module]').src).then(({app}) => {
            app.store.touch(parts);
            return new Promise(done => app.store.frame(() => done()));
        })""", parts)


def settle(page):
    """Has a page settle at once, which else takes it ten seconds."""
    page.evaluate("import(document.querySelector('script[type=module]').src).then(({settle}) => settle())")


def keep_page(page):
    """Has a page settle and keep its room at once, and waits until its worker has what the page has loaded so far."""
    files = page.evaluate("""() => performance.getEntriesByType('resource').map(({name}) => name)
        .filter(name => new URL(name).pathname.startsWith('/assets/'))""")
    settle(page)
    # A page that is left keeps its room.
    page.evaluate("() => navigator.serviceWorker.ready.then(() => { dispatchEvent(new Event('pagehide')); })")
    kept = "async files => (await Promise.all(['/', ...files].map(name => caches.match(name)))).every(one => one !== undefined)"
    backline.eventually(lambda: page.evaluate(kept, files), "the worker has kept the page", 60)


def seen_again(page):
    """Tells a page that it is seen again."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def pretend_deck(page, away=(), unplayable=(), waiting=0, missing=None, skipInMs=None, next=None, state=None, **fields):
    """Has a page look like one whose device is the deck, in a state that is hard to cause.

    The library holds all songs but those of the titles `away`, and cannot play those of `unplayable`; `missing` and
    `next` are titles, and `state` is some of the library's. Choosing files reads 128 of 500, and waits for `finish_reading`. Other fields are those of `Device` in deck/device.js.
    """
    page.evaluate(
        """async wanted => {
            const {app} = await import(document.querySelector('script[type=module]').src);
            const {away, unplayable, waiting, missing, skipInMs, next, state, fields} = JSON.parse(wanted);
            const titled = title => app.store.room.pool.find(track => track.title === title);
            const song = number => ({sourceId: `song-${number}`, title: `Song ${number}`, artist: 'Zonda', durationMs: 200000});
            const library = {
                songs: new Map(), state: {count: 500, permission: 'granted', keeps: true, persisted: false, bytes: 0, ...state},
                find: track => away.includes(track.title) ? undefined : {sourceId: track.sourceId, kept: 'handle'},
                toTrack: song => ({source: 'local', ...song}), pick: async () => [1], fromDrop: () => [1], renew: async () => true,
                async add(items, {signal, progress}) {
                    progress({done: 128, total: 500, name: ''});
                    await new Promise(done => {
                        globalThis.finishReading = done;
                        signal.onabort = done;
                    });
                    if (signal.aborted) return {songs: [song(0)], skipped: [], cancelled: true};
                    const skipped = Array.from({length: 14}, (_, i) => ({name: [`cover-${i}.jpg`, 'Interlude 4 (unfinished take, do not use).wav',
                        'تسجيل.mp3'][i % 3], why: ['format', 'empty', 'unreadable'][i % 3]}));
                    library.state.bytes = 1;
                    return {songs: Array.from({length: 486}, (_, i) => song(i)), skipped, cancelled: false};
                },
            };
            const {Device} = await import(new URL('deck/device.js', document.querySelector('script[type=module]').src));
            app.playing = {
                library, analysis: {state: {waiting}}, phase: 'on', wants: null, pausedBySystem: false, leading: false, otherTab: false,
                picture: null, level: {gain: 1, lufs: null}, volume: 0.8, fadeMs: 4000, levelled: true, canSetVolume: true, lostTo: null,
                missing: missing && {track: titled(missing), skipAtMs: app.store.clock.now() + skipInMs},
                missingNext: next ? titled(next) : null, lacksFiles: false, promisesMusic: true, lack: {isBare: false, lost: 0, unkept: 0}, mayAct: true,
                act: command => app.store.send(command), ready: Promise.resolve(), goOn: async () => {}, start: async () => {},
                startWithFiles: async () => true, startOnceFound() {}, useTap: async () => {}, refill: async () => {}, stop: async () => {}, find: async () => {},
                songOf: number => library.find(app.store.room.tracks.get(number)),
                isUnplayable: number => unplayable.includes(app.store.room.tracks.get(number)?.title),
                canPlay: number => app.playing.songOf(number) !== undefined && !app.playing.isUnplayable(number), lengthOf: () => undefined, heard: {positionMs: 0, isHeard: true},
                now: () => Math.round(app.store.clock.now()), comeBack() {}, touch() {}, stepped() {}, showPicture() {},
                skipMissing() {}, dismiss() {}, close() {}, ...fields,
            };
            const lacks = Object.getOwnPropertyNames(Device.prototype).filter(name => !(name in app.playing));
            if (lacks.length > 0) throw new Error(`A pretended deck lacks what ${Device.name} has: ${lacks}`);
            app.device = async () => app.playing;
            app.store.touch(0xfff);
        }""", json.dumps({
            "away": list(away), "unplayable": list(unplayable), "waiting": waiting, "missing": missing,
            "skipInMs": skipInMs, "next": next, "state": state, "fields": fields}))


def connect_now(page):
    """Has a page that has no connection try to get one."""
    page.evaluate("() => import(document.querySelector('script[type=module]').src).then(({app}) => app.link.retryNow())")


def tell_event(page, event):
    """Has a page get an event about the song on air, as the next one of its room."""
    page.evaluate("""event => import(document.querySelector('script[type=module]').src).then(({app}) => {
        const {room, clock} = app.store, seq = room.seq + 1, at = Math.round(clock.now());
        const {entry, track, startedAt} = room.playback;
        app.store.receive({type: 'delta', room: room.id, from: seq, seq, events: [{seq, at, entry, track, startedAt, ...event}]});
    })""", event)


def expect_titles(party, titles):
    """Waits until these are a room's tracks."""
    backline.eventually(
        lambda: sorted(one["title"] for one in party.state()["pool"]) == sorted(titles), "the room has the tracks", 60)


def finish_reading(page):
    """Has the files that a pretended deck reads be read."""
    page.evaluate("finishReading()")


def end_nearby_once(page):
    """Has the next link to the rooms nearby be one whose session is over."""
    page.evaluate("""() => import(document.querySelector('script[type=module]').src).then(({app}) => {
        const {nearby} = app;
        app.nearby = (circle, onChange) => {
            app.nearby = nearby;
            onChange([], {state: 'ended', code: 'unauthorized'});
            return () => {};
        };
    })""")


def be_unknown(page):
    """From the next address on, the browser is a new visitor's, and the server takes no page for its own."""
    page.context.clear_cookies()
    page.evaluate("localStorage.clear()")
    page.route("**/v1/sessions", lambda route: route.fulfill(
        status=403, content_type="application/problem+json", body=json.dumps({"status": 403, "code": "forbidden"})))


def take_cookies(page, keeps=True):
    """From the next address on, the browser does not take the cookie of a new session while `takesCookies` is true, as
    where something between takes it away; unless it `keeps` cookies, scripts get none either."""
    page.add_init_script("""(() => {
        const {fetch} = window;
        window.takesCookies = true;
        window.fetch = (path, options) => fetch(path, path === '/v1/sessions' && takesCookies ? {...options, credentials: 'omit'} : options);
        if (%s) return;
        Object.defineProperty(document, 'cookie', {get: () => '', set: () => {}});
    })()""" % json.dumps(keeps))
