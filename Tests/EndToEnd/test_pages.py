"""The page as the server serves it: files, header fields, the folder for those who change it, http on the TLS port."""

import contextlib
import gzip
import hashlib
import os
import random
import re
import shutil
import socket
import ssl
import subprocess
import threading

import pytest

import backline
from pages import FILES, VERSION

TYPES = {
    "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml", "png": "image/png", "webmanifest": "application/manifest+json",
}
COMMON = {
    "Content-Security-Policy":
        "default-src 'self'; img-src 'self' blob:; media-src blob:; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types backline",
    "Permissions-Policy":
        "geolocation=(self), screen-wake-lock=(self), autoplay=(self), microphone=(), camera=()",
    "Cross-Origin-Opener-Policy": "same-origin", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=31536000", "Vary": "Accept-Encoding",
}
REVALIDATED = "no-cache"
IMMUTABLE = "public, max-age=31536000, immutable"


def content(path, version=VERSION):
    if path in ("index.html", "service-worker.js"):
        return FILES[path].replace(b"{version}", version.encode())
    return FILES[path]


def check(answer, body, path, caching):
    """Checks one whole answer: identity or gzip, as it says."""
    assert answer.status == 200, (path, answer.status, answer.body[:200])
    encoding = answer.headers.get("Content-Encoding")
    assert encoding in (None, "gzip"), path
    assert (gzip.decompress(answer.body) if encoding else answer.body) == body, path
    assert answer.headers["Content-Type"] == TYPES[path.rpartition(".")[2]], path
    assert answer.headers.get_all("Cache-Control") == [caching], path
    assert answer.headers["Content-Length"] == str(len(answer.body)), path
    short = hashlib.sha256(body).hexdigest()[:16]
    assert answer.headers["ETag"] == (f'"{short}-gzip"' if encoding else f'"{short}"'), path
    for name, value in COMMON.items():
        assert answer.headers.get_all(name) == [value], (path, name)


def every_address():
    """Each address of the page with its file and how long it may be kept."""
    for path in FILES:
        yield f"/assets/{VERSION}/{path}", path, IMMUTABLE
    for address in ("/", "/r/ABC123", "/r/no-room-at-all", "/nearby", "/?x=1", "/r/ABC123?x=1"):
        yield address, "index.html", REVALIDATED
    for path in ("service-worker.js", "manifest.webmanifest", "icon.svg", "icon-180.png"):
        if path in FILES:
            yield f"/{path}", path, REVALIDATED


def test_every_file_is_served_with_its_type_its_tag_and_the_page_s_fields(shared):
    for address, path, caching in every_address():
        plain = shared.request("GET", address)
        check(plain, content(path), path, caching)
        assert "Content-Encoding" not in plain.headers
        packed = shared.request("GET", address, headers={"Accept-Encoding": "br, gzip"})
        check(packed, content(path), path, caching)
        assert len(packed.body) <= len(plain.body)


def test_a_room_s_address_leads_to_its_page_however_it_is_written(shared):
    for method in "GET", "HEAD":
        for path in ("/r/ABC123/", "/r/abc-123", "/R/ABC123", "/r/ABC123.", "/r/ABC123)", "/r/ABC123&fbclid=x", "/r/ABC123%20",
                     "/r/ABC123%E2%80%8B", "/abc123"):
            answer = shared.request(method, f"{path}?x=1")
            assert (answer.status, answer.headers["Location"]) == (308, "/r/ABC123?x=1"), path
            assert answer.headers["Cache-Control"] == "no-store"
    # What is no code is left to the page.
    assert shared.request("GET", "/r/no-room-at-all/").headers["Location"] == "/r/no-room-at-all"
    for path in "/r//", "/r/", "/nearby/", "//r/ABC123/", "/r/../", "/v1/rooms/ABC123/", "/ABC123.", "/ABC123/", "/assets":
        shared.request("GET", path).expect_problem(404, "not_found")
    for path in "/r/ABC123/", "/R/ABC123", "/ABC123":
        shared.request("POST", path, {}).expect_problem(404, "not_found")


def test_without_a_page_no_address_leads_to_a_room_s(servers):
    server = servers("--no-web").start()
    for path in "/r/ABC123/", "/R/ABC123", "/ABC123":
        server.request("GET", path).expect_problem(404, "not_found")


def test_what_a_browser_has_is_not_sent_again(shared):
    """The tag of each file; how tags may be written is read in one place for all of them."""
    for number, (address, path, caching) in enumerate(every_address()):
        for coding in ("identity", "gzip"):
            tag = shared.request("GET", address, headers={"Accept-Encoding": coding}).headers["ETag"]
            other_forms = (f"W/{tag}", "*", f'"other", {tag}', f'W/"x",W/{tag}') if number == 0 else ()
            for given in (tag, *other_forms):
                answer = shared.request("GET", address, headers={"Accept-Encoding": coding, "If-None-Match": given})
                assert (answer.status, answer.body) == (304, b""), (address, given)
                assert answer.headers["ETag"] == tag and answer.headers.get_all("Cache-Control") == [caching]
                assert "Content-Type" not in answer.headers
                for name, value in COMMON.items():
                    assert answer.headers.get_all(name) == [value], (path, name)
            for given in ('"other"', tag.strip('"'), tag[:-1], '""') if number == 0 else ('"other"',):
                answer = shared.request("GET", address, headers={"Accept-Encoding": coding, "If-None-Match": given})
                assert answer.status == 200, (address, given)


def test_the_tags_of_the_two_forms_differ(shared):
    address = f"/assets/{VERSION}/index.html"
    plain = shared.request("GET", address)
    packed = shared.request("GET", address, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip" and packed.headers["ETag"] != plain.headers["ETag"]
    answer = shared.request("GET", address, headers={"Accept-Encoding": "gzip", "If-None-Match": plain.headers["ETag"]})
    assert answer.status == 200


def test_weights_of_codings_are_read(shared):
    for accepted, packed in (
        ("gzip", True), ("gzip;q=0", False), ("*", True), ("identity", False), ("br;q=1.0, gzip;q=0.8", True),
        ("identity, gzip;q=0.5", False), ("*;q=0", False), ("gzip;q=2", False),
    ):
        answer = shared.request("GET", "/", headers={"Accept-Encoding": accepted})
        assert (answer.headers.get("Content-Encoding") == "gzip") == packed, accepted


def test_a_head_request_has_the_fields_and_no_body(shared):
    for address, path, _ in every_address():
        for headers in ({}, {"Accept-Encoding": "gzip"}):
            got = shared.request("GET", address, headers=headers)
            head = shared.request("HEAD", address, headers=headers)
            assert (head.status, head.body) == (200, b"")
            assert sorted(head.headers.items()) == sorted(got.headers.items()), path


def test_other_methods_are_told_which_there_are(shared):
    addresses = ["/", "/r/ABC123", "/nearby", "/icon.svg", "/service-worker.js", f"/assets/{VERSION}/index.html"]
    for address in addresses:
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            answer = shared.request(method, address, b"" if method != "OPTIONS" else None)
            answer.expect_problem(405, "method_not_allowed")
            assert answer.headers["Allow"] == "GET, HEAD"


def test_ranges_are_not_served(shared):
    answer = shared.request("GET", "/", headers={"Range": "bytes=0-3"})
    assert answer.status == 200 and answer.body == content("index.html") and "Accept-Ranges" not in answer.headers


def test_another_version_is_not_there(shared):
    for version in ("0" * 16, VERSION.upper() if VERSION.upper() != VERSION else "x", VERSION[:-1], VERSION + "0", "x"):
        shared.request("GET", f"/assets/{version}/index.html").expect_problem(404, "not_found")
    for path in ("", "/", "/nothing.js", "/index.html/", "//index.html", "/tsconfig.json", "/browser.d.ts",
                 "/wire/messages.d.ts", "/%69ndex.html", "/index.html%00", "/.%2findex.html", "/INDEX.html"):
        shared.request("GET", f"/assets/{VERSION}{path}").expect_problem(404, "not_found")


def test_the_page_needs_no_session_and_ignores_a_wrong_one(shared):
    for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Cookie": "__Host-backline_session=nonsense"},
                    {"Accept": "image/png"}):
        assert shared.request("GET", "/", headers=headers).status == 200


def test_requests_for_the_page_count_for_their_address(servers):
    server = servers("--max-requests-per-address", "1").start()
    statuses = {server.request("GET", "/").status for _ in range(30)}
    assert statuses == {200, 429}


def test_the_page_is_the_same_behind_a_proxy_that_ends_tls(servers):
    server = servers("--plain").start()
    answer = server.request("GET", "/")
    assert answer.status == 200 and answer.body == content("index.html")
    assert "Strict-Transport-Security" not in answer.headers
    assert answer.headers["Content-Security-Policy"] == COMMON["Content-Security-Policy"]


# Without a page.

def test_without_a_page_its_worker_ends_itself(servers):
    server = servers("--no-web").start()
    for address in ("/", "/r/ABC123", "/nearby", "/icon.svg", "/manifest.webmanifest", f"/assets/{VERSION}/index.html"):
        server.request("GET", address).expect_problem(404, "not_found")
        server.request("POST", address, b"").expect_problem(404, "not_found")
    worker = server.request("GET", "/service-worker.js")
    assert worker.status == 200 and worker.headers["Content-Type"] == TYPES["js"]
    assert worker.headers["Cache-Control"] == REVALIDATED
    assert b"caches.delete" in worker.body and b"unregister()" in worker.body and b"fetch" not in worker.body
    assert [line for line in server.printed if line.startswith("page ")] == []


# A folder.

@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder for pages, which a server takes for one."""
    made = tmp_path_factory.mktemp("beside") / "pages"
    made.mkdir()
    (made / "index.html").touch()
    return made


@pytest.fixture
def folder(root):
    """The folder, filled anew."""
    for entry in root.parent.iterdir():
        if entry != root:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    for entry in root.iterdir():
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    (root / "view" / "deep").mkdir(parents=True)
    (root / "index.html").write_text("<!doctype html><script src=/assets/{version}/main.js></script>")
    (root / "main.js").write_text("// first")
    (root / "view" / "deep" / "list.js").write_text("// deep")
    (root / "icon.svg").write_text("<svg/>")
    (root / "secret.txt").write_text("secret")
    (root / "tsconfig.json").write_text("{}")
    (root / ".hidden.js").write_text("// hidden")
    (root / ".git").mkdir()
    (root / ".git" / "config.js").write_text("// hidden")
    (root.parent / "outside.js").write_text("// outside")
    (root.parent / "pages-beside").mkdir()
    (root.parent / "pages-beside" / "beside.js").write_text("// beside")
    return root


@pytest.fixture(scope="module")
def developing(root):
    """A server that serves the folder."""
    with backline.Server("--web-directory", str(root), keeps_connections=True) as server:
        yield server
        assert server.running, f"the server ended by itself:\n{server.said()}"


def version_in(server):
    page = server.request("GET", "/")
    assert page.status == 200, page.body
    return re.search(rb"/assets/([0-9a-f]{16})/main.js", page.body)[1].decode()


def test_a_folder_is_read_anew_for_each_request(developing, folder):
    first = version_in(developing)
    assert developing.request("GET", f"/assets/{first}/main.js").body == b"// first"
    assert developing.request("GET", f"/assets/{first}/view/deep/list.js").body == b"// deep"
    (folder / "main.js").write_text("// second")
    second = version_in(developing)
    assert second != first
    for version in (first, second):
        answer = developing.request("GET", f"/assets/{version}/main.js", headers={"Accept-Encoding": "gzip"})
        assert (gzip.decompress(answer.body) if "Content-Encoding" in answer.headers else answer.body) == b"// second"
        assert answer.headers.get_all("Cache-Control") == [REVALIDATED]
        for name, value in COMMON.items():
            assert answer.headers.get_all(name) == [value], name
        tag = answer.headers["ETag"]
        again = developing.request("GET", f"/assets/{version}/main.js", headers={"If-None-Match": tag})
        assert again.status == 304
    (folder / "added.css").write_text("a{}")
    assert version_in(developing) != second
    assert developing.request("GET", f"/assets/{second}/added.css").headers["Content-Type"] == TYPES["css"]
    (folder / "main.js").unlink()
    developing.request("GET", f"/assets/{second}/main.js").expect_problem(404, "not_found")
    developing.request("GET", "/assets/zzzz/added.css").expect_problem(404, "not_found")
    developing.request("GET", "/service-worker.js").expect_problem(404, "not_found")


def raw(server, target):
    """The status of a target that is sent exactly as it is, and the answer's bytes."""
    connection = socket.create_connection((server.host, server.port), timeout=backline.PATIENCE)
    with contextlib.closing(server.context().wrap_socket(connection)) as stream:
        stream.sendall(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        received = b"".join(iter(lambda: stream.recv(65_536), b""))
    return int(received.split()[1]), received


ATTACKS = [
    b"../outside.js", b"view/../../outside.js", b"%2e%2e/outside.js", b"%2E%2E%2Foutside.js", b"..%2foutside.js",
    b"..%5coutside.js", b"..\\outside.js", b"%252e%252e%252foutside.js", b"..%c0%afoutside.js", b"....//outside.js",
    b"../pages-beside/beside.js", b"/outside.js", b"//etc/passwd", b"%2fetc%2fpasswd", b"./main.js", b"view/./../main.js",
    b"%2e/main.js", b"main.js/", b"main.js/.", b"main.js%00", b"main.js%00.css", b"%00main.js", b"main%2ejs", b"main.js;x",
    b".hidden.js", b".git/config.js", b"%2ehidden.js", b"%2egit/config.js", b"view", b"view/", b"view/deep",
    b"secret.txt", b"tsconfig.json", b"", b".", b"..", b"~/main.js", b"main.js~", b"MAIN.JS", b"main.js::$DATA",
    b"C:/main.js", b"\xe2\x80\xae/main.js", b"main.js%0d%0aX:1", b"a/b/c/d/e/f/g/h/i/main.js", b"x" * 300 + b".js",
]


def test_no_path_leads_out_of_the_folder(developing, folder):
    version = version_in(developing).encode()
    for attack in ATTACKS:
        for prefix in (b"/assets/" + version + b"/", b"/assets/" + version + b"/view/"):
            status, received = raw(developing, prefix + attack)
            assert status in (400, 404), (prefix + attack, received[:300])
            for secret in (b"outside", b"beside", b"hidden", b"secret", b"root:"):
                assert secret not in received.partition(b"\r\n\r\n")[2], prefix + attack
    raw_bytes = b"/assets/" + version + b"/main.js\x00"
    assert raw(developing, raw_bytes)[0] == 400


def test_random_paths_give_a_file_of_the_folder_or_nothing(developing, folder, seed):
    chance = random.Random(seed)
    parts = [b"..", b".", b"/", b"%2e", b"%2f", b"%5c", b"\\", b"%00", b"view", b"deep", b"list.js", b"main.js", b".git",
             b"config.js", b"outside.js", b"%", b"//", b"%252e", b"pages", b"a"]
    for _ in range(150):
        target = b"/assets/" + b"0" * 16 + b"/" + b"".join(chance.choices(parts, k=chance.randrange(1, 8)))
        status, received = raw(developing, target)
        body = received.partition(b"\r\n\r\n")[2]
        assert status in (400, 404) or (status == 200 and body in (b"// first", b"// deep")), (target, received[:300])


def test_links_are_followed_within_the_folder_only(developing, folder):
    version = version_in(developing)
    os.symlink(folder / "main.js", folder / "inside.js")
    os.symlink(folder.parent / "outside.js", folder / "out.js")
    os.symlink("../outside.js", folder / "relative.js")
    os.symlink(folder.parent, folder / "parent")
    os.symlink("/etc/passwd", folder / "passwd.js")
    os.symlink(folder / ".hidden.js", folder / "shown.js")
    os.symlink(folder / "secret.txt", folder / "text.js")
    os.symlink("loop.js", folder / "loop.js")
    os.symlink("nowhere.js", folder / "broken.js")
    os.symlink("/proc/self/environ", folder / "environ.js")
    assert developing.request("GET", f"/assets/{version}/inside.js").body == b"// first"
    for path in ("out.js", "relative.js", "parent/outside.js", "parent/pages/main.js/../../outside.js", "passwd.js",
                 "shown.js", "text.js", "loop.js", "broken.js", "environ.js"):
        developing.request("GET", f"/assets/{version}/{path}").expect_problem(404, "not_found")
    # A link of a folder that leads back in is no way out.
    assert developing.request("GET", f"/assets/{version}/parent/pages/main.js").body == b"// first"


def test_a_link_that_changes_all_the_time_never_shows_what_is_outside(developing, folder):
    version, over = version_in(developing), threading.Event()
    swapped, spare = folder / "swapped.js", folder / "spare.js"

    def swap():
        targets = [folder / "main.js", folder.parent / "outside.js"]
        while not over.is_set():
            os.symlink(targets[0], spare)
            os.replace(spare, swapped)
            targets.reverse()

    worker = threading.Thread(target=swap)
    worker.start()
    try:
        seen = set()
        for _ in range(100):
            answer = developing.request("GET", f"/assets/{version}/swapped.js")
            seen.add(answer.body if answer.status == 200 else answer.status)
    finally:
        over.set()
        worker.join()
    assert seen <= {b"// first", 404}


def test_nothing_but_regular_files_is_opened(developing, folder):
    version = version_in(developing)
    os.mkfifo(folder / "pipe.js")
    (folder / "folder.js").mkdir()
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listener:
        here = os.getcwd()
        os.chdir(folder)
        try:
            listener.bind("socket.js")
        finally:
            os.chdir(here)
        os.symlink("/dev/zero", folder / "zero.js")
        for name in ("pipe.js", "folder.js", "socket.js", "zero.js"):
            developing.request("GET", f"/assets/{version}/{name}").expect_problem(404, "not_found")
    (folder / "locked.js").write_text("// locked")
    (folder / "locked.js").chmod(0)
    if os.geteuid() != 0:
        developing.request("GET", f"/assets/{version}/locked.js").expect_problem(404, "not_found")
    with open(folder / "long.js", "wb") as file:
        file.truncate(8 << 20)
    assert len(developing.request("GET", f"/assets/{version}/long.js").body) == 8 << 20
    with open(folder / "long.js", "ab") as file:
        file.truncate((8 << 20) + 1)
    developing.request("GET", f"/assets/{version}/long.js").expect_problem(404, "not_found")
    with open(folder / "sparse.js", "wb") as file:
        file.truncate(1 << 40)
    developing.request("GET", f"/assets/{version}/sparse.js").expect_problem(404, "not_found")
    assert developing.request("GET", "/healthz").status == 200


def test_a_file_that_changes_while_it_is_read_is_whole_or_not_there(developing, folder):
    version, over = version_in(developing), threading.Event()
    whole = {letter * size for letter in (b"a", b"b") for size in (100_000, 300_000)}

    def write():
        contents = sorted(whole)
        while not over.is_set():
            for bytes_ in contents:
                with open(folder / "busy.js", "wb") as file:
                    file.write(bytes_)

    worker = threading.Thread(target=write)
    worker.start()
    try:
        for _ in range(60):
            answer = developing.request("GET", f"/assets/{version}/busy.js")
            assert answer.status in (200, 404, 503), answer.status
            if answer.status == 200:
                assert answer.headers["ETag"] == f'"{hashlib.sha256(answer.body).hexdigest()[:16]}"'
    finally:
        over.set()
        worker.join()


def test_a_folder_that_is_none_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "nowhere", tmp_path / "file"):
        ended = backline.run("serve", "--port", "0", "--store", "memory", "--web-directory", str(path))
        assert ended.returncode == 64 and "--web-directory" in ended.stderr and str(path) in ended.stderr


def test_a_removed_folder_has_no_files(servers, tmp_path):
    (tmp_path / "index.html").write_text("<!doctype html>")
    server = servers("--web-directory", str(tmp_path)).start()
    assert server.request("GET", "/").status == 200
    shutil.rmtree(tmp_path)
    server.request("GET", "/").expect_problem(404, "not_found")
    assert server.request("GET", "/healthz").status == 200


# http on the TLS port.

def plainly(server, *pieces, ends=False):
    """Everything that is answered to bytes without TLS."""
    with socket.create_connection((server.host, server.port), timeout=backline.PATIENCE) as stream:
        for piece in pieces:
            stream.sendall(piece)
        if ends:
            stream.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: stream.recv(65_536), b""))


def test_http_on_the_tls_port_leads_to_https(shared):
    host = f"localhost:{shared.port}".encode()
    for target in (b"/", b"/r/ABC123", b"/r/ABC123/", b"/R/ABC123.", b"/ABC123", b"/nearby?x=1&y=%20", b"/icon.svg"):
        for method in (b"GET", b"HEAD"):
            received = plainly(shared, method + b" " + target + b" HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
            head, _, body = received.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 308 "), received
            assert b"\r\nLocation: https://" + host + target + b"\r\n" in head + b"\r\n"
            assert b"\r\nConnection: close" in head and b"Strict-Transport-Security" not in head
            assert b"\r\nCache-Control: no-store" in head
            assert (body == b"") == (method == b"HEAD")


NOT_FOR_HTTPS = [
    b"GET /v1/rooms HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", b"GET / HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
    b"GET //r/x HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /assets/x/../y.js HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", b"GET / HTTP/2.0\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /\n\n", b"HELO there\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n", b"G" * 20_000,
    b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 20_000,
]


def test_other_requests_without_tls_are_told_to_use_https(shared):
    for request in NOT_FOR_HTTPS:
        received = plainly(shared, request)
        head, _, body = received.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ") and b"text/plain" in head and b"https://" in body, (
            request[:100], received)
        assert b"Location" not in head, request[:100]


def test_a_request_without_tls_may_come_in_pieces(shared):
    request = b"GET /r/ABC HTTP/1.1\r\nHost: here\r\n\r\n"
    for cut in range(1, len(request)):
        assert plainly(shared, request[:cut], request[cut:]).startswith(b"HTTP/1.1 308 "), cut
    assert plainly(shared, request[:20], ends=True) == b""


def test_bytes_after_a_request_without_tls_do_not_take_the_answer_away(shared):
    received = plainly(shared, b"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nContent-Length: 50000\r\n\r\n" + b"x" * 50_000)
    assert received.startswith(b"HTTP/1.1 400 ")


def test_a_request_without_tls_that_never_ends_is_closed_in_time(servers):
    server = servers("--handshake-timeout-seconds", "1").start()
    assert plainly(server, b"GET / HTT") == b""
    with socket.create_connection((server.host, server.port), timeout=backline.PATIENCE) as stream:
        stream.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert stream.recv(65_536).startswith(b"HTTP/1.1 308 ")
        # The peer does not close, so the server does.
        while stream.recv(65_536):
            pass
        backline.eventually(lambda: _is_reset(stream), "the connection is closed")


def _is_reset(stream):
    try:
        stream.sendall(b"x")
    except OSError:
        return True
    return False


def test_without_a_page_http_leads_nowhere(servers):
    server = servers("--no-web").start()
    assert plainly(server, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").startswith(b"HTTP/1.1 400 ")


def test_tls_goes_on_as_before_wherever_its_first_bytes_are_cut(shared):
    for cut in (1, 2, 5, 6, 100):
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = shared.context().wrap_bio(incoming, outgoing, server_hostname="localhost")
        with socket.create_connection((shared.host, shared.port), timeout=backline.PATIENCE) as stream:
            with contextlib.suppress(ssl.SSLWantReadError):
                tls.do_handshake()
            hello = outgoing.read()
            stream.sendall(hello[:cut])
            stream.sendall(hello[cut:])
            while True:
                try:
                    tls.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    stream.sendall(outgoing.read())
                    incoming.write(stream.recv(65_536))
            tls.write(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            stream.sendall(outgoing.read())
            received = b""
            while b"ok" not in received:
                try:
                    received += tls.read(65_536)
                except ssl.SSLWantReadError:
                    incoming.write(stream.recv(65_536))
            assert received.startswith(b"HTTP/1.1 200")


# Addresses and certificates.

def test_the_page_s_address_is_printed(servers):
    server = servers().start()
    page = backline.eventually(lambda: [line for line in server.printed if line.startswith("page ")], "a page line")
    assert page == [f"page https://localhost:{server.port}/"]
    assert server.printed[0] == server.ready_line


def addresses():
    """The addresses of this machine in its networks, as the system lists them."""
    listed = subprocess.run(["ip", "-4", "-o", "address"], capture_output=True, text=True, check=True).stdout
    found = [line.split() for line in listed.splitlines()]
    virtual = ("docker", "br-", "veth", "virbr", "cni", "flannel", "podman")
    return [words[3].partition("/")[0] for words in found
            if not words[3].startswith(("127.", "169.254.")) and not words[1].startswith(virtual)]


def test_on_all_addresses_the_certificate_has_those_of_the_network(servers, tmp_path):
    data = tmp_path / "data"
    store = ["--store", "sqlite", "--data", str(data)]
    server = servers(store=store, host="0.0.0.0").start()
    here = addresses()
    page = backline.eventually(
        lambda: len(server.printed) > len(here) + 1 and server.printed[1:], "a page line for each address")
    # The one that leads others here is the first to be read.
    assert page[-1] == f"page https://localhost:{server.port}/"
    assert sorted(page[:-1]) == sorted(f"page https://{address}:{server.port}/" for address in here)
    trusting = ssl.create_default_context(cafile=str(data / "ca.pem"))
    for name in ["localhost", "127.0.0.1", *here]:
        with socket.create_connection((name, server.port), timeout=backline.PATIENCE) as stream:
            trusting.wrap_socket(stream, server_hostname=name).close()
    authority = (data / "ca.pem").read_bytes()
    assert server.stop() == 0
    # On one address again, with the same authority.
    server = servers(store=store).start()
    with socket.create_connection((server.host, server.port), timeout=backline.PATIENCE) as stream:
        trusting.wrap_socket(stream, server_hostname="localhost").close()
    assert (data / "ca.pem").read_bytes() == authority
    assert {name: (data / name).stat().st_mode & 0o777 for name in ("ca-key.pem", "key.pem")} == {
        "ca-key.pem": 0o600, "key.pem": 0o600}


def test_the_authority_s_certificate_is_offered_to_phones(servers, tmp_path, certificate):
    data = tmp_path / "data"
    server = servers(store=["--store", "sqlite", "--data", str(data)]).start()
    answer = server.request("GET", "/development-ca.crt")
    assert answer.status == 200 and answer.headers["Content-Type"] == "application/x-x509-ca-cert"
    assert ssl.DER_cert_to_PEM_cert(answer.body).strip() == (data / "ca.pem").read_text().strip()
    server.request("POST", "/development-ca.crt", b"").expect_problem(405, "method_not_allowed")
    other = servers("--certificate", certificate[0], "--key", certificate[1]).start()
    other.request("GET", "/development-ca.crt").expect_problem(404, "not_found")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    paths = str(folder / "certificate.pem"), str(folder / "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out", paths[0], "-keyout", paths[1]],
        check=True, capture_output=True)
    return paths


# Logs.

def test_no_log_has_the_code_of_a_room(servers):
    server = servers().start()
    dj = server.session("Ana")
    code = dj.create_room(visibility="unlisted")["room"]["state"]["code"]
    for path in (f"/r/{code}", f"/r/{code}/x", f"/v1/rooms/{code}", f"/v1/rooms/{code}/events", f"/v1/rooms/{code}/x"):
        for person in (dj, None):
            server.request("GET", path, token=person and person.token)
            server.request("POST", path, b"{}", token=person and person.token)
    with dj.socket(f"/v1/rooms/{code}/socket"):
        pass
    plainly(server, f"GET /r/{code} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    plainly(server, f"GET /r/{code} HTTP/1.1\r\n\r\n".encode())
    raw(server, f"/r/{code}\x00".encode())
    assert server.stop() == 0
    assert code not in server.said()
