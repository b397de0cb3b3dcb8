"""Starts glewlwyd of Debian with one user, anna, and one client, cli, and prints the cookie of her browser.

Usage: glewlwyd.py FOLDER PORT REDIRECT [nonces|certificates]

Requests for codes must be pushed, DPoP proofs are accepted, refresh tokens are used once, and the device flow polls every
second. With `nonces`, proofs must have a nonce of the server; it then refuses all pushed requests, and so takes none. The database is in
FOLDER; REDIRECT is the redirect URL of the client. With `certificates` it speaks HTTPS, and the client authenticates with the
certificate in FOLDER/cli.pem and its key in FOLDER/cli.key; FOLDER/authority.pem has issued it, and the server's.
"""

import datetime
import http.cookiejar
import ipaddress
import json
import os
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
import urllib.request

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

folder, port, redirect = sys.argv[1:4]
nonces = sys.argv[4:] == ["nonces"]
certificates = sys.argv[4:] == ["certificates"]
base = f"{'https' if certificates else 'http'}://127.0.0.1:{port}"


def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def issue(name, issuer=None):
    """Writes the certificate of `name` and its key to FOLDER; `issuer` is the authority and its key, or None for one."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    names = [x509.DNSName(name + ".test"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(issuer[1] if issuer else key, hashes.SHA256())
    )
    for ending, content in [(".pem", certificate.public_bytes(serialization.Encoding.PEM)), (".key", pem(key))]:
        with open(os.path.join(folder, name + ending), "wb") as file:
            file.write(content)
    return certificate, key


encryption, trust = "", None
if certificates:
    authority = issue("authority")
    issue("server", authority)
    issue("cli", authority)
    trust = ssl.create_default_context(cafile=os.path.join(folder, "authority.pem"))
    encryption = f"""
        use_secure_connection=true
        secure_connection_key_file="{folder}/server.key"
        secure_connection_pem_file="{folder}/server.pem"
        secure_connection_ca_file="{folder}/authority.pem"
        """

database = os.path.join(folder, "glewlwyd.db")
with open("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3") as schema:
    connection = sqlite3.connect(database)
    connection.executescript(schema.read())
    connection.commit()
    connection.close()

configuration = os.path.join(folder, "glewlwyd.conf")
with open(configuration, "w") as file:
    file.write(
        f"""
        port={port}
        bind_address="127.0.0.1"
        external_url="{base}"
        login_url="login.html"
        api_prefix="api"
        static_files_path="/usr/share/glewlwyd/webapp/"
        log_mode="console"
        log_level="INFO"
        cookie_domain="127.0.0.1"
        cookie_secure=0
        session_expiration=3600
        session_key="session"
        login_api_enabled=true
        admin_scope="g_admin"
        profile_scope="g_profile"
        user_module_path="/usr/lib/glewlwyd/user"
        client_module_path="/usr/lib/glewlwyd/client"
        user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"
        plugin_module_path="/usr/lib/glewlwyd/plugin"
        hash_algorithm="SHA512"
        database = {{ type = "sqlite3"; path = "{database}"; }};
        {encryption}
        """
    )

server = subprocess.Popen(["glewlwyd", "--config-file", configuration])
deadline = time.monotonic() + 30
while True:
    try:
        socket.create_connection(("127.0.0.1", int(port))).close()
        break
    except OSError:
        if server.poll() is not None or time.monotonic() > deadline:
            sys.exit("glewlwyd does not listen")
        time.sleep(0.02)


class Browser:
    """A user agent with cookies, for the API of the server."""

    def __init__(self, name, password):
        self.cookies = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor(self.cookies), urllib.request.HTTPSHandler(context=trust)
        )
        self.send("POST", "/auth", {"username": name, "password": password})

    def send(self, method, path, body):
        request = urllib.request.Request(
            f"{base}/api{path}",
            method=method,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        self.opener.open(request).close()


key = ec.generate_private_key(ec.SECP256R1())
admin = Browser("admin", "password")
admin.send(
    "POST",
    "/mod/plugin/",
    {
        "module": "oidc",
        "name": "oidc",
        "display_name": "oidc",
        "parameters": {
            "iss": f"{base}/api/oidc",
            "jwt-type": "ecdsa",
            "jwt-key-size": "256",
            "key": pem(key).decode(),
            "cert": key.public_key()
            .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
            .decode(),
            "jwks-show": True,
            "allowed-scope": ["openid"],
            "subject-type": "public",
            "access-token-duration": 3600,
            "refresh-token-duration": 3600,
            "code-duration": 60,
            "refresh-token-rolling": True,
            "refresh-token-one-use": "always",
            "allow-non-oidc": True,
            "auth-type-code-enabled": True,
            "auth-type-code-revoke-replayed": True,
            "auth-type-client-enabled": True,
            "auth-type-device-enabled": True,
            "auth-type-refresh-enabled": True,
            "auth-type-token-enabled": False,
            "auth-type-implicit-enabled": False,
            "auth-type-password-enabled": False,
            "auth-type-none-enabled": False,
            "auth-type-id-token-enabled": True,
            "pkce-allowed": True,
            "pkce-required": True,
            "pkce-method-plain-allowed": False,
            "introspection-revocation-allowed": True,
            "introspection-revocation-allow-target-client": True,
            "device-authorization-expiration": 600,
            "device-authorization-interval": 1,
            "oauth-dpop-allowed": True,
            "oauth-dpop-iat-duration": 60,
            "oauth-dpop-nonce-mandatory": nonces,
            "oauth-dpop-nonce-counter": 2,
            "oauth-par-allowed": not nonces,
            "oauth-par-required": not nonces,
            "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
            "oauth-par-duration": 90,
            "oauth-as-iss-id": True,
            "resource-allowed": False,
            **({"client-cert-source": "TLS"} if certificates else {}),
            "session-management-allowed": False,
        },
    },
)
authentication = (
    {"token_endpoint_auth_method": ["tls_client_auth"], "tls_client_auth_san_dns": "cli.test"}
    if certificates
    else {
        "token_endpoint_auth_method": ["client_secret_basic"],
        "client_secret": "secret-of-cli",
        "password": "secret-of-cli",
    }
)
anna = {"username": "anna", "password": "secret-of-anna", "name": "Anna", "enabled": True}
admin.send("POST", "/user/", anna | {"scope": ["g_profile", "openid"]})
admin.send(
    "POST",
    "/client/",
    {
        "client_id": "cli",
        "name": "cli",
        "confidential": True,
        "enabled": True,
        "scope": [],
        "redirect_uri": [redirect],
        **authentication,
        "authorization_type": ["code", "refresh_token", "device_authorization", "client_credentials"],
    },
)
browser = Browser("anna", "secret-of-anna")
browser.send("PUT", "/auth/grant/cli", {"scope": "openid"})
cookie = next(cookie for cookie in browser.cookies if cookie.name == "session")
print(f"ready session={cookie.value}", flush=True)
server.wait()
