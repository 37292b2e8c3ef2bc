"""A night of a deck that nobody attends: music in real time, guests who vote, and faults of network and server.

What was heard, by ears in the page, is compared with what the room's log says. `Scripts/night` runs a long one.
"""

import argparse
import contextlib
import dataclasses
import pathlib
import random
import re
import statistics
import sys
import tempfile
import threading
import time

import playwright.sync_api

sys.path.insert(1, str(pathlib.Path(__file__).parents[1] / "EndToEnd"))

import backline  # noqa: E402
import browsers  # noqa: E402
import decks  # noqa: E402
import fold  # noqa: E402
import parties  # noqa: E402
import postgres  # noqa: E402
import serving  # noqa: E402
import steps  # noqa: E402
import trust  # noqa: E402
import wires  # noqa: E402

VOTERS = ("Ana", "Ben", "Caro", "Dino", "Eve")

NEAR_MS = 500
"""The log says when and for how long a song was heard, within this."""

BUSY = 3
"""In tests, which share their machine with others, times are within so many times their bound."""

GAP_MS = 300
"""No gap between two songs is longer while the deck is on line."""

LOST_GAP_MS = 1000 + GAP_MS
"""Without the room, the deck waits a second for an answer before it goes on by itself."""

BLIP_MS = 120
"""What sounds for less is the beginning or the end of a tone, which no analyser can name."""

WINDOW_MS = decks.WINDOW / 44.1
"""The ears hear each sample for so long, at 44.1 kHz. What they hear for no longer may be one sample that is off, as where a
machine is late with a few. All silences of 140 ms are found: they hear nothing from then on when the whole of what they hear
at once is silent, and ask each 20 ms."""

HEAP_BYTES, NODES = 1_000_000, 50
"""The page grows by at most so much between the first quarter and the end."""

LINK_WAITS = 30
"""Seconds after which a page that was off line has tried to connect again, at most."""

POLL_MS = 150


@dataclasses.dataclass
class Fault:
    """What happens when so many songs have begun, so long after the beginning of the last one."""

    song: int
    after: float
    kind: str
    seconds: float = 0.0


def faults(songs, seconds, seed):
    """A night's faults: the network is lost in three ways, the server killed twice, the page loaded again off line."""
    chance = random.Random(seed)
    share = songs / 8

    def at(part, low, high):
        return max(1, round(share * part)), seconds * chance.uniform(low, high)

    return [
        Fault(*at(1, 0.2, 0.5), "reset", chance.uniform(1, 3)),
        # Dead at the end of a song.
        Fault(*at(2, 0.8, 0.9), "kill", chance.uniform(2, 4)),
        # Across the ends of two songs.
        Fault(*at(3, 0.4, 0.7), "lost packets", seconds * 2),
        Fault(*at(4.5, 0.2, 0.6), "silence"),
        Fault(*at(5.5, 0.2, 0.6), "kill", chance.uniform(1, 3)),
        Fault(*at(6.5, 0.2, 0.5), "reload", chance.uniform(2, seconds)),
    ]


class Voter(threading.Thread):
    """A guest somewhere else, who follows the room and votes at random, also after the server was away."""

    def __init__(self, person, room, seed):
        super().__init__(daemon=True)
        self.person, self.room, self.chance = person, room, random.Random(seed)
        self.follower = fold.Follower(room)
        self.socket = None
        self.ending = threading.Event()
        self.votes = self.resumes = 0
        self.failure = None

    def run(self):
        try:
            while not self.ending.is_set():
                try:
                    self._connect()
                    while not self.ending.is_set():
                        self._wait(self.chance.uniform(0.5, 3))
                        self._vote()
                except (OSError, TimeoutError, backline.websockets.exceptions.WebSocketException):
                    self.ending.wait(0.3)
        except BaseException as failure:
            self.failure = failure

    def _connect(self):
        self.socket = self.person.socket()
        if self.follower.epoch is None:
            self.socket.rooms[self.room] = self.follower
            self.socket.subscribe(self.room)
        else:
            self.resumes += 1
            self.socket.resume(self.follower)

    def _wait(self, seconds):
        """Reads what comes."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                self.socket.receive(left)

    def _vote(self):
        state = self.follower.state
        if len(state["requests"]) > 12:
            return
        track = self.chance.choice(state["pool"])["track"]
        wishes = "unvote" if self.chance.random() < 0.15 else "vote"
        if self.socket.command(self.room, wishes, track=track)["type"] == "ack":
            self.votes += 1

    def end(self):
        self.ending.set()
        self.join(backline.PATIENCE)
        assert not self.is_alive(), f"{self.person.name} did not end"
        if self.failure:
            raise self.failure

    def close(self):
        self.ending.set()
        self.join(backline.PATIENCE)
        if self.socket:
            with contextlib.suppress(Exception):
                self.socket.close()


def songs_of(heard):
    """Songs from what the ears wrote: `{tone, from, to, ms, silences, breaks}`, times in ms, in their order.

    `ms` is the time in which the tone sounded. A tone that stops and comes again is one song. `breaks` is what was heard
    whenever it stopped; `silences` are the lengths of those breaks that the ears can tell.
    """
    songs, between = [], []
    for one in heard:
        length = one["to"] - one["from"]
        if one["tone"] is None or length < BLIP_MS:
            between.append(one)
            continue
        if songs and songs[-1]["tone"] == one["tone"]:
            last = songs[-1]
            last["breaks"].append([(other["tone"], other["from"], other["to"]) for other in between])
            if any(other["isFirst"] for other in [*between, one]) or between and between[-1]["to"] - between[0]["from"] > WINDOW_MS:
                last["silences"].append(one["from"] - last["to"])
            last["to"] = one["to"]
            last["ms"] += length
        else:
            songs.append({"tone": one["tone"], "from": one["from"], "to": one["to"], "ms": length, "silences": [], "breaks": []})
        between = []
    return songs


def log_of(events, on_air=None):
    """What the log says was played: `{entry, title, from, to, ms, reason}`. `on_air` is the state's playback."""
    titles, songs = {}, []
    for event in events:
        if event["type"] == "tracksAdded":
            titles.update((track["track"], track["title"]) for track in event["tracks"])
        elif event["type"] == "entryFinished":
            songs.append({
                "entry": event["entry"], "title": titles[event["track"]], "from": event["startedAt"],
                "to": event.get("endedAt", event["at"]), "ms": event["playedMs"], "reason": event["reason"]})
    if on_air and on_air["status"] == "paused":
        songs.append({
            "entry": on_air["entry"], "title": titles[on_air["track"]], "from": on_air["startedAt"],
            "to": on_air["atMs"], "ms": on_air["positionMs"], "reason": "paused"})
    return songs


def compare(heard, logged, near=NEAR_MS):
    """What differs between the songs that were heard and those of the log, as sentences; and the largest differences."""
    wrong, worst = [], {"begin": 0, "end": 0, "length": 0}
    for ear, log in pairs(heard, logged, near):
        if ear is None or log is None or decks.title(ear["tone"]) != log["title"]:
            wrong.append(f"{ear and decks.title(ear['tone'])} was heard, and the log says {log and log['title']}")
            break
        if min(ear["ms"], log["ms"]) <= near:
            continue
        for what, difference in (("begin", ear["from"] - log["from"]), ("end", ear["to"] - log["to"]),
                                 ("length", ear["ms"] - log["ms"])):
            worst[what] = max(worst[what], difference, key=abs)
            if abs(difference) > near:
                wrong.append(f"{log['title']}: its {what} as heard is {difference:+.0f} ms off the log's")
    starts = [one["entry"] for one in logged if one["ms"] > near]
    if len(set(starts)) != len(starts):
        wrong.append("the log has an entry twice")
    return wrong, worst


def pairs(heard, logged, near):
    """The songs of both sides in their order; one of less than the bound may be absent on the other side."""
    heard, logged = list(heard), list(logged)
    while heard or logged:
        if heard and logged and decks.title(heard[0]["tone"]) == logged[0]["title"]:
            yield heard.pop(0), logged.pop(0)
        elif heard and heard[0]["ms"] <= near:
            heard.pop(0)
        elif logged and logged[0]["ms"] <= near:
            logged.pop(0)
        else:
            yield heard[0] if heard else None, logged[0] if logged else None
            return


def gaps_of(heard):
    """The silences between songs: their beginning and their end, in ms."""
    return [(one["to"], other["from"]) for one, other in zip(heard, heard[1:])]


class Night:
    """One night. `run` plays it; what is wrong is in `wrong`, and what was measured in `measured`."""

    def __init__(self, chromium, server, store, folder, songs=40, seconds=8, seed=1, plan=None, gap=GAP_MS, near=NEAR_MS, say=print):
        self.chromium, self.server, self.store, self.folder = chromium, server, store, pathlib.Path(folder)
        self.songs, self.seconds, self.seed, self.say, self.gap, self.near = songs, seconds, seed, say, gap, near
        self.plan = faults(songs, seconds, seed) if plan is None else plan
        self.wrong, self.measured = [], {}
        #: When the deck was not on line: `(from, to, kind)` in ms.
        self.away = []
        self.memory = []
        self.sent = []
        #: Since when it has not been, and why.
        self._since = None
        self._is_faulty = False
        self._song_began = 0.0

    def run(self):
        files = decks.make_songs(self.folder / "music", max(12, min(24, self.songs)), self.seconds)
        settings = {"queueMode": "fair", "repeatAfterPlays": 3}
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.server)
            wire = self.wire = stack.enter_context(wires.Wire(self.server))
            room = self.room = stack.enter_context(parties.empty(self.server, name="All night", settings=settings))
            context = stack.enter_context(contextlib.closing(self.chromium.context(wire, device=browsers.LAPTOP)))
            context.watch.expect(browsers.LOST)
            decks.listening(context, decks.REAL)
            browsers.sign_in(context, room.mina)
            page = self.page = context.new_page()
            page.on("websocket", lambda socket: socket.on("framesent", self._count))
            self.devtools = context.new_cdp_session(page)
            page.goto(room.path)
            page.get_by_role("button", name="Play on this device").wait_for()
            # From now on it can be loaded again without a network.
            steps.keep_page(page)
            added = decks.keep_files(page, files)
            assert added == {"songs": len(files), "skipped": []}, added
            tracks = decks.add_tracks(page)
            self.voters = []
            for number, name in enumerate(VOTERS):
                voter = Voter(room.join(name), room.id, f"{self.seed}/{name}")
                stack.enter_context(contextlib.closing(voter))
                self.voters.append(voter)
                for track in voter.chance.sample(tracks, 2):
                    room.tell(name, "vote", track=track)
                voter.start()
            page.get_by_role("button", name="Play on this device").click()
            self._play()
            self._end()
            context.watch.check()
        self._verify()
        return self

    # -- What happens

    def _play(self):
        plan = sorted(self.plan, key=lambda fault: (fault.song, fault.after))
        deadline = time.monotonic() + 60 + self.songs * (self.seconds + 3)
        count = 0
        while count < self.songs or plan:
            now = self._look()
            if now != count:
                count = now
                self._song_began = time.monotonic()
                self._weigh(count)
            if plan and (count > plan[0].song or count == plan[0].song and self._song_age() >= plan[0].after):
                self._do(plan.pop(0))
            assert time.monotonic() < deadline, f"{count} songs of {self.songs} were heard in time: {decks.deck(self.page)}"
            self.page.wait_for_timeout(POLL_MS)
        # The last one is heard for a while, too.
        self.page.wait_for_timeout(1000 * self.seconds / 3)

    def _look(self):
        """The number of songs so far. Notes since when the deck has been on line."""
        heard = songs_of(decks.heard(self.page))
        if self._since and not self._is_faulty and self._is_on_line():
            self.away.append((*self._since, _now()))
            self._since = None
            self.say(f"  on line again after {(self.away[-1][2] - self.away[-1][0]) / 1000:.1f} s")
        return len(heard)

    def _song_age(self):
        return time.monotonic() - self._song_began

    def _is_on_line(self):
        return decks.run(self.page, """async app => {
            const {phase, leading, wants} = await app.device();
            return app.store.link.state === 'live' && app.store.room.deck.here && phase === 'on' && !leading && !wants;
        }""")

    def _do(self, fault):
        self.say(f"song {fault.song}, {self._song_age():.1f} s: {fault.kind}" + (f" for {fault.seconds:.1f} s" if fault.seconds else ""))
        self._since, self._is_faulty = (_now(), fault.kind), True
        if fault.kind == "reset":
            self.wire.go_down()
            self._rest(fault.seconds)
            self.wire.come_up()
        elif fault.kind == "lost packets":
            self.wire.lose_packets()
            self._rest(fault.seconds)
            self.wire.find_packets()
        elif fault.kind == "silence":
            connections = "app => app.store.connections"
            before = decks.run(self.page, connections)
            self.wire.fall_silent()
            backline.eventually(lambda: self._rest(POLL_MS / 1000) or decks.run(self.page, connections) > before,
                                "the page takes another connection", 60)
        elif fault.kind == "kill":
            self.server.kill()
            self._rest(fault.seconds)
            self.server.start()
            self.room.line = parties.Line(self.server)
        elif fault.kind == "reload":
            self.wire.go_down()
            self._rest(1)
            self.page.reload()
            self._go_on()
            self._rest(fault.seconds)
            self.wire.come_up()
        else:
            raise ValueError(fault.kind)
        # Until the room knows everything, the deck is not on line.
        self._is_faulty = False
        until = time.monotonic() + LINK_WAITS + backline.PATIENCE
        while self._look() and self._since:
            assert time.monotonic() < until, f"not on line again after: {fault.kind}: {self._state()}"
            self._rest(POLL_MS / 1000)

    def _go_on(self):
        """The deck is back, after a tap where the browser wants one."""
        def plays():
            # The page makes the device once it has the room; asked before, it would be one that has nothing to go on with.
            if not decks.run(self.page, "app => app.playing !== null"):
                return self._rest(POLL_MS / 1000)
            state = decks.deck(self.page)
            if state["wants"]:
                self.page.get_by_role("button", name="Go on playing").click()
            return state["heard"]["isHeard"] or self._rest(POLL_MS / 1000)

        backline.eventually(plays, "the deck is back after a reload", 60)

    def _state(self):
        return decks.deck(self.page), decks.run(
            self.page, "({store}) => [store.link, store.room.deck, store.room.playback, store.room.queue, store.room.you]")

    def _rest(self, seconds):
        self.page.wait_for_timeout(1000 * seconds)

    def _end(self):
        """Pauses, and waits until everybody agrees."""
        self.page.get_by_role("button", name="Pause", exact=True).click()
        for voter in self.voters:
            voter.end()
        backline.eventually(lambda: self._rest(0.1) or self.room.state()["playback"]["status"] == "paused", "the music is paused", 60)
        self._rest(0.3)
        self.heard = songs_of(decks.heard(self.page))
        room = self.room.mina.room(self.room.id)["room"]
        state = room["state"]
        self.logged = log_of(self.room.mina.events(self.room.id), state["playback"])
        self._check_page(state)
        self._check_voters(room)
        self._check_sound()
        self._check_memory()
        history = [(one["title"], one["startedAt"], one["endedAt"], one["playedMs"]) for one in reversed(state["history"])]
        told = [(one["title"], one["from"], one["to"], one["ms"]) for one in self.logged if one["reason"] != "paused"]
        if history != told[-len(history):]:
            self.wrong.append("the history is not what the events say")

    # -- What is measured

    def _count(self, frame):
        if isinstance(frame, str) and '"command"' in frame:
            found = re.search(r'"command":\{"type":"(\w+)"', frame)
            if found:
                self.sent.append(found[1])

    def _weigh(self, song):
        self.devtools.send("HeapProfiler.enable")
        self.devtools.send("HeapProfiler.collectGarbage")
        heap = self.devtools.send("Runtime.getHeapUsage")["usedSize"]
        nodes = self.devtools.send("Memory.getDOMCounters")["nodes"]
        self.memory.append((song, heap, nodes))
        self.say(f"song {song}: heap {heap / 1e6:.2f} MB, {nodes} nodes")

    # -- What must hold

    def _check_page(self, state):
        ours = decks.run(self.page, "app => app.store.room.toState()")
        if different := fold.differences(ours, state):
            self.wrong += ["the page's room is not the server's", *different[:5]]

    def _check_voters(self, room):
        for voter in self.voters:
            # Their sockets are read no more, so they are read up to here.
            with contextlib.suppress(TimeoutError, backline.websockets.exceptions.WebSocketException):
                while voter.follower.seq < room["seq"]:
                    voter.socket.receive(2)
            if different := fold.differences(voter.follower.state, room["state"]):
                self.wrong += [f"{voter.person.name} does not see the server's room", *different[:5]]

    def _check_sound(self):
        found, self.worst = compare(self.heard, self.logged, self.near)
        self.wrong += found
        on_line, lost = [], []
        for begin, end in gaps_of(self.heard):
            kind = next((kind for start, kind, until in self.away if begin <= until and end >= start), None)
            if kind is None:
                on_line.append(end - begin)
            elif kind != "reload":
                lost.append(end - begin)
            limit = self.gap if kind is None else LOST_GAP_MS + self.gap - GAP_MS if kind != "reload" else None
            if limit is not None and end - begin > limit:
                self.wrong.append(f"a gap of {end - begin:.0f} ms ({kind or 'on line'})")
        silences = [one for song in self.heard for one in song["silences"]]
        # The page that is loaded again is silent until it is back and somebody has tapped.
        reloads = sum(kind == "reload" for _, kind, _ in self.away)
        if len(silences) > reloads:
            heard = [song for song in self.heard if song["breaks"]]
            self.wrong.append(f"songs fell silent {len(silences)} times: {silences} in {heard}")
        self.measured.update(
            gaps=on_line, gaps_lost=lost, silences=silences, unheard=[one for one in self.logged if one["ms"] <= NEAR_MS])

    def _check_memory(self):
        """From the first quarter to the end, and not across the reload, after which it is another page."""
        reload = next((fault.song for fault in self.plan if fault.kind == "reload"), self.songs)
        growth = []
        for part in ([one for one in self.memory if self.songs / 4 <= one[0] <= reload],
                     [one for one in self.memory if one[0] > reload + 1]):
            if len(part) < 4:
                continue
            # One song's peak is not growth.
            first, last = part[:3], part[-3:]
            heap, nodes = (min(one[place] for one in last) - min(one[place] for one in first) for place in (1, 2))
            growth.append((heap, nodes))
            if heap > HEAP_BYTES:
                self.wrong.append(f"the heap grew by {heap / 1e6:.2f} MB between songs {part[0][0]} and {part[-1][0]}")
            if nodes > NODES:
                self.wrong.append(f"the page grew by {nodes} nodes between songs {part[0][0]} and {part[-1][0]}")
        self.measured["growth"] = growth

    def _verify(self):
        ended = backline.run("verify", *self.store, timeout=120)
        if ended.returncode != 0:
            self.wrong.append(f"verify: {ended.returncode} {ended.stdout[-500:]} {ended.stderr[-500:]}")

    def table(self):
        """The night in figures."""
        gaps, lost = self.measured["gaps"], self.measured["gaps_lost"]

        def span(found):
            return f"{len(found)}: median {statistics.median(found):.0f}, most {max(found):.0f} ms" if found else "none"

        votes = sum(voter.votes for voter in self.voters)
        reasons = [one["reason"] for one in self.logged]
        rows = [
            ("songs heard", len(self.heard)),
            ("songs in the log", f"{len(self.logged)} ({', '.join(f'{reasons.count(one)} {one}' for one in sorted(set(reasons)))})"),
            ("in the log for less than 0.5 s", len(self.measured["unheard"])),
            ("largest difference of a begin, an end, a length", ", ".join(f"{self.worst[one]:+.0f}" for one in ("begin", "end", "length")) + " ms"),
            ("gaps between songs on line", span(gaps)),
            ("gaps between songs else", span(lost)),
            ("silence within songs", ", ".join(f"{one:.0f} ms" for one in self.measured["silences"]) or "none"),
            *((f"away by {kind}", f"{(until - since) / 1000:.1f} s") for since, kind, until in self.away),
            ("votes", f"{votes}, voters connected again {sum(voter.resumes for voter in self.voters)} times"),
            ("commands of the deck", ", ".join(f"{self.sent.count(one)} {one}" for one in sorted(set(self.sent)))),
            ("growth of heap and nodes", "; ".join(f"{heap / 1e6:+.2f} MB, {nodes:+d}" for heap, nodes in self.measured["growth"]) or "not measured"),
        ]
        return "\n".join(f"{name:<50} {value}" for name, value in rows)


def _now():
    return time.time() * 1000


def main():
    parser = argparse.ArgumentParser(prog="Scripts/night", description=__doc__)
    parser.add_argument("--songs", type=int, default=40, help="songs that are heard (40)")
    parser.add_argument("--seconds", type=float, default=8, help="the length of a song (8)")
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--seed", type=int, default=None, help="of votes and faults; without it, a new one")
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(10**6)
    print(f"seed {seed}, {asked.songs} songs of {asked.seconds:g} s, {asked.store}", flush=True)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="backline-night-")))
        authority = trust.Authority(folder)
        store = ["--store", "sqlite", "--data", str(folder / "data")]
        if asked.store == "postgres":
            cluster = stack.enter_context(contextlib.closing(postgres.Cluster()))
            store = ["--store", "postgres", "--database-url", cluster.database()]
        driver = stack.enter_context(playwright.sync_api.sync_playwright())
        chromium = stack.enter_context(contextlib.closing(browsers.Chromium(driver, authority.home())))
        server = serving.make_server(authority, folder / "data", store=store)
        night = Night(chromium, server, store, folder, asked.songs, asked.seconds, seed,
                      say=lambda line: print(line, flush=True))
        night.run()
    print(f"\n{night.table()}")
    for reason in night.wrong:
        print(f"WRONG: {reason}", file=sys.stderr)
    return 1 if night.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
