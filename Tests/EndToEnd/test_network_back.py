"""The network is back: what a client on the library needs until its room is live again."""

import json

import pytest

import backline
from distance import Distance
from terminals import Home, Lines


@pytest.fixture
def far(servers, tmp_path):
    """A server, behind a proxy that can lose its connections."""
    server = servers(*backline.NO_GRACE, store=["--store", "sqlite", "--data", str(tmp_path / "data")]).start()
    with Distance(server) as distance:
        yield distance


@pytest.fixture
def home(far, tmp_path):
    """Ana's settings, signed in at the server by way of the proxy."""
    folder = tmp_path / "ana"
    folder.mkdir()
    return Home(folder, far.address, str(tmp_path / "data" / "ca.pem")).sign_in("Ana")


def test_a_room_is_live_again_after_three_round_trips(far, home):
    """One for TCP, one for TLS, one for the upgrade that resumes the room.

    The proxy lets the client hear the server's first answer, which is that of TLS, and holds the next one until the
    room shows its member online: it has been asked for everything. Then the server hears nothing more of the client,
    and the client must be live with what was held. No clock decides.
    """
    code = home.run("create", "Kitchen").split()[0]
    ben = far.server.session("Ben")
    ben.command(code, "join")
    ana = 1

    def is_online():
        return ana in ben.room(code)["room"]["presence"]["members"]

    with Lines(home, "watch", code, "--json") as watch:
        watch.until('"type":"room"')
        backline.eventually(is_online, "the member is online")
        far.cut()
        watch.until('"offline"')
        backline.eventually(lambda: not is_online(), "the member is offline")
        ben.command(code, "rename", name="Benjamin")
        far.mend(most_answers=1)
        backline.eventually(is_online, "the room is asked for after one answer")
        connection, = backline.eventually(
            lambda: [connection for connection in far.connections if connection.is_held], "the second answer")
        assert '"live"' not in "".join(watch.lines)
        far.release()
        watch.until('"live"')
        assert json.loads(watch.until("Benjamin"))["type"] == "renamed", "the room was resumed"
        assert far.connections == [connection], "nothing else was asked for"
