"""Certificates from an authority, by the recipe of Operations.md: certbot, and a small authority for tests."""

import contextlib
import json
import os
import re
import socket
import ssl
import stat
import subprocess

import pytest

import backline
import documents
from ports import free_port
from test_signals import make_certificate, served

PAGE = "Documentation/Operations.md"


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 5):
        return True
    return False


class Authority:
    """Pebble, and a name server in which every name is this machine."""

    def __init__(self, folder):
        self.folder = folder
        make_certificate(folder, "localhost")
        self.directory, self.proofs, self.records, names, management = (free_port() for _ in range(5))
        (folder / "config.json").write_text(json.dumps({"pebble": {
            "listenAddress": f"127.0.0.1:{self.directory}", "managementListenAddress": f"127.0.0.1:{management}",
            "certificate": str(folder / "certificate.pem"), "privateKey": str(folder / "key.pem"), "httpPort": self.proofs,
            "tlsPort": self.proofs, "ocspResponderURL": "", "externalAccountBindingRequired": False}}))
        self.processes = [
            self.start("pebble-challtestsrv", "-dns01", f"127.0.0.1:{names}", "-http01", "", "-https01", "", "-tlsalpn01", "",
                       "-management", f"127.0.0.1:{self.records}", "-defaultIPv6", ""),
            self.start("pebble", "-config", folder / "config.json", "-dnsserver", f"127.0.0.1:{names}")]

    def start(self, *command):
        with open(self.folder / f"{command[0]}.log", "w", encoding="utf-8") as log:
            # It waits for no seconds by chance, and refuses nothing by chance.
            return subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env={**os.environ, "PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"})

    def __enter__(self):
        try:
            backline.eventually(lambda: answers(self.directory) and answers(self.records), "the authority is there")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for process in self.processes:
            process.terminate()
            process.wait(backline.PATIENCE)

    def certbot(self, *command):
        """certbot as in the recipe, with folders of this test and this authority."""
        folders = [word for name in ("config", "work", "logs") for word in (f"--{name}-dir", self.folder / name)]
        subprocess.run(
            ["certbot", *command, *folders, "--http-01-port", str(self.proofs), "-n"], check=True, capture_output=True,
            timeout=backline.PATIENCE, env={**os.environ, "REQUESTS_CA_BUNDLE": str(self.folder / "certificate.pem")})


@pytest.mark.soak("files that are looked at every ten seconds")
@pytest.mark.parametrize("proof", ["http", "dns"])
def test_a_certificate_is_got_and_renewed_as_operations_says(servers, tmp_path, proof):
    recipe = next(block for block in documents.blocks(PAGE, "sh") if "certbot" in block)
    hook = re.search(r"(?s)<<'END'\n(.*?)\nEND\n", recipe)[1]
    first = recipe.strip().splitlines()[-1]
    assert first.startswith("certbot certonly --standalone ")
    tls = tmp_path / "tls"
    tls.mkdir(mode=0o700)
    write_script(
        tmp_path / "take-certificate", hook.replace("/etc/backline", str(tmp_path)).replace("-o backline -g backline", ""))
    with Authority(tmp_path) as authority:
        chosen = first.replace("/etc/backline", str(tmp_path)).split()[2:]
        if proof == "dns":
            records = f"curl --fail --silent http://127.0.0.1:{authority.records}"
            host = '"host": "_acme-challenge.\'$CERTBOT_DOMAIN\'."'
            value = '"value": "\'$CERTBOT_VALIDATION\'"'
            write_script(tmp_path / "set", f"#!/bin/sh\n{records}/set-txt -d '{{{host}, {value}}}'")
            write_script(tmp_path / "remove", f"#!/bin/sh\n{records}/clear-txt -d '{{{host}}}'")
            chosen = ["--manual", "--preferred-challenges", "dns", "--manual-auth-hook", str(tmp_path / "set"),
                      "--manual-cleanup-hook", str(tmp_path / "remove"), *chosen[1:]]
        authority.certbot("certonly", *chosen, "--agree-tos", "--register-unsafely-without-email", "--server",
                          f"https://127.0.0.1:{authority.directory}/dir")
        assert stat.S_IMODE((tls / "key.pem").stat().st_mode) == 0o400
        server = servers("--certificate", str(tls / "certificate.pem"), "--key", str(tls / "key.pem")).start()
        before = served(server)
        assert before == leaf(tls)
        with server.session("Ana").socket() as client:
            authority.certbot("renew", "--force-renewal", "--no-random-sleep-on-renew")
            assert leaf(tls) != before
            backline.eventually(lambda: served(server) == leaf(tls), "the renewed certificate is served")
            assert client.is_alive()
        assert server.stop() == 0


def write_script(path, text):
    path.write_text(text + "\n")
    path.chmod(0o755)


def leaf(folder):
    """The first certificate of a chain."""
    text = (folder / "certificate.pem").read_text()
    return ssl.DER_cert_to_PEM_cert(ssl.PEM_cert_to_DER_cert(text[:text.index("-----END") + 25])).strip()
