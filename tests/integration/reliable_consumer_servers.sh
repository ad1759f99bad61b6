#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# reliable_consumer with a log in NATS JetStream or Kafka and its tables in PostgreSQL: on single
# servers, on a cluster whose servers and workers are killed in turn, on running servers, and killed
# from outside at any moment. The program counts the rows of its tables. This script checks that the
# faults have happened.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs reliable_consumer nats_publisher postgres_store nats-server psql
# shellcheck source=engines/own_postgres.sh
source "$here/engines/own_postgres.sh"
program=$examples/reliable_consumer
chmod 711 "$work"  # PostgreSQL may run as another user

# expect_success ARGS...: a run that must succeed.
expect_success()
{
    expect_exit 0 "$@"
    expect_output 'checked: each event took effect exactly once'
}

head -n 3000 "$WAYBILL_SOURCE/examples/mailroom/recording.ndjson" >input

own=(--log nats: --store postgres: --input input)

# One server each, workers killed, an event that ends each process that handles it.
expect_success "${own[@]}" --kill 5 --poison
expect_output ' by an event that ends its process'

# The cluster, for 30 seconds, until each kind of process was killed.
nodes=0 leaders=0 primaries=0 workers=0
for ((seed = 1; nodes < 2 || leaders < 1 || primaries < 1 || workers < 5; ++seed)); do
    [ $seed -le 10 ] || fail "too few kills: $nodes nodes, $leaders leaders, $primaries primaries, $workers workers"
    expect_success --log nats: --store postgres: --cluster --kill 30 --seed $seed
    cat out
    read -r n l p < <(sed -n 's/^killed with -9: \([0-9]*\) nodes* of NATS, \([0-9]*\) of them the leader of the stream; the primary of PostgreSQL \([^ ]*\).*/\1 \2 \3/p' out) ||
        fail 'no server was killed'
    w=$(sed -n 's/.*; \([0-9]*\) kills\{0,1\} with -9.*/\1/p' out)
    nodes=$((nodes + n)) leaders=$((leaders + l)) primaries=$((primaries + ${p/once/1})) workers=$((workers + ${w:-0}))
done

# The whole program is killed: while its servers start, when they run, when there are effects. With
# the same folder it continues.
has_effects() { [ "$(psql -qtA "$(tail -n 1 db/servers)" -c 'SELECT count(*) > 0 FROM effects' 2>/dev/null)" = t ]; }
for moment in 'test -e db/postgres' 'test -s db/servers' has_effects; do
    rm -f db/servers
    start family "$program" "${own[@]}" --cluster --kill 3600 --db db
    await "it is not reached: $moment" eval "$moment"
    killed family
    [ $code -eq 137 ] || fail "exit $code before the kill"
done
expect_success "${own[@]}" --cluster --db db

# A signal ends the servers, too, and leaves no folder.
children() { cat "/proc/${pid[family]}/task/${pid[family]}/children"; }
has_children() { [ "$(children | wc -w)" -ge 7 ]; }
start family "$program" "${own[@]}" --cluster --kill 3600
await 'no servers' has_children
mapfile -t servers < <(children | tr ' ' '\n' | grep .)
killed family TERM
[ $code = 143 ] || fail "exit $code after SIGTERM"
expect_no_folder
for each in "${servers[@]}"; do
    ! kill -0 "$each" 2>/dev/null || fail "process $each outlives SIGTERM"
done

# Kafka, whose brokers fail while the primary of PostgreSQL is killed.
if [ -x "$programs/kafka_log" ]; then
    expect_success --log kafka: --store postgres: --input input --cluster --kill 15
    cat out
    grep -q '^Kafka: [1-9][0-9]* outages\{0,1\} of a broker' out || fail 'no broker has failed'
else
    echo "SKIP: $script: Kafka: its package is not installed"
fi

# Running servers. A further run continues with their content, and finds a missing row.
start nats nats-server -a 127.0.0.1 -p -1 -js -sd "$work/nats" --ports_file_dir "$work"
await 'nats-server does not start' test -s "nats-server_${pid[nats]}.ports"
log=$(grep -o 'nats://[^"]*' "nats-server_${pid[nats]}.ports")
# shellcheck disable=SC2001
read -r host port user name password < <(sed 's/[a-z]*=//g' <<<"$where")
running=(--log "$log" --store "postgres://$user:$password@$host:$port/$name" --input input)
expect_success "${running[@]}"
expect_success "${running[@]}"
events=$(awk '$1 == "all"{print $2}' out)
[ "$events" = 6,000 ] || fail "$events events of two runs with 3,000"
psql -q "$where" -c 'DELETE FROM effects WHERE n = (SELECT max(n) FROM effects)'
expect_exit 1 "${running[@]}"
expect_output 'WRONG: 1 event lost'

echo "reliable_consumer_servers: $nodes nodes of NATS, $primaries primaries, $workers workers killed"
