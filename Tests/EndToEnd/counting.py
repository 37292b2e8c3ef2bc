"""What is counted of a room, computed from its events by the words of Documentation/Statistics.md."""

METRICS = ("starts", "plays", "skips", "playedMs", "votes", "unvotes", "requests", "joins", "leaves", "tracksAdded")
MINUTE = 60_000


def required(duration):
    """For how long a song must have been heard to count as a play."""
    if duration is None:
        return 30_000
    if 10_000 <= duration < 30_000:
        return duration
    return min(max(duration / 2, 30_000), 240_000)


class Count:
    """The counts by minute, and the songs that were on air."""

    def __init__(self, events):
        self.minutes, self.plays, self.songs = {}, [], {}
        self.seq = 0
        for event in events:
            self.add(event)

    def add(self, event):
        assert event["seq"] == self.seq + 1
        self.seq = event["seq"]
        match event["type"]:
            case "playbackStarted":
                self.note(event["at"], starts=1)
            case "voteCast":
                self.note(event["at"], votes=1, requests=int(event["requestedSeq"] == event["seq"]))
            case "voteWithdrawn":
                self.note(event["at"], unvotes=1)
            case "memberJoined":
                self.note(event["at"], joins=1)
            case "memberLeft":
                self.note(event["at"], leaves=1)
            case "tracksAdded":
                self.note(event["at"], tracksAdded=len(event["tracks"]))
                for track in event["tracks"]:
                    self.songs[track["track"]] = {**track, "addedBy": event["by"]}
            case "entryFinished":
                song, ended = self.songs[event["track"]], event.get("endedAt", event["at"])
                is_play = event["playedMs"] >= required(song.get("durationMs"))
                self.note(ended, plays=int(is_play), skips=int(event["reason"] == "skipped"), playedMs=event["playedMs"])
                self.plays.append({
                    "entry": event["entry"], **{name: song[name] for name in
                                                ("track", "source", "sourceId", "title", "artist", "addedBy") if name in song},
                    "startedAt": event["startedAt"], "endedAt": ended, "reason": event["reason"],
                    "playedMs": event["playedMs"], "isPlay": is_play})

    def note(self, at, **counts):
        minute = self.minutes.setdefault(at // MINUTE, dict.fromkeys(METRICS, 0))
        for name, count in counts.items():
            minute[name] += count

    def buckets(self, minutes, start, end, offset=0):
        """The buckets of this many minutes between two instants, as the API lists them."""
        sums = {}
        for minute, counts in sorted(self.minutes.items()):
            if start <= minute * MINUTE < end:
                bucket = minute - (minute + offset) % minutes
                one = sums.setdefault(bucket, dict.fromkeys(METRICS, 0))
                for name, count in counts.items():
                    one[name] += count
        return [{"at": minute * MINUTE, **{name: count for name, count in counts.items() if count}}
                for minute, counts in sums.items() if any(counts.values())]

    @property
    def newest_plays(self):
        return sorted(self.plays, key=lambda play: (play["endedAt"], play["entry"]), reverse=True)


def events_of(person, room, seq):
    """All events up to a position."""
    return person.events(room)[:seq]
