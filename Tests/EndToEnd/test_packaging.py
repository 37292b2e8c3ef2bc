"""What a release is made of agrees with the program. `test_release.py` makes one and installs it."""

import configparser
import os
import re
import runpy

import yaml

import backline
from documents import TREE, read

SETTINGS = "Packaging/backline.env"


def lines_of_settings():
    """The names and values that the file of the package sets or proposes."""
    return re.findall(r"^#?([A-Z][A-Z_]*)=(.*)$", read(SETTINGS), re.MULTILINE)


def test_the_newest_changes_are_those_of_this_version():
    newest = re.search(r"^## (\S+)", read("CHANGELOG.md"), re.MULTILINE).group(1)
    assert newest == backline.run("--version").stdout.strip()


def documented_settings():
    return set(re.findall(r"`([A-Z_]+)(?:=true)?`", read("Documentation/Settings.md")))


def test_every_setting_of_the_package_is_one():
    names = [name for name, _ in lines_of_settings()]
    assert len(names) == len(set(names)) >= 8
    assert set(names) <= documented_settings()


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


def test_the_image_of_a_release_is_the_one_of_the_dockerfile(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    image = runpy.run_path(os.path.join(TREE, "Scripts", "image"))
    stage = image["last_stage"](os.path.join(TREE, "Dockerfile"))
    settings = image["settings_of"](stage)
    assert settings["User"] == "backline" and settings["WorkingDir"] == "/data" and settings["Volumes"] == {"/data": {}}
    assert settings["Env"][1:] == ["BACKLINE_HOST=0.0.0.0", "BACKLINE_DATA=/data"]
    assert settings["Entrypoint"] + settings["Cmd"] == ["backline", "serve"]
    assert settings["ExposedPorts"] == {"8443/tcp": {}}
    kind, check = settings["Healthcheck"]["Test"]
    assert kind == "CMD-SHELL" and check.startswith("ask()") and check.endswith("ask https || ask http")
    assert sum(word == "RUN" for word, _ in stage) == 1


def test_the_servers_of_kubernetes_start_and_answer_what_they_are_asked(servers, cluster, tmp_path):
    found = {one["kind"]: one for one in yaml.safe_load_all(read("Documentation/kubernetes.yaml"))}
    pod = found["Deployment"]["spec"]["template"]["spec"]
    container, = pod["containers"]
    migration, = pod["initContainers"]
    assert container["image"] == migration["image"] == f"backline:{backline.run('--version').stdout.strip()}"
    secret = found["Secret"]["stringData"]
    sets = {one["name"]: one["value"] for one in container["env"]}
    assert secret.keys() | sets.keys() <= documented_settings()
    # Its delay and the window, which is 20 s, are over before the pod is ended.
    assert int(sets["BACKLINE_DRAIN_DELAY_SECONDS"]) + 20 < pod["terminationGracePeriodSeconds"]
    ports = {one["name"]: one["containerPort"] for one in container["ports"]}
    assert sets.pop("BACKLINE_METRICS_ADDRESS").rpartition(":")[2] == str(ports["metrics"])
    sets.pop("BACKLINE_DRAIN_DELAY_SECONDS")

    # It has no disk to write on.
    (tmp_path / "file").touch()
    nowhere = {"BACKLINE_DATA": str(tmp_path / "file" / "data"), **dict.fromkeys(secret, cluster.empty_database())}
    assert backline.run(*migration["args"], environment=nowhere).returncode == 0
    server = servers(environment={**sets, **nowhere}, store=[]).start()
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["port"] == "http" and ports["http"] == 8443
        assert server.request("GET", asked["path"]).status == 200
    assert server.session("Ana").create_room()
    assert server.stop() == 0
