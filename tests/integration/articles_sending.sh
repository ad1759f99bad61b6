#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The articles chunk_and_send and adaptive_sender, and async_sender: each message arrives once and
# in order, which the programs check themselves.
set -euo pipefail
export LC_ALL=C
bin=$WAYBILL_BIN/examples

# expect_output PROGRAM: its output equals the text on stdin, and its exit code is 0.
expect_output()
{
    diff -u - <(timeout 60 "$bin/$1" && echo "ended with $?") || { echo "the output of $1 differs" >&2; exit 1; }
}
expect_output article_chunk_and_send <<'END'
19999 messages in 40 batches, 1 archived
ended with 0
END
expect_output article_adaptive_sender <<'END'
items 0 to 776: accepted
item 777: too_large, 300100 bytes where the limit is 262144
items 778 to 19999: accepted
45 requests, 3 too large; learnt: limit 262144
ended with 0
END

if [ ! -x "$bin/async_sender" ]; then
    echo "SKIP: async_sender: no asio (libasio-dev)"
    exit 0
fi
said=$(timeout 60 "$bin/async_sender")
[[ $said =~ ^5000\ messages\ accepted\ in\ [0-9]+\ calls,\ at\ most\ 4\ at\ a\ time\;\ each\ key\ is\ in\ order$ ]] ||
    { echo "the output of async_sender is: $said" >&2; exit 1; }
