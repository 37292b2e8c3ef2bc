"""The files of the page as they are built into the program, and their version, computed without the server's code."""

import hashlib
import os

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGES = os.path.join(TREE, "Sources", "WebClient", "Pages")


def without_comments(text):
    """A script or a style sheet without indentation; lines that hold only a comment are empty."""
    lines, comment = [], False
    for line in text.split("\n"):
        line = line.strip(" ")
        if line.startswith("/*") and line.find("*/") in (-1, len(line) - 2):
            comment = True
        lines.append("" if comment or line.startswith("//") else line)
        if line.endswith("*/"):
            comment = False
    return "\n".join(lines)


def sources():
    """The files of the page in the source tree, by path, as they are embedded."""
    found = {}
    for folder, _, names in os.walk(PAGES):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), PAGES)
            if not name.startswith(".") and not name.endswith(".ts") and path != "tsconfig.json":
                with open(os.path.join(PAGES, path), "rb") as file:
                    found[path] = file.read()
                if path.endswith((".js", ".css")):
                    found[path] = without_comments(found[path].decode()).encode()
    return found


def version_of(files):
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.encode()):
        digest.update(f"{len(path)} {path} {len(files[path])} ".encode() + files[path])
    return digest.hexdigest()[:16]


FILES = sources()
VERSION = version_of(FILES)
