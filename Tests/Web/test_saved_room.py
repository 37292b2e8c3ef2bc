"""The last room is kept in the browser: a reload without a network shows it, and the link resumes from it."""

from playwright.sync_api import expect

import backline
import browsers
import parties
import steps
import wires

KEPT = """async () => (await indexedDB.databases()).some(({name}) => name === 'backline') && new Promise((resolve, reject) => {
    const opening = indexedDB.open('backline', 1);
    opening.onerror = reject;
    opening.onsuccess = () => {
        const asked = opening.result.transaction('rooms').objectStore('rooms').get('last');
        asked.onsuccess = () => { opening.result.close(); resolve(asked.result?.state.code ?? null); };
        asked.onerror = reject;
    };
})"""


def test_a_first_visit_can_be_read_without_a_network(visit, party, house):
    room = party(parties.rooftop, house)
    with wires.Wire(house) as wire:
        page = visit(wire, room.path)
        page.watch.expect(browsers.LOST)
        steps.join(page, "Ana")
        steps.on_air(page, "Maré Alta")
        steps.keep_page(page)
        backline.eventually(lambda: page.evaluate(KEPT) == room.code, "the room is kept", 60)
        wire.go_down()
        sockets = []
        page.on("websocket", lambda socket: sockets.append(socket.url))
        page.reload()
        steps.on_air(page, "Maré Alta")
        expect(page.get_by_text("Reconnecting…").or_(page.get_by_text("No connection"))).to_be_visible()
        room.tell("Mina", "skip")
        wire.come_up()
        steps.on_air(page, "Salt Horizon")
        steps.expect_equal_to_server(page, room.mina, room.id)
        # The room that was kept has a position: the server sends what is missing, and no snapshot.
        assert f"/v1/rooms/{room.id}/socket?epoch=" in sockets[-1], sockets


def test_signing_out_removes_what_was_kept(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path)
    steps.join(page, "Ana")
    page.evaluate("dispatchEvent(new Event('pagehide'))")
    backline.eventually(lambda: page.evaluate(KEPT) == room.code, "the room is kept", 60)
    page.evaluate("import(document.querySelector('script[type=module]').src).then(({app}) => app.http.endSession())")
    expect(page.get_by_text("You have been signed out.")).to_be_visible()
    assert not page.evaluate(KEPT)


def test_the_room_is_left_before_the_session_ends(visit, party, house):
    """Whatever the room would still keep, it keeps before everything is removed."""
    room = party(parties.rooftop, house)
    page = visit(house, room.path)
    page.watch.expect("status of 401")
    steps.join(page, "Ana")
    held = []
    page.route("**/v1/session", lambda route: held.append(route))
    steps.open_menu(page, "Sign out")
    with page.watch.sockets[0].expect_event("close"):
        page.locator("dialog[open]").last.get_by_role("button", name="Sign out").click()
    backline.eventually(lambda: page.evaluate("0") == 0 and held, "the session is being ended")
    held.pop().continue_()
    expect(page.get_by_text("Listen together.")).to_be_visible()
    assert page.evaluate("indexedDB.databases().then(all => all.length)") == 0


def test_the_room_goes_on_where_the_session_cannot_be_ended(visit, party, house):
    room = party(parties.rooftop, house)
    page = visit(house, room.path)
    page.watch.expect("net::ERR_FAILED")
    steps.join(page, "Ana")
    page.route("**/v1/session", lambda route: route.abort())
    steps.open_menu(page, "Sign out")
    page.locator("dialog[open]").last.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("status").filter(has_text="no connection")).to_be_visible()
    room.tell("Mina", "skip")
    steps.on_air(page, "Salt Horizon")
