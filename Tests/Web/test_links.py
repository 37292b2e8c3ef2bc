"""Links to rooms as people paste them, and addresses as they type them. What is read stands in Tests/Tables."""

from playwright.sync_api import expect

import browsers
import decks
import parties
import steps


def test_an_address_with_more_than_a_code_opens_the_room_and_is_corrected(visit, party, house):
    room = party(parties.rooftop, house)
    clean = f"{browsers.origin(house)}{room.path}"
    for address in (f"{room.path}.", f"{room.path})", f"{room.path}&fbclid=x", f"{room.path}%E2%80%8B", f"{room.path}/?utm_source=x#top",
                    f"/R/{room.code.lower()}", f"/{room.code.lower()}"):
        page = visit(house, address)
        steps.on_air(page, "Maré Alta")
        assert page.url == clean, address
        page.context.close()


def test_the_page_corrects_an_address_by_itself(visit, party, house):
    """As where it is kept, and no server is asked."""
    room = party(parties.rooftop, house)
    page = visit(house, "/")
    expect(page.get_by_text("Listen together.")).to_be_visible()
    for address in (f"{room.path}.", f"{room.path.lower()}%20", f"{room.path}/"):
        decks.run(page, "async (app, path) => app.go(path)", address)
        steps.on_air(page, "Maré Alta")
        assert page.url == f"{browsers.origin(house)}{room.path}", address
        page.go_back()
        expect(page.get_by_text("Listen together.")).to_be_visible()


def test_an_address_that_is_no_code_leads_on(visit, house):
    page = visit(house, "/r/7KQ2ZU%20")
    page.watch.expect("status of 404|response code: 404")
    expect(page.get_by_text("There is no room here.")).to_be_visible()


def test_a_pasted_message_leaves_the_code_of_its_link(visit, party, house):
    page = visit(house, "/")
    field = page.get_by_role("textbox", name="Code")
    pasted = """(field, text) => {
        const data = new DataTransfer();
        data.setData('text', text);
        return field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }"""
    # The field takes a text only where the page has not.
    assert field.evaluate(pasted, "7KQ2Z")
    assert not field.evaluate(pasted, "Kitchen party\nhttps://party.example/r/7kq2zm\nSee you")
    expect(field).to_have_value("7KQ2ZM")
