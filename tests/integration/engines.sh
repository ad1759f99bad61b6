#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The adapters in examples/engines have the properties that the library relies on, and translate a
# broker's replies by its tables.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/stores"
# built NAME FLAGS...
built()
{
    local name=$1
    shift
    "${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" \
        "$WAYBILL_SOURCE/tests/integration/engines/$name.cpp" -o "$work/$name" "$@"
}
# has HEADER
has() { echo "#include <$1>" | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1; }

built sqlite_store -lsqlite3
"$work/sqlite_store" "$work/stores"
built sqlite_sessions -lsqlite3 -pthread
"$work/sqlite_sessions" "$work/stores"
built sqlite_step_letters -lsqlite3
"$work/sqlite_step_letters" "$work/stores"
built sqlite_leases -lsqlite3 -pthread
"$work/sqlite_leases" "$work/stores"
built sqlite_work_queue -lsqlite3
"$work/sqlite_work_queue" "$work/stores"
built sqlite_outbox -lsqlite3 -pthread
"$work/sqlite_outbox" "$work/stores"
built sqlite_log -lsqlite3
"$work/sqlite_log" "$work/stores"
if has nlohmann/json.hpp && has curl/curl.h; then
    built answers -pthread -lcurl
    timeout 600 "$work/answers"
else
    echo 'SKIP: answers: no nlohmann/json or no libcurl'
fi
if has nats/nats.h; then
    built answers_nats -lnats -pthread
    timeout 600 "$work/answers_nats"
else
    echo 'SKIP: answers_nats: no nats.c'
fi
if has proton/message.h; then
    built answers_amqp -lqpid-proton -pthread
    timeout 600 "$work/answers_amqp"
else
    echo 'SKIP: answers_amqp: no Qpid Proton'
fi
