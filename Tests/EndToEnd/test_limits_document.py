"""Documentation/Limits.md and the README's settings, held against what `backline serve --help` says."""

import os
import re

import pytest

import backline

TREE = os.path.join(os.path.dirname(__file__), "..", "..")
HEAD = ["resource", "charged", "unit", "default", "setting", "answer"]

LIMIT = re.compile(
    r"--(max-|.*-(timeout|limit|grace|window)-seconds$|ping-interval|presence-grace|session-lifetime|.*-per-|retain-)")
"""Flags that bound something; what a flag turns on or where it listens is none."""


def settings():
    """Of `serve --help`, by flag: its text, its variable and its default, numbers without what stands behind them."""
    found, text = {}, ""
    for line in [*backline.run("serve", "--help").stdout.splitlines(), "  --end"]:
        if re.match(r"  --|  -h|[A-Z]", line):
            if (flag := re.match(r"  (--[\w-]+)", text)) is not None:
                joined = " ".join(text.split())
                variable = re.search(r"\[(BACKLINE_\w+)(=true)?", joined)
                default = re.search(r"default: (.*?)(\]|\)| \[)", joined)
                found[flag[1]] = {
                    "text": joined, "variable": variable and variable[1], "default": default and default[1]}
            text = line
        else:
            text += " " + line
    return found


def numbers(text):
    """The numbers of a text: 16,384 and 16384 are the same, units and names are left out."""
    found = re.findall(r"(?<![\w-])\d[\d,]*(?:\.\d+)?(?![\w-])", text or "")
    return [float(number.replace(",", "")) for number in found]


def amounts(text):
    """The numbers of a text, and what they are in bytes where a unit of bytes stands behind them."""
    units = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "days": 86_400, "h": 3600, "min": 60}
    scaled = [float(number.replace(",", "")) * units[unit]
              for number, unit in re.findall(r"(\d[\d,]*(?:\.\d+)?) (KiB|MiB|GiB|days|h|min)\b", text)]
    return [*numbers(text), *scaled]


def rows(page, width):
    """The cells of every row of a page's tables that have so many columns."""
    with open(os.path.join(TREE, page), encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.startswith("|")]
    split = [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [cells for cells in split if len(cells) == width and not set("".join(cells)) <= set("-:")]


@pytest.fixture(scope="module")
def known():
    return settings()


@pytest.fixture(scope="module")
def limits():
    return [dict(zip(HEAD, cells)) for cells in rows("Documentation/Limits.md", len(HEAD)) if cells != HEAD]


def flags(row):
    return re.findall(r"--[\w-]+", row["setting"])


def test_a_limit_names_settings_that_there_are(known, limits):
    assert len(limits) > 20
    for row in limits:
        for flag in flags(row):
            assert flag in known, f"{row['resource']}: there is no {flag}"


def test_what_a_setting_is_by_default_is_said_where_it_limits(known, limits):
    """A setting may bound several things, some of them by a part of it: one of the rows has its default."""
    for flag in sorted({flag for row in limits for flag in flags(row)}):
        told = [row["default"] for row in limits if flag in flags(row)]
        expected = known[flag]["default"]
        if numbers(expected):
            assert any(numbers(expected)[0] in amounts(text) for text in told), f"{flag}: {expected}, but {told}"


def test_a_limit_is_said_in_whole(limits):
    for row in limits:
        empty = [name for name in HEAD if name != "setting" and not row[name]]
        assert not empty, f"{row['resource'] or row}: no {empty}"


def test_every_setting_that_limits_is_on_the_page_of_limits(known, limits):
    named = {flag for row in limits for flag in flags(row)}
    missing = [flag for flag in known if LIMIT.match(flag) and flag not in named]
    assert not missing, f"not in Documentation/Limits.md: {missing}"


def test_the_readme_lists_every_setting_with_its_variable_and_default(known):
    listed = {}
    for names, variables, default, _ in rows("README.md", 4):
        for flag, variable in zip(re.findall(r"--[\w-]+", names), re.findall(r"BACKLINE_\w+", variables)):
            listed[flag] = (variable, default)
    missing = [flag for flag in known if flag not in listed and flag not in ("--help", "--version")]
    assert not missing, f"not in the README: {missing}"
    for flag, (variable, default) in listed.items():
        assert flag in known, f"there is no {flag}"
        assert variable == known[flag]["variable"], f"{flag}: {variable}"
        given, told = numbers(known[flag]["default"]), numbers(default)
        assert given[:1] == told[:1] or not told, f"{flag}: {default!r}, but the help says {known[flag]['default']!r}"
