#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A queue that speaks the JSON protocol of Amazon SQS, as far as a sender needs it.

    sqs_stand_in.py OUT LIMIT [PLAN...]

It prints the port that it listens on. Ten entries a request at the most, LIMIT bytes for the sum of
their bodies and attributes. Signatures are checked with signed=KEY_ID:SECRET only. What it accepts it writes to OUT as
lines. A queue whose name ends in .fifo drops an entry whose deduplication id it has seen.

PLAN says what befalls the n-th SendMessageBatch, the first being 1:

    throttle=N      ThrottlingException, and nothing is taken
    partial=N:I,J   the entries at the places I and J fail, by the service's own fault
    reject=N:I      the same by the sender's fault, so that there is no use in sending it again
    lose=N          all of it is taken, but the connection is closed instead of an answer

and for all requests:

    tls=FILE                https, with the certificate and the key in FILE
    signed=KEY_ID:SECRET    a request without a valid Signature Version 4 is refused
"""
import hashlib
import hmac
import json
import ssl
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

OUT = open(sys.argv[1], "wb")
LIMIT = int(sys.argv[2])
PLAN = {}
TLS = None
SIGNED = None
for word in sys.argv[3:]:
    what, where = word.split("=")
    if what == "tls":
        TLS = where
        continue
    if what == "signed":
        SIGNED = where.split(":")
        continue
    number, _, places = where.partition(":")
    PLAN[int(number)] = (what, [int(p) for p in places.split(",") if p])


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def check_signature(path, headers, body):
    """https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html"""
    algorithm, _, rest = headers.get("Authorization", "").partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
    if algorithm != "AWS4-HMAC-SHA256" or "SignedHeaders" not in parts:
        raise Refused("MissingAuthenticationToken", "The request is not signed.")
    key_id, date, region, service, _ = parts["Credential"].split("/")
    names = parts["SignedHeaders"].split(";")
    if not {"host", "x-amz-date", "x-amz-target"} <= set(names) or service != "sqs":
        raise Refused("IncompleteSignature", "A header is not signed.")
    request = "\n".join(["POST", path, ""] + [f"{n}:{headers[n].strip()}" for n in names] +
                        ["", ";".join(names), hashlib.sha256(body).hexdigest()])
    text = "\n".join([algorithm, headers["x-amz-date"], f"{date}/{region}/{service}/aws4_request",
                      hashlib.sha256(request.encode()).hexdigest()])
    key = ("AWS4" + SIGNED[1]).encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.digest(key, part.encode(), "sha256")
    if key_id != SIGNED[0] or hmac.new(key, text.encode(), "sha256").hexdigest() != parts["Signature"]:
        raise Refused("SignatureDoesNotMatch", "The signature does not match.")


def attribute_bytes(attributes):
    return sum(len((name + a.get("DataType", "") + a.get("StringValue", "")).encode())
               for name, a in attributes.items())


class Queue:
    requests = 0
    taken = 0
    seen = set()

    @classmethod
    def send(cls, name, entries):
        cls.requests += 1
        what, places = PLAN.get(cls.requests, ("", []))
        if what == "throttle":
            raise Refused("ThrottlingException", "Rate exceeded")
        if not entries:
            raise Refused("EmptyBatchRequest", "There should be at least one entry in the request.")
        if len(entries) > 10:
            raise Refused("TooManyEntriesInBatchRequest",
                          f"Maximum number of entries per request are 10. You have sent {len(entries)}.")
        if len({e["Id"] for e in entries}) != len(entries):
            raise Refused("BatchEntryIdsNotDistinct", "An Id is there twice.")
        total = sum(len(e["MessageBody"].encode()) + attribute_bytes(e.get("MessageAttributes", {}))
                    for e in entries)
        if total > LIMIT:
            raise Refused("BatchRequestTooLong",
                          f"Batch requests cannot be longer than {LIMIT} bytes. "
                          f"You have sent {total} bytes.")
        answer = {"Successful": [], "Failed": []}
        for place, e in enumerate(entries):
            if place in places:
                answer["Failed"].append({"Id": e["Id"], "SenderFault": what == "reject",
                                         "Code": "InternalError" if what == "partial" else "InvalidMessageContents",
                                         "Message": "it was planned so"})
                continue
            cls.store(name, e)
            answer["Successful"].append({"Id": e["Id"], "MessageId": f"m-{cls.taken}"})
        return None if what == "lose" else answer

    @classmethod
    def store(cls, name, e):
        if name.endswith(".fifo"):
            if not e.get("MessageGroupId") or not e.get("MessageDeduplicationId"):
                raise Refused("MissingParameter", "A FIFO queue needs a group and a deduplication id.")
            if e["MessageDeduplicationId"] in cls.seen:
                return
            cls.seen.add(e["MessageDeduplicationId"])
        cls.taken += 1
        OUT.write(e["MessageBody"].encode() + b"\n")
        OUT.flush()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # an answer is one write

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        action = self.headers.get("X-Amz-Target", "").removeprefix("AmazonSQS.")
        try:
            if SIGNED:
                check_signature(self.path, self.headers, body)
            if self.headers.get("Content-Type") != "application/x-amz-json-1.0":
                raise Refused("UnsupportedOperation", "another protocol")
            asked = json.loads(body)
            if asked["QueueUrl"].endswith("/nowhere"):
                raise Refused("QueueDoesNotExist", "The specified queue does not exist.")
            if action == "GetQueueAttributes":
                known = {"MaximumMessageSize": LIMIT, "ApproximateNumberOfMessages": Queue.taken,
                         "ApproximateNumberOfMessagesNotVisible": 2}
                answer = {"Attributes": {name: str(known[name]) for name in asked["AttributeNames"]}}
            elif action == "SendMessageBatch":
                answer = Queue.send(asked["QueueUrl"], asked["Entries"])
            else:
                raise Refused("UnsupportedOperation", action)
        except Refused as r:
            return self.reply(400, {"__type": "com.amazonaws.sqs#" + r.code, "message": str(r)},
                              f"AWS.SimpleQueueService.{r.code};Sender")
        if answer is None:
            self.close_connection = True
            return None
        return self.reply(200, answer, None)

    def reply(self, status, answer, query_error):
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(text)))
        self.send_header("x-amzn-RequestId", f"request-{Queue.requests}")
        if query_error:
            self.send_header("x-amzn-query-error", query_error)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
if TLS:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(TLS)
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
