#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The output of the two short session programs: an order that stops and resumes at the same step
# with its state, and an import whose lines fail independently.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit

program=$examples/purchase
expect_exit 0
diff - out <<'END'
three orders:
  mail to Ada: WA, 30 EUR paid
  mail to Grace: WG, 50 EUR paid
dead-lettered:
  order-B, step 4 of 5 (9): failed: the template has no field {vat id}
  order-B, step 5 of 5 (10): session_failed by 9: the template has no field {vat id}
the template is repaired:
  order-B -> order-B~1: 2 dead letters, steps 4 to 5 of 5: failed: the template has no field {vat id}
  mail to Babbage Ltd: WB, 110 EUR paid
END
program=$examples/product_import
expect_exit 0
diff - out <<'END'
3 of 5 products, and dead-lettered:
  import-1, step 2 of 5 (2): failed: "screws;3,10" has no price
  import-1, step 4 of 5 (4): failed: "paint;12,00" has no price
import-1 -> import-1~1: 2 dead letters, steps 2 to 4 (each alone): failed: "screws;3,10" has no price, and 1 for another reason
  glue 480
  nails 250
  paint 1200
  screws 310
  tape 190
END
