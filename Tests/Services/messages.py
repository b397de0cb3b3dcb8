"""HTTP message signatures by another implementation: a JSON object in each line of the file in the first argument.

Verifies a request that has a signature, and signs one that has none. Prints a JSON object for each.
"""

import base64
import datetime
import json
import sys

import requests
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms

ALGORITHMS = {
    "ed25519": algorithms.ED25519,
    "ecdsa-p256-sha256": algorithms.ECDSA_P256_SHA256,
    "hmac-sha256": algorithms.HMAC_SHA256,
}


class Keys(HTTPSignatureKeyResolver):
    def __init__(self, case):
        self.case = case

    def resolve_public_key(self, key_id):
        return self.key("public")

    def resolve_private_key(self, key_id):
        return self.key("private")

    def key(self, kind):
        if self.case["algorithm"] == "hmac-sha256":
            return base64.b64decode(self.case[kind])
        return self.case[kind].encode()


def answer(case):
    algorithm = ALGORITHMS[case["algorithm"]]
    body = base64.b64decode(case["body"])
    request = requests.Request(case["method"], case["url"], data=body or None).prepare()
    for name, value in case["fields"]:
        request.headers[name] = value
    if "Signature" in request.headers:
        verifier = HTTPMessageVerifier(signature_algorithm=algorithm, key_resolver=Keys(case))
        results = verifier.verify(request, max_age=None, body=body)
        return {"labels": [result.label for result in results]}
    signer = HTTPMessageSigner(signature_algorithm=algorithm, key_resolver=Keys(case))
    signer.sign(
        request,
        key_id="k",
        created=datetime.datetime.now(tz=datetime.timezone.utc),
        label="sig2",
        covered_component_ids=case["components"],
        body=body,
    )
    names = ["Signature-Input", "Signature", "Content-Digest"]
    return {"fields": [[name, request.headers[name]] for name in names if name in request.headers]}


for line in open(sys.argv[1], encoding="utf-8"):
    print(json.dumps(answer(json.loads(line))))
