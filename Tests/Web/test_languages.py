"""The page in its languages."""

import json
import pathlib
import subprocess

import pytest
from playwright.sync_api import expect

import browsers
import parties

TEXTS = pathlib.Path(__file__).parents[2] / "Sources" / "WebClient" / "Pages" / "text"

KEYS = """
import './en-deck.js';
import {t} from './en-statistics.js';
import {de} from './de.js';
const found = {}, walk = (tree, name, into) => {
    for (const [key, value] of Object.entries(tree)) {
        const path = name ? `${name}.${key}` : key;
        if (value && typeof value === 'object') walk(value, path, into);
        else into[path] = typeof value === 'function' ? `a function of ${value.length}` : value;
    }
    return into;
};
console.log(JSON.stringify({en: walk(t, '', {}), de: walk(de, '', {})}));
"""


@pytest.fixture(scope="module")
def texts():
    done = subprocess.run(
        ["node", "--input-type=module", "--eval", KEYS], cwd=TEXTS, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def kind(value):
    return value if value.startswith("a function of ") else "a text"


def test_both_languages_have_the_same_texts(texts):
    english, german = ({key: kind(value) for key, value in texts[name].items()} for name in ("en", "de"))
    assert english == german


def test_no_text_is_empty(texts):
    assert [key for name in texts for key, value in texts[name].items() if not value.strip()] == []


def words_on(page):
    """All texts of a page and all names of its controls."""
    return set(page.evaluate("""() => {
        const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            if (node.nodeType === Node.TEXT_NODE) found.push(node.data.trim());
            else for (const name of ['aria-label', 'placeholder', 'title']) if (node.hasAttribute(name)) found.push(node.getAttribute(name));
        }
        return found.filter(Boolean);
    }"""))


def test_a_german_browser_gets_a_german_page(visit, party, house, texts):
    room = party(parties.rooftop, house)
    only_english = {value for key, value in texts["en"].items() if value not in texts["de"].values()}
    for path, person in ("/", None), (room.path, None), (room.path, room.mina):
        page = visit(house, path, person=person, language="de-DE", device=browsers.LAPTOP)
        expect(page.locator("html")).to_have_attribute("lang", "de")
        page.wait_for_load_state("networkidle")
        assert words_on(page) & only_english == set()


def test_other_languages_get_english(visit, house):
    page = visit(house, "/", language="pt-PT")
    page.get_by_text("Listen together.").wait_for()
    expect(page.locator("html")).to_have_attribute("lang", "en")
