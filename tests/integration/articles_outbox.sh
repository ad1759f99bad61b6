#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills the article outbox with -9 before and after each of its calls of SQLite. Afterwards another
# run sends the rest. Each order has arrived, and those of a customer in order. The one that is too
# large is a dead row with the reason.
set -euo pipefail
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=${ARTICLE:-$WAYBILL_SOURCE/examples/articles/outbox.cpp}
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples/articles" "$source" \
    "$WAYBILL_SOURCE/tests/integration/articles/kill_at.cpp" -o "$work/outbox" \
    -Wl,--wrap=sqlite3_step,--wrap=sqlite3_exec -lsqlite3
"${CXX:-c++}" -std=c++20 "$WAYBILL_SOURCE/tests/integration/articles/sql.cpp" -o "$work/sql" -lsqlite3

fail() { echo "articles_outbox: $*" >&2; exit 1; }

mkdir "$work/undisturbed"
[ "$("$work/outbox" "$work/undisturbed")" = '9 sent, 1 dead, 2 returned; drained' ] || fail "the output of an undisturbed run differs"

# check FOLDER WHAT: the content of the databases.
check()
{
    local sql='SELECT group_concat(id, " ") FROM (SELECT id FROM topic WHERE key = "'
    local ada grace dead
    ada=$("$work/sql" "$1/broker.sqlite" "$sql"'Ada" ORDER BY number)')
    grace=$("$work/sql" "$1/broker.sqlite" "$sql"'Grace" ORDER BY number)')
    dead=$("$work/sql" "$1/shop.sqlite" 'SELECT id, dead FROM outbox')
    [ "$ada" = 'order-3 order-6 order-9' ] || fail "$2: Ada has $ada"
    [ "$grace" = 'order-1 order-2 order-4 order-5 order-8 order-10' ] || fail "$2: Grace has $grace"
    [ "$dead" = 'order-7|too large: 420 bytes where the limit is 200' ] || fail "$2: in the outbox: $dead"
    [ "$("$work/sql" "$1/shop.sqlite" 'SELECT count(*) FROM orders')" = 10 ] || fail "$2: orders are missing"
}
check "$work/undisturbed" "an undisturbed run"

kills=0
twice=0
for when in KILL_AT KILL_AFTER; do
    for ((n = 1; ; ++n)); do
        folder=$work/$when.$n
        mkdir "$folder"
        code=0
        { env $when=$n "$work/outbox" "$folder" >/dev/null; } 2>/dev/null || code=$?
        [ $code != 0 ] || break
        [ $code = 137 ] || fail "$when=$n: ended with $code"
        kills=$((kills + 1))
        timeout 60 "$work/outbox" "$folder" >/dev/null || fail "$when=$n: the next run ended with $?"
        check "$folder" "$when=$n"
        twice=$((twice + $("$work/sql" "$folder/broker.sqlite" 'SELECT count(*) FROM topic WHERE copies > 1')))
        rm -rf "$folder"
    done
done
[ $kills -ge 100 ] || fail "only $kills kills"
[ $twice -ge 1 ] || fail "no kill hit between the broker and the mark"
echo "$kills kills, no message lost; $twice messages came twice, and the broker dropped them"
