# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# For scripts that source it after they have set $name: the compiler's options for libpq in $flags.
# Without libpq it prints "SKIP: NAME: reason" and ends the script with 0.
flags=()
for each in "$(pg_config --includedir 2>/dev/null)" "$(pkg-config --variable=includedir libpq 2>/dev/null)" \
    /usr/include/postgresql; do
    if [ -e "$each/libpq-fe.h" ]; then flags=(-isystem "$each"); fi
done
if ! echo '#include <libpq-fe.h>' | "${CXX:-c++}" "${flags[@]}" -E -x c++ - >/dev/null 2>&1; then
    echo "SKIP: $name: there is no libpq-fe.h (libpq-dev)"
    exit 0
fi
