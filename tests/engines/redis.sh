#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Redis with appendfsync always. Each line of the output is one fault, with 100,000 events.
#
#     kills      kill -9 and restart of the server
#     cuts       the server closes all connections every 5 to 35 ms
#     memory     maxmemory is reached, then lifted
#     workers    kill -9 and restart of the server while workers have messages
set -euo pipefail
# shellcheck source=common.sh
source "$WAYBILL_SOURCE/tests/engines/common.sh" redis
needs_header hiredis/hiredis.h libhiredis-dev
needs_program redis-server
export VERSION
VERSION=$(redis-server --version | sed 's/.* v=\([^ ]*\).*/\1/')
compiled "$WAYBILL_SOURCE/tests/integration/engines/redis.cpp" -lhiredis
compiled "$WAYBILL_SOURCE/tests/engines/redis_queue.cpp" -lhiredis
code=0
timeout 500 "$bin/redis" "$work/server" '' >"$work/out" 2>&1 || code=$?
sed -n 's/^\(kills\|cuts\|memory\): \([0-9]*\) lines in \([0-9.]*\) s, \(.*\)/\1 \2 \3 \4/p' "$work/out" |
    while read -r fault events seconds words; do
        result=ok
        ! grep -q "^broken: $fault:" "$work/out" || result=FAILED
        printf '%-10s %-8s %-42s %7d %6.1f s  %s: %s batches\n' "$ENGINE" "$VERSION" "$fault" "$events" "$seconds" \
            "$result" "$words"
    done
if [ $code != 0 ]; then
    tail -n 20 "$work/out"
    echo "$ENGINE: redis ends with $code"
    failed=1
fi
lines 1500 "$bin/redis_queue" "$work"
finished
