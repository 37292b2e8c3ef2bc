"""Mina's party, in two browsers and one client without a page."""

import re

from playwright.sync_api import expect

import backline
import browsers
import parties
import steps


class Story:
    """The party, with its pages and its client. What happens to the servers in the middle is up to the test."""

    def __init__(self, visit, second, server):
        self.visit, self.second, self.server = visit, second, server
        self.pages = {}

    def mina_opens_a_room(self):
        page = self.pages["Mina"] = self.visit(self.server, "/", device=browsers.LAPTOP)
        page.get_by_role("button", name="Start a room").or_(page.get_by_role("link", name="Start a room")).click()
        page.get_by_label("Name of the room").fill("Rooftop at Ribeira")
        page.get_by_label("Your name").fill("Mina")
        page.get_by_role("button", name="Start the room").click()
        page.wait_for_url(re.compile("/r/[0-9A-Z]{6}$"))
        self.path = page.url.removeprefix(browsers.origin(self.server))
        # The same person over HTTP, to compare with the server and to fill the room.
        self.mina = backline.Person(self.server, "", browsers.token_of(page.context), "Mina")
        self.room = self.mina.room(self.path.rpartition("/")[2])["room"]["state"]["id"]
        self.ids = {}
        tracks = parties.collection()
        added = self.mina.command(self.room, "addTracks", tracks=tracks)["result"]["tracks"]
        self.ids = {one["title"]: number for one, number in zip(tracks, added)}

    def mina_shares_the_code(self):
        page = self.pages["Mina"]
        page.get_by_role("button", name=re.compile("Share")).first.click()
        dialog = page.get_by_role("dialog")
        expect(dialog.get_by_text(self.path.rpartition("/")[2]).first).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()

    def guests_join(self):
        for name, browser in ("Ines", None), ("Rui", self.second):
            page = self.pages[name] = self.visit(self.server, self.path, browser=browser)
            steps.join(page, name)
        self.tome = self.server.session("Tomé")
        self.client = self.tome.socket(f"/v1/rooms/{self.room}/socket", follow=self.room)
        self.client.wait_for("snapshot")
        assert self.client.command(self.room, "join")["type"] == "ack"
        expect(self.pages["Mina"].get_by_role("button", name=re.compile("^4 here"))).to_be_visible()

    def they_search_vote_and_withdraw(self):
        ines, rui = self.pages["Ines"], self.pages["Rui"]
        steps.find(ines, "mare the")
        steps.vote_button(ines, "pool", "Maré Theory").click()
        expect(steps.vote_button(ines, "pool", "Maré Theory")).to_have_text("1")
        steps.find(rui, "MACHINES")
        steps.vote_button(rui, "pool", "Warm Machines").click()
        assert self.client.command(self.room, "vote", track=self.ids["Warm Machines"])["type"] == "ack"
        expect(steps.vote_button(self.pages["Mina"], "requests", "Warm Machines")).to_have_text("2")
        steps.vote_button(ines, "pool", "Maré Theory").click()
        expect(self.pages["Mina"].locator("[data-pane=requests] li.row")).to_have_count(1)
        steps.vote_button(rui, "requests", "Warm Machines").click()
        expect(steps.vote_button(self.pages["Mina"], "requests", "Warm Machines")).to_have_text("1")

    def mina_plays(self):
        page = self.pages["Mina"]
        for title in "Salt Horizon", "Slow Station", "Golden Machines", "Maré Alta":
            steps.find(page, title)
            steps.row(page, "pool", title).locator("[data-do=enqueue]").click()
            expect(page.locator("[data-pane=queue] li.row").filter(has_text=title)).to_be_visible()
        page.get_by_role("button", name="Play", exact=True).click()
        for one in self.pages.values():
            steps.on_air(one, "Salt Horizon")

    def mina_reorders(self):
        page = self.pages["Mina"]
        queue = page.locator("[data-pane=queue] li.row .title")
        expect(queue).to_have_text(["Slow Station", "Golden Machines", "Maré Alta"])
        source, target = queue.nth(2).bounding_box(), queue.nth(0).bounding_box()
        page.mouse.move(source["x"] + 20, source["y"] + 8)
        page.mouse.down()
        page.mouse.move(source["x"] + 20, source["y"] - 20, steps=4)
        page.mouse.move(target["x"] + 20, target["y"] - 6, steps=8)
        page.mouse.up()
        expect(queue).to_have_text(["Maré Alta", "Slow Station", "Golden Machines"])

    def mina_skips(self):
        self.pages["Mina"].get_by_role("button", name="Next song").click()
        for one in self.pages.values():
            steps.on_air(one, "Maré Alta")

    def mina_bans_rui(self):
        mina, rui = self.pages["Mina"], self.pages.pop("Rui")
        rui.watch.expect("status of 403|response code: 403")
        steps.open_menu(mina, "People")
        mina.get_by_role("dialog").get_by_role("button", name=re.compile("Rui")).click()
        mina.get_by_role("button", name=re.compile("^Ban")).first.click()
        mina.get_by_label(re.compile("Reason")).fill("Too loud, <b>twice</b>")
        mina.get_by_role("button", name=re.compile("^Ban")).last.click()
        expect(rui.get_by_text("You cannot enter this room.")).to_be_visible()
        mina.keyboard.press("Escape")
        mina.keyboard.press("Escape")
        expect(mina.get_by_role("dialog")).to_have_count(0)

    def all_are_equal(self):
        for page in self.pages.values():
            steps.expect_equal_to_server(page, self.mina, self.room)


def test_a_party(visit, whole_chromium, servers):
    """The server is killed and started again in the middle."""
    server = servers().start()
    story = Story(visit, whole_chromium, server)
    story.mina_opens_a_room()
    story.mina_shares_the_code()
    story.guests_join()
    story.they_search_vote_and_withdraw()
    story.mina_plays()
    for page in story.pages.values():
        page.watch.expect(browsers.LOST)
    server.kill()
    expect(story.pages["Ines"].get_by_text("Reconnecting…")).to_be_visible()
    server.start()
    for page in story.pages.values():
        expect(page.get_by_text("Reconnecting…")).to_be_hidden()
    story.mina_reorders()
    story.mina_bans_rui()
    story.mina_skips()
    story.all_are_equal()
