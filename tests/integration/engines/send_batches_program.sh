# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
#
# For scripts that test send_batches: its report, and its end by a signal.
#
#     expect_exit 1 --to redis: --input mixed
#     expect_number accepted 2000                    # a number of the report
program=("$examples/send_batches" --report report.json)
report_number() { sed -n "s/^  \"$1\": \([0-9]*\)[.0-9e-]*,\{0,1\}\$/\1/p" report.json; }
expect_number() { [ "$(report_number "$1")" = "$2" ] || fail "$1 is '$(report_number "$1")' instead of $2"; }

# interrupted SCHEME PATTERN FILE: SIGINT ends the program and its server, and removes their folder. The
# server has started if FILE, a pattern, has a line with PATTERN.
interrupted()
{
    local hold each children
    mkfifo input
    exec {hold}<>input
    start interrupted "$examples/send_batches" --to "$1" --input - <input
    # shellcheck disable=SC2086
    server_has_started() { grep -qs "$2" $3; }
    await 'the server does not start' server_has_started "$@"
    children=$(cat "/proc/${pid[interrupted]}/task/"*/children)
    [ -n "$children" ] || fail 'there is no process of a server'
    killed interrupted INT
    [ "$code" = 130 ] || fail "exit $code instead of 130"
    exec {hold}>&-
    rm input
    for each in $children; do
        await 'the server goes on after its program' test ! -e "/proc/$each"
    done
    expect_no_folder
}
