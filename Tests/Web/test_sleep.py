"""A phone that sleeps: its page stands still, and its packets are lost without a close."""

import contextlib
import os
import signal
import time

import pytest
from playwright.sync_api import expect

import backline
import browsers
import parties
import steps
import wires

#: The server takes a socket for lost after this long, instead of a minute, so that a sleep of seconds is like one of
#: ten minutes: longer than the server waits, and than the page would.
OPTIONS = ("--ping-interval-seconds", "1", "--silence-limit-seconds", "5")

ASLEEP = float(os.environ.get("BACKLINE_SLEEP_SECONDS", "0"))
"""Seconds of sleep, at least until the server has given the socket up. 600 are ten minutes, with the server's own limits."""

#: A page that calls `holdTimers` waits for nothing from then on: its timers begin when `releaseTimers` is called.
TIMERS = """(() => {
    const {setTimeout, clearTimeout} = window, held = new Map();
    let holds = false, last = 0;
    window.setTimeout = (work, ms = 0, ...given) => {
        if (!holds || ms <= 0) return setTimeout(work, ms, ...given);
        held.set(--last, [work, ms, ...given]);
        return last;
    };
    window.clearTimeout = id => held.delete(id) || clearTimeout(id);
    window.holdTimers = () => { holds = true; };
    window.releaseTimers = () => {
        holds = false;
        for (const [id, one] of held) if (held.delete(id)) setTimeout(...one);
    };
})()"""


@pytest.fixture
def phone(playwright_driver, authority):
    """A browser of its own, whose pages can be stopped."""
    with contextlib.closing(browsers.Chromium(playwright_driver, authority.home())) as made:
        yield made


@contextlib.contextmanager
def standing_still(browser):
    """Stops the processes that run pages, which then do nothing at all: no timer, no task, no answer."""
    session = browser.browser.new_browser_cdp_session()
    processes = [one["id"] for one in session.send("SystemInfo.getProcessInfo")["processInfo"] if one["type"] == "renderer"]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


@pytest.mark.soak("sleeps for longer than the silence limit")
def test_a_page_that_slept_is_right_within_a_second(visit, party, servers, phone):
    server = servers(*(OPTIONS if ASLEEP < 120 else ())).start()
    room = party(parties.rooftop, server)
    with wires.Wire(server) as wire:
        page = visit(wire, browser=phone)
        page.add_init_script(TIMERS)
        page.goto(room.path)
        steps.join(page, "Ana")
        steps.on_air(page, "Maré Alta")
        page.wait_for_load_state("networkidle")
        ana = next(one["member"] for one in room.state()["members"] if one["name"] == "Ana")

        def is_there():
            return ana in room.mina.room(room.id)["room"]["presence"]["members"]

        backline.eventually(is_there, "Ana is there")
        sockets = len(page.watch.sockets)
        work = browsers.work_of(page)
        worked = work()
        with standing_still(phone):
            wire.fall_silent()
            began = time.monotonic()
            # The server gives the socket up; the phone hears nothing of it.
            backline.eventually(lambda: not is_there(), "the server has given the socket up", timeout=90)
            backline.eventually(
                lambda: time.monotonic() - began >= ASLEEP, "the phone has slept", timeout=ASLEEP + 60)
            room.tell("Mina", "skip")
            room.vote("Second Parade", "Ines", "Rui")
            room.tell("Ines", "rename", name="Inês")
            opened = wire.accepted
        # A browser tells a page that is seen again. This one takes a page that is driven for seen all the time, so the
        # test tells it. What happens within a second waits for no timer, however long a busy machine takes for it.
        page.evaluate("() => { holdTimers(); document.dispatchEvent(new Event('visibilitychange')); }")
        expect(page.locator(".deck .song")).to_have_text("Salt Horizon")
        took = work() - worked
        print(f"the page worked for {took:.3f} s")
        page.evaluate("releaseTimers()")
        steps.expect_equal_to_server(page, room.mina, room.id)
        # What the network said is told here before the answer.
        page.evaluate("0")
        assert took <= 1, f"{took:.2f} s"
        assert len(page.watch.sockets) - sockets == 1
        assert wire.accepted - opened >= 1
        page.watch.expect(browsers.LOST)
