#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The depth of real queues: ready messages are those that were sent, and messages in flight those
# that a worker has. A depth that cannot be read is unknown, not empty. An engine that is not
# installed is named and skipped.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs queue_depth
program=$programs/queue_depth
peers=$here/queue_depth

# A port that was free a moment ago.
free_port() { "$program" port; }
born=0
# is WHERE PATTERN: the depth there becomes one of the pattern. An age is in whole seconds, and must
# be possible: no message was sent before `born`.
is() { await "$1 is not $2" depth_is "$1" "$2"; }
depth_is()
{
    local depth
    depth=$("$program" depth "$1") || true
    # shellcheck disable=SC2053 # a pattern
    [[ $depth == $2 ]] && [[ $depth != *', age '* || ${depth##* } -le $((SECONDS - born + 1)) ]]
}

expect_exit 0 forms
expect_exit 0 strange
is sqlite:none 'unknown: there is no file none'
echo text >text
is sqlite:text 'unknown: there is no queue in text'
born=$SECONDS
expect_exit 0 sqlite
is sqlite:work.sqlite '2 ready, 1 in flight, age +([0-9])'
is sqlite:plain.sqlite '3 ready, 0 in flight'
is sqlite:other.sqlite 'unknown: there is no queue in other.sqlite'
held=(SQLite)

# No server of these two services can be installed. Their stand-ins check the signatures.
if command -v python3 >/dev/null; then
    start sqs python3 "$here/send_batches/sqs_stand_in.py" sent 1000 signed=someone:secret
    port=$(first_line sqs)
    is "sqs:http://127.0.0.1:$port/1234/orders" '*MissingAuthenticationToken*'
    export AWS_ACCESS_KEY_ID=someone AWS_SECRET_ACCESS_KEY=secret
    is "sqs:http://127.0.0.1:$port/1234/orders" '*AWS_REGION'
    export AWS_REGION=eu-west-1
    is "sqs:http://127.0.0.1:$port/1234/orders" '0 ready, 2 in flight'
    is "sqs:http://127.0.0.1:$port/1234/nowhere" 'unknown: SQS, queue nowhere: QueueDoesNotExist*'
    AWS_SECRET_ACCESS_KEY=other is "sqs:http://127.0.0.1:$port/1234/orders" '*SignatureDoesNotMatch*'
    is sqs:http://127.0.0.1:1/1234/orders 'unknown: SQS, queue orders: *Connection refused'
    held+=(SQS)
    is servicebus:orders '*set the variable AZURE_SERVICEBUS_CONNECTION_STRING to the connection string of the namespace'
    start bus python3 "$peers/service_bus_stand_in.py" reader k+/=
    port=$(first_line bus)
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

port=$(free_port)
if command -v nats-server >/dev/null; then
    is "nats://127.0.0.1:$port/ORDERS/workers" '*No server available for connection*'
    cat >nats.conf <<CONF
listen: 127.0.0.1:$port
jetstream { store_dir: "$work/js" }
accounts: { A: { jetstream: enabled, users: [ { user: u, password: "p@/" } ] }
            B: { users: [ { user: none, password: p } ] } }
CONF
    start nats nats-server -c nats.conf
    at=nats://u:p%40%2F@127.0.0.1:$port
    is "nats://127.0.0.1:$port/ORDERS/workers" '*Authorization Violation*'
    is "nats://none:p@127.0.0.1:$port/ORDERS/workers" '*JetStream*'
    is "$at/ORDERS/workers" '*stream not found)'
    exec {connection}<>"/dev/tcp/127.0.0.1/$port"
    # shellcheck disable=SC2016 # the $ of a subject
    js='$JS.API'
    # say SUBJECT PAYLOAD: a reply, if there is one, goes to an inbox without a reader.
    say() { printf 'PUB %s inbox %d\r\n%s\r\n' "$1" ${#2} "$2" >&"$connection"; }
    printf 'CONNECT {"verbose":false,"user":"u","pass":"p@/"}\r\n' >&"$connection"
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
    printf 'SUB inbox 1\r\n' >&"$connection"
    say "$js.CONSUMER.MSG.NEXT.ORDERS.workers" 2
    is "$at/ORDERS/workers" '1 ready, 2 in flight, age +([0-9])'
    say "$js.CONSUMER.MSG.NEXT.ORDERS.workers" 1
    is "$at/ORDERS/workers" '0 ready, 3 in flight, age 0'
    exec {connection}>&-
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
    start epmd epmd -address 127.0.0.1 -port "$epmd"
    start rabbit env "HOME=$work/rabbit/home" "RABBITMQ_NODENAME=depth$port@localhost" \
        "RABBITMQ_DIST_PORT=$(free_port)" "ERL_EPMD_PORT=$epmd" ERL_EPMD_ADDRESS=127.0.0.1 \
        "RABBITMQ_MNESIA_BASE=$work/rabbit/mnesia" "RABBITMQ_LOG_BASE=$work/rabbit/log" \
        "RABBITMQ_CONFIG_FILE=$work/rabbit/rabbitmq.conf" RABBITMQ_CONF_ENV_FILE=/dev/null \
        "RABBITMQ_ENABLED_PLUGINS_FILE=$work/rabbit/enabled_plugins" \
        "RABBITMQ_PID_FILE=$work/rabbit/pid" LC_ALL=C.UTF-8 \
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=$erlang" \
        "$rabbit"
    api=http://guest:guest@127.0.0.1:$port/api
    # tell METHOD PATH JSON
    tell() { curl -fsS -X "$1" -H 'Content-Type: application/json' -d "$3" "$api/$2" 2>&1; }
    has_queue() { tell PUT queues/%2F/orders '{"durable":true}' >/dev/null; }
    await 'RabbitMQ does not start' has_queue
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

echo "depths read as they are: $(printf '%s, ' "${held[@]}" | sed 's/, $//')"
