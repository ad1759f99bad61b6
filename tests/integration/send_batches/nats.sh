# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# A part of ../send_batches.sh. A real NATS server.

if [ -z "$python" ]; then
    skip_part "nats: no python3 to read what got there"
elif "$program" --help | grep -q 'nats://.*built without'; then
    skip_part "nats: send_batches was built without libnats-dev"
elif ! command -v nats-server >/dev/null; then
    skip_part "nats: nats-server is not installed"
else
    port=$(read_by port)
    cat >nats.conf <<CONF
listen: 127.0.0.1:$port
max_payload: 65536
accounts: { A: { users: [ { user: u, password: p, permissions: { publish: { deny: ["forbidden"] } } } ] } }
no_auth_user: u
CONF
    start nats nats-server -c nats.conf
    await "no server listens on port $port" listens "$port"
    for how in "" --blind; do
        start reader "$python" "$parts/readers.py" nats "$port" all got
        first_line reader >first
        expect_exit 0 --to "nats://127.0.0.1:$port/all" $how
        same got "NATS $how"
        killed reader TERM
        if [ -z "$how" ]; then
            expect_number refusals 0
            expect_number sends "$(report_number fewest)"
        else
            above refusals 0
            within 15 10 3
            expect_output 'greater than maximum allowed: 65536'
        fi
    done
    start reader "$python" "$parts/readers.py" nats "$port" bytes got
    first_line reader >first
    to_the_byte "nats://127.0.0.1:$port/bytes" 65536 1
    cat exact over >both
    becomes got both
    killed reader TERM

    # Without a subscriber nothing is sent, and accepted messages are not reported as stored.
    expect_exit 1 --to "nats://127.0.0.1:$port/unread"
    expect_output 'stopped: 503 no responders: there is no subscriber of unread; no line after line '
    expect_number sends 1
    expect_number accepted 0
    start reader "$python" "$parts/readers.py" nats "$port" one got
    first_line reader >first
    expect_exit 0 --to "nats://127.0.0.1:$port/one" --input one
    expect_output 'lines published'
    expect_output 'each line was published once; core NATS stores no message, only subscribers receive it'
    killed reader TERM
    expect_exit 0 --help
    expect_output 'nats://HOST:PORT/SUBJECT (core NATS stores no message, only subscribers receive it)'
    expect_exit 1 --to "nats://127.0.0.1:$port/forbidden"
    expect_output 'Permissions Violation'
    expect_number sends 1
    killed nats TERM

    # A client that may not have an inbox gets no report of missing subscribers, and sends.
    port=$(read_by port)
    sed "s/^listen.*/listen: 127.0.0.1:$port/; s/permissions: {/& subscribe: { deny: [\"_INBOX.>\"] }, /" nats.conf >mute.conf
    start nats nats-server -c mute.conf
    await "no server listens on port $port" listens "$port"
    expect_exit 0 --to "nats://127.0.0.1:$port/unread" --input one
    expect_number accepted 1
    expect_output 'core NATS stores no message, only subscribers receive it'
    killed nats TERM
    held+=(nats)
fi
