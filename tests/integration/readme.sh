#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What the README shows is true: its code is code that is built and tested, the quickstart's output
# is the quickstart's output, its links lead somewhere, and its commands run as they are written.
set -euo pipefail
cd "$WAYBILL_SOURCE"
command -v make >/dev/null || export CMAKE_GENERATOR=Ninja  # what is typed here works with either
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
complain() { echo "README: $*" >&2; bad=1; }

# Every fenced block into a file of its own, named by number and language.
awk -v to="$work" '
    /^```/ { if (open) { close(file); open = 0 } else { open = 1; n++; file = to "/" sprintf("%02d", n) "." substr($0, 4); printf "" > file }; next }
    open { print > file }' README.md

# A file without the indentation that all of its lines share.
flush_left()
{
    awk '{ line[NR] = $0; if ($0 != "") { match($0, /^ */); if (least == "" || RLENGTH < least) least = RLENGTH } }
         END { for (i = 1; i <= NR; i++) print substr(line[i], least + 1) }'
}

# 1. Each C++ block is one of the marked parts.
for source in examples/quickstart.cpp tests/unit/readme/*.test.cpp; do
    for mark in $(sed -n 's/^ *\/\/! \[\(.*\)\]$/\1/p' "$source" | sort -u); do
        awk -v mark="//! [$mark]" 'index($0, mark) { on = !on; next } on' "$source" | flush_left >"$work/mark.$mark"
    done
done
for block in "$work"/*.cpp; do
    found=0
    for part in "$work"/mark.*; do cmp -s "$block" "$part" && found=1; done
    [ $found = 1 ] || complain "$(basename "$block") is not in the tests: $(head -n 1 "$block")"
done

# 2. The quickstart prints what stands there, byte for byte.
examples/run quickstart >"$work/quickstart.out" 2>"$work/log" || { complain "examples/run quickstart failed"; cat "$work/log" >&2; }
found=0
for block in "$work"/*.text; do cmp -s "$block" "$work/quickstart.out" && found=1; done
[ $found = 1 ] || complain "the quickstart's output is another one: $(cat "$work/quickstart.out")"

# So does the main job, killed at the same places each time.
examples/run >"$work/mailroom.out" 2>"$work/log" || { complain "examples/run failed"; cat "$work/log" >&2; }
found=0
for block in "$work"/*.; do cmp -s "$block" "$work/mailroom.out" && found=1; done
[ $found = 1 ] || complain "the main job's output is another one: $(cat "$work/mailroom.out")"

# 3. Links into the tree lead somewhere.
awk '/^```/ { open = !open } !open' README.md | grep -o '](\([^)]*\))' | sed 's/^](//; s/)$//; s/#.*//' |
    grep -v '^https\?:' | sort -u >"$work/links" || true
while read -r link; do
    [ -e "$link" ] || complain "a link that leads nowhere: $link"
done <"$work/links"

# 4. The commands, as written. examples/run has run above, tests/run is what is running this, and
# bench/run takes long.
ln -s "$WAYBILL_SOURCE" "$work/waybill"
cat "$work"/*.sh | sed 's/ *#.*//' | awk '!seen[$0]++' >"$work/commands"
while read -r command; do
    case $command in
        "" | examples/run | tests/run* | bench/run*) continue ;;
        cmake\ *) command="cd $work && $command" ;;  # typed in the folder above the checkout
    esac
    (eval "$command") </dev/null >"$work/log" 2>&1 || { complain "this failed: $command"; cat "$work/log" >&2; }
done <"$work/commands"
[ -s "$work/waybill_batch.hpp" ] && [ -s "$work/waybill.hpp" ] || complain "no single headers were made"
exit $bad
