"""The package websockets on uvloop: every message goes to every connection.

    websockets_peer.py PORT CERTIFICATE KEY
"""

import asyncio
import ssl
import sys

import uvloop
from websockets.asyncio.server import ServerConnection, broadcast, serve


async def main(port: int, certificate: str, key: str) -> None:
    connections: set[ServerConnection] = set()

    async def handle(connection: ServerConnection) -> None:
        connections.add(connection)
        try:
            async for message in connection:
                broadcast(connections, message)
        finally:
            connections.discard(connection)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.load_cert_chain(certificate, key)
    async with serve(handle, "127.0.0.1", port, ssl=context, compression=None, ping_interval=None, backlog=4096,
                     open_timeout=60):
        await asyncio.get_running_loop().create_future()


uvloop.run(main(int(sys.argv[1]), sys.argv[2], sys.argv[3]))
