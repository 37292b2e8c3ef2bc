"""Readers for the project's pages, and for the program's `--help`."""

import os
import re

import backline

TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))


def read(page):
    """A page's text; `page` is its path from the root of the repository."""
    with open(os.path.join(TREE, page), encoding="utf-8") as file:
        return file.read()


def settings(*command):
    """A command's options in its `--help`, by flag: text, variable with the text beside it, and default."""
    found, text = {}, ""
    for line in [*backline.run(*command, "--help").stdout.splitlines(), "  --end"]:
        if re.match(r"  --|  -h|[A-Z]", line):
            if (flag := re.match(r"  (--[\w-]+)", text)) is not None:
                joined = " ".join(text.split())
                variable = re.search(r"\[(BACKLINE_[^;\]]+)", joined)
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
    """The numbers of a text, and their values in bytes or seconds if a larger unit follows them."""
    units = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "days": 86_400, "h": 3600, "min": 60}
    scaled = [float(number.replace(",", "")) * units[unit]
              for number, unit in re.findall(r"(\d[\d,]*(?:\.\d+)?) (KiB|MiB|GiB|days|h|min)\b", text)]
    return [*numbers(text), *scaled]


def cells(line):
    """The cells of one row of a table; `\\|` inside a cell is not a border."""
    return [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def rows(page, width):
    """The cells of every row of a page's tables that have this number of columns."""
    split = [cells(line) for line in read(page).splitlines() if line.startswith("|")]
    return [row for row in split if len(row) == width and not set("".join(row)) <= set("-:")]


def blocks(page, language):
    """The code blocks of one language on a page, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", read(page), re.MULTILINE | re.DOTALL)


def pages():
    """Paths of all pages for people, from the root of the repository."""
    return [
        os.path.join(folder, name) for folder in ("", "Benchmarks", "Documentation", "Documentation/Decisions")
        for name in sorted(os.listdir(os.path.join(TREE, folder))) if name.endswith(".md")]


def prose(page):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", read(page), flags=re.MULTILINE | re.DOTALL)


def links(page):
    """The targets of a page's links and images, except those on the web."""
    found = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page)))
    found += re.findall(r'<img [^>]*src="([^"]+)"', prose(page))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(page):
    """The anchors of a page, which a link may have after the `#`: its headings, as GitHub writes them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")
        number = sum(other == anchor or re.fullmatch(rf"{re.escape(anchor)}-\d+", other) is not None for other in found)
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


def missing(page, target):
    """The missing target of a page's link; None if it exists. A link without a page name points at the root."""
    path, _, anchor = target.partition("#")
    pointed = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if not os.path.exists(os.path.join(TREE, pointed)):
        return f"no file {pointed}"
    if anchor and (not pointed.endswith(".md") or anchor not in anchors(pointed)):
        return f"no heading #{anchor} in {pointed}"
    return None
