"""People with one name: who is meant, wherever a name is shown."""

import re

from playwright.sync_api import expect

import backline
import parties
import steps


def test_people_with_one_name_are_told_apart_wherever_they_are_named(visit, party, house):
    room = party(parties.rooftop, house)
    _, second = (room.admit(room.line.session("Ana")) for _ in range(2))
    one, other = (member["member"] for member in room.state()["members"] if member["name"] == "Ana")
    mark = lambda number: re.compile(rf"Ana\W*\({number}\)")
    room.tell("Mina", "setRole", member=other, role="dj")
    room.tell(second, "enqueue", track=room.ids["Salt Horizon"])
    stranger, mina = visit(house, room.path), visit(house, room.path, person=room.mina)
    stranger.get_by_label("Your name").fill("ana")
    expect(stranger.locator("#join-taken")).to_contain_text("Somebody here has this name")
    stranger.get_by_label("Your name").fill("Ana Maria")
    expect(stranger.locator("#join-taken")).to_be_hidden()
    stranger.get_by_role("button", name="Look around first").click()
    # All viewers see the same numbers.
    for page in stranger, mina:
        expect(steps.pane(page, "queue").locator(".by", has_text="Ana")).to_have_text(mark(other))
    mina.get_by_role("button", name=re.compile("Show people$")).click()
    people = mina.locator("dialog[open] li.person")
    expect(people.filter(has_text="Ana")).to_have_text([mark(other), mark(one)])
    people.filter(has_text=mark(one)).get_by_role("button", name=mark(one)).click()
    expect(mina.locator("dialog[open]").last.get_by_role("heading").first).to_have_text(mark(one))
    mina.get_by_role("button", name=re.compile("^Ban")).first.click()
    expect(mina.locator("dialog[open]").last.get_by_role("heading").first).to_have_text(mark(one))
    mina.locator("dialog[open] form button[type=submit]").click()
    expect(mina.locator("dialog[open] .dialog-notice").last).to_contain_text(mark(one))
    backline.eventually(lambda: [member["member"] for member in room.state()["members"] if member["name"] == "Ana"] == [other],
                        "the one who was meant is gone")
    expect(people.filter(has_text="Ana").locator(".title")).to_have_text(["Ana"])
    # Who is banned is told apart from who is in the room.
    mina.locator("dialog[open] label", has_text="Banned").click()
    expect(mina.locator("dialog[open] li.ban .title")).to_have_text(mark(one))
    expect(mina.locator("dialog[open] li.ban button")).to_have_attribute("aria-label", mark(one))
