#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# send_batches against every available broker. All lines arrive exactly once and in order. A batch
# of exactly the limit is accepted, and one byte more is refused. A broker that is not installed is
# named and skipped.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit

needs send_batches
recording=$WAYBILL_SOURCE/examples/mailroom/recording.ndjson
parts=$here/send_batches
held=()
skipped=()
skip_part()
{
    echo "SKIP: $*"
    skipped+=("$1")
}

# shellcheck source=engines/send_batches_program.sh
source "$here/engines/send_batches_program.sh"
above() { [ "$(report_number "$1")" -gt "$2" ] || fail "$1 is '$(report_number "$1")', which is not above $2"; }
within() { [ "$(report_number sends)" -le $(($(report_number fewest) * $1 / $2 + $3)) ] || fail "$(report_number sends) sends, $(report_number fewest) would do"; }

# becomes FILE EXPECTED: it has the same bytes. Its reader writes it a moment after the server's reply.
becomes() { await "$1 is not $2" cmp -s "$1" "$2"; }
# same FILE WHAT: it has the lines of the recording, in order.
same()
{
    await "$2: the lines in $1 are not those of the recording" cmp -s "$1" "$recording"
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
read_by() { "$python" "$parts/readers.py" "$@"; }

for part in sqlite files nats amqp sqs; do
    # shellcheck source=/dev/null
    source "$parts/$part.sh"
done
echo "send_batches: ${held[*]}; skipped: ${skipped[*]:-none}"
