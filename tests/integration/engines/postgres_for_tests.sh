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
for each in "$(pg_config --includedir 2>/dev/null)" "$(pkg-config --variable=includedir libpq 2>/dev/null)" \
    /usr/include/postgresql; do
    if [ -e "$each/libpq-fe.h" ]; then flags=(-isystem "$each"); fi
done
if ! echo '#include <libpq-fe.h>' | "${CXX:-c++}" "${flags[@]}" -E -x c++ - >/dev/null 2>&1; then
    echo "SKIP: $name: there is no libpq-fe.h (libpq-dev)"
    exit 0
fi
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
