#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# RabbitMQ with a quorum queue and 100,000 events. Each line of the output is one fault.
#
#     kill -9                  the server is killed and started again
#     memory alarm             publishers are blocked for 14 s
#     cut connections          a proxy closes connections of the publisher at random
#     slow consumer            acknowledgements come late, and connections end before them
set -euo pipefail
# shellcheck source=common.sh
source "$WAYBILL_SOURCE/tests/engines/common.sh" rabbitmq
needs_header amqp.h librabbitmq-dev
needs_program epmd
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || needs_program rabbitmq-server
export VERSION
VERSION=$(dpkg-query -W -f='${Version}' rabbitmq-server 2>/dev/null | sed 's/-.*//' || true)
compiled "$WAYBILL_SOURCE/tests/engines/rabbitmq.cpp" -lrabbitmq
lines 600 "$bin/rabbitmq" "$work"
finished
