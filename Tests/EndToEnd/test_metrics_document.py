"""Documentation/Metrics.md, compared with a running server's metrics, in both directions."""

import re

import pytest

from documents import rows

PAGE = "Documentation/Metrics.md"
HEAD = ["name", "type", "labels", "meaning", "what to do about it"]


def labels(cell):
    """The labels of a cell, such as `one`, `other`: `value`, `value`; each with the values that are listed for it."""
    found = {}
    for part in filter(None, cell.split(";")):
        names, _, values = part.partition(":")
        names = re.findall(r"`(\w+)`", names)
        found |= {name: set() for name in names}
        found[names[-1]] = set(re.findall(r"`(\w+)`", values))
    return found


@pytest.fixture(scope="module")
def listed():
    """The page's metrics by name: type and labels."""
    found = {}
    for row in [row for row in rows(PAGE, len(HEAD)) if row != HEAD]:
        name = row[0].strip("`")
        assert name not in found, f"twice: {name}"
        found[name] = row[1].split(",")[0], labels(row[2])
    return found


def test_the_page_has_every_metric_and_no_other(exposed, listed):
    assert len(listed) > 50
    assert listed.keys() == exposed.types.keys()


def test_a_metric_has_the_type_that_the_page_names(exposed, listed):
    assert {name: type for name, (type, _) in listed.items()} == exposed.types


def test_a_metric_has_the_labels_that_the_page_names(exposed, listed):
    """And the values, if the page lists them."""
    for name, (_, named) in listed.items():
        assert named.keys() == exposed.labels[name].keys(), name
        for label, values in named.items():
            assert not values or values == exposed.labels[name][label], f"{name}: {label}"
