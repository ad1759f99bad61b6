#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# reliable_consumer with a log in NATS JetStream and its tables in PostgreSQL: on single servers, on
# a cluster whose servers and workers are killed in turn, and killed from outside at any moment. The
# program counts the rows of its tables. This script checks that the faults have happened.
set -euo pipefail
export LC_ALL=C
program=$WAYBILL_BIN/examples/reliable_consumer
work=$(mktemp -d /tmp/waybill-servers.XXXXXX)
chmod 711 "$work"  # PostgreSQL may run as another user
trap 'rm -rf "$work"' EXIT

fail()
{
    echo "reliable_consumer_servers: $*" >&2
    exit 1
}

# runs SECONDS ARGS...: a run that must be right.
runs()
{
    local code=0 limit=$1
    shift
    timeout "$limit" "$program" --log nats: --store postgres: "$@" >"$work/out" 2>"$work/err" || code=$?
    if grep -q 'built without libnats-dev' "$work/err"; then
        echo "SKIP: reliable_consumer_servers: $(cat "$work/err")"
        exit 0
    fi
    [ $code = 0 ] || fail "exit $code of $*: $(cat "$work/out" "$work/err")"
    grep -q '^checked: each event took effect exactly once' "$work/out" || fail "$*: not checked"
}

head -n 3000 "$WAYBILL_SOURCE/examples/mailroom/recording.ndjson" >"$work/input"

# One server each, workers killed, an event that ends each process that handles it.
runs 150 --input "$work/input" --kill 5 --poison
grep -q ' deaths by an event that ends its process' "$work/out" || fail "no death by the event: $(cat "$work/out")"

# The cluster, for 30 seconds.
runs 240 --input "$work/input" --cluster --kill 30
cat "$work/out"
sed -n 's/^servers killed with -9: \([0-9]*\) of NATS, \([0-9]*\) of them the leader of the stream; \([0-9]*\) of PostgreSQL.*/\1 \2 \3/p' \
    "$work/out" >"$work/kills"
read -r nodes leaders primaries <"$work/kills" || fail 'no server was killed'
[ "$nodes" -ge 2 ] && [ "$leaders" -ge 1 ] && [ "$primaries" -ge 1 ] ||
    fail "too few kills: $nodes nodes, $leaders leaders, $primaries primaries"
workers=$(sed -n 's/.*; \([0-9]*\) kills with -9.*/\1/p' "$work/out")
[ "${workers:-0}" -ge 10 ] || fail "only ${workers:-0} workers were killed"

# The whole program is killed at any moment. With the same folder it continues.
for pause in 0.7 4 9; do
    "$program" --log nats: --store postgres: --input "$work/input" --cluster --kill 60 --db "$work/db" \
        >"$work/out" 2>&1 &
    main=$!
    sleep $pause
    kill -9 $main 2>/dev/null || fail "it ended before it was killed: $(cat "$work/out")"
    wait $main 2>/dev/null || true
done
runs 200 --input "$work/input" --cluster --db "$work/db"

echo "reliable_consumer_servers: $nodes nodes of NATS, $primaries primaries, $workers workers killed"
