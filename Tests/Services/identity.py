"""canaille with one user, anna, who is always logged in, as a WSGI application.

IDENTITY_PORT is the port; IDENTITY_REDIRECT the redirect URL of the clients `browser`, which has no secret, and `signed`,
which signs its requests by the key in `signed.pem` in IDENTITY_FOLDER. The server signs by that in `server.pem`, and accepts
assertions by it as well. The client `machine` has a secret. All state is in memory, and so in one process.
"""

import datetime
import json
import os
import secrets

from canaille import create_app
from canaille.app import models
from canaille.app.session import UserSession
from canaille.oidc import provider
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from flask import g
from joserfc.jwk import ECKey, RSAKey

port = os.environ["IDENTITY_PORT"]


def key(name, made):
    """A new key, which is written to a file."""
    text = made.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with open(os.path.join(os.environ["IDENTITY_FOLDER"], name + ".pem"), "wb") as file:
        file.write(text)
    return text


signed = ECKey.import_key(key("signed", ec.generate_private_key(ec.SECP256R1())))
server = RSAKey.import_key(
    key("server", rsa.generate_private_key(public_exponent=65537, key_size=2048)),
    {"use": "sig", "kid": "server"},
)

# Two access tokens of one second would have the same text, and revoking the one would revoke the other.
access_token = provider.generate_id_token
provider.generate_id_token = lambda **claims: access_token(nonce=secrets.token_urlsafe(), **claims)

# No file of the machine configures it.
os.environ["CANAILLE_CONFIG"] = os.devnull
application = create_app(
    {
        "SECRET_KEY": "the-key-of-a-server-on-loopback-that-guards-nothing",
        "SERVER_NAME": f"127.0.0.1:{port}",
        "PREFERRED_URL_SCHEME": "http",
        "CANAILLE": {"DATABASE": "memory"},
        "CANAILLE_OIDC": {"ACTIVE_JWKS": [server.as_dict(private=True)]},
    }
)
backend = application.backend.instance

with application.app_context():
    anna = models.User(user_name="anna", family_name="A", formatted_name="Anna A", emails=["anna@example.com"])
    backend.save(anna)
    public = {"use": "sig", "kid": "signed", **signed.as_dict(private=False)}
    registered = {
        "scope": ["openid", "profile", "email"],
        "client_id_issued_at": datetime.datetime.now(datetime.timezone.utc),
        # Clients of trusted domains need no consent.
        "client_uri": f"http://127.0.0.1:{port}",
    }
    code = {"redirect_uris": [os.environ["IDENTITY_REDIRECT"]], "response_types": ["code"]}
    grants = ["authorization_code", "refresh_token"]

    def register(id, **more):
        client = models.Client(client_id=id, client_name=id, **registered, **more)
        backend.save(client)
        client.audience = [client]
        backend.save(client)

    register("browser", grant_types=grants, token_endpoint_auth_method="none", **code)
    register(
        "signed",
        grant_types=grants + ["urn:ietf:params:oauth:grant-type:jwt-bearer"],
        token_endpoint_auth_method="private_key_jwt",
        jwks=json.dumps({"keys": [public]}),
        **code,
    )
    register(
        "machine",
        client_secret="secret-of-machine",
        grant_types=["client_credentials"],
        token_endpoint_auth_method="client_secret_basic",
    )


@application.before_request
def log_in():
    g.session = UserSession(
        user=backend.get(models.User, user_name="anna"),
        last_login_datetime=datetime.datetime.now(datetime.timezone.utc),
        authentication_methods=["password"],
    )
