# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# A part of ../send_batches.sh. A real NATS server.

if [ -z "$python" ]; then
    skip "nats: no python3 to read what got there"
elif ! command -v nats-server >/dev/null; then
    skip "nats: nats-server is not installed"
else
    port=$(read_by port)
    cat >nats.conf <<CONF
listen: 127.0.0.1:$port
max_payload: 65536
accounts: { A: { users: [ { user: u, password: p, permissions: { publish: { deny: ["forbidden"] } } } ] } }
no_auth_user: u
CONF
    background nats nats-server -c nats.conf
    server=$pid
    listening "$port"
    for how in "" --blind; do
        background reader "$python" "$here/readers.py" nats "$port" all got
        reader=$pid
        first_line reader >/dev/null
        answers 0 --to "nats://127.0.0.1:$port/all" $how
        same got "NATS $how"
        stopped "$reader"
        if [ -z "$how" ]; then
            is refusals 0
            is sends "$(number fewest)"
        else
            above refusals 0
            within 15 10 3
            says 'Maximum Payload Violation'
        fi
    done
    background reader "$python" "$here/readers.py" nats "$port" bytes got
    reader=$pid
    first_line reader >/dev/null
    to_the_byte "nats://127.0.0.1:$port/bytes" 65536 1
    stopped "$reader"
    cat exact over | cmp -s - got || fail 'NATS: what came out is not what went in'
    answers 1 --to "nats://127.0.0.1:$port/forbidden"
    says 'Permissions Violation'
    is sends 1
    stopped "$server"
    held+=(nats)
fi
