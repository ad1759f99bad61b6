#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The management API of Azure Service Bus, as far as a queue's numbers need it.

    service_bus_stand_in.py KEY_NAME KEY

It prints the port that it listens on. The queue a/orders has 7 active messages; the topic `topic` has
none. A request without a valid shared access signature of its resource is refused.
"""
import base64
import hashlib
import hmac
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import unquote, urlsplit

NAME, KEY = sys.argv[1], sys.argv[2]
ENTRY = """<entry xmlns="http://www.w3.org/2005/Atom"><title type="text">{title}</title>
<content type="application/xml"><{kind} xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">
{counts}</{kind}></content></entry>"""
COUNTS = """<MessageCount>9</MessageCount>
<CountDetails xmlns:d2p1="http://schemas.microsoft.com/netservices/2011/06/servicebus">
<d2p1:ActiveMessageCount>7</d2p1:ActiveMessageCount><d2p1:DeadLetterMessageCount>2</d2p1:DeadLetterMessageCount>
</CountDetails>"""


def is_signed(header, path):
    scheme, _, rest = header.partition(" ")
    if scheme != "SharedAccessSignature":
        return False
    parts = dict(part.split("=", 1) for part in rest.split("&"))
    expected = hmac.digest(KEY.encode(), (parts["sr"] + "\n" + parts["se"]).encode(), hashlib.sha256)
    resource = urlsplit(unquote(parts["sr"]))
    return (base64.b64encode(expected).decode() == unquote(parts["sig"]) and unquote(parts["skn"]) == NAME
            and resource.path == path and resource.hostname == "127.0.0.1" and 0 < int(parts["se"]) - time.time() < 3600)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urlsplit(self.path)
        status, text = 200, ""
        if not is_signed(self.headers.get("Authorization", ""), url.path):
            status, text = 401, "<Error><Code>401</Code></Error>"
        elif "api-version=" not in url.query:
            status = 400
        elif url.path == "/a/orders":
            text = ENTRY.format(title="a/orders", kind="QueueDescription", counts=COUNTS)
        elif url.path == "/topic":
            text = ENTRY.format(title="topic", kind="TopicDescription", counts="")
        else:
            # The service answers a list without entries.
            text = '<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Publicly Listed Services</title></feed>'
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
