#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The API reference is created without a warning. A comment that Doxygen cannot parse is an error.
set -euo pipefail
command -v doxygen >/dev/null || { echo "skipped: doxygen is not installed"; exit 0; }
command -v make >/dev/null || export CMAKE_GENERATOR=Ninja
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "reference: $*" >&2; exit 1; }

mkdir "$work/tree"
cp -r "$WAYBILL_SOURCE"/{CMakeLists.txt,cmake,include} "$work/tree"
# makes: configures and makes the reference of the copy
makes()
{
    cmake -S "$work/tree" -B "$work/build" "-DCMAKE_CXX_COMPILER=$CXX" -DWAYBILL_TESTS=OFF \
        -DWAYBILL_EXAMPLES=OFF -DWAYBILL_INSTALL=OFF >"$work/log" 2>&1 &&
        cmake --build "$work/build" --target waybill_reference >>"$work/log" 2>&1
}

makes || fail "the reference is not made: $(cat "$work/log")"
grep -q 'waybill::batch_sender' "$work/build/reference/html/classwaybill_1_1batch__sender.html" ||
    fail "batch_sender has no page"
compgen -G "$work/build/reference/html/*v0__*" >/dev/null && fail "a page is named after the inline namespace"

sed -i 's|^class batch_sender|/// \\ref nowhere_at_all\nclass batch_sender|' "$work/tree/include/waybill/batch/batch_sender.hpp"
makes && fail "a broken reference in a comment is no error"
grep -q 'nowhere_at_all' "$work/log" || fail "the error does not name the reference: $(cat "$work/log")"
