#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Including a header costs at most its bound (bench/include_cost.py). An include above the bound is
# found.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs /usr/bin/python3
cost=$WAYBILL_SOURCE/bench/include_cost.py
"$cost" --check

needs g++-12
mkdir bench
cp "$cost" bench/
cp -r "$WAYBILL_SOURCE/include" .
sed -i 's/^#include <optional>/#include <regex>\n&/' "include/waybill/retry/circuit_breaker.hpp"
! bench/include_cost.py --check retry/circuit_breaker >out || fail 'a planted <regex> was not found'
grep -q 'circuit_breaker.*TOO MUCH' out
