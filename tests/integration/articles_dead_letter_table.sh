#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills the article dead_letter_table with -9 before and after each of its calls of SQLite, while it
# writes dead letters and while it redrives them. Afterwards another run continues. Each step of the
# orders that stopped at the receipt is in the queue once and in order. The other order is
# unchanged. Without the broker's duplicate detection, at most the message in flight arrives twice.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
program=$programs/dead_letter_table_killed

# check WHAT: the queue and the table after a redrive.
check()
{
    local queue left
    queue=$(sql q.sqlite 'SELECT session || " " || body FROM messages ORDER BY place')
    [ "$queue" = "$(printf '%s\n' 'order-17~1 order-17/4' 'order-17~1 order-17/5' \
        'order-19~1 order-19/4' 'order-19~1 order-19/5')" ] || fail "$1: in the queue: $queue"
    left=$(sql q.sqlite 'SELECT group_concat(session || "/" || step, " ") FROM step_letters')
    [ "$left" = 'order-18/3 order-18/4 order-18/5' ] || fail "$1: in the table: $left"
}
# new FILE: an empty database, or a copy.
new()
{
    rm -f q.sqlite*
    [ -z "${1-}" ] || cp "$1" q.sqlite
}

new
expect_exit 0 q.sqlite stop
sql q.sqlite 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
cp q.sqlite stopped.sqlite
expect_exit 0 q.sqlite redrive
expect_output 'finished: 4 sent, 4 removed, 0 held back'
check 'an undisturbed run'

# A queue without duplicate detection: it counts the messages that come twice.
sql stopped.sqlite 'CREATE TABLE twice (id TEXT);
    CREATE TRIGGER seen BEFORE INSERT ON used_ids WHEN EXISTS (SELECT 1 FROM used_ids WHERE id = NEW.id)
    BEGIN INSERT INTO twice VALUES (NEW.id); END'
twice=0
for when in KILL_AT KILL_AFTER; do
    for ((n = 1; ; ++n)); do
        new
        dies $when=$n "$program" q.sqlite stop || break
        expect_exit 0 q.sqlite stop
        expect_exit 0 q.sqlite redrive
        check "$when=$n stop"
    done
    for ((n = 1; ; ++n)); do
        new stopped.sqlite
        dies $when=$n "$program" q.sqlite redrive || break
        expect_exit 0 q.sqlite redrive
        check "$when=$n redrive"
        again=$(sql q.sqlite 'SELECT count(*) FROM twice')
        [ "$again" -le 1 ] || fail "$when=$n redrive: $again messages were sent twice"
        twice=$((twice + again))
    done
done
[ $kills -ge 100 ] || fail "only $kills kills"
[ $twice -ge 1 ] || fail 'no kill hit between the queue and the mark'
echo "$kills kills, no step lost; $twice messages came twice, one at most in each run"
