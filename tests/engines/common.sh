# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# For the scripts of this folder, which source it with the name of their engine. WAYBILL_SOURCE is
# the source folder, WAYBILL_BIN the build folder. WAYBILL_EVENTS is the number of events.
export LC_ALL=C ENGINE=$1 PATH=$PATH:/usr/sbin
export WAYBILL_EVENTS=${WAYBILL_EVENTS:-100000}
# Not in TMPDIR, which the user of PostgreSQL need not be able to enter.
work=$(mktemp -d /tmp/waybill-engines.XXXXXX)
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
bin=$WAYBILL_BIN/engines
mkdir -p "$bin"
failed=0

# skip REASON: ends the script. That is no failure.
skip()
{
    echo "SKIP: $ENGINE: $*"
    exit "$failed"
}

needs_header()
{
    echo "#include <$1>" | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1 || skip "there is no $1 ($2)"
}
needs_program() { command -v "$1" >/dev/null || skip "there is no $1"; }

# compiled SOURCE FLAGS...: makes $bin/<name of the source>. It is compiled again if a file that it
# includes has changed.
compiled()
{
    local source=$1 name
    shift
    name=$(basename "$source" .cpp)
    # shellcheck disable=SC2046
    if [ -e "$bin/$name" ] && [ -e "$bin/$name.d" ] &&
        [ -z "$(find $(sed 's/^[^:]*://; s/\\$//' "$bin/$name.d") -newer "$bin/$name" 2>&1)" ]; then
        return
    fi
    "${CXX:-c++}" -std=c++20 -O1 -MMD -MF "$bin/$name.d" -I"$WAYBILL_SOURCE/include" \
        -I"$WAYBILL_SOURCE/examples" -I"$WAYBILL_SOURCE/tests" "$source" -o "$bin/$name" "$@" -pthread
}

# recording: the recording of the examples, as often as it takes for the number of events.
recording()
{
    local file=$WAYBILL_SOURCE/examples/mailroom/recording.ndjson count=0
    while [ "$count" -lt "$WAYBILL_EVENTS" ]; do
        cat "$file"
        count=$((count + $(wc -l <"$file")))
    done | awk -v most="$WAYBILL_EVENTS" 'NR <= most'
}

# lines SECONDS COMMAND...: a program that prints its own lines.
lines()
{
    local limit=$1 code=0
    shift
    timeout "$limit" "$@" || code=$?
    [ $code != 0 ] || return 0
    echo "$ENGINE: $(basename "$1") ends with $code"
    failed=1
}

# measured FAULT SECONDS PATTERN COMMAND...: one line for a program that checks itself. Its output must
# have a line with PATTERN, the count of the fault.
measured()
{
    local fault=$1 limit=$2 happened=$3 code=0 begin result=ok words
    shift 3
    begin=$(date +%s.%N)
    timeout "$limit" "$@" >"$work/out" 2>&1 || code=$?
    words=$(grep -E '^checked|^killed with -9|^Kafka: |kills, |kills with -9' "$work/out" | tr -s ' \n' ' ' |
        sed 's/^ //; s/ $//' || true)
    [ $code = 0 ] || result="FAILED ($code)"
    if [ $code = 0 ] && ! grep -qE "$happened" "$work/out"; then
        code=1
        result="FAILED (no line with '$happened')"
    fi
    printf '%-10s %-8s %-42s %7d %6.1f s  %s: %s\n' "$ENGINE" "$VERSION" "$fault" "$WAYBILL_EVENTS" \
        "$(echo "$(date +%s.%N) - $begin" | bc 2>/dev/null || echo $(($(date +%s) - ${begin%.*})))" "$result" "$words"
    [ $code != 0 ] || return 0
    cat "$work/out"
    failed=1
}

finished() { exit "$failed"; }
