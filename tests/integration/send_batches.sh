#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# send_batches against every available broker. All lines arrive exactly once and in order. A batch
# of exactly the limit is accepted, and one byte more is refused. A broker that is not installed is
# named and skipped.
set -euo pipefail
export LC_ALL=C

program=$WAYBILL_BIN/examples/send_batches
recording=$WAYBILL_SOURCE/examples/mailroom/recording.ndjson
here=$WAYBILL_SOURCE/tests/integration/send_batches
work=$(mktemp -d)
declare -A started=()
finish()
{
    local pid
    for pid in "${!started[@]}"; do kill "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
mkdir tmp
export TMPDIR=$work/tmp
held=()
skipped=()

fail()
{
    echo "send_batches: $*" >&2
    [ ! -e out ] || tail -n 50 out err >&2
    exit 1
}
skip()
{
    echo "SKIP: $*"
    skipped+=("$1")
}
if [ ! -x "$program" ]; then
    skip "send_batches: it was not built, as its packages are missing"
    exit 0
fi

limit=600
# shellcheck source=engines/send_batches_program.sh
source "$WAYBILL_SOURCE/tests/integration/engines/send_batches_program.sh"
above() { [ "$(report_number "$1")" -gt "$2" ] || fail "$1 is '$(report_number "$1")', which is not above $2"; }
within() { [ "$(report_number sends)" -le $(($(report_number fewest) * $1 / $2 + $3)) ] || fail "$(report_number sends) sends, $(report_number fewest) would do"; }

# background FILE PROGRAM ARGS...: starts it, with its output in FILE. Sets `pid`. With a shell
# function, this would be the pid of a subshell.
background()
{
    local file=$1
    shift
    : >"$file"
    "$@" >"$file" 2>"$file.err" &
    pid=$!
    started[$pid]=1
}
# stopped PID
stopped()
{
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
    unset "started[$1]"
}
# first_line FILE: waits for it.
first_line()
{
    local tries
    for tries in $(seq 6000); do
        [ ! -s "$1" ] || { head -n 1 "$1"; return 0; }
        sleep 0.01
    done
    fail "nothing comes from $1: $(cat "$1.err")"
}
# listening PORT: waits until a process listens there.
listening()
{
    local tries
    for tries in $(seq 6000); do
        (: <>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0
        sleep 0.01
    done
    fail "no process listens on port $1"
}
# becomes FILE EXPECTED: it has the same bytes. It may get some more time, because its reader writes
# it a moment after the server's reply.
becomes()
{
    local tries
    for tries in $(seq 6000); do
        ! cmp -s "$1" "$2" || return 0
        sleep 0.01
    done
    return 1
}
# same FILE WHAT: it has the lines of the recording, in order.
same()
{
    becomes "$1" "$recording" ||
        fail "$2: the lines are not those of the recording: $(diff "$recording" "$1" | head -n 5 | cut -c 1-120)"
}
# two_lines A B: two lines of A and B bytes.
two_lines() { printf '{"a":"%0*d"}\n{"b":"%0*d"}\n' $(($1 - 8)) 1 $(($2 - 8)) 2; }

# to_the_byte WHERE LIMIT HEADER: exactly the limit is accepted at once. With a limit that is one
# byte too high in the sender, the broker refuses the batch, and accepts the two lines one by one.
to_the_byte()
{
    local first=1000 second=$(($2 - 1000 - 2 * $3))
    two_lines $first $second >exact
    expect_exit 0 --to "$1" --input exact
    expect_number sends 1
    expect_number refusals 0
    two_lines $first $((second + 1)) >over
    expect_exit 0 --to "$1" --input over --limit $(($2 + 1))
    expect_number sends 3
    expect_number refusals 1
    expect_number accepted 2
}

python=$(command -v python3 || true)
read_by() { "$python" "$here/readers.py" "$@"; }

for part in sqlite files nats amqp sqs; do
    # shellcheck source=/dev/null
    source "$here/$part.sh"
done
echo "send_batches: ${held[*]}; skipped: ${skipped[*]:-none}"
