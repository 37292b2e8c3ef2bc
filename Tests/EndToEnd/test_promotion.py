"""Standbys: what one lacks that is promoted is taken back, and one that is away is waited for."""

import collections
import concurrent.futures
import contextlib
import os
import random
import threading
import time

import backline
import postgres
import pytest

#: How often each promotion is done.
PROMOTIONS = int(os.environ.get("BACKLINE_PROMOTIONS", "1"))
#: How long a synchronous standby stays away, at least, in seconds.
AWAY = float(os.environ.get("BACKLINE_STANDBY_AWAY", "0"))
#: What a server opens at most: for the log, for statistics, for the bus.
CONNECTIONS = 4 + 2 + 1


class Stage:
    """Two servers on a primary and its standby."""

    def __init__(self, servers, stack):
        self.primary = postgres.Cluster()
        stack.callback(self.primary.close)
        self.primary.database()
        self.standby = postgres.Cluster(primary=self.primary)
        stack.callback(self.standby.close)
        hosts = ",".join(f"127.0.0.1:{cluster.port}" for cluster in (self.primary, self.standby))
        url = f"postgres://backline@{hosts}/backline_1?target_session_attrs=read-write"
        self.store = ("--store", "postgres", "--database-url", url)
        assert backline.run("migrate", *self.store).returncode == 0
        self.servers = [servers(store=self.store).start() for _ in range(2)]

    def cut(self):
        """The standby has all so far, and nothing of what follows."""
        backline.eventually(lambda: self.standby.has_all_of(self.primary), "the standby has followed")
        self.standby.stop_following()
        backline.eventually(lambda: not self.standby.is_following, "the standby is cut off")

    def promote(self):
        self.primary.stop("immediate")
        self.standby.promote()


def history(person, room):
    """The epoch, and all events as one server tells them."""
    page = person.request("GET", f"/v1/rooms/{room}/events?after=0&limit=1000").expect(200)
    return page["epoch"], page["events"]


def rename(person, room, name):
    """Gives a name until it is acknowledged; whatever is answered meanwhile, it is no internal error."""
    def is_done():
        answer = person.post_command(room, "rename", name=name)
        assert answer.status in (200, 429, 503), answer.body
        return answer.status == 200
    backline.eventually(is_done, "a command is acknowledged")


def metric(server, name):
    lines = server.request("GET", "/metrics").body.decode().splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name))


@pytest.mark.long
@pytest.mark.parametrize("number", range(PROMOTIONS))
@pytest.mark.parametrize("others", [None, pytest.param(5, marks=pytest.mark.soak("a kill, and servers that start again"))])
def test_what_a_promoted_standby_lacks_is_taken_back(servers, number, others):
    """With `others`, one server is started again, knows nothing of what is lost, and writes so many other events."""
    with contextlib.ExitStack() as stack:
        stage = Stage(servers, stack)
        first, second = stage.servers
        ana = first.session("Ana")
        there = backline.Person(second, ana.session, ana.token, ana.name)
        room = ana.create_room()["room"]["state"]["id"]
        rename(ana, room, "kept")
        before, kept = history(ana, room)
        with there.socket() as follower:
            stage.cut()
            follower.subscribe(room)
            for lost in range(3):
                rename(ana, room, f"lost {lost}")
            followed = follower.rooms[room]
            follower.until(lambda: followed.position["seq"] == kept[-1]["seq"] + 3, "what will be lost")
            follower.pushed.clear()
            if others is not None:
                first.kill()
            stage.promote()
            if others is not None:
                first.start()
                for other in range(others):
                    rename(ana, room, f"other {other}")
            rename(there, room, "found")
            follower.until(lambda: followed.position["epoch"] != before, "the other history")
            news = [message["type"] for message in follower.pushed if message.get("room") == room]
            news = [type for type in news if type in ("snapshot", "delta", "ended")]
            assert news[0] == "snapshot"
            rename(ana, room, "end")
            told = [history(person, room) for person in (ana, there)]
            assert told[0] == told[1] and told[0][0] == followed.position["epoch"]
            events = told[0][1]
            assert events[: len(kept)] == kept
            names = [event["name"] for event in events[len(kept):]]
            assert names == [*(f"other {other}" for other in range(others or 0)), "found", "end"]
            follower.until(lambda: followed.position["seq"] == events[-1]["seq"], "the end")
            assert followed.state["members"][0]["name"] == "end"
        # With more servers the room may have been found by the other one.
        counts = [metric(server, "backline_rooms_gone_back_total") for server in stage.servers]
        assert sum(counts) == 1, counts
        assert sum(metric(server, "backline_events_lost_total") for server in stage.servers) == 3
        assert sum("has lost events that were shown" in server.said() for server in stage.servers) == 1
        assert backline.run("verify", *stage.store).returncode == 0


@pytest.mark.soak("a primary that dies under load")
@pytest.mark.long
@pytest.mark.parametrize("number", range(PROMOTIONS))
def test_a_promotion_under_load_leaves_one_history(servers, number):
    """Writers at both servers, followers at the other one each; the primary dies while all of them go on."""
    with contextlib.ExitStack() as stack:
        stage = Stage(servers, stack)
        first, second = stage.servers
        owners = [server.session("Owner") for server in (first, second, first, second)]
        others = [backline.Person(server, owner.session, owner.token, owner.name)
                  for server, owner in zip((second, first, second, first), owners)]
        rooms = [owner.create_room()["room"]["state"]["id"] for owner in owners]
        followers = [stack.enter_context(other.socket()) for other in others]
        for follower, room in zip(followers, rooms):
            follower.subscribe(room)
        stopping, faults, written = threading.Event(), [], collections.Counter()
        promoted, back = threading.Event(), {}

        def write(person, room):
            """Renames for as long as it may; notes answers that say that the server is at fault."""
            while not stopping.is_set():
                began, is_after = time.monotonic(), promoted.is_set()
                answer = person.post_command(room, "rename", name=f"{written[room]}")
                written[room] += answer.status == 200
                if is_after and answer.status == 200:
                    back.setdefault(room, time.monotonic())
                if answer.status not in (200, 429, 503):
                    faults.append((room, began, answer.body))

        with concurrent.futures.ThreadPoolExecutor(len(rooms)) as writers:
            stack.callback(stopping.set)
            writing = [writers.submit(write, person, room) for person, room in zip(owners, rooms)]
            # Random moments: as many writes as chance has it before the standby is cut off, and before it is promoted.
            more = {room: written[room] + random.randrange(1, 40) for room in rooms}
            backline.eventually(lambda: all(written[room] >= more[room] for room in rooms), "writes")
            stage.standby.stop_following()
            backline.eventually(lambda: not stage.standby.is_following, "the standby is cut off")
            more = {room: written[room] + random.randrange(1, 40) for room in rooms}
            backline.eventually(lambda: all(written[room] >= more[room] for room in rooms), "writes that will be lost")
            stage.promote()
            promoted.set()
            more = {room: written[room] + 20 for room in rooms}
            backline.eventually(lambda: all(written[room] >= more[room] for room in rooms), "writes after it")
            stopping.set()
            for one in writing:
                one.result()
        # Once a room is written again, nothing is wrong with it any more.
        assert [body for room, began, body in faults if began > back.get(room, began)] == []
        for owner, other, room, follower in zip(owners, others, rooms, followers):
            rename(owner, room, "end")
            told = [history(person, room) for person in (owner, other)]
            assert told[0] == told[1]
            position = {"epoch": told[0][0], "seq": told[0][1][-1]["seq"]}
            followed = follower.rooms[room]
            follower.until(lambda: followed.position == position, "the end")
            # Followers were told of the loss by a snapshot before anything of the new epoch; their fold checks the rest.
            assert followed.state == owner.room(room)["room"]["state"], room
        assert sum(metric(server, "backline_rooms_gone_back_total") for server in stage.servers) >= len(rooms)
        assert "has lost events that were shown" in first.said() + second.said()
        print(f"{sum(written.values())} writes, {len(faults)} faults, "
              f"{sum(metric(server, 'backline_events_lost_total') for server in stage.servers):.0f} events lost")
        assert backline.run("verify", *stage.store).returncode == 0


@pytest.mark.soak("load while a standby is away")
@pytest.mark.long
def test_commits_wait_for_a_synchronous_standby_and_every_answer_is_true(servers):
    with contextlib.ExitStack() as stack:
        stage = Stage(servers, stack)
        primary = stage.primary
        primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'", "postgres")
        primary.sql("SELECT pg_reload_conf()", "postgres")
        people = [server.session(f"Person {number}") for number, server in enumerate(stage.servers * 4)]
        rooms = [person.create_room()["room"]["state"]["id"] for person in people]
        stage.standby.stop("immediate")
        until = time.monotonic() + AWAY
        told = {}

        def write(person, room):
            """Renames until that is not acknowledged, and until the time is over."""
            code = "acknowledged"
            while code == "acknowledged" or time.monotonic() < until:
                name = f"{person.name}, {time.monotonic()}"
                code = person.post_command(room, "rename", name=name).json.get("code", "acknowledged")
                told[room, name] = code
                time.sleep(0.2 if AWAY else 0)

        def opened():
            names = "application_name IN ('backline', 'backline bus')"
            return int(primary.sql(f"SELECT count(*) FROM pg_stat_activity WHERE {names}", "postgres"))

        def readiness():
            return [server.request("GET", "/readyz").status for server in stage.servers]

        # One server has three writers, the other none that is waited for.
        writers = stack.enter_context(concurrent.futures.ThreadPoolExecutor(3))
        writing = [writers.submit(write, people[number], rooms[number]) for number in (0, 2, 4)]
        backline.eventually(lambda: readiness() == [503, 503], "no server is ready")
        most = 0
        while not all(one.done() for one in writing):
            assert readiness() == [503, 503]
            most = max(most, opened())
        assert most <= 2 * CONNECTIONS, most
        for one in writing:
            one.result()
        # Rooms can be looked at meanwhile, at both servers, and show nothing that may be lost.
        for person, room in zip(people, rooms):
            assert person.room(room)["room"]["seq"] == 2
        stage.standby.start()
        backline.eventually(lambda: readiness() == [200, 200], "both servers are ready")
        for person, room in zip(people, rooms):
            rename(person, room, "end")
            names = [event["name"] for event in history(person, room)[1] if event["type"] == "memberRenamed"]
            assert len(set(names)) == len(names) and names[-1] == "end"
            answers = {name: code for (of, name), code in told.items() if of == room}
            assert set(answers.values()) <= {"acknowledged", "unavailable", "outcome_unknown"}, answers
            for name, code in answers.items():
                assert code == "outcome_unknown" or (code == "acknowledged") == (name in names), (name, code)
        # Whose commits wait is chance: the server has writes of its own, behind which the others are `unavailable`.
        assert set(told.values()) - {"acknowledged"} and opened() <= 2 * CONNECTIONS
        print(f"{len(told)} answers, at most {most} connections of two servers")
        assert backline.run("verify", *stage.store).returncode == 0
