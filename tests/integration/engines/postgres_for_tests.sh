# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# For scripts that source it with NAME as an argument: a PostgreSQL server in $folder, which is
# removed on exit together with $work, and the compiler's options for libpq in $flags. Without
# PostgreSQL or libpq it prints "SKIP: NAME: reason" and ends the script with 0.
name=$1
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
# shellcheck source=libpq_flags.sh
source "$WAYBILL_SOURCE/tests/integration/engines/libpq_flags.sh"
if ! folder=$(bash "$server" make 2>"$work/why"); then
    folder=
    # A server that cannot be started is a failure, unless none is installed.
    if ! grep -q '^there is no\|^PostgreSQL does not run as root' "$work/why"; then
        cat "$work/why" >&2
        exit 1
    fi
    echo "SKIP: $name: $(cat "$work/why")"
    exit 0
fi
