#!/usr/bin/env python3
"""Handshakes: connections set up in a second, full and resumed, compared with peers.

    Benchmarks/handshakes.py [--concurrency 32] [--seconds 4] [--peers socketify,nchan] [--out FILE]

For the server one connection is the TLS handshake, the WebSocket's upgrade with its session looked up, the
subscription with its snapshot received, and the WebSocket's closing handshake. For a peer it is TLS, upgrade and
closing. A resumed handshake presents the ticket of an earlier one. "A CPU second" is what the server's own CPU time
allows; the measured rate is below it if the load generator is the slower side, as it is with resumption.
"""

import servers


def add_options(parser):
    parser.add_argument("--concurrency", type=int, default=32, help="connections being set up at once")
    parser.add_argument("--seconds", type=float, default=4, help="measured time")


def main():
    options = servers.options(__doc__.splitlines()[0], add_options, peers=",".join(servers.PEERS))
    servers.enter()
    out = servers.Results(options.out)
    names = ["backline", *options.peers]
    found = {}
    for run in range(1, options.runs + 1):
        for name in names:
            for kind, flags in (("full", ()), ("resumed", ("--resume",))):
                servers.say(f"run {run} of {options.runs}: {name}, {kind}")
                with servers.target(name) as target:
                    (line,) = servers.load(
                        target, "--churn", "-c", str(options.concurrency), "-t", str(options.seconds), *flags, out=out,
                    )
                if line["failed"] or not line["handshakes"]:
                    out.fail(f"{name}, {kind}: {line['failed']} failed, {line.get('first_failure')}")
                if flags and line["resumed"] < 0.9 * line["handshakes"]:
                    out.fail(f"{name}: only {line['resumed']} of {line['handshakes']} handshakes were resumed")
                found.setdefault((kind, name), []).append(line)
    rows = []
    for kind in ("full", "resumed"):
        for name in names:
            lines = found[kind, name]
            cpu = servers.medians(lines, "server_cpu_us_per_handshake")
            rows.append((
                name, kind, f"{servers.medians(lines, 'handshakes_per_s'):,.0f}", f"{cpu:.0f}", f"{1e6 / cpu:,.0f}",
                f"{servers.medians(lines, 'connect_us_p50') / 1000:.1f}",
                f"{servers.medians(lines, 'connect_us_p99') / 1000:.1f}",
            ))
    servers.table(
        ("server", "handshake", "a second, measured", "server CPU µs each", "in a CPU second", "p50 ms", "p99 ms"),
        rows,
    )
    out.end()


if __name__ == "__main__":
    main()
