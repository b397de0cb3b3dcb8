"""The microseconds that botocore takes to sign a request of 1 KiB for AWS, as a JSON line."""

import json
import time

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

signer = SigV4Auth(
    Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"), "dynamodb", "eu-west-1"
)
content = b"x" * 1024
count = 5_000
rounds = []
for _ in range(8):
    requests = [
        AWSRequest(
            "POST",
            "https://dynamodb.eu-west-1.amazonaws.com/table/7",
            headers={"Content-Type": "application/octet-stream"},
            data=content,
        )
        for _ in range(count)
    ]
    start = time.perf_counter()
    for request in requests:
        signer.add_auth(request)
    rounds.append((time.perf_counter() - start) / count * 1e6)
# The first round fills the caches.
print(json.dumps({"case": "botocore", "microseconds": round(sorted(rounds[1:])[3], 2)}))
