"""What a release is made of agrees with the program. `test_release.py` makes one and installs it."""

import configparser
import re

import backline
from documents import read

SETTINGS = "Packaging/backline.env"


def lines_of_settings():
    """The names and values that the file of the package sets or proposes."""
    return re.findall(r"^#?([A-Z][A-Z_]*)=(.*)$", read(SETTINGS), re.MULTILINE)


def test_the_newest_changes_are_those_of_this_version():
    newest = re.search(r"^## (\S+)", read("CHANGELOG.md"), re.MULTILINE).group(1)
    assert newest == backline.run("--version").stdout.strip()


def test_every_setting_of_the_package_is_one():
    documented = set(re.findall(r"`([A-Z_]+)(?:=true)?`", read("Documentation/Settings.md")))
    names = [name for name, _ in lines_of_settings()]
    assert len(names) == len(set(names)) >= 8
    assert set(names) <= documented


def test_the_settings_of_the_package_start_a_server(servers, tmp_path):
    sets = dict(re.findall(r"^([A-Z_]+)=(.*)$", read(SETTINGS), re.MULTILINE))
    assert sets == {"BACKLINE_HOST": "0.0.0.0"}
    # What it proposes is taken too, except that it names what this machine has not.
    proposed = {name: value for name, value in lines_of_settings() if not re.search("KEY|CERTIFICATE|URL|PORT|METRICS", name)}
    server = servers(environment={**sets, **proposed}, store=["--store", "sqlite", "--data", str(tmp_path)]).start()
    assert server.scheme == "http"
    assert server.stop() == 0


def test_systemd_does_not_try_again_what_stays_wrong():
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    unit.read_string(read("Packaging/debian/backline.service"))
    service = unit["Service"]
    assert service["RestartPreventExitStatus"].split() == ["64", "78"]
    for option in ("--threads=none", "--store=none"):
        assert backline.run("serve", option).returncode == 64
