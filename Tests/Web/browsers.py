"""Chromium as Debian ships it, and a watch on everything that no page may do.

Playwright's synchronous interface: events arrive while a call is under way. Wait with selectors: the page forbids
`eval`, which other conditions need.
"""

import contextlib
import dataclasses
import functools
import json
import os
import re
import shutil

import axe_playwright_python
import playwright.sync_api
import pytest

import interop_chromium

PATIENCE = 90_000
"""Milliseconds after which something that a page should show counts as not happening, on whatever machine."""

playwright.sync_api.expect.set_options(timeout=PATIENCE)

FLAGS = [
    # No request leaves this machine.
    "--host-resolver-rules=MAP party.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    # /dev/shm is small in a container.
    "--disable-dev-shm-usage",
]

LOST = (r"WebSocket connection to '.*' failed|net::ERR_(CONNECTION_|EMPTY_RESPONSE|NETWORK_CHANGED|SOCKET_NOT_CONNECTED)"
        # A file of the page, which is asked for through the service worker, fails by this, on the console and as a request.
        r"|net::ERR_FAILED \(https://[^ /]+/assets/|/assets/[^ ]+: net::ERR_FAILED"
        "|An unknown error occurred when fetching the script")
"""What the browser itself writes to the console while no server answers."""

REPORTS = """addEventListener('securitypolicyviolation', report => console.error(
    `policy: ${report.violatedDirective} ${report.blockedURI} ${report.sample} at ${report.sourceFile}`));"""


@dataclasses.dataclass(frozen=True)
class Device:
    """What a person holds. Sizes are in CSS pixels."""

    name: str
    width: int
    height: int
    scale: int
    touch: bool


PHONE = Device("phone", 390, 844, 2, True)
LAPTOP = Device("laptop", 1280, 800, 1, False)
DEVICES = (PHONE, LAPTOP)


def in_the_gate_on(first):
    """Parameters for a test of what is the same on each device: the gate runs it on one of DEVICES."""
    return [pytest.param(device, id=device.name, marks=[] if device is first else [pytest.mark.soak("the same on another device")])
            for device in DEVICES]


class Watch:
    """Collects what no page may do: write to the console, fail, break its policy, ask another origin."""

    def __init__(self, origin):
        self.origin = origin
        self.found = []
        self.requests = []
        self.sockets = []
        self._expected = []

    def attach(self, context):
        context.add_init_script(REPORTS)
        context.on("console", lambda message: self._add(
            f"console {message.type}: {message.text} ({message.location.get('url')})"))
        context.on("weberror", lambda error: self._add(f"error: {error.error}"))
        context.on("request", self._requested)
        context.on("requestfailed", self._failed)
        context.on("page", lambda page: page.on("websocket", self._opened))
        context.on("serviceworker", self._worker)

    def expect(self, pattern):
        """Allows what a regular expression finds, such as the browser's own line about a lost connection."""
        self._expected.append(pattern)

    def check(self):
        """Fails if there is anything that was not expected."""
        unexpected = [line for line in self.found if not any(re.search(one, line) for one in self._expected)]
        assert not unexpected, "the page did what it must not:\n" + "\n".join(unexpected[:20])

    def _add(self, line):
        self.found.append(line)

    def _worker(self, worker):
        with contextlib.suppress(Exception):
            worker.on("console", lambda message: self._add(f"worker's console {message.type}: {message.text}"))

    def _failed(self, request):
        # Going elsewhere ends what a page is asking for.
        if request.failure != "net::ERR_ABORTED":
            self._add(f"failed: {request.url}: {request.failure}")

    def _requested(self, request):
        self.requests.append(request)
        if not request.url.startswith((f"{self.origin}/", "blob:", "data:")):
            self._add(f"foreign request: {request.url}")

    def _opened(self, socket):
        self.sockets.append(socket)
        if not socket.url.startswith(f"{self.origin.replace('https', 'wss')}/"):
            self._add(f"foreign socket: {socket.url}")


class Chromium:
    """One process of the browser, which trusts an authority. Each visit has a profile of its own.

    `shell` takes Debian's `chromium-headless-shell`: the engine without the browser's own windows.
    """

    def __init__(self, playwright, home, flags=(), shell=False):
        self.browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") if shell else interop_chromium.program(),
            headless=True, args=[*FLAGS, *flags],
            env={**os.environ, "HOME": home})

    def context(self, server, device=PHONE, scheme="dark", language="en-GB", host="localhost", **options):
        """A new profile, and its watch as `context.watch`. A language is a tag such as `de-DE`; a host one of HOSTS.

        A person with a laptop likes little motion unless a test says otherwise: motion takes a fifth of the work of a page
        that is open.
        """
        options.setdefault("reduced_motion", "no-preference" if device.touch else "reduce")
        options.setdefault("timezone_id", "Europe/Lisbon")
        made = self.browser.new_context(
            base_url=origin(server, host), viewport={"width": device.width, "height": device.height},
            device_scale_factor=device.scale, has_touch=device.touch, is_mobile=device.touch, color_scheme=scheme,
            locale=language, **options)
        made.set_default_timeout(PATIENCE)
        made.watch = Watch(origin(server, host))
        made.watch.attach(made)
        return made

    def close(self):
        self.browser.close()


HOSTS = ("localhost", "party.test")
"""Names of this machine: the one that each machine has for itself, and one as others in the network would have it."""


def origin(server, host="localhost"):
    """A server's address as the certificate and the pages have it."""
    return f"https://{host}:{server.port}"


def sign_in(context, person):
    """Makes a profile one that has been here before, as this person."""
    url = context.watch.origin
    context.add_cookies([{
        "name": "__Host-backline_session", "value": person.token, "url": url, "secure": True, "httpOnly": True,
        "sameSite": "Lax"}])
    context.add_init_script(
        f"""if (location.origin === {json.dumps(url)} && !localStorage.getItem('backline.session'))
            localStorage.setItem('backline.session',
                JSON.stringify({{id: {json.dumps(person.session)}, name: {json.dumps(person.name)}}}));""")


def token_of(context):
    """The token in a profile's cookie, which no script of a page can read."""
    return next(one["value"] for one in context.cookies() if one["name"] == "__Host-backline_session")


@contextlib.contextmanager
def _tracing(page):
    """Yields a list, which has the events of the browser's trace afterwards."""
    browser, events = page.context.browser, []
    browser.start_tracing(page=page, categories=[
        "devtools.timeline", "disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame"])
    try:
        yield events
    finally:
        events += json.loads(browser.stop_tracing())["traceEvents"]


@contextlib.contextmanager
def counting_frames(page):
    """Counts what the browser draws meanwhile: yields a dictionary, which has `draws` and `raster` afterwards."""
    counts = {}
    with _tracing(page) as events:
        yield counts
    names = [event["name"] for event in events if event["ph"] in "XIBi"]
    counts.update(draws=names.count("DrawFrame"), raster=names.count("RasterTask"))


@contextlib.contextmanager
def longest_task(page):
    """The longest task of a page meanwhile: yields a dictionary, which has `ms` afterwards.

    It is the processor's time, which what runs beside does not lengthen.
    """
    longest = {}
    with _tracing(page) as events:
        yield longest
    threads = {(event["pid"], event["tid"]) for event in events
               if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"}
    tasks = [event["tdur"] / 1000 for event in events
             if event["name"] == "RunTask" and (event["pid"], event["tid"]) in threads and "tdur" in event]
    longest["ms"] = max(tasks)


def work_of(page):
    """Tells for how many seconds the page's own thread has run: the processor's time, which others do not lengthen."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    return lambda: next(one["value"] for one in session.send("Performance.getMetrics")["metrics"] if one["name"] == "TaskDuration")


class Axe:
    """axe-core in a world of its own: it shares the page's document, and neither its scripts nor its policy."""

    def __init__(self, page):
        self.session = page.context.new_cdp_session(page)

    def violations(self, *rules):
        """The violations of some rules, else of all, as one line for each element."""
        frame = self.session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        # One of this name that is there is taken.
        world = self.session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "axe"})["executionContextId"]
        if self._run("typeof axe", world) == "undefined":
            self._run(axe_source() + ";0", world)
        only = f", runOnly: {json.dumps(rules)}" if rules else ""
        # It knows no top layer: to it, what has a level on the page below covers a dialog that has none, and the
        # contrast of covered texts is not looked at.
        return self._run(
            "document.querySelectorAll(':modal, :popover-open').forEach(one => { one.style.zIndex = 2147483647; });"
            # What is below a dialog was looked at without it.
            "axe.run([...document.querySelectorAll(':modal')].at(-1) ?? document, "
            f"{{resultTypes: ['violations'], preload: false{only}}})" """.then(result => result.violations.flatMap(
                rule => rule.nodes.map(node => `${rule.id} (${rule.impact}): ${node.html.slice(0, 200)}: ` +
                    node.failureSummary.replaceAll('\\n', ' '))))""", world)

    def _run(self, source, world):
        answer = self.session.send("Runtime.evaluate", {
            "expression": source, "contextId": world, "awaitPromise": True, "returnByValue": True})
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")


@functools.cache
def axe_source():
    with open(os.path.join(os.path.dirname(axe_playwright_python.__file__), "axe.min.js"), encoding="utf-8") as file:
        return file.read()


def show_theme(page, theme):
    """Has a page that follows the system change its theme, and waits until it has."""
    page.emulate_media(color_scheme=theme)
    page.locator(f"html[data-theme={theme}]").wait_for(state="attached")
    settle(page)


def settle(page):
    """Has what moves on a page arrive, but what rises for seconds and what never ends: to look at."""
    page.evaluate("""async () => {
        const frame = () => new Promise(requestAnimationFrame);
        for (await frame(), await frame(); ; await frame()) {
            // One that has finished and keeps its last state is still listed.
            const moving = document.getAnimations()
                .filter(one => one.playState !== 'finished' && one.effect.getComputedTiming().endTime < 2000);
            if (moving.length === 0) return;
            for (const one of moving) one.finish();
        }
    }""")


def faults(page):
    """What is wrong with what a page shows now: its layout, targets, what a translator would change, and what axe finds."""
    return layout_faults(page) + small_targets(page) + translatable(page) + Axe(page).violations()


def translatable(page):
    """Titles, names and codes of the room, or of rooms in lists, that a browser's translator would change."""
    return page.evaluate(FOREIGN)


FOREIGN = """async () => {
    const {app} = await import(document.querySelector('script[type=module]').src);
    const {room} = app.store, songs = room ? [...room.tracks.values(), ...room.history] : [];
    const words = new Set([location.host, room?.name, room?.code, ...songs.flatMap(song => [song.title, song.artist, song.album]),
        ...[...room?.members.values() ?? []].map(member => member.name)].filter(word => word?.trim().length > 2));
    for (const node of document.querySelectorAll('.room-card, .nearby-row')) {
        for (const part of node.querySelectorAll('.name, .title, .playing:not(.quiet)')) words.add(part.textContent);
        const dj = node.querySelector('.with, bdi.second')?.textContent.match(/^DJ:? (.+)/)?.[1];
        if (dj) words.add(dj);
    }
    const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT), found = [];
    while (texts.nextNode()) {
        const {data, parentElement} = texts.currentNode;
        if (!data.trim() || parentElement.closest('[translate=no], script, style, textarea')) continue;
        for (const word of words) {
            const at = data.indexOf(word), isLetter = letter => /[\\p{L}\\d]/u.test(letter ?? '');
            if (at >= 0 && !isLetter(data[at - 1]) && !isLetter(data[at + word.length])) {
                found.push(`may be translated: ${word} in <${parentElement.localName} class="${parentElement.className}">${data.slice(0, 60)}`);
            }
        }
    }
    return found;
}"""


def layout_faults(page):
    """What leaves the viewport or is cut off, as one line for each element. Names and titles may end with an ellipsis."""
    return page.evaluate(LAYOUT)


LAYOUT = """async () => {
    const from = document.querySelector('script[type=module]').src;
    // Screens may be put in German after they were made. Without a network it may not be here.
    const {t} = document.documentElement.lang === 'de'
        ? await import(new URL('text/de.js', from).href).then(({de}) => ({t: de}), () => ({t: {}})) : await import(new URL('text/en.js', from).href);
    const texts = tree => Object.values(tree).flatMap(one => typeof one === 'string' ? [one] : typeof one === 'object' ? texts(one) : []);
    const own = new Set(texts(t));
    // Sentences with numbers, and no names, in them.
    const forms = tree => Object.values(tree).flatMap(one => typeof one === 'function' ? form(one) : typeof one === 'object' ? forms(one) : []);
    const form = make => {
        let text;
        try { text = make('\\x01', '\\x01', '\\x01'); } catch { return []; }
        if (typeof text !== 'string' || !text.includes('\\x01')) return [];
        return [new RegExp('^' + text.replace(/[.*+?^${}()|[\\]\\\\]/g, '\\\\$&').replaceAll('\\x01', '[0-9.,]+') + '$')];
    };
    const counted = forms(t);
    const isOwn = text => own.has(text) || counted.some(one => one.test(text));
    const found = [], wide = document.documentElement.clientWidth;
    const shown = node => node.checkVisibility({checkOpacity: true, checkVisibilityCSS: true});
    const name = node => node.tagName.toLowerCase() + (node.id ? '#' + node.id : '') +
        [...node.classList].map(one => '.' + one).join('') + ' ' + JSON.stringify(node.textContent.slice(0, 40));
    if (document.scrollingElement.scrollWidth > wide) found.push(`the page is ${document.scrollingElement.scrollWidth} wide`);
    const clips = (node, last = document.body) => {
        for (let one = node.parentElement; one && one !== last; one = one.parentElement) {
            const style = getComputedStyle(one);
            if (style.overflowX !== 'visible' || style.contain.includes('paint')) return true;
        }
        return false;
    };
    // A small part of a pixel is enough for an ellipsis.
    const isEllipsed = node => {
        const style = getComputedStyle(node), range = document.createRange();
        if (style.textOverflow !== 'ellipsis' || style.whiteSpace !== 'nowrap') return false;
        range.selectNodeContents(node);
        const within = ['paddingLeft', 'paddingRight', 'borderLeftWidth', 'borderRightWidth'].reduce(
            (width, one) => width - parseFloat(style[one]), node.getBoundingClientRect().width);
        return range.getBoundingClientRect().width > within + .01;
    };
    for (const node of document.body.querySelectorAll('*')) {
        if (!shown(node) || node.closest('svg, [aria-hidden=true]')) continue;
        const box = node.getBoundingClientRect(), style = getComputedStyle(node);
        if (box.width <= 1 || box.height <= 1) continue;
        if ((box.right > wide + 1 || box.left < -1) && !clips(node)) found.push(`outside (${Math.round(box.left)} to ${Math.round(box.right)}): ${name(node)}`);
        const text = [...node.childNodes].some(one => one.nodeType === Node.TEXT_NODE && one.data.trim());
        if (text && (node.scrollWidth > node.clientWidth + 1 || isOwn(node.textContent) && isEllipsed(node)) && style.overflowX !== 'visible' && style.overflowX !== 'auto'
            && style.overflowX !== 'scroll' && (style.textOverflow !== 'ellipsis' || isOwn(node.textContent)) && node.clientWidth > 1
            && !['INPUT', 'TEXTAREA', 'SELECT'].includes(node.tagName)) found.push(`cut off: ${name(node)}`);
        const row = node.closest('li'), over = text && row && document.elementFromPoint(box.right - 1, box.y + box.height / 2)?.closest('button');
        if (over && over !== node && row.contains(over) && !over.contains(node) && !clips(node, row)) found.push(`below a button: ${name(node)}`);
    }
    return found;
}"""


def small_targets(page):
    """Controls that are less than 44 pixels wide or high, as one line for each."""
    return page.evaluate("""() => {
        const found = [];
        for (const node of document.querySelectorAll('button, a[href], input, select, textarea, summary, [role=tab], [role=slider]')) {
            if (!node.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) || node.closest('[inert]')) continue;
            const area = node.matches('input[type=checkbox], input[type=radio], input[type=file]') && node.closest('label') || node;
            const box = area.getBoundingClientRect();
            if (box.width <= 1 || box.height <= 1) continue;
            // What catches a tap may be larger than what is seen.
            const x = box.x + box.width / 2, y = box.y + box.height / 2;
            const catches = (dx, dy) => {
                const hit = document.elementFromPoint(x + dx, y + dy);
                return hit && (area.contains(hit) || hit.contains(area) && hit.matches('button, a, label'));
            };
            if (!catches(0, 0)) continue;
            const wide = box.width >= 43.5 || catches(-21, 0) && catches(21, 0);
            const high = box.height >= 43.5 || catches(0, -21) && catches(0, 21);
            if (!wide || !high) found.push(
                `${Math.round(box.width)}×${Math.round(box.height)}: ${node.outerHTML.slice(0, 120)}`);
        }
        return found;
    }""")
