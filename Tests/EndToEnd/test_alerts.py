"""Documentation/alerts.yml: Prometheus accepts the rules, they fire when they should, and their metrics exist."""

import re
import shutil
import subprocess

import pytest
import yaml

from documents import TREE, missing, numbers, read, settings

RULES = "Documentation/alerts.yml"
TESTS = "Tests/EndToEnd/alerts_test.yml"


def promtool(*arguments):
    program = shutil.which("promtool")
    assert program, "promtool is needed: apt-get install prometheus"
    return subprocess.run([program, *arguments], cwd=TREE, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def rules():
    groups = yaml.safe_load(read(RULES))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_prometheus_takes_the_rules():
    checked = promtool("check", "rules", RULES)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_rules_fire_when_they_should_and_only_then():
    tested = promtool("test", "rules", TESTS)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_every_rule_is_seen_to_fire(rules):
    fired = set(re.findall(r'alertname="(\w+)"', read(TESTS)))
    assert fired == {rule["alert"] for rule in rules}


def test_a_rule_says_how_bad_it_is_and_what_to_look_at(rules):
    for rule in rules:
        name, notes = rule["alert"], rule["annotations"]
        assert rule["labels"]["severity"] in ("page", "ticket"), name
        assert re.fullmatch(r"[1-9]\d*m", rule["for"]), name
        assert notes.keys() == {"summary", "description", "runbook"}, name
        # A rule without a server has no instance to name.
        assert "$labels.instance" in notes["summary"] or "absent(" in rule["expr"], name
        assert missing("", notes["runbook"]) is None, f"{name}: {missing('', notes['runbook'])}"


def test_a_rule_names_metrics_and_labels_that_a_server_exposes(rules, exposed):
    for rule in rules:
        name, expression = rule["alert"], rule["expr"]
        names = re.findall(r"\b(?:backline|process)_\w+", expression)
        assert names or re.search(r"\bup\b", expression), name
        for metric in [*names, *re.findall(r"\b(?:backline|process)_\w+", rule["annotations"]["description"])]:
            assert exposed.family(metric) in exposed.types, f"{name}: {metric}"
        for metric, matchers in re.findall(r"\b((?:backline|process)_\w+)\{(.*?)\}", expression):
            for label, values in re.findall(r'(\w+)(?:=|!=|=~|!~)"(.*?)"', matchers):
                if label != "job":
                    known = exposed.labels[exposed.family(metric)][label]
                    assert set(values.split("|")) <= known, f"{name}: {metric}{{{label}}}: {values} of {known}"


def test_a_rule_names_settings_that_there_are(rules):
    known = settings("serve")
    for rule in rules:
        for flag in re.findall(r"--[a-z][a-z-]+", " ".join(rule["annotations"].values())):
            # --room is an option of the tools.
            assert flag in known or flag == "--room", f"{rule['alert']}: {flag}"


def test_a_rule_about_a_limit_has_its_default(rules):
    default, = numbers(settings("serve")["--max-waiting-bytes"]["default"])
    rule, = [rule for rule in rules if "backline_waiting_bytes" in rule["expr"]]
    assert default in numbers(rule["expr"])


def test_the_page_of_metrics_lists_the_rules(rules):
    section = read("Documentation/Metrics.md").split("\n## Alerts\n")[1].split("\n## ")[0]
    assert set(re.findall(r"`(Backline\w+)`", section)) == {rule["alert"] for rule in rules}
