"""The Debian package of a release, installed on bare machines: no Swift, no network, nothing of this tree."""

import contextlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import tempfile
import time

import pytest

import backline
import browsers
import trust
from fold import differences
from machine import Machine, build
from test_party import Story

TREE = pathlib.Path(__file__).parents[2]
SETTINGS = "/etc/backline/backline.env"
DATA = "/var/lib/backline"

pytestmark = [pytest.mark.soak("builds a release, and boots machines"), pytest.mark.alone]


@pytest.fixture(scope="module")
def package(request):
    """The package: in the folder that BACKLINE_RELEASE names, else made from the commit that is checked out."""
    with tempfile.TemporaryDirectory(prefix="backline-release-") as folder:
        given = os.environ.get("BACKLINE_RELEASE")
        if not given:
            # It tells what it does, so that nobody takes it for a test that hangs.
            with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
                subprocess.run(["git", "clone", "--quiet", TREE, f"{folder}/tree"], check=True)
                subprocess.run([f"{folder}/tree/Scripts/release", f"{folder}/out"], check=True)
        (found,) = pathlib.Path(given or f"{folder}/out").glob("backline_*.deb")
        yield found


@pytest.fixture(scope="module")
def system(package):
    """The bare system from which machines start."""
    with tempfile.TemporaryDirectory(prefix="backline-system-") as folder:
        os.chmod(folder, 0o755)
        yield build(folder, package)


@pytest.fixture
def machine(system):
    """A machine without the package."""
    with contextlib.closing(Machine(system)) as made:
        yield made
        print(f"--- the machine\n{made.run('journalctl', '--no-pager', '--lines=60', '--unit=backline').stdout}")


def install(machine, package):
    """Returns what apt said."""
    machine.copy_in(package, "/root/package.deb")
    done = machine.run("apt-get", "install", "--yes", "/root/package.deb")
    machine.run("rm", "/root/package.deb")
    return done.stdout + done.stderr


@pytest.fixture
def installed(machine, package):
    install(machine, package)
    return machine


def shown(machine, name):
    """A property of the unit."""
    return machine.run("systemctl", "show", "--property", name, "--value", "backline").stdout.strip()


def is_ready(machine):
    """Whether it serves clients."""
    with contextlib.suppress(OSError):
        return backline.Address(machine.address, 8443).request("GET", "/readyz").status == 200


def comes_back(machine, process):
    """Waits until it runs as another process than this one."""
    backline.eventually(
        lambda: shown(machine, "ActiveState") == "active" and shown(machine, "MainPID") not in ("0", process),
        "another process runs")


def test_the_status_names_the_addresses_of_the_page(installed):
    assert installed.run("systemctl", "is-active", "backline").stdout == "active\n"
    assert shown(installed, "StatusText").split(", ") == [
        "listening on https://0.0.0.0:8443", f"page https://{installed.address}:8443/", "page https://localhost:8443/"]


def test_a_party_on_a_machine_without_swift(installed, visit, playwright_driver, tmp_path):
    (tmp_path / "ca.pem").write_text(installed.read(f"{DATA}/ca.pem"))
    home = trust.home(tmp_path / "home", tmp_path / "ca.pem")
    # The page is visited as phones in the same network do.
    host = installed.address
    flags = [f"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE {host}"]
    with contextlib.closing(browsers.Chromium(playwright_driver, home, flags)) as first, \
            contextlib.closing(browsers.Chromium(playwright_driver, home, flags)) as second:
        def open(*arguments, browser=None, **options):
            return visit(*arguments, browser=browser or first, host=host, **options)

        story = Story(open, second, backline.Address(host, 8443))
        story.mina_opens_a_room()
        story.mina_shares_the_code()
        story.guests_join()
        story.they_search_vote_and_withdraw()
        story.all_are_equal()


def test_it_starts_with_the_machine(installed):
    installed.reboot()
    backline.eventually(lambda: is_ready(installed), "it serves clients again")


def test_the_unit_may_do_little_beside_serving(installed):
    said = installed.run("systemd-analyze", "security", "--no-pager", "backline").stdout
    assert float(re.search(r"exposure level for backline\.service: ([\d.]+)", said).group(1)) <= 3.0, said


def test_data_and_settings_are_private(installed):
    stat = installed.run("stat", "--format=%U:%G %a", f"/proc/{shown(installed, 'MainPID')}", DATA, SETTINGS)
    assert stat.stdout.splitlines() == ["backline:backline 555", "backline:backline 700", "root:root 600"]


def test_lintian_finds_no_error_in_the_package(package):
    said = subprocess.run(
        ["lintian", "--allow-root", "--tag-display-limit", "0", package], capture_output=True, text=True).stdout
    assert not re.findall("^E: .*", said, re.MULTILINE), said


def test_a_bad_setting_ends_it_once(installed):
    installed.write(SETTINGS, "BACKLINE_PORT=none\n")
    installed.run("systemctl", "restart", "backline", check=False)
    backline.eventually(lambda: shown(installed, "ActiveState") == "failed", "it has failed")
    assert (shown(installed, "Result"), shown(installed, "ExecMainStatus"), shown(installed, "NRestarts")) == (
        "exit-code", "64", "0")


def test_it_is_started_again_after_a_kill(installed):
    process = shown(installed, "MainPID")
    installed.run("systemctl", "kill", "--signal=KILL", "backline")
    comes_back(installed, process)
    backline.eventually(lambda: is_ready(installed), "it serves clients again")


def test_a_reload_keeps_the_process(installed):
    process = shown(installed, "MainPID")
    installed.run("systemctl", "reload", "backline")
    assert is_ready(installed)
    assert (shown(installed, "ActiveState"), shown(installed, "MainPID")) == ("active", process)


def test_the_watchdog_ends_a_process_that_stands_still(installed):
    installed.write("/etc/systemd/system/backline.service.d/test.conf", "[Service]\nWatchdogSec=2\nTimeoutAbortSec=2\n")
    installed.run("systemctl", "daemon-reload")
    installed.run("systemctl", "restart", "backline")
    process = shown(installed, "MainPID")
    installed.run("systemctl", "kill", "--signal=STOP", "backline")
    comes_back(installed, process)
    assert "Watchdog timeout" in installed.run("journalctl", "--no-pager", "--unit=backline").stdout
    backline.eventually(lambda: is_ready(installed), "it serves clients again")


def older(package, folder):
    """The package as one of a lower version."""
    subprocess.run(["dpkg-deb", "--raw-extract", package, folder / "older"], check=True)
    control = folder / "older" / "DEBIAN" / "control"
    control.write_text(re.sub("(?m)^Version: .*", "Version: 0.0.1", control.read_text()))
    subprocess.run(["dpkg-deb", "--build", "-Znone", folder / "older", folder / "older.deb"], check=True)
    return folder / "older.deb"


def log_of_older_release(path):
    """Makes its file; returns what that release served, and the migrations that the file lacks."""
    schema = sorted((TREE / "Schema" / "sqlite").glob("*.sql"))
    rows = max(
        path for path in (TREE / "Tests" / "EndToEnd" / "Migrations").glob("*.sqlite.sql")
        if int(path.name[:4]) < len(schema))
    number = int(rows.name[:4])
    with contextlib.closing(sqlite3.connect(path)) as database:
        for file in [*schema[:number], rows]:
            database.executescript(file.read_text())
        # A session lives for 30 days without use.
        database.execute("UPDATE sessions SET expires_at = ?", [int((time.time() + 29 * 86_400) * 1000)])
        database.commit()
    return json.loads(rows.with_suffix(".json").read_text()), [file.name.split(".")[0] for file in schema[number:]]


def test_an_upgrade_brings_the_log_up_to_date_and_keeps_the_settings(machine, package, tmp_path):
    install(machine, older(package, tmp_path))
    settings = machine.read(SETTINGS).replace("#BACKLINE_PORT=8443", "BACKLINE_PORT=9443")
    machine.write(SETTINGS, settings)
    machine.run("systemctl", "stop", "backline")
    served, lacking = log_of_older_release(tmp_path / "log")
    machine.run("sh", "-c", f"rm {DATA}/backline.sqlite*")
    machine.copy_in(tmp_path / "log", f"{DATA}/backline.sqlite")
    machine.run("chown", "backline:backline", f"{DATA}/backline.sqlite")

    said = install(machine, package)
    assert "bringing the event log up to date" in said
    assert [f"{int(number):04}_{name}" for number, name in re.findall(r"applied (\d+) (\S+)", said)] == lacking, said
    assert machine.read(SETTINGS) == settings
    assert shown(machine, "ActiveState") == "active"
    session = served["sessions"][0]
    ana = backline.Person(
        backline.Address(machine.address, 9443), session["session"], session["token"], session["name"])
    for room in served["rooms"]:
        snapshot = ana.room(room["room"])["room"]
        assert (snapshot["epoch"], snapshot["seq"]) == (room["epoch"], room["seq"])
        assert differences(snapshot["state"], room["state"]) == []


def test_a_removal_keeps_data_and_settings(installed):
    settings = installed.read(SETTINGS)
    installed.run("apt-get", "remove", "--yes", "backline")
    assert not is_ready(installed) and shown(installed, "LoadState") in ("not-found", "masked")
    assert installed.read(SETTINGS) == settings
    assert "backline.sqlite" in installed.run("ls", DATA).stdout
    assert installed.run("ls", "/usr/bin/backline", check=False).returncode != 0


def test_a_purge_leaves_nothing(installed):
    installed.run("apt-get", "purge", "--yes", "backline")
    left = installed.run("find", "/", "-xdev", "(", "-name", "*backline*", "-o", "-nouser", "-o", "-nogroup", ")")
    assert left.stdout == ""
    assert "backline" not in installed.read("/etc/passwd") + installed.read("/etc/group")
    assert shown(installed, "LoadState") == "not-found"


def test_it_starts_where_only_its_data_can_be_written_and_there_is_no_network(installed, capsys):
    installed.run("install", "--directory", "--owner=nobody", "/srv/data")
    installed.run(
        "systemd-run", "--quiet", "--unit=apart", "--uid=nobody", "--property=Type=notify",
        "--property=PrivateNetwork=yes", "--property=ProtectSystem=strict", "--property=ReadWritePaths=/srv/data",
        "backline", "serve", "--data", "/srv/data")
    times = [
        int(installed.run("systemctl", "show", "--property", name, "--value", "apart").stdout)
        for name in ("ExecMainStartTimestampMonotonic", "ActiveEnterTimestampMonotonic")]
    with capsys.disabled():
        print(f"\nready after {(times[1] - times[0]) / 1000:.0f} ms")
    assert "listening on " in installed.run("journalctl", "--no-pager", "--unit=apart").stdout
