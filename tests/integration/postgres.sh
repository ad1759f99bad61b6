#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The store on PostgreSQL, on a server that is made for it and removed again: what the library asks
# of a store, races, cut connections, and each event once though the server is killed in the middle
# of commits.
set -euo pipefail
work=$(mktemp -d)
server=$WAYBILL_SOURCE/tests/integration/engines/postgres_server
folder=
stop()
{
    [ -z "$folder" ] || bash "$server" remove "$folder"
    rm -rf "$work"
}
trap stop EXIT

flags=()
for each in "$(pg_config --includedir 2>/dev/null)" "$(pkg-config --variable=includedir libpq 2>/dev/null)" \
    /usr/include/postgresql; do
    if [ -e "$each/libpq-fe.h" ]; then flags=(-isystem "$each"); fi
done
if ! echo '#include <libpq-fe.h>' | "${CXX:-c++}" "${flags[@]}" -E -x c++ - >/dev/null 2>&1; then
    echo 'SKIP: postgres: there is no libpq-fe.h (libpq-dev)'
    exit 0
fi
if ! folder=$(bash "$server" make 2>"$work/why"); then
    folder=
    # Only where there is none at all it is no failure.
    if ! grep -q '^there is no\|^PostgreSQL does not run as root' "$work/why"; then
        cat "$work/why" >&2
        exit 1
    fi
    echo "SKIP: postgres: $(cat "$work/why")"
    exit 0
fi
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" "${flags[@]}" \
    "$WAYBILL_SOURCE/tests/integration/engines/postgres_store.cpp" -o "$work/postgres_store" -lpq -pthread
timeout 600 "$work/postgres_store" "$(cat "$folder/where")" "$folder" "$server"
