"""Rooms as people have them, made over the network: for tests, screenshots and benchmarks.

A party holds sockets for the members who are there. `close` ends them.
"""

import base64
import contextlib
import hashlib
import http.client
import json
import random
import time

import backline

#: For servers whose rooms are filled at once from one address.
OPTIONS = (
    "--max-sessions-per-minute", "0", "--max-joins-per-minute", "0", "--max-events-per-room", "0",
    "--max-events-per-session", "0", "--max-events-per-address", "0",
)

PORTO = {"lat": 41.1405, "lon": -8.6110}

GUESTS = ("Ines", "Rui", "Tomé", "Sofia", "Beatriz", "Duarte", "Leonor", "Yuki", "Omar", "Noor", "Zoë", "Kwame")

ALBUMS = {
    "Linha Azul": "Noites do Porto", "Dora & the Tides": "Undertow", "Moss": "Second Theory", "Kestrel": "Long Roads",
    "Marrow": "Salt and Bone", "Low Lights": "Weather Systems", "Zonda": "Passo", "Amber Room": "Field Notes",
    "Noor": "Polaroid Sea", "The Quiet Kind": "Small Hours", "Ferro": "Cidade Baixa", "Ilha": "Maré Cheia",
}

FIRST = ("Warm", "Second", "Distant", "Maré", "Broken", "Salt", "Slow", "Golden", "Paper", "Bright", "Night", "Silver")
LAST = ("Machines", "Avenue", "Lanterns", "Parade", "Horizon", "Station", "Season", "Fever", "Signal", "Harbour")

#: On air, with its artist; then what waits; then what was asked for, with its votes.
ON_AIR = ("Maré Alta", "Linha Azul", 240_000)
WAITING = (("Salt Horizon", "Amber Room"), ("Slow Station", "Moss"), ("Golden Machines", "Moss"),
           ("Paper Season", "Low Lights"))
WANTED = (("Warm Machines", "Dora & the Tides", 9), ("Second Theory II", "Moss", 6), ("Distant Avenue", "Kestrel", 6),
          ("Maré Theory", "Marrow", 3), ("Broken Lanterns", "Low Lights", 1), ("Second Parade", "Zonda", 1))

#: Texts that a page must show as text. Those for titles may hold what a name may not.
MARKUP = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
HOSTILE_NAMES = (
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "W" * 40, "مُحَمَّد بن عبد الله", "👩‍👩‍👧‍👦🎛️💃",
    "{{constructor}} ${alert(1)}", "Ž̷̛͔a̸͈͝l̴̠͑g̶̣̍o̵̞͐", "null", "__proto__",
)
HOSTILE_TITLES = (
    MARKUP, "javascript:alert(1)", "\u202egnorw s'tahw\u202c", "\u2067שיר\u2066 ABC", "X" * 300, "ש" * 300,
    "🎵" * 60, "&lt;b&gt;bold&lt;/b&gt; &amp; \" ' `", "a\u0301" * 100, "نغمة الصباح", "夜に駆ける", "__proto__",
    "constructor", "{{7*7}}${7*7}", "</title></style><style>*{display:none}</style>", "\u2066\u2066\u2066open isolates",
)


def track(title, artist=None, duration=None, album=None):
    """A track to add, by its title and artist. The duration is in milliseconds."""
    made = {"source": "local", "sourceId": _name(title, artist), "title": title}
    for name, value in (("artist", artist), ("album", album), ("durationMs", duration)):
        if value is not None:
            made[name] = value
    return made


def collection(count=58, seed=15):
    """Tracks of a party: those that are on air, waiting or wanted, and others, of different lengths."""
    chance = random.Random(seed)
    pairs = [(ON_AIR[0], ON_AIR[1]), *WAITING, *((title, artist) for title, artist, _ in WANTED)]
    artists = list(ALBUMS)
    names = [f"{first} {last}" for first in FIRST for last in LAST]
    chance.shuffle(names)
    taken = {title for title, _ in pairs}
    names = [name for name in names if name not in taken]
    while len(pairs) < count:
        pairs.append((names[len(pairs) % len(names)] + _part(len(pairs) // len(names)), chance.choice(artists)))
    made = []
    for title, artist in pairs[:count]:
        duration = ON_AIR[2] if title == ON_AIR[0] else chance.randrange(150, 430) * 1000
        made.append(track(title, artist, duration, ALBUMS[artist]))
    return made


def waveform(seed):
    """1,024 peaks and 1,024 RMS values of a song that does not exist, as `setWaveform` takes them."""
    chance = random.Random(seed)
    # The loudness of its parts: a beginning, verses and refrains, a break, an end.
    parts = [0.04, chance.uniform(0.15, 0.35), 0.55, chance.uniform(0.8, 1), 0.85, chance.uniform(0.5, 0.7), 0.65,
             chance.uniform(0.85, 1), 0.9, chance.uniform(0.06, 0.2), 0.45, 0.8, chance.uniform(0.9, 1), 0.85, 0.4, 0.02]
    peaks, loudness = bytearray(), bytearray()
    for column in range(1024):
        place = column / 1024 * (len(parts) - 1)
        before, share = int(place), place % 1
        share = share * share * (3 - 2 * share)
        level = parts[before] * (1 - share) + parts[before + 1] * share
        peak = 255 * min(1, level * chance.uniform(0.82, 1.04))
        peaks.append(round(peak))
        loudness.append(round(peak * 0.55))
    return base64.urlsafe_b64encode(bytes(peaks + loudness)).decode().rstrip("=")


class Line:
    """Requests of many people over one connection."""

    def __init__(self, server):
        self.server = server
        self.used = 0.0
        self.connection = http.client.HTTPSConnection(
            server.host, server.port, timeout=backline.PATIENCE, context=server.context())

    def request(self, token, method, path, body=None):
        """The JSON of the answer, which must be a success."""
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        # The server closes a connection on which nothing happens for a minute; the next request opens another one.
        if time.monotonic() - self.used > 20:
            self.connection.close()
        self.used = time.monotonic()
        self.connection.request(method, path, json.dumps(body) if body is not None else None, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status < 300, f"{method} {path}: {answer.status} {text[:500]!r}"
        return json.loads(text) if text else None

    def session(self, name):
        made = self.request(None, "POST", "/v1/sessions", {"name": name})
        return backline.Person(self.server, made["session"]["id"], made["token"], name)

    def command(self, person, room, type, **fields):
        return self.request(person.token, "POST", f"/v1/rooms/{room}/commands", {"command": {"type": type, **fields}})


class Party:
    """A room, its owner Mina, its guests by name, and the sockets of those who are there."""

    def __init__(self, server, name="Rooftop at Ribeira", owner=None, owner_name="Mina", **fields):
        """`owner` is a person who makes the room, such as the one of a page; `fields` are those of `POST /v1/rooms`."""
        self.server, self.name = server, name
        self.line = Line(server)
        self.mina = owner or self.line.session(owner_name)
        made = self.line.request(self.mina.token, "POST", "/v1/rooms", {"name": name, **fields})["room"]["state"]
        self.id, self.code = made["id"], made["code"]
        self.guests, self.members, self.ids, self.sockets = {}, {}, {}, []

    @property
    def path(self):
        return f"/r/{self.code}"

    def tell(self, person, type, **fields):
        """A command that must succeed; returns its result or None. A person is one, or the name of a guest."""
        return self.line.command(self._person(person), self.id, type, **fields).get("result")

    def state(self):
        return self.line.request(self.mina.token, "GET", f"/v1/rooms/{self.id}")["room"]["state"]

    def join(self, *names):
        """New members; returns the last one."""
        for name in names:
            self.guests[name] = person = self.line.session(name)
            self.members[name] = self.tell(person, "join")["member"]
        return self.guests[names[-1]]

    def admit(self, person):
        """Makes a person of somewhere else a member."""
        self.guests[person.name] = person
        self.members[person.name] = self.tell(person, "join")["member"]
        return person

    def arrive(self, *people):
        """Opens sockets, so that these members are there."""
        for person in people:
            socket = self._person(person).socket(f"/v1/rooms/{self.id}/socket", follow=self.id)
            socket.wait_for("snapshot")
            self.sockets.append(socket)

    def add(self, tracks):
        """Adds tracks, 500 at a time."""
        for first in range(0, len(tracks), 500):
            some = tracks[first:first + 500]
            for one, number in zip(some, self.tell(self.mina, "addTracks", tracks=some)["tracks"]):
                self.ids[one["title"]] = number

    def vote(self, title, *people):
        for person in people:
            self.tell(person, "vote", track=self.ids[title])

    def play(self, title):
        """Queues a track and plays it at once; returns the entry."""
        entry = self.tell(self.mina, "enqueue", track=self.ids[title])["entry"]
        self.tell(self.mina, "play", entry=entry)
        return entry

    def draw(self, *titles):
        """Gives tracks their waveforms."""
        for title in titles:
            self.tell(self.mina, "setWaveform", track=self.ids[title], data=waveform(title))

    def _person(self, person):
        if isinstance(person, str):
            return self.mina if person == "Mina" else self.guests[person]
        return person

    def end(self):
        """Closes the room, so that no list has it, and the sockets."""
        with contextlib.suppress(AssertionError, OSError, http.client.HTTPException):
            self.tell("Mina", "closeRoom")
        self.close()

    def close(self):
        for socket in self.sockets:
            with contextlib.suppress(Exception):
                socket.close()
        self.line.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def rooftop(server, owner=None, present=False, tracks=58, location=PORTO, played=True, **fields):
    """Mina's party: 58 tracks, twelve guests, votes, a queue, a song on air and some songs before it.

    With `present`, Mina and eleven guests are there.
    """
    party = Party(server, owner=owner, location=location, **fields)
    party.add(collection(tracks))
    party.join(*GUESTS)
    party.tell("Mina", "setRole", member=party.members["Rui"], role="dj")
    if played:
        for title in ("Bright Signal", "Night Harbour", "Silver Fever"):
            if title in party.ids:
                party.play(title)
                party.tell("Mina", "skip")
    for title, _, votes in WANTED:
        party.vote(title, *GUESTS[-votes:])
    for title, _ in WAITING:
        party.tell("Mina", "enqueue", track=party.ids[title])
    party.draw(ON_AIR[0], WAITING[0][0])
    party.play(ON_AIR[0])
    party.tell("Mina", "seek", positionMs=105_000)
    if present:
        party.arrive("Mina", *GUESTS[:11])
    return party


def empty(server, **fields):
    """A room without tracks and without anybody else."""
    return Party(server, **fields)


def long_song(server, **fields):
    """A room with a song of ten minutes on air, which has a waveform."""
    party = Party(server, "Ten minutes", **fields)
    party.add([track("Ten minutes", "Zonda", 600_000)])
    party.draw("Ten minutes")
    party.play("Ten minutes")
    return party


def hostile(server, owner=None):
    """A room whose every text is made to break a page."""
    party = Party(server, "\"'><b onclick=alert(1)>room</b> " + "M" * 45, owner=owner, owner_name="<i>Mina</i>")
    titles = [track(title, artist, 200_000, album) for title, artist, album in zip(
        HOSTILE_TITLES, HOSTILE_TITLES[3:] + HOSTILE_TITLES[:3], HOSTILE_TITLES[5:] + HOSTILE_TITLES[:5])]
    party.add(titles)
    party.join(*HOSTILE_NAMES)
    names = list(HOSTILE_NAMES)
    for number, title in enumerate(HOSTILE_TITLES[:9]):
        party.vote(title, *names[number:])
    for title in HOSTILE_TITLES[1:6]:
        party.play(title)
    party.vote(HOSTILE_TITLES[0], *names)
    party.play(HOSTILE_TITLES[0])
    for number, title in enumerate(HOSTILE_TITLES[3:9]):
        party.vote(title, *names[number:])
    for title in HOSTILE_TITLES[2:]:
        party.tell("Mina", "enqueue", track=party.ids[title])
    party.arrive(*names[:5])
    return party


def large(server, tracks=10_000, members=0, owner=None):
    """A room with very many tracks or members, a song on air and some votes."""
    party = Party(server, "The whole archive", owner=owner)
    party.add(collection(tracks))
    party.join(*GUESTS)
    for number in range(members):
        person = party.line.session(f"{GUESTS[number % len(GUESTS)]} {number // len(GUESTS) + 2}")
        party.line.command(person, party.id, "join")
    for title, _, votes in WANTED:
        if title in party.ids:
            party.vote(title, *GUESTS[-votes:])
    party.play(ON_AIR[0])
    party.arrive(*GUESTS[:5])
    return party


def neighbourhood(server):
    """Six open rooms around Porto, each with a song on air; returns the parties."""
    made = []
    places = (("Garden at Foz", 0.004, -0.03), ("Sala Vermelha", 0.008, 0.006), ("Kitchen, third floor", -0.003, 0.002),
              ("Cais de Gaia", -0.006, -0.001), ("Bairro Alto dos Amigos", 0.02, 0.012), ("Late shift", 0.001, -0.012))
    for number, (name, north, east) in enumerate(places):
        party = Party(server, name, owner_name=GUESTS[number],
                      location={"lat": PORTO["lat"] + north, "lon": PORTO["lon"] + east})
        party.add(collection(12, seed=number))
        party.play(list(party.ids)[number])
        party.join(*GUESTS[number + 1:number + 3])
        party.arrive("Mina", *GUESTS[number + 1:number + 2 + number % 2])
        made.append(party)
    return made


def _name(title, artist):
    return base64.urlsafe_b64encode(hashlib.sha256(f"{title}/{artist}".encode()).digest()[:16]).decode().rstrip("=")


def _part(number):
    """What tells titles of the same words apart: nothing, then ` II`, ` III`, ` 4` …"""
    return ("", " II", " III")[number] if number < 3 else f" {number + 1}"
