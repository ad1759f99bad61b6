# SPDX-License-Identifier: MIT
#
# Vectors from uAMQP through Python: python3 uamqp_vectors.py <messages>
# The form of a vector is explained in messages.js.

import random
import sys
import uuid

import uamqp
from uamqp import types

TYPES = {
    "ubyte": (types.AMQPuByte, 0, 2**8 - 1),
    "ushort": (types.AMQPuShort, 0, 2**16 - 1),
    "uint": (types.AMQPuInt, 0, 2**32 - 1),
    "ulong": (types.AMQPuLong, 0, 2**64 - 1),
    "byte": (types.AMQPByte, -(2**7), 2**7 - 1),
    "short": (types.AMQPShort, -(2**15), 2**15 - 1),
    "int": (types.AMQPInt, -(2**31), 2**31 - 1),
    "long": (types.AMQPLong, -(2**63), 2**63 - 1),
}
EDGES = [0, 1, 127, 128, 129, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1]
d = random.Random(1)


def once_in(n):
    return d.randrange(n) == 0


def length():
    kind = d.randrange(12)
    if kind == 0:
        return d.choice([0, 1, 2, 127, 128, 253, 254, 255, 256, 257, 258])
    if kind == 1:
        return 180 + d.randrange(100)
    if kind == 2:
        return d.choice([65534, 65535, 65536]) if once_in(8) else d.randrange(600)
    return d.randrange(40)


def integer(low, high):
    n = d.choice(EDGES) if once_in(2) else d.randrange(70000)
    if once_in(2):
        n = -n
    return max(low, min(high, n if low < 0 else abs(n)))


# The word of a vector, and what it is in Python.
def number(name):
    make, low, high = TYPES[name]
    n = integer(low, high)
    return f"{name}:{n}", make(n)


def value():
    kind = d.randrange(20)
    if kind < 8:
        return number(list(TYPES)[kind])
    if kind == 8:
        return "n", None
    if kind == 9:
        b = once_in(2)
        return ("T" if b else "F"), b
    if kind == 10:
        return "double:1.5", 1.5
    n = length()
    if kind == 11:
        return f"b{n}", bytearray(n)
    if kind == 12:
        return f"y{n}", types.AMQPSymbol("x" * n)
    if kind == 13:
        return "U", uuid.UUID(int=0)
    if kind == 14:
        return "M", uamqp.c_uamqp.timestamp_value(0)
    return f"s{n}", "x" * n


def entries(symbols):
    n = d.randrange(1, 5)
    if once_in(10):
        n = d.choice([15, 28, 29, 60, 126, 127, 128])
    names = []
    while len(names) < n:
        name = length() if n < 10 and once_in(10) else len(names) + 3
        if name not in names:
            names.append(name)
    words, live = "", {}
    for name in names:
        if n < 10:
            word, v = value()
        else:
            word, v = d.choice([("s1", "x"), ("T", True), number("int")])
        words += f"{name}={word},"
        key = "x" * name
        live[types.AMQPSymbol(key) if symbols else key] = v
    return words, live


def text():
    n = length()
    return f"s{n}", "x" * n


def symbol():
    n = length()
    return f"y{n}", "x" * n


def identifier():
    kind = d.randrange(6)
    if kind == 0:
        return "U", uuid.UUID(int=0)
    if kind == 1:
        n = length()
        return f"b{n}", bytearray(n)
    if kind == 2:
        word, v = number("ulong")
        return "#" + word.split(":")[1], v
    return text()


def plain(low, high):
    n = integer(low, high)
    return f"#{n}", n


def boolean():
    b = once_in(2)
    return ("T" if b else "F"), b


FIELDS = [
    ("message_id", 2, identifier),
    ("user_id", 6, lambda: (lambda n: (f"b{n}", b"x" * n))(length())),
    ("to", 4, text),
    ("subject", 4, text),
    ("reply_to", 6, text),
    ("correlation_id", 4, identifier),
    ("content_type", 3, symbol),
    ("content_encoding", 6, symbol),
    ("absolute_expiry_time", 5, lambda: plain(0, 2**50)),
    ("creation_time", 5, lambda: plain(0, 2**50)),
    ("group_id", 3, text),
    ("group_sequence", 6, lambda: plain(0, 2**32 - 1)),
    ("reply_to_group_id", 6, text),
]
HEADER = [
    ("durable", "durable", 3, boolean),
    ("priority", "priority", 3, lambda: plain(0, 9)),
    ("ttl", "time_to_live", 3, lambda: plain(0, 2**32 - 1)),
    ("first_acquirer", "first_acquirer", 5, boolean),
]

for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 500):
    words, parts = [], {}
    body, body_type = b"x" * length(), uamqp.MessageBodyType.Data
    if once_in(8):
        word, body = text()
        body_type = uamqp.MessageBodyType.Value
        words.append(f"body={word}")
    else:
        words.append(f"body={len(body)}")
    if once_in(2):
        header = uamqp.message.MessageHeader()
        for name, attribute, n, make in HEADER:
            if once_in(n):
                word, v = make()
                words.append(f"{name}={word}")
                setattr(header, attribute, v)
        word, header.delivery_count = plain(0, 2**32 - 1)  # Python always writes it
        words.append(f"delivery_count={word}")
        parts["header"] = header
    for name, attribute, n, symbols in [
        ("delivery_annotations", "delivery_annotations", 6, True),
        ("message_annotations", "annotations", 3, True),
    ]:
        if once_in(n):
            word, parts[attribute] = entries(symbols)
            words.append(f"{name}={word}")
    given = {}
    for name, n, make in FIELDS:
        if once_in(n):
            word, given[name] = make()
            words.append(f"{name}={word}")
    if given:
        parts["properties"] = uamqp.message.MessageProperties(**given)
    if once_in(2):
        word, parts["application_properties"] = entries(False)
        words.append(f"properties={word}")
    message = uamqp.Message(body, body_type=body_type, **parts)
    encoded = message.encode_message()
    print(f'"{" ".join([str(len(encoded))] + words)}",')
