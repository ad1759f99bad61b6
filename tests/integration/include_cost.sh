#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Including a header costs at most its bound (bench/include_cost.py). An include above the bound is
# found.
set -euo pipefail
if [ ! -x /usr/bin/python3 ]; then
    echo "skipped: python3 is not installed" >&2
    exit 0
fi
cost=$WAYBILL_SOURCE/bench/include_cost.py
"$cost" --check

if ! command -v g++-12 >/dev/null; then exit 0; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bench"
cp "$cost" "$work/bench/"
cp -r "$WAYBILL_SOURCE/include" "$work/"
sed -i 's/^#include <optional>/#include <regex>\n&/' "$work/include/waybill/retry/circuit_breaker.hpp"
if "$work/bench/include_cost.py" --check retry/circuit_breaker >"$work/out"; then
    echo "include_cost: a planted <regex> was not found" >&2
    exit 1
fi
grep -q 'circuit_breaker.*TOO MUCH' "$work/out" || { cat "$work/out" >&2; exit 1; }
