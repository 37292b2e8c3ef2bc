"""Moderation: bans that end by themselves, a locked queue, slow mode, owners who are away, and the reasons given."""

import backline
from checks import check_followers, check_log


def open_room(server, **settings):
    """A room of Ana, with Ben as a member."""
    ana, ben = server.session("Ana"), server.session("Ben")
    room = ana.create_room(settings=settings)["room"]["state"]["id"]
    assert ben.command(room, "join")["result"]["member"] == 2
    return ana, ben, room


def roles(person, room):
    return {member["member"]: member["role"] for member in person.room(room)["room"]["state"]["members"]}


# Bans for a time


def test_a_ban_ends_by_itself(shared):
    ana, ben, room = open_room(shared)
    with ben.socket(f"/v1/rooms/{room}/socket", follow=room) as own, ben.socket() as other:
        own.wait_for("snapshot")
        ana.command(room, "kick", member=2, ban=True, durationMs=600_000, reason=" too loud ")
        assert own.closed() == 4403
        left, banned = check_log(ana, room)[-2:]
        assert (left["type"], left["reason"], left["by"], left["note"]) == ("memberLeft", "banned", 1, "too loud")
        assert (banned["type"], banned["by"], banned["reason"]) == ("memberBanned", 1, "too loud")
        assert banned["until"] == banned["at"] + 600_000

        refused = ben.request("GET", f"/v1/rooms/{room}")
        wait = refused.expect_problem(403, "banned")["retryAfterMs"]
        assert 0 < wait <= 600_000
        assert int(refused.headers["Retry-After"]) == -(-wait // 1000)
        for answer in (
            other.ask("subscribe", room=room), other.command(room, "join"), other.ask("react", room=room, emoji="🎉"),
        ):
            assert answer["code"] == "banned" and 0 < answer["retryAfterMs"] <= wait, answer
            wait = answer["retryAfterMs"]

        # Another ban, which ends soon.
        ana.command(room, "unban", member=2)
        assert other.command(room, "join")["result"]["member"] == 3
        ana.command(room, "kick", member=3, ban=True, durationMs=500)
        banned = check_log(ana, room)[-1]
        backline.eventually(lambda: other.ask("subscribe", room=room)["type"] == "snapshot", "the end of the ban")
        assert other.command(room, "join")["result"]["member"] == 4
    unbanned, joined = check_log(ben, room)[-2:]
    assert (unbanned["type"], unbanned["member"], "by" in unbanned) == ("memberUnbanned", 3, False)
    assert (joined["type"], joined["member"]) == ("memberJoined", 4)
    assert unbanned["at"] >= banned["until"] == banned["at"] + 500


def test_a_ban_for_a_time_is_lifted_like_any_other(server):
    ana, ben, room = open_room(server)
    ana.command(room, "kick", member=2, ban=True, durationMs=31_536_000_000)
    server.kill()
    server.start()
    assert ben.post_command(room, "join").expect_problem(403, "banned")["retryAfterMs"] > 31_000_000_000
    ana.command(room, "unban", member=2, reason="sorry")
    event = check_log(ana, room)[-1]
    assert (event["type"], event["by"], event["reason"]) == ("memberUnbanned", 1, "sorry")
    assert ben.command(room, "join")["result"]["member"] == 3


def test_what_is_no_ban_for_a_time(shared):
    ana, ben, room = open_room(shared)
    for fields in (
        {"ban": True, "durationMs": 0}, {"ban": True, "durationMs": 31_536_000_001}, {"durationMs": 1_000},
        {"ban": False, "durationMs": 1_000}, {"ban": True, "durationMs": 1.5}, {"ban": True, "durationMs": "1"},
        {"ban": True, "reason": ""}, {"reason": "x" * 201}, {"reason": "a\nb"},
    ):
        ana.post_command(room, "kick", member=2, **fields).expect_problem(400, "bad_request")
    assert roles(ben, room) == {1: "owner", 2: "guest"}


# The queue


def test_a_locked_queue(shared):
    ana, ben, room = open_room(shared, queueMode="votes", guestsMayAdd=True)
    one, two = ana.command(room, "addTracks", tracks=backline.tracks("One", "Two"))["result"]["tracks"]
    ana.command(room, "enqueue", track=one)
    entry = ana.command(room, "play") and ana.room(room)["room"]["state"]["playback"]["entry"]
    ana.command(room, "updateRoom", settings={"queueLocked": True}, reason="too many")
    changed = check_log(ben, room)[-1]
    assert (changed["by"], changed["reason"], changed["settings"]["queueLocked"]) == (1, "too many", True)

    problem = ben.post_command(room, "addTracks", tracks=backline.tracks("Mine")).expect_problem(403, "forbidden")
    assert "locked" in problem["detail"]
    ben.command(room, "vote", track=two)
    ana.command(room, "finish", entry=entry)
    assert ana.room(room)["room"]["state"]["playback"] == {"status": "stopped"}
    # Nothing starts by itself while nothing is on air; the next end of a song is followed by a choice.
    ana.command(room, "updateRoom", settings={"queueLocked": False})
    state = ana.room(room)["room"]["state"]
    assert state["playback"] == {"status": "stopped"} and "queueLocked" not in state["settings"]
    ana.command(room, "enqueue", track=one)
    ana.command(room, "play")
    ana.command(room, "skip")
    assert ana.room(room)["room"]["state"]["playback"]["track"] == two
    assert ben.command(room, "addTracks", tracks=backline.tracks("Mine"))["result"]["tracks"] == [3]
    check_log(ana, room)


def test_slow_mode(server):
    ana, ben, room = open_room(server, guestsMayAdd=True, slowModeMs=3_600_000)
    key = backline.new_key()
    first = ben.command(room, "addTracks", key, tracks=backline.tracks("One"))
    # A retry does not count as a second addition.
    assert ben.command(room, "addTracks", key, tracks=backline.tracks("One")) == first

    def refused_for():
        answer = ben.post_command(room, "addTracks", tracks=backline.tracks("Two"))
        wait = answer.expect_problem(429, "rate_limited")["retryAfterMs"]
        assert int(answer.headers["Retry-After"]) == -(-wait // 1000)
        with ben.socket() as client:
            told = client.command(room, "addTracks", tracks=backline.tracks("Two"))
            assert told["code"] == "rate_limited" and 0 < told["retryAfterMs"] <= wait
        return wait

    wait = refused_for()
    assert 0 < wait <= 3_600_000
    for _ in range(2):
        ana.command(room, "addTracks", tracks=backline.tracks("Another"))
    # The log remembers the time, also for a guest who leaves and comes back.
    server.kill()
    server.start()
    ben.command(room, "leave")
    ben.command(room, "join")
    assert refused_for() < wait
    ana.command(room, "updateRoom", settings={"slowModeMs": 300})
    backline.eventually(
        lambda: ben.post_command(room, "addTracks", tracks=backline.tracks("Two")).status == 200, "the next turn")
    check_log(ana, room)


# Owners who are away


def test_a_dj_becomes_the_owner_when_the_owner_is_away(shared):
    ana, ben, room = open_room(shared, ownerAwayMs=700)
    cem = shared.session("Cem")
    cem.command(room, "join")
    ana.command(room, "setRole", member=3, role="dj", reason="good taste")
    with ana.socket() as owner, ben.socket() as guest, cem.socket() as dj:
        for client in (owner, guest, dj):
            client.subscribe(room)
        # A DJ keeps the role without a connection, and so does an owner for as long as the room allows.
        dj.drop()
        backline.eventually(lambda: ana.room(room)["room"]["presence"]["members"] == [1, 2], "the DJ's going")
        assert roles(ana, room) == {1: "owner", 2: "guest", 3: "dj"}
        with cem.socket() as dj:
            dj.subscribe(room)
            seq = ana.room(room)["room"]["seq"]
            owner.drop()
            follower = guest.catch_up(room, seq + 2)
            assert roles(ben, room) == {1: "dj", 2: "guest", 3: "owner"}
            events = check_log(ben, room)[seq:]
            assert [(event["type"], event["member"], event["role"]) for event in events] == [
                ("roleChanged", 3, "owner"), ("roleChanged", 1, "dj")]
            assert all(event["reason"] == "ownerAway" and "by" not in event for event in events)
            check_followers(ben, room, [follower])
            # When its new owner goes as well, nobody is there to replace it.
            guest.drop()
            backline.eventually(lambda: ana.room(room)["room"]["presence"]["members"] == [3], "the guest's going")
    assert ana.room(room)["room"]["seq"] == seq + 2


def test_one_of_two_servers_replaces_the_owner(nodes):
    here, there = nodes
    ana, ben, room = open_room(here, ownerAwayMs=700)
    cem = there.session("Cem")
    cem.command(room, "join")
    elsewhere = backline.Person(there.address, ana.session, ana.token, ana.name)
    with ben.socket() as first, cem.socket() as second, elsewhere.socket() as owner:
        owner.subscribe(room)
        backline.eventually(lambda: ana.room(room)["room"]["presence"]["members"] == [1], "the owner, at either server")
        for client in (first, second):
            client.subscribe(room)
        for person in (ben, cem):
            backline.eventually(
                lambda: person.room(room)["room"]["presence"]["members"] == [1, 2, 3], "who is there, at either server")
        owner.drop()
        for client in (first, second):
            client.catch_up(room, 6)
        for person in (ben, cem):
            assert roles(person, room) == {1: "dj", 2: "owner", 3: "guest"}
            changes = [event["reason"] for event in check_log(person, room) if event["type"] == "roleChanged"]
            assert changes == ["ownerAway", "ownerAway"]


# Reasons


def test_every_act_says_who_and_why(shared):
    ana, ben, room = open_room(shared)
    cem = shared.session("Cem")
    cem.command(room, "join")
    ana.command(room, "setRole", member=3, role="dj", reason="good taste")
    cem.command(room, "kick", member=2, reason="loud")
    ana.command(room, "transferOwnership", member=3, reason="tired")
    cem.command(room, "updateRoom", visibility="unlisted", reason="quiet")
    cem.command(room, "leave")
    ana.command(room, "closeRoom", reason="late")
    told = [
        (event["type"], event.get("by"), event.get("note") if event["type"] == "memberLeft" else event.get("reason"))
        for event in check_log(ana, room)[4:]
    ]
    assert told == [
        ("roleChanged", 1, "good taste"), ("memberLeft", 3, "loud"), ("roleChanged", 1, "tired"),
        ("roleChanged", 1, "tired"), ("roomUpdated", 3, "quiet"), ("roleChanged", None, "ownerLeft"),
        ("memberLeft", None, None), ("roomClosed", 1, "late"),
    ]
