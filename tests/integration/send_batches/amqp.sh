# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# A part of ../send_batches.sh. A test peer on Proton, which closes the link or rejects the message.

if grep -q 'amqp.*without' <<<"$("$program" --help)"; then
    skip_part "amqp: the program was built without Qpid Proton"
elif ! "${CC:-cc}" -Wall -Wextra -O1 "$parts/amqp_peer.c" -o amqp_peer -lqpid-proton 2>cc.err; then
    skip_part "amqp: the peer cannot be built: $(head -n 1 cc.err)"
else
    for how in close reject; do
        start peer env PN_TRACE_FRM=1 bash -c 'exec ./amqp_peer "$@" 2>peer.err' - got 65536 $how
        port=$(first_line peer)
        expect_exit 0 --to "amqp://127.0.0.1:$port/all" --blind
        above refusals 0
        within 15 10 3
        [ "$(grep -c 'refused: amqp:link:message-size-exceeded.*, at most 65536' out)" -eq "$(report_number refusals)" ] || fail 'the limit is not printed'
        same got "AMQP, $how"
        grep -q 'message-format=0x80013700' peer.err || fail 'no batch had the format of batches'
        killed peer TERM

        start peer ./amqp_peer got 65536 $how
        to_the_byte "amqp://127.0.0.1:$(first_line peer)/bytes" 65536 24
        cat exact over | cmp -s - got || fail 'AMQP: what came out is not what went in'
        killed peer TERM
    done
    start peer ./amqp_peer got 65536 reject 5
    port=$(first_line peer)
    expect_exit 0 --to "amqp://127.0.0.1:$port/busy"
    expect_number refusals 0
    above throttled 3
    expect_output 'com.microsoft:server-busy'
    same got 'AMQP, busy'
    expect_exit 1 --to "amqp://127.0.0.1:$port/nowhere"
    expect_output 'amqp:not-found'
    killed peer TERM
    # A batch that was accepted without a reply is sent once more, unchanged.
    start peer ./amqp_peer got 65536 reject 0 4
    expect_exit 0 --to "amqp://127.0.0.1:$(first_line peer)/lost"
    expect_number unknown 1
    again=$(grep 'repeated unchanged' out | awk '{ gsub(",", "", $2); print $2 }')
    [ "$(wc -l <got)" -eq $((lines + again)) ] || fail "AMQP: $(wc -l <got) lines, $again of $lines came twice"
    awk '!seen[$0]++' got | cmp -s - "$recording" || fail 'AMQP: more than the one batch was repeated'
    killed peer TERM
    start peer ./amqp_peer got 65536 reject
    expect_exit 0 --to "amqp+plain://127.0.0.1:$(first_line peer)/all"
    same got 'AMQP, a message a line'
    killed peer TERM
    expect_exit 1 --to amqp://127.0.0.1:1/all
    expect_output 'Connection refused'
    held+=(amqp)
fi
