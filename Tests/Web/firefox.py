"""Firefox, driven by WebDriver BiDi over a plain WebSocket, without a driver program."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess

import websockets.sync.client

import backline

PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False, "browser.startup.page": 0, "datareporting.policy.dataSubmissionEnabled":
    False, "toolkit.telemetry.enabled": False, "app.update.enabled": False, "network.captive-portal-service.enabled":
    False, "network.connectivity-service.enabled": False, "intl.accept_languages": "en-GB, en",
    # Roots of the machine are of no use here: the profile's own store decides.
    "security.enterprise_roots.enabled": False,
}


def program():
    """Debian's Firefox, or the program that BACKLINE_FIREFOX names."""
    path = os.environ.get("BACKLINE_FIREFOX") or shutil.which("firefox-esr")
    assert path, "there is no Firefox: apt-get install firefox-esr (or set BACKLINE_FIREFOX)"
    return path


class Firefox:
    """One process, in a profile that trusts an authority. Each visit has a tab of its own, and keeps what it stores to itself."""

    def __init__(self, authority, folder):
        self.profile = pathlib.Path(folder) / "profile"
        self.profile.mkdir(parents=True)
        authority.trust_in(self.profile)
        (self.profile / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()))
        self.log = open(pathlib.Path(folder) / "firefox.log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [program(), "--headless", "--no-remote", "--profile", self.profile, "--remote-debugging-port", "0"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env={**os.environ, "HOME": str(folder), "MOZ_CRASHREPORTER_DISABLE": "1"})
        self.stack, self.socket, self.events, self._id = contextlib.ExitStack(), None, [], 0
        self.tab = None
        try:
            self._connect()
        except BaseException:
            self.close()
            raise

    def _connect(self):
        address = backline.eventually(self._listening, "Firefox listens", timeout=60)
        self.socket = self.stack.enter_context(
            websockets.sync.client.connect(f"{address}/session", max_size=None, proxy=None))
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded", "network.beforeRequestSent", "network.fetchError"])

    def _listening(self):
        text = pathlib.Path(self.log.name).read_text(errors="replace")
        assert self.process.poll() is None, f"Firefox ended: {text}"
        line = next((line for line in text.splitlines() if "WebDriver BiDi listening on " in line), None)
        return line and line.rpartition(" ")[2]

    def ask(self, method, **params):
        """Sends a command and returns its result; events that arrive before it are kept in `events`."""
        self._id += 1
        self.socket.send(json.dumps({"id": self._id, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv(timeout=60))
            if message.get("id") == self._id:
                assert message["type"] == "success", f"{method}: {message}"
                return message["result"]
            self.events.append(message)

    @contextlib.contextmanager
    def visit(self):
        """Opens a tab, in which everything happens until it is closed again."""
        container = self.ask("browser.createUserContext")["userContext"]
        self.tab = self.ask("browsingContext.create", type="tab", userContext=container)["context"]
        self.events.clear()
        try:
            yield self
        finally:
            self.ask("browser.removeUserContext", userContext=container)

    def goto(self, url):
        self.ask("browsingContext.navigate", context=self.tab, url=url, wait="complete")

    def run(self, source):
        """The value of an expression, or of its promise: a text, a number, a boolean or None."""
        answer = self.ask(
            "script.evaluate", expression=source, target={"context": self.tab}, awaitPromise=True,
            resultOwnership="none")
        assert answer["type"] == "success", answer
        return answer["result"].get("value")

    def find(self, role=None, name=None, css=None):
        """The first node with a role and a name, or with a CSS selector, waiting until there is one."""
        locator = {"type": "css", "value": css} if css else {
            "type": "accessibility", "value": {key: value for key, value in (("role", role), ("name", name)) if value}}

        def found():
            nodes = self.ask("browsingContext.locateNodes", context=self.tab, locator=locator)["nodes"]
            return nodes and nodes[0]

        return backline.eventually(found, f"Firefox shows {locator}", timeout=60)

    def click(self, **which):
        """Clicks a node as a pointer does."""
        node = self.find(**which)
        self.ask("input.performActions", context=self.tab, actions=[{
            "type": "pointer", "id": "mouse", "actions": [
                {"type": "pointerMove", "x": 0, "y": 0, "origin": {
                    "type": "element", "element": {"sharedId": node["sharedId"]}}},
                {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}])

    def type(self, text):
        """Types into what has the focus."""
        self.ask("input.performActions", context=self.tab, actions=[{
            "type": "key", "id": "keyboard",
            "actions": [action for sign in text for action in (
                {"type": "keyDown", "value": sign}, {"type": "keyUp", "value": sign})]}])

    def faults(self, origin):
        """Lines on the console, requests that failed, and requests to another origin."""
        self.run("0")
        found = []
        for event in self.events:
            kind, params = event.get("method"), event.get("params", {})
            if kind == "log.entryAdded":
                found.append(f"console {params['level']}: {params['text']}")
            elif kind == "network.fetchError":
                found.append(f"failed: {params['request']['url']}: {params['errorText']}")
            elif kind == "network.beforeRequestSent":
                url = params["request"]["url"]
                if not url.startswith((f"{origin}/", origin.replace("https", "wss") + "/", "blob:", "data:", "about:")):
                    found.append(f"foreign request: {url}")
        return found

    def close(self):
        if self.socket:
            with contextlib.suppress(Exception):
                self.ask("browser.close")
        self.stack.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=60)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
