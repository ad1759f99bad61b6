#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The articles chunk_and_send and adaptive_sender, and async_sender: each message arrives once and
# in order, which the programs check themselves.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit

program=$examples/article_chunk_and_send
expect_exit 0
diff - out <<'END'
19999 messages in 40 batches, 1 archived
END
program=$examples/article_adaptive_sender
expect_exit 0
diff - out <<'END'
items 0 to 776: accepted
item 777: too_large, 300100 bytes where the limit is 262144
items 778 to 19999: accepted
46 requests, 3 too large; learnt: limit 262144
END

needs async_sender
program=$examples/async_sender
expect_exit 0
[[ $(cat out) =~ ^5000\ messages\ accepted\ in\ [0-9]+\ calls,\ at\ most\ 4\ at\ a\ time\;\ each\ key\ is\ in\ order$ ]]
