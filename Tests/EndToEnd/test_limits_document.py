"""Documentation/Limits.md, compared with `backline serve --help`."""

import re

import pytest

from documents import amounts, numbers, rows, settings

HEAD = ["resource", "charged", "unit", "default", "setting", "answer"]

LIMIT = re.compile(
    r"--(max-|.*-(timeout|limit|grace|window)-seconds$|ping-interval|presence-grace|session-lifetime|.*-per-|retain-)")
"""Flags that set a limit; flags that turn something on or give an address are not among them."""


@pytest.fixture(scope="module")
def known():
    return settings("serve")


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
    """A setting may limit several things, some of them to a fraction of it: one of the rows has its default."""
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
