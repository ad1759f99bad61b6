#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills the article reliable_consumer with -9 before and after each of its calls of SQLite, while it
# consumes and while it reprocesses dead letters. Afterwards another run continues. Each event is in
# one invoice, or in one dead letter until it is reprocessed.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
program=$programs/reliable_consumer_killed

# check WHAT INVOICES LETTERS: the tables.
check()
{
    local invoices letters
    invoices=$(sql q.sqlite 'SELECT group_concat(total, " ") FROM (SELECT total FROM invoices ORDER BY rowid)')
    letters=$(sql q.sqlite 'SELECT coalesce(group_concat(sequence, " "), "") FROM dead_letters')
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
    sql q.sqlite 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
    cp q.sqlite "$1"
}

sql q.sqlite 'CREATE TABLE log (sequence INTEGER PRIMARY KEY, total TEXT NOT NULL);
    INSERT INTO log VALUES (1, "10"), (2, "-5"), (3, "20"), (4, "30"), (7, "-7"), (8, "40")'
saved start.sqlite
consumed='10 20 30 40'
reprocessed='10 20 30 40 -5 -7'
expect_exit 0 q.sqlite consume
check 'an undisturbed run' "$consumed" '2 7'
saved consumed.sqlite
expect_exit 0 q.sqlite reprocess
expect_output 'finished: 2 done, 0 failed'
check 'an undisturbed run' "$reprocessed" ''

for when in KILL_AT KILL_AFTER; do
    for ((n = 1; ; ++n)); do
        new start.sqlite
        dies $when=$n "$program" q.sqlite consume || break
        expect_exit 0 q.sqlite consume
        check "$when=$n consume" "$consumed" '2 7'
    done
    for ((n = 1; ; ++n)); do
        new consumed.sqlite
        dies $when=$n "$program" q.sqlite reprocess || break
        expect_exit 0 q.sqlite reprocess
        check "$when=$n reprocess" "$reprocessed" ''
    done
done
[ $kills -ge 100 ] || fail "only $kills kills"
echo "$kills kills, each event in one invoice"
