#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The sizes of the profile `proton` equal those of Qpid Proton, for a million messages:
#
#     amqp_proton.sh [MESSAGES [SEED]]
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compiler=${CXX:-c++}

if ! echo '#include <proton/message.h>' | "$compiler" -E -x c++ - >/dev/null 2>&1; then
    echo "SKIP amqp_proton: there is no proton/message.h (libqpid-proton11-dev)"
    exit 0
fi
"$compiler" -std=c++20 -O1 -I"$WAYBILL_SOURCE/include" \
    "$WAYBILL_SOURCE/tests/integration/amqp_proton/sizes.cpp" -o "$work/sizes" -lqpid-proton
"$work/sizes" "$@"
