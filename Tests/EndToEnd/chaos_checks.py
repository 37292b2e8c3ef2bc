"""What must hold of a room after a run, whatever happened: asked of its log and of everything that clients were told."""

import collections
import json

from fold import differences, evolve, plain


def check_room(room, events):
    """Compares a room's log with what clients were told; returns what is wrong, one line each.

    Every acknowledged command has its events in the log, no event belongs to two commands, and none to no command.
    """
    wrong = []

    def problem(text):
        wrong.append(f"room {room.id}: {text}")

    if [event["seq"] for event in events] != list(range(1, len(events) + 1)):
        problem(f"the log has the positions {[event['seq'] for event in events][:50]}…")
        return wrong, None
    for seq, event in sorted(room.seen.items()):
        if seq > len(events):
            problem(f"clients saw event {seq}, the log ends at {len(events)}: {event}")
        elif differences(event, events[seq - 1]):
            problem(f"clients saw {event}, the log has {events[seq - 1]}")

    acknowledged, snapshots = collections.defaultdict(list), collections.defaultdict(list)
    for client, command in room.acknowledged:
        acknowledged[command.answer["seq"]].append((client, command))
    for (seq, text), who in room.snapshots.items():
        snapshots[seq].append((text, who))
    for seq in [*acknowledged, *snapshots]:
        if not 1 <= seq <= len(events):
            problem(f"there is no event {seq}, of which clients were told: {acknowledged[seq] or snapshots[seq]}")

    # 1: the room, 2: its owner.
    claimed = {1: None, 2: None}
    state, voters = None, collections.defaultdict(set)
    for event in events:
        seq = event["seq"]
        state = evolve(state, event)
        _note_votes(voters, event)
        if snapshots[seq]:
            text = json.dumps(plain(state), sort_keys=True)
            for told, who in snapshots[seq]:
                if told != text:
                    lines = differences(state, json.loads(told))
                    problem(f"client {who} got a snapshot at {seq} that is not the fold: {lines[:5]}")
        for client, command in acknowledged[seq]:
            own = _footprint(command, events, seq)
            if own is not None and not any(number in claimed for number in own):
                claimed |= {number: command for number in own}
            elif not _changes_nothing(command, state, voters):
                problem(
                    f"client {client.number}, member {command.member}: {command.body} was acknowledged with "
                    f"{command.answer} after {command.attempts} attempts; the log has there "
                    f"{events[max(0, seq - 3):seq]}" + (f", which is {claimed[seq]}'s" if seq in claimed else ""))
    # What was refused after an attempt without an answer may have been carried out by that one.
    maybe = [command for _, _, command in room.uncertain]
    for event in events:
        if event["seq"] not in claimed:
            found = next((
                (command, own) for command in maybe
                if (own := _footprint(command, events, event["seq"])) and not any(n in claimed for n in own)), None)
            if found is None and any(n not in claimed and n > event["seq"] for n in range(event["seq"], event["seq"] + 2)):
                # It may be the first of two.
                found = next((
                    (command, own) for command in maybe
                    if (own := _footprint(command, events, min(len(events), event["seq"] + 1)))
                    and event["seq"] in own and not any(n in claimed for n in own)), None)
            if found is None:
                problem(f"no acknowledged command is behind the event {event}")
            else:
                maybe.remove(found[0])
                claimed |= {number: found[0] for number in found[1]}
    return wrong, state


def _fits(event, kind, **fields):
    return event["type"] == kind and all(event.get(name) == value for name, value in fields.items())


def _footprint(command, events, seq):
    """The positions of the events, up to `seq`, that a command caused; None where they are not its events."""
    body, member, result = command.body, command.member, (command.answer or {}).get("result") or {}
    event, before = events[seq - 1], events[seq - 2] if seq > 1 else {"type": None}
    one = {
        "join": lambda: _fits(event, "memberJoined", name=body["name"]) and result.get("member") in (None, event["member"]),
        "leave": lambda: _fits(event, "memberLeft", member=member, reason="left"),
        "rename": lambda: _fits(event, "memberRenamed", member=member, name=body["name"]),
        "updateRoom": lambda: _fits(event, "roomUpdated", name=body["name"]),
        "setRole": lambda: _fits(event, "roleChanged", member=body["member"], role=body["role"]),
        "addTracks": lambda: (
            _fits(event, "tracksAdded", by=member)
            and [track["title"] for track in event["tracks"]] == [track["title"] for track in body["tracks"]]
            and result.get("tracks") in (None, [track["track"] for track in event["tracks"]])),
        "removeTracks": lambda: _fits(event, "tracksRemoved", by=member, tracks=body["tracks"]),
        "vote": lambda: _fits(event, "voteCast", by=member, track=body["track"]),
        "unvote": lambda: _fits(event, "voteWithdrawn", by=member, track=body["track"]),
        "dequeue": lambda: _fits(event, "entryRemoved", by=member, entry=body["entry"]),
        "move": lambda: _fits(event, "entryMoved", by=member, entry=body["entry"]),
        "pause": lambda: _fits(event, "playbackPaused", by=member),
        "resume": lambda: _fits(event, "playbackResumed", by=member),
        "seek": lambda: _fits(event, "playbackSeeked", by=member, positionMs=body["positionMs"]),
    }
    match body["type"]:
        case "enqueue":
            def is_own(other):
                return _fits(other, "entryEnqueued", by=member, track=body["track"]) and result.get("entry") in (
                    None, other["entry"])
            if is_own(event):
                return [seq]
            return [seq - 1, seq] if _fits(event, "votesCleared", track=body["track"]) and is_own(before) else None
        case "play":
            if not _fits(event, "playbackStarted", by=member, **({"entry": body["entry"]} if "entry" in body else {})):
                return None
            return [seq - 1, seq] if _fits(before, "entryFinished", reason="replaced") else [seq]
        case "skip" | "finish":
            reason = {"skip": {"reason": "skipped"}, "finish": {"reason": "ended", "entry": body.get("entry")}}
            ended = event["type"] in ("playbackStarted", "playbackStopped")
            return [seq - 1, seq] if ended and _fits(before, "entryFinished", **reason[body["type"]]) else None
        case kind:
            return [seq] if one[kind]() else None


def _changes_nothing(command, state, voters):
    """Whether what a command asks for holds in a state already, so that it has no event."""
    body, playback = command.body, state["playback"]
    match body["type"]:
        case "vote":
            return command.member in voters[body["track"]]
        case "unvote":
            return command.member not in voters[body["track"]]
        case "setRole":
            return any(_is(member, body) for member in state["members"])
        case "move":
            places = [entry["entry"] for entry in state["queue"]]
            return body["entry"] in places and places.index(body["entry"]) == body["to"]
        case "play":
            return playback["status"] == "playing" and playback["entry"] == body.get("entry")
        case "pause":
            return playback["status"] != "playing"
        case "resume":
            return playback["status"] != "paused"
        case "seek" | "skip":
            return playback["status"] == "stopped"
        case "finish":
            return playback.get("entry") != body["entry"]
        case _:
            return False


def _is(member, body):
    return (member["member"], member["role"]) == (body["member"], body["role"])


def _note_votes(voters, event):
    """Who votes for what."""
    match event["type"]:
        case "voteCast":
            voters[event["track"]].add(event["by"])
        case "voteWithdrawn":
            voters[event["track"]].discard(event["by"])
        case "votesCleared":
            voters[event["track"]].clear()
        case "tracksRemoved":
            for track in event["tracks"]:
                voters[track].clear()
        case "memberLeft":
            for those in voters.values():
                those.discard(event["member"])


LOG = """
SELECT r.room_id FROM rooms r LEFT JOIN (
    SELECT room_id, count(*) AS n, min(seq) AS first, max(seq) AS last FROM events GROUP BY room_id
) e USING (room_id)
WHERE coalesce(e.n, 0) <> r.seq OR e.first <> 1 OR e.last <> r.seq
"""
"""The rooms whose events are not those from the first to their head."""
