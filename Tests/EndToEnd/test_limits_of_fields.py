"""The limits of fields are the same in Protocol.md's table, in the description of the HTTP API, and in the server."""

import os
import re

import yaml

import backline
from test_openapi import TREE
from test_sessions import PASTED, REFUSED, SHOWN

BOUNDS = ("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems")
LARGEST = 2**53 - 1
"""The largest integer of the protocol, and the bound of fields without another one."""
CODES = {"bad_request": 400, "limit_reached": 422}


class Limit:
    """A row of the table: a field of one command or request."""

    def __init__(self, path, owner, bounds, code):
        self.path, self.owner, self.code = path, owner, code
        low, high, unit = re.match(r"(-?[\d,]+) … ([\d,]+)(?: (characters|items))?", bounds).groups()
        self.low, self.high = (int(text.replace(",", "")) for text in (low, high))
        self.unit = unit or "number"

    def __repr__(self):
        return f"{self.owner} {self.path}"

    @property
    def described(self):
        low, high = {
            "characters": ("minLength", "maxLength"), "items": ("minItems", "maxItems"), "number": BOUNDS[2:4],
        }[self.unit]
        # A list that may be empty has no least number of items.
        return {name: value for name, value in ((low, self.low), (high, self.high)) if (name, value) != ("minItems", 0)}


def _table():
    with open(os.path.join(TREE, "Documentation", "Protocol.md"), encoding="utf-8") as file:
        text = file.read()
    rows = text.split("| field | of | bounds | beyond |\n|---|---|---|---|\n")[1].split("\n\n")[0].splitlines()
    for row in rows:
        path, owners, bounds, code = (cell.strip() for cell in row.strip("|").split("|"))
        for owner in owners.split(","):
            yield Limit(path.strip("`"), owner.strip(" `"), bounds, code.strip("`"))


def _document():
    with open(os.path.join(TREE, "Documentation", "openapi.yaml"), encoding="utf-8") as file:
        return yaml.safe_load(file)


TABLE = list(_table())
DOCUMENT = _document()


def _resolved(schema):
    while "$ref" in schema:
        rest = {name: value for name, value in schema.items() if name != "$ref"}
        found = DOCUMENT
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        schema = {**found, **rest}
    return schema


def _requests():
    """The schema of each command, and of each other request's body."""
    for option in DOCUMENT["components"]["schemas"]["Command"]["oneOf"]:
        schema = _resolved(option)
        kind = schema["properties"]["type"]
        for name in kind.get("enum", [kind.get("const")]):
            yield name, schema
    for path, item in DOCUMENT["paths"].items():
        for method, operation in item.items():
            if "requestBody" in operation and not path.endswith("/commands"):
                yield f"{method.upper()} {path}", operation["requestBody"]["content"]["application/json"]["schema"]


def _bounds(schema, path=""):
    """Every bound of a request's schema, by the field's path, except the bound of all integers."""
    schema = _resolved(schema)
    found = {name: schema[name] for name in BOUNDS if name in schema}
    if found and found.get("maximum") != LARGEST:
        yield path, found
    for name, member in schema.get("properties", {}).items():
        yield from _bounds(member, f"{path}.{name}".lstrip("."))
    for option in schema.get("oneOf", []):
        yield from _bounds(option, path)
    if "items" in schema:
        yield from _bounds(schema["items"], f"{path}[]")


def test_the_description_has_the_limits_of_the_protocol_and_no_others():
    described = {
        (owner, path): bounds for owner, schema in _requests() for path, bounds in _bounds(schema)}
    assert described == {(limit.owner, limit.path): limit.described for limit in TABLE}
    assert len(TABLE) > 30


def test_patterns_of_names_are_what_the_server_holds():
    """As far as one class of characters can express it."""
    for name in ("PersonName", "RoomName"):
        pattern = re.compile(DOCUMENT["components"]["schemas"][name]["pattern"])
        assert all(pattern.search(text) for text in (*SHOWN, *PASTED))
        for text, reason in REFUSED.items():
            # Whether anything is visible, and characters beyond the first plane, are not the pattern's.
            assert reason in ("visible", "U+E0041") or not pattern.search(text), repr(text)


class Stage:
    """A room in which every command can be accepted."""

    def __init__(self, server):
        self.server, self.owner = server, server.session("Ana")
        self.room = self.owner.create_room()["room"]["state"]["id"]
        self.owner.command(self.room, "addTracks", tracks=backline.tracks("One"))

    def guest(self):
        guest = self.server.session("Ben")
        return guest, guest.command(self.room, "join")["result"]["member"]

    def base(self, owner):
        """The other fields of a request."""
        needs_guest = owner in ("setRole", "kick", "transferOwnership", "unban")
        member = self.guest()[1] if needs_guest else None
        return {
            "POST /v1/sessions": {"name": "Ana"}, "PATCH /v1/session": {"name": "Ana"}, "POST /v1/rooms": {"name": "A"},
            "rename": {"name": "Ana"}, "setRole": {"member": member, "role": "guest"},
            "transferOwnership": {"member": member}, "kick": {"member": member, "ban": True},
            "unban": {"member": member}, "addTracks": {"tracks": backline.tracks("Two")},
            "removeTracks": {"tracks": [1]},
            "setWaveform": {"track": 1}, "setDuration": {"track": 1},
            "syncDeck": {"queue": [], "playback": {"status": "paused", "track": 1, "positionMs": 0, "atMs": 0}},
        }.get(owner, {})

    def heard(self):
        """The time up to which songs were heard, by the server's clock: what was played offline begins no earlier."""
        state = self.owner.room(self.room)["room"]["state"]
        ended = [song["endedAt"] for song in state["history"]]
        return max([state["createdAt"], state["playback"].get("startedAt", 0), *ended])

    def send(self, owner, body):
        if " " in owner:
            return self.owner.request(*owner.split(), body)
        return self.owner.post_command(self.room, owner, **body)


def _put(body, path, value):
    """Sets a field that may be nested."""
    name, _, rest = path.partition(".")
    if not rest:
        body[name] = value
    elif name.endswith("[]"):
        _put(body[name[:-2]][-1], rest, value)
    else:
        _put(body.setdefault(name, {"lat": 0, "lon": 0} if name == "location" else {}), rest, value)


def _value(limit, size):
    if limit.unit == "number":
        return size
    if limit.unit == "items":
        item = {
            "addTracks": backline.tracks("Song")[0], "removeTracks": 1, "setMissing": 1, "syncDeck": {"track": 1},
        }[limit.owner]
        if limit.path == "played":
            item.update(playedMs=0, reason="ended")
        return [item] * size
    if limit.owner == "setWaveform":
        return "A" * size
    start = "https://a/" if limit.path.endswith("artworkUrl") else ""
    # Scalars beyond the basic plane: the limit counts neither bytes nor UTF-16 units.
    return (start + "\N{GUITAR}" * (size - len(start))) if size > len(start) else start[:size] or "x"[:size]


def test_the_server_takes_what_is_within_and_refuses_what_is_beyond(shared):
    stage = Stage(shared)

    def answer(limit, size):
        body = stage.base(limit.owner)
        if limit.path == "members":
            del body["member"]
            body["members"] = [stage.guest()[1] if size <= limit.high else 2 + number for number in range(size)]
        else:
            _put(body, limit.path, _value(limit, size))
            if limit.path == "played":
                heard = stage.heard()
                for item in body["played"]:
                    item["startedAtMs"] = heard
        return stage.send(limit.owner, body)

    for limit in TABLE:
        beyond = 1 if limit.unit != "number" or limit.high > 1 else 0.001
        refused = answer(limit, limit.high + beyond)
        assert refused.status == CODES[limit.code], (limit, refused.body[:300])
        refused.expect_problem(CODES[limit.code], limit.code)
        if limit.unit == "number" or limit.low > 0:
            refused = answer(limit, limit.low - 1)
            assert refused.status == 400, (limit, refused.body[:300])
        # The shortest address has a scheme and a host.
        least = len("https://a/") if limit.path.endswith("artworkUrl") else limit.low
        for size in (least, limit.high):
            taken = answer(limit, size)
            assert taken.status in (200, 201), (limit, size, taken.body[:300])
            if limit.owner in ("closeRoom", "transferOwnership", "removeTracks"):
                stage = Stage(shared)
