#!/usr/bin/env python3
"""Latency under load: from publishing until the last subscriber has the message, at half the capacity, beside a peer.

    Benchmarks/latency_load.py [--subscribers 1000,10000] [--peer socketify] [--out FILE]

The capacity of a server is the number of messages that it delivers in a second with four in flight, measured just
before. Both servers then get the same rates: half of the peer's capacity, and half of the server's own. Times are
counted from the moment at which a message was due. A peer that cannot keep up with the higher rate is marked.
"""

import servers


def add_options(parser):
    parser.add_argument("--subscribers", default="1000,10000", help="subscribers, separated by commas")
    parser.add_argument("--seconds", type=float, default=5, help="measured time of a load")
    parser.add_argument("--peer", default="socketify", help="the peer to compare with")
    parser.add_argument("--runs", type=int, default=3, help="number of runs; the table shows their median")


def run(name, subscribers, phases, out):
    with servers.target(name) as target:
        return servers.load(
            target, *target.publisher, "-n", str(subscribers), "--phases", phases, "--warmup", "1", "--drain", "5",
            out=out,
        )


def main():
    options = servers.options(__doc__.splitlines()[0], add_options)
    servers.enter()
    out = servers.Results(options.out)
    names = ["backline", options.peer]
    found = {}
    for number in range(1, options.runs + 1):
        for subscribers in servers.numbers(options.subscribers):
            halves = {}
            for name in names:
                servers.say(f"run {number} of {options.runs}: {subscribers} subscribers, capacity of {name}")
                (line,) = run(name, subscribers, "w4:2", out)
                if wrong := servers.defects(line):
                    out.fail(f"{name}, {subscribers} subscribers: {', '.join(wrong)}")
                halves[name] = max(0.1, round(line["sent_per_s"] / 2, 1))
            for of in names:
                for name in names:
                    rate = halves[of]
                    servers.say(f"run {number} of {options.runs}: {subscribers} subscribers, {name} at {rate:g}/s")
                    (line,) = run(name, subscribers, f"r{rate}:{options.seconds:g}", out)
                    wrong = servers.defects(line)
                    line["behind"] = bool(wrong)
                    if wrong and (name == "backline" or not servers.overloaded(line)):
                        out.fail(f"{name}, {subscribers} subscribers, {rate:g}/s: {', '.join(wrong)}")
                    found.setdefault((subscribers, of, name), []).append(line)
    rows = []
    for (subscribers, of, name), lines in found.items():
        rows.append((
            name + (" (cannot keep up)" if any(line["behind"] for line in lines) else ""), f"{subscribers:,}",
            f"half of {of}'s capacity", f"{servers.medians(lines, 'rate'):.1f}",
            *(f"{servers.medians(lines, field, part) / 1000:.1f}" for field in ("last_recipient_us", "lat_us")
              for part in ("p50", "p99")),
            f"{servers.medians(lines, 'server_cpu_pct'):.0f}",
        ))
    servers.table(
        ("server", "subscribers", "rate", "messages a second", "last subscriber p50 ms", "p99 ms",
         "any subscriber p50 ms", "p99 ms", "server CPU %"),
        rows,
    )
    out.end()


if __name__ == "__main__":
    main()
