#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# SQLite with 100,000 events. Each line of the output is one fault.
#
#     full disk                PRAGMA max_page_count makes writes fail; it is lifted later
#     busy                     another connection holds the write lock longer than the busy timeout
#     slow consumer            the lock of a message is shorter than the handler
#     kill -9                  reliable_consumer: workers that share a log are killed at random
set -euo pipefail
# shellcheck source=common.sh
source "$WAYBILL_SOURCE/tests/engines/common.sh" sqlite
needs_header sqlite3.h libsqlite3-dev
export VERSION
VERSION=$(echo '#include <sqlite3.h>
SQLITE_VERSION' | "${CXX:-c++}" -E -x c++ - | tail -n 1 | tr -d '"')
compiled "$WAYBILL_SOURCE/tests/engines/sqlite.cpp" -lsqlite3
lines 400 "$bin/sqlite" "$work"
program=$WAYBILL_BIN/examples/reliable_consumer
[ -x "$program" ] || skip 'reliable_consumer was not built, as its packages are missing'
recording >"$work/input"
measured 'kill -9 of workers' 400 '[1-9][0-9]* kills with -9' "$program" --kill 20 --input "$work/input"
finished
