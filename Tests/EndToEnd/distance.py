"""A distant server: a TCP proxy that delays all bytes, loses its connections when it is told to, and counts round trips.

A connection over a real network takes a round trip before its first byte; here, where a connection is made at once,
what the client sends before it has heard anything is delayed by that round trip more.
"""

import contextlib
import queue
import socket
import threading
import time

import backline


class Connection:
    """One connection of a client through the proxy."""

    def __init__(self, client, server):
        self.began = time.monotonic()
        self.client, self.server = client, server
        #: How often the client was answered: bytes of the server that follow bytes of the client count as one answer.
        self.answers = 0
        #: Whether an answer waits because no more of them are let through.
        self.is_held = False
        #: Whether the client's bytes are dropped.
        self.is_mute = False
        self.has_asked = False

    def close(self):
        for end in self.client, self.server:
            # An end without a close frame: the connection is lost. It also ends a read in another thread.
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


class Distance:
    """The way to a server, on a port of its own. A round trip takes `round_trip` seconds."""

    def __init__(self, server, round_trip=0.0):
        self.server, self.round_trip = server, round_trip
        #: Every connection that was made, in order.
        self.connections = []
        #: The most answers that a connection's client hears; None: all of them.
        self.most_answers = None
        self._is_cut = False
        self._change = threading.Condition()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def address(self):
        return backline.Address("127.0.0.1", self._listener.getsockname()[1], self.server.scheme)

    def cut(self):
        """Loses all connections; new ones are refused."""
        with self._change:
            self._is_cut = True
            self._change.notify_all()
            lost = list(self.connections)
        for connection in lost:
            connection.close()

    def mend(self, most_answers=None):
        """Lets new connections through, and so many answers on each."""
        with self._change:
            self._is_cut, self.most_answers = False, most_answers
            self.connections = []

    def release(self):
        """Lets the client hear everything, and the server no more of the client."""
        with self._change:
            for connection in self.connections:
                connection.is_mute = True
            self.most_answers = None
            self._change.notify_all()

    def close(self):
        self._listener.close()
        self.cut()
        self.release()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _listen(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._begin(client)

    def _begin(self, client):
        server = socket.create_connection((self.server.host, self.server.port), timeout=backline.PATIENCE)
        server.settimeout(None)
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(client, server)
        with self._change:
            is_cut = self._is_cut
            if not is_cut:
                self.connections.append(connection)
        if is_cut:
            return connection.close()
        for source, target, admit in (client, server, self._asks), (server, client, self._answers):
            way = queue.Queue()
            threading.Thread(target=self._read, args=(connection, source, admit, way), daemon=True).start()
            threading.Thread(target=self._write, args=(connection, target, way), daemon=True).start()

    def _asks(self, connection):
        """The client has sent something: returns its delay; None if it is dropped."""
        with self._change:
            connection.has_asked = True
            if connection.is_mute:
                return None
            return self.round_trip * (1.5 if connection.answers == 0 else 0.5)

    def _answers(self, connection):
        """The server has sent something: returns its delay, once the client may hear it."""
        with self._change:
            if connection.has_asked:
                connection.has_asked = False
                connection.answers += 1
            while self.most_answers is not None and connection.answers > self.most_answers and not self._is_cut:
                connection.is_held = True
                self._change.wait(backline.PATIENCE)
            return self.round_trip / 2

    def _read(self, connection, source, admit, way):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                arrived = time.monotonic()
                delay = admit(connection)
                if delay is not None:
                    way.put((arrived + delay, data))
        way.put(None)

    def _write(self, connection, target, way):
        with contextlib.suppress(OSError):
            while (next := way.get()) is not None:
                due, data = next
                time.sleep(max(0, due - time.monotonic()))
                target.sendall(data)
        # Either end has closed, or the way is cut.
        connection.close()
