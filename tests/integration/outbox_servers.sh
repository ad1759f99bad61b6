#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# outbox with rows in PostgreSQL and a stream of NATS JetStream: on single servers and on a cluster,
# with relays, the shop and servers killed; killed from outside at any moment; and on running servers,
# where changed tables and streams must be found.
set -euo pipefail
export LC_ALL=C
PATH=$PATH:/usr/sbin
program=$WAYBILL_BIN/examples/outbox
server=$WAYBILL_SOURCE/tests/integration/engines/postgres_server
work=$(mktemp -d /tmp/waybill-outbox.XXXXXX)
chmod 711 "$work"  # PostgreSQL may run as another user
folder=
nats=
stop()
{
    [ -z "$nats" ] || kill "$nats" 2>/dev/null || true
    [ -z "$folder" ] || bash "$server" remove "$folder"
    rm -rf "$work"
}
trap stop EXIT

fail()
{
    echo "outbox_servers: $*" >&2
    exit 1
}

# expect_success SECONDS ARGS...: a run that must be right.
expect_success()
{
    local code=0 limit=$1
    shift
    timeout "$limit" "$program" "$@" >"$work/out" 2>"$work/err" || code=$?
    if grep -q 'built without libnats-dev\|there is no nats-server\|no PostgreSQL' "$work/err"; then
        echo "SKIP: outbox_servers: $(cat "$work/err")"
        exit 0
    fi
    [ $code = 0 ] || fail "exit $code of $*: $(cat "$work/out" "$work/err")"
    grep -q '^checked: each committed order has exactly one message' "$work/out" || fail "$*: not checked"
}

# number ROW: of the table at the end.
number() { sed -n "s/^ *$1 *\([0-9,]*\)\$/\1/p" "$work/out" | tr -d , | head -n 1; }

# at_least COUNT ROW
at_least() { [ "$(number "$2")" -ge "$1" ] || fail "$2: $(number "$2") instead of at least $1"; }

own=(--table postgres: --to nats:)

# killed_after SECONDS ARGS...: kill -9 of the whole program at a moment of a run.
killed_after()
{
    local pause=$1
    shift
    "$program" "${own[@]}" "$@" >"$work/out" 2>&1 &
    local main=$!
    sleep "$pause"
    kill -9 $main 2>/dev/null || fail "it ended before it was killed: $(cat "$work/out")"
    wait $main 2>/dev/null || true
}

# One server each; relays and the shop are killed, and the whole program from outside.
for pause in 2 4; do killed_after $pause --kill 20 --seed $pause --db "$work/one"; done
expect_success 100 "${own[@]}" --kill 4 --db "$work/one"
cat "$work/out"
[ "$(number 'orders committed')" = 1175 ] || fail "$(number 'orders committed') orders, and not 1175"
[ "$(number 'orders rolled back')" = 167 ] || fail "$(number 'orders rolled back') orders rolled back, and not 167"
at_least 2 'relays killed with -9'
at_least 1 'of these while they published'
at_least 1 'shops killed with -9'

# The same on the cluster, with kills of servers.
killed_after 9 --cluster --kill 20 --db "$work/db"
expect_success 150 "${own[@]}" --cluster --kill 7 --db "$work/db"
cat "$work/out"
at_least 1 'leaders of the stream killed with -9'
at_least 1 'primaries killed with -9'
rm -rf "$work/db" "$work/one"

# Servers that run already.
folder=$(bash "$server" make) || fail 'no PostgreSQL server'
nats-server -a 127.0.0.1 -p -1 -js -sd "$work/nats" --ports_file_dir "$work" >"$work/nats.log" 2>&1 &
nats=$!
for _ in $(seq 300); do
    [ ! -s "$work/nats-server_$nats.ports" ] || break
    sleep 0.05
done
url=$(grep -o 'nats://[^"]*' "$work/nats-server_$nats.ports" | head -n 1)
port=${url##*:}
where=$(cat "$folder/where")
# word NAME: of the address.
word() { sed -n "s/.*\<$1=\([^ ]*\).*/\1/p" <<<"$where"; }
uri="postgres://$(word user):$(word password)@$(word host):$(word port)/$(word dbname)"
head -n 1500 "$WAYBILL_SOURCE/examples/mailroom/recording.ndjson" >"$work/input"
running=(--table "$uri" --to "nats://127.0.0.1:$port" --input "$work/input")
expect_success 60 "${running[@]}" --kill 1
orders=$(number 'orders committed')
expect_success 60 "${running[@]}"
[ "$(number 'orders committed')" = "$orders" ] || fail 'a second run has other orders'

# sql TEXT
sql() { psql -q "$where" -c "$1" >/dev/null || fail "cannot: $1"; }
# wrong WORDS: the next run finds it, and nothing else.
wrong()
{
    local code=0
    timeout 60 "$program" "${running[@]}" >"$work/out" 2>"$work/err" || code=$?
    [ $code = 1 ] && grep -qx "WRONG: $1" "$work/out" ||
        fail "exit $code instead of WRONG: $1: $(cat "$work/out" "$work/err")"
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
    while read -r -t 10 line <&5; do
        case $line in '{'*) break ;; esac
    done
    exec 5>&-
    case $line in *'"error"'* | '') fail "$1 $2: $line" ;; '{'*) echo "$line" ;; esac
}
# in_reply NAME REPLY: a text in it.
in_reply() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" <<<"$2"; }
sql 'CREATE TABLE kept AS SELECT * FROM orders WHERE id = 5'
sql 'DELETE FROM orders WHERE id = 5'
wrong '1 orders are lost; 1 messages have no committed order'
sql 'INSERT INTO orders SELECT * FROM kept'
expect_success 60 "${running[@]}"
sql "UPDATE orders SET customer = 'another' WHERE id = 5"
wrong '1 messages differ from their order'
sql 'UPDATE orders SET customer = kept.customer FROM kept WHERE orders.id = 5'

# The first message again, in the place of the server that does not discard it.
first=$(request '$JS.API.STREAM.MSG.GET.WAYBILL_ORDERS' '{"seq":1}')
id=$(in_reply hdrs "$first" | base64 -d | tr -d '\r' | sed -n 's/^Nats-Msg-Id: *//p')
subject=$(in_reply subject "$first")
body=$(in_reply data "$first" | base64 -d)
again() { request "$subject" "$body" "Nats-Msg-Id:$id" | tr -d ' '; }
case $(again) in *'"duplicate":true'*) ;; *) fail 'the server does not discard a repetition' ;; esac
expect_success 60 "${running[@]}"
# window NANOSECONDS
config=$(request '$JS.API.STREAM.INFO.WAYBILL_ORDERS' '' | sed 's/.*"config":\({[^}]*}\).*/\1/')
window() { request '$JS.API.STREAM.UPDATE.WAYBILL_ORDERS' "${config/120000000000/$1}" >/dev/null; }
window 100000000
for _ in $(seq 100); do
    case $(again) in *'"duplicate":true'*) sleep 0.1 ;; *) break ;; esac
done
window 120000000000
wrong '1 orders have several messages within the duplicate window'
request '$JS.API.STREAM.MSG.DELETE.WAYBILL_ORDERS' '{"seq":1}' >/dev/null
wrong '1 messages arrived after a later one of their customer'
sql "INSERT INTO outbox (key, id, body) VALUES ('x', 'order-8', 'x')"
wrong '1 messages have no committed order; 1 messages arrived after a later one of their customer'

# A stream without its orders, and orders of another input.
refused()
{
    ! timeout 60 "$program" "${running[@]}" >"$work/out" 2>"$work/err" || fail "it does not refuse: $1"
    grep -q "$1" "$work/err" || fail "another error than $1: $(cat "$work/err")"
}
sql "UPDATE orders SET item = 'x' WHERE id = 5"
refused 'the table orders is of another input'
sql 'DELETE FROM orders'
refused 'the stream WAYBILL_ORDERS has messages, but there are no orders'
echo 'outbox_servers: changed tables and streams are found'
