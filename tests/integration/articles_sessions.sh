#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills the articles purchase_pipeline and product_import with -9 after each of their calls of
# SQLite, and then at two calls. Afterwards another run finishes. Each step has taken effect exactly
# once and in order. The failed steps are dead letters with their numbers and reasons, and no
# message is left. ARTICLES=folder tests other sources.
set -euo pipefail
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
articles=${ARTICLES:-$WAYBILL_SOURCE/examples/articles}
for name in purchase_pipeline product_import; do
    "${CXX:-c++}" -std=c++20 -O1 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples/articles" \
        "$articles/$name.cpp" "$WAYBILL_SOURCE/tests/integration/articles/kill_at.cpp" -o "$work/$name" \
        -Wl,--wrap=sqlite3_step,--wrap=sqlite3_exec -lsqlite3
done
"${CXX:-c++}" -std=c++20 "$WAYBILL_SOURCE/tests/integration/articles/sql.cpp" -o "$work/sql" -lsqlite3
cd "$work"
fail() { echo "articles_sessions: $*" >&2; exit 1; }

./purchase_pipeline purchase.sqlite send Ada 'Babbage Ltd'
./product_import import.sqlite send march 'nails;250' 'screws;3,10' 'glue;480' 'tape;190'
purchase_result()
{
    "$work/sql" q.sqlite 'SELECT * FROM effects; SELECT session, step, reason, text FROM step_letters;
        SELECT count(*) FROM messages; SELECT count(*) FROM dead'
}
import_result()
{
    "$work/sql" q.sqlite 'SELECT * FROM products; SELECT session, step, reason, text FROM step_letters;
        SELECT count(*) FROM messages; SELECT count(*) FROM dead'
}
purchase_expected='order-Ada/1
order-Ada/2
order-Ada/3
order-Ada/4
order-Ada/5
order-Babbage Ltd/1
order-Babbage Ltd/2
order-Babbage Ltd/3
order-Babbage Ltd|4|failed|the template has no {vat id}
order-Babbage Ltd|5|session_failed|the template has no {vat id}
0
0'
import_expected='nails|250|1
glue|480|2
tape|190|3
march|2|failed|screws;3,10 has no price
0
0'

kills=0
left=0
# killed PROGRAM WHEN N: runs it until it is killed there. False if it ended before. Then all locks
# expire.
killed()
{
    local code=0
    { env "$2=$3" timeout 60 "./$1" q.sqlite >out; } 2>/dev/null || code=$?
    [ $code = 0 ] || [ $code = 137 ] || fail "$1, $2=$3: ended with $code: $(cat out)"
    "$work/sql" q.sqlite 'UPDATE sessions SET held_until = 1 WHERE held_until IS NOT NULL'
    [ $code = 137 ] || return 1
    kills=$((kills + 1))
}
# finished PROGRAM RESULT EXPECTED WHERE: the next run leaves the expected result.
finished()
{
    timeout 60 "./$1" q.sqlite >out || fail "$1, $4: the next run ended with $?"
    diff <(echo "$3") <("$2") || fail "$1, killed $4: another result"
    # Only a crash after `complete` of the last message leaves a state. A sweep removes it.
    states=$("$work/sql" q.sqlite 'SELECT count(*) FROM sessions WHERE state IS NOT NULL')
    [ "$states" -le 1 ] || fail "$1, $4: $states states are left"
    left=$((left + states))
}
# every PROGRAM START RESULT EXPECTED
every()
{
    local n k
    cp "$2" q.sqlite
    finished "$1" "$3" "$4" nowhere
    [ $left = 0 ] || fail "$1: a state is left without a crash"
    for ((n = 1; ; ++n)); do  # before call n + 1 is the same as after call n
        rm -f q.sqlite*
        cp "$2" q.sqlite
        killed "$1" KILL_AFTER $n || break
        finished "$1" "$3" "$4" "after call $n"
    done
    calls=$n
    RANDOM=17
    for ((k = 0; k != 100; ++k)); do
        rm -f q.sqlite*
        cp "$2" q.sqlite
        local first=$((RANDOM % calls + 1)) second=$((RANDOM % calls + 1))
        killed "$1" KILL_AFTER $first || true
        killed "$1" KILL_AT $second || true
        finished "$1" "$3" "$4" "at $first and $second"
    done
    left=0
}
every purchase_pipeline purchase.sqlite purchase_result "$purchase_expected"
every product_import import.sqlite import_result "$import_expected"
[ $kills -ge 400 ] || fail "only $kills kills"
echo "$kills kills, each step has taken effect once"
