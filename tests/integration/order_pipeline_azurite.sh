#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Dead letters in an Azure table: the engine's results for a service's replies, and letters in the
# table service of Azurite, which Azure's own JavaScript client reads unchanged. Then order_pipeline
# with its letters there, from the first failure to the redrive. Both packages come from npm.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs azure_answers azure_letters
# shellcheck source=order_pipeline_azurite/azurite.sh
source "$here/order_pipeline_azurite/azurite.sh"
program=$programs/azure_answers
expect_exit 0

azurite_install
cp "$here/order_pipeline_azurite/read.mjs" .
azurite_start table

# Letters that sort wrong without padded keys, with any characters in their sessions, and with
# bodies at the limits of a property and an entity.
account=127.0.0.1:$port/devstoreaccount1
letters() { program=$programs/azure_letters expect_exit 0 "$@"; }
# read_table TABLE [brief]: by the client of Azure, to out.
read_table() { program=node expect_exit 0 read.mjs "$port" "$@"; }
letters "$account/letters" write
sort out >expected
read_table letters
sort out >found
expect_same expected found
[ "$(wc -l <found)" -ge 20 ] || fail 'there are only a few letters'
letters "$account/letters" again
read_table letters brief
cp out keys
[ "$(grep '^a ' keys | cut -d ' ' -f 2 | tr '\n' ' ')" = "00000000000000000009 00000000000000000010 \
00000000000000000011 00000000000000000100 00001970324836974593 09223372036854775808 18446744073709551615 " ] ||
    fail 'the rows of a session are not in the order of their numbers'

needs order_pipeline
program=$examples/order_pipeline

# expect_checked ARGS...: a run that must succeed.
expect_checked()
{
    expect_exit 0 "$@"
    expect_output 'checked: each order is complete in the order of its steps'
}
# rows TABLE N: the table has N rows.
rows()
{
    read_table "$1" brief
    cp out keys
    [ "$(wc -l <keys)" -eq "$2" ] || fail "$(wc -l <keys) rows instead of $2 in $1"
}
table=azure-table://$account
key=$(sed -n '/development_key/,/;/p' "$WAYBILL_SOURCE/examples/engines/shared_key.hpp" | grep -o '"[^"]*"' | tr -d '"\n')

expect_checked --db orders --dead-letters "$table/orders"
expect_output '654 of 669 jobs complete; 15 with dead-lettered steps, 30 in all'
expect_output "to redrive them: order_pipeline redrive --fix --db orders --dead-letters $table/orders"
rows orders 30
# In each session, the failed step is before the step that follows it.
grep -E '^order-3 ' keys | sed 's/[0-9]\{20\}/N/' >order
printf '%s\n' 'order-3 N failed broken receipt: no field "revision"' \
    'order-3 N session_failed broken receipt: no field "revision"' | cmp -s - order || fail 'order-3 is in disorder'
expect_exit 0 redrive --dry-run --db orders --dead-letters "$table/orders"
expect_output '30 dead letters of 15 sessions to send'
rows orders 30
expect_checked redrive --db orders --dead-letters "$table/orders"
rows orders 30
grep -q '^order-4~1 ' keys || fail 'what stopped again is not under its new session'
# The folder has the address of its letters.
for other in '' "--dead-letters $table/others"; do
    # shellcheck disable=SC2086
    expect_exit 1 redrive --fix --db orders $other
    expect_output "the dead letters of orders need --dead-letters $table/orders"
done
rows orders 30
expect_checked redrive --fix --db orders --dead-letters "$table/orders"
expect_output '669 of 669 jobs complete, 15 of them after a redrive'
rows orders 0

# With killed workers, orders and products in parallel.
expect_checked --kill --import --workers 4 --db both --dead-letters "$table/both"
expect_checked --kill --workers 4 --db both --dead-letters "$table/both"
rows both 45
expect_checked redrive --fix --kill --workers 4 --db both --dead-letters "$table/both"
expect_output '673 of 673 jobs complete'
rows both 0

# A redrive is killed while it removes its letters one by one. The next one removes the rest. No
# order gets a receipt before, so there are many letters.
halves=0
count_of() { "$programs/azure_letters" "$account/$1" count; }
for ((n = 0; halves < 3; ++n)); do
    rm -rf killed
    mkdir killed
    printf '{no such field}' >killed/receipt.txt
    all=(--db killed --dead-letters "$table/killed$n" --workers 2)
    expect_checked "${all[@]}" --most 300
    many=$(count_of killed$n)
    [ "$many" -ge 600 ] || fail "only $many letters"
    start main "$program" redrive --fix "${all[@]}"
    "$programs/azure_letters" "$account/killed$n" kill "${pid[main]}" $((many * (n % 4 + 3) / 7)) || true
    await 'the redrive does not end' has_ended main
    killed main
    rest=$(count_of killed$n)
    [ "$rest" -eq 0 ] || [ "$rest" -eq "$many" ] || halves=$((halves + 1))
    expect_checked redrive --fix "${all[@]}"
    expect_output '300 of 300 jobs complete, 300 of them after a redrive'
    rows killed$n 0
done

# The service is down: nothing is lost, and the run continues when it is up again.
expect_exit 1 --db late --dead-letters azure-table://127.0.0.1:1/devstoreaccount1/late
expect_output 'the table of dead letters: 127.0.0.1:1: Connection refused'
expect_checked --db late --dead-letters "$table/late"
expect_checked redrive --fix --db late --dead-letters "$table/late"
expect_output '669 of 669 jobs complete'
rows late 0
# Services that never end a reply, send it byte by byte, or are busy from the second request on.
# Each run ends with the reason. An error for the line of progress does not end a run.
cat >peers.mjs <<'PEERS'
import { createServer } from 'net'
import { writeFileSync } from 'fs'
const answer = (status, body, headers = '') =>
    `HTTP/1.1 ${status} So\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
const flood = (to, text) => {
    const more = () => { while (to.write(text)) continue }
    to.on('drain', more)
    more()
}
let lists = 0
let pages = 0
const talks = {
    line: to => flood(to, 'a'.repeat(60000)),
    headers: to => { to.write('HTTP/1.1 200 So\r\n'); flood(to, 'a: b\r\n'.repeat(1000)) },
    slow: to => [...answer(200, '{"value":[]}')].forEach((c, n) => setTimeout(() => to.write(c), n * 1000)),
    busy: (to, asked) => to.write(asked.startsWith('GET') && lists++ === 0 ? answer(200, '{"value":[]}') : answer(503, '')),
    round: to => to.write(answer(200, '{"value":[]}', `x-ms-continuation-NextPartitionKey: ${pages++ % 3}\r\n`)),
}
for (const [name, talk] of Object.entries(talks)) {
    const server = createServer(to => {
        let asked = ''
        to.on('error', () => {})
        to.on('data', more => {
            asked += more
            const head = asked.indexOf('\r\n\r\n') + 4
            const body = Number(/content-length: *(\d+)/i.exec(asked)?.[1] ?? 0)
            if (head < 4 || asked.length < head + body) return
            talk(to, asked)
            asked = ''
        })
    })
    server.listen(0, '127.0.0.1', () => writeFileSync(name + '.port', String(server.address().port)))
}
PEERS
start peers node peers.mjs
peers_listen() { [ -s line.port ] && [ -s headers.port ] && [ -s slow.port ] && [ -s busy.port ] && [ -s round.port ]; }
await 'the peers do not listen' peers_listen
for name in line headers slow busy round; do
    start $name "$program" --db at.$name --most 30 --dead-letters \
        "azure-table://127.0.0.1:$(cat $name.port)/devstoreaccount1/letters"
done
# ends NAME TEXT...
ends()
{
    local name=$1
    shift
    ended "$name" 1
    for text in "$@"; do prints "$name" "$text" || fail "$name: the output does not contain: $text"; done
}
ends line 'the table of dead letters: 127.0.0.1:'
ends headers 'more than 200 headers'
ends slow 'no response within 10000 ms'
ends busy 'no progress for 15 s, and 4 steps are left; worker' 'the table of dead letters: 503' \
    '28 of 30 jobs complete; no progress'
ends round 'the table of dead letters: the service repeats the page'
killed peers

for bad in table 127.0.0.1 azure-table://127.0.0.1/devstoreaccount1 azure-table://127.0.0.1/other/letters \
    azure-table://127.0.0.1/devstoreaccount1/1st azure-table:https://127.0.0.1/other/letters; do
    expect_exit 2 --dead-letters "$bad"
    expect_output 'is no Azure table'
done
# The table of an account, by its connection string; the key is in no output.
connection="DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=$key;"
connection+="TableEndpoint=http://127.0.0.1:$port/devstoreaccount1;"
AZURE_STORAGE_CONNECTION_STRING=$connection expect_checked --db account --dead-letters azure-table:account
expect_output '--db account --dead-letters azure-table:account'
! grep -qF "$key" out err || fail 'the key of the account is printed'
rows account 30
AZURE_STORAGE_CONNECTION_STRING=AccountName=a expect_exit 2 --dead-letters azure-table:account
expect_output 'connection string: AccountKey is missing'
unset AZURE_STORAGE_CONNECTION_STRING
expect_exit 2 --dead-letters azure-table:account
expect_output 'needs the variable AZURE_STORAGE_CONNECTION_STRING'
echo 'order_pipeline_azurite: each letter was found by the JavaScript client, was redriven, and was removed;'
echo "$halves of $n redrives died while they removed letters"
