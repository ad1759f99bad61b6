#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The API reference is created without a warning. A comment that Doxygen cannot parse is an error.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs doxygen
command -v make >/dev/null || export CMAKE_GENERATOR=Ninja

mkdir tree
cp -r "$WAYBILL_SOURCE"/{CMakeLists.txt,cmake,include} tree
# makes: configures and makes the reference of the copy
makes()
{
    cmake -S tree -B build "-DCMAKE_CXX_COMPILER=$CXX" -DWAYBILL_TESTS=OFF \
        -DWAYBILL_EXAMPLES=OFF -DWAYBILL_INSTALL=OFF >out 2>&1 &&
        cmake --build build --target waybill_reference >>out 2>&1
}

makes || fail "the reference is not made"
grep -q 'waybill::batch_sender' "build/reference/html/classwaybill_1_1batch__sender.html" ||
    fail "batch_sender has no page"
compgen -G "build/reference/html/*v0__*" >/dev/null && fail "a page is named after the inline namespace"

sed -i 's|^class batch_sender|/// \\ref nowhere_at_all\nclass batch_sender|' "tree/include/waybill/batch/batch_sender.hpp"
makes && fail "a broken reference in a comment is no error"
grep -q 'nowhere_at_all' out || fail "the error does not name the reference"
