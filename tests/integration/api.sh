#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The public API is the one in tests/golden/api, and a name that is added or removed is found.
set -euo pipefail
if ! /usr/bin/python3 -c 'import clang.cindex' 2>/dev/null; then
    echo "skipped: python3-clang-14 is not installed" >&2
    exit 0
fi
"$WAYBILL_SOURCE/tests/api"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tests/golden"
cp "$WAYBILL_SOURCE/tests/api" "$work/tests/"
cp -r "$WAYBILL_SOURCE/tests/golden/api" "$work/tests/golden/"
cp -r "$WAYBILL_SOURCE/include" "$WAYBILL_SOURCE/examples" "$WAYBILL_SOURCE/README.md" "$work/"
sed -i 's/^struct batch_limits {/int planted();\n&/' "$work/include/waybill/core/batch_limits.hpp"
if "$work/tests/api" >"$work/out" 2>&1; then
    echo "api: a planted function was not found" >&2
    exit 1
fi
grep -qx '+int planted()' "$work/out" || { cat "$work/out" >&2; exit 1; }
grep -q '^waybill::planted is in no guide' "$work/out" || { cat "$work/out" >&2; exit 1; }

# A text that is missing is found, too.
sed -i 's/"bytes, items, key, deadline, end"/"bytes, items, key, deadline"/' \
    "$work/include/waybill/batch/batch_close_reason.hpp"
if "$work/tests/api" >"$work/out" 2>&1; then
    echo "api: an enum with a text too few was not found" >&2
    exit 1
fi
grep -qx 'tests/api: batch_close_reason has 5 enumerators and 4 texts' "$work/out" ||
    { cat "$work/out" >&2; exit 1; }
