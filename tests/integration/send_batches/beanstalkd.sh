# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# A part of ../send_batches.sh. A real beanstalkd.

if [ -z "$python" ]; then
    skip "beanstalkd: no python3 to read what got there"
elif ! command -v beanstalkd >/dev/null; then
    skip "beanstalkd: it is not installed"
else
    port=$(read_by port)
    background beanstalkd beanstalkd -l 127.0.0.1 -p "$port" -z 65535
    server=$pid
    listening "$port"
    expect_exit 0 --to "beanstalkd://127.0.0.1:$port/all"
    expect_number refusals 0
    expect_number sends "$(report_number fewest)"
    read_by beanstalkd "$port" all got
    same got beanstalkd
    expect_exit 0 --to "beanstalkd://127.0.0.1:$port/all" --blind
    above refusals 2
    within 17 10 3
    expect_output JOB_TOO_BIG
    read_by beanstalkd "$port" all got
    same got 'beanstalkd, blind'
    to_the_byte "beanstalkd://127.0.0.1:$port/bytes" 65535 1
    read_by beanstalkd "$port" bytes got
    cat exact over | cmp -s - got || fail 'beanstalkd: what is in the tube is not what was sent'
    expect_exit 1 --to "beanstalkd://127.0.0.1:$port/-bad"
    expect_output BAD_FORMAT
    kill -USR1 "$server" # it takes no more jobs from now on
    background drained "$program" --to "beanstalkd://127.0.0.1:$port/all" --input exact
    sender=$pid
    for tries in $(seq 6000); do
        ! grep -q 'throttled: DRAINING' drained drained.err || break
        sleep 0.01
    done
    grep -q 'throttled: DRAINING' drained drained.err || fail 'the output does not contain: throttled: DRAINING'
    kill -0 "$sender" || fail 'it has given up on a draining beanstalkd'
    stopped "$sender"
    read_by beanstalkd "$port" all got
    [ ! -s got ] || fail 'a draining beanstalkd has taken something'
    stopped "$server"
    held+=(beanstalkd)
fi
