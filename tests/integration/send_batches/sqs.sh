# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# A part of ../send_batches.sh. A stand-in that speaks its JSON protocol.

if [ -z "$python" ]; then
    skip "sqs: no python3 for the stand-in"
else
    # queue LIMIT PLAN...: a stand-in whose port is $port.
    queue()
    {
        background queue "$python" "$here/sqs_stand_in.py" got "$@"
        server=$pid
        port=$(first_line queue)
    }
    queue 65536
    answers 0 --to "sqs:http://127.0.0.1:$port/q"
    is refusals 0
    is sends "$(number fewest)"
    same got SQS
    stopped "$server"

    queue 48000 throttle=4 throttle=5 lose=9
    answers 0 --to "sqs:http://127.0.0.1:$port/q.fifo" --blind
    is throttled 2
    is unknown 1
    above refusals 0
    says 'ThrottlingException: Rate exceeded'
    says 'the same again'
    same got 'SQS, throttled, and with an answer that was lost'
    stopped "$server"

    # Entries that fail come later, so the order is not kept; but all of them come, and once.
    queue 65536 partial=2:0,3,9 partial=7:5 throttle=8
    answers 0 --to "sqs:http://127.0.0.1:$port/q.fifo"
    is partial 2
    is accepted "$lines"
    says 'InternalError: it was planned so'
    sort got | cmp -s - <(sort "$recording") || fail 'SQS: after partial failures lines are lost or doubled'
    ! cmp -s got "$recording" || fail 'SQS: nothing has failed, though it was planned'
    stopped "$server"

    queue 65536 reject=1:2
    answers 1 --to "sqs:http://127.0.0.1:$port/q"
    is not_accepted 1
    says 'not there: line 3: failed, permanent'
    [ "$(wc -l <got)" -eq $((lines - 1)) ] || fail 'SQS: more than the rejected entry is missing'
    answers 1 --to "sqs:http://127.0.0.1:$port/nowhere"
    says 'QueueDoesNotExist'
    printf '{"a":1}\n{"b":"\xff"}\n{"c":3}\n' >binary
    answers 1 --to "sqs:http://127.0.0.1:$port/q" --input binary
    is accepted 2
    says 'not UTF-8'
    two_lines 1000 $((65536 - 1000)) >exact
    answers 0 --to "sqs:http://127.0.0.1:$port/q" --input exact
    is sends 1
    two_lines 1000 $((65537 - 1000)) >over
    answers 0 --to "sqs:http://127.0.0.1:$port/q" --input over --limit 65537
    is refusals 1
    stopped "$server"
    held+=(sqs)
fi
