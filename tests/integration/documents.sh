#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# What the documents show is true: their C++ code is code that is built and tested, the outputs of the
# quickstart and of the main job are the programs' outputs, links into the tree lead to files, and the
# commands of the README run as they are written.
set -euo pipefail
cd "$WAYBILL_SOURCE"
command -v make >/dev/null || export CMAKE_GENERATOR=Ninja  # what is typed here works with either
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
complain() { echo "documents: $*" >&2; bad=1; }

mapfile -t documents < <(find README.md examples tests bench include -name README.md | LC_ALL=C sort)

# Every fenced block into a file of its own, named by document, number and language.
for document in "${documents[@]}"; do
    awk -v to="$work/block.${document//\//_}" '
        /^```/ { if (open) { close(file); open = 0 } else { open = 1; n++; file = sprintf("%s.%02d.%s", to, n, substr($0, 4)); printf "" > file }; next }
        open { print > file }' "$document"
done

# A file without the indentation that all of its lines share.
flush_left()
{
    awk '{ line[NR] = $0; if ($0 != "") { match($0, /^ */); if (least == "" || RLENGTH < least) least = RLENGTH } }
         END { for (i = 1; i <= NR; i++) print substr(line[i], least + 1) }'
}

# 1. Each C++ block is one of the marked parts of a test or of the quickstart.
for source in examples/quickstart.cpp $(grep -rl --include='*.cpp' '^ *//! \[' tests/unit); do
    for mark in $(sed -n 's/^ *\/\/! \[\(.*\)\]$/\1/p' "$source" | sort -u); do
        awk -v mark="//! [$mark]" 'index($0, mark) { on = !on; next } on' "$source" | flush_left >"$work/mark.$mark"
    done
done
for block in "$work"/block.*.cpp; do
    found=0
    for part in "$work"/mark.*; do cmp -s "$block" "$part" && found=1; done
    [ $found = 1 ] || complain "$(basename "$block") is in no test: $(head -n 1 "$block")"
done

# prints NAME COMMAND...: the output of the command is a block of a document, byte for byte.
prints()
{
    local name=$1 block
    shift
    "$@" >"$work/output" 2>"$work/log" || { complain "$name failed"; cat "$work/log" >&2; }
    for block in "$work"/block.*; do cmp -s "$block" "$work/output" && return 0; done
    complain "no document shows the output of $name: $(cat "$work/output")"
}

# 2. The quickstart, and the main job, which is killed at the same places each time.
prints "the quickstart" examples/run quickstart
prints "the main job" examples/run

# 3. Links into the tree lead somewhere.
for document in "${documents[@]}"; do
    awk '/^```/ { open = !open } !open' "$document" | { grep -o '](\([^)]*\))' || true; } | sed 's/^](//; s/)$//; s/#.*//' |
        { grep -v '^https\?:' || true; } | sort -u >"$work/links"
    while read -r link; do
        [ -z "$link" ] || [ -e "$(dirname "$document")/$link" ] || complain "$document: a link that leads nowhere: $link"
    done <"$work/links"
done

# 4. The commands of the README, as written. examples/run has run above, tests/run is what is running
# this, and bench/run takes long.
ln -s "$WAYBILL_SOURCE" "$work/waybill"
cat "$work"/block.README.md.*.sh | sed 's/ *#.*//' | awk '!seen[$0]++' >"$work/commands"
while read -r command; do
    case $command in
        "" | examples/run | tests/run* | bench/run*) continue ;;
        cmake\ *) command="cd $work && $command" ;;  # typed in the folder above the checkout
    esac
    (eval "$command") </dev/null >"$work/log" 2>&1 || { complain "this failed: $command"; cat "$work/log" >&2; }
done <"$work/commands"
[ -s "$work/waybill_batch.hpp" ] && [ -s "$work/waybill.hpp" ] || complain "no single headers were made"
exit $bad
