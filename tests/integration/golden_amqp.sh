#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The vectors in tests/golden/amqp equal the current output of the encoders. If an encoder is not
# available, its vectors are skipped, and a line names it.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
golden=$WAYBILL_SOURCE/tests/golden/amqp

"$golden/regenerate" "$work"
for made in "$work"/*.inc; do
    [ -e "$made" ] || continue
    name=$(basename "$made")
    expect_same "$golden/$name" "$made"
done
echo "golden_amqp: the vectors that were made are those in the tree"
