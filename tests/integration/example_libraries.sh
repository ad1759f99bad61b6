#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# After the installation of a client library, only those files of the examples are compiled again that
# use it: none of those that are compiled together.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit

# commands OPTION...: of the files that are compiled together.
commands()
{
    cmake -S "$WAYBILL_SOURCE" -B build -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
        -DWAYBILL_TESTS=OFF -DWAYBILL_EXAMPLES=ON "$@" >out
    grep '"command": .*/unity_' build/compile_commands.json | sort
    cat build/examples/CMakeFiles/*/Unity/*.cxx
}

commands >with_all
grep -q unity_ with_all || skip 'the packages of the examples are not installed'
without=(-DCMAKE_DISABLE_FIND_PACKAGE_CURL=ON -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON)
for library in KAFKA NATS PQ PROTON RABBITMQ REDIS PUGIXML; do without+=("-DWAYBILL_${library}_INCLUDE=0"); done
commands "${without[@]}" >with_none
expect_output 'example outbox cannot use servers'
expect_same with_all with_none
