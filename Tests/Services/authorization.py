"""An authorization server and a protected API on django-oauth-toolkit, with one user, who is always logged in.

The database is the file named by AUTHORIZATION_DATABASE; it is made and filled at the first start. Tokens expire after an
hour, refresh tokens are used once, and a second use revokes the whole family. The device flow polls every second. A client
whose id is the URL of a document is asked about with the user; the documents do not come from the network.
"""

import os

import django
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings


def key():
    """The server's key; kept beside the database, so that a second worker or start has the same one."""
    path = os.environ["AUTHORIZATION_DATABASE"] + ".pem"
    if not os.path.exists(path):
        made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        with open(path, "wb") as file:
            file.write(
                made.private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.NoEncryption(),
                )
            )
    with open(path) as file:
        return file.read()


settings.configure(
    SECRET_KEY="the-key-of-a-server-on-loopback-that-guards-nothing",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    USE_TZ=True,
    # The real hashes take a quarter of a second each.
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": os.environ["AUTHORIZATION_DATABASE"],
        }
    },
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "oauth2_provider"],
    MIDDLEWARE=[__name__ + ".login"],
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    OAUTH2_PROVIDER={
        "OIDC_ENABLED": True,
        "OIDC_RSA_PRIVATE_KEY": key(),
        "SCOPES": {"openid": "Identity", "read": "Reading", "write": "Writing"},
        "DEFAULT_SCOPES": ["read"],
        "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
        "REFRESH_TOKEN_REUSE_PROTECTION": True,
        "OAUTH_DEVICE_VERIFICATION_URI": "http://127.0.0.1/device/",
        "DEVICE_FLOW_INTERVAL": 1,
        "COMPLIANT_BCP_RFC9700_IMPLICIT_GRANT": True,
        "COMPLIANT_BCP_RFC9700_PASSWORD_GRANT": True,
        "COMPLIANT_BCP_RFC9700_PKCE_METHOD": True,
        "COMPLIANT_BCP_RFC9700_ACCESS_TOKEN_TRANSPORT": True,
        "COMPLIANT_BCP_RFC9700_AUTHZ_RESPONSE_ISS": True,
        "CIMD_ENABLED": True,
        "CIMD_METADATA_FETCHER": __name__ + ".Documents",
    },
)
django.setup()

from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import include, path
from oauth2_provider.decorators import protected_resource_metadata
from oauth2_provider.models import Application


class Documents:
    """What the URLs of clients contain: the one of client.test has a redirect URL, and the others are another's document."""

    def fetch(self, url):
        document = {
            "client_id": "https://client.test/cli.json",
            "client_name": "The client of the tests",
            "redirect_uris": ["http://127.0.0.1/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "none",
        }
        return document, 300


def login(next):
    """Middleware by which every browser is that of anna."""

    def respond(request):
        request.user = User.objects.get(username="anna")
        return next(request)

    return respond


def fill():
    call_command("migrate", verbosity=0)
    if User.objects.exists():
        return
    User.objects.create_user("anna")

    def register(id, grant, secret=None, **more):
        kind = Application.CLIENT_CONFIDENTIAL if secret else Application.CLIENT_PUBLIC
        Application.objects.create(
            client_id=id,
            client_secret=secret or "",
            client_type=kind,
            authorization_grant_type=grant,
            algorithm=Application.RS256_ALGORITHM,
            skip_authorization=True,
            **more,
        )

    redirects = "http://127.0.0.1/callback http://[::1]/callback"
    register("browser", Application.GRANT_AUTHORIZATION_CODE, redirect_uris=redirects)
    register("screen", Application.GRANT_DEVICE_CODE)
    register("machine", Application.GRANT_CLIENT_CREDENTIALS, "secret of:the/machine")


@protected_resource_metadata(scopes=["read"])
def account(request):
    return JsonResponse({"user": getattr(request.resource_owner, "username", None)})


@protected_resource_metadata(scopes=["write"])
def orders(request):
    return JsonResponse({"ordered": True})


urlpatterns = [
    path("account/", account),
    path("orders/", orders),
    path("", include("oauth2_provider.urls")),
]

fill()
application = get_wsgi_application()
