"""The fault run: two servers on one PostgreSQL, clients that move between them, and continuous faults.

At the end, no acknowledged command may be missing or repeated, all clients must have been shown the same rooms, and
what servers said they had counted, at moments of the run and at the end, must be what the logs say.
`Scripts/chaos --help` lists the options.
"""

import argparse
import asyncio
import contextlib
import dataclasses
import os
import random
import resource
import signal
import sys
import tempfile
import time

import backline
import postgres
from chaos_checks import check_room
from chaos_clients import Client, World, take_up
import chaos_network
from chaos_network import Namespace
from chaos_statistics import Counted
from fold import differences

FAULTS = ["kill a server", "kill backends", "restart PostgreSQL", "stop a server", "cut a server off"]
ONE_ROUND = {"seconds": 2.5 * (len(FAULTS) + 1), "every": 2.49, "length": 0.2}
"""The times of a short run in which each kind of fault happens once."""
SETTLING = 90.0
"""Seconds after the last fault within which all violations must have ended."""
PRESENCE = 45.0
"""Seconds within which presence must be right: a lost server's members stay online for 30 s."""


@dataclasses.dataclass
class Plan:
    """The parameters of a run."""

    seed: int
    seconds: float = 600
    every: float = 20
    rooms: int = 50
    clients: int = 200
    #: Seconds between two commands of a client.
    pace: float = 1.0
    #: How long a fault lasts, as a share of its usual time.
    length: float = 1.0
    #: How often the statistics of all rooms are read while everything goes on.
    moments: int = 10
    faults: list = dataclasses.field(default_factory=lambda: list(FAULTS))


class Stage:
    """The database, the servers, and the faults that can be caused."""

    def __init__(self, plan, say):
        self.say = say
        self.length = plan.length
        self.chance = random.Random(f"{plan.seed}/faults")
        self._resources = contextlib.ExitStack()
        self._began = time.monotonic()
        self._troubled_until = 0.0
        self.cluster, self.servers, self.namespaces = None, [], []

    def build(self):
        # Only root has networks that can be cut.
        if os.geteuid() == 0:
            for number in range(2):
                self.namespaces.append(self._closing(Namespace(number)))
        self.cluster = self._closing(postgres.Cluster([namespace.database for namespace in self.namespaces]))
        self.database = self.cluster.url(name := "backline_chaos")
        self.cluster.sql(f"CREATE DATABASE {name}", database="postgres")
        folder = self._resources.enter_context(tempfile.TemporaryDirectory(prefix="backline-chaos-"))
        for number in range(2):
            place = self.namespaces[number] if self.namespaces else None
            url = self.cluster.url(name, place.database) if place else self.database
            server = self._closing(backline.Server(
                store=["--store", "postgres", "--database-url", url, "--data", os.path.join(folder, str(number))],
                **({"host": place.address, "prefix": place.prefix} if place else {})))
            self.servers.append(server.start())

    def _closing(self, made):
        self._resources.callback(made.close)
        return made

    def close(self):
        self._resources.close()

    def tell(self, text):
        self.say(f"{time.monotonic() - self._began:6.1f} s  {text}")

    def is_log_troubled(self):
        """Whether a server may be unable to reach the log."""
        return time.monotonic() < self._troubled_until

    # Faults

    def break_something(self, fault):
        """Causes one fault and repairs it. Blocks meanwhile."""
        number = self.chance.randrange(2)
        server, node = self.servers[number], f"server {'ab'[number]}"
        match fault:
            case "kill a server":
                seconds = self._length(0.1, 5)
                self.tell(f"kill -9 {node}, started again {seconds:.1f} s later")
                server.kill()
                time.sleep(seconds)
                server.start()
            case "kill backends":
                self._trouble(30)
                # After a restart the servers are connected again in a moment.
                backends = backline.eventually(self.cluster.backends, "a server is connected to PostgreSQL")
                chosen = self.chance.sample(sorted(backends), self.chance.randint(1, (len(backends) + 1) // 2))
                self.tell(f"kill -9 {len(chosen)} of {len(backends)} of PostgreSQL's backends")
                for process in chosen:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                self._trouble(20)
            case "restart PostgreSQL":
                mode, seconds = self.chance.choice(["fast", "immediate"]), self._length(0, 4)
                self.tell(f"PostgreSQL is stopped ({mode}), started again {seconds:.1f} s later")
                self._trouble(90)
                self.cluster.stop(mode)
                time.sleep(seconds)
                self.cluster.start()
                self._trouble(20)
            case "stop a server":
                seconds = self._length(10, 10)
                self.tell(f"SIGSTOP {node} for {seconds:.1f} s")
                server.process.send_signal(signal.SIGSTOP)
                time.sleep(seconds)
                server.process.send_signal(signal.SIGCONT)
            case "cut a server off":
                seconds = self._length(2, 12)
                self.tell(f"{node} is cut off from PostgreSQL for {seconds:.1f} s")
                self._trouble(60)
                self.namespaces[number].cut()
                time.sleep(seconds)
                self.namespaces[number].mend()
                self._trouble(30)
            case _:
                raise ValueError(f"no such fault: {fault}; there are: {', '.join(FAULTS)}")
        for server in self.servers:
            assert server.running, f"a server ended by itself with {server.process.returncode}:\n{server.said()}"

    def _length(self, least, most):
        """The seconds of a fault."""
        return self.length * self.chance.uniform(least, most)

    def _trouble(self, seconds):
        self._troubled_until = time.monotonic() + seconds


async def run(plan, say):
    """Carries out a plan; returns the violations, one line each."""
    stage = Stage(plan, say)
    try:
        await asyncio.to_thread(stage.build)
        return await _run(plan, stage)
    except BaseException:
        for server in stage.servers:
            say(f"--- {server.ready_line}\n{server.said()}")
        raise
    finally:
        await asyncio.to_thread(stage.close)


async def _run(plan, stage):
    world = World([server.address for server in stage.servers], plan.seed, stage.tell)
    world.is_log_troubled = stage.is_log_troubled
    await world.open()
    clients = [Client(world, number, plan.pace) for number in range(plan.clients)]
    async with world.http:
        await _prepare(plan, world, clients)
        running = [asyncio.create_task(client.run()) for client in clients]
        counted = Counted(world, clients[0])
        running.append(watching := asyncio.create_task(counted.watch(plan.moments, plan.seconds)))
        stage.tell(f"{len(clients)} clients in {len(world.rooms)} rooms")
        try:
            await _break_things(plan, stage, running)
            stage.tell("no more faults")
            world.is_settling = True
            await watching
            await _settle(world, clients, running)
            stage.tell("everything has settled")
            wrong = world.problems + await _judge(stage, world, clients, counted)
        finally:
            world.is_over = True
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
    for name, count in sorted(world.counts.items()):
        stage.tell(f"{count:8} {name}")
    return wrong


async def _prepare(plan, world, clients):
    """Everybody has a session and a place in one or two rooms."""
    await asyncio.gather(*(client.begin() for client in clients))
    await asyncio.gather(*(client.make_room() for client in clients[:plan.rooms]))
    for number, client in enumerate(clients):
        client.sit(world.rooms[number % len(world.rooms)])
        client.sit(client.chance.choice(world.rooms))


async def _break_things(plan, stage, running):
    """One fault after the other, each for its time, in rounds of all of them."""
    began, coming = time.monotonic(), []
    faults = [fault for fault in plan.faults if stage.namespaces or fault != "cut a server off"]
    if len(faults) < len(plan.faults):
        stage.tell("not as root: no network is cut")
    for turn in range(1, int(plan.seconds // plan.every)):
        await _sleep_until(began + turn * plan.every, running)
        if not coming:
            coming = stage.chance.sample(faults, len(faults))
        if coming:
            await asyncio.to_thread(stage.break_something, coming.pop())
    await _sleep_until(began + plan.seconds, running)


async def _sleep_until(moment, running):
    while time.monotonic() < moment:
        for task in running:
            if task.done():
                task.result()  # A client never ends by itself, and nothing else with a failure: this is the reason.
        await asyncio.sleep(min(0.5, max(0, moment - time.monotonic())))


async def _until(condition, seconds):
    """Waits for a condition that is a coroutine function; returns whether it became true."""
    deadline = time.monotonic() + seconds
    while not await condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.25)
    return True


async def _settle(world, clients, running):
    """Waits until everything under way has ended."""

    async def is_quiet():
        for task in running:
            if task.done():
                task.result()
        if any(client.is_busy for client in clients):
            return False
        for node in world.nodes:
            try:
                if (await world.request(node, "GET", "/readyz"))[0] != 200:
                    return False
            except (OSError, asyncio.TimeoutError):
                return False
        return True

    if not await _until(is_quiet, SETTLING):
        busy = [(client.number, client.is_busy) for client in clients if client.is_busy]
        world.problem(f"{SETTLING} s after the last fault these are still under way: {busy[:10]}")
        return
    # A command refused after an attempt without an answer has its outcome now, if its key is still remembered.
    for room in world.rooms:
        pending, room.uncertain = room.uncertain, []
        for client, seat, command in pending:
            place = command.answered_before
            # A client that has left meanwhile would be refused, or act as another member.
            if len(room.acknowledged) - place < 800 and seat.member == command.member:
                await client.carry_out(command, seat)
            else:
                room.uncertain.append((client, seat, command))


async def _judge(stage, world, clients, counted):
    """Compares all logs, servers and clients; returns the violations."""
    wrong = []
    witness = clients[0]

    async def ask(node, path):
        while True:
            try:
                status, answer = await world.request(node, "GET", path, witness.token)
                if status == 200:
                    return answer
                if status not in (429, 503):
                    raise AssertionError(f"{path}: {status} {answer}")
            except (OSError, asyncio.TimeoutError):
                pass
            await asyncio.sleep(0.2)

    logs = {}
    for number, room in enumerate(world.rooms):
        logs[room.id] = events = []
        node = world.nodes[number % 2]
        while True:
            page = await ask(node, f"/v1/rooms/{room.id}/events?after={len(events)}")
            events += page["events"]
            if not page["events"]:
                break
        if page["seq"] != len(events):
            wrong.append(f"room {room.id}: {len(events)} events, and it is said to be at {page['seq']}")

    # Every client reaches the end of its rooms' logs.
    def behind():
        return [
            f"client {client.number} at {client.node and client.node.origin}: room {seat.room.id} at "
            f"{seat.follower.seq}, its log ends at {len(logs[seat.room.id])}"
            for client in clients for seat in client.seats.values()
            if not seat.is_followed or seat.follower.seq != len(logs[seat.room.id])]

    async def has_arrived():
        return not behind()

    if not await _until(has_arrived, SETTLING):
        wrong += behind()[:20]

    for room in world.rooms:
        found, state = check_room(room, logs[room.id])
        wrong += found
        if state is None:
            continue
        for node in world.nodes:
            shown = (await ask(node, f"/v1/rooms/{room.id}"))["room"]
            if (shown["epoch"], shown["seq"]) != (room.epoch, len(logs[room.id])):
                wrong.append(f"room {room.id} at {node.origin} is at {shown['epoch']}/{shown['seq']}")
            if lines := differences(state, shown["state"]):
                wrong.append(f"room {room.id} at {node.origin} is not its fold: {lines[:5]}")
        for client in clients:
            seat = client.seats.get(room.id)
            if seat is not None and seat.follower.state is not None:
                if lines := differences(state, seat.follower.state, f"client {client.number}"):
                    wrong.append(f"room {room.id}: {lines[:5]}")

    # A key that is remembered has its first outcome.
    for room in world.rooms:
        for client, command in room.acknowledged[-10:]:
            if problem := await take_up(client, room, command):
                wrong.append(problem)

    wrong += await counted.judge(logs)
    wrong += await _judge_presence(world, clients, ask)
    # The tables themselves, checked with the operators' tools.
    for tool in (["verify"], ["statistics", "verify"]):
        verified = await asyncio.to_thread(
            backline.run, *tool, "--store", "postgres", "--database-url", stage.database, timeout=300)
        stage.tell(f"{' '.join(tool)}: {(verified.stdout.splitlines() or ['nothing'])[-1]}")
        if verified.returncode != 0:
            wrong += [f"{' '.join(tool)} ended with {verified.returncode}", *verified.stdout.splitlines()[:20]]
            wrong += verified.stderr.splitlines()[-5:]
    return wrong


async def _judge_presence(world, clients, ask):
    """Both servers tell every client the right online members."""
    truth = {
        room.id: sorted(
            seat.member for client in clients if (seat := client.seats.get(room.id)) and seat.member is not None)
        for room in world.rooms}
    found = []

    async def is_true():
        found.clear()
        for room in world.rooms:
            for node in world.nodes:
                presence = (await ask(node, f"/v1/rooms/{room.id}"))["room"]["presence"]
                if (presence["online"], sorted(presence.get("members", []))) != (len(truth[room.id]), truth[room.id]):
                    found.append(f"room {room.id} at {node.origin}: online are {truth[room.id]}, told is {presence}")
            for client in clients:
                seat = client.seats.get(room.id)
                if seat is not None and seat.present is not None and sorted(seat.present) != truth[room.id]:
                    found.append(
                        f"room {room.id}: online are {truth[room.id]}, client {client.number} at "
                        f"{client.node and client.node.origin} was told {sorted(seat.present)}")
        return not found

    await _until(is_true, PRESENCE)
    return found[:20]


def main():
    arguments = argparse.ArgumentParser(prog="Scripts/chaos", description=__doc__)
    arguments.add_argument("--minutes", type=float, default=10)
    arguments.add_argument("--seed", type=int, help="the choice of faults and of what clients want; default: a new one")
    arguments.add_argument("--rooms", type=int, default=50)
    arguments.add_argument("--clients", type=int, default=200)
    arguments.add_argument("--every", type=float, default=20, help="seconds from one fault to the next")
    arguments.add_argument("--pace", type=float, default=1, help="seconds between two commands of a client")
    arguments.add_argument("--moments", type=int, default=10, help="how often statistics are read meanwhile")
    arguments.add_argument("--faults", default=",".join(FAULTS), help="some of: %(default)s; or none")
    arguments.add_argument(
        "--apps", type=int, metavar="N", help="instead of the other clients, N apps on the Swift library in one room, "
        "each killed nine times: they go on from what they have stored")
    given = arguments.parse_args()
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(1 << 32)
    faults = [] if given.faults == "none" else given.faults.split(",")
    if unknown := set(faults) - set(FAULTS):
        arguments.error(f"no such faults: {', '.join(unknown)}")
    # Every client has a socket and a connection for requests.
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    print(f"seed {seed}, {backline.program()}", flush=True)
    plan = Plan(seed, given.minutes * 60, given.every, given.rooms, given.clients, given.pace, given.moments, faults)
    def say(text):
        print(text, flush=True)

    with chaos_network.apart():
        if given.apps:
            import chaos_apps  # It imports this file.

            wrong = chaos_apps.run(plan, given.apps, say, lives=10)
        else:
            wrong = asyncio.run(run(plan, say))
    for line in wrong:
        print(f"WRONG {line}")
    print(f"seed {seed}: {f'{len(wrong)} things are wrong' if wrong else 'everything holds'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
