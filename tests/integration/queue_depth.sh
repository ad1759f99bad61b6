#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The depth of real queues: ready messages are those that were sent, and messages in flight those
# that a worker has. A depth that cannot be read is unknown, not empty. An engine that is not
# installed is named and skipped.
set -euo pipefail
# has HEADER
has() { echo "#include <$1>" | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1; }
if ! has nlohmann/json.hpp || ! has sqlite3.h || ! has curl/curl.h; then
    echo 'SKIP: queue_depth: there is no nlohmann/json, SQLite or libcurl to build with'
    exit 0
fi
here=$WAYBILL_SOURCE/tests/integration/queue_depth
work=$(mktemp -d)
servers=()
stop()
{
    local server
    # RabbitMQ is started by a shell that forwards no signals, and its regular end takes long.
    server=$(cat "$work/rabbit/pid" 2>/dev/null) && kill -9 "$server" 2>/dev/null || true
    for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; done
    wait
    rm -rf "$work"
}
trap stop EXIT

bus=()
if has pugixml.hpp && has openssl/hmac.h; then bus=(-DWAYBILL_ENGINES_SERVICE_BUS -lcrypto -lpugixml); fi
nats=()
! has nats/nats.h || nats=(-DWAYBILL_ENGINES_NATS -lnats)
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" \
    -DWAYBILL_ENGINES_CURL "$here/ask.cpp" -o "$work/ask" ${nats[@]+"${nats[@]}"} ${bus[@]+"${bus[@]}"} -lsqlite3 -lcurl -pthread

# A port that was free a moment ago.
free_port() { "$work/ask" port; }
wrong=0
born=0
# started FILE COMMAND...: a server in the background that prints its port, which is in `port` then.
started()
{
    local file=$1
    shift
    "$@" >"$file" 2>&1 &
    servers+=($!)
    for _ in $(seq 100); do
        [ ! -s "$file" ] || break
        sleep 0.1
    done
    port=$(cat "$file")
}
# is WHERE WORDS: the depth there matches WORDS. It is read again if the broker needs a moment. An
# age is in whole seconds, and must be possible: no message was sent before `born`.
is()
{
    local said
    for _ in $(seq 600); do
        said=$("$work/ask" depth "$1") || true
        # shellcheck disable=SC2053 # a pattern
        if [[ $said == $2 ]]; then
            [[ $said != *', age '* || ${said##* } -le $((SECONDS - born + 1)) ]] && return 0
        fi
        sleep 0.1
    done
    echo "$1: $said, not $2" >&2
    wrong=$((wrong + 1))
}

cd "$work"
"$work/ask" forms || wrong=$((wrong + 1))
timeout 600 "$work/ask" strange || wrong=$((wrong + 1))
is sqlite:none 'unknown: there is no file none'
echo text >text
is sqlite:text 'unknown: there is no queue in text'
born=$SECONDS
"$work/ask" sqlite || wrong=$((wrong + 1))
is sqlite:work.sqlite '2 ready, 1 in flight, age +([0-9])'
is sqlite:plain.sqlite '3 ready, 0 in flight'
is sqlite:other.sqlite 'unknown: there is no queue in other.sqlite'
held=(SQLite)

# No server of these two services can be installed. Their stand-ins check the signatures.
if command -v python3 >/dev/null; then
    started sqs.port python3 "$here/../send_batches/sqs_stand_in.py" sent 1000 signed=someone:secret
    is "sqs:http://127.0.0.1:$port/1234/orders" '*MissingAuthenticationToken*'
    export AWS_ACCESS_KEY_ID=someone AWS_SECRET_ACCESS_KEY=secret
    is "sqs:http://127.0.0.1:$port/1234/orders" '*AWS_REGION'
    export AWS_REGION=eu-west-1
    is "sqs:http://127.0.0.1:$port/1234/orders" '0 ready, 2 in flight'
    is "sqs:http://127.0.0.1:$port/1234/nowhere" 'unknown: SQS, queue nowhere: QueueDoesNotExist*'
    AWS_SECRET_ACCESS_KEY=other is "sqs:http://127.0.0.1:$port/1234/orders" '*SignatureDoesNotMatch*'
    is sqs:http://127.0.0.1:1/1234/orders 'unknown: SQS, queue orders: *Connection refused'
    held+=(SQS)
    if [ ${#bus[@]} -gt 0 ]; then
        is servicebus:orders '*set the variable AZURE_SERVICEBUS_CONNECTION_STRING to the connection string of the namespace'
        started bus.port python3 "$here/service_bus_stand_in.py" reader k+/=
        at="Endpoint=sb://127.0.0.1:$port/;UseDevelopmentEmulator=true;SharedAccessKeyName=reader"
        export AZURE_SERVICEBUS_CONNECTION_STRING=$at
        is servicebus:a/orders '*SharedAccessKey is missing'
        export AZURE_SERVICEBUS_CONNECTION_STRING="$at;SharedAccessKey=k+/="
        is servicebus:a/orders '7 ready, 0 in flight'
        is servicebus:topic 'unknown: Service Bus, queue topic: there is no such queue, or it is a topic'
        is servicebus:none 'unknown: Service Bus, queue none: there is no such queue, or it is a topic'
        AZURE_SERVICEBUS_CONNECTION_STRING="$at;SharedAccessKey=k" is servicebus:a/orders '*the key is not accepted*'
        AZURE_SERVICEBUS_CONNECTION_STRING="$at;SharedAccessKey=k+/=;EntityPath=b" is servicebus:a/orders \
            '*EntityPath names another queue'
        held+=('Service Bus')
    fi
fi

port=$(free_port)
if [ ${#nats[@]} = 0 ]; then
    echo 'SKIP: there is no nats.c (libnats-dev)'
elif command -v nats-server >/dev/null; then
    is "nats://127.0.0.1:$port/ORDERS/workers" '*No server available for connection*'
    cat >nats.conf <<CONF
listen: 127.0.0.1:$port
jetstream { store_dir: "$work/js" }
accounts: { A: { jetstream: enabled, users: [ { user: u, password: "p@/" } ] }
            B: { users: [ { user: none, password: p } ] } }
CONF
    nats-server -c nats.conf >nats.log 2>&1 &
    servers+=($!)
    at=nats://u:p%40%2F@127.0.0.1:$port
    is "nats://127.0.0.1:$port/ORDERS/workers" '*Authorization Violation*'
    is "nats://none:p@127.0.0.1:$port/ORDERS/workers" '*JetStream*'
    is "$at/ORDERS/workers" '*stream not found)'
    exec {nats}<>"/dev/tcp/127.0.0.1/$port"
    # shellcheck disable=SC2016 # the $ of a subject
    js='$JS.API'
    # say SUBJECT PAYLOAD: a reply, if there is one, goes to an inbox without a reader.
    say()
    {
        printf 'PUB %s inbox %d\r\n%s\r\n' "$1" ${#2} "$2" >&"$nats"
        sleep 0.1
    }
    printf 'CONNECT {"verbose":false,"user":"u","pass":"p@/"}\r\n' >&"$nats"
    say "$js.STREAM.CREATE.ORDERS" '{"name":"ORDERS","subjects":["orders.*"],"storage":"memory"}'
    is "$at/ORDERS/workers" '*consumer not found'
    say "$js.CONSUMER.DURABLE.CREATE.ORDERS.workers" '{"stream_name":"ORDERS","config":{
        "durable_name":"workers","ack_policy":"explicit","filter_subject":"orders.new"}}'
    is "$at/ORDERS/workers" '0 ready, 0 in flight, age 0'
    born=$SECONDS
    for n in 1 2 3; do
        say orders.new "$n"
        say orders.old "$n" # not for this consumer
    done
    is "$at/ORDERS/workers" '3 ready, 0 in flight, age +([0-9])'
    printf 'SUB inbox 1\r\n' >&"$nats"
    say "$js.CONSUMER.MSG.NEXT.ORDERS.workers" 2
    is "$at/ORDERS/workers" '1 ready, 2 in flight, age +([0-9])'
    say "$js.CONSUMER.MSG.NEXT.ORDERS.workers" 1
    is "$at/ORDERS/workers" '0 ready, 3 in flight, age 0'
    exec {nats}>&-
    held+=('NATS JetStream')
else
    echo 'SKIP: there is no nats-server'
fi

port=$(free_port)
is "rabbitmq://127.0.0.1:$port/orders" '*Connection refused'
rabbit=/usr/lib/rabbitmq/bin/rabbitmq-server
if [ -x "$rabbit" ] && command -v epmd >/dev/null && command -v curl >/dev/null; then
    mkdir -p rabbit/{mnesia,log,home}
    epmd=$(free_port)
    erlang='-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none'
    cat >rabbit/rabbitmq.conf <<CONF
listeners.tcp.1 = 127.0.0.1:$(free_port)
management.tcp.ip = 127.0.0.1
management.tcp.port = $port
collect_statistics_interval = 500
management.sample_retention_policies.global.minute = 1
management.sample_retention_policies.basic.minute = 1
management.sample_retention_policies.detailed.10 = 1
log.console = false
CONF
    echo '[rabbitmq_management].' >rabbit/enabled_plugins
    epmd -address 127.0.0.1 -port "$epmd" >rabbit/log/epmd 2>&1 &
    servers+=($!)
    env "HOME=$work/rabbit/home" "RABBITMQ_NODENAME=depth$port@localhost" \
        "RABBITMQ_DIST_PORT=$(free_port)" "ERL_EPMD_PORT=$epmd" ERL_EPMD_ADDRESS=127.0.0.1 \
        "RABBITMQ_MNESIA_BASE=$work/rabbit/mnesia" "RABBITMQ_LOG_BASE=$work/rabbit/log" \
        "RABBITMQ_CONFIG_FILE=$work/rabbit/rabbitmq.conf" RABBITMQ_CONF_ENV_FILE=/dev/null \
        "RABBITMQ_ENABLED_PLUGINS_FILE=$work/rabbit/enabled_plugins" \
        "RABBITMQ_PID_FILE=$work/rabbit/pid" LC_ALL=C.UTF-8 \
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=$erlang" \
        "$rabbit" </dev/null >rabbit/log/start 2>&1 &
    servers+=($!)
    api=http://guest:guest@127.0.0.1:$port/api
    # tell METHOD PATH JSON
    tell() { curl -fsS -X "$1" -H 'Content-Type: application/json' -d "$3" "$api/$2" 2>&1; }
    up=
    for _ in $(seq 600); do
        tell PUT queues/%2F/orders '{"durable":true}' >/dev/null && up=1 && break
        sleep 0.5
    done
    [ -n "$up" ] || { tail -n 5 rabbit/log/start >&2; echo 'RabbitMQ does not start' >&2; exit 1; }
    is "rabbitmq://127.0.0.1:$port/none" '*there is no such queue in virtual host /'
    is "rabbitmq://127.0.0.1:$port/v/orders" '*there is no such queue in virtual host v'
    is "rabbitmq://guest:no@127.0.0.1:$port/orders" '*not accepted'
    is "rabbitmq://127.0.0.1:$port/orders" '0 ready, 0 in flight, age 0'
    born=$((SECONDS - 100)) # the age in these replies
    for n in 1 2 3; do
        tell POST exchanges/%2F/amq.default/publish '{"routing_key":"orders","payload":"'$n'",
            "payload_encoding":"string","properties":{"timestamp":'"$(($(date +%s) - 100))"'}}' >got
        grep -q '"routed":true' got
    done
    is "rabbitmq://guest:guest@127.0.0.1:$port/%2F/orders" '3 ready, 0 in flight, age 1[0-9][0-9]'
    tell PUT queues/%2F/no%2Ftime '{"durable":true}' >got
    tell POST exchanges/%2F/amq.default/publish '{"routing_key":"no/time","payload":"1",
        "payload_encoding":"string","properties":{}}' >got
    is "rabbitmq://127.0.0.1:$port/no%2Ftime" '1 ready, 0 in flight'
    held+=(RabbitMQ)
else
    echo 'SKIP: there is no rabbitmq-server, or no epmd or curl'
fi

[ "$wrong" = 0 ] || { echo "$wrong wrong" >&2; exit 1; }
echo "depths read as they are: $(printf '%s, ' "${held[@]}" | sed 's/, $//')"
