#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server with TLS: server.py CERTIFICATE_AND_KEY

It prints its port. A response is JSON that is an empty table of Azure and a depth of RabbitMQ, with
the number of connections so far.
"""
import json
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    connections = 0

    def setup(self):
        super().setup()
        Handler.connections += 1

    def do_GET(self):
        text = json.dumps({"connections": Handler.connections, "value": [],
                           "messages_ready": 3, "messages_unacknowledged": 1}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1])
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(server.server_address[1], flush=True)
server.serve_forever()
