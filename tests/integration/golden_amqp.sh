#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The vectors in tests/golden/amqp equal the current output of the encoders. If an encoder is not
# available, its vectors are skipped, and a line names it.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
golden=$WAYBILL_SOURCE/tests/golden/amqp

"$golden/regenerate" "$work"
failed=0
for made in "$work"/*.inc; do
    [ -e "$made" ] || continue
    name=$(basename "$made")
    if ! cmp -s "$made" "$golden/$name"; then
        echo "golden_amqp: $name is not what its encoder writes:" >&2
        diff "$golden/$name" "$made" | head -n 20 >&2 || true
        failed=1
    fi
done
[ "$failed" = 0 ] || exit 1
echo "golden_amqp: the vectors that were made are those in the tree"
