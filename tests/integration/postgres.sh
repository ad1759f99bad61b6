#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The store on PostgreSQL, on a server that is created for it and removed again: the properties that
# the library relies on, races, cut connections, and each event once although the server is killed
# during commits.
set -euo pipefail
# shellcheck source=engines/postgres_for_tests.sh
source "$WAYBILL_SOURCE/tests/integration/engines/postgres_for_tests.sh" postgres
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" "${flags[@]}" \
    "$WAYBILL_SOURCE/tests/integration/engines/postgres_store.cpp" -o "$work/postgres_store" -lpq -pthread
timeout 600 "$work/postgres_store" "$(cat "$folder/where")" "$folder" "$server"
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" "${flags[@]}" \
    "$WAYBILL_SOURCE/tests/integration/engines/postgres_outbox.cpp" -o "$work/postgres_outbox" -lpq -pthread
timeout 600 "$work/postgres_outbox" "$(cat "$folder/where")"
