#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills the article dead_letter_table with -9 before and after each of its calls of SQLite, while it
# writes dead letters and while it redrives them. Afterwards another run continues. Each step of the
# orders that stopped at the receipt is in the queue once and in order. The other order is
# unchanged. Without the broker's duplicate detection, at most the message in flight arrives twice.
set -euo pipefail
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=${ARTICLE:-$WAYBILL_SOURCE/examples/articles/dead_letter_table.cpp}
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples/articles" "$source" \
    "$WAYBILL_SOURCE/tests/integration/articles/kill_at.cpp" -o "$work/article" \
    -Wl,--wrap=sqlite3_step,--wrap=sqlite3_exec -lsqlite3
"${CXX:-c++}" -std=c++20 "$WAYBILL_SOURCE/tests/integration/articles/sql.cpp" -o "$work/sql" -lsqlite3
cd "$work"
fail() { echo "articles_dead_letter_table: $*" >&2; exit 1; }

# check WHAT: the queue and the table after a redrive.
check()
{
    local queue left
    queue=$(./sql q.sqlite 'SELECT session || " " || body FROM messages ORDER BY place')
    [ "$queue" = "$(printf '%s\n' 'order-17~1 order-17/4' 'order-17~1 order-17/5' \
        'order-19~1 order-19/4' 'order-19~1 order-19/5')" ] || fail "$1: in the queue: $queue"
    left=$(./sql q.sqlite 'SELECT group_concat(session || "/" || step, " ") FROM step_letters')
    [ "$left" = 'order-18/3 order-18/4 order-18/5' ] || fail "$1: in the table: $left"
}
# new FILE: an empty database, or a copy.
new()
{
    rm -f q.sqlite*
    [ -z "${1-}" ] || cp "$1" q.sqlite
}
kills=0
# killed WHEN N COMMAND: true if the command was killed.
killed()
{
    local code=0
    { env "$1=$2" ./article q.sqlite "$3" >out; } 2>/dev/null || code=$?
    [ $code = 0 ] || [ $code = 137 ] || fail "$1=$2 $3: ended with $code: $(cat out)"
    [ $code = 0 ] && return 1
    kills=$((kills + 1))
}

new
./article q.sqlite stop
./sql q.sqlite 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
cp q.sqlite stopped.sqlite
[ "$(./article q.sqlite redrive)" = 'finished: 4 sent, 4 removed, 0 held back' ] ||
    fail "the output of an undisturbed run differs"
check "an undisturbed run"

# A queue without duplicate detection: it counts the messages that come twice.
./sql stopped.sqlite 'CREATE TABLE twice (id TEXT);
    CREATE TRIGGER seen BEFORE INSERT ON used_ids WHEN EXISTS (SELECT 1 FROM used_ids WHERE id = NEW.id)
    BEGIN INSERT INTO twice VALUES (NEW.id); END'
twice=0
for when in KILL_AT KILL_AFTER; do
    for ((n = 1; ; ++n)); do
        new
        killed $when $n stop || break
        ./article q.sqlite stop || fail "$when=$n stop: the next run fails"
        ./article q.sqlite redrive >out || fail "$when=$n stop: $(cat out)"
        check "$when=$n stop"
    done
    for ((n = 1; ; ++n)); do
        new stopped.sqlite
        killed $when $n redrive || break
        timeout 60 ./article q.sqlite redrive >out || fail "$when=$n redrive: $(cat out)"
        check "$when=$n redrive"
        again=$(./sql q.sqlite 'SELECT count(*) FROM twice')
        [ "$again" -le 1 ] || fail "$when=$n redrive: $again messages were sent twice"
        twice=$((twice + again))
    done
done
[ $kills -ge 100 ] || fail "only $kills kills"
[ $twice -ge 1 ] || fail "no kill hit between the queue and the mark"
echo "$kills kills, no step lost; $twice messages came twice, one at most in each run"
