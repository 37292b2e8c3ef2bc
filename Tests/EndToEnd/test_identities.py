"""JSON Web Tokens of another identity provider: accepted and refused tokens, and their sessions."""

import concurrent.futures
import hashlib
import hmac
import http.client
import json
import ssl
import time

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

import backline
from checks import check_log
from identities import AUDIENCE, ISSUER, encode


def as_person(server, token):
    session = server.request("GET", "/v1/session", token=token).expect(200)["session"]
    return backline.Person(server, session["id"], token, session["name"])


def refused(server, token, kind=""):
    """The token is refused over HTTP and at a handshake, and the answer does not give the reason."""
    answer = server.request("GET", "/v1/session", token=token)
    assert answer.status == 401, (kind, answer)
    problem = answer.expect_problem(401, "unauthorized")
    assert problem["detail"] == "the token is not accepted", (kind, problem)
    with backline.RawSocket(server, token) as client:
        assert client.status == 401, kind
        assert json.loads(client.reader.read())["detail"] == problem["detail"]


GOOD = {
    "HS256": lambda provider: provider.hs256(sub="hs"),
    "ES256": lambda provider: provider.es256(sub="es"),
    "a key set's ES256": lambda provider: provider.listed_es256(sub="listed"),
    "a key set's RS256": lambda provider: provider.rs256(sub="rs"),
    "without a key's name": lambda provider: jwt.encode(provider.claims(sub="n"), provider.listed, "ES256"),
    "several audiences": lambda provider: provider.hs256(sub="aud", aud=["other", AUDIENCE]),
    "within the leeway": lambda provider: provider.hs256(sub="leeway", exp=int(time.time())),
    "no start": lambda provider: provider.hs256(sub="start", nbf=None),
    "fractions": lambda provider: provider.hs256(sub="fractions", exp=time.time() + 60.5),
}


def test_a_good_token_is_a_session(trusting, provider):
    for kind, make in GOOD.items():
        def attempt():
            # The leeway is five seconds, of which up to one has passed.
            with backline.within(4 if kind == "within the leeway" else backline.PATIENCE):
                is_a_session(trusting, kind, make(provider))

        backline.patiently(attempt)


def is_a_session(server, kind, token):
    person = as_person(server, token)
    assert person.name == "Ana", kind
    room = person.create_room()["room"]["state"]["id"]
    with person.socket() as client:
        assert client.wait_for("welcome")["session"] == {"id": person.session, "name": "Ana"}
        assert client.subscribe(room)["you"]["role"] == "owner"
        assert client.command(room, "rename", name="Ana of the provider")["type"] == "ack"
    assert as_person(server, token).session == person.session


def tampered(token, part):
    """The token with another part: a changed claim, or a changed bit of the signature."""
    parts = token.split(".")
    if part == "payload":
        claims = json.loads(jwt.utils.base64url_decode(parts[1]))
        parts[1] = encode({**claims, "sub": "somebody else"})
    else:
        signature = bytearray(jwt.utils.base64url_decode(parts[2]))
        signature[7] ^= 1
        parts[2] = encode(bytes(signature))
    return ".".join(parts)


def unsigned(provider, algorithm):
    return f"{encode({'alg': algorithm, 'typ': 'JWT'})}.{encode(provider.claims())}."


def confused(provider):
    """HS256, signed with the text of the public key as if it were a secret."""
    text = f"{encode({'alg': 'HS256', 'typ': 'JWT'})}.{encode(provider.claims())}"
    return f"{text}.{encode(hmac.digest(provider.pem, text.encode(), hashlib.sha256))}"


def renamed(token, **header):
    """The token with another header over the same signature."""
    parts = token.split(".")
    return ".".join([encode({**json.loads(jwt.utils.base64url_decode(parts[0])), **header}), *parts[1:]])


BAD = {
    "expired HS256": lambda p: p.hs256(exp=int(time.time()) - 60),
    "expired ES256": lambda p: p.es256(exp=int(time.time()) - 60),
    "no expiry": lambda p: p.hs256(exp=None),
    "an expiry that is a text": lambda p: _raw(p, exp="tomorrow"),
    "not yet valid": lambda p: p.hs256(nbf=int(time.time()) + 60),
    "a start that is a text": lambda p: _raw(p, nbf="today"),
    "tampered payload HS256": lambda p: tampered(p.hs256(), "payload"),
    "tampered payload ES256": lambda p: tampered(p.es256(), "payload"),
    "tampered payload RS256": lambda p: tampered(p.rs256(), "payload"),
    "tampered signature HS256": lambda p: tampered(p.hs256(), "signature"),
    "tampered signature ES256": lambda p: tampered(p.es256(), "signature"),
    "tampered signature RS256": lambda p: tampered(p.rs256(), "signature"),
    "no signature": lambda p: p.es256().rpartition(".")[0] + ".",
    "two parts": lambda p: p.es256().rpartition(".")[0],
    "four parts": lambda p: p.es256() + ".e30",
    "alg none": lambda p: unsigned(p, "none"),
    "alg None": lambda p: unsigned(p, "nOnE"),
    "alg HS256 and no signature": lambda p: unsigned(p, "HS256"),
    "HS256 by the public key": confused,
    "ES256 that says HS256": lambda p: renamed(p.es256(), alg="HS256"),
    "a critical extension": lambda p: jwt.encode(p.claims(), p.secret, "HS256", headers={"crit": ["x"], "x": 1}),
    "another key": lambda p: jwt.encode(p.claims(), ec.generate_private_key(ec.SECP256R1()), "ES256"),
    "another secret": lambda p: jwt.encode(p.claims(), b"x" * 40, "HS256"),
    "HS512": lambda p: jwt.encode(p.claims(), p.secret * 2, "HS512"),
    "a key for encryption": lambda p: p.rs256(headers={"kid": "encryption"}),
    "a key that is not in the set": lambda p: p.rs256(headers={"kid": "r2"}),
    "wrong issuer": lambda p: p.hs256(iss="https://other.example.org"),
    "no issuer": lambda p: p.hs256(iss=None),
    "wrong audience": lambda p: p.hs256(aud="other"),
    "no audience": lambda p: p.hs256(aud=None),
    "an empty audience": lambda p: p.hs256(aud=[]),
    "an audience that is a number": lambda p: _raw(p, aud=7),
    "no subject": lambda p: p.hs256(sub=None),
    "an empty subject": lambda p: p.hs256(sub=""),
    "a subject that is a number": lambda p: _raw(p, sub=7),
    "a subject of 256 characters": lambda p: p.hs256(sub="x" * 256),
    "too long": lambda p: p.hs256(picture="x" * 8_192),
    "claims that are a list": lambda p: _signed(p, [1]),
    "claims that are nested deep": lambda p: _signed(p, b"[" * 4_000),
    "no JSON": lambda p: _signed(p, b"\xff\xfe"),
    "no base 64": lambda p: "a.b.c",
    "dots": lambda p: "..",
    "a word": lambda p: "secret",
}


def _signed(provider, claims):
    """HS256 over claims that a library would refuse to sign."""
    text = f"{encode({'alg': 'HS256'})}.{encode(claims)}"
    return f"{text}.{encode(hmac.digest(provider.secret, text.encode(), hashlib.sha256))}"


def _raw(provider, **changed):
    return _signed(provider, provider.claims(**changed))


def test_a_bad_token_is_refused_without_a_reason(trusting, provider):
    for kind, make in BAD.items():
        refused(trusting, make(provider), kind)


def test_a_huge_token_is_refused_before_it_is_looked_at(trusting, provider):
    token = provider.hs256(picture="x" * 100_000)
    try:
        assert trusting.request("GET", "/v1/session", token=token).status == 431
    except (ConnectionError, http.client.RemoteDisconnected, ssl.SSLError):
        # The server closes while the head is still being sent.
        pass
    trusting.request("GET", "/healthz").expect(200)


def test_the_reason_is_in_the_debug_log_and_the_token_is_not(trusting, provider):
    token = provider.hs256(exp=int(time.time()) - 60, sub="logged")
    refused(trusting, token)
    backline.eventually(lambda: "reason=expired" in trusting.said(), "the reason is logged")
    assert token.split(".")[1] not in trusting.said()


def test_the_same_subject_is_the_same_session_whatever_its_token(trusting, provider):
    """Tokens of different keys and times, but one subject; another subject or another issuer is another session."""
    sessions = {as_person(trusting, token(sub="same")).session for token in (
        provider.hs256, provider.es256, provider.listed_es256, provider.rs256,
    )}
    assert len(sessions) == 1
    assert as_person(trusting, provider.hs256(sub="same", exp=int(time.time()) + 99)).session in sessions
    assert as_person(trusting, provider.hs256(sub="sam")).session not in sessions


def test_issuers_have_subjects_of_their_own(servers, provider):
    server = servers("--jwt-secret-file", str(provider.files["secret"])).start()
    sessions = [as_person(server, provider.hs256(iss=issuer)).session for issuer in (ISSUER, "other", None)]
    assert len(set(sessions)) == 3
    # Texts whose concatenations are equal are different pairs.
    assert len({as_person(server, provider.hs256(iss=i, sub=s)).session for i, s in (("ab", "c"), ("a", "bc"))}) == 2


def test_a_new_session_is_called_as_the_token_says(trusting, provider):
    for claim, name in (
        ("  Ana Lucía ", "Ana Lucía"), ("x" * 60, "x" * 40), (None, "Guest"), ("a\nb", "Guest"), ("  ", "Guest"),
        (7, "Guest"),
    ):
        assert as_person(trusting, _raw(provider, sub=f"name {claim}", name=claim)).name == name, claim


def test_a_session_keeps_the_name_that_it_was_given(trusting, provider):
    person = as_person(trusting, provider.hs256(sub="renamed"))
    person.request("PATCH", "/v1/session", {"name": "Somebody"}).expect(200)
    assert as_person(trusting, provider.es256(sub="renamed")).name == "Somebody"


def test_the_servers_own_sessions_go_on_beside_them(trusting):
    assert trusting.session("Ben").request("GET", "/v1/session").status == 200


def test_without_a_key_no_token_is_taken(servers, provider):
    server = servers().start()
    server.request("GET", "/v1/session", token=provider.hs256()).expect_problem(401, "unauthorized")


def test_one_subject_through_two_servers_at_once_is_one_member(servers, cluster, tmp_path, provider):
    """Twenty first requests of each of five subjects, half of them at each server: each makes one session."""
    database = cluster.database()
    nodes = [
        servers(*provider.options("key"), store=[
            "--store", "postgres", "--database-url", database, "--data", str(tmp_path / name)]).start()
        for name in ("one", "two")
    ]
    room = nodes[0].session("Owner").create_room()["room"]["state"]["id"]

    def join(number):
        person = as_person(nodes[number % 2], provider.es256(sub=f"subject {number // 20}"))
        return person.session, person.command(room, "join")["result"]["member"]

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        found = list(pool.map(join, range(100)))
    for subject in range(5):
        assert len(set(found[subject * 20:][:20])) == 1
    assert len(set(found)) == 5
    events = check_log(as_person(nodes[1], provider.es256()), room)
    assert sum(event["type"] == "memberJoined" for event in events) == 6
    assert cluster.sql("SELECT count(*) FROM sessions", database.rpartition("/")[2]) == "7"


@pytest.mark.soak("waits for the end of a session of ten seconds")
def test_a_session_that_was_ended_stays_so_and_one_that_expired_begins_anew(servers, provider):
    server = servers(*provider.options("secret"), "--session-lifetime-seconds", "10").start()
    ended = as_person(server, provider.hs256(sub="ended"))
    assert ended.request("DELETE", "/v1/session").status == 204
    ended.request("GET", "/v1/session").expect_problem(401, "unauthorized")
    first = as_person(server, provider.hs256(sub="away"))
    expires = first.request("GET", "/v1/session").expect(200)["session"]["expiresAt"]
    backline.eventually(lambda: time.time() * 1000 > expires + 500, "the session is over")
    again = first.request("GET", "/v1/session").expect(200)["session"]
    assert again["expiresAt"] > expires


# The settings


def test_keys_that_cannot_be_used_are_refused_at_the_start(provider, tmp_path):
    def start(*options):
        return backline.run("serve", "--port", "0", "--data", str(tmp_path / "data"), *options)

    files = {}
    for name, content in (
        ("short", b"x" * 31), ("text", b"hello"), ("empty", b'{"keys":[]}'), ("useless", b'{"keys":[{"kty":"x"}]}'),
        ("off the curve", json.dumps({"keys": [{"kty": "EC", "crv": "P-256", "x": "AQ", "y": "AQ"}]}).encode()),
    ):
        files[name] = tmp_path / name
        files[name].write_bytes(content)
    for options, word in (
        (["--jwt-secret-file", files["short"]], "32 bytes"), (["--jwt-key-file", files["text"]], "PEM"),
        (["--jwt-jwks-file", files["text"]], "Key Set"), (["--jwt-jwks-file", files["empty"]], "no key"),
        (["--jwt-jwks-file", files["useless"]], "no key"), (["--jwt-jwks-file", files["off the curve"]], "no key"),
        (["--jwt-secret-file", tmp_path / "missing"], "cannot be read"), (["--jwt-issuer", "x"], "--jwt-secret-file"),
    ):
        ended = start(*map(str, options))
        assert ended.returncode == 64 and word in ended.stderr, (options, ended.stderr)
    ended = backline.run(
        "serve", "--port", "0", "--data", str(tmp_path / "data"),
        environment={"BACKLINE_JWT_SECRET_FILE": str(files["short"])})
    assert ended.returncode == 64 and "32 bytes" in ended.stderr
