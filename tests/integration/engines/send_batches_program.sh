# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
#
# For scripts that test send_batches. They have $program and `fail`, and work in their own folder:
#
#     expect_exit 1 --to redis: --input mixed        # the outputs are in out and err
#     expect_output 'not accepted: line 1001: '
#     expect_number accepted 2000                    # a number of the report
#
# limit is the time limit of a run in seconds; 120 if it is not set.

# expect_exit CODE ARGS...: runs the program. It must end with this code.
expect_exit()
{
    local code=0 expected=$1
    shift
    timeout "${limit:-120}" "$program" --report report.json "$@" >out 2>err || code=$?
    [ $code -eq "$expected" ] || fail "exit $code instead of $expected: $*"
}
expect_output() { grep -qF -- "$1" out err || fail "the output does not contain: $1"; }
# report_number KEY: of the report.
report_number() { sed -n "s/^  \"$1\": \([0-9]*\)[.0-9e-]*,\{0,1\}\$/\1/p" report.json; }
expect_number() { [ "$(report_number "$1")" = "$2" ] || fail "$1 is '$(report_number "$1")' instead of $2"; }

# A temporary folder of the program is left, although it has ended.
expect_no_folder() { [ -z "$(ls tmp)" ] || fail 'a temporary folder is left'; }

# interrupted SCHEME PATTERN FILE...: SIGINT ends the program and its server, and removes their folder. The
# server has started if a FILE, a pattern, has a line with PATTERN.
interrupted()
{
    local scheme=$1 pattern=$2 sender server hold code=0
    shift 2
    mkfifo input
    "$program" --to "$scheme" --input - <input >out 2>err &
    sender=$!
    exec {hold}>input
    for _ in $(seq 600); do
        # shellcheck disable=SC2068
        ! grep -qs "$pattern" $@ || break
        sleep 0.1
    done
    sleep 0.5
    server=$(cat "/proc/$sender/task/"*/children 2>/dev/null || true)
    [ -n "$server" ] || fail 'the server does not start'
    kill -INT "$sender"
    wait "$sender" || code=$?
    exec {hold}>&-
    rm input
    [ $code = 130 ] || fail "exit $code instead of 130"
    for each in $server; do
        for _ in $(seq 500); do
            kill -0 "$each" 2>/dev/null || break
            sleep 0.01
        done
        ! kill -0 "$each" 2>/dev/null || fail 'the server goes on after its program'
    done
    expect_no_folder
}
