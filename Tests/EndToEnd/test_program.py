"""The program's command line: settings, help, schema, certificates."""

import contextlib
import hashlib
import http.client
import os
import re
import resource
import sqlite3
import ssl
import subprocess

import pytest

import backline


@pytest.fixture
def certificate(tmp_path):
    """A certificate for localhost and 127.0.0.1, and its key."""
    paths = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-out", paths[0], "-keyout", paths[1]],
        check=True, capture_output=True)
    return [str(path) for path in paths]


def _migrate(storage):
    return backline.run("migrate", *storage)


def _check_one_line(ended, code):
    """The program ended with this code and gave the reason in one line, which is returned."""
    line = backline.refusal(ended, code)
    assert (ended.stderr, ended.stdout) == (line + "\n", "") and len(line) < 300, ended
    return line


@pytest.mark.soak("the store waits five seconds for the reader")
def test_a_tool_says_that_a_reader_has_kept_the_log_out_of_the_file(tmp_path):
    store = ("--store", "sqlite", "--data", str(tmp_path))
    assert _migrate(store).returncode == 0
    with contextlib.closing(sqlite3.connect(tmp_path / "backline.sqlite")) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM schema_migrations").fetchall()
        ended = _migrate(store)
    assert (ended.returncode, ended.stdout) == (0, "the schema is up to date\n"), ended
    assert ended.stderr.startswith("backline: Not all of the embedded store is in its main file"), ended


def test_migrate_brings_an_empty_database_up_and_may_be_run_again(servers, storage_without_schema):
    storage = storage_without_schema
    for _ in range(2):
        ended = _migrate(storage)
        assert ended.returncode == 0, ended
    server = servers(store=storage).start()
    server.session("Ana").create_room()
    assert server.stop() == 0
    ended = _migrate(storage)
    assert ended.returncode == 0 and "applied" not in ended.stdout, ended


def test_serve_fills_an_empty_database_and_says_so(servers, storage_without_schema):
    server = servers(store=storage_without_schema).start()
    backline.eventually(lambda: "schema was made" in server.said(), "a word about the schema")
    assert server.stop() == 0


def test_the_first_line_on_standard_output_says_where_it_listens_and_the_next_where_the_page_is(servers, certificate):
    server = servers("--certificate", certificate[0], "--key", certificate[1]).start()
    assert re.fullmatch(r"listening on https://127\.0\.0\.1:\d+", server.ready_line)
    assert server.stop() == 0
    assert server.printed == [server.ready_line, f"page https://localhost:{server.port}/"]


def test_one_line_on_standard_output_says_where_it_listens_without_a_page(servers, certificate):
    for options in (["--no-web", "--certificate", certificate[0], "--key", certificate[1]], ["--plain"]):
        server = servers(*options).start()
        assert server.stop() == 0
        assert server.printed == [server.ready_line]


def test_a_development_certificate_is_made_once_and_named(servers, tmp_path):
    server = servers(store=["--store", "sqlite", "--data", str(tmp_path / "data")]).start()
    shown = ssl.get_server_certificate((server.host, server.port))
    fingerprint = backline.eventually(
        lambda: re.search(r"(?:[0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2}|[0-9A-Fa-f]{64}", server.said()),
        "the certificate's fingerprint")
    digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(shown)).hexdigest()
    assert fingerprint.group().replace(":", "").lower() == digest
    assert server.stop() == 0
    server.start()
    assert ssl.get_server_certificate((server.host, server.port)) == shown, "the same after a restart"
    keys = [os.path.join(folder, name) for folder, _, names in os.walk(tmp_path) for name in names
            if name.endswith(".pem") and "key" in name]
    assert keys and all(os.stat(path).st_mode & 0o077 == 0 for path in keys), "nobody else may read the key"


def test_a_configured_certificate_is_shown_and_verifies(servers, certificate, tmp_path):
    server = servers("--certificate", certificate[0], "--key", certificate[1]).start()
    context = ssl.create_default_context(cafile=certificate[0])
    for host in ("localhost", "127.0.0.1"):
        connection = http.client.HTTPSConnection(host, server.port, timeout=backline.PATIENCE, context=context)
        with contextlib.closing(connection):
            connection.request("GET", "/healthz")
            assert connection.getresponse().status == 200


def test_tls_before_1_2_is_refused(servers):
    server = servers().start()
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = server.context()
        context.minimum_version = context.maximum_version = version
        connection = http.client.HTTPSConnection(server.host, server.port, timeout=backline.PATIENCE, context=context)
        with contextlib.closing(connection):
            connection.request("GET", "/healthz")
            assert connection.getresponse().status == 200
    openssl = subprocess.run(
        ["openssl", "s_client", "-connect", f"{server.host}:{server.port}", "-tls1_1", "-cipher", "ALL@SECLEVEL=0"],
        capture_output=True, stdin=subprocess.DEVNULL, timeout=backline.PATIENCE)
    assert openssl.returncode != 0


def test_plain_serves_without_tls(servers):
    server = servers("--plain").start()
    assert server.ready_line == f"listening on http://127.0.0.1:{server.port}"
    dj = server.session("Ana")
    room = dj.create_room()["room"]["state"]["id"]
    with dj.socket() as client:
        assert client.subscribe(room)["type"] == "snapshot"


def test_settings_are_taken_from_the_environment_and_flags_win(servers, tmp_path):
    server = servers(environment={"BACKLINE_STORE": "sqlite", "BACKLINE_DATA": str(tmp_path / "there")}, store=())
    server.start()
    assert os.path.isdir(tmp_path / "there")
    assert server.stop() == 0
    server = servers(
        environment={"BACKLINE_STORE": "sqlite", "BACKLINE_DATA": str(tmp_path / "not here")},
        store=["--data", str(tmp_path / "here")])
    server.start()
    assert os.path.isdir(tmp_path / "here") and not os.path.exists(tmp_path / "not here")
    assert server.stop() == 0


def test_a_database_url_in_the_environment_chooses_postgres(servers, cluster, tmp_path):
    url = cluster.database()
    server = servers(environment={"DATABASE_URL": url}, store=["--data", str(tmp_path)]).start()
    server.session("Ana").create_room()
    assert cluster.sql("SELECT count(*) FROM heads", database=url.rpartition("/")[2]) == "1"
    assert server.stop() == 0


BAD_SETTINGS = {
    "a port that is a text": ["--port", "http"], "a port too high": ["--port", "65536"],
    "a negative port": ["--port", "-1"], "an unknown store": ["--store", "paper"],
    "an unknown flag": ["--colour", "red"], "a stray word": ["now"],
    "a negative precision": ["--location-precision-meters=-1"],
    "a precision that is a text": ["--location-precision-meters", "fine"],
    "a precision that is no number": ["--location-precision-meters", "nan"],
    "a database URL that is none": ["--store", "postgres", "--database-url", "not a url"],
    "a certificate without a key": ["--certificate", "/dev/null"],
    "a key without a certificate": ["--key", "/dev/null"],
    "a certificate that is not there": ["--certificate", "/nowhere/c.pem", "--key", "/nowhere/k.pem"],
    "a certificate that is none": ["--certificate", "/dev/null", "--key", "/dev/null"],
    "plain with a certificate": ["--plain", "--certificate", "/dev/null", "--key", "/dev/null"],
    "a folder of the page without a page": ["--no-web", "--web-directory", "/tmp"],
    "a folder of the page that is none": ["--web-directory", "/dev/null"],
    "a folder that has no page": ["--web-directory", "/proc"], "an unknown level": ["--log-level", "loud"],
    "an origin that is none": ["--origin", "example.org"],
}


@pytest.mark.parametrize("options", BAD_SETTINGS.values(), ids=BAD_SETTINGS.keys())
def test_a_bad_setting_is_one_line_and_exit_64(options, tmp_path):
    ended = backline.run("serve", "--port", "0", "--data", str(tmp_path / "data"), *options)
    _check_one_line(ended, 64)
    assert not os.path.exists(tmp_path / "data"), "what cannot be right is found before anything is made"


NUMBERS = {
    "port": ("65536", "a whole number from 0 to 65535"), "threads": ("0", "a whole number from 1 to 1024"),
    "max-head-bytes": ("1e4", "a whole number from 1024 to 1048576"),
    "session-lifetime-seconds": ("6", "10 to 31536000 seconds"),
    "presence-grace-seconds": ("3601", "0 to 3600 seconds"),
    "location-precision-meters": ("1000000.50", "0 to 1000000 meters"),
    "retain-closed-rooms": ("never", "0 to 36500 days"),
    "stall-limit-seconds": (".05", "0.1 to 86400 seconds"), "drain-delay-seconds": ("1d", "0 to 86400 seconds"),
    "metrics-address": ("9464", "HOST:PORT, for example 127.0.0.1:9464 or [::1]:9464, with a port from 0 to 65535"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_an_error_names_what_was_typed_and_what_is_allowed(name):
    value, expected = NUMBERS[name]
    variable = "BACKLINE_" + name.upper().replace("-", "_")
    for where, options, environment in ((f"--{name}", [f"--{name}", value], {}), (variable, [], {variable: value})):
        line = _check_one_line(backline.run("serve", *options, environment=environment), 64)
        assert line == f"backline: {where}: '{value}' is not valid; expected {expected}"


@pytest.mark.parametrize("name, value", [
    ("BACKLINE_PORT", "http"), ("BACKLINE_STORE", "paper"), ("BACKLINE_LOCATION_PRECISION_METERS", "fine"),
])
def test_a_bad_setting_in_the_environment_is_one_line_and_exit_64(name, value, tmp_path):
    ended = backline.run("serve", "--data", str(tmp_path / "data"), environment={name: value})
    assert name in _check_one_line(ended, 64)
    assert not os.path.exists(tmp_path / "data")


@pytest.mark.parametrize("setting, word", [
    ("sslmode=foo", 'invalid sslmode value: "foo"'), ("sslmode=require", "does not support SSL"),
    ("target_session_attrs=foo", "invalid target_session_attrs value"), ("keepalives=many", "invalid integer value"),
    ("options=-cnone%3D1", 'unrecognized configuration parameter "none"'), ("service=none", '"none" not found'),
    ("options=-csearch_path%3Dnone", "no schema has been selected"),
])
def test_a_setting_that_never_heals_is_not_tried_again(cluster, setting, word):
    url = f"{cluster.url('postgres')}?{setting}"
    # What is only read finds nothing where there is no schema.
    for tool in (("serve", "--plain"), ("migrate",), *([] if "path" in setting else [("verify",)])):
        assert word in _check_one_line(backline.run(*tool, "--database-url", url), 64)


def test_a_process_that_may_open_too_few_files_does_not_start():
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    ended = subprocess.run(
        [backline.program(), "serve", "--plain", "--port", "0", "--store", "memory"], capture_output=True, text=True,
        preexec_fn=limit, timeout=backline.PATIENCE)
    assert "may have 64 files open, and a server needs 256" in _check_one_line(ended, 69)


@pytest.mark.parametrize("option, host, code", [("--host", "no..where", 64), ("--metrics-address", "no..where:0", 69)])
def test_a_host_that_is_none_is_one_line_with_its_setting(option, host, code):
    # The resolver asks nobody for a name with an empty part.
    line = _check_one_line(backline.run("serve", "--plain", "--port", "0", "--store", "memory", option, host), code)
    assert option in line and "no..where" in line


def test_the_address_of_a_service_that_the_platform_sets_is_no_port():
    """Of a service named `backline`, Kubernetes and Docker set the variable of the port."""
    links = {
        "BACKLINE_PORT": "tcp://10.96.12.7:8443", "BACKLINE_SERVICE_HOST": "10.96.12.7",
        "BACKLINE_SERVICE_PORT": "8443", "BACKLINE_PORT_8443_TCP": "tcp://10.96.12.7:8443",
        "BACKLINE_PORT_8443_TCP_PORT": "8443",
    }
    # The port is read before what is wrong here.
    ended = backline.run("serve", "--metrics-address", "nowhere", environment=links)
    notice, error = ended.stderr.splitlines()
    assert ended.returncode == 64
    assert "BACKLINE_PORT" in notice and "counts as not set" in notice
    assert error.startswith("backline: --metrics-address: ")


def test_a_second_server_on_one_embedded_store_is_one_clear_line(servers, tmp_path):
    servers(store=("--store", "sqlite", "--data", str(tmp_path))).start()
    result = backline.run("serve", "--store", "sqlite", "--port", "0", "--data", str(tmp_path))
    assert result.returncode == 69 and "uses the embedded store" in result.stderr.splitlines()[-1], result


def test_a_port_that_is_free_is_found_and_told(servers):
    server = servers("--port", "0")
    server.start()
    assert f"--port {server.port}" not in " ".join(server.process.args)
    assert server.request("GET", "/healthz").status == 200


def test_a_port_in_use_is_one_clear_line(servers, tmp_path):
    server = servers().start()
    ended = backline.run(
        "serve", "--store", "memory", "--port", str(server.port), "--data", str(tmp_path))
    assert ended.returncode not in (0, 64), ended
    assert re.search(rf":{server.port}: Address already in use$", ended.stderr.splitlines()[-1]), ended
    assert server.running


def test_a_database_that_is_not_there_is_one_clear_line(tmp_path):
    with contextlib.closing(backline.socket.socket()) as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"postgres://backline:secret@127.0.0.1:{nobody.getsockname()[1]}/backline"
        ended = backline.run("migrate", "--store", "postgres", "--database-url", url)
    assert ended.returncode not in (0, 64), ended
    assert ended.stderr.strip() and "Fatal error" not in ended.stderr
    assert "secret" not in ended.stderr + ended.stdout


def test_help_is_given():
    for arguments in (["--help"], ["serve", "--help"], ["migrate", "--help"], ["help", "serve"]):
        ended = backline.run(*arguments)
        assert ended.returncode == 0 and "USAGE" in ended.stdout, ended
    for word in ("serve", "migrate"):
        assert word in backline.run("--help").stdout
    shown = backline.run("serve", "--help").stdout
    for flag in ("--host", "--port", "--store", "--data", "--database-url", "--certificate", "--key", "--plain",
                 "--origin", "--location-precision-meters"):
        assert flag in shown, flag
    for default in ("127.0.0.1", "8443", ".backline", "100"):
        assert default in shown, default
    ended = backline.run("--version")
    assert ended.returncode == 0 and re.match(r"\d+\.\d+", ended.stdout.strip()), ended
