#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills the article outbox with -9 before and after each of its calls of SQLite. Afterwards another
# run sends the rest. Each order has arrived, and those of a customer in order. The one that is too
# large is a dead row with the reason.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
program=$programs/outbox_killed

# check FOLDER WHAT: the content of the databases.
check()
{
    local query='SELECT group_concat(id, " ") FROM (SELECT id FROM topic WHERE key = "'
    local ada grace dead
    ada=$(sql "$1/broker.sqlite" "$query"'Ada" ORDER BY number)')
    grace=$(sql "$1/broker.sqlite" "$query"'Grace" ORDER BY number)')
    dead=$(sql "$1/shop.sqlite" 'SELECT id, dead FROM outbox')
    [ "$ada" = 'order-3 order-6 order-9' ] || fail "$2: Ada has $ada"
    [ "$grace" = 'order-1 order-2 order-4 order-5 order-8 order-10' ] || fail "$2: Grace has $grace"
    [ "$dead" = 'order-7|too large: 420 bytes where the limit is 200' ] || fail "$2: in the outbox: $dead"
    [ "$(sql "$1/shop.sqlite" 'SELECT count(*) FROM orders')" = 10 ] || fail "$2: orders are missing"
}

mkdir undisturbed
expect_exit 0 undisturbed
expect_output '9 sent, 1 dead, 2 returned; drained'
check undisturbed 'an undisturbed run'

twice=0
for when in KILL_AT KILL_AFTER; do
    for ((n = 1; ; ++n)); do
        mkdir $when.$n
        dies $when=$n "$program" $when.$n || break
        expect_exit 0 $when.$n
        check $when.$n "$when=$n"
        twice=$((twice + $(sql $when.$n/broker.sqlite 'SELECT count(*) FROM topic WHERE copies > 1')))
        rm -rf $when.$n
    done
done
[ $kills -ge 100 ] || fail "only $kills kills"
[ $twice -ge 1 ] || fail 'no kill hit between the broker and the mark'
echo "$kills kills, no message lost; $twice messages came twice, and the broker dropped them"
