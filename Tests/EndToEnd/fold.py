"""A room's state as a client keeps it: a snapshot, and then events folded in.

It is written from `Documentation/Protocol.md`, sections 3 to 5, and not from the server's code.
"""

import copy
import json
import unicodedata

HISTORY = 50


class Gap(AssertionError):
    """The server sent a message that does not follow the previous one."""


def evolve(state, event):
    """Applies one event to a state, in place; returns the state. `roomCreated` takes None."""
    event = {name: value for name, value in event.items() if value is not None}
    kind, seq, at = event["type"], event["seq"], event["at"]
    by = event.get("by")

    if kind == "roomCreated":
        state = {
            "id": event["id"], "code": event["code"], "name": event["name"], "createdAt": at,
            "visibility": event["visibility"], "settings": event["settings"], "members": [], "pool": [],
            "requests": [], "queue": [], "playback": {"status": "stopped"}, "history": [],
        }
        if "location" in event:
            state["location"] = event["location"]
    elif kind == "memberJoined":
        state["members"].append(
            {"member": event["member"], "name": event["name"], "role": event["role"], "joinedAt": at}
        )
        state["members"].sort(key=lambda member: member["member"])
    elif kind == "memberLeft":
        state["members"] = [member for member in state["members"] if member["member"] != event["member"]]
        for withdrawal in event.get("votes", []):
            _count(state, withdrawal)
        if "skipVotes" in event:
            _count_skips(state, event, set(), {event["member"]})
    elif kind == "memberRenamed":
        _member(state, event["member"])["name"] = event["name"]
    elif kind == "roleChanged":
        _member(state, event["member"])["role"] = event["role"]
    elif kind in ("memberBanned", "memberUnbanned"):
        pass  # Clients' state does not include bans.
    elif kind == "roomUpdated":
        for field in ("name", "location", "visibility", "settings"):
            if field in event:
                state[field] = event[field]
        if event.get("locationCleared"):
            state.pop("location", None)
    elif kind == "roomClosed":
        state.setdefault("closedAt", at)
        if event.get("forget"):
            state.pop("location", None)
            for member in state["members"]:
                member["name"] = "-"
    elif kind == "tracksAdded":
        for track in event["tracks"]:
            state["pool"].append({**track, "addedBy": by, "votes": 0})
        state["pool"].sort(key=pool_order)
    elif kind == "tracksRemoved":
        gone = set(event["tracks"])
        state["pool"] = [track for track in state["pool"] if track["track"] not in gone]
        state["queue"] = [entry for entry in state["queue"] if entry["track"] not in gone]
    elif kind == "waveformSet":
        _track(state, event["track"])["waveform"] = event["waveform"]
    elif kind == "durationSet":
        _track(state, event["track"])["durationMs"] = event["durationMs"]
    elif kind == "missingSet":
        for track in state["pool"]:
            track.pop("missing", None)
            if track["track"] in event["tracks"]:
                track["missing"] = True
    elif kind in ("voteCast", "voteWithdrawn"):
        _count(state, event)
    elif kind == "votesCleared":
        _count(state, {"track": event["track"], "votes": 0})
    elif kind == "entryEnqueued":
        entry = {"entry": event["entry"], "track": event["track"]}
        if by is not None:
            entry["addedBy"] = by
        state["queue"].insert(event["index"], entry)
    elif kind == "entryRemoved":
        state["queue"] = [entry for entry in state["queue"] if entry["entry"] != event["entry"]]
    elif kind == "entryMoved":
        moved = next(entry for entry in state["queue"] if entry["entry"] == event["entry"])
        state["queue"].remove(moved)
        state["queue"].insert(event["index"], moved)
    elif kind == "playbackStarted":
        state["queue"] = [entry for entry in state["queue"] if entry["entry"] != event["entry"]]
        state["playback"] = {
            "status": "playing", "entry": event["entry"], "track": event["track"],
            "startedAt": event.get("startedAt", at), "startedSeq": seq, "positionMs": event["positionMs"],
            "atMs": event["atMs"], "skipVotes": 0,
        }
        if by is not None:
            state["playback"]["startedBy"] = by
    elif kind in ("playbackPaused", "playbackResumed", "playbackSeeked"):
        status = {"playbackPaused": "paused", "playbackResumed": "playing"}.get(kind, state["playback"]["status"])
        state["playback"].update(status=status, positionMs=event["positionMs"], atMs=event["atMs"])
    elif kind == "playbackStopped":
        state["playback"] = {"status": "stopped"}
    elif kind == "entryFinished":
        track = _track(state, event["track"])
        line = {
            "entry": event["entry"], "track": event["track"], "title": track["title"],
            "startedAt": event["startedAt"], "endedAt": event.get("endedAt", at), "reason": event["reason"],
            "playedMs": event["playedMs"],
        }
        if "artist" in track:
            line["artist"] = track["artist"]
        state["history"] = [line, *state["history"]][:HISTORY]
        state["playback"] = {"status": "stopped"}
    elif kind == "skipVoteCast":
        _count_skips(state, event, {by}, set())
    elif kind == "skipVoteWithdrawn":
        _count_skips(state, event, set(), {by})
    else:
        raise AssertionError(f"an event of a type that the protocol does not name: {event}")

    asked = [track for track in state["pool"] if track["votes"] > 0]
    asked.sort(key=lambda track: (-track["votes"], track["requestedSeq"]))
    state["requests"] = [track["track"] for track in asked]
    return state


def replay(events):
    """The state after a room's events from its first."""
    state = None
    for event in events:
        state = evolve(state, event)
    return state


def pool_order(track):
    """Titles in NFC, each scalar lowercased by itself, compared by scalar values; then the track's number."""
    title = unicodedata.normalize("NFC", track["title"])
    return ("".join(scalar.lower() for scalar in title), track["track"])


def plain(value):
    """A value without its nulls, which mean the same as absent fields."""
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value


def differences(ours, theirs, path="state"):
    """The paths at which two values differ, as lines to print."""
    ours, theirs = plain(ours), plain(theirs)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        found = []
        for name in sorted(ours.keys() | theirs.keys()):
            if name not in ours or name not in theirs:
                found.append(f"{path}.{name}: {ours.get(name, 'absent')!r} and {theirs.get(name, 'absent')!r}")
            else:
                found += differences(ours[name], theirs[name], f"{path}.{name}")
        return found
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [line for i, pair in enumerate(zip(ours, theirs)) for line in differences(*pair, f"{path}[{i}]")]
    return [] if ours == theirs else [f"{path}: {ours!r} and {theirs!r}"]


class Follower:
    """One client's state of one room. It refuses gaps and repeated events."""

    def __init__(self, room):
        self.room = room
        self.epoch = None
        self.seq = None
        self.state = None
        #: Every event that came as a delta, by its number.
        self.events = {}
        #: The bytes of those events as they came.
        self.raw = {}
        self.snapshots = 0
        self.ended = None

    @property
    def position(self):
        return {"epoch": self.epoch, "seq": self.seq}

    def take(self, message, text=None):
        """Handles a server's message about this room; ignores others."""
        if message.get("room") != self.room:
            return
        kind = message["type"]
        if kind == "snapshot":
            self.epoch, self.seq = message["epoch"], message["seq"]
            self.state = copy.deepcopy(message["state"])
            self.snapshots += 1
        elif kind == "resumed":
            if message["epoch"] != self.epoch or message["seq"] < self.seq:
                raise Gap(f"resumed at {message['epoch']}/{message['seq']}, we are at {self.epoch}/{self.seq}")
        elif kind == "delta":
            self._take_delta(message, text)
        elif kind == "ended":
            self.ended = message["code"]

    def _take_delta(self, message, text):
        numbers = [event["seq"] for event in message["events"]]
        if numbers != list(range(message["from"], message["seq"] + 1)) or not numbers:
            raise Gap(f"a delta {message['from']}…{message['seq']} with the events {numbers}")
        if self.seq is None or message["from"] != self.seq + 1:
            raise Gap(f"a delta from {message['from']}, we are at {self.seq}")
        for event in message["events"]:
            self.state = evolve(self.state, event)
            self.events[event["seq"]] = event
        if text is not None:
            self.raw.update(zip(numbers, raw_events(text)))
        self.seq = message["seq"]


def raw_events(text):
    """The texts of the objects in a message's `events`, byte for byte as they came."""
    decoder, found = json.JSONDecoder(), []
    at = text.index("[", text.index('"events"')) + 1
    while True:
        while text[at] in " \t\r\n,":
            at += 1
        if text[at] == "]":
            return found
        _, end = decoder.raw_decode(text, at)
        found.append(text[at:end])
        at = end


def _member(state, number):
    return next(member for member in state["members"] if member["member"] == number)


def _track(state, number):
    return next(track for track in state["pool"] if track["track"] == number)


def _count_skips(state, event, came, went):
    """Sets the votes to skip to what an event says, and whose they are."""
    playback = state["playback"]
    playback["skipVotes"] = event["skipVotes"]
    voters = set(playback.pop("skipVoters", [])) | came
    if voters - went:
        playback["skipVoters"] = sorted(voters - went)


def _count(state, fields):
    """Sets the votes of a track to what an event says."""
    track = _track(state, fields["track"])
    track["votes"] = fields["votes"]
    if fields.get("requestedSeq") is None:
        track.pop("requestedSeq", None)
    else:
        track["requestedSeq"] = fields["requestedSeq"]
