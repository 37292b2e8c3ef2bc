"""An identity provider: its own keys, files with them for the server, and tokens."""

import base64
import json
import time

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

ISSUER = "https://identity.example.org"
AUDIENCE = "backline"


def encode(value):
    """Base 64 as in tokens, of bytes or of a value that becomes JSON."""
    value = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


class Provider:
    """Keys of three kinds, in files under `folder`."""

    def __init__(self, folder):
        self.secret = b"a secret of more than thirty-two bytes"
        self.elliptic, self.listed = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        self.rsa = rsa.generate_private_key(65537, 2048)
        self.pem = self.elliptic.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        listed = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.listed.public_key()))
        other = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.rsa.public_key()))
        self.keys = {"keys": [
            {"kty": "unknown", "kid": "u"}, {**other, "use": "enc", "kid": "encryption"},
            {**listed, "kid": "e1", "use": "sig", "alg": "ES256"}, {**other, "kid": "r1"},
        ]}
        self.files = {}
        for name, content in (
            ("secret", self.secret + b"\n"), ("key", self.pem), ("jwks", json.dumps(self.keys).encode()),
        ):
            self.files[name] = folder / name
            self.files[name].write_bytes(content)

    def options(self, *names):
        """The options with which a server accepts this provider's tokens."""
        flags = {"secret": "--jwt-secret-file", "key": "--jwt-key-file", "jwks": "--jwt-jwks-file"}
        files = [part for name in names for part in (flags[name], str(self.files[name]))]
        return [*files, "--jwt-issuer", ISSUER, "--jwt-audience", AUDIENCE]

    def claims(self, **changed):
        """The claims of a valid token; claims changed to None are left out."""
        now = int(time.time())
        claims = {
            "iss": ISSUER, "aud": AUDIENCE, "sub": "ana", "name": "Ana", "iat": now, "nbf": now, "exp": now + 600,
            **changed,
        }
        return {name: value for name, value in claims.items() if value is not None}

    def hs256(self, **changed):
        return jwt.encode(self.claims(**changed), self.secret, "HS256")

    def es256(self, **changed):
        return jwt.encode(self.claims(**changed), self.elliptic, "ES256")

    def listed_es256(self, headers=None, **changed):
        return jwt.encode(self.claims(**changed), self.listed, "ES256", headers=headers or {"kid": "e1"})

    def rs256(self, headers=None, **changed):
        return jwt.encode(self.claims(**changed), self.rsa, "RS256", headers=headers or {"kid": "r1"})
