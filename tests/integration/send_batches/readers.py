#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What got through, read by somebody else than the one who sent it.

    readers.py nats PORT SUBJECT OUT        prints "ready", and writes each payload to OUT until it ends
    readers.py port                         prints a port that is free at the moment
"""
import random
import socket
import sys


def nats(port, subject, out):
    s = socket.create_connection(("127.0.0.1", port))
    f = s.makefile("rwb")
    f.readline()  # INFO
    f.write(b'CONNECT {"verbose":false}\r\nSUB %s 1\r\nPING\r\n' % subject.encode())
    f.flush()
    while line := f.readline():
        if line.startswith(b"PONG"):
            print("ready", flush=True)
        elif line.startswith(b"PING"):
            f.write(b"PONG\r\n")
            f.flush()
        elif line.startswith(b"MSG"):
            out.write(f.read(int(line.split()[-1])))
            out.flush()
            f.readline()


def free_port():
    """Below those that the system deals out by itself, so that nobody else is given it meanwhile."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


if sys.argv[1] == "port":
    print(free_port())
else:
    with open(sys.argv[4], "wb") as file:
        nats(int(sys.argv[2]), sys.argv[3], file)
