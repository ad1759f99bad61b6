# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Set-up, shared by examples/run, tests/run and bench/run; to be sourced. It installs what is missing
# and configures build folders. When nothing is missing it costs one dpkg-query.

# How a package shows on a system that has no dpkg: the program or the header that it brings.
packages_probe()
{
    case $1 in
        g++) echo "program ${CXX:-g++}" ;;
        cmake | git | sqlite3 | jq | python3 | curl) echo "program $1" ;;
        ninja-build) echo "program ninja" ;;
        g++-* | clang++-*) echo "program $1" ;;
        clang-[0-9]*) echo "program clang++-${1#clang-}" ;;
        libsqlite3-dev) echo "header sqlite3.h" ;;
        nlohmann-json3-dev) echo "header nlohmann/json.hpp" ;;
        libfmt-dev) echo "header fmt/format.h" ;;
        librange-v3-dev) echo "header range/v3/view.hpp" ;;
        doctest-dev) echo "header doctest/doctest.h" ;;
        librapidcheck-dev) echo "header rapidcheck.h" ;;
        nats-server | doxygen | clang-format-19 | clang-tidy-19) echo "program $1" ;;
        libqpid-proton11-dev) echo "header proton/connection_driver.h" ;;
        librdkafka-dev) echo "header librdkafka/rdkafka.h" ;;
        librabbitmq-dev) echo "header amqp_tcp_socket.h" ;;
        rabbitmq-server) echo "program rabbitmq-server" ;;
        libpugixml-dev) echo "header pugixml.hpp" ;;
        libhiredis-dev) echo "header hiredis/hiredis.h" ;;
        redis-server) echo "program redis-server" ;;
        libpq-dev) echo "header libpq-fe.h" ;;
        libnats-dev) echo "header nats/nats.h" ;;
        libssl-dev) echo "header openssl/evp.h" ;;
        libcurl4-openssl-dev) echo "header curl/curl.h" ;;
        postgresql) echo "program initdb" ;;
        libbenchmark-dev) echo "header benchmark/benchmark.h" ;;
        libasio-dev) echo "header asio.hpp" ;;
        libboost-dev) echo "header boost/version.hpp" ;;
        *) echo "nothing" ;;
    esac
}

packages_is_debian() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }

# Prints those of the packages that are not there. What was built by hand and is on the PATH counts.
packages_missing()
{
    local name probe installed=""
    if packages_is_debian; then
        # One line a package that dpkg knows; for the others it complains, which is what we ask.
        installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
    fi
    for name in "$@"; do
        case $'\n'$installed$'\n' in *$'\n'"$name installed"$'\n'*) continue ;; esac
        probe=$(packages_probe "$name")
        case $probe in
            "program "*) command -v "${probe#program }" >/dev/null && continue ;;
            "header "*)
                if ! packages_is_debian && command -v "${CXX:-c++}" >/dev/null; then
                    "${CXX:-c++}" -E -x c++ -include "${probe#header }" /dev/null >/dev/null 2>&1 && continue
                fi
                ;;
            *) packages_is_debian || continue ;;
        esac
        echo "$name"
    done
}

# packages_install NAME...: they are installed when it returns 0. Says why not and returns 1 otherwise.
packages_install()
{
    local missing name as_root=() log
    mapfile -t missing < <(packages_missing "$@")
    [ ${#missing[@]} -gt 0 ] || return 0

    if ! packages_is_debian; then
        echo "missing on this system:" >&2
        for name in "${missing[@]}"; do
            echo "  $(packages_probe "$name")   (Debian calls it $name)" >&2
        done
        return 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
            as_root=(sudo -n)
        else
            echo "packages are missing, and installing them takes root. Please type:" >&2
            echo "  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}" >&2
            return 1
        fi
    fi

    echo "installing once: ${missing[*]}" >&2
    log=$(mktemp)
    if ${as_root[@]+"${as_root[@]}"} bash -s -- "${missing[@]}" >"$log" 2>&1 <<'ROOT'
set -eu
export DEBIAN_FRONTEND=noninteractive
# Nothing that a package brings along may start a service: 101 is "not allowed by policy".
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi
# An index that cannot be renewed may still be good enough for what is asked.
apt-get -o DPkg::Lock::Timeout=300 update </dev/null || echo "apt-get update failed"
apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@" </dev/null
ROOT
    then
        rm -f "$log"
        return 0
    fi
    tail -n 15 "$log" >&2
    rm -f "$log"
    echo "could not install: ${missing[*]}" >&2
    return 1
}

# What every program of the root is built with.
packages_toolchain=(g++ cmake ninja-build)

# configure_in FOLDER SOURCE COMPILER OPTION...: quiet unless it fails. A folder that was made for
# another compiler or another place of the checkout is made anew.
configure_in()
{
    local folder=$1 source=$2 compiler=$3 cache=$1/CMakeCache.txt log
    shift 3
    compiler=$(command -v "$compiler") || { echo "no compiler called $compiler" >&2; return 1; }
    if [ -e "$cache" ] && ! { grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$source" "$cache" &&
        grep -qxF "WAYBILL_BUILT_WITH:STRING=$compiler" "$cache"; }; then
        rm -rf "$folder"
    fi
    mkdir -p "$folder"
    log=$folder/configure.log
    if ! cmake -S "$source" -B "$folder" -G Ninja "-DCMAKE_CXX_COMPILER=$compiler" \
        "-DWAYBILL_BUILT_WITH:STRING=$compiler" "$@" >"$log" 2>&1; then
        cat "$log" >&2
        return 1
    fi
}

# build_in FOLDER TARGET...: shows its progress on a terminal, and otherwise only what goes wrong.
build_in()
{
    local folder=$1 log=$1/build.log
    shift
    [ $# -gt 0 ] || set -- all
    if [ -t 2 ]; then
        cmake --build "$folder" --target "$@" >&2
    elif ! cmake --build "$folder" --target "$@" >"$log" 2>&1; then
        cat "$log" >&2
        return 1
    fi
}
