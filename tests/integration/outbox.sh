#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# outbox in a user's environment. The program counts the results of each order. Its difficulties
# here: killed relays, a killed run with all its processes, small and empty inputs, damaged tables.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs outbox
program=$examples/outbox

# expect_checked ARGS...: a run that must succeed.
expect_checked()
{
    expect_exit 0 "$@"
    expect_output 'checked: each order has exactly one mail or one dead letter'
}

# number ROW: the value under waybill in the final table; naive ROW: under the naive loop.
number() { sed -n "s/^ *$1 *\([0-9,]*\)\( .*\)\{0,1\}\$/\1/p" out | tr -d , | head -n 1; }
naive() { sed -n "s/^ *$1 *[0-9,]* *\([0-9,]*\)\$/\1/p" out | tr -d , | head -n 1; }

# The whole recording: an outage, two kills, and a naive loop next to it.
expect_checked --db whole
expect_private whole
for decision in 'sent order' 'again at once: order' 'deferred until' 'the circuit breaker is open until' \
    'the circuit breaker is half_open' 'the circuit breaker is closed' 'dead letter: order' 'the relay has restored' \
    'dry run: 12 of 22 dead letters would be removed' 'pruned: 12 dead letters' '421 4.3.2' '550 5.1.1'; do
    expect_output "$decision"
done
[ "$(number orders)" = 1342 ] || fail "$(number orders) orders, and not 1342"
[ "$(number 'mails received')" = 1320 ] || fail "$(number 'mails received') mails, and not 1320"
[ "$(number 'the sender was killed with -9')" = 2 ] || fail 'the relay was not killed twice'
down=$(number 'of these while the server was down')
naive_down=$(naive 'of these while the server was down')
[ "$naive_down" -gt $((10 * down)) ] || fail "$down calls into the void where the loop makes $naive_down"
[ "$(naive 'of these twice')" -gt 0 ] || fail 'the naive loop is flawless'
expect_no_folder

# A second run has nothing to do and changes nothing.
expect_checked --db whole --plain
[ "$(number calls)" = 0 ] || fail 'what is done is done again'

# Random kills all the time. The receivers do not notice them.
expect_checked --kill --plain --seed 5 --outage 2
kills=$(number 'the sender was killed with -9')
[ "$kills" -ge 10 ] || fail "only $kills kills"
expect_no_folder

# All processes of a run are killed before, during and after the outage. The next run continues.
for moment in 'sent order' 'THE MAIL SERVER IS DOWN' 'the mail server is started'; do
    start family "$program" --db family --plain --outage 1
    await "a run does not print: $moment" prints family "$moment"
    killed family
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
for _ in $(seq 110); do line python3-fake-factory; done >same
expect_checked --input same --plain --outage 1
expect_output 'ALARM: 110 arrived within a minute'
expect_output 'dry run: 0 of 110 dead letters would be removed'
: >empty
expect_exit 1 --input empty
expect_output 'empty is empty: name a file with at least one line as the input'
printf '{"event":"removed","package":"a"}\n' >none
expect_exit 0 --input none
expect_output 'nothing to do: there is no order in none'

# Refused options.
expect_exit 0 --help
expect_output --outage
expect_refused --bogus extra '--outage 0' '--outage 61' '--outage 3x' '--outage -1' --outage --input --db \
    '--seed 18446744073709551616' '--as nobody' '--table postgres:' '--to nats:' '--cluster' '--kill 5' \
    '--table x --to nats:' '--table postgres: --to x' '--table postgres: --to nats: --kill 0' \
    '--table postgres: --to nats: --plain' '--outage 3 --table postgres: --to nats:'
expect_exit 1 --input nothing
expect_output 'there is no file nothing'
expect_exit 1 --input tmp
expect_output 'is a folder'
expect_exit 1 --input few --db few/db
expect_output 'is no folder and cannot be made one'
expect_exit 1 --input few --db whole
expect_output 'the work of another input'

# Damage is found: mails that are lost, doubled or for another address; lost letters; an unreadable
# table.
rm -rf whole/naive
while IFS='|' read -r db words statement; do
    rm -rf broken
    cp -r whole broken
    sql "broken/$db.sqlite" "$statement"
    expect_exit 1 --db broken --plain
    expect_output "$words"
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
    ! timeout "$patience" "$program" --input few --db few.db --plain >/dev/full 2>err || fail 'a full disk is no reason'
    expect_output 'the standard output cannot be written'
fi
"$program" --db few.db --input few --plain >&- 2>&- <&- || fail 'it fails without open streams'
start busy "$program" --db busy --plain
await 'it prints nothing while it works' test -s busy.out
expect_exit 1 --db busy --plain
expect_output 'another outbox is at work here'
killed busy

echo "outbox: $down calls while the server was down where the usual loop makes $naive_down; $kills kills; all found"
