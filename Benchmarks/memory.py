#!/usr/bin/env python3
"""Memory: resident memory of the server for one idle subscriber with its TLS connection, compared with peers.

    Benchmarks/memory.py [--subscribers 10000] [--peers socketify,nchan] [--out FILE]

Measures the resident memory of a fresh server before the subscribers connect, after they have been idle for some
seconds, and again after messages went to all of them. The figure is the difference divided by the subscribers.
"""

import servers


def add_options(parser):
    parser.add_argument("--subscribers", default="10000", help="subscribers, separated by commas")
    parser.add_argument("--settle", type=float, default=5, help="idle seconds before memory is read")


def main():
    options = servers.options(__doc__.splitlines()[0], add_options, peers=",".join(servers.PEERS))
    servers.enter()
    out = servers.Results(options.out)
    names = ["backline", *options.peers]
    found = {}
    for run in range(1, options.runs + 1):
        for subscribers in servers.numbers(options.subscribers):
            for name in names:
                servers.say(f"run {run} of {options.runs}: {subscribers} subscribers, {name}")
                with servers.target(name) as target:
                    (line,) = servers.load(
                        target, *target.publisher, "-n", str(subscribers), "--phases", "w4:2", "--warmup", "0.2",
                        "--settle", str(options.settle), "--drain", "3", out=out,
                    )
                if wrong := servers.defects(line):
                    out.fail(f"{name}, {subscribers} subscribers: {', '.join(wrong)}")
                found.setdefault((subscribers, name), []).append(line)
    rows = []
    for subscribers in servers.numbers(options.subscribers):
        for name in names:
            lines = found[subscribers, name]
            rows.append((
                name, f"{subscribers:,}",
                *(f"{servers.medians(lines, field) / 1024:.1f}" for field in
                  ("idle_rss_bytes_per_conn", "idle_pss_bytes_per_conn", "after_rss_bytes_per_conn")),
                f"{servers.medians(lines, 'before_rss_kb') / 1024:.0f}",
                f"{servers.medians(lines, 'connect_server_cpu_us'):.0f}",
                f"{servers.medians(lines, 'idle_server_cpu_pct'):.1f}",
            ))
    servers.table(
        ("server", "subscribers", "KiB resident each, idle", "KiB proportional each, idle",
         "KiB resident each after messages", "MiB of the server alone", "server CPU µs a connection", "server CPU % idle"),
        rows,
    )
    out.end()


if __name__ == "__main__":
    main()
