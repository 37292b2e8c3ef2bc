"""Shared fixtures: an authority, browsers, servers, and visits whose every fault fails the test."""

import contextlib
import functools
import itertools
import pathlib
import sys

import playwright.sync_api
import pytest

# The server as a child process, and clients without a page, are those of the end-to-end tests.
sys.path.insert(1, str(pathlib.Path(__file__).parents[1] / "EndToEnd"))

import browsers  # noqa: E402
import decks  # noqa: E402
import firefox  # noqa: E402
import marks  # noqa: E402
import postgres  # noqa: E402
import serving  # noqa: E402
import trust  # noqa: E402
import webkit  # noqa: E402


def pytest_configure(config):
    marks.configure(config)


def pytest_itemcollected(item):
    marks.collected(item)


@pytest.fixture
def seed():
    """The seed of a test with random input. It is shown with the failure."""
    number = marks.drawn_seed()
    print(f"BACKLINE_SEED={number}")
    return number


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return trust.Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def playwright_driver():
    with playwright.sync_api.sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def chromium(playwright_driver, authority):
    """A browser for all tests of a worker: the engine without the browser around it, which opens a page for half the work.
    Visits have profiles of their own."""
    with contextlib.closing(browsers.Chromium(playwright_driver, authority.home(), shell=True)) as made:
        yield made


@pytest.fixture(scope="session")
def whole_chromium(playwright_driver, authority):
    """The browser as people have it."""
    with contextlib.closing(browsers.Chromium(playwright_driver, authority.home())) as made:
        yield made


@pytest.fixture(scope="session")
def firefox_process(authority, tmp_path_factory):
    with contextlib.closing(firefox.Firefox(authority, tmp_path_factory.mktemp("firefox"))) as made:
        yield made


@pytest.fixture
def fox(firefox_process):
    """A visit of Firefox, as `firefox.Firefox`."""
    with firefox_process.visit():
        yield firefox_process


@pytest.fixture
def webkits(authority, tmp_path):
    """Makes windows of WebKit that end with the test: `webkits(device, features)`."""
    with contextlib.ExitStack() as made:
        def make(*arguments, **options):
            folder = tmp_path / f"webkit-{next(numbers)}"
            folder.mkdir()
            return made.enter_context(contextlib.closing(webkit.WebKit(authority, folder, *arguments, **options)))

        numbers = itertools.count()
        yield make


@pytest.fixture(scope="session")
def cluster():
    with contextlib.closing(postgres.Cluster()) as made:
        yield made


@pytest.fixture(scope="session")
def make_songs(tmp_path_factory):
    """Makes files of music, each once for all tests of a worker: `make_songs(count, seconds, endings)`."""
    return functools.partial(decks.make_songs, tmp_path_factory.mktemp("songs"))


@pytest.fixture(scope="session")
def long_songs(make_songs):
    """Files of music that no test hears to its end: `long_songs(count, endings)`."""
    return lambda count=1, endings=("flac",): make_songs(count, 300, endings, rate=8000)


@pytest.fixture(scope="session")
def house(authority, tmp_path_factory):
    """A server for tests that leave it running."""
    with serving.make_server(authority, tmp_path_factory.mktemp("house")) as server:
        yield server
        assert server.running, f"the server ended by itself:\n{server.said()}"


@pytest.fixture
def servers(authority, tmp_path):
    """Makes servers that end with the test. Their output is shown if the test failed."""
    made = []

    def make(*options, **settings):
        made.append(serving.make_server(authority, tmp_path / f"data-{len(made)}", *options, **settings))
        return made[-1]

    yield make
    for server in made:
        print(f"--- {server.ready_line}\n{server.said()}")
        server.close()


@pytest.fixture
def party(request):
    """Makes parties that end with the test, and whose rooms no other test sees: `party(parties.rooftop, server)`."""
    made = []

    def make(kind, *arguments, **options):
        one = kind(*arguments, **options)
        made.extend(one if isinstance(one, list) else [one])
        return one

    yield make
    for one in made:
        one.end()


@pytest.fixture
def visit(chromium):
    """Opens pages in new profiles: `visit(server, "/r/CODE", person=…, device=…)`.

    When the test ends, it fails if a page wrote to a console, broke its policy, asked another origin, or had a request
    that failed, unless `page.context.watch.expect` allowed it.
    """
    opened = []

    def open(server, path=None, person=None, browser=None, **options):
        context = (browser or chromium).context(server, **options)
        opened.append(context)
        if person:
            browsers.sign_in(context, person)
        page = context.new_page()
        page.watch = context.watch
        if path:
            page.goto(path)
        return page

    yield open
    try:
        for context in opened:
            # A context that the test has closed has been checked by it, and has no pages.
            for page in context.pages:
                with contextlib.suppress(playwright.sync_api.Error):
                    # Events that are on their way arrive before the answer.
                    page.evaluate("0")
            context.watch.check()
    finally:
        for context in opened:
            context.close()
