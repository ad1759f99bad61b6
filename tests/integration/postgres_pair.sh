#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A PostgreSQL primary with a standby: no confirmed row is lost by failovers, by an end of the
# primary, or by kill -9 of the program that supervises both servers. As root, it also runs as the
# user postgres.
set -euo pipefail
name=postgres_pair
# shellcheck source=engines/libpq_flags.sh
source "$WAYBILL_SOURCE/tests/integration/engines/libpq_flags.sh"
# Not in TMPDIR, which the user of the servers may not be able to enter.
work=$(mktemp -d /tmp/waybill-pair.XXXXXX)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" "${flags[@]}" \
    "$WAYBILL_SOURCE/tests/integration/engines/postgres_pair.cpp" -o "$work/postgres_pair" -lpq -pthread
if ! "$work/postgres_pair" available >"$work/why"; then
    echo "SKIP: $name: $(cat "$work/why")"
    exit 0
fi
timeout 120 "$work/postgres_pair" failovers "$work/failovers" 20
timeout 120 "$work/postgres_pair" kills "$work/kills" 5
timeout 120 "$work/postgres_pair" calls "$work/calls" 0 1
timeout 120 "$work/postgres_pair" orphans "$work/orphans" 1
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    mkdir "$work/user"
    chown postgres: "$work/user"
    timeout 120 setpriv --reuid=postgres --regid=postgres --clear-groups \
        "$work/postgres_pair" failovers "$work/user/failovers" 2
fi
