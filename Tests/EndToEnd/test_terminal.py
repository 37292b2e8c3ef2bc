"""`backline watch`, `vote` and the other commands of a person in a room, and `watch` on a terminal."""

import json
import os
import re
import signal
import stat
import subprocess

import pytest

import backline
from terminals import Home, Lines, Overheard, Terminal, settled

HOSTILE = "\u202eevil\u2066 \u200fsong"


@pytest.fixture
def home(request, tmp_path):
    """Ana's settings, signed in at a server; of its `own`, if the test asks for that."""
    folder = tmp_path / "ana"
    folder.mkdir()
    server = request.getfixturevalue("own" if "own" in request.fixturenames else "shared")
    made = Home(folder, server, str(server.data / "ca.pem"))
    made.person = server.session("Ana")
    made.remember(made.person)
    return made


@pytest.fixture
def own(servers, tmp_path):
    """A server that the test may stop, and start again."""
    return servers(*backline.NO_GRACE, store=["--store", "sqlite", "--data", str(tmp_path / "data")]).start()


@pytest.fixture
def kitchen(home):
    """The code of a room with three tracks, of which Ana is the owner; it is the one that was used last."""
    room = home.person.create_room("Kitchen")["room"]["state"]
    home.person.command(room["id"], "addTracks", tracks=[
        {"source": "test", "sourceId": "1", "title": "Blue Monday", "artist": "New Order", "durationMs": 449_000},
        {"source": "test", "sourceId": "2", "title": "Blue in Green", "artist": "Miles Davis", "durationMs": 337_000},
        {"source": "test", "sourceId": "3", "title": "Song 2", "artist": "Blur"}])
    home.remember(home.person, (room["code"], "Kitchen"))
    return room["code"]


@pytest.fixture
def overheard(home, kitchen):
    """Ana's settings at a way to the server that keeps what she commands, and that way."""
    with Overheard(home.server) as way:
        folder = home.folder / "overheard"
        folder.mkdir()
        made = Home(folder, way)
        made.remember(home.person, (kitchen, "Kitchen"))
        yield made, way.commands


@pytest.fixture
def ben(home, kitchen):
    """Another member, over HTTP."""
    person = home.server.session("Ben")
    person.command(kitchen, "join")
    return person


# MARK: commands that end

def test_a_room_is_made_filled_and_played_by_commands(home):
    made = home.run("create", "Kitchen", "--at", "-33.87,151.2")
    code, link = made.split()
    assert link == f"{home.server.origin}/r/{code}"
    assert "only this computer finds the server" in home.told
    added = home.run("add", "--title", "Blue Monday", "--artist", "New Order", "--duration", "7:29")
    assert added == "Added “Blue Monday” as track 1.\n"
    home.run("add", "--title", "Blue in Green", "--source", "files", "--id", "7")
    assert home.run("vote", "monday") == "Voted for “Blue Monday” by New Order (1 vote).\n"
    assert home.run("unvote", code, "1") == "Took the vote for “Blue Monday” by New Order back (0 votes).\n"
    assert "queue is empty" in home.run("play", code=1)
    assert home.run("queue", link, "Blue Monday") == "Queued “Blue Monday” by New Order.\n"
    home.run("queue", "2")
    assert home.run("play") == "On air: “Blue Monday” by New Order.\n"
    assert home.run("pause") == "Paused: “Blue Monday” by New Order.\n"
    listed = home.run("queue")
    assert re.search(r"Paused: “Blue Monday” by New Order \(\d+:\d\d of 7:29\)\.", listed), listed
    assert "1  “Blue in Green” [2], by Ana" in listed
    assert home.run("play", code) == "On air: “Blue Monday” by New Order.\n"
    assert home.run("skip") == "Skipped: “Blue Monday” by New Order.\n"
    room = json.loads(home.run("queue", "--json"))
    assert room["type"] == "room" and room["onAir"]["track"]["title"] == "Blue in Green" and room["queue"] == []
    found = home.run("nearby", "-33.8", "151.2", "--radius", "20000")
    assert code in found and "Kitchen" in found and "“Blue in Green”" in found
    found = json.loads(home.run("nearby", "-33.8", "151.2", "--radius", "20000", "--json"))
    assert found["type"] == "nearby" and found["code"] == code and 0 < found["distanceMeters"] < 20_000
    assert home.run("nearby", "-52.5", "-13.4") == "No room within 5.0 km.\n"


def test_tracks_are_added_line_by_line(home):
    code = home.run("create", "Kitchen").split()[0]
    lines = [
        {"title": "Blue Monday", "artist": "New Order", "duration": "7:29"},
        {"title": "Blue in Green", "artist": "Miles Davis", "duration": 337}, {"title": "Song 2", "artist": "Blur"},
    ]
    assert home.run("add", input="\n".join(map(json.dumps, lines))) == "Added 3 tracks.\n"
    pool = sorted(home.person.room(code)["room"]["state"]["pool"], key=lambda track: track["track"])
    assert [(track["title"], track["artist"], track.get("durationMs")) for track in pool] == [
        ("Blue Monday", "New Order", 449_000), ("Blue in Green", "Miles Davis", 337_000), ("Song 2", "Blur", None)]


def test_a_guest_joins_and_is_told_what_it_may_not(home, kitchen, tmp_path):
    folder = tmp_path / "chloe"
    folder.mkdir()
    guest = Home(folder, home.server, home.authority)
    link = f"{home.server.origin}/r/{kitchen}"
    # The link names the server, and the first command makes the session.
    assert "backline join" in guest.run("vote", link, "1", "--ca", guest.authority, code=1)
    assert guest.run("join", link, "--as", "Chloë") == f"Joined Kitchen ({kitchen}).\n"
    assert guest.run("vote", "1").startswith("Voted for “Blue Monday”")
    assert "only the owner and the DJs" in guest.run("pause", code=1)
    members = home.server.session("X").room(kitchen)["room"]["state"]["members"]
    assert [member["name"] for member in members] == ["Ana", "Chloë"]


def test_what_goes_wrong_is_one_sentence_with_what_to_do(own, home, kitchen):
    assert "no room ABCDEF" in home.run("vote", "ABCDEF", "1", code=1)
    assert "no room ABCDEF" in home.run("pause", "ABCDEF", code=1)
    assert "no room ABCDEF" in home.run("watch", "ABCDEF", "--plain", code=1)
    several = home.run("vote", "blue", code=1)
    assert "2 tracks match “blue”" in several and "\n  1  Blue Monday – New Order" in several
    assert "no track of the room has “zebra”" in home.run("vote", "zebra", code=1)
    assert "is no room" in home.run("play", "nowhere", code=64)
    assert "is no point" in home.run("nearby", "95", "0", code=64)
    assert "line 2" in home.run("add", input='{"title":"a"}\nb\n', code=65)
    assert "name one with --server" in Home(home.folder / "..", home.server).run(
        "play", code=64, XDG_CONFIG_HOME=str(home.folder / "none"))
    home.server.stop()
    refused = home.run("vote", "1", code=69)
    assert "nothing listens there" in refused and len(refused.splitlines()) == 1
    assert "nothing listens there" in home.run("watch", "--plain", code=69)
    assert "nothing listens there" in home.run("nearby", "0", "0", code=69)


def test_scripts_read_the_pool_and_every_result(home):
    made = json.loads(home.run("create", "Kitchen", "--json"))
    code = made["code"]
    assert made == {"type": "created", "room": made["room"], "code": code, "name": "Kitchen",
                    "link": f"{home.server.origin}/r/{code}"}
    monday = {"number": 1, "title": "Blue Monday", "artist": "New Order"}
    assert json.loads(home.run("add", "--title", "Blue Monday", "--artist", "New Order", "--album", "Substance",
                               "--duration", "7:29", "--json")) == {"type": "added", "room": code, "tracks": [monday]}
    home.run("add", "--title", "Song 2")
    assert json.loads(home.run("vote", "monday", "--json")) == {
        "type": "voted", "room": code, "track": monday, "votes": 1, "isMine": True}
    assert json.loads(home.run("unvote", "1", "--json")) == {
        "type": "unvoted", "room": code, "track": monday, "votes": 0, "isMine": False}
    queued = {"room": code, "entry": 1, "track": monday}
    assert json.loads(home.run("queue", "1", "--json")) == {"type": "queued", **queued}
    assert json.loads(home.run("play", "--json")) == {"type": "playing", **queued}
    home.run("queue", "2")
    assert [json.loads(line) for line in home.run("tracks", "--json").splitlines()] == [
        {"type": "track", "number": 1, "title": "Blue Monday", "artist": "New Order", "album": "Substance",
         "durationMs": 449_000, "votes": 0, "isMine": False, "onAir": True},
        {"type": "track", "number": 2, "title": "Song 2", "votes": 0, "isMine": False, "onAir": False, "place": 1}]
    assert home.run("tracks") == (
        "1  Blue Monday – New Order (7:29; on air)\n2  Song 2 (number 1 in the queue)\n")
    assert json.loads(home.run("pause", "--json")) == {"type": "paused", **queued}
    assert json.loads(home.run("skip", "--json")) == {"type": "skipped", **queued}
    assert json.loads(home.run("join", "--json")) == {"type": "joined", "room": code, "name": "Kitchen", "member": 1}


def test_what_is_done_to_nothing_is_not_said_to_be_done(home, kitchen):
    assert f"nothing is on air in the room {kitchen}" in home.run("pause", code=1)
    assert f"nothing is on air in the room {kitchen}" in home.run("skip", "--json", code=1)


def test_commands_for_the_song_on_air_name_its_entry(home, overheard):
    """So they do nothing to the next song, which may have begun meanwhile."""
    home.run("queue", "1")
    home.run("play")
    ana, commands = overheard
    for command in "pause", "play", "skip":
        ana.run(command)
    assert [(command["type"], command.get("entry")) for command in commands] == [
        ("pause", 1), ("resume", 1), ("skip", 1)]


def test_tracks_that_the_deck_lacks_or_cannot_play_are_marked(home, kitchen):
    home.person.command(kitchen, "setMissing", tracks=[3])
    assert home.run("tracks").splitlines()[-1] == "3  Song 2 – Blur (not playable)"


def test_a_word_is_a_track_where_the_room_has_one_with_it(home, kitchen):
    home.run("add", "--title", "Yellow", "--artist", "Coldplay")
    assert home.run("queue", "yellow") == "Queued “Yellow” by Coldplay.\n"
    assert home.run("queue", kitchen).startswith(f"Kitchen ({kitchen})")
    other = home.run("create", "Garden").split()[0]
    assert home.run("queue", kitchen.lower()).startswith(f"Kitchen ({kitchen})")
    assert home.run("queue").startswith(f"Garden ({other})")
    # Another person's room is not among those that were used.
    fresh = home.server.session("Ben").create_room(name="Hall")["room"]["state"]["code"]
    assert home.run("queue", f"#{fresh}").startswith(f"Hall ({fresh})")
    refused = home.run("queue", "yellow", code=1)
    assert "there is no room" in refused and f"no track of the room {other} has “yellow”" in refused
    assert "one argument, in quotation marks" in home.run("queue", "yellow", "submarine", code=1)
    assert "one argument, in quotation marks" in home.run("vote", "blue", "monday", code=64)


def test_a_banned_guest_reads_the_reason_and_the_time(home, tmp_path):
    ben = home.server.session("Ben")
    room = ben.create_room(name="Hall")["room"]["state"]["code"]
    home.run("join", room)
    ben.command(room, "kick", member=2, ban=True, durationMs=3_600_000, reason="Too loud")
    said = home.run("join", room, code=1)
    assert "you are banned from the room (Too loud): try again in 60 minutes" in said


def test_a_code_is_taken_where_the_room_used_last_is_out_of_reach(home):
    ben = home.server.session("Ben")
    hall, porch = (ben.create_room(name=name)["room"]["state"]["code"] for name in ("Hall", "Porch"))
    home.run("join", hall)
    ben.command(hall, "kick", member=2, ban=True)
    assert home.run("queue", porch).startswith(f"Porch ({porch})")


def test_codes_are_taken_as_people_copy_them(home, kitchen):
    wide = "".join(chr(ord(character) + 0xFEE0) for character in kitchen)
    for text in (f"#{kitchen}", f"“{kitchen}”.", f"({kitchen})", wide, f" {kitchen.lower()} ",
                 f"{home.server.origin}/r/{kitchen}/", f"<{home.server.origin}/r/{kitchen}?from=qr>",
                 f"{home.server.origin}/r/{kitchen}&fbclid=x", f"Come to {home.server.origin}/r/{kitchen}%20!"):
        assert home.run("queue", text).startswith(f"Kitchen ({kitchen})"), text


def test_plain_http_at_the_encrypted_port_is_told(home):
    plain = home.server.origin.replace("https://", "http://")
    for command in (("sign-in", plain), ("queue", f"{plain}/r/ABCDEF"), ("watch", f"{plain}/r/ABCDEF", "--plain")):
        refused = home.run(*command, code=69)
        assert f"use {home.server.origin}" in refused and len(refused.splitlines()) == 1, refused
    assert f"use {home.server.origin}" in home.run("watch", f"{plain}/r/ABCDEF", "--plain", code=69, BACKLINE_TOKEN="x")
    assert "use https://party.example" in home.run("sign-in", "http://party.example", code=64)


def test_a_bad_token_of_the_environment_is_named(home, kitchen):
    for command in (("queue", kitchen), ("vote", kitchen, "1"), ("watch", kitchen, "--plain"), ("create", "Hall"),
                    ("nearby", "0", "0"), ("sign-in",)):
        refused = home.run(*command, code=1, BACKLINE_TOKEN="nonsense")
        assert "BACKLINE_TOKEN" in refused and "sign-in" not in refused, refused


def test_a_mistyped_command_is_told_the_near_one(home):
    assert 'Did you mean "vote"?' in home.run("vot", "1", code=64)
    assert 'Did you mean "sign-in"?' in home.run("signin", code=64)
    assert 'Did you mean "queue"?' in home.run("qeueu", code=64)
    unknown = home.run("dance", code=64)
    assert 'there is no command "dance"' in unknown and "Did you mean" not in unknown


def test_certificates_are_verified(home, tmp_path):
    stranger = Home(tmp_path, home.server)
    refused = stranger.run("sign-in", home.server.origin, code=69, XDG_CONFIG_HOME=str(tmp_path / "x"))
    assert "authority that is not trusted here" in refused and "--ca" in refused
    assert stranger.run("sign-in", home.server.origin, "--insecure", XDG_CONFIG_HOME=str(tmp_path / "x"))
    # Not remembered.
    stranger.run("nearby", "0", "0", code=69, XDG_CONFIG_HOME=str(tmp_path / "x"))


def test_what_is_remembered_is_the_user_s_alone_until_it_signs_out(shared, tmp_path):
    home = Home(tmp_path, shared, str(shared.data / "ca.pem")).sign_in("Ana")
    home.run("create", "Kitchen")
    folder = home.folder / "backline"
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    for name in os.listdir(folder):
        assert stat.S_IMODE(os.stat(folder / name).st_mode) == 0o600, name
    known = json.loads((folder / "terminal.json").read_text())
    token = known["servers"][home.server.origin]["token"]
    assert home.server.request("GET", "/v1/session", token=token).status == 200
    assert home.run("sign-in", "--name", "Anna") == f"Signed in at {home.server.origin} as Anna.\n"
    assert home.server.request("GET", "/v1/session", token=token).json["session"]["name"] == "Anna"
    assert home.run("sign-out") == f"Signed out at {home.server.origin}.\n"
    assert home.server.request("GET", "/v1/session", token=token).status == 401
    assert token not in (folder / "terminal.json").read_text()


def test_the_environment_names_server_and_session(home, kitchen, ben, tmp_path):
    other = Home(tmp_path, home.server)
    environment = {"BACKLINE_SERVER": home.server.origin, "BACKLINE_TOKEN": ben.token,
                   "XDG_CONFIG_HOME": str(tmp_path / "none")}
    assert other.run("vote", kitchen, "1", "--insecure", **environment).startswith("Voted for “Blue Monday”")
    assert ben.room(kitchen)["you"]["votes"] == [1]
    assert not os.path.exists(tmp_path / "none")
    # A session that is named needs no folder, one that is made does.
    nowhere = {**environment, "XDG_CONFIG_HOME": "", "HOME": ""}
    assert other.run("unvote", kitchen, "1", "--insecure", **nowhere)
    del nowhere["BACKLINE_TOKEN"]
    assert "HOME or XDG_CONFIG_HOME" in other.run("vote", kitchen, "1", "--insecure", code=64, **nowhere)
    # A file where the folder should be: told as any failure is.
    (tmp_path / "file").touch()
    told = other.run("sign-in", home.server.origin, "--insecure", code=69, XDG_CONFIG_HOME=str(tmp_path / "file"))
    assert "Not a directory" in told and "TerminalFailure" not in told and len(told.splitlines()) == 1


def test_shells_complete_commands_and_rooms(home, kitchen):
    for shell in ("bash", "zsh", "fish"):
        assert "sign-in" in home.run("completion", shell)
    # What a shell asks for a room's code.
    asked = home.run("---completion", "play", "--", "positional@0", "2", "0", SAP_SHELL="bash")
    assert kitchen in asked.split()


# MARK: lines

def test_plain_lines_tell_each_event_once(home, kitchen, ben):
    with Lines(home, "watch", "--plain") as watch:
        watch.until(f"Kitchen ({kitchen}): ")
        watch.until("Nothing on air.")
        ben.command(kitchen, "vote", track=1)
        watch.until("“Blue Monday” by New Order now has 1 vote.")
        home.run("vote", "2")
        watch.until("You voted for “Blue in Green” by Miles Davis: 1 vote.")
        home.run("queue", "3")
        watch.until("Queued: “Song 2” by Blur, number 1, by Ana.")
        home.run("play")
        watch.until("On air: “Song 2” by Blur.")
        ben.command(kitchen, "rename", name="Bob")
        watch.until("Ben is now called Bob.")
        ben.command(kitchen, "leave")
        watch.until("Bob left.")
        assert len(set(watch.lines)) == len(watch.lines)
        assert not any("\x1b" in line for line in watch.lines)
        watch.process.send_signal(signal.SIGINT)
        watch.process.wait(backline.PATIENCE)


def test_json_lines_are_objects_with_types(own, home, kitchen, ben):
    with Lines(home, "watch", kitchen, "--json") as watch:
        room = json.loads(watch.until('"type":"room"'))
        assert (room["code"], room["name"], room["tracks"], room["onAir"]) == (kitchen, "Kitchen", 3, None)
        seq = ben.command(kitchen, "vote", track=1)["seq"]
        assert json.loads(watch.until('"type":"votes"')) == {
            "type": "votes", "seq": seq, "votes": 1, "isMine": False,
            "track": {"number": 1, "title": "Blue Monday", "artist": "New Order", "durationMs": 449_000}}
        home.run("queue", "1")
        queued = json.loads(watch.until('"type":"queued"'))
        assert queued["place"] == 1 and queued["entry"]["track"]["title"] == "Blue Monday"
        home.run("play")
        playing = json.loads(watch.until('"type":"playback"'))
        assert playing["onAir"]["status"] == "playing" and playing["onAir"]["positionMs"] == 0
        home.run("skip")
        assert json.loads(watch.until('"finished"')) == {
            "type": "finished", "seq": ben.room(kitchen)["room"]["seq"], "track": 1, "title": "Blue Monday",
            "reason": "skipped"}
        home.server.stop()
        assert json.loads(watch.until('"offline"')) == {"type": "link", "status": "offline"}
        home.server.start()
        assert json.loads(watch.until('"live"')) == {"type": "link", "status": "live"}
        ben.command(kitchen, "leave")
        assert json.loads(watch.until('"left"'))["name"] == "Ben"


@pytest.mark.parametrize("format", ["--json", "--plain"])
def test_lines_end_when_the_room_is_closed(home, kitchen, format):
    owner = home.server.session("Ben")
    code = owner.create_room(name="Hall")["room"]["state"]["code"]
    last = "closed" if format == "--json" else "The room is closed."
    with Lines(home, "watch", code, format) as watch:
        watch.until("Hall")
        owner.command(code, "closeRoom")
        assert watch.process.wait(backline.PATIENCE) == 0
        watch.reader.join()
        assert last in watch.lines[-1]
    # A room that is closed already is shown, and that it is.
    assert last in home.run("watch", code, format).splitlines()[-1]


def test_lines_end_when_their_reader_is_gone_although_nothing_happens(home, kitchen):
    watch = subprocess.Popen(
        [backline.program(), "watch", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        env=home.environment(), cwd=home.folder)
    try:
        assert b'"type":"room"' in watch.stdout.readline()
        watch.stdout.close()
        assert watch.wait(backline.PATIENCE) == 0
    finally:
        watch.kill()
        watch.wait()


def test_a_lost_connection_is_told_and_comes_back_in_lines(own, home, kitchen, ben):
    with Lines(home, "watch", "--plain") as watch:
        watch.until("Nothing on air.")
        home.server.stop()
        watch.until("Trying again.")
        home.server.start()
        ben.command(kitchen, "vote", track=3)
        watch.until("“Song 2” by Blur now has 1 vote.")
        assert watch.lines.index("Connected again.") < watch.lines.index("“Song 2” by Blur now has 1 vote.")


# MARK: the screen

def test_the_screen_shows_the_room_and_its_changes(home, kitchen, ben):
    with Terminal(home, "watch") as terminal:
        terminal.until("● live")
        top = terminal.display[0]
        assert top.startswith(f" Kitchen · {kitchen}")
        # All lists stand side by side.
        headings = next(line for line in terminal.display if "All tracks 3" in line)
        assert "Up next 0" in headings and "Members 2" in headings
        ben.command(kitchen, "vote", track=2)
        terminal.until("“Blue in Green” by Miles Davis now has 1 vote.")
        terminal.until("Requests 1")
        # Down to the second track, and a vote for it; then the vote is taken back.
        terminal.press("\x1b[B")
        terminal.press("v")
        terminal.until("You voted for")
        assert backline.eventually(lambda: ben.room(kitchen)["room"]["state"]["requests"], "the vote")
        terminal.press("v")
        terminal.until("You took your vote for")
        terminal.press("?")
        terminal.until("vote for the track, or take the vote back")
        terminal.press("\x1b")
        terminal.until("All tracks 3")
        terminal.press("q")
        assert terminal.ended() == 0 and terminal.is_sane()


@pytest.mark.soak("what is told is shown for six seconds")
def test_what_is_told_of_a_key_goes_though_the_next_one_is_silent(home, kitchen):
    with Terminal(home, "watch") as terminal:
        terminal.until("Space play")
        terminal.press("a")
        terminal.until("Up next 1")
        terminal.press("a ")
        terminal.until("Queued: ")
        terminal.until("Space pause")


def test_a_dj_runs_the_deck_on_the_screen(home, kitchen, ben):
    def state():
        return ben.room(kitchen)["room"]["state"]

    with Terminal(home, "watch") as terminal:
        terminal.until("● live")
        terminal.until("Space play")
        terminal.press("n")
        terminal.until("Nothing is on air.")
        # Two tracks of the pool, which has the keys, go to the queue; the first one plays.
        terminal.press("a")
        terminal.until("Up next 1")
        terminal.press("\x1b[B")
        terminal.press("a")
        # What is told of a key stands in place of the keys, up to the next one.
        terminal.until("Queued: “Blue Monday”.")
        terminal.press(" ")
        terminal.until("Space pause")
        terminal.press(" ")
        terminal.until("Space go on")
        backline.eventually(lambda: state()["playback"]["status"] == "paused", "a pause")
        terminal.press("\x1b[B")
        terminal.press("a")
        terminal.until("Up next 2")
        # The second entry of the queue is played, the first one taken out.
        terminal.press("\x1b[Z")
        terminal.press("\x1b[B")
        terminal.press("p")
        backline.eventually(lambda: state()["playback"]["entry"] == 3, "entry 3 on air")
        terminal.until("Up next 1")
        terminal.press("x")
        terminal.until("Up next 0")
        terminal.press("n")
        terminal.until("Nothing on air")
        backline.eventually(lambda: state()["queue"] == [], "an empty queue")
    guest = Home(home.folder / "guest", home.server, home.authority)
    guest.folder.mkdir()
    guest.sign_in("Chloë").run("join", kitchen)
    with Terminal(guest, "watch") as terminal:
        terminal.until("● live")
        assert "Space" not in "\n".join(terminal.display)
        terminal.press("?")
        terminal.until("vote for the track, or take the vote back")
        assert "skip to the next song" not in "\n".join(terminal.display)


def test_keys_for_the_song_on_air_name_its_entry(home, overheard):
    home.run("queue", "1")
    home.run("play")
    ana, commands = overheard
    with Terminal(ana, "watch") as terminal:
        for key, before, after in (" ", "Space pause", "Space go on"), (" ", "Space go on", "Space pause"), \
                ("n", "Space pause", "Nothing on air"):
            terminal.until(before)
            terminal.press(key)
            terminal.until(after)
        backline.eventually(lambda: len(commands) == 3, "three commands")
    assert [(command["type"], command.get("entry")) for command in commands] == [
        ("pause", 1), ("resume", 1), ("skip", 1)]


def test_votes_to_skip_of_people_who_are_here_are_shown(home, kitchen, ben):
    home.person.command(kitchen, "updateRoom", settings={"skipRatio": 1})
    home.run("queue", "1")
    home.run("play")
    with Terminal(home, "watch") as terminal:
        terminal.until("Space pause")
        ben.command(kitchen, "voteSkip", entry=1)
        terminal.until("A vote to skip.")
        assert "1 vote to skip" not in "\n".join(terminal.display)
        with ben.socket(f"/v1/rooms/{kitchen}/socket", follow=kitchen):
            terminal.until("1 vote to skip")
            terminal.until("2 here")
        terminal.until("1 here")
        assert "1 vote to skip" not in "\n".join(terminal.display)
        # The vote goes with its voter, and is not said to be taken back.
        ben.command(kitchen, "leave")
        terminal.until("Ben left.")
        assert "was taken back" not in "\n".join(terminal.display)


def test_members_come_and_go_on_the_screen(home, kitchen):
    people = [home.server.session(f"Guest {number}") for number in range(8)]
    with Terminal(home, "watch") as terminal:
        terminal.until("Members 1")
        for _ in range(3):
            for person in people:
                person.command(kitchen, "join")
            for person in people:
                person.command(kitchen, "leave")
        people[3].command(kitchen, "join")
        terminal.until("Members 2")
        terminal.until("Guest 3 joined.")


def position(text):
    """The seconds of the song on air that are over; None if they are not on the screen."""
    shown = re.search(r" (\d+):(\d\d) ", text)
    return shown and 60 * int(shown[1]) + int(shown[2])


def test_a_song_s_time_goes_on(home, kitchen):
    home.run("queue", "1")
    home.run("play")
    with Terminal(home, "watch") as terminal:
        start = position(terminal.until(position, "the song's time"))
        terminal.until(lambda text: (position(text) or 0) >= start + 2, "two seconds more")


@pytest.mark.soak("seconds of a song are compared")
def test_a_song_s_time_goes_on_and_nothing_else_is_drawn(home, kitchen):
    home.run("queue", "1")
    home.run("play")
    with Terminal(home, "watch") as terminal:
        terminal.until("▶ Blue Monday – New Order")
        terminal.until("● live")
        # The whole screen has been drawn once its time has changed.
        start = position(terminal.until(position, "the song's time"))
        first, before = terminal.found(lambda text: (position(text) or 0) > start, "a second")
        later, after = terminal.found(lambda text: (position(text) or 0) >= position(first) + 2, "two seconds more")
        assert after - before < 3_000 * (position(later) - position(first))
        home.run("pause")
        terminal.until("paused")
        # A clock that went on would be drawn each second.
        settled(terminal, 2.5)


@pytest.mark.parametrize("columns, rows", [(40, 24), (40, 12), (24, 8), (100, 30), (200, 60)])
def test_every_size_shows_what_is_on_air(home, kitchen, columns, rows):
    home.run("queue", "1")
    home.run("play")
    with Terminal(home, "watch", columns=columns, rows=rows) as terminal:
        terminal.until("▶ Blue Monday")
        terminal.until("● live")


def test_a_terminal_is_resized_in_the_middle(home, kitchen):
    def headings(text):
        """How many rows have the heading of one list at least."""
        return sum(any(title in line for title in ("Requests 0", "Up next 0", "All tracks 3", "Members 1"))
                   for line in text.splitlines())

    with Terminal(home, "watch") as terminal:
        terminal.until(lambda text: headings(text) == 2, "lists beside each other")
        terminal.resize(40, 20)
        terminal.until(lambda text: headings(text) == 4, "lists below each other")
        terminal.until(lambda text: text.splitlines()[-1].startswith(" v vote"), "the keys")
        terminal.resize(150, 40)
        terminal.until(lambda text: headings(text) == 2, "lists beside each other again")
        terminal.press("q")
        assert terminal.ended() == 0 and terminal.is_sane()


def test_colours_are_not_used_where_nobody_wants_them(home, kitchen):
    coloured = rb"\x1b\[[0-9;]*3[0-7]m"
    for environment, arguments, expected in [
        ({}, [], True), ({"NO_COLOR": "1"}, [], False), ({}, ["--color", "never"], False),
        ({"NO_COLOR": "1"}, ["--color", "always"], True),
    ]:
        with Terminal(home, "watch", *arguments, **environment) as terminal:
            terminal.until("● live")
            settled(terminal)
            assert bool(re.search(coloured, terminal.written)) == expected, (environment, arguments)


def test_a_terminal_without_unicode_gets_ascii_and_a_dumb_one_lines(home, kitchen):
    home.run("add", "--title", "Für Elise")
    with Terminal(home, "watch", LANG="C") as terminal:
        terminal.until("* live")
        terminal.until("Fur Elise")
        assert all(byte < 0x80 for byte in terminal.written)
    with Terminal(home, "watch", TERM="dumb") as terminal:
        terminal.until("Nothing on air.")
        assert b"\x1b" not in terminal.written
        os.killpg(terminal.process.pid, signal.SIGTERM)
        terminal.ended()


def test_a_lost_connection_is_shown_and_comes_back(own, home, kitchen, ben):
    home.run("vote", "1")
    with Terminal(home, "watch") as terminal:
        terminal.until("● live")
        home.server.stop()
        terminal.until("No connection since ")
        terminal.until("○ offline")
        assert "Blue Monday" in terminal.text, "the last state stays"
        home.server.start()
        ben.command(kitchen, "vote", track=3)
        terminal.until("● live")
        terminal.until(lambda text: "“Song 2” by Blur now has 1 vote." in text and "No connection" not in text, "all is well")


def test_tracks_are_found_among_many(home, kitchen):
    many = "\n".join(json.dumps({"title": f"Track {number:05}", "id": str(number)}) for number in range(1_997))
    assert home.run("add", input=many) == "Added 1997 tracks.\n"
    with Terminal(home, "watch") as terminal:
        terminal.until("All tracks 2,000")
        terminal.press("/")
        terminal.press("00777")
        terminal.until("1 of 2,000")
        terminal.press("\r")
        terminal.press("v")
        terminal.until("You voted for “Track 00777”: 1 vote.")
        terminal.press("\x1b")
        terminal.until("All tracks 2,000")
        terminal.press("\x1b[F")
        terminal.until("Track 01996")
        terminal.until("–2,000")


@pytest.mark.parametrize("how", ["q", "\x03", signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, signal.SIGABRT])
def test_the_terminal_is_sane_however_the_program_ends(home, kitchen, how):
    with Terminal(home, "watch") as terminal:
        terminal.until("● live")
        if isinstance(how, str):
            terminal.press(how)
        else:
            terminal.process.send_signal(how)
        code = terminal.ended()
        assert terminal.is_sane(), terminal.written[-200:]
        assert code == (-how if how in (signal.SIGSEGV, signal.SIGABRT) else 0)


def test_ctrl_z_gives_the_terminal_back_and_takes_it_again(home, kitchen):
    with Terminal(home, "watch") as terminal:
        terminal.until("● live")
        terminal.process.send_signal(signal.SIGTSTP)
        backline.eventually(
            lambda: open(f"/proc/{terminal.process.pid}/stat").read().rpartition(")")[2].split()[0] == "T", "a stop")
        backline.eventually(terminal.is_sane, "the terminal as it was")
        terminal.screen.reset()
        terminal.process.send_signal(signal.SIGCONT)
        terminal.until("● live")
        terminal.press("q")
        assert terminal.ended() == 0 and terminal.is_sane()


def test_hostile_texts_are_harmless(home, kitchen):
    home.run("add", "--title", HOSTILE, "--artist", "A\u202dB")
    home.run("queue", "4")
    home.run("play")
    assert "\u202e" not in home.run("queue")
    assert "\\u202eevil" in home.run("queue", "--json") and "\u202e" not in home.run("queue", "--json")
    with Terminal(home, "watch") as terminal:
        terminal.until("▶ evil song – AB")
        settled(terminal)
        for character in "\u202e\u2066\u200f\u202d":
            assert character.encode() not in terminal.written
