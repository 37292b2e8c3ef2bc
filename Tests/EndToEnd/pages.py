"""The files of the page in the source tree, and their version, computed without the server's code."""

import hashlib
import os

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = os.path.join(TREE, "Sources", "WebClient", "Pages")


def sources():
    """The files of the page in the source tree, by path."""
    found = {}
    for folder, _, names in os.walk(PAGES):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), PAGES)
            if not name.startswith(".") and not name.endswith(".ts") and path != "tsconfig.json":
                with open(os.path.join(PAGES, path), "rb") as file:
                    found[path] = file.read()
    return found


def version_of(files):
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.encode()):
        digest.update(f"{len(path)} {path} {len(files[path])} ".encode() + files[path])
    return digest.hexdigest()[:16]


FILES = sources()
VERSION = version_of(FILES)
