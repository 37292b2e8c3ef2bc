"""A certificate authority of the tests' own, which browsers trust through their own store.

A browser that is told to ignore certificates behaves differently: it registers service workers that a user's browser
refuses.
"""

import os
import pathlib
import subprocess

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class Authority:
    """A certificate authority, and one certificate of it for `localhost`, 127.0.0.1 and `party.test`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.root, root_key = self.folder / "authority.pem", self.folder / "authority-key.pem"
        self.certificate, self.key = self.folder / "certificate.pem", self.folder / "key.pem"
        request, extensions = self.folder / "request.pem", self.folder / "extensions"
        _run("openssl", "req", "-x509", *CURVE, "-days", "2", "-subj", "/CN=Authority of a test", "-addext",
             "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign", "-keyout", root_key,
             "-out", self.root)
        _run("openssl", "req", *CURVE, "-subj", "/CN=localhost", "-keyout", self.key, "-out", request)
        extensions.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1,DNS:party.test\nextendedKeyUsage=serverAuth\n")
        _run("openssl", "x509", "-req", "-in", request, "-CA", self.root, "-CAkey", root_key, "-CAcreateserial",
             "-days", "2", "-extfile", extensions, "-out", self.certificate)
        #: Certificate and key in one file, as HAProxy reads them.
        self.both = self.folder / "both.pem"
        self.both.write_text(self.certificate.read_text() + self.key.read_text())

    @property
    def options(self):
        """The server's options for the certificate."""
        return ["--certificate", str(self.certificate), "--key", str(self.key)]

    def home(self, trusted=True):
        """A home folder whose certificate store, which Chromium reads, trusts the authority or is empty."""
        return home(self.folder / ("home" if trusted else "home-without"), self.root if trusted else None)

    def trust_in(self, profile):
        """Makes the authority trusted in a folder that is a profile of Firefox."""
        _make_store(pathlib.Path(profile), self.root)


def home(folder, root):
    """A home folder whose certificate store, which Chromium reads, trusts this certificate; None: it is empty."""
    if not folder.exists():
        _make_store(folder / ".pki" / "nssdb", root)
    return str(folder)


def _make_store(store, root):
    store.mkdir(parents=True, exist_ok=True)
    _run("certutil", "-N", "-d", f"sql:{store}", "--empty-password")
    if root:
        _run("certutil", "-A", "-d", f"sql:{store}", "-t", "C,,", "-n", "Authority of a test", "-i", root)


def _run(*command):
    environment = {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/usr/bin"}
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment)
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}: {done.stderr}"
