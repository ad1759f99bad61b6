#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The public API is the one in tests/golden/api, and a name that is added or removed is found.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
/usr/bin/python3 -c 'import clang.cindex' 2>/dev/null || skip 'python3-clang-14 is not installed'
"$WAYBILL_SOURCE/tests/api"

mkdir -p tests/golden
cp "$WAYBILL_SOURCE/tests/api" tests/
cp -r "$WAYBILL_SOURCE/tests/golden/api" tests/golden/
cp -r "$WAYBILL_SOURCE/include" "$WAYBILL_SOURCE/examples" "$WAYBILL_SOURCE/README.md" .
sed -i 's/^struct batch_limits {/int planted();\n&/' "include/waybill/core/batch_limits.hpp"
! tests/api >out 2>&1 || fail 'a planted function was not found'
grep -qx '+int planted()' out
grep -q '^waybill::planted is in no guide' out

# A text that is missing is found, too.
sed -i 's/"bytes, items, key, deadline, end"/"bytes, items, key, deadline"/' \
    "include/waybill/batch/batch_close_reason.hpp"
! tests/api >out 2>&1 || fail 'an enum with a text too few was not found'
grep -qx 'tests/api: batch_close_reason has 5 enumerators and 4 texts' out
