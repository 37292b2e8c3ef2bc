"""The page behind Caddy and nginx, with their recipes of Documentation."""

import contextlib
import os
import pathlib
import subprocess

import pytest
import websockets.exceptions
from playwright.sync_api import expect

import backline
import browsers
import trust
from ports import free_port
from test_party import Story

DOCUMENTATION = pathlib.Path(__file__).parents[2] / "Documentation"
OPTIONS = ["--plain", "--trusted-proxies", "127.0.0.1"]


class Proxy(backline.Address):
    """One of them, in front of a server."""

    def __init__(self, name, server, authority, folder):
        super().__init__(host="localhost", port=free_port())
        self.plain = free_port()
        self.folder = folder
        folder.mkdir()
        getattr(self, name)(server, authority)

    def nginx(self, server, authority):
        both = {"/etc/letsencrypt/live/music.example.org/fullchain.pem": authority.certificate,
                "/etc/letsencrypt/live/music.example.org/privkey.pem": authority.key}
        recipe = self.recipe("nginx.conf", {
            "listen 443": f"listen 127.0.0.1:{self.port}", "listen [::]:443": f"listen [::1]:{self.port}",
            "listen 80": f"listen 127.0.0.1:{self.plain}", "listen [::]:80": f"listen [::1]:{self.plain}",
            "/var/www/html": self.folder, "127.0.0.1:8443": f"127.0.0.1:{server.port}",
            "music.example.org;": "localhost;", "/var/log/nginx/backline.log": self.folder / "access.log", **both})
        # What Debian's own file has around it, in a folder of the test.
        kept = "".join(f"{one}_temp_path {self.folder}/{one};" for one in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (self.folder / "nginx.conf").write_text(
            f"daemon off; pid {self.folder}/pid; events {{}} http {{ {kept} include {recipe}; }}")
        self.start(["nginx", "-c", self.folder / "nginx.conf", "-e", self.folder / "error.log"])

    def caddy(self, server, _):
        recipe = self.recipe("Caddyfile", {
            "music.example.org {": f"https://localhost:{self.port} {{", "# tls internal": "tls internal",
            # No control port, no listener on port 80, no trust asked for.
            "\tlog {": "admin off\nauto_https disable_redirects\nskip_install_trust\nlog {",
            "127.0.0.1:8443": f"127.0.0.1:{server.port}"})
        self.start(["caddy", "run", "--config", recipe, "--adapter", "caddyfile"], {
            "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder / "data"), "XDG_CONFIG_HOME": str(self.folder)})

    @property
    def root(self):
        """The certificate of Caddy's own authority."""
        return self.folder / "data" / "caddy" / "pki" / "authorities" / "local" / "root.crt"

    def recipe(self, name, changes):
        text = (DOCUMENTATION / name).read_text()
        for there, here in changes.items():
            assert there in text, f"{name} has no {there}"
            text = text.replace(there, str(here))
        (self.folder / f"recipe-{name}").write_text(text)
        return self.folder / f"recipe-{name}"

    @property
    def logs(self):
        return [path for path in self.folder.iterdir() if path.name in ("said", "access.log", "error.log") and path.stat().st_size]

    def start(self, command, environment=None):
        with open(self.folder / "said", "w", encoding="utf-8") as said:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin", **(environment or {})})
        try:
            backline.eventually(self.is_up, "the proxy is up")
        except BaseException:
            self.close()
            raise

    def is_up(self):
        assert self.process.poll() is None, (self.folder / "said").read_text()
        with contextlib.suppress(OSError):
            return self.request("GET", "/readyz").status == 200

    def close(self):
        self.process.terminate()
        self.process.wait(backline.PATIENCE)
        print(f"--- the proxy\n{(self.folder / 'said').read_text()[-4000:]}")


@pytest.fixture(params=["nginx", "caddy"])
def behind(request, servers, authority, tmp_path):
    """A server, made with some options, and a proxy in front of it."""
    with contextlib.ExitStack() as stack:
        def make(*options):
            server = servers(*OPTIONS, *options, certificate=False).start()
            return server, stack.enter_context(
                contextlib.closing(Proxy(request.param, server, authority, tmp_path / "proxy")))

        yield make


@pytest.fixture
def trusting(playwright_driver, authority):
    """A browser that trusts a proxy's authority."""
    with contextlib.ExitStack() as stack:
        def make(proxy):
            home = trust.home(proxy.folder / "home", proxy.root) if proxy.root.exists() else authority.home()
            return stack.enter_context(contextlib.closing(browsers.Chromium(playwright_driver, home)))

        yield make


@pytest.mark.soak("programs that are not part of the gate: HAProxy is")
def test_a_party_behind_a_proxy(visit, trusting, behind):
    """The server behind it is killed and started again in the middle."""
    server, proxy = behind()
    chromium = trusting(proxy)
    story = Story(lambda *arguments, browser=None, **options: visit(*arguments, browser=chromium, **options), chromium, proxy)
    story.mina_opens_a_room()
    story.mina_shares_the_code()
    story.guests_join()
    story.they_search_vote_and_withdraw()
    story.mina_plays()
    for page in story.pages.values():
        page.watch.expect(f"{browsers.LOST}|status of 502|code(:| .)502")
    server.kill()
    expect(story.pages["Ines"].get_by_text("Reconnecting…")).to_be_visible()
    server.start()
    for page in story.pages.values():
        expect(page.get_by_text("Reconnecting…")).to_be_hidden()
    story.mina_reorders()
    story.mina_bans_rui()
    story.mina_skips()
    story.all_are_equal()


@pytest.mark.soak("programs that are not part of the gate: HAProxy is")
def test_a_proxy_says_who_asks_and_keeps_to_itself_what_is_private(behind):
    server, proxy = behind("--max-connections-per-address", "2")
    ana = proxy.session("Ana")
    with ana.socket(), ana.socket(headers={"X-Forwarded-For": "203.0.113.1"}):
        with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
            ana.socket(headers={"X-Forwarded-For": "203.0.113.2"})
        assert refused.value.response.status_code == 429
    assert server.request("GET", "/metrics").status == 200
    assert proxy.request("GET", "/metrics").status == 404
    page = proxy.request("GET", "/")
    assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert page.headers["Keep-Alive"] is None
    # What fails is logged, too.
    for private in ("/r/QWERTY", "/QWERTY", "/v1/rooms/QWERTY", "/v1/rooms/nearby?lat=47.987654&lon=8.123456"):
        proxy.request("GET", private, token=ana.token)
    server.kill()
    for private in ("/r/QWERTY", "/QWERTY", "/v1/rooms/QWERTY", "/v1/rooms/nearby?lat=47.987654&lon=8.123456"):
        assert proxy.request("GET", private, token=ana.token).status == 502
    logs = [log.read_text() for log in proxy.logs]
    assert any("502" in text for text in logs)
    for text in logs:
        for word in ("QWERTY", "47.987654", "8.123456", ana.token):
            assert word not in text
