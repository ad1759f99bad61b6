#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# PostgreSQL with 100,000 events. Each line of the output is one fault.
#
#     kill -9                  all processes of the server are killed, and it is started again
#     full disk                a file size limit makes writes fail; it is lifted later
#     cut connections          a proxy closes connections of store and leases at random
#     slow consumer            a handler is slower than the lease of its partition
#     outbox                   kill -9 and cut connections of a shop and of a relay
#     primary and standby      kill -9 of the primary, promotion of the standby
#     the whole                reliable_consumer with NATS: workers, nodes and primaries are killed
set -euo pipefail
# shellcheck source=common.sh
source "$WAYBILL_SOURCE/tests/engines/common.sh" postgresql
name=postgresql
# shellcheck source=../integration/engines/libpq_flags.sh
source "$WAYBILL_SOURCE/tests/integration/engines/libpq_flags.sh"
server=$WAYBILL_SOURCE/tests/integration/engines/postgres_server
folder=
trap '[ -z "$folder" ] || bash "$server" remove "$folder"; rm -rf "$work"' EXIT
if ! folder=$(bash "$server" make 2>"$work/why"); then
    folder=
    grep -q '^there is no\|^PostgreSQL does not run as root' "$work/why" || { cat "$work/why" >&2; exit 1; }
    skip "$(cat "$work/why")"
fi
export VERSION
VERSION=$(cat "$folder/data/PG_VERSION")
compiled "$WAYBILL_SOURCE/tests/engines/postgres.cpp" "${flags[@]}" -lpq
lines 900 "$bin/postgres" "$(cat "$folder/where")" "$folder" "$server"
lines 300 "$bin/postgres" pair "$work/pair"
program=$WAYBILL_BIN/examples/reliable_consumer
if command -v nats-server >/dev/null && [ -x "$program" ]; then
    recording >"$work/input"
    measured 'with NATS: kill -9 of workers and servers' 400 'nodes? of NATS.*the primary of PostgreSQL' \
        "$program" --log nats: --store postgres: --cluster --kill 30 --input "$work/input"
else
    echo 'SKIP: postgresql with NATS: there is no nats-server, or reliable_consumer was not built'
fi
finished
