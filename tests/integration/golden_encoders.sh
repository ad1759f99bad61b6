#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The sizes of wire/mqtt5, wire/amqp091, wire/kafka and wire/pubsub equal those of mqtt-packet,
# amqplib, kafkajs and Google's protobuf. The checked-in vectors are compared with them. If the
# encoders are available, the vectors are also created again.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit

golden=$WAYBILL_SOURCE/tests/golden
for name in amqp091 kafka mqtt5 pubsub; do
    "$programs/${name}_sizes" "$golden/$name/vectors.json"
done

# again NAME COMMAND...: the output of the command equals the checked-in vectors.
again()
{
    local name=$1
    shift
    "$@" >"$name.json"
    cmp "$name.json" "$golden/$name/vectors.json"
    echo "$name: made again, they are the same"
}

# The packages are those of the distribution's Python, also if another Python comes first in PATH.
for python in /usr/bin/python3 python3; do
    if "$python" -c 'import google.protobuf' 2>/dev/null; then
        again pubsub "$python" "$golden/pubsub/vectors.py"
        break
    fi
done
[ -e pubsub.json ] || echo 'SKIP: the vectors of pubsub are not made again, as there is no protobuf for Python'

needs node npm
timeout "$patience" npm install --no-audit --no-fund --silent --fetch-retries=1 --prefix "$work" \
    mqtt-packet@9.0.2 amqplib@2.3.1 kafkajs@2.2.4 >npm.out 2>&1 ||
    skip 'the vectors of mqtt5, amqp091 and kafka are not made again, as npm reaches no registry'
for name in amqp091 kafka mqtt5; do
    again "$name" node "$golden/$name/vectors.js"
done
