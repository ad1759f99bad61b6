#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The queue of sessions and the pipeline dead letters in PostgreSQL, on a server that is created for
# them and removed again. Their conformance suites, locks of processes and connections that end, and
# each step in effect once while workers and the server are killed.
set -euo pipefail
# shellcheck source=engines/postgres_for_tests.sh
source "$WAYBILL_SOURCE/tests/integration/engines/postgres_for_tests.sh" postgres_sessions
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" "${flags[@]}" \
    "$WAYBILL_SOURCE/tests/integration/engines/postgres_sessions.cpp" -o "$work/postgres_sessions" -lpq -pthread
timeout 300 "$work/postgres_sessions" "$(cat "$folder/where")" "$folder" "$server"
