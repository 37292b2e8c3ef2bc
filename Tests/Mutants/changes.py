"""Finds small changes of sources in Swift, JavaScript and SQL that the tests should notice."""

import collections
import hashlib
import re

Mutant = collections.namedtuple("Mutant", "key part path line start end before after form")
"""A change: the text from `start` to `end` of a file, and what stands there instead. The `key` gives the random order.
The `form` is "code", or "sql" for a change inside a text of a Swift file."""

QUOTES = {"swift": '"', "js": "\"'`"}
BEFORE_REGEX = re.compile(r"(?:[(,=:\[!&|?{;]|\breturn)\s*$")
REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\n\\])*\]|[^/\\\[\n])+/\w*")
SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===", "&&": "||",
    "||": "&&", "+": "-", "-": "+", "&+": "&-", "&-": "&+", "+=": "-=", "-=": "+=", "true": "false", "false": "true",
}
TOKEN = re.compile(
    r"(?<=\s)(?:[<>]=?|[!=]==?|&&|\|\||&?[+-]|[+-]=)(?=\s)|(?<![\w.])(?:true|false)(?!\w)")
NUMBER = re.compile(r"(?<![\w$.])\d[\d_]*(?!\w|\.\d)|(?<=\.\.\.)\d[\d_]*(?!\w|\.\d)")
NOT = re.compile(r"(?<![\w)\]!?])!(?=[\w(.#])")
CONDITIONS = {
    "swift": re.compile(r"\b(?:if|guard) (?!let\b|var\b|case\b|try\b|#)([^,{}\n]+?)(?= (?:else )?\{)"),
    "js": re.compile(r"\bif \(()"),
}
STATEMENT = re.compile(
    r"^ *((?!(?:return|throw|let|var|const|case|guard|if|for|while|switch|else|defer|yield|break|continue)\b|self =)"
    # What an initialiser does for each property is no statement that may lack.
    r"(?!self\.(\w+) = \2$)[\w.#$?!\[\]]+(?:\(.*\)| [-+|&?]{0,2}= .*|\+\+|--);?"
    r"|(?:if|for) [^\n]*(?:\{ .* \}|\) .*;))$", re.M)
RETURN = re.compile(r"\breturn ([^\n{};]+?)(?=;| \}|$)", re.M)
SKIPPED = re.compile(
    r"\b(?:precondition|assert|fatalError|logger|console|metadata)\b"
    r"|^\s*(?:@\w+ |private |fileprivate |package |static |mutating )*(?:func|init|struct|enum|import|typealias)\b")
SQL = [
    (re.compile(r"\bAND\b"), "OR"), (re.compile(r"(?<= )=(?= .*\n)"), "<>"), (re.compile(r"\btrue\b"), "false"),
    (re.compile(r"\bIS TRUE\b"), "IS NOT TRUE"), (re.compile(r"\bIS NULL\b"), "IS NOT NULL"),
    (re.compile(r"(?<=CASE )WHEN\b"), "WHEN NOT"), (re.compile(r"\bIN \("), "NOT IN ("),
    (re.compile(r"(?<=SET )\w+ = [\w.$]+, |, \w+ = [\w.$]+(?=,|\n)"), ""),
    (re.compile(r"(?<= )\d+(?=[ ,)])"), None),
]
FUNCTIONS = {
    "swift": re.compile(r"(?<![.\w])(?:func\s+[^\s(<]*(?:<[^(]*>|[<>=!]+)?|init\??(?:<[^(]*>)?)\s*\("),
    "js": re.compile(
        r"^ *(?:(?:static|async|get|set|export|function)\b *)*\*?#?(?!if|for|while|switch|catch)[\w$]+\(", re.M),
}
PROPERTY = re.compile(r"\bvar\s+\w+\s*:\s*([^={}\n]+)\{(?!\s*(?:get|set|_read|_modify|mutating|didSet|willSet)\b)")
ACCESSOR = re.compile(r"(?<![.\w])(?:get|set)\b[^{}\n()]*(?:\(\w+\))?\s*\{")
TAIL = re.compile(r"\s*(?:(?:async|throws|rethrows|->|where)[^{}]*)?\{")


def end_of_text(text, at, language):
    """The end of a text that begins with a quote at `at`; it may contain code."""
    quote = '"""' if text.startswith('"""', at) else text[at]
    opening = "\\(" if language == "swift" else "${" if quote == "`" else None
    at += len(quote)
    while not text.startswith(quote, at):
        if opening and text.startswith(opening, at):
            at = end_of_brackets(text, at + 1, language)
        else:
            at += 2 if text[at] == "\\" else 1
    return at + len(quote)


def end_of_brackets(text, at, language):
    """The end of what begins with a bracket at `at`."""
    depth = 0
    while True:
        if text[at] in QUOTES[language]:
            at = end_of_text(text, at, language)
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        at += 1
        if depth == 0:
            return at


def masked(text, language):
    """The code of a file alone: comments are spaces, and texts are of one character."""
    code, at = list(text), 0
    while at < len(text):
        filler, end = "§", at + 1
        if text.startswith("//", at):
            filler, end = " ", text.find("\n", at)
        elif text.startswith("/*", at):
            filler, end = " ", text.index("*/", at) + 2
        elif language == "swift" and text.startswith('#"', at):
            end = text.index('"#', at + 2) + 2
        elif text[at] in QUOTES[language]:
            end = end_of_text(text, at, language)
        elif language == "js" and text[at] == "/" and BEFORE_REGEX.search(text[max(0, at - 20):at]):
            end = REGEX.match(text, at).end()
        else:
            at += 1
            continue
        code[at:end] = ["\n" if character == "\n" else filler for character in text[at:end]]
        at = end
    return "".join(code)


def bodies(code, language):
    """The bodies of all functions that stand in no other function, each with what its declaration says it returns."""
    found = []
    for declaration in FUNCTIONS[language].finditer(code):
        closed = end_of_brackets(code, declaration.end() - 1, language)
        tail = TAIL.match(code, closed)
        if tail and not re.search(r"\n\n|\b(?:func|var|init)\b", tail.group()):
            result = tail.group()[:-1].split("->")[-1].split(" where ")[0].strip() if "->" in tail.group() else ""
            found.append((tail.end(), end_of_brackets(code, tail.end() - 1, language) - 1, result))
    if language == "swift":
        for pattern in (PROPERTY, ACCESSOR):
            for match in pattern.finditer(code):
                result = match.group(1).strip() if pattern is PROPERTY else ""
                found.append((match.end(), end_of_brackets(code, match.end() - 1, language) - 1, result))
    outermost = []
    for body in sorted(found):
        if not outermost or body[0] > outermost[-1][1]:
            outermost.append(body)
    return outermost


def other_result(result, value):
    """What a function in Swift might return instead of a value."""
    if result == "Bool":
        return f"!({value})" if value not in SWAPS else None
    empty = "[]" if result.startswith("[") else "nil" if result.endswith("?") else None
    return empty if value != empty else None


def code_changes(code, start, end, result, language):
    """Changes of a function's body: start, end and the text instead."""
    for match in TOKEN.finditer(code, start, end):
        yield *match.span(), SWAPS[match.group()]
    for match in NUMBER.finditer(code, start, end):
        yield *match.span(), None
    for match in NOT.finditer(code, start, end):
        yield *match.span(), ""
    for match in CONDITIONS[language].finditer(code, start, end):
        first, last = match.span(1)
        if language == "js":
            last = end_of_brackets(code, first - 1, language) - 1
        if code[first] != "!":
            yield first, last, lambda text: f"!({text})"
    for match in STATEMENT.finditer(code, start, end):
        statement, rest = match.group(1), code[match.end():].lstrip()
        if all(statement.count(a) == statement.count(b) for a, b in ("()", "[]", "{}")) and (
                language == "js" or not re.match(r"[.?:+\-&|]|else\b", rest)):
            # In Swift a case has at least one statement.
            is_alone = language == "swift" and code[:match.start(1)].rstrip().endswith(":")
            yield *match.span(1), "break" if is_alone else ""
    for match in RETURN.finditer(code, start, end):
        value = match.group(1)
        if any(value.count(a) != value.count(b) for a, b in ("()", "[]")) or re.match(
                r"\s*[.?:+\-&|]" if language == "swift" else "[^;]", code[match.end():]):
            continue
        if language == "js" or other_result(result, value):
            yield *match.span(1), lambda text: "undefined" if language == "js" else other_result(result, text)


def sql_changes(text, code):
    """Changes of the texts with SQL in a Swift file."""
    for block in re.finditer(r"§{3,}(?:\n§*)*", code):
        for pattern, after in SQL:
            for match in pattern.finditer(text, *block.span()):
                line = text[text.rfind("\n", 0, match.start()) + 1:match.start()].strip()
                # The `=` of an assignment compares nothing.
                if after != "<>" or re.match(r"(?:WHERE|AND)\b", line):
                    yield *match.span(), after


def mutants(part, path, tree, seed):
    """All mutants of a file, in the order of their places."""
    text = (tree / path).read_text()
    form = "sql" if part.language == "sql" else "code"
    code = masked(text, "js" if part.language == "js" else "swift")
    found = sql_changes(text, code) if form == "sql" else (
        change for body in bodies(code, part.language) for change in code_changes(code, *body, part.language))
    seen = collections.Counter()
    for start, end, after in sorted(found, key=lambda change: change[:2]):
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", start)
        if form == "code" and SKIPPED.search(code[first:last]):
            continue
        before = text[start:end]
        # Other lines of the file do not matter, so that the same mutants are drawn after a change elsewhere.
        place = f"{seed}\0{path}\0{text[first:last].strip()}\0{start - first}\0{before}"
        seen[place] += 1
        key = hashlib.sha256(f"{place}\0{seen[place]}".encode()).hexdigest()
        if after is None:
            number = int(before.replace("_", ""))
            after = str(number - 1 if number > 0 and int(key, 16) % 2 else number + 1)
        elif callable(after):
            after = after(before)
        yield Mutant(key, part.name, path, text.count("\n", 0, start) + 1, start, end, before, after, form)
