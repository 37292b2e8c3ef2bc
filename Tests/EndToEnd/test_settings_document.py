"""Documentation/Settings.md, compared with the program's `--help` in both directions."""

import re

import pytest

from documents import cells, numbers, read, rows, settings

PAGE = "Documentation/Settings.md"
HEAD = ["flag", "environment", "default", "meaning"]
STORE = {"--store", "--data", "--database-url"}
HELP = {"--version"}


@pytest.fixture(scope="module")
def known():
    return settings("serve")


@pytest.fixture(scope="module")
def listed():
    """The page's settings by flag; a flag stands on the page once."""
    found = {}
    for row in [row for row in rows(PAGE, len(HEAD)) if row != HEAD]:
        flag = re.fullmatch(r"`(--[\w-]+)`", row[0])
        assert flag, f"not one flag: {row[0]}"
        assert flag[1] not in found, f"twice: {flag[1]}"
        found[flag[1]] = dict(zip(HEAD, row))
    return found


def test_the_page_has_every_setting_and_no_other(known, listed):
    assert len(known) > 40
    assert listed.keys() == known.keys() - HELP


def test_a_setting_has_the_variable_that_the_help_names(known, listed):
    """With `=true`, the separator of several values, and a second variable if there is one."""
    for flag, row in listed.items():
        assert row["environment"].replace("`", "") == known[flag]["variable"], flag


def test_a_setting_has_the_default_that_the_help_names(known, listed):
    """Word for word if the default is not a number; otherwise all of its numbers, and the flags on which it depends."""
    for flag, row in listed.items():
        told, said = row["default"].replace("`", ""), known[flag]["default"]
        if said is None:
            assert told in ("", "off"), f"{flag}: {told!r}, but the help names no default"
        elif numbers(said):
            assert numbers(told) == numbers(said), f"{flag}: {told!r}, but the help says {said!r}"
            assert set(re.findall(r"--[\w-]+", told)) == set(re.findall(r"--[\w-]+", said)), flag
        else:
            assert told == said, f"{flag}: {told!r}, but the help says {said!r}"


def introduction(flag):
    """The text between the heading above a setting's table and the table."""
    section = next(part for part in read(PAGE).split("\n## ") if f"\n| `{flag}` |" in part)
    return section.split("\n|")[0]


def test_a_setting_says_what_it_is_for(known, listed):
    for flag, row in listed.items():
        assert row["meaning"], flag
        if "0: any number" in known[flag]["text"]:
            assert "0: any number" in row["meaning"] + introduction(flag), flag


def test_the_page_names_no_flag_that_there_is_not(known):
    for flag in re.findall(r"`(--[\w-]+)", read(PAGE).split("\n## The other commands")[0]):
        assert flag in known, f"there is no {flag}"


def test_the_other_commands_have_the_store_s_settings_and_what_the_page_names(known):
    section = read(PAGE).split("\n## The other commands")[1]
    own = {row[0]: set(re.findall(r"--[\w-]+", row[1]))
           for row in map(cells, section.splitlines()) if len(row) == 2 and row[0].startswith("`")}
    assert len(own) == 9
    for command, options in own.items():
        has = settings(*command.strip("`").split()[1:])
        assert has.keys() == STORE | options | HELP, command
        for flag in STORE:
            assert has[flag] == known[flag], f"{command}: {flag}"
