"""The microseconds of processor time that botocore, and AWS's aws-c-auth called from Python, take to sign a request of 1 KiB,
as JSON lines.

aws-c-auth signs on a thread of its own, so that its time for one request at a time includes two switches of threads.
"""

import io
import json
import time

from awscrt.auth import (
    AwsCredentialsProvider,
    AwsSignatureType,
    AwsSigningAlgorithm,
    AwsSigningConfig,
    aws_sign_request,
)
from awscrt.http import HttpHeaders, HttpRequest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

keys = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
host = "dynamodb.eu-west-1.amazonaws.com"
content = b"x" * 1024
count = 5_000

signer = SigV4Auth(Credentials(*keys), "dynamodb", "eu-west-1")


def botocore_request():
    return AWSRequest(
        "POST",
        f"https://{host}/table/7",
        headers={"Content-Type": "application/octet-stream"},
        data=content,
    )


configuration = AwsSigningConfig(
    algorithm=AwsSigningAlgorithm.V4,
    signature_type=AwsSignatureType.HTTP_REQUEST_HEADERS,
    credentials_provider=AwsCredentialsProvider.new_static(*keys),
    region="eu-west-1",
    service="dynamodb",
)


def common_request():
    headers = HttpHeaders([("Host", host), ("Content-Type", "application/octet-stream")])
    return HttpRequest("POST", "/table/7", headers, io.BytesIO(content))


def one_by_one(requests):
    for request in requests:
        aws_sign_request(request, configuration).result()


def all_at_once(requests):
    for future in [aws_sign_request(request, configuration) for request in requests]:
        future.result()


def measure(name, make, sign):
    rounds = []
    for _ in range(8):
        requests = [make() for _ in range(count)]
        start = time.process_time()
        sign(requests)
        rounds.append((time.process_time() - start) / count * 1e6)
    # The first round fills the caches.
    print(json.dumps({"case": name, "microseconds": round(sorted(rounds[1:])[3], 2)}))


measure("botocore", botocore_request, lambda requests: [signer.add_auth(request) for request in requests])
measure("aws-c-auth from Python, one by one", common_request, one_by_one)
measure("aws-c-auth from Python, all at once", common_request, all_at_once)
