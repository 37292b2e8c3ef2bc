"""The fault run with apps on the Swift client library: they are killed too, and go on from what they have stored.

At the end every command that an app was told is carried out stands in the log once, those that were refused do not,
those whose outcome nobody knew stand there once at most, and additions of one app stand in the order of its calls.
`Scripts/chaos --apps N` starts the long run.
"""

import collections
import os
import random
import subprocess
import tempfile
import threading
import time

import backline
import chaos

SETTLING = 120.0
"""Seconds after the last fault within which every app must be idle."""


def program():
    """The path of the app, which stands beside the program of the server where that was built."""
    return os.environ.get("BACKLINE_CHAOS_APP") or os.path.join(os.path.dirname(backline.program()), "ChaosApp")


class App:
    """One device: a process that is started again and again with one store."""

    def __init__(self, number, room, token, folder, pace):
        self.name = f"app{number}"
        self.room, self.token, self.pace = room, token, pace
        self.store = os.path.join(folder, f"{self.name}.sqlite")
        self.posted, self.answers, self.lives = [], {}, 0
        self.contradictions = []
        self.is_idle, self.shown = False, None
        self.process = None

    def start(self, server):
        """Begins a life of the app; numbers of commands go on."""
        self.lives += 1
        self.is_idle, self.shown = False, None
        self.process = subprocess.Popen(
            [program(), server.origin, self.room, "--token", self.token, "--store", self.store, "--name", self.name, "--first", str(self.lives * 100_000), "--pace", str(self.pace)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self._read, args=(self.process,), daemon=True)
        self.reader.start()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()

    def say(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def _read(self, process):
        for line in process.stdout:
            word, *rest = line.split()
            if word == "posted":
                self.posted.append(rest[0])
            elif word in ("acknowledged", "refused"):
                answer = (word, rest[1])
                if self.answers.setdefault(rest[0], answer) != answer:
                    self.contradictions.append((rest[0], self.answers[rest[0]], answer))
            elif word == "idle":
                self.is_idle = True
            elif word == "room":
                self.shown = (int(rest[0]), rest[1] if len(rest) > 1 else "")


def run(plan, apps, say, lives=4):
    """Carries out a plan with so many apps, of which each is killed a few times; returns the violations."""
    stage = chaos.Stage(plan, say)
    try:
        stage.build()
        with tempfile.TemporaryDirectory(prefix="backline-apps-") as folder:
            return _run(plan, stage, apps, folder, lives)
    finally:
        stage.close()


def _run(plan, stage, count, folder, lives):
    first = stage.servers[0]
    owner = first.session("Owner")
    room = owner.create_room("Chaos", settings={"guestsMayAdd": True})["room"]["state"]["id"]
    apps = []
    for number in range(count):
        guest = first.session(f"App {number}")
        guest.command(room, "join")
        apps.append(App(number, room, guest.token, folder, int(plan.pace * 1000)))
    for app in apps:
        app.start(stage.chance.choice(stage.servers))
    began = time.monotonic()
    killing = random.Random(f"{plan.seed}/apps")
    ends = sorted(
        (killing.uniform(1, plan.seconds), app) for app in apps for _ in range(lives - 1))
    breaking = threading.Thread(target=_break, args=(plan, stage, began))
    breaking.start()
    for moment, app in ends:
        time.sleep(max(0, began + moment - time.monotonic()))
        app.kill()
        stage.tell(f"kill -9 {app.name}, which has posted {len(app.posted)} commands")
        app.start(killing.choice(stage.servers))
    breaking.join()
    stage.tell("no more faults")
    for app in apps:
        app.say("stop")
    wrong = []
    deadline = time.monotonic() + SETTLING
    while busy := [app.name for app in apps if not app.is_idle]:
        if time.monotonic() > deadline:
            wrong.append(f"not idle {SETTLING} s after the last fault: {busy}")
            break
        time.sleep(0.25)
    events = owner.events(room)
    for app in apps:
        app.say("state")
    deadline = time.monotonic() + SETTLING
    while any(app.shown is None or app.shown[0] != len(events) for app in apps) and time.monotonic() < deadline:
        time.sleep(0.25)
        for app in apps:
            if app.shown is None or app.shown[0] != len(events):
                app.say("state")
    wrong += judge(apps, events, owner.room(room)["room"]["state"], stage)
    for app in apps:
        app.kill()
    return wrong


def _break(plan, stage, began):
    coming = []
    faults = [fault for fault in plan.faults if stage.namespaces or fault != "cut a server off"]
    for turn in range(1, int(plan.seconds // plan.every)):
        time.sleep(max(0, began + turn * plan.every - time.monotonic()))
        if not coming:
            coming = stage.chance.sample(faults, len(faults))
        if coming:
            stage.break_something(coming.pop())
    time.sleep(max(0, began + plan.seconds - time.monotonic()))


def judge(apps, events, room, stage):
    """Compares what the apps were told and show with the log."""
    wrong, added = [], {}
    for event in events:
        if event["type"] == "tracksAdded":
            for track in event["tracks"]:
                if track["sourceId"] in added:
                    wrong.append(f"{track['sourceId']} was added twice")
                added[track["sourceId"]] = event["seq"]
    counts = collections.Counter()
    for app in apps:
        wrong += [f"{key} was answered {one}, then {other}" for key, one, other in app.contradictions]
        for key, (word, value) in app.answers.items():
            counts[word if word == "acknowledged" else value] += 1
            is_addition = (int(key.rpartition("-")[2]) + 1) % 3 == 0
            if word == "acknowledged" and is_addition and added.get(key, 10**9) > int(value):
                wrong.append(f"{key} was acknowledged at {value} and is in the log at {added.get(key)}")
            if word == "refused" and value != "outcome_unknown" and key in added:
                wrong.append(f"{key} was refused as {value} and is in the log")
        if unanswered := [key for key in app.posted if key not in app.answers]:
            # The answer of a command may be lost with the life that got it, but what was posted is not.
            counts["answered to a life that was killed"] += len(unanswered)
            missing = [key for key in unanswered if (int(key.rpartition("-")[2]) + 1) % 3 == 0 and key not in added]
            counts["posted and killed before it was stored"] += len(missing)
        own = [int(key.rpartition("-")[2]) for key in added if key.startswith(app.name + "-")]
        for earlier, later in zip(own, own[1:]):
            if earlier > later:
                wrong.append(f"{app.name}: {later} was added after {earlier}")
        shown = ",".join(f"{track['sourceId']}:{track['votes']}" for track in room["pool"])
        if app.shown != (len(events), shown):
            wrong.append(f"{app.name} shows another room at {app.shown and app.shown[0]}; the log ends at {len(events)}")
    for name, number in sorted(counts.items()):
        stage.tell(f"{number:8} {name}")
    stage.tell(f"{len(added):8} songs in the log, {len(events)} events, {sum(app.lives for app in apps)} lives of apps")
    return wrong
