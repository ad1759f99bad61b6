#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# All programs with the same bad inputs, options and folders: one error each, with the same text and
# no files left. Valid JSON in unusual form does not make a run wrong. The verdict of a wrong run
# has the reason. A full disk ends a run with its reason.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs sql
mkdir folder beside  # the last one is for the parallel parts

# One program a line: its name, the option for its input (. if the input is an argument), the option for
# its folder (. if there is none), an option that makes it use a temporary folder (. if it never does,
# - if it does anyway), and its options with a value.
cat >programs <<'PROGRAMS'
mailroom           --input --db     -      --input --db --limit --report
send_batches       --input .        -      --to --input --limit --items --calibration --report
lost_events        .       .        .      --bin --chart --truth
autoscaler         .       --folder --live --from --policy --window --every --for --instances --delay --state --json --chart --folder --seed
reliable_consumer  --input --db     -      --workers --seed --partitions --batch --input --db --from
outbox             --input --db     -      --outage --seed --input --db --table --to
order_pipeline     --input --db     -      --workers --seed --input --most --imports --db --chart --dead-letters --sessions
PROGRAMS
: >built
while read -r name rest; do
    if [ -x "$examples/$name" ]; then echo "$name $rest" >>built; else echo "SKIP: $name is not built"; fi
done <programs

# ends PROGRAM CODE WORDS ARGS...: it ends at once with this code and this line on stderr, after its
# name unless the error is in the options. It prints nothing else and leaves no files.
cases=0
files() { find . -path ./beside -prune -o ! -name out ! -name err ! -name '*.out' -print | sort; }
ends()
{
    local name=$1 expected=$2 words=$3 code=0 before
    shift 3
    [ "$expected" = 2 ] || words="$name: $words"
    before=$(files)
    timeout "$patience" "$examples/$name" "$@" >out 2>err </dev/null || code=$?
    [ $code -eq "$expected" ] || fail "exit $code instead of $expected: $name $*"
    [ "$(head -n 1 err)" = "$words" ] || fail "$name $*: the first line of the error output is not: $words"
    [ "$expected" = 2 ] || [ "$(wc -l <err)" = 1 ] || fail "$name $* prints more than one line"
    [ ! -s out ] || fail "$name $* prints something"
    [ "$(files)" = "$before" ] || fail "files are left after $name $*"
    cases=$((cases + 1))
}

# A good input for each program.
event() { printf '{"at":"2026-01-01T00:00:%02dZ","package":"%s","event":"installed","version":"1-%s","dirs":{"/usr":[1,%s]}}\n' "$1" "$2" "$1" "$((10 + $1))"; }
for n in 1 2 3 4 5 6; do event $n "p$n"; done >good.ndjson
printf '{"time":"2026-01-01T00:00:%02dZ","operation":"a","duration_ms":1,"item_count":1}\n' 1 2 3 >good.lost_events
printf 'time,resource,metric,value\n2026-01-01T00:00:00Z,orders,backlog,1\n' >good.autoscaler
good()
{
    case $1 in
        lost_events | autoscaler) echo "good.$1" ;;
        *) echo good.ndjson ;;
    esac
}

# --- inputs --------------------------------------------------------------------------------------

mkfifo pipe
: >empty
while IFS='|' read -r input words; do
    while read -r name option _; do
        args=("$input")
        [ "$option" = . ] || args=("$option" "$input")
        ends "$name" 1 "$words" "${args[@]}"
    done <built
done <<'INPUTS'
nothing|there is no file nothing: name one as the input
folder|folder is a folder: name a regular file as the input
pipe|pipe is a FIFO, which can be read only once: name a regular file as the input
/dev/zero|/dev/zero is no regular file: name one as the input
empty|empty is empty: name a file with at least one line as the input
good.ndjson/x|good.ndjson/x cannot be read (Not a directory): name another file as the input
INPUTS

# A queue in a file must be a regular file, too.
while IFS='|' read -r name args; do
    for queue in pipe folder; do
        case $queue in
            pipe) words='is a FIFO, which can be read only once' ;;
            *) words='is a folder' ;;
        esac
        # shellcheck disable=SC2086
        ! grep -q "^$name " built ||
            ends "$name" 1 "$queue $words: name a regular file as the queue" $args "sqlite:$queue"
    done
done <<'QUEUES'
send_batches|--input good.ndjson --to
autoscaler|--every 100ms --for 200ms --from
QUEUES

# --- options -------------------------------------------------------------------------------------

while read -r name _ _ _ options; do
    for option in $options; do
        ends "$name" 2 "$option must not be empty: give it a value" "$option" ''
        ends "$name" 2 "$option needs a value" "$option"
    done
    ends "$name" 2 'an argument is empty: remove it, or write an option in its place' ''
    ends "$name" 2 'there is no option --bogus' --bogus
done <built

# --- folders -------------------------------------------------------------------------------------

# A folder without write permission. The superuser needs one on a file system that is mounted
# read-only.
readonly=
if [ "$(id -u)" -ne 0 ]; then
    mkdir readonly
    chmod a-w readonly
    readonly=$work/readonly
elif mkdir readonly && mount -t tmpfs -o ro,size=1m none readonly 2>/dev/null; then
    at_exit umount "$work/readonly"
    readonly=$work/readonly
elif [ -d /sys ] && ! touch /sys/waybill 2>/dev/null; then
    readonly=/sys
fi
if [ -n "$readonly" ]; then
    why=$( (touch "$readonly/x") 2>&1 | sed 's/.*: //') || true
    why_no_folder=$(mkdir "$readonly/x" 2>&1 | sed 's/.*: //') || true
else
    echo 'SKIP: no read-only folder can be made here'
fi
while read -r name option folder temporary _; do
    args=()
    case $temporary in
        .) continue ;;
        --*) args=("$temporary") ;;
        *) args=("$option" "$(good "$name")") ;;
    esac
    TMPDIR=$work/nowhere ends "$name" 1 "no temporary folder can be made in $work/nowhere: No such file or directory; set TMPDIR to a folder that can be written" "${args[@]}"
    TMPDIR=$work/empty ends "$name" 1 "no temporary folder can be made in $work/empty: Not a directory; set TMPDIR to a folder that can be written" "${args[@]}"
    [ -z "$readonly" ] ||
        TMPDIR=$readonly ends "$name" 1 "no temporary folder can be made in $readonly: $why_no_folder; set TMPDIR to a folder that can be written" "${args[@]}"
    [ "$folder" != . ] || continue
    ends "$name" 1 'empty is no folder and cannot be made one: Not a directory; name another folder' "${args[@]}" "$folder" empty
    [ -z "$readonly" ] ||
        ends "$name" 1 "the folder $readonly cannot be written: $why; name another folder" "${args[@]}" "$folder" "$readonly"
done <built
if [ -n "$readonly" ] && grep -q '^send_batches ' built; then
    ends send_batches 1 "the queue cannot be written to $readonly/q: $why" --input good.ndjson --to "sqlite:$readonly/q"
fi

# --- a full disk ---------------------------------------------------------------------------------

# full NAME WORDS COMMAND...: it ends with 1 and this text when the disk is full. In the background.
full()
{
    local name=$1 words=$2
    shift 2
    (
        code=0
        "$@" >"beside/$name.out" 2>&1 || code=$?
        [ $code -eq 1 ] || { echo "exit $code of $name" >>"beside/$name.out"; exit 1; }
        grep -q "^reliable_consumer: .*$words" "beside/$name.out"
    ) &
    running[$name]=$!
}
# limited BLOCKS COMMAND...: no file may be larger than BLOCKS KiB.
limited() { (trap '' XFSZ; ulimit -f "$1"; shift; exec "$@"); }
declare -A running=()
if grep -q '^reliable_consumer ' built; then
    full small_files 'disk I/O error' limited 1500 timeout "$patience" "$examples/reliable_consumer" --db beside/small
    if mkdir beside/disk && mount -t tmpfs -o size=2m none beside/disk 2>/dev/null; then
        at_exit umount "$work/beside/disk"
        full full_disk 'database or disk is full' timeout "$patience" "$examples/reliable_consumer" --db beside/disk/db
    else
        echo 'SKIP: a small file system cannot be mounted here'
    fi
fi

# --- odd lines, and the folder of an earlier run
# ---------------------------------------------------

# JSON in unusual form, with the same meaning for each JSON reader.
{
    printf '{"package": "a", "event" : "x", "dirs": {"/": [1, 2]}}\r\n'
    printf '{"x":{"package":"inner"},"event":"upgrade"}\r\n\r\n'
    printf '{"y":{"version":"9"},"package":"b","event":"installed"}\n'
    printf '{"event" : "installed","dirs":{"/usr":[1,10]},"version" :"2-1" , "package":"c\\"\\\\d","at":"2026-01-01T00:00:00Z"}\n'
    printf '{"p\\u0061ckage":"\\u00fc","event":"inst\\u0061lled","version":"3-1","dirs":{"/usr":[1,10]}}\r\n'
    printf '{"package":"X-Order: 7","event":"installed","version":"Subject: 4-1","dirs":{"/usr":[1,10]}}\n'
    printf '{"package":"e","event":"installed","number":"order-9","total":"x","payment":"y","version":"5-1","dirs":{"/usr":[1,10]}}\n'
    printf '{"package":"g","package":"f","event":"removed","event":"installed","version":"","dirs":{}}\n'
    printf '{"package":"x","event":"installed"\n'
    printf '  {"package":"h","event":"installed","version":"\\ud83d\\ude00-1","dirs":{"/usr":[1,10]}}\t \r\n'
} >odd.ndjson
{
    for n in 1 2 3; do printf ' { "time" : "2026-01-01T00:00:%02dZ", "oper\\u0061tion":"\\"a\\"", "x":{"item_count":7,"time":5}, "duration_ms": 1, "item_count" :2}\r\n' $n; done
} >odd.lost_events
printf 'minute,events\r\n2026-01-01T00:00:00Z,6\r\n' >odd.truth
for n in 1 2 3; do
    printf ' {"time" : "2026-01-01T00:00:%02dZ","resource":"ord\\u0065rs","x":{"metric":"age","value":9},"metric": "backlog" , "value":%d}\r\n' $n $n
done >odd.autoscaler
printf '{"up":{"mean":"backlog","above":100},"instances":{"lowest":1,"highest":4}}\n' >policy.json

# right PROGRAM ARGS...: a run that succeeds.
right()
{
    local name=$1 code=0
    shift
    timeout "$patience" "$examples/$name" "$@" >out 2>err </dev/null || code=$?
    [ $code -eq 0 ] || fail "exit $code: $name $*"
    grep -q '^checked: ' out || fail "$name $* has checked nothing"
    cases=$((cases + 1))
}
# wrong PROGRAM WORDS ARGS...: a run with a verdict of wrong, and its reason.
wrong()
{
    local name=$1 words=$2 code=0
    shift 2
    timeout "$patience" "$examples/$name" "$@" >out 2>err </dev/null || code=$?
    [ $code -eq 1 ] || fail "exit $code instead of 1: $name $*"
    grep '^WRONG: ' out | grep -qF -- "$words" || fail "the verdict of $name does not contain: $words"
    cases=$((cases + 1))
}
# kept PROGRAM ARGS...: a good run with odd lines. Its folder is refused for another input, and for
# this one after a change.
kept()
{
    local name=$1 input=$1.input db=$1.db
    shift
    cp odd.ndjson "$input"
    right "$name" --input "$input" --db "$db" "$@"
    sed 's/"a", "event" : "x"/"a", "event" : "y"/' odd.ndjson >"$input"
    [ "$(wc -c <"$input")" = "$(wc -c <odd.ndjson)" ] || fail 'the changed input has another size'
    ends "$name" 1 "$db holds the work of another input than $input, or of what that was before it changed: name another folder" \
        --input "$input" --db "$db" "$@"
    cp odd.ndjson "$input"
    program=$examples/$name
    expect_exit 0 --input "$input" --db "$db" "$@"
    cases=$((cases + 1))
}
has() { grep -q "^$1 " built; }
if has outbox; then
    # It waits most of its time, so it runs in parallel.
    (
        mkdir beside/outbox
        cp odd.ndjson built beside/outbox
        cd beside/outbox
        kept outbox --plain --outage 1
        sql outbox.db/server.sqlite "UPDATE mails SET recipient = 'x' WHERE message_id LIKE '%/2@%'"
        wrong outbox '1 mails differ from their order, or have another recipient' --input outbox.input --db outbox.db --plain --outage 1
    ) &
    running[outbox]=$!
fi
if has mailroom; then
    kept mailroom --plain
    sql mailroom.db/sink.sqlite 'DELETE FROM applied WHERE line = 1'
    wrong mailroom '1 event lost' --input mailroom.input --db mailroom.db
fi
if has reliable_consumer; then
    kept reliable_consumer --workers 2 --partitions 3
    sql reliable_consumer.db/sink.sqlite 'INSERT INTO effects (part, sequence) SELECT part, sequence FROM effects LIMIT 1'
    wrong reliable_consumer '1 event doubled' --input reliable_consumer.input --db reliable_consumer.db --partitions 3
    sql reliable_consumer.db/log.sqlite "UPDATE log SET body = '{\"package\":\"\"}' WHERE body LIKE '%5-1%'"
    wrong reliable_consumer 'must be a dead letter' --input reliable_consumer.input --db reliable_consumer.db --partitions 3
    # One process at a time.
    start busy "$examples/reliable_consumer" --db busy --kill 3600
    await 'it makes no tables' test -e busy/sink.sqlite
    kill -STOP "${pid[busy]}"
    program=$examples/reliable_consumer
    expect_exit 1 --db busy
    expect_output 'another reliable_consumer is at work here: busy/lock is locked; wait for its end, or name another folder'
    killed busy
    right reliable_consumer --db busy
fi
if has order_pipeline; then
    kept order_pipeline --workers 2
    sql order_pipeline.db/shop.sqlite "DELETE FROM effects WHERE job = 'order-2' AND step = 5"
    wrong order_pipeline 'order-2, step 5 is lost' --input order_pipeline.input --db order_pipeline.db
    "$examples/order_pipeline" --help >out
    grep -qF -- '--chart FILE' out || fail 'order_pipeline has no --chart'
    right order_pipeline --input odd.ndjson --workers 1 --chart chart.svg
    grep -q '</svg>' chart.svg || fail '--chart draws nothing'
    rm chart.svg
fi
if has send_batches; then
    right send_batches --input odd.ndjson --to sqlite:queue.sqlite
    sql queue.sqlite "CREATE TRIGGER t AFTER INSERT ON queue BEGIN UPDATE queue SET body = 'x' WHERE rowid = NEW.rowid; END"
    wrong send_batches 'are not in their place in the queue' --input odd.ndjson --to sqlite:queue.sqlite
fi
if has lost_events; then
    right lost_events odd.lost_events --truth odd.truth
    printf 'minute,events\n2026-01-01T00:00:00Z,60000\n' >odd.truth
    wrong lost_events '60,000 events were counted' odd.lost_events --truth odd.truth
fi
! has autoscaler || right autoscaler odd.autoscaler --policy policy.json

for name in "${!running[@]}"; do
    code=0
    wait "${running[$name]}" || code=$?
    [ $code -eq 0 ] || { [ ! -e "beside/$name.out" ] || cat "beside/$name.out" >&2; fail "$name has failed"; }
done
expect_no_folder

echo "program_inputs: $cases cases of $(wc -l <built) programs, each with the same error texts"
