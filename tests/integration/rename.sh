#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# cmake/rename_0_2.py changes a program of version 0.1 into one of 0.2: it compiles and has the same
# behaviour. The script prints the cases that it cannot decide. The names that it writes exist.
set -euo pipefail
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
script=$WAYBILL_SOURCE/cmake/rename_0_2.py
fail() { echo "rename: $*" >&2; exit 1; }

cp "$WAYBILL_SOURCE/tests/golden/v0_1/source/program.cpp" "$work/program.cpp"
"$script" --dry-run "$work/program.cpp" >"$work/dry"
cmp -s "$work/program.cpp" "$WAYBILL_SOURCE/tests/golden/v0_1/source/program.cpp" || fail "--dry-run has written"
grep -q 'program.cpp:[0-9]*: waybill::circuit_breaker guard' "$work/dry" || fail "--dry-run does not print a change"

"$script" "$work/program.cpp" >"$work/look"
grep -q 'look: .report may be .record: expect(guard.report' "$work/look" || fail "a member is not printed: $(cat "$work/look")"
grep -q 'look: .header may be .item_overhead' "$work/look" || fail "a field is not printed: $(cat "$work/look")"
sed -i 's/guard\.report(/guard.record(/; s/\.header = 0/.item_overhead = 0/' "$work/program.cpp"
"$CXX" -std=c++20 -I"$WAYBILL_SOURCE/include" "$work/program.cpp" -o "$work/program" || fail "the result does not compile"
"$work/program" || fail "the program does something else"

"$script" "$work/none.cpp" 2>"$work/error" && fail "a file that does not exist is no error"
grep -q 'none.cpp: cannot be read' "$work/error" || fail "the error does not name the file"

# Actions are no longer std::variant. Variants of the program itself are unchanged.
echo 'bool waits = std::holds_alternative<waybill::wait_until>(a) && std::get_if<int>(&own);
auto text = std::visit(to_text, std::get<waybill::wait_until>(a));' >"$work/actions.cpp"
"$script" "$work/actions.cpp" >"$work/look"
grep -q 'waybill::holds_alternative<waybill::wait_until>(a) && std::get_if<int>(&own)' "$work/actions.cpp" ||
    fail "an action is still a std::variant"
grep -q 'actions.cpp:2: look: of an action: waybill::match' "$work/look" || fail "std::visit is not printed"

echo '#include <waybill/core/varint.hpp>
std::uint64_t bytes = waybill::varint_size(300);' >"$work/internal.cpp"
"$script" "$work/internal.cpp" >"$work/look"
grep -q 'internal.cpp:1: look: internal since 0.2: #include' "$work/look" || fail "an internal header is not printed"
grep -q 'internal.cpp:2: look: internal since 0.2: .*waybill::detail::varint_size' "$work/look" ||
    fail "an internal name is not printed"

# Each new name is a word of the public API, or of the code if it is internal; each new header is there.
sed 's/[^A-Za-z0-9_]/\n/g' "$WAYBILL_SOURCE"/tests/golden/api/*.txt | sort -u >"$work/api"
while read -r kind _ new; do
    case $kind in
        header) [ -e "$WAYBILL_SOURCE/include/$new" ] || fail "no header $new" ;;
        name) case $new in
            *::detail::*) grep -rqw "${new##*::}" "$WAYBILL_SOURCE/include/waybill" || fail "nothing is called $new" ;;
            *) grep -qxF "${new##*::}" "$work/api" || fail "nothing is called $new" ;;
            esac ;;
        member) grep -qxF "${new##*::}" "$work/api" || fail "nothing is called $new" ;;
        "#"* | "") ;;
        *) fail "a line of an unknown kind: $kind" ;;
    esac
done <"$WAYBILL_SOURCE/cmake/renames_0_2.txt"
