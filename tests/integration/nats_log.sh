#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The log on NATS JetStream: it conforms, it repairs lost messages and consumers, and on a cluster no
# event is lost, repeated or skipped while the nodes are killed with -9 and started again.
#
#     nats_log.sh [SECONDS]         the time of the kills, 20 s without an argument
set -euo pipefail
PATH=$PATH:/usr/sbin
# has HEADER
has() { echo "#include <$1>" | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1; }
for header in nats/nats.h nlohmann/json.hpp; do
    if ! has "$header"; then
        echo "SKIP: nats_log: there is no $header"
        exit 0
    fi
done
if ! command -v nats-server >/dev/null; then
    echo 'SKIP: nats_log: there is no nats-server'
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" \
    "$WAYBILL_SOURCE/tests/integration/engines/nats_log.cpp" -o "$work/nats_log" -lnats -pthread

# The nodes of a cluster end with the program that started them, and their folder is free again.
"$work/nats_log" "$work" hold >"$work/held" &
held=$!
for _ in $(seq 600); do
    ! grep -q started "$work/held" || break
    sleep 0.05
done
kill -9 "$held"
wait "$held" 2>/dev/null || true
mapfile -t nodes < <(grep -v started "$work/held")
for _ in $(seq 100); do
    running=0
    for pid in "${nodes[@]}"; do
        ! grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$pid/status" || running=$((running + 1))
    done
    [ "$running" -ne 0 ] || break
    sleep 0.02
done
if [ "${#nodes[@]}" -ne 3 ] || [ "$running" -ne 0 ]; then
    echo "$running of ${#nodes[@]} nodes run after kill -9 of the program that started them"
    exit 1
fi
flock -n "$work/held_cluster/lock" true || { echo 'the folder is still locked'; exit 1; }
timeout 300 "$work/nats_log" "$work" "${1:-20}"
