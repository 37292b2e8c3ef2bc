"""The server that pages come from."""

import os

import backline
import parties


def make_server(authority, folder, *options, store=None, certificate=True):
    """A server that is not started, with the authority's certificate and rooms that may be filled at once.

    BACKLINE_PAGES names a folder of pages to serve in place of those in the program.
    """
    store = store or ["--store", "sqlite", "--data", str(folder)]
    pages = ["--web-directory", os.environ["BACKLINE_PAGES"]] if os.environ.get("BACKLINE_PAGES") else []
    return backline.Server(
        *backline.NO_GRACE, *parties.OPTIONS, *(authority.options if certificate else []), *pages, *options,
        store=store)
