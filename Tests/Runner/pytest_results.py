"""A plugin of pytest that writes what each test did, as it happens, into the file that BACKLINE_RESULTS names.

Where tests run side by side, only the process that gives them out writes.
"""

import json
import os

import pytest


def pytest_configure(config):
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(os.environ["BACKLINE_RESULTS"]))


class Recorder:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8", buffering=1)
        self.reports = {}

    def write(self, **record):
        self.file.write(json.dumps(record) + "\n")

    def pytest_collection_finish(self, session):
        if session.items:
            self.write(planned=[item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node, ids):
        self.write(planned=list(ids))

    def pytest_collectreport(self, report):
        if report.failed:
            self.write(fault=f"{report.nodeid}\n{report.longreprtext}")

    def pytest_runtest_logstart(self, nodeid, location):
        self.write(began=nodeid)

    def pytest_runtest_logreport(self, report):
        reports = self.reports.setdefault(report.nodeid, [])
        reports.append(report)
        # The one report about a test whose process ended names no phase.
        if report.when in ("setup", "call"):
            return
        del self.reports[report.nodeid]
        failed = [one for one in reports if one.failed]
        # What was printed, by the seed among others, is in the last report.
        said = [one.longreprtext for one in failed]
        said += [f"--- {title}\n{text}" for title, text in reports[-1].sections] if failed else []
        # The time without that of fixtures, as those that tests share are made for the first of them.
        seconds = sum(one.duration for one in reports if one.when == "call")
        self.write(ended=report.nodeid, seconds=seconds, passed=not failed, output="\n".join(said))
