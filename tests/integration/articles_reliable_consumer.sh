#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills the article reliable_consumer with -9 before and after each of its calls of SQLite, while it
# consumes and while it reprocesses dead letters. Afterwards another run continues. Each event is in
# one invoice, or in one dead letter until it is reprocessed.
set -euo pipefail
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=${ARTICLE:-$WAYBILL_SOURCE/examples/articles/reliable_consumer.cpp}
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples/articles" "$source" \
    "$WAYBILL_SOURCE/tests/integration/articles/kill_at.cpp" -o "$work/article" \
    -Wl,--wrap=sqlite3_step,--wrap=sqlite3_exec -lsqlite3
"${CXX:-c++}" -std=c++20 "$WAYBILL_SOURCE/tests/integration/articles/sql.cpp" -o "$work/sql" -lsqlite3
cd "$work"
fail() { echo "articles_reliable_consumer: $*" >&2; exit 1; }

# check WHAT INVOICES LETTERS: the tables.
check()
{
    local invoices letters
    invoices=$(./sql q.sqlite 'SELECT group_concat(total, " ") FROM (SELECT total FROM invoices ORDER BY rowid)')
    letters=$(./sql q.sqlite 'SELECT coalesce(group_concat(sequence, " "), "") FROM dead_letters')
    [ "$invoices" = "$2" ] || fail "$1: invoices: $invoices"
    [ "$letters" = "$3" ] || fail "$1: dead letters: $letters"
}
new()
{
    rm -f q.sqlite*
    cp "$1" q.sqlite
}
saved()
{
    ./sql q.sqlite 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    cp q.sqlite "$1"
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

./sql q.sqlite 'CREATE TABLE log (sequence INTEGER PRIMARY KEY, total TEXT NOT NULL);
    INSERT INTO log VALUES (1, "10"), (2, "-5"), (3, "20"), (4, "30"), (7, "-7"), (8, "40")'
saved start.sqlite
consumed='10 20 30 40'
reprocessed='10 20 30 40 -5 -7'
./article q.sqlite consume
check "an undisturbed run" "$consumed" '2 7'
saved consumed.sqlite
[ "$(./article q.sqlite reprocess)" = 'finished: 2 done, 0 failed' ] || fail "the output of reprocess differs"
check "an undisturbed run" "$reprocessed" ''

for when in KILL_AT KILL_AFTER; do
    for ((n = 1; ; ++n)); do
        new start.sqlite
        killed $when $n consume || break
        timeout 60 ./article q.sqlite consume || fail "$when=$n consume: the next run fails"
        check "$when=$n consume" "$consumed" '2 7'
    done
    for ((n = 1; ; ++n)); do
        new consumed.sqlite
        killed $when $n reprocess || break
        timeout 60 ./article q.sqlite reprocess >out || fail "$when=$n reprocess: $(cat out)"
        check "$when=$n reprocess" "$reprocessed" ''
    done
done
[ $kills -ge 100 ] || fail "only $kills kills"
echo "$kills kills, each event in one invoice"
