#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# NATS JetStream with 100,000 events. Each line of the output is one fault.
#
#     a cluster of three       kill -9 of a node and of the leader of the stream in turn, restart;
#                              the log is read by two readers meanwhile
#     full stream              max_bytes with discard=new refuses messages until a consumer has
#                              removed others
#     cut connections          a proxy closes connections of the log, and of a relay, at random
#     slow consumer            the ack wait is shorter than the handler
set -euo pipefail
# shellcheck source=common.sh
source "$WAYBILL_SOURCE/tests/engines/common.sh" nats
needs_header nats/nats.h libnats-dev
needs_header nlohmann/json.hpp nlohmann-json3-dev
needs_program nats-server
export VERSION
VERSION=$(nats-server --version | sed 's/[^0-9.]//g')
compiled "$WAYBILL_SOURCE/tests/engines/nats.cpp" -lnats
compiled "$WAYBILL_SOURCE/tests/integration/engines/nats_log.cpp" -lnats
measured 'kill -9 of cluster nodes and leader' 300 '[0-9] kills, [1-9][0-9]* of them of the leader' "$bin/nats_log" "$work" cluster 30 "$WAYBILL_EVENTS"
lines 500 "$bin/nats" "$work"
finished
