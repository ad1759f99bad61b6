#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A NATS server accepts messages of exactly the computed maximum of wire/nats, with and without
# headers, and refuses one more byte. If nats.c is installed, it and JetStream agree.
set -euo pipefail
if ! command -v nats-server >/dev/null; then
    echo 'SKIP: there is no nats-server'
    exit 0
fi
here=$WAYBILL_SOURCE/tests/integration/nats_size
max_payload=65536
work=$(mktemp -d)
server=
stop()
{
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap stop EXIT

cxx=("${CXX:-c++}" -std=c++20 -O1 -I"$WAYBILL_SOURCE/include")
"${cxx[@]}" "$here/server.cpp" -o "$work/server"

mkdir "$work/ports"
cat >"$work/nats.conf" <<CONF
listen: 127.0.0.1:-1
max_payload: $max_payload
jetstream { store_dir: "$work/js" }
CONF
nats-server -c "$work/nats.conf" --ports_file_dir "$work/ports" >"$work/log" 2>&1 &
server=$!
url=
for _ in $(seq 600); do
    url=$(sed -n 's/.*"\(nats:[^"]*\)".*/\1/p' "$work"/ports/*.ports 2>/dev/null | head -1) || true
    [ -z "$url" ] || break
    sleep 0.1
done
if [ -z "$url" ]; then
    echo 'the server does not print its address' >&2
    cat "$work/log" >&2
    exit 1
fi

"$work/server" "${url##*:}" $max_payload
if echo '#include <nats/nats.h>' | "${cxx[@]}" -fsyntax-only -x c++ - 2>/dev/null; then
    "${cxx[@]}" "$here/client.cpp" -o "$work/client" -lnats
    "$work/client" "$url" $max_payload
else
    echo 'SKIP: nats.c and JetStream are not asked, as there is no nats/nats.h'
fi
