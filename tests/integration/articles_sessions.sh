#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills the articles purchase_pipeline and product_import with -9 after each of their calls of
# SQLite, and then at two calls. Afterwards another run finishes. Each step has taken effect exactly
# once and in order. The failed steps are dead letters with their numbers and reasons, and no
# message is left.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit

program=$programs/purchase_pipeline_killed
expect_exit 0 purchase.sqlite send Ada 'Babbage Ltd'
program=$programs/product_import_killed
expect_exit 0 import.sqlite send march 'nails;250' 'screws;3,10' 'glue;480' 'tape;190'
purchase_result()
{
    sql q.sqlite 'SELECT * FROM effects; SELECT session, step, reason, text FROM step_letters;
        SELECT count(*) FROM messages; SELECT count(*) FROM dead'
}
import_result()
{
    sql q.sqlite 'SELECT * FROM products; SELECT session, step, reason, text FROM step_letters;
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

left=0
# is_killed WHEN N: runs the program until it is killed there. False if it ended before. Then all
# locks expire.
is_killed()
{
    local status=0
    dies "$1=$2" "$program" q.sqlite || status=1
    sql q.sqlite 'UPDATE sessions SET held_until = 1 WHERE held_until IS NOT NULL'
    return $status
}
# finished RESULT EXPECTED WHERE: the next run leaves the expected result.
finished()
{
    local states
    expect_exit 0 q.sqlite
    diff <(echo "$2") <("$1") || fail "$program, killed $3: another result"
    # Only a crash after `complete` of the last message leaves a state. A sweep removes it.
    states=$(sql q.sqlite 'SELECT count(*) FROM sessions WHERE state IS NOT NULL')
    [ "$states" -le 1 ] || fail "$program, $3: $states states are left"
    left=$((left + states))
}
# every PROGRAM START RESULT EXPECTED
every()
{
    local n k calls first second
    program=$programs/$1
    cp "$2" q.sqlite
    finished "$3" "$4" nowhere
    [ $left = 0 ] || fail "$1: a state is left without a crash"
    for ((n = 1; ; ++n)); do  # before call n + 1 is the same as after call n
        rm -f q.sqlite*
        cp "$2" q.sqlite
        is_killed KILL_AFTER $n || break
        finished "$3" "$4" "after call $n"
    done
    calls=$n
    RANDOM=17
    for ((k = 0; k != 100; ++k)); do
        rm -f q.sqlite*
        cp "$2" q.sqlite
        first=$((RANDOM % calls + 1)) second=$((RANDOM % calls + 1))
        is_killed KILL_AFTER $first || true
        is_killed KILL_AT $second || true
        finished "$3" "$4" "at $first and $second"
    done
    left=0
}
every purchase_pipeline_killed purchase.sqlite purchase_result "$purchase_expected"
every product_import_killed import.sqlite import_result "$import_expected"
[ $kills -ge 400 ] || fail "only $kills kills"
echo "$kills kills, each step has taken effect once"
