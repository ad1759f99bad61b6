# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# A part of ../send_batches.sh. A real NATS server.

if [ -z "$python" ]; then
    skip "nats: no python3 to read what got there"
elif "$program" --help | grep -q 'nats://.*built without'; then
    skip "nats: send_batches was built without libnats-dev"
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
            says 'greater than maximum allowed: 65536'
        fi
    done
    background reader "$python" "$here/readers.py" nats "$port" bytes got
    reader=$pid
    first_line reader >/dev/null
    to_the_byte "nats://127.0.0.1:$port/bytes" 65536 1
    cat exact over >both
    becomes got both || fail 'NATS: what came out is not what went in'
    stopped "$reader"

    # Nobody listens: nothing is sent into the void, and what was accepted is not called kept.
    answers 1 --to "nats://127.0.0.1:$port/nobody"
    says 'stopped: 503 no responders: nobody listens to nobody; nothing behind line '
    is sends 1
    is accepted 0
    background reader "$python" "$here/readers.py" nats "$port" one got
    reader=$pid
    first_line reader >/dev/null
    answers 0 --to "nats://127.0.0.1:$port/one" --input one
    says 'lines published'
    says 'once, that it was published; core NATS keeps nothing without a subscriber'
    stopped "$reader"
    answers 0 --help
    says 'nats://HOST:PORT/SUBJECT (core NATS keeps nothing without a subscriber)'
    answers 1 --to "nats://127.0.0.1:$port/forbidden"
    says 'Permissions Violation'
    is sends 1
    stopped "$server"

    # Who may not have an inbox cannot be told that nobody listens, and sends all the same.
    port=$(read_by port)
    sed "s/^listen.*/listen: 127.0.0.1:$port/; s/permissions: {/& subscribe: { deny: [\"_INBOX.>\"] }, /" nats.conf >mute.conf
    background nats nats-server -c mute.conf
    server=$pid
    listening "$port"
    answers 0 --to "nats://127.0.0.1:$port/nobody" --input one
    is accepted 1
    says 'core NATS keeps nothing without a subscriber'
    stopped "$server"
    held+=(nats)
fi
