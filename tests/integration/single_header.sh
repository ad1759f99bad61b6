#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The results of cmake/single_header.cmake: a header; or one error with the list of names, an exit
# code that is not 0, and no file.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
cp -R "$WAYBILL_SOURCE/include" before
mkdir in
cd in

# makes ARGS...: runs the script. Its output is in the file said.
makes() { cmake "$@" -P "$WAYBILL_SOURCE/cmake/single_header.cmake" >said 2>&1; }
expect_words() { tr -s ' \n' ' ' <said | grep -qF -- "$1" || fail "the output does not contain: $1"; }

# refused WORDS ARGS...: one error with these words, and nothing is written.
refused()
{
    local words=$1
    shift
    makes "$@" && fail "it accepts: $*"
    [ "$(grep -c 'CMake Error' said)" = 1 ] || fail "not one error: $*"
    expect_words "$words"
    [ "$(find . -type f ! -name said | wc -l)" = 0 ] || fail "it has written $(find . -type f ! -name said): $*"
}

# --- MODULE ----------------------------------------------------------------------------------------

names=$(cd "$WAYBILL_SOURCE/include/waybill" && echo *.hpp)
names=${names/ version.hpp/}
names=${names// /, }
for module in bath batch.h batch. .hpp batch.hpp.hpp batc BATCH version version.hpp detail ext ext/json.hpp \
    batch/batch_sender.hpp batch/ ./batch.hpp ../waybill/batch.hpp include/waybill/batch.hpp \
    "$WAYBILL_SOURCE/include/waybill/batch.hpp" "$WAYBILL_SOURCE/include/waybill" / . .. '*' 'batch.hpp;retry.hpp' \
    'batch hpp' ' batch.hpp' '[b]atch.hpp' '"' OFF 0 NOTFOUND; do
    refused "MODULE is \"$module\"" "-DMODULE=$module" -DOUT=out.hpp
    expect_words "$names"
done
refused 'MODULE is ""' -DMODULE= -DOUT=out.hpp
expect_words "$names"
refused 'MODULE is ""' -DOUT=out.hpp
expect_words 'cmake -DMODULE='

# --- OUT -----------------------------------------------------------------------------------------

refused 'OUT is ""' -DMODULE=retry.hpp
expect_words 'cmake -DMODULE='
refused 'OUT is ""' -DMODULE=retry.hpp -DOUT=
mkdir folder
refused 'is a folder' -DMODULE=retry.hpp -DOUT=folder
refused 'is a folder' -DMODULE=retry.hpp -DOUT=folder/
refused 'is a folder' -DMODULE=retry.hpp -DOUT=none/
refused 'is a folder' -DMODULE=retry.hpp "-DOUT=$work"
refused 'said/out.hpp' -DMODULE=retry.hpp -DOUT=said/out.hpp  # said is a file
[ ! -e /dev/full ] || refused 'No space left' -DMODULE=retry.hpp -DOUT=/dev/full
rmdir folder

# A header of the library is never overwritten.
refused 'in a folder of the library' -DMODULE=retry.hpp "-DOUT=$WAYBILL_SOURCE/include/waybill/retry.hpp"
refused 'in a folder of the library' -DMODULE=retry.hpp "-DOUT=$WAYBILL_SOURCE/include/waybill/../new.hpp"
diff -r "$WAYBILL_SOURCE/include" ../before >said || fail 'the library has changed'

# --- accepted arguments ---------------------------------------------------------------------------

makes -DMODULE=window.hpp -DOUT=window.hpp || fail 'it does not make window.hpp'
[ ! -s said ] || fail 'it prints something'
grep -q 'class sliding_window' window.hpp || fail 'window.hpp has no sliding_window'
! grep -q '#include <waybill/' window.hpp || fail 'window.hpp includes another header of ours'
# Without .hpp, and in folders that do not exist yet, the bytes are the same.
makes -DMODULE=window -DOUT=new/folders/0 || fail 'it does not make window'
cmp window.hpp new/folders/0
# Relative to the current folder, and over an existing file.
mkdir inner
cd inner
echo old >OFF
makes -DMODULE=window "-DOUT=OFF" || fail 'it does not write to OFF'
cmp ../window.hpp OFF
