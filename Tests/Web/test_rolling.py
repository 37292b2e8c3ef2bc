"""Pages behind HAProxy with two servers: one is drained, and releases are mixed."""

import contextlib
import pathlib
import re

import pytest
from playwright.sync_api import expect

import backline
import browsers
import parties
import steps
from test_load_balancer import Balancer
from test_party import Story

OPTIONS = ["--plain", "--trusted-proxies", "127.0.0.1", "--drain-delay-seconds", "3", "--drain-window-seconds", "2"]

def balanced(authority, tmp_path, nodes):
    """HAProxy, with the authority's certificate."""
    return Balancer(nodes, tmp_path, lambda text: re.sub(r'"\$\{CERTIFICATE[^"]*"', f'"{authority.both}"', text))


def make_nodes(cluster, servers, count=2):
    store = ["--store", "postgres", "--database-url", cluster.database()]
    return [servers(*OPTIONS, store=store, certificate=False).start() for _ in range(count)]


@pytest.mark.soak("load balancers look each second")
def test_a_party_of_which_one_server_is_drained(visit, whole_chromium, servers, cluster, authority, tmp_path):
    nodes = make_nodes(cluster, servers)
    with contextlib.closing(balanced(authority, tmp_path, nodes)) as balancer:
        story = Story(visit, whole_chromium, balancer)
        story.mina_opens_a_room()
        story.mina_shares_the_code()
        story.guests_join()
        for page in story.pages.values():
            page.watch.expect(browsers.LOST)
        story.they_search_vote_and_withdraw()
        drained = next(node for node in nodes if has_sockets(node))
        assert drained.stop() == 0
        story.mina_plays()
        drained.start()
        story.mina_reorders()
        story.mina_bans_rui()
        story.mina_skips()
        story.all_are_equal()


@pytest.mark.soak("another server must be there within two seconds")
def test_the_server_goes_away_and_the_page_shows_nothing(visit, servers, cluster, authority, tmp_path):
    """`goaway`: a server that stops sends its clients to another one."""
    nodes = make_nodes(cluster, servers)
    with contextlib.closing(balanced(authority, tmp_path, nodes)) as balancer, parties.rooftop(balancer) as room:
        page = visit(balancer, room.path)
        steps.join(page, "Ana")
        page.watch.expect(browsers.LOST)
        page.evaluate("""() => {
            window.seen = [];
            new MutationObserver(() => {
                for (const text of ['Reconnecting', 'No connection']) if (document.body.innerText.includes(text)) window.seen.push(text);
            }).observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
        }""")
        left, stays = nodes if has_sockets(nodes[0]) else nodes[::-1]
        assert left.stop() == 0
        steps.expect_equal_to_server(page, room.mina, room.id)
        assert has_sockets(stays)
        room.line = parties.Line(balancer)
        room.tell("Mina", "skip")
        steps.on_air(page, "Salt Horizon")
        assert page.evaluate("window.seen") == []


def has_sockets(node):
    text = node.request("GET", "/metrics").body.decode()
    return any(float(value) > 0 for value in re.findall(r"^backline_subscriptions\S* (\S+)$", text, re.MULTILINE))


def another_release(folder):
    """A copy of the program whose page differs in one letter, and so in its version."""
    text = pathlib.Path(backline.program()).read_bytes()
    assert text.count(b"Listen together.") >= 1, "the program has no page"
    other = folder / "backline"
    other.write_bytes(text.replace(b"Listen together.", b"Listen together!"))
    other.chmod(0o755)
    return str(other)


@pytest.mark.soak("load: many first visits")
def test_first_visits_while_two_releases_serve(visit, servers, cluster, authority, tmp_path, monkeypatch):
    """A rolling update: one server has the next release of the page, and no first visit fails."""
    monkeypatch.delenv("BACKLINE_PAGES", raising=False)
    nodes = make_nodes(cluster, servers, 2)
    nodes[1].kill()
    monkeypatch.setenv("BACKLINE_PROGRAM", another_release(tmp_path))
    nodes[1].start()
    with contextlib.closing(balanced(authority, tmp_path, nodes)) as balancer:
        with parties.rooftop(balancer) as room:
            versions = set()
            for number in range(6):
                # The servers take turns: where a visit has an even number of turns, one more begins the next elsewhere.
                for _ in range(number % 2):
                    balancer.request("GET", "/readyz")
                page = visit(balancer, room.path)
                steps.on_air(page, "Maré Alta")
                expect(page.get_by_label("Your name")).to_be_visible()
                versions.add(page.locator("script[type=module]").get_attribute("src"))
                assert page.evaluate("sessionStorage.length") == 0, "the page has loaded itself again"
                page.watch.check()
                page.context.close()
        assert len(versions) == 2
