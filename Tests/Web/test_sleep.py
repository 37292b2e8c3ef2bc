"""A phone that sleeps: its page stands still, and its packets are lost without a close."""

import os

from playwright.sync_api import expect

import backline
import parties
import steps
import wires

#: The server takes a socket for lost after this long, instead of a minute, so that a sleep of seconds is like one of
#: ten minutes: longer than all that the server and the page wait for.
OPTIONS = ("--ping-interval-seconds", "1", "--silence-limit-seconds", "2")

ASLEEP = float(os.environ.get("BACKLINE_SLEEP_SECONDS", "6"))
"""Seconds of sleep; 600 for the ten minutes of a real phone, with the server's own limits."""


def test_a_page_that_slept_is_right_within_a_second(visit, party, servers):
    server = servers(*(OPTIONS if ASLEEP < 120 else ())).start()
    room = party(parties.rooftop, server, present=False)
    with wires.Wire(server) as wire:
        page = visit(wire, room.path)
        steps.join(page, "Ana")
        steps.on_air(page, "Maré Alta")
        page.wait_for_load_state("networkidle")
        session = page.context.new_cdp_session(page)
        ana = next(one["member"] for one in room.state()["members"] if one["name"] == "Ana")

        def is_there():
            return ana in room.line.request(
                room.mina.token, "GET", f"/v1/rooms/{room.id}")["room"]["presence"]["members"]

        backline.eventually(is_there, "Ana is there")
        session.send("Page.setWebLifecycleState", {"state": "frozen"})
        wire.fall_silent()
        began = backline.time.monotonic()
        # The server gives the socket up; the phone hears nothing of it.
        backline.eventually(lambda: not is_there(), "the server has given the socket up", timeout=90)
        backline.eventually(
            lambda: backline.time.monotonic() - began >= ASLEEP, "the phone has slept", timeout=ASLEEP + 5)
        room.tell("Mina", "skip")
        room.vote("Golden Machines", "Ines", "Rui")
        room.tell("Ines", "rename", name="Inês")
        opened = wire.accepted
        sockets = len(page.watch.sockets)
        session.send("Page.setWebLifecycleState", {"state": "active"})
        woken = backline.time.monotonic()
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
        expect(page.get_by_role("heading", name="Salt Horizon")).to_be_visible(timeout=5_000)
        took = backline.time.monotonic() - woken
        steps.expect_equal_to_server(page, room.mina, room.id)
        page.evaluate("0")
        assert took <= 1 + 0.5, f"{took:.2f} s"
        assert len(page.watch.sockets) - sockets == 1
        assert wire.accepted - opened == 1
