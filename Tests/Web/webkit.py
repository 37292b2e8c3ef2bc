"""WebKitGTK, which has the engine of Safari and of every browser of an iPhone, in a window that `webkit_window.py` opens."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess

import backline
import browsers

STORAGE = {"FileSystem": True, "AccessHandle": True, "StorageAPI": True}
OLDER = {"WebCodecsAudio": False, "TrustedTypes": False, "CSSAnchorPositioning": False}
SAFARI = {
    "16.4": {**STORAGE, **OLDER},
    "18": {**STORAGE, **OLDER, "StorageAPIEstimate": True},
    "26": {**STORAGE, "StorageAPIEstimate": True, "FileSystemWritableStream": True},
}
"""What WebKitGTK is to have on or off to be like a release of Safari. What keeps files is off unless it is told otherwise."""

SINKS = ("pulsesink", "alsasink", "jackaudiosink", "osssink", "oss4sink", "openalsink")
"""What GStreamer has off: sound goes into nothing, in real time. What looks for a device hangs now and then where there is none."""

OGG = ("oggdemux", "avdemux_ogg")
"""What GStreamer is to have off to refuse Ogg, as Safari before 18.4 does."""

ENVIRONMENT = {
    # What a container and a machine without a graphics card or a session lack.
    "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1", "WEBKIT_DISABLE_DMABUF_RENDERER": "1", "LIBGL_ALWAYS_SOFTWARE": "1",
    "NO_AT_BRIDGE": "1", "GTK_A11Y": "none", "GDK_BACKEND": "x11", "LANG": "C.UTF-8", "LANGUAGE": "en_GB",
    # Each collection of garbage is of all that there is.
    "JSC_useGenerationalGC": "false",
}

APP = "const {app} = await import(document.querySelector('script[type=module]').src), {room} = app.store;"


class WebKit:
    """One window, in a profile of its own and on a screen of its own."""

    def __init__(self, authority, folder, device=browsers.LAPTOP, features=None, scripts=(), off=()):
        """`off` are parts of GStreamer."""
        self.device, self.stack, self.count = device, contextlib.ExitStack(), 0
        self.folder = pathlib.Path(folder)
        (self.folder / "run").mkdir(mode=0o700)
        self.log = self.stack.enter_context(open(self.folder / "webkit.log", "w+", encoding="utf-8", errors="replace"))
        try:
            self._start(authority, {
                "folder": str(folder), "certificate": str(authority.certificate), "features": features or {},
                "scripts": [browsers.REPORTS, *scripts]}, off)
        except BaseException:
            self.close()
            raise

    def _start(self, authority, given, off):
        for name in ("Xvfb", "xdotool", "/usr/bin/python3"):
            assert shutil.which(name), f"there is no {name}: apt-get install xvfb xdotool python3-gi gir1.2-webkit2-4.1"
        screen = subprocess.Popen(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.stack.callback(lambda: (screen.terminate(), screen.wait(), screen.stdout.close()))
        self.display = f":{screen.stdout.readline().strip()}"
        self.line, theirs = socket.socketpair()
        self.line.settimeout(60)
        window = subprocess.Popen(
            ["/usr/bin/python3", pathlib.Path(__file__).with_name("webkit_window.py"), json.dumps(given), str(theirs.fileno())],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, pass_fds=[theirs.fileno()],
            env={**os.environ, **ENVIRONMENT, "DISPLAY": self.display, "HOME": str(self.folder),
                 "XDG_RUNTIME_DIR": str(self.folder / "run"),
                 "GST_PLUGIN_FEATURE_RANK": ",".join(f"{name}:NONE" for name in (*SINKS, *off))})
        theirs.close()
        # It ends when the socket closes.
        self.stack.callback(window.wait)
        self.stack.callback(self.line.close)
        self.answers = self.stack.enter_context(self.line.makefile(encoding="utf-8"))
        self.ask("size", [self.device.width, self.device.height])

    def ask(self, command, value=None):
        self.count += 1
        self.line.sendall(json.dumps([self.count, command, value]).encode() + b"\n")
        text = self.answers.readline()
        assert text, f"the window has ended: {self.said()}"
        number, answer = json.loads(text)
        assert number == self.count, (number, self.count, answer)
        return answer

    def goto(self, url):
        """Opens an address, or the one that is there anew, and waits until the page has begun."""
        self.ask("goto", url)
        # WebKit gives a module that is still at work before it has its exports.
        backline.eventually(lambda: "value" in self.ask("run", APP + "return app.store.link.state"), "the page has begun")

    def reload(self):
        self.goto(None)

    def run(self, body):
        """What the body of an asynchronous function returns, as JSON."""
        answer = self.ask("run", body)
        assert "value" in answer, f"{answer['error']}: {body}"
        return answer["value"]

    def app(self, expression):
        """The value of an expression of `app`, the page's parts."""
        return self.run(f"{APP} return {expression}")

    def find(self, css, text=""):
        """Waits for an element that is seen, whose text or label has some words; its place, from the left, and size."""
        source = """
            const node = [...document.querySelectorAll(%s)].find(one => one.checkVisibility()
                && `${one.innerText} ${one.getAttribute('aria-label') ?? ''}`.includes(%s) && !one.matches(':disabled, [aria-disabled=true]'));
            if (!node) return null;
            node.scrollIntoView({block: 'nearest', behavior: 'instant'});
            const {x, y, width, height} = node.getBoundingClientRect();
            // What moves or is covered is not ready.
            return node.contains(document.elementFromPoint(x + width / 2, y + height / 2)) ? [x, y, width, height] : null;
            """ % (json.dumps(css), json.dumps(text))
        return backline.eventually(lambda: self.run(source), f"{css} {text!r} is seen", 60)

    def click(self, css, text="", at=0.5):
        """Clicks an element as a pointer does, in its middle, or another part of its width."""
        def still():
            x, y, width, height = self.find(css, text)
            return [round(x + width * at), round(y + height / 2)] if self.find(css, text) == [x, y, width, height] else None

        x, y = backline.eventually(still, f"{css} {text!r} stands still", 60)
        self._act("mousemove", x, y, "click", 1)

    def type(self, css, text):
        """Types into a field."""
        self.click(css)
        backline.eventually(lambda: self.run(f"return document.activeElement.matches({json.dumps(css)})"), f"{css} has the focus")
        self._act("type", text)
        backline.eventually(lambda: self.run("return document.activeElement.value") == text, f"{css} has the text")

    def _act(self, *words):
        """Has the screen tell of a pointer or keys."""
        subprocess.run(["xdotool", *map(str, words)], check=True, timeout=60, env={**os.environ, "DISPLAY": self.display})

    def choose(self, paths):
        """Answers the chooser of files that is open, or opens."""
        backline.eventually(lambda: self.ask("chooser"), "a chooser is open", 60)
        self.ask("files", [str(path) for path in paths])

    def picture(self, path):
        """Writes what is on the screen as PNG."""
        subprocess.run(
            ["ffmpeg", "-v", "error", "-y", "-f", "x11grab", "-video_size", f"{self.device.width}x{self.device.height}",
             "-i", self.display, "-frames:v", "1", path], check=True, timeout=60)

    def said(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def faults(self, origin, expected="$^"):
        """Lines on the console but for those that a pattern finds, requests that failed, and requests to another origin."""
        self.run("return 0")
        found = []
        for line in self.said().splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "REQUEST":
                if not rest.startswith((f"{origin}/", origin.replace("https", "wss") + "/", "blob:", "data:", "about:")):
                    found.append(f"foreign request: {rest}")
            elif kind in ("CONSOLE", "FAILED") and not re.search(expected, line):
                found.append(line)
        return found

    def close(self):
        self.stack.close()
