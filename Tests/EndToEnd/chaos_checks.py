"""The invariants of a room after a run, checked against its log and everything that clients were told."""

import collections
import json

from counting import Count
from fold import differences, evolve, plain

PLAYS = 500
"""The most songs of one answer about what was on air."""
BUCKETS = {"total": 10**9, "quarter": 15, "minute": 1}
"""The minutes in one bucket of an answer about counts, by its step."""


def check_room(room, events):
    """Compares a room's log with clients' messages; returns the violations, one line each, and the log's fold.

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
    # An earlier attempt without an answer may have carried out a command that was refused later.
    maybe = [command for _, _, command in room.uncertain]
    for event in events:
        seq = event["seq"]
        if seq in claimed:
            continue
        for command in maybe:
            # The event is the command's last one, or the one before.
            own = _footprint(command, events, seq) or _footprint(command, events, min(seq + 1, len(events)))
            if own is not None and seq in own and not any(number in claimed for number in own):
                maybe.remove(command)
                claimed |= {number: command for number in own}
                break
        else:
            problem(f"no acknowledged command is behind the event {event}")
    return wrong, state


def check_statistics(room, events, answers):
    """Compares answers about what is counted of a room with its events up to the position that each answer names.

    `answers` has the step of the question or `plays`, who answered, and the answer.
    """
    wrong = []
    removed = {track for event in events if event["type"] == "tracksRemoved" for track in event["tracks"]}
    count = Count([])
    for question, who, answer in sorted(answers, key=lambda one: one[2]["seq"]):
        seq = answer["seq"]
        if seq > len(events) or answer.get("epoch", room.epoch) != room.epoch:
            wrong.append(f"room {room.id} at {who}: {question} is counted to {seq}, the log ends at {len(events)}")
            continue
        for event in events[count.seq:seq]:
            count.add(event)
        if question == "plays":
            expected = [_without_catalogue(play, removed) for play in count.newest_plays]
            told = [_without_catalogue(play, removed) for play in answer["plays"]]
            lines = differences(expected[:PLAYS], told)
            if ("next" in answer) != (len(expected) > PLAYS):
                lines = [*lines, f"{len(expected)} songs were on air, and another page is {answer.get('next')}"]
        else:
            expected = count.buckets(BUCKETS[question], answer["from"], answer["to"])
            lines = differences(expected, answer["buckets"])
        if lines:
            wrong.append(f"room {room.id} at {who}: {question} at {seq} is not what its events say: {lines[:5]}")
    return wrong


def _without_catalogue(play, removed):
    """A song that was on air; one that has left the pool at some time is told with its catalogue or without."""
    hidden = ("source", "sourceId") if play["track"] in removed else ()
    return {name: value for name, value in play.items() if name not in hidden}


def _fits(event, kind, **fields):
    return event["type"] == kind and all(event.get(name) == value for name, value in fields.items())


def _footprint(command, events, seq):
    """The positions of the events, up to `seq`, that a command caused; None if they are not its events."""
    body, member, result = command.body, command.member, (command.answer or {}).get("result") or {}
    event, before = events[seq - 1], events[seq - 2] if seq > 1 else {"type": None}

    def is_result(name, value):
        # A command without an answer may have had any result.
        return result.get(name) in (None, value)

    def is_enqueued(other):
        return _fits(other, "entryEnqueued", by=member, track=body["track"]) and is_result("entry", other["entry"])

    two = [seq - 1, seq]
    match body["type"]:
        case "join":
            own = _fits(event, "memberJoined", name=body["name"]) and is_result("member", event["member"])
        case "leave":
            own = _fits(event, "memberLeft", member=member, reason="left")
        case "rename":
            own = _fits(event, "memberRenamed", member=member, name=body["name"])
        case "updateRoom":
            own = _fits(event, "roomUpdated", name=body["name"])
        case "setRole":
            own = _fits(event, "roleChanged", member=body["member"], role=body["role"])
        case "addTracks":
            titles = [track["title"] for track in body["tracks"]]
            own = _fits(event, "tracksAdded", by=member) and [t["title"] for t in event["tracks"]] == titles
            own = own and is_result("tracks", [track["track"] for track in event["tracks"]])
        case "removeTracks":
            own = _fits(event, "tracksRemoved", by=member, tracks=body["tracks"])
        case "vote":
            own = _fits(event, "voteCast", by=member, track=body["track"])
        case "unvote":
            own = _fits(event, "voteWithdrawn", by=member, track=body["track"])
        case "dequeue":
            own = _fits(event, "entryRemoved", by=member, entry=body["entry"])
        case "move":
            own = _fits(event, "entryMoved", by=member, entry=body["entry"])
        case "pause":
            own = _fits(event, "playbackPaused", by=member)
        case "resume":
            own = _fits(event, "playbackResumed", by=member)
        case "seek":
            own = _fits(event, "playbackSeeked", by=member, positionMs=body["positionMs"])
        case "enqueue":
            if _fits(event, "votesCleared", track=body["track"]) and is_enqueued(before):
                return two
            own = is_enqueued(event)
        case "play":
            named = {"entry": body["entry"]} if "entry" in body else {}
            own = _fits(event, "playbackStarted", by=member, **named)
            if own and _fits(before, "entryFinished", reason="replaced"):
                return two
        case "skip" | "finish":
            why = {"reason": "skipped"} if body["type"] == "skip" else {"reason": "ended", "entry": body["entry"]}
            follows = event["type"] in ("playbackStarted", "playbackStopped")
            return two if follows and _fits(before, "entryFinished", **why) else None
    return [seq] if own else None


def _changes_nothing(command, state, voters):
    """Whether a state already satisfies a command, so that it causes no event."""
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
            # An index equal to the queue's length means the end.
            return body["entry"] in places and places.index(body["entry"]) == min(body["to"], len(places) - 1)
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
    """Records the members' votes."""
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
