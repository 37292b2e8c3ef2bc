"""A parser for `/metrics`."""

import re
from collections import defaultdict


class Exposition:
    """A text in Prometheus' format: the families' types, and the values for each set of labels."""

    def __init__(self, text):
        self.types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
        self.labels = {name: defaultdict(set) for name in self.types}
        for name, labels in re.findall(r"^([a-z_]+)(?:\{(.*)\})? \S+$", text, re.MULTILINE):
            for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
                if label != "le":
                    self.labels[self.family(name)][label].add(value)

    def family(self, name):
        """The family of a sample's name: the name of a histogram without the suffixes of its samples."""
        base = re.sub(r"_(bucket|count|sum)$", "", name)
        return base if self.types.get(base) == "histogram" else name
