#!/usr/bin/env python3
"""Fan-out: CPU time of the server for each message that reaches a subscriber, compared with peers.

    Benchmarks/fanout.py [--subscribers 1000,5000,10000] [--phases w1,w4,r5,r20] [--peers socketify,nchan] [--out FILE]

Every subscriber has a TLS 1.3 connection of its own; every server has one thread on one CPU and the same P-256
certificate. A message of the peers has 200 bytes; the server's is a delta of one event, of about the same size. In
`w4` four messages are in flight, and the next is sent when all subscribers have one; in `r20` twenty are sent in each
second. Exits with 1 if the server lost or repeated anything, or a connection.
"""

import statistics

import servers


def add_options(parser):
    parser.add_argument("--subscribers", default="1000,5000,10000", help="subscribers, separated by commas")
    parser.add_argument("--phases", default="w1,w4,r5,r20", help="loads, separated by commas")
    parser.add_argument("--seconds", type=float, default=2, help="measured time of a load")


def main():
    options = servers.options(__doc__.splitlines()[0], add_options, peers=",".join(servers.PEERS))
    servers.enter()
    out = servers.Results(options.out)
    names = ["backline", *options.peers]
    phases = ",".join(f"{phase}:{options.seconds:g}" for phase in options.phases.split(","))
    found = {}
    for run in range(1, options.runs + 1):
        for subscribers in servers.numbers(options.subscribers):
            for name in names:
                servers.say(f"run {run} of {options.runs}: {subscribers} subscribers, {name}")
                with servers.target(name) as target:
                    lines = servers.load(
                        target, *target.publisher, "-n", str(subscribers), "--phases", phases, "--warmup", "0.5",
                        "--settle", "1", "--drain", "3", out=out,
                    )
                for line in lines:
                    key = (subscribers, servers.load_name(line) if "load" in line else "none", name)
                    judge(line, key, out)
                    found.setdefault(key, []).append(line)
    report(options, names, found)
    out.end()


def judge(line, key, out):
    """A peer may be too slow for a rate: its row is marked. Any other loss is a failure."""
    wrong = servers.defects(line)
    line["behind"] = bool(wrong) and key[2] != "backline" and servers.overloaded(line)
    if wrong and not line["behind"]:
        out.fail(f"{key[2]}, {key[0]} subscribers, {key[1]}: {', '.join(wrong)}")


def report(options, names, found):
    rows = []
    for subscribers in servers.numbers(options.subscribers):
        for phase in options.phases.split(","):
            beside = found.get((subscribers, phase, "socketify"))
            for name in names:
                lines = found.get((subscribers, phase, name))
                if not lines:
                    continue
                cpu = servers.medians(lines, "server_cpu_us_per_delivery")
                other = servers.medians(beside, "server_cpu_us_per_delivery") if beside else None
                rows.append((
                    name + (" (cannot keep up)" if any(line["behind"] for line in lines) else ""),
                    f"{subscribers:,}", phase, f"{cpu:.2f}", f"{cpu / other:.2f}" if other else "",
                    f"{servers.medians(lines, 'deliveries_per_s'):,.0f}",
                    f"{statistics.median(line['payload_bytes'] / max(1, line['deliveries']) for line in lines):.0f}",
                    f"{servers.medians(lines, 'last_recipient_us', 'p50') / 1000:.1f}",
                    f"{servers.medians(lines, 'last_recipient_us', 'p99') / 1000:.1f}",
                    f"{servers.medians(lines, 'server_cpu_pct'):.0f}",
                    f"{servers.medians(lines, 'client_busy_pct'):.0f}",
                ))
    servers.table(
        ("server", "subscribers", "load", "server CPU µs a delivery", "÷ socketify", "deliveries a second",
         "bytes a delivery", "last subscriber p50 ms", "p99 ms", "server CPU %", "client busy %"),
        rows,
    )


if __name__ == "__main__":
    main()
