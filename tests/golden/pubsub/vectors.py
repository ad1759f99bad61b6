# SPDX-License-Identifier: MIT
"""Sizes of Pub/Sub messages and requests as Google's protobuf for Python encodes them.

    python3 vectors.py > vectors.json

The two messages are described here, as in google/pubsub/v1/pubsub.proto. Texts are given by their
lengths. Run again, it prints the same.
"""

import json

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

kind = descriptor_pb2.FieldDescriptorProto
file = descriptor_pb2.FileDescriptorProto(name="pubsub.proto", package="p", syntax="proto3")


def field(message, number, name, type, label=kind.LABEL_OPTIONAL, of=None):
    message.field.add(number=number, name=name, type=type, label=label, type_name=of)


message = file.message_type.add(name="PubsubMessage")
entry = message.nested_type.add(name="AttributesEntry")
entry.options.map_entry = True
field(entry, 1, "key", kind.TYPE_STRING)
field(entry, 2, "value", kind.TYPE_STRING)
field(message, 1, "data", kind.TYPE_BYTES)
field(message, 2, "attributes", kind.TYPE_MESSAGE, kind.LABEL_REPEATED, ".p.PubsubMessage.AttributesEntry")
field(message, 3, "message_id", kind.TYPE_STRING)
field(message, 5, "ordering_key", kind.TYPE_STRING)
request = file.message_type.add(name="PublishRequest")
field(request, 1, "topic", kind.TYPE_STRING)
field(request, 2, "messages", kind.TYPE_MESSAGE, kind.LABEL_REPEATED, ".p.PubsubMessage")

pool = descriptor_pool.DescriptorPool()
pool.Add(file)
make = message_factory.MessageFactory(pool).GetPrototype
Message = make(pool.FindMessageTypeByName("p.PubsubMessage"))
Request = make(pool.FindMessageTypeByName("p.PublishRequest"))

seed = 7


def below(n):
    global seed
    seed = (seed * 1664525 + 1013904223) % 2**32
    return seed * n // 2**32


def length():
    edges = [0, 1, 118, 121, 123, 125, 126, 127, 128, 129, 16377, 16380, 16383, 16384, 2097151, 2097152]
    return edges[below(len(edges))] if below(3) == 0 else below(300)


def any_message():
    attributes = {}
    for _ in range(below(3)):
        attributes[below(140)] = below(140)
    return [length(), sorted(attributes.items()), length() % 1024 if below(2) else 0]


def encoded(row):
    data, attributes, ordering_key = row
    return Message(data=b"x" * data, attributes={"k" * k: "v" * v for k, v in attributes},
                   ordering_key="o" * ordering_key)


rows = []
for _ in range(300):
    topic = below(200)
    messages = [any_message() for _ in range(below(5))]
    all_of_it = Request(topic="t" * topic, messages=[encoded(m) for m in messages])
    sizes = [len(encoded(m).SerializeToString()) for m in messages]
    rows.append([topic, messages, sizes, len(all_of_it.SerializeToString())])

print('{"encoder": "protobuf for Python",')
print('"row": "topic, messages as [data, attributes, ordering key], bytes of each, bytes of the request",')
print('"rows": [\n' + ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows) + "\n]}")
