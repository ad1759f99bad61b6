# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# A part of ../send_batches.sh. A stand-in that speaks the JSON protocol of SQS.

if [ -z "$python" ]; then
    skip_part "sqs: no python3 for the stand-in"
else
    # queue LIMIT PLAN...: a stand-in whose port is $port.
    queue()
    {
        start queue "$python" "$parts/sqs_stand_in.py" got "$@"
        port=$(first_line queue)
    }
    queue 65536
    expect_exit 0 --to "sqs:http://127.0.0.1:$port/q"
    expect_number refusals 0
    expect_number sends "$(report_number fewest)"
    same got SQS
    killed queue TERM

    queue 48000 throttle=4 throttle=5 lose=9
    expect_exit 0 --to "sqs:http://127.0.0.1:$port/q.fifo" --blind
    expect_number throttled 2
    expect_number unknown 1
    above refusals 0
    expect_output 'ThrottlingException: Rate exceeded'
    expect_output 'repeated unchanged'
    same got 'SQS, throttled, and with an answer that was lost'
    killed queue TERM

    # Failed entries are sent later, so the order is not kept. All of them arrive once.
    queue 65536 partial=2:0,3,9 partial=7:5 throttle=8
    expect_exit 0 --to "sqs:http://127.0.0.1:$port/q.fifo"
    expect_number partial 2
    expect_number accepted "$lines"
    expect_output 'InternalError: it was planned so'
    sort got | cmp -s - <(sort "$recording") || fail 'SQS: after partial failures lines are lost or doubled'
    ! cmp -s got "$recording" || fail 'SQS: nothing has failed, though it was planned'
    killed queue TERM

    queue 65536 reject=1:2
    expect_exit 1 --to "sqs:http://127.0.0.1:$port/q"
    expect_number not_accepted 1
    expect_output 'not accepted: line 3: failed, permanent'
    [ "$(wc -l <got)" -eq $((lines - 1)) ] || fail 'SQS: more than the rejected entry is missing'
    expect_exit 1 --to "sqs:http://127.0.0.1:$port/nowhere"
    expect_output 'QueueDoesNotExist'
    printf '{"a":1}\n{"b":"\xff"}\n{"c":3}\n' >binary
    expect_exit 1 --to "sqs:http://127.0.0.1:$port/q" --input binary
    expect_number accepted 2
    expect_output 'not UTF-8'
    two_lines 1000 $((65536 - 1000)) >exact
    expect_exit 0 --to "sqs:http://127.0.0.1:$port/q" --input exact
    expect_number sends 1
    two_lines 1000 $((65537 - 1000)) >over
    expect_exit 0 --to "sqs:http://127.0.0.1:$port/q" --input over --limit 65537
    expect_number refusals 1
    killed queue TERM
    held+=(sqs)
fi
