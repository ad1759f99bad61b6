#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The publisher for NATS JetStream: an outcome for each message of a batch, for each behaviour of
# the server.
set -euo pipefail
PATH=$PATH:/usr/sbin
# has HEADER
has() { echo "#include <$1>" | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1; }
for header in nats/nats.h nlohmann/json.hpp; do
    if ! has "$header"; then
        echo "SKIP: nats_publisher: there is no $header"
        exit 0
    fi
done
if ! command -v nats-server >/dev/null; then
    echo 'SKIP: nats_publisher: there is no nats-server'
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" \
    "$WAYBILL_SOURCE/tests/integration/engines/nats_publisher.cpp" -o "$work/nats_publisher" -lnats -pthread
timeout 120 "$work/nats_publisher" "$work"
