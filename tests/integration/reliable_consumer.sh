#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# reliable_consumer with real processes that are killed at least 200 times, mostly during a batch.
# The program checks its tables.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs reliable_consumer
program=$examples/reliable_consumer

# expect_checked ARGS...: a run that must succeed.
expect_checked()
{
    expect_exit 0 "$@"
    expect_output 'checked: each event took effect exactly once'
}

# refuses WORDS ARGS...: it ends with 2 and this text.
refuses()
{
    expect_exit 2 "${@:2}"
    expect_output "$1"
}

# expect_figures WORDS: the first columns of the last row of the table.
expect_figures() { grep -Eq "^ *all +${1// / +} " out || fail "other figures than $1"; }

# Without faults: alone, and with more workers than partitions; events one by one, and all at once.
expect_checked
expect_figures '8,812 8,800'
expect_checked --workers 1 --partitions 1 --batch 10000
expect_checked --workers 5 --partitions 2 --batch 7
head -n 40 "$WAYBILL_SOURCE/examples/mailroom/recording.ndjson" >few
printf '{"torn\n[1]\n{"package":""}\n\n{"package":"a","event":"installed"}\n' >>few
expect_checked --input few --batch 1 --partitions 3
awk '$1 == "all"{exit !($2 == 44 && $4 >= 4)}' out || fail 'not 44 events, 4 of them dead'

# An event that ends each process that handles it is found and dead-lettered. With one partition and
# one worker at a time, that takes at most 2 * 3 + log2(64) - 1 deaths. With several partitions it
# may take some more. If a partition is taken for balance before the lease of its dead owner has
# expired, the new owner does not learn of that death. A killed owner is still counted in the
# balance.
poisoned()
{
    expect_checked --poison --batch 64 "$@"
    deaths=$(sed -n 's/.*; \([0-9]*\) deaths\{0,1\} by an event.*/\1/p' out)
    [ "${deaths:-0}" -ge 3 ] || fail "$* found the event after ${deaths:-0} deaths, before 3"
}
poisoned --workers 1 --partitions 1
[ "$deaths" -le 11 ] || fail "$deaths deaths until the event was found, where 11 are the most"
poisoned --workers 1
poisoned

# Killed with -9 at least 200 times, at least 100 of them during a batch. The number of runs depends
# on the load of the machine.
inside=0
for ((seed = 1; kills < 200 || inside < 100; ++seed)); do
    [ $seed -le 100 ] || fail "only $kills kills in 100 runs, $inside in the middle of a batch"
    expect_checked --kill 9 --seed $seed --poison
    read -r k b < <(sed -n 's/.*; \([0-9,]*\) kills\{0,1\} with -9, \([0-9]*\) of them.*/\1 \2/p' out)
    kills=$((kills + k)) inside=$((inside + b))
done
cat out

# All processes are killed: at the start, with tables, with effects. The next run continues.
has_effects() { [ -n "$(sql db/sink.sqlite 'SELECT 1 FROM effects LIMIT 1' 2>/dev/null)" ]; }
for moment in 'test -e db/lock' 'test -s db/sink.sqlite' has_effects; do
    start family "$program" --db db --kill 3600
    await "it is not reached: $moment" eval "$moment"
    killed family
    [ $code -eq 137 ] || fail "exit $code before the kill"
done
expect_checked --db db
expect_private db

# After the rule is repaired, the dead letters take effect.
expect_checked --db repaired
expect_checked reprocess --db repaired
expect_checked reprocess --db repaired
expect_output 'dead letters: finished: 0 done, 0 failed'
expect_checked --db repaired
expect_figures '17,624 17,624 0'
expect_checked --input few --db repaired_few --partitions 3
expect_checked reprocess --db repaired_few --partitions 3
grep -q ': permanent: not a JSON object$' out || fail 'no reason'

# If a run is killed that has reprocessed a part of the dead letters, the next one continues.
sql db/sink.sqlite 'SELECT body FROM dead_letters' >dead
for _ in $(seq 200); do cat dead; done >many
expect_checked --input many --db many.db
cp -r many.db again
letters() { sql again/sink.sqlite 'SELECT count(*) FROM dead_letters'; }
all=$(letters)
a_part_is_done() { has_ended family || [ "$(letters)" -lt "$all" ]; }
for ((hits = 0; hits < 3; )); do
    rm -rf again
    cp -r many.db again
    start family "$program" reprocess --db again
    await 'no dead letter is reprocessed' a_part_is_done
    killed family
    [ "$(letters)" -gt 0 ] || continue
    hits=$((hits + 1))
    expect_checked reprocess --db again
    [ "$(letters)" = 0 ] || fail 'dead letters are left after a kill'
done

refuses 'reprocess needs --db DIR, the folder with the dead letters' reprocess
refuses 'reprocess has no --kill, --poison and --from: omit them' reprocess --db repaired --poison

refuses '--workers 0: a number from 1 to 32' --workers 0
refuses '--workers 33: a number from 1 to 32' --workers 33
refuses '--batch -1: a number from 1' --batch -1
refuses 'there is no option --batches' --batches 3
refuses '--kill 0: 1 to 3600 seconds' --kill 0
refuses '--kill is not for --from kafka: omit it' --from kafka --kill 3
refuses '--log needs --store postgres:' --log nats:
refuses '--store postgres: needs --log nats: or kafka:' --store postgres:
refuses '--cluster needs --log nats: --store postgres:' --cluster
refuses '--log nuts:: nats:, kafka:, nats://HOST:PORT or kafka://HOST:PORT is expected' --log nuts:
refuses '--log nats://: nats:, kafka:, nats://HOST:PORT' --log nats:// --store postgres:
refuses '--log kafka: because the mock cluster keeps no events; omit --db' --log kafka: --store postgres: --db db
refuses '--store mysql:: postgres: or postgres://... is expected' --log nats: --store mysql:
refuses 'reprocess is for the tables in SQLite: omit --log and --store' reprocess --db db --log nats: --store postgres:
refuses '--from redis: kafka or kafka://HOST:PORT' --from redis
expect_exit 1 --input /nowhere
expect_output 'there is no file /nowhere'

echo "reliable_consumer: $kills kills, $inside of them in the middle of a batch; nothing lost, nothing doubled"
