#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# outbox with rows in PostgreSQL and a stream of NATS JetStream: on single servers and on a cluster,
# with relays, the shop and servers killed; killed from outside at any moment; and on running servers,
# where changed tables and streams must be found.
# shellcheck disable=SC2001,SC2016 # sed, and the $ of subjects
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs outbox nats_publisher postgres_outbox nats-server psql
# shellcheck source=engines/own_postgres.sh
source "$here/engines/own_postgres.sh"
program=$examples/outbox
chmod 711 "$work"  # PostgreSQL may run as another user

# expect_success ARGS...: a run that must be right.
expect_success()
{
    expect_exit 0 "$@"
    expect_output 'checked: each committed order has exactly one message'
}

# number ROW: of the table at the end.
number() { sed -n "s/^ *$1 *\([0-9,]*\)\$/\1/p" out | tr -d , | head -n 1; }

own=(--table postgres: --to nats:)

# killed_at STATE ARGS...: kill -9 of the whole program when the state is reached.
killed_at()
{
    rm -f "$db/servers"
    start family "$program" "${own[@]}" --kill 60 --db "$db" "${@:2}"
    await "it is not reached: $1" "$1"
    killed family
    [ $code -eq 137 ] || fail "exit $code before the kill"
}
has_addresses() { test -s "$db/servers"; }
takes_orders() { [ "$(psql -qtA "$(head -n 1 "$db/servers")" -c 'SELECT count(*) > 50 FROM orders' 2>/dev/null)" = t ]; }

# One server each; relays and the shop are killed, and the whole program from outside. Runs follow
# until each kind was killed.
db=one
killed_at has_addresses
killed_at takes_orders
relays=0 publishing=0 shops=0
for ((seed = 1; relays < 2 || publishing < 1 || shops < 1; ++seed)); do
    [ $seed -le 10 ] || fail "too few kills: $relays relays, $publishing of them while they published, $shops shops"
    expect_success "${own[@]}" --kill 4 --seed $seed --db "$db"
    cat out
    [ "$(number 'orders committed')" = 1175 ] || fail "$(number 'orders committed') orders, and not 1175"
    [ "$(number 'orders rolled back')" = 167 ] || fail "$(number 'orders rolled back') orders rolled back, and not 167"
    relays=$((relays + $(number 'relays killed with -9')))
    publishing=$((publishing + $(number '  of these while they published')))
    shops=$((shops + $(number 'shops killed with -9')))
    db=one.$seed
done

# The same on the cluster, with kills of servers, for which the program waits.
db=cluster
killed_at takes_orders --cluster
expect_success "${own[@]}" --cluster --kill 7 --db "$db"
cat out
[ "$(number 'leaders of the stream killed with -9')" -ge 1 ] || fail 'no leader was killed'
[ "$(number 'primaries killed with -9')" -ge 1 ] || fail 'no primary was killed'
rm -rf one* cluster

# Servers that run already.
start nats nats-server -a 127.0.0.1 -p -1 -js -sd "$work/nats" --ports_file_dir "$work"
await 'nats-server does not start' test -s "nats-server_${pid[nats]}.ports"
url=$(grep -o 'nats://[^"]*' "nats-server_${pid[nats]}.ports" | head -n 1)
port=${url##*:}
# word NAME: of the address.
word() { sed -n "s/.*\<$1=\([^ ]*\).*/\1/p" <<<"$where"; }
uri="postgres://$(word user):$(word password)@$(word host):$(word port)/$(word dbname)"
head -n 1500 "$WAYBILL_SOURCE/examples/mailroom/recording.ndjson" >input
running=(--table "$uri" --to "nats://127.0.0.1:$port" --input input)
expect_success "${running[@]}" --kill 1
orders=$(number 'orders committed')
expect_success "${running[@]}"
[ "$(number 'orders committed')" = "$orders" ] || fail 'a second run has other orders'

# change STATEMENT
change() { psql -q "$where" -c "$1" >/dev/null || fail "cannot: $1"; }
# wrong WORDS: the next run finds it, and nothing else.
wrong()
{
    expect_exit 1 "${running[@]}"
    grep -qx "WRONG: $1" out || fail "it is not WRONG: $1"
}
# request SUBJECT TEXT [HEADERS]: the reply of JetStream.
request()
{
    local headers='' line='' verb='PUB'
    if [ -n "${3:-}" ]; then
        headers=$'NATS/1.0\r\n'"$3"$'\r\n\r\n'
        verb=HPUB
    fi
    local sizes=$((${#headers} + ${#2}))
    [ $verb = PUB ] || sizes="${#headers} $sizes"
    exec 5<>"/dev/tcp/127.0.0.1/$port"
    printf 'CONNECT {"headers":true,"verbose":false}\r\nSUB reply 1\r\n%s %s reply %s\r\n%s%s\r\n' $verb "$1" "$sizes" \
        "$headers" "$2" >&5
    while read -r -t "$patience" line <&5; do
        case $line in '{'*) break ;; esac
    done
    exec 5>&-
    case $line in *'"error"'* | '') fail "$1 $2: $line" ;; '{'*) echo "$line" ;; esac
}
# in_reply NAME REPLY: a text in it.
in_reply() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" <<<"$2"; }
change 'CREATE TABLE kept AS SELECT * FROM orders WHERE id = 5'
change 'DELETE FROM orders WHERE id = 5'
wrong '1 orders are lost; 1 messages have no committed order'
change 'INSERT INTO orders SELECT * FROM kept'
expect_success "${running[@]}"
change "UPDATE orders SET customer = 'another' WHERE id = 5"
wrong '1 messages differ from their order'
change 'UPDATE orders SET customer = kept.customer FROM kept WHERE orders.id = 5'

# The last message again, and again after the duplicate window of the server. Its first arrival goes,
# so that the time since then does not matter.
# message SEQUENCE: sets $id, $subject and $body.
message()
{
    local reply
    reply=$(request '$JS.API.STREAM.MSG.GET.WAYBILL_ORDERS' "{\"seq\":$1}")
    id=$(in_reply hdrs "$reply" | base64 -d | tr -d '\r' | sed -n 's/^Nats-Msg-Id: *//p')
    subject=$(in_reply subject "$reply")
    body=$(in_reply data "$reply" | base64 -d)
}
delete() { request '$JS.API.STREAM.MSG.DELETE.WAYBILL_ORDERS' "{\"seq\":$1}" >/dev/null; }
again() { request "$subject" "$body" "Nats-Msg-Id:$id" | tr -d ' '; }
sequence_in() { sed 's/.*"seq":\([0-9]*\).*/\1/' <<<"$1"; }
stored_again() { reply=$(again) && [[ $reply != *'"duplicate":true'* ]]; }
info=$(request '$JS.API.STREAM.INFO.WAYBILL_ORDERS' '')
config=$(sed 's/.*"config":\({[^}]*}\).*/\1/' <<<"$info")
# window NANOSECONDS
window() { request '$JS.API.STREAM.UPDATE.WAYBILL_ORDERS' "${config/120000000000/$1}" >/dev/null; }
last=$(sed 's/.*"last_seq":\([0-9]*\).*/\1/' <<<"$info")
message "$last"
repeated=$(again)  # stored if its first arrival was long ago
case $(again) in *'"duplicate":true'*) ;; *) fail 'the server does not discard a repetition' ;; esac
expect_success "${running[@]}"
window 100000000
await 'the server discards a repetition after the duplicate window' stored_again
await 'the server discards another repetition after the duplicate window' stored_again
window 120000000000
delete "$last"
[ "$(sequence_in "$repeated")" = "$last" ] || delete "$(sequence_in "$repeated")"
wrong '1 orders have several messages within the duplicate window'
delete "$(sequence_in "$reply")"
expect_success "${running[@]}"

# The first message after the others.
message 1
delete 1
window 100000000
await 'the server discards a repetition after the duplicate window' stored_again
window 120000000000
wrong '1 messages arrived after a later one of their customer'
change "INSERT INTO outbox (key, id, body) VALUES ('x', 'order-8', 'x')"
wrong '1 messages have no committed order; 1 messages arrived after a later one of their customer'

# A stream without its orders, and orders of another input.
refused()
{
    expect_exit 1 "${running[@]}"
    grep -q "$1" err || fail "another error than $1"
}
change "UPDATE orders SET item = 'x' WHERE id = 5"
refused 'the table orders is of another input'
change 'DELETE FROM orders'
refused 'the stream WAYBILL_ORDERS has messages, but there are no orders'
echo 'outbox_servers: changed tables and streams are found'
