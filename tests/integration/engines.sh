#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The adapters in examples/engines hold what the library asks of them.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/stores"
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" \
    "$WAYBILL_SOURCE/tests/integration/engines/sqlite_store.cpp" -o "$work/sqlite_store" -lsqlite3
"$work/sqlite_store" "$work/stores"
