#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# outbox in a user's environment. The program counts the results of each order. Its difficulties
# here: killed relays, a killed run with all its processes, small and empty inputs, damaged tables.
set -euo pipefail
export LC_ALL=C

program=$WAYBILL_BIN/examples/outbox
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir tmp
export TMPDIR=$work/tmp

fail()
{
    echo "outbox: $*" >&2
    [ ! -e out ] || cat out err >&2
    exit 1
}

# expect_code CODE ARGS...: runs the program, which must end with this exit code. Its output is in
# out and err.
expect_code()
{
    local code=0 expected=$1
    shift
    timeout 6000 "$program" "$@" >out 2>err || code=$?
    [ $code -eq "$expected" ] || fail "exit $code instead of $expected: $*"
}

# expect_text TEXT: the output or the error output contains it.
expect_text() { grep -qF -- "$1" out err || fail "the output does not contain: $1"; }

# expect_checked ARGS...: a run that must succeed.
expect_checked()
{
    expect_code 0 "$@"
    expect_text 'checked: each order has exactly one mail or one dead letter'
}

# number ROW: the value under waybill in the final table; naive ROW: under the naive loop.
number() { sed -n "s/^ *$1 *\([0-9,]*\)\( .*\)\{0,1\}\$/\1/p" out | tr -d , | head -n 1; }
naive() { sed -n "s/^ *$1 *[0-9,]* *\([0-9,]*\)\$/\1/p" out | tr -d , | head -n 1; }

# The whole recording: an outage, two kills, and a naive loop next to it.
expect_checked --db whole
for decision in 'sent order' 'again at once: order' 'deferred until' 'the circuit breaker is open until' \
    'the circuit breaker is half_open' 'the circuit breaker is closed' 'dead letter: order' 'the relay has restored' \
    'dry run: 12 of 22 dead letters would be removed' 'pruned: 12 dead letters' '421 4.3.2' '550 5.1.1'; do
    expect_text "$decision"
done
[ "$(number orders)" = 1342 ] || fail "$(number orders) orders, and not 1342"
[ "$(number 'mails received')" = 1320 ] || fail "$(number 'mails received') mails, and not 1320"
[ "$(number 'the sender was killed with -9')" = 2 ] || fail 'the relay was not killed twice'
down=$(number 'of these while the server was down')
naive_down=$(naive 'of these while the server was down')
[ "$naive_down" -gt $((10 * down)) ] || fail "$down calls into the void where the loop makes $naive_down"
[ "$(naive 'of these twice')" -gt 0 ] || fail 'the naive loop is flawless'
[ -z "$(ls tmp)" ] || fail 'there is a temporary folder though --db was given'

# A second run has nothing to do and changes nothing.
expect_checked --db whole --plain
[ "$(number calls)" = 0 ] || fail 'what is done is done again'

# Random kills all the time. The receivers do not notice them.
expect_checked --kill --plain --seed 5 --outage 2
kills=$(number 'the sender was killed with -9')
[ "$kills" -ge 10 ] || fail "only $kills kills"
[ -z "$(ls tmp)" ] || fail 'a temporary folder is left'

# All processes of a run are killed before, during and after the outage. The next run continues.
for pause in 0.6 1.7 2.9; do
    "$program" --db family --plain --outage 1 >out 2>err &
    main=$!
    sleep $pause
    kill -9 $main 2>/dev/null || true
    wait $main 2>/dev/null || true
done
expect_checked --db family --plain --outage 1
[ "$(number orders)" = 1342 ] || fail 'orders were lost with the family'

# Other orders. One missing mailbox is used a hundred times: that is more than a single bad mail.
line() { printf '{"at":"2026-01-01T00:00:00Z","package":"%s","event":"installed"}\n' "$1"; }
{
    line a
    printf '{"torn\n[1]\n{"event":"installed"}\n{"package":"b","event":"removed"}\n\n\0\377\n'
    line 'Ünï <code>\"@x'
    line '.'
} >few
expect_checked --input few --plain --outage 1 --db few.db
[ "$(number orders)" = 3 ] || fail "$(number orders) orders, and not 3"
for i in $(seq 110); do line python3-fake-factory; done >same
expect_checked --input same --plain --outage 1
expect_text 'ALARM: 110 arrived within a minute'
expect_text 'dry run: 0 of 110 dead letters would be removed'
: >empty
expect_code 1 --input empty
expect_text 'empty is empty: name a file with at least one line as the input'
printf '{"event":"removed","package":"a"}\n' >none
expect_code 0 --input none
expect_text 'nothing to do: there is no order in none'

# Refused options.
expect_code 0 --help
expect_text --outage
for bad in --bogus extra '--outage 0' '--outage 61' '--outage 3x' '--outage -1' --outage --input --db \
    '--seed 18446744073709551616' '--as nobody' '--table postgres:' '--to nats:' '--cluster' '--kill 5' \
    '--table x --to nats:' '--table postgres: --to x' '--table postgres: --to nats: --kill 0' \
    '--table postgres: --to nats: --plain' '--outage 3 --table postgres: --to nats:'; do
    # shellcheck disable=SC2086
    expect_code 2 $bad
    expect_text 'outbox --help'
    [ ! -s out ] || fail "it is not an error that $bad prints"
done
expect_code 1 --input nothing
expect_text 'there is no file nothing'
expect_code 1 --input tmp
expect_text 'is a folder'
expect_code 1 --input few --db few/db
expect_text 'is no folder and cannot be made one'
expect_code 1 --input few --db whole
expect_text 'the work of another input'

# Damage is found: mails that are lost, doubled or for another address; lost letters; an unreadable
# table.
cat >sql.cpp <<'SQL'
#include <sqlite3.h>
int main(int, char** argv)
{
    sqlite3* db = nullptr;
    return sqlite3_open(argv[1], &db) || sqlite3_exec(db, argv[2], nullptr, nullptr, nullptr);
}
SQL
"${CXX:-c++}" sql.cpp -o sql -lsqlite3
rm -rf whole/naive
while IFS='|' read -r db words sql; do
    rm -rf broken
    cp -r whole broken
    ./sql "broken/$db.sqlite" "$sql" || fail "cannot: $sql"
    expect_code 1 --db broken --plain
    expect_text "$words"
done <<'CHANGES'
server|1 orders are lost|DELETE FROM mails WHERE message_id LIKE '%/77@%'
server|1 mails were stored twice|INSERT INTO mails SELECT 'x', recipient, text, 1 FROM mails WHERE message_id LIKE '%/77@%'
server|have another recipient|UPDATE mails SET recipient = 'x' WHERE message_id LIKE '%/77@%'
server|1 mails were received without an order|INSERT INTO mails SELECT 'x', recipient, replace(text, 'X-Order: 77', 'X-Order: 7777'), 1 FROM mails WHERE message_id LIKE '%/77@%'
shop|1 orders are lost|DELETE FROM dead_letters WHERE id = (SELECT max(id) FROM dead_letters)
shop|1 orders have both|INSERT INTO dead_letters SELECT 77, recipient, subject, reason, 1, 1, 0 FROM dead_letters LIMIT 1
shop|mails to missing mailboxes are not dead-lettered with 550|UPDATE dead_letters SET reason = '450 busy'
shop|1 orders have no row in the outbox|DELETE FROM outbox WHERE id = 77
shop|deferred messages: corrupt|UPDATE books SET bytes = replace(bytes, x'01', x'02') || x'00'
shop|deferred messages: other_format|UPDATE books SET bytes = 'something else altogether'
CHANGES

# A full output, closed streams, and a second process on the same folder.
if [ -w /dev/full ]; then
    ! timeout 600 "$program" --input few --db few.db --plain >/dev/full 2>err || fail 'a full disk is no reason'
    grep -q 'the standard output cannot be written' err || fail 'the error output does not contain the reason'
fi
"$program" --db few.db --input few --plain >&- 2>&- <&- || fail 'it fails without open streams'
"$program" --db busy --plain >held 2>&1 &
main=$!
for tries in $(seq 6000); do [ ! -s held ] || break; sleep 0.01; done
[ -s held ] || fail 'it prints nothing while it works'
expect_code 1 --db busy --plain
expect_text 'another outbox is at work here'
kill -9 $main 2>/dev/null || true
wait $main 2>/dev/null || true

echo "outbox: $down calls while the server was down where the usual loop makes $naive_down; $kills kills; all found"
