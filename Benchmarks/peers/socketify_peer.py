"""uWebSockets, by way of socketify: every message goes to every connection.

    socketify_peer.py PORT CERTIFICATE KEY

The native loop runs alone: socketify's own `run` turns an asyncio loop beside it, which costs CPU time even when
nothing happens.
"""

import sys

from socketify import App, AppListenOptions, AppOptions, CompressOptions, OpCode


def main(port: int, certificate: str, key: str) -> None:
    app = App(AppOptions(key_file_name=key, cert_file_name=certificate, ssl_prefer_low_memory_usage=1), lifespan=False)
    app.ws("/room", {
        "compression": CompressOptions.DISABLED,
        "idle_timeout": 0,
        "max_backpressure": 64 * 1024 * 1024,
        "max_payload_length": 256 * 1024,
        "open": lambda socket: socket.subscribe("room"),
        "message": lambda socket, message, opcode: app.publish("room", message, OpCode.TEXT),
    })
    app.listen(AppListenOptions(port=port, host="127.0.0.1"), lambda _: None)
    app.loop.uv_loop.run()


main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
