"""`Examples/NowPlaying`, a program of those who begin: what it says, and how it ends."""

import os
import re

import pytest

import backline
from documents import read
from terminals import Home, Lines

# Built beside the program.
NOW_PLAYING = os.path.join(os.path.dirname(backline.program()), "NowPlaying")


@pytest.fixture
def home(shared, tmp_path):
    return Home(tmp_path, shared, str(shared.data / "ca.pem"), NOW_PLAYING)


@pytest.fixture
def hall(shared):
    return shared.session("Ana").create_room(name="Hall")["room"]["state"]["code"]


@pytest.mark.parametrize(("fault", "sentence"), [
    ("no room", "there is no such room"), ("no file", "cannot use the file"),
    ("no trust", "signed by an authority that is not trusted here")])
def test_an_example_ends_with_a_sentence_where_waiting_does_not_help(home, hall, fault, sentence):
    said = home.run(home.server.origin, "ABCDEF" if fault == "no room" else hall, *{
        "no room": ["--authority", home.authority], "no file": ["--authority", "nothing.pem"], "no trust": [],
    }[fault], code=1)
    assert sentence in said and re.fullmatch(r"NowPlaying: [^\n]+\n", said), said


def test_an_example_prints_each_change_and_names_the_file_that_servers_make(servers, tmp_path):
    server = servers().start()
    ana = server.session("Ana")
    hall = ana.create_room(name="Hall")["room"]["state"]["code"]
    authority = re.search(r"--authority (\S+)", read("Examples/NowPlaying/NowPlaying.swift"))[1]
    assert f"`{authority}`" in read("Sources/RoomClient/RoomClient.docc/FirstSteps.md")
    home = Home(tmp_path, server, os.path.join(server.folder.name, authority), NOW_PLAYING)
    with Lines(home, server.origin, hall, "--authority", home.authority) as lines:
        lines.until("Hall: nothing on air")
        ana.command(hall, "addTracks", tracks=[{"source": "test", "sourceId": "1", "title": "Blue Monday"}])
        ana.command(hall, "enqueue", track=1)
        ana.command(hall, "play")
        lines.until("▶ Blue Monday")


def test_each_start_of_an_example_is_the_same_guest(home, hall):
    tokens = []
    for _ in range(2):
        with Lines(home, home.server.origin, hall, "--authority", home.authority) as lines:
            lines.until("Hall")
        kept, = home.folder.glob("now-playing/*.token")
        tokens.append(kept.read_text())
    assert tokens[0] == tokens[1]
    assert home.server.request("GET", "/v1/session", token=tokens[0]).json["session"]["name"] == "Status bar"
