#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The sizes of wire/kafka equal those of kafkajs. The checked-in vectors are compared with them. If
# npm can reach a registry, the vectors are also created again.
set -euo pipefail
golden=$WAYBILL_SOURCE/tests/golden/kafka
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CXX:-c++}" -std=c++20 -O1 -I"$WAYBILL_SOURCE/include" "$golden/check.cpp" -o "$work/check"
"$work/check" "$golden/vectors.json"

cd "$work"
if ! { command -v node && command -v npm; } >/dev/null ||
    ! timeout 180 npm install --no-audit --no-fund --silent --fetch-retries=1 --prefix "$work" kafkajs@2.2.4 >npm.log 2>&1; then
    echo 'SKIP: the vectors are not made again, as there is no node, npm or registry'
    exit 0
fi
node "$golden/vectors.js" >again.json
cmp again.json "$golden/vectors.json"
echo 'made again, they are the same'
