#!/usr/bin/env python3
# check.py WSLOAD   checks wsload against a small awkward server: single-byte writes, pings, fragments, wrapped and joined messages
import asyncio, base64, hashlib, json, os, ssl, struct, subprocess, sys, tempfile

WSLOAD = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "wsload")
ok = bad = 0

def frame(op, p, fin=1):
    h = bytes([fin << 7 | op])
    n = len(p)
    return h + (bytes([n]) if n < 126 else b"\x7e" + struct.pack(">H", n) if n < 65536 else b"\x7f" + struct.pack(">Q", n)) + p

async def read_frame(r):
    b0, b1 = await r.readexactly(2)
    n = b1 & 127
    if n == 126: n, = struct.unpack(">H", await r.readexactly(2))
    elif n == 127: n, = struct.unpack(">Q", await r.readexactly(8))
    assert b1 & 128, "client frame not masked"
    k = await r.readexactly(4)
    d = await r.readexactly(n)
    return b0 & 15, bytes(x ^ k[i & 3] for i, x in enumerate(d))

class Server:
    def __init__(self, style): self.style, self.conns, self.pongs, self.hellos, self.joined = style, set(), 0, [], b""
    async def handle(self, r, w):
        try:
            head = await r.readuntil(b"\r\n\r\n")
            key = [l.split(b": ")[1] for l in head.split(b"\r\n") if l.startswith(b"Sec-WebSocket-Key")][0]
            acc = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
            w.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + acc + b"\r\n\r\n" + frame(1, b"welcome"))
            self.conns.add(w)
            while True:
                op, p = await read_frame(r)
                if op == 10: assert p == b"are you there"; self.pongs += 1
                elif op == 8: w.write(frame(8, p)); break
                elif p.startswith(b"hello"): self.hellos.append(p)
                else:
                    out = self.wrap(p)
                    if out is None: continue
                    for c in list(self.conns):
                        if self.style == "bytes":
                            for i in range(len(out)): c.write(out[i:i + 1])
                        else: c.write(out)
        except (asyncio.IncompleteReadError, ConnectionError): pass
        finally: self.conns.discard(w); w.close()
    def wrap(self, p):
        s = self.style
        if s == "ping": return frame(9, b"are you there") + frame(1, p)
        if s == "fragments": return frame(1, p[:60], 0) + frame(9, b"are you there") + frame(0, p[60:])
        if s == "json": return frame(1, json.dumps({"room": "a=b", "at=": 1, "text": p.decode()}).encode())
        if s == "binary": return frame(2, p)
        if s == "joined":
            self.joined += p
            if len(self.joined) < 2 * len(p): return None
            j, self.joined = self.joined, b""
            return frame(1, j)
        if s == "lossy":
            self.n = getattr(self, "n", 0) + 1
            return None if self.n % 5 == 0 else frame(1, p)
        return frame(1, p)

async def case(name, style, tls, args, want):
    global ok, bad
    s = Server(style)
    srv = await asyncio.start_server(s.handle, "127.0.0.1", 0, ssl=ctx if tls else None)
    port = srv.sockets[0].getsockname()[1]
    p = await asyncio.create_subprocess_exec(WSLOAD, "-q", "-n", "20", "--warmup", "0.1", "--settle", "0.1", "-t", "0.5", "--poll", "block",
                                             *args, "%s://127.0.0.1:%d/x" % ("wss" if tls else "ws", port), stdout=subprocess.PIPE)
    out, _ = await p.communicate()
    try:
        d = json.loads(out.splitlines()[-1])
        good = want(d, s)
    except Exception as e:
        good, d = False, repr(e) + repr(out[-300:])
    print("%s %s %s" % ("ok  " if good else "FAIL", "wss" if tls else "ws ", name), "" if good else d)
    ok, bad = ok + bool(good), bad + (not good)
    srv.close()

full = lambda d, s: d["deliveries"] > 20 and d["missing"] == d["gaps"] == d["dups"] == d["closed"] == 0 and d["connections"] == 20 and d["lat_us"]["p50"] > 0

async def main():
    for tls in (0, 1):
        for args in ((), ("--openssl",)) if tls else ((),):
            n = "".join(args)
            await case("plain frames " + n, "", tls, ("-w", "4", *args), full)
            await case("single-byte writes " + n, "bytes", tls, ("-w", "1", "-s", "150", *args), full)
            await case("large messages " + n, "", tls, ("-w", "2", "-s", "100000", *args), lambda d, s: full(d, s) and d["size"] == 100000)
        await case("pings are answered", "ping", tls, ("-w", "2"), lambda d, s: full(d, s) and s.pongs > 20)
        await case("fragments with a ping between", "fragments", tls, ("-w", "2"), lambda d, s: full(d, s) and s.pongs > 20)
        await case("wrapped in JSON", "json", tls, ("-w", "2", "--template", '{"say":"%T%P"}'), full)
        await case("binary", "binary", tls, ("-w", "2", "--binary"), full)
        await case("two messages in a frame", "joined", tls, ("-w", "4", "--multi"), full)
        await case("open loop", "", tls, ("-r", "50"), lambda d, s: full(d, s) and 20 <= d["sent"] <= 27)
        await case("three publishers", "", tls, ("-p", "3", "-w", "6"), full)
        await case("publishers among the subscribers", "", tls, ("-p", "2", "--pub-self", "-w", "2"), full)
        await case("lost messages are counted", "lossy", tls, ("-r", "40", "--drain", "0.2"), lambda d, s: d["missing"] > 0 and d["gaps"] > 0)
        await case("hello and first message", "", tls, ("--hello", "hello %d", "--wait-first", "-w", "1"),
                   lambda d, s: full(d, s) and d["first_messages"] == 21 and sorted(s.hellos) == sorted(b"hello %d" % i for i in range(21)))
        await case("a text awaited", "", tls, ("--first", "welcome", "-w", "1"), lambda d, s: full(d, s) and d["first_messages"] == 21)
        await case("phases", "", tls, ("--phases", "w1:0.2,r20:0.3,w4:0.2"), full)
        await case("churn", "", tls, ("--churn", "-c", "4"), lambda d, s: d["handshakes"] > 20 and d["failed"] == 0)
    await case("churn with resumption", "", 1, ("--churn", "-c", "4", "--resume"), lambda d, s: d["resumed"] > 10 and d["failed"] == 0)
    print("%d passed, %d failed" % (ok, bad))

with tempfile.TemporaryDirectory() as t:
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", t + "/k", "-out", t + "/c",
                    "-days", "2", "-subj", "/CN=localhost"], check=True, capture_output=True)
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ctx.load_cert_chain(t + "/c", t + "/k")
    asyncio.run(main())
sys.exit(bad > 0)
