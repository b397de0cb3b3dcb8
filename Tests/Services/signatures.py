"""Signs and verifies requests by packages that others wrote, as the reference of tests.

Usage: signatures.py COMMAND INPUT OUTPUT, both of them JSON files.

aws       signatures of botocore, for each request of the input: of its header fields, of its query, or of a content with
          trailing checksum; those of version 4A by the common runtime of AWS.
keys      new keys for each algorithm of message signatures; the input is not read.
verify    the verdict of http-message-signatures on each message of the input, and of http-sf on its fields.
sign      the fields that http-message-signatures adds to each message of the input.
"""

import base64
import datetime
import io
import json
import secrets
import sys


def aws(cases):
    import awscrt.checksums
    import botocore.auth
    import botocore.crt.auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
    from botocore.httpchecksum import _CHECKSUM_CLS, AwsChunkedWrapper

    now = None

    def current(remove_tzinfo=True):
        return now.replace(tzinfo=None) if remove_tzinfo else now

    botocore.auth.get_current_datetime = current
    botocore.crt.auth.get_current_datetime = current

    def signer(case, credentials):
        name = ("S3" if case["service"] == "s3" else "") + "SigV4"
        if case["kind"] == "asymmetric":
            found = getattr(botocore.crt.auth, "Crt" + name + "AsymAuth")
            return found(credentials, case["service"], case["region"])
        if case["kind"] == "query":
            found = getattr(botocore.auth, name + "QueryAuth")
            return found(credentials, case["service"], case["region"], expires=case["expiry"])
        return getattr(botocore.auth, name + "Auth")(credentials, case["service"], case["region"])

    def answer(case):
        nonlocal now
        now = datetime.datetime.fromtimestamp(case["date"], datetime.timezone.utc)
        body = base64.b64decode(case["body"])
        request = AWSRequest(
            method=case["method"],
            url=case["url"],
            headers=dict(case["fields"]),
            data=b"" if case["kind"] == "query" else body,
        )
        result = {}
        if case["kind"] == "chunks":
            name = "x-amz-checksum-" + case["checksum"]
            checksum = {"in": "trailer", "algorithm": case["checksum"], "name": name}
            request.context["checksum"] = {"request_algorithm": checksum}
            coded = AwsChunkedWrapper(io.BytesIO(body), _CHECKSUM_CLS[case["checksum"]], name, 1 << 16)
            result["body"] = base64.b64encode(coded.read()).decode()
        credentials = Credentials(case["id"], case["secret"], case.get("token"))
        signer(case, credentials).add_auth(request)
        result["fields"] = [[name, value] for name, value in request.headers.items()]
        result["url"] = request.url
        return result

    return [answer(case) for case in cases]


def keys():
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    def pair(key):
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return {"private": private.decode(), "public": public.decode()}

    secret = secrets.token_urlsafe(32)
    return {
        "ed25519": pair(ed25519.Ed25519PrivateKey.generate()),
        "ecdsa-p256-sha256": pair(ec.generate_private_key(ec.SECP256R1())),
        "ecdsa-p384-sha384": pair(ec.generate_private_key(ec.SECP384R1())),
        "rsa-pss-sha512": pair(rsa.generate_private_key(public_exponent=65537, key_size=2048)),
        "hmac-sha256": {"private": secret, "public": secret},
    }


class Message:
    """A request, or the response to one. A response may have a trailer."""

    def __init__(self, case):
        from http_message_signatures.structures import CaseInsensitiveDict

        self.headers = CaseInsensitiveDict(case["fields"])
        self.trailers = CaseInsensitiveDict(case.get("trailers") or [])
        if "status" in case:
            self.status_code = case["status"]
            self.request = Message(case["request"]) if case.get("request") else None
        else:
            self.method = case["method"]
            self.url = case["url"]


def trailing():
    """A resolver of components that finds those with the parameter `tr` in the trailer.

    http-message-signatures reads and writes the parameter, but has no messages with trailers; everything else stays its own.
    """
    from http_message_signatures import HTTPSignatureComponentResolver
    from http_sf.compat import Item

    class Resolver(HTTPSignatureComponentResolver):
        def resolve(self, component):
            if component.params.get("tr") is not True:
                return super().resolve(component)
            inner = Item(component.value)
            inner.params.update({key: value for key, value in component.params.items() if key != "tr"})
            end = Message.__new__(Message)
            end.headers = self.message.trailers
            end.status_code = self.message.status_code
            return HTTPSignatureComponentResolver(end).resolve(inner)

    return Resolver


def tools(case):
    """The algorithm, and the key by its name, which is that of the algorithm."""
    from http_message_signatures import MappingKeyResolver, algorithms

    name = case["algorithm"]
    found = next(
        value
        for value in vars(algorithms).values()
        if getattr(value, "algorithm_id", None) == name
    )
    resolver = MappingKeyResolver(
        public_keys={name: case["public"].encode()}, private_keys={name: case["private"].encode()}
    )
    return {"signature_algorithm": found, "key_resolver": resolver}


def verify(cases):
    import http_sf
    from http_message_signatures import HTTPMessageVerifier

    def verdict(case):
        message = Message(case)
        result = {}
        if message.trailers:
            plain = HTTPMessageVerifier(**tools(case))
            plain.allow_label_only_selection = True
            try:
                plain.verify(Message(case), expect_label=case["label"])
            except Exception as error:
                result["withoutTrailer"] = f"{type(error).__name__}: {error}"
        verifier = HTTPMessageVerifier(**tools(case), component_resolver_class=trailing())
        verifier.allow_label_only_selection = True
        try:
            found = verifier.verify(message, expect_label=case["label"])
            found = found[0] if isinstance(found, list) else found
            result["covered"] = list(found.covered_components)
        except Exception as error:
            result["error"] = f"{type(error).__name__}: {error}"
        # The fields have the one serialization of RFC 9651.
        result["serialized"] = {
            name: http_sf.ser(http_sf.parse(message.headers[name].encode(), tltype="dictionary"))
            for name in ("signature-input", "signature", "content-digest")
            if name in message.headers
        }
        return result

    return [verdict(case) for case in cases]


def sign(cases):
    from http_message_signatures import HTTPMessageSigner

    def fields(case):
        message = Message(case)
        HTTPMessageSigner(**tools(case), component_resolver_class=trailing()).sign(
            message,
            key_id=case["algorithm"],
            label=case["label"],
            tag=case.get("tag"),
            nonce=case.get("nonce"),
            include_alg=case["namesAlgorithm"],
            covered_component_ids=case["components"],
            body=base64.b64decode(case["body"]) if "body" in case else None,
        )
        return [[name, value] for name, value in message.headers.items()]

    return [fields(case) for case in cases]


command, source, target = sys.argv[1:]
if command == "keys":
    answer = keys()
else:
    with open(source) as file:
        answer = {"aws": aws, "verify": verify, "sign": sign}[command](json.load(file))
with open(target, "w") as file:
    json.dump(answer, file)
