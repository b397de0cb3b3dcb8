"""Signs requests by botocore, as the reference: a JSON object in each line of the file in the first argument.

Prints the signature of each request, in a line.
"""

import base64
import datetime
import json
import sys

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials


def sign(case):
    moment = datetime.datetime.strptime(case["date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
    botocore.auth.get_current_datetime = lambda: moment
    request = AWSRequest(
        method=case["method"], url=case["url"], data=base64.b64decode(case["body"]) or None, headers={}
    )
    for name, value in case["fields"]:
        request.headers.add_header(name, value)
    keys = Credentials("AKIDEXAMPLE", case["secret"], case["token"] or None)
    is_s3 = case["service"] == "s3"
    if case["expiry"]:
        kind = botocore.auth.S3SigV4QueryAuth if is_s3 else botocore.auth.SigV4QueryAuth
        kind(keys, case["service"], case["region"], expires=case["expiry"]).add_auth(request)
        return request.url.rsplit("X-Amz-Signature=", 1)[1]
    kind = botocore.auth.S3SigV4Auth if is_s3 else botocore.auth.SigV4Auth
    kind(keys, case["service"], case["region"]).add_auth(request)
    return request.headers["Authorization"].rsplit("Signature=", 1)[1]


for line in open(sys.argv[1], encoding="utf-8"):
    print(sign(json.loads(line)))
