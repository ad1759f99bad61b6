#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# reliable_consumer with a log in NATS JetStream or Kafka and its tables in PostgreSQL: on single
# servers, on a cluster whose servers and workers are killed in turn, on running servers, and killed
# from outside at any moment. The program counts the rows of its tables. This script checks that the
# faults have happened.
set -euo pipefail
export LC_ALL=C
program=$WAYBILL_BIN/examples/reliable_consumer
# shellcheck source=engines/postgres_for_tests.sh
source "$WAYBILL_SOURCE/tests/integration/engines/postgres_for_tests.sh" reliable_consumer_servers
command -v nats-server >/dev/null || { echo 'SKIP: reliable_consumer_servers: there is no nats-server'; exit 0; }
chmod 711 "$work"  # PostgreSQL may run as another user
nats=
trap '[ -z "$nats" ] || kill "$nats" 2>/dev/null; stop' EXIT

fail()
{
    echo "reliable_consumer_servers: $*" >&2
    exit 1
}

# expect_success SECONDS ARGS...: a run that must succeed.
expect_success()
{
    local code=0 limit=$1
    shift
    timeout "$limit" "$program" "$@" >"$work/out" 2>"$work/err" || code=$?
    if grep -q 'built without libnats-dev' "$work/err"; then
        echo "SKIP: reliable_consumer_servers: $(cat "$work/err")"
        exit 0
    fi
    [ $code = 0 ] || fail "exit $code of $*: $(cat "$work/out" "$work/err")"
    grep -q '^checked: each event took effect exactly once' "$work/out" || fail "$*: not checked"
}

head -n 3000 "$WAYBILL_SOURCE/examples/mailroom/recording.ndjson" >"$work/input"

own=(--log nats: --store postgres: --input "$work/input")

# One server each, workers killed, an event that ends each process that handles it.
expect_success 150 "${own[@]}" --kill 5 --poison
grep -q ' deaths by an event that ends its process' "$work/out" || fail "no death by the event: $(cat "$work/out")"

# The cluster, for 30 seconds.
expect_success 300 --log nats: --store postgres: --cluster --kill 30
cat "$work/out"
sed -n 's/^killed with -9: \([0-9]*\) nodes* of NATS, \([0-9]*\) of them the leader of the stream; the primary of PostgreSQL \([^ ]*\).*/\1 \2 \3/p' \
    "$work/out" >"$work/kills"
read -r nodes leaders primaries <"$work/kills" || fail 'no server was killed'
primaries=${primaries/once/1}
[ "$nodes" -ge 2 ] && [ "$leaders" -ge 1 ] && [ "$primaries" -ge 1 ] ||
    fail "too few kills: $nodes nodes, $leaders leaders, $primaries primaries"
workers=$(sed -n 's/.*; \([0-9]*\) kills with -9.*/\1/p' "$work/out")
[ "${workers:-0}" -ge 5 ] || fail "only ${workers:-0} workers were killed"

# The whole program is killed at any moment. With the same folder it continues.
for pause in 0.7 4 9; do
    "$program" "${own[@]}" --cluster --kill 60 --db "$work/db" >"$work/out" 2>&1 &
    main=$!
    sleep $pause
    kill -9 $main 2>/dev/null || fail "it ended before it was killed: $(cat "$work/out")"
    wait $main 2>/dev/null || true
done
expect_success 200 "${own[@]}" --cluster --db "$work/db"

# A signal ends the servers, too, and leaves no folder.
mkdir -m 711 "$work/tmp"
TMPDIR=$work/tmp "$program" "${own[@]}" --cluster --kill 60 >"$work/out" 2>&1 &
main=$!
for _ in $(seq 200); do
    [ "$(wc -w <"/proc/$main/task/$main/children")" -lt 7 ] || break
    sleep 0.1
done
children=$(cat "/proc/$main/task/$main/children")
[ "$(wc -w <<<"$children")" -ge 5 ] || fail "no servers: $(cat "$work/out")"
kill -TERM $main
code=0
wait $main || code=$?
[ $code = 143 ] || fail "exit $code after SIGTERM"
[ -z "$(ls "$work/tmp")" ] || fail "SIGTERM leaves $(ls "$work/tmp")"
for each in $children; do
    ! kill -0 "$each" 2>/dev/null || fail "process $each outlives SIGTERM"
done

# Kafka, whose brokers fail while the primary of PostgreSQL is killed.
if grep -q '^WAYBILL_KAFKA_LIBRARY:.*NOTFOUND' "$WAYBILL_BIN/CMakeCache.txt"; then
    echo 'reliable_consumer_servers: built without librdkafka'
else
    expect_success 240 --log kafka: --store postgres: --input "$work/input" --cluster --kill 15
    cat "$work/out"
    grep -q '^Kafka: [1-9][0-9]* outages\{0,1\} of a broker' "$work/out" || fail 'no broker has failed'
fi

# Running servers. A further run continues with their content, and finds a missing row.
nats-server -a 127.0.0.1 -p -1 -js -sd "$work/nats" --ports_file_dir "$work" -l "$work/nats.log" &
nats=$!
for _ in $(seq 100); do
    [ -s "$work/nats-server_$nats.ports" ] && break
    sleep 0.1
done
log=$(grep -o 'nats://[^"]*' "$work/nats-server_$nats.ports")
read -r host port user name password < <(sed 's/[a-z]*=//g' "$folder/where")
running=(--log "$log" --store "postgres://$user:$password@$host:$port/$name" --input "$work/input")
expect_success 60 "${running[@]}"
expect_success 60 "${running[@]}"
events=$(awk '$1 == "all"{print $2}' "$work/out")
[ "$events" = 6,000 ] || fail "$events events of two runs with 3,000"
psql -q "$(cat "$folder/where")" -c 'DELETE FROM effects WHERE n = (SELECT max(n) FROM effects)'
code=0
timeout 60 "$program" "${running[@]}" >"$work/out" 2>&1 || code=$?
[ $code = 1 ] && grep -q '^WRONG: 1 event lost' "$work/out" || fail "a missing row is not found: $(cat "$work/out")"

echo "reliable_consumer_servers: $nodes nodes of NATS, $primaries primaries, $workers workers killed"
