#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The sizes of wire/mqtt5, wire/amqp091 and wire/pubsub equal those of mqtt-packet, amqplib and
# Google's protobuf. The checked-in vectors are compared with them. If the encoders are available,
# the vectors are also created again.
set -euo pipefail
golden=$WAYBILL_SOURCE/tests/golden
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

check()
{
    "${CXX:-c++}" -std=c++20 -O1 -I"$WAYBILL_SOURCE/include" "$golden/$1/check.cpp" -o "check_$1"
    "./check_$1" "$golden/$1/vectors.json"
}

# again NAME COMMAND...: the output of the command equals the checked-in vectors.
again()
{
    local name=$1
    shift
    "$@" >"$name.json"
    cmp "$name.json" "$golden/$name/vectors.json"
    echo "$name: made again, they are the same"
}

# from_npm NAME PACKAGE
from_npm()
{
    check "$1"
    if { command -v node && command -v npm; } >/dev/null &&
        timeout 180 npm install --no-audit --no-fund --silent --fetch-retries=1 --prefix "$work" "$2" >npm.log 2>&1; then
        again "$1" node "$golden/$1/vectors.js"
    else
        echo "SKIP: the vectors of $1 are not made again, as there is no node, npm or registry"
    fi
}

from_npm mqtt5 mqtt-packet@9.0.2
from_npm amqp091 amqplib@2.3.1

check pubsub
# The packages are those of the distribution's Python, also if another Python comes first in PATH.
for python in /usr/bin/python3 python3; do
    if "$python" -c 'import google.protobuf' 2>/dev/null; then
        again pubsub "$python" "$golden/pubsub/vectors.py"
        exit 0
    fi
done
echo 'SKIP: the vectors of pubsub are not made again, as there is no protobuf for Python'
