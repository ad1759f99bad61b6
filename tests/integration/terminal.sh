#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Programs on a terminal of 80 columns: lines break between words, and nothing else changes. Colours
# are shown, but not with NO_COLOR.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs script autoscaler lost_events product_import purchase send_batches

# on_terminal COMMAND...: its output in out.
on_terminal() { script -qec "stty cols 80; exec $* 2>err" /dev/null </dev/null | tr -d '\r' >out; }
has_colours() { grep -q $'\x1b' out; }
words() { sed 's/\x1b\[[0-9]*m//g' "$1" | tr -s ' \n' '\n\n'; }

for program in autoscaler lost_events product_import purchase send_batches; do
    "$examples/$program" >file 2>err || fail "$program: exit $?"
    ! grep -q $'\x1b' file || fail "$program: colours in a file"
    on_terminal env NO_COLOR=1 "$examples/$program"
    ! has_colours || fail "$program: colours with NO_COLOR"
    awk 'length > 80 { exit 1 }' out || fail "$program: a line is too long for the terminal"
    words file >expected
    words out >shown
    expect_same expected shown
    [ "$(wc -l <out)" -gt "$(wc -l <file)" ] || fail "$program: no line was broken"
done
for program in autoscaler lost_events send_batches; do
    on_terminal env NO_COLOR= "$examples/$program"
    has_colours || fail "$program: no colours"
done
