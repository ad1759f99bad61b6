# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# A part of ../version_0_1_nats.sh and of golden/v0_1/regenerate: a NATS server with JetStream.

# nats_start FOLDER: on a free port, with its data in the folder. Sets `port` and `nats`.
nats_start()
{
    mkdir -p "$1/ports"
    PATH=$PATH:/usr/sbin nats-server -a 127.0.0.1 -p -1 --ports_file_dir "$1/ports" -js -sd "$1/stored" \
        >"$1/server.log" 2>&1 &
    nats=$!
    for _ in $(seq 300); do
        port=$(cat "$1/ports"/*.ports 2>/dev/null | grep -o '127\.0\.0\.1:[0-9]*' | head -n 1) || true
        port=${port#*:}
        if [ -n "$port" ] && (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then return 0; fi
        kill -0 "$nats" 2>/dev/null || break
        sleep 0.1
    done
    cat "$1/server.log" >&2
    return 1
}

nats_stop()
{
    [ -z "${nats:-}" ] || kill "$nats" 2>/dev/null || true
    [ -z "${nats:-}" ] || wait "$nats" 2>/dev/null || true
    nats=
}
