#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Dead letters in an Azure table: the engine's results for a service's replies, and letters in the
# table service of Azurite, which Azure's own JavaScript client reads unchanged. Then order_pipeline
# with its letters there, from the first failure to the redrive. Both packages come from npm.
set -euo pipefail
export LC_ALL=C

program=$WAYBILL_BIN/examples/order_pipeline
here=$WAYBILL_SOURCE/tests/integration/order_pipeline_azurite
packages=$WAYBILL_BIN/azurite
work=$(mktemp -d)
# shellcheck source=/dev/null
source "$here/azurite.sh"
peers=
halves=0
finish()
{
    azurite_stop
    [ -z "$peers" ] || kill "$peers" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
mkdir tmp
export TMPDIR=$work/tmp

fail()
{
    echo "order_pipeline_azurite: $*" >&2
    for said in out err server.log; do [ ! -e $said ] || tail -n 30 $said >&2; done
    exit 1
}
skip()
{
    echo "SKIP: $*"
    exit 0
}

# built NAME
built()
{
    "${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" "$here/$1.cpp" \
        -o "$1" -pthread -lcrypto -lcurl
}
echo '#include <nlohmann/json.hpp>' | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1 ||
    skip 'no nlohmann/json'
echo '#include <openssl/evp.h>' | "${CXX:-c++}" -E -x c++ - >/dev/null 2>&1 || skip 'no libssl-dev'
echo '#include <curl/curl.h>' | "${CXX:-c++}" -E -x c++ - >/dev/null 2>&1 || skip 'no libcurl4-openssl-dev'
built answers
timeout 120 ./answers

why=$(azurite_install "$packages") || skip "no letter is written to Azurite: $why"
ln -s "$packages/node_modules" node_modules
cp "$here/read.mjs" .
azurite_start "$packages" "$work" 700 || fail 'Azurite does not start'

# Letters that sort wrong without padded keys, with any characters in their sessions, and with
# bodies at the limits of a property and an entity.
built letters
letters=127.0.0.1:$port/devstoreaccount1/letters
timeout 120 ./letters "$letters" write >expected || fail 'the letters are not written'
timeout 120 node read.mjs "$port" letters >found || fail 'the JavaScript client cannot read them'
cmp -s <(sort expected) <(sort found) || fail 'the JavaScript client finds something else'
[ "$(wc -l <found)" -ge 20 ] || fail 'there are only a few letters'
timeout 120 ./letters "$letters" again || fail 'the letters do not come back'
timeout 120 node read.mjs "$port" letters brief >keys
[ "$(grep '^a ' keys | cut -d ' ' -f 2 | tr '\n' ' ')" = "00000000000000000009 00000000000000000010 \
00000000000000000011 00000000000000000100 00001970324836974593 09223372036854775808 18446744073709551615 " ] ||
    fail 'the rows of a session are not in the order of their numbers'

[ -x "$program" ] || skip 'order_pipeline was not built, as its packages are missing'

# expect_checked ARGS...: a run that must succeed.
expect_checked()
{
    timeout 300 "$program" "$@" >out 2>err || fail "exit $? of $*"
    expect_text 'checked: each order is complete in the order of its steps'
}
expect_text() { grep -qF -- "$1" out err || fail "the output does not contain: $1"; }
# rows TABLE N: the table has N rows.
rows()
{
    timeout 120 node read.mjs "$port" "$1" brief >keys || fail "there is no table $1"
    [ "$(wc -l <keys)" -eq "$2" ] || fail "$(wc -l <keys) rows instead of $2 in $1"
}
table=azure-table://127.0.0.1:$port/devstoreaccount1
key=$(sed -n '/development_key/,/;/p' "$WAYBILL_SOURCE/examples/engines/shared_key.hpp" | grep -o '"[^"]*"' | tr -d '"\n')

expect_checked --db orders --dead-letters "$table/orders"
expect_text '654 of 669 jobs complete; 15 with dead-lettered steps, 30 in all'
expect_text "to redrive them: order_pipeline redrive --fix --db orders --dead-letters $table/orders"
rows orders 30
# In each session, the failed step is before the step that follows it.
grep -E '^order-3 ' keys | sed 's/[0-9]\{20\}/N/' >order
printf '%s\n' 'order-3 N failed broken receipt: no field "revision"' \
    'order-3 N session_failed broken receipt: no field "revision"' | cmp -s - order || fail 'order-3 is in disorder'
timeout 300 "$program" redrive --dry-run --db orders --dead-letters "$table/orders" >out 2>err || fail 'no plan'
expect_text '30 dead letters of 15 sessions to send'
rows orders 30
expect_checked redrive --db orders --dead-letters "$table/orders"
rows orders 30
grep -q '^order-4~1 ' keys || fail 'what stopped again is not under its new session'
# The folder has the address of its letters.
for other in '' "--dead-letters $table/others"; do
    code=0
    # shellcheck disable=SC2086
    timeout 60 "$program" redrive --fix --db orders $other >out 2>err || code=$?
    [ $code -eq 1 ] || fail "exit $code with letters elsewhere"
    expect_text "the dead letters of orders need --dead-letters $table/orders"
done
rows orders 30
expect_checked redrive --fix --db orders --dead-letters "$table/orders"
expect_text '669 of 669 jobs complete, 15 of them after a redrive'
rows orders 0

# With killed workers, orders and products in parallel.
expect_checked --kill --import --workers 4 --db both --dead-letters "$table/both"
expect_checked --kill --workers 4 --db both --dead-letters "$table/both"
rows both 45
expect_checked redrive --fix --kill --workers 4 --db both --dead-letters "$table/both"
expect_text '673 of 673 jobs complete'
rows both 0

# A redrive is killed while it removes its letters one by one. The next one removes the rest. No
# order gets a receipt before, so there are many letters.
for ((n = 0; halves < 3; ++n)); do
    [ $n -lt 15 ] || fail "of $n redrives only $halves died while they removed letters"
    rm -rf killed
    mkdir killed
    printf '{no such field}' >killed/receipt.txt
    all=(--db killed --dead-letters "$table/killed$n" --workers 2)
    expect_checked "${all[@]}" --most 300
    left() { ./letters "127.0.0.1:$port/devstoreaccount1/killed$n" count; }
    many=$(left)
    [ "$many" -ge 600 ] || fail "only $many letters"
    "$program" redrive --fix "${all[@]}" >out 2>err &
    main=$!
    timeout 100 ./letters "127.0.0.1:$port/devstoreaccount1/killed$n" kill $main $((many * (n % 4 + 3) / 7)) || true
    wait $main 2>/dev/null || true
    rest=$(left)
    [ "$rest" -eq 0 ] || [ "$rest" -eq "$many" ] || halves=$((halves + 1))
    expect_checked redrive --fix "${all[@]}"
    expect_text '300 of 300 jobs complete, 300 of them after a redrive'
    rows killed$n 0
done

# The service is down: nothing is lost, and the run continues when it is up again.
code=0
timeout 60 "$program" --db late --dead-letters azure-table://127.0.0.1:1/devstoreaccount1/late >out 2>err || code=$?
[ $code -eq 1 ] || fail "exit $code without a table"
expect_text 'the table of dead letters: 127.0.0.1:1: Connection refused'
expect_checked --db late --dead-letters "$table/late"
expect_checked redrive --fix --db late --dead-letters "$table/late"
expect_text '669 of 669 jobs complete'
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
timeout -k 5 300 node peers.mjs 2>server.log &
peers=$!
for _ in $(seq 300); do
    [ ! -s line.port ] || [ ! -s headers.port ] || [ ! -s slow.port ] || [ ! -s busy.port ] || [ ! -s round.port ] || break
    sleep 0.1
done
runs_at=()
for name in line headers slow busy round; do
    timeout 200 "$program" --db at.$name --most 30 --dead-letters \
        "azure-table://127.0.0.1:$(cat $name.port)/devstoreaccount1/letters" >$name.out 2>&1 &
    runs_at+=($!)
done
# ends N NAME TEXT
ends()
{
    code=0
    wait "${runs_at[$1]}" || code=$?
    cp "$2.out" out
    [ $code -eq 1 ] || fail "exit $code with a table that is $2"
    expect_text "$3"
}
ends 0 line 'the table of dead letters: 127.0.0.1:'
ends 1 headers 'more than 200 headers'
ends 2 slow 'no response within 10000 ms'
ends 3 busy 'no progress for 15 s, and 4 steps are left; worker'
expect_text 'the table of dead letters: 503'
expect_text '28 of 30 jobs complete; no progress'
ends 4 round 'the table of dead letters: the service repeats the page'
kill $peers 2>/dev/null || true

for bad in table 127.0.0.1 azure-table://127.0.0.1/devstoreaccount1 azure-table://127.0.0.1/other/letters \
    azure-table://127.0.0.1/devstoreaccount1/1st azure-table:https://127.0.0.1/other/letters; do
    code=0
    "$program" --dead-letters "$bad" >out 2>err || code=$?
    [ $code -eq 2 ] || fail "exit $code of --dead-letters $bad"
    expect_text 'is no Azure table'
done
# The table of an account, by its connection string; the key is in no output.
connection="DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=$key;"
connection+="TableEndpoint=http://127.0.0.1:$port/devstoreaccount1;"
AZURE_STORAGE_CONNECTION_STRING=$connection expect_checked --db account --dead-letters azure-table:account
expect_text '--db account --dead-letters azure-table:account'
! grep -qF "$key" out err || fail 'the key of the account is printed'
rows account 30
code=0
AZURE_STORAGE_CONNECTION_STRING=AccountName=a "$program" --dead-letters azure-table:account >out 2>err || code=$?
[ $code -eq 2 ] || fail "exit $code with half of a connection string"
expect_text 'connection string: AccountKey is missing'
code=0
env -u AZURE_STORAGE_CONNECTION_STRING "$program" --dead-letters azure-table:account >out 2>err || code=$?
[ $code -eq 2 ] || fail "exit $code without a connection string"
expect_text 'needs the variable AZURE_STORAGE_CONNECTION_STRING'
echo 'order_pipeline_azurite: each letter was found by the JavaScript client, was redriven, and was removed;'
echo "$halves of $n redrives died while they removed letters"
