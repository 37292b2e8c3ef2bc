"""The page's fold against a real server: at each event of random histories it equals the server's state."""

import base64
import contextlib
import json
import pathlib
import random
import shutil
import subprocess
import unicodedata

import pytest

import backline

HERE = pathlib.Path(__file__).parent

#: Titles that are easily sorted wrongly: astral, combining, without a composed form, with two scalars in lower case.
PIECES = [
    "a", "A", "b", "Z", "é", "e\u0301", "E\u0301", "ß", "ẞ", "Σ", "ς", "σ", "İ", "i", "I", "ı", "𝒜", "𝔸", "𐐀", "𐐨", "😀",
    "\uff21", "\ufb01", "\ue000", "한", "\u1112\u1161\u11ab", "ア", "か\u3099", "\u0344", "\u0308\u0301", "\u0345",
    "\u2126", "\u212a", "\u212b", "я", "Я", " ", "1", "\u202eא", "\u0f77", "𞤀", "ǅ", "\U0001d15e", "\u0958", "Ა", "ა",
    "Ⴀ", "Ꭰ", "ꭰ", "Ɐ", "Ǆ", "ᾈ", "\u03f4", "\u1e9e", "Ⅷ", "Ⓐ", "𖹀", "𑢠", "Ꚁ",
]


@pytest.fixture
def chance(seed):
    """Random numbers."""
    return random.Random(seed)


@pytest.fixture
def server(tmp_path):
    with backline.Server(*backline.NO_GRACE, store=("--store", "sqlite", "--data", str(tmp_path))) as running:
        yield running


def title(chance):
    text = "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 6))).strip()
    return text or "x"


def songs(chance, count):
    return [
        {
            "source": "test", "sourceId": str(chance.randrange(10**9)), "title": title(chance),
            **({"artist": title(chance)} if chance.random() < 0.5 else {}),
            **({"durationMs": chance.randrange(1, 400_000)} if chance.random() < 0.8 else {}),
        }
        for _ in range(count)
    ]


def waveform(chance):
    """One of three waveforms, so that tracks share them."""
    return base64.urlsafe_b64encode(bytes([chance.randrange(3)]) * 2048).decode().rstrip("=")


def act(people, room, state, chance):
    """One random command by somebody, made for a state; the room may refuse it."""
    person = chance.choice(people)
    tracks = [track["track"] for track in state["pool"]] or [1]
    asked = state["requests"] or tracks
    entries = [entry["entry"] for entry in state["queue"]] or [1]
    members = [member["member"] for member in state["members"]]
    on_air = state["playback"].get("entry", 1)
    owner = next(member["member"] for member in state["members"] if member["role"] == "owner")
    kind, fields = chance.choice([
        *[("vote", {"track": chance.choice(tracks)})] * 8,
        *[("vote", {"track": chance.choice(asked)})] * 4,
        *[("unvote", {"track": chance.choice(asked)})] * 3,
        *[("enqueue", {"track": chance.choice(tracks)})] * 3,
        ("enqueue", {"track": chance.choice(asked), "at": chance.randint(0, len(state["queue"]))}),
        ("dequeue", {"entry": chance.choice(entries)}),
        *[("move", {"entry": chance.choice(entries), "to": chance.randrange(max(1, len(entries)))})] * 2,
        *[("play", {})] * 2,
        ("play", {"entry": chance.choice(entries)}),
        ("pause", {}), ("resume", {}),
        ("seek", {"positionMs": chance.randrange(100_000)}),
        *[("skip", {})] * 2,
        ("finish", {"entry": on_air}),
        *[("voteSkip", {"entry": on_air})] * 3,
        ("addTracks", {"tracks": songs(chance, chance.choice([1, 2, 17, 60]))}),
        ("removeTracks", {"tracks": chance.sample(tracks, min(len(tracks), 3))}),
        *[("setWaveform", {"track": chance.choice(tracks), "data": waveform(chance)})] * 2,
        ("rename", {"name": chance.choice(["Ana", "Ben", "Çiğdem", "Zoë"])}),
        *[("join", {})] * 4,
        ("leave", {}),
        ("kick", {"member": chance.choice([m for m in members if m != owner] or [99])}),
        ("setRole", {"member": chance.choice(members), "role": chance.choice(["dj", "guest"])}),
        ("updateRoom", {"name": title(chance)}),
        ("updateRoom", {"settings": {"queueMode": chance.choice(["dj", "votes", "fair"])}}),
        ("updateRoom", {"location": {"lat": 41.1, "lon": chance.uniform(-9, -8)}}),
        ("updateRoom", {"settings": {"guestsMayAdd": chance.random() < 0.5, "skipRatio": 0.3}}),
        ("syncDeck", {
            "queue": [{"track": track} for track in chance.sample(tracks, min(len(tracks), 4))],
            "playback": {"status": "playing", "track": chance.choice(tracks), "positionMs": 1000, "atMs": 1}}),
    ])
    if kind == "leave" and person is people[0]:
        return
    answer = person.post_command(room, kind, **fields)
    assert answer.status < 500, (kind, fields, answer.body)


def fold(lines):
    """Runs the page's fold over these lines; it compares each state."""
    node = shutil.which("node")
    assert node, "there is no Node: apt-get install nodejs"
    process = subprocess.Popen(
        [node, str(HERE / "fold.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with contextlib.suppress(BrokenPipeError):
        for line in lines:
            process.stdin.write(json.dumps(line).encode() + b"\n")
    printed, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors.decode()
    return printed.decode()


def lines_of(person, room, first=1, compared=lambda event: True):
    """The state after the event `first`, and then each event with the state after it, where it is to be compared."""
    def at(seq):
        return person.request("GET", f"/v1/rooms/{room}?at={seq}").expect(200)["room"]

    yield {"snapshot": at(first)}
    for event in person.events(room, after=first):
        yield {"event": event}
        if compared(event):
            yield {"state": at(event["seq"])["state"]}


def test_the_folded_log_equals_the_servers_state_at_each_event(server, chance):
    people = [server.session(name) for name in ("Ana", "Ben", "Cleo", "Dora", "Emil")]
    room = people[0].create_room("Kitchen")["room"]["state"]["id"]
    people[0].command(room, "addTracks", tracks=songs(chance, 40))
    for person in people[1:]:
        person.command(room, "join")
    for _ in range(200):
        act(people, room, people[0].room(room)["room"]["state"], chance)
    count = people[0].room(room)["room"]["seq"]
    printed = fold(lines_of(people[0], room))
    assert printed.startswith(f"{count - 1} states are equal"), printed
    print(printed)


@pytest.mark.soak("load: ten thousand songs")
def test_ten_thousand_tracks_are_folded_into_the_servers_order(server, chance):
    people = [server.session(name) for name in ("Ana", "Ben")]
    room = people[0].create_room("Archive")["room"]["state"]["id"]
    people[1].command(room, "join")
    for _ in range(20):
        full = people[0].command(room, "addTracks", tracks=songs(chance, 500))["seq"]
    for _ in range(4):
        state = people[0].room(room)["room"]["state"]
        for _ in range(5):
            act(people, room, state, chance)
    # While the pool grows, at some events: a state of this size takes its time.
    print(fold(lines_of(people[0], room, compared=lambda event: event["seq"] >= full or event["seq"] % 5 == 0)))


def test_every_letter_with_a_lower_case_or_a_composed_form_has_the_servers_place(server, chance):
    # Python 3.11 knows Unicode 14, and what is in it has the same forms in all later versions.
    scalars = [chr(value) for value in range(0x21, 0x110000) if not 0xD800 <= value < 0xE000]
    special = [
        scalar for scalar in scalars
        if scalar.lower() != scalar or not unicodedata.is_normalized("NFC", scalar)
        or unicodedata.decomposition(scalar) or unicodedata.combining(scalar)
    ]
    special = [scalar for scalar in special if not "\uac00" <= scalar < "\ud7a4" and unicodedata.category(scalar) != "Zs"]
    chance.shuffle(special)
    person = server.session("Ana")
    room = person.create_room("Letters")["room"]["state"]["id"]
    for begin in range(0, min(len(special), 9500), 500):
        person.command(room, "addTracks", tracks=backline.tracks(*[
            f"{chance.choice('aZé')}{scalar}" for scalar in special[begin:begin + 500]]))
    begin, *events = person.events(room)[1:]
    last = [{"state": person.room(room)["room"]["state"]}]
    first = person.request("GET", f"/v1/rooms/{room}?at={begin['seq']}").expect(200)["room"]
    printed = fold([{"snapshot": first}, *({"event": event} for event in events), *last])
    print(f"{len(special)} letters: {printed}")
