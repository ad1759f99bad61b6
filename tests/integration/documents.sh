#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The documents are correct: each C++ block is code that is built and tested, each output block is an
# output, links into the tree lead to files, and the commands of the README run as they are written.
# ../README.md describes the marks of the blocks.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
cd "$WAYBILL_SOURCE"
command -v make >/dev/null || export CMAKE_GENERATOR=Ninja  # the README's commands work with either
bad=0
complain() { echo "documents: $*" >&2; bad=1; }

mapfile -t documents < <(find README.md examples tests bench include -name README.md | sort)

# Each fenced block becomes a file block.NNN. Lines of `blocks`: NNN, DOCUMENT:LINE, INFO STRING.
awk -v to="$work/block" '
    FNR == 1 && open { printf "%s: a block without an end\n", last >"/dev/stderr"; failed = 1; exit }
    { last = FILENAME }
    /^```/ && open { close(file); open = 0; next }
    /^```/ {
        open = 1
        file = sprintf("%s.%03d", to, ++n)
        printf "" >file
        printf "%03d %s:%d %s\n", n, FILENAME, FNR, substr($0, 4)
        next
    }
    open { print >file }
    END { exit failed }' "${documents[@]}" >"$work/blocks"

# Each marked part of a test becomes a file part.cpp.NNN, without the indentation that its lines share.
# Each text between R"text( and )text" becomes a file part.text.NNN.
mapfile -t sources < <(grep -rlE --include='*.cpp' '^ *//! \[|R"text\($' tests/unit)
awk -v to="$work/part" '
    function finish(mark, n, i, least, lines, file) {
        n = split(body[mark], lines, "\n") - 1
        least = 1000
        for (i = 1; i <= n; i++) if (lines[i] != "") { match(lines[i], /^ */); if (RLENGTH < least) least = RLENGTH }
        file = sprintf("%s.cpp.%03d", to, ++parts)
        for (i = 1; i <= n; i++) print substr(lines[i], least + 1) >file
        close(file)
        delete body[mark]
    }
    /^ *\/\/! \[.*\]$/ { if ($2 in body) finish($2); else body[$2] = ""; next }
    { for (mark in body) body[mark] = body[mark] $0 "\n" }
    /^\)text"/ { close(text); text = "" }
    text != "" { print >text }
    /R"text\($/ { text = sprintf("%s.text.%03d", to, ++texts); printf "" >text }' \
    examples/quickstart.cpp examples/prometheus.cpp examples/support/environment.hpp examples/articles/*.cpp "${sources[@]}"

# 1. Each C++ block is a marked part of a test or of an example. Each `text` or `json` block without
# a command is a text that a test compares.
sums() { sha256sum "$@" | cut -d ' ' -f 1; }
sums "$work"/part.cpp.* >"$work/sums.cpp"
sums "$work"/part.text.* >"$work/sums.text"
while read -r number place info; do
    case $info in
        cpp) kind=cpp ;;
        text | json) kind=text ;;
        sh | cmake | states | layout | text\ *) continue ;;
        *) complain "$place: no known mark: \"$info\""; continue ;;
    esac
    grep -qxF "$(sums "$work/block.$number")" "$work/sums.$kind" ||
        complain "$place is in no test: $(head -n 1 "$work/block.$number")"
done <"$work/blocks"

# same FIGURES BLOCK OUTPUT: the block is the output, apart from spaces at line ends. A line "..." stands
# for any lines. With FIGURES 1 all numbers are equal, and so are all numbers of spaces.
same()
{
    awk -v figures="$1" '
        function reduced(line) {
            if (figures) { gsub(/[0-9]+([.,:][0-9]+)*/, "0", line); gsub(/ +/, " ", line); sub(/^ /, "", line) }
            sub(/ +$/, "", line)
            return line
        }
        FNR == 1 { file++ }
        file == 1 { shown[++n] = reduced($0); next }
        { real[++m] = reduced($0) }
        function fits(i, j) {  # shown[i ...] and real[j ...]
            while (i <= n && shown[i] != "...") { if (j > m || shown[i] != real[j]) return 0; i++; j++ }
            if (i > n) return j > m
            if (i == n) return 1
            for (; j <= m; j++) if (shown[i + 1] == real[j] && fits(i + 1, j)) return 1
            return 0
        }
        END { exit !fits(1, 1) }' "$2" "$3"
}

# 2. The output of a command is the block. The commands of the README run as written, and so do those of
# the programs that it builds. The other programs run if they are built: in `tests/run all`.
run_program()
{
    local program=mailroom
    [ $# -eq 0 ] || { program=$1; shift; }
    if grep -qxF "examples/run $program" <(cat "$work/readme"; echo "examples/run mailroom"); then
        examples/run "$program" "$@"
    elif [ -x "$WAYBILL_BIN/examples/$program" ]; then
        "$WAYBILL_BIN/examples/$program" "$@"
    else
        return 77
    fi
}
awk '$2 ~ /^README.md:/ && $3 == "sh" { print $1 }' "$work/blocks" |
    while read -r number; do cat "$work/block.$number"; done | sed 's/ *#.*//' | awk '!seen[$0]++' >"$work/commands"
{ cat "$work/commands"; awk '$2 ~ /^README.md:/ && $3 == "text" { sub(/.* text /, ""); print }' "$work/blocks"; } >"$work/readme"
shown=0
while read -r number place info; do
    figures=0
    command=${info#text }
    case $info in
        "text figures of "*) figures=1; command=${info#text figures of } ;;
        "text bench/run simulation") continue ;;  # simulation.sh compares it
        "text examples/run"*) ;;
        "text "*) complain "$place: no known command: $command"; continue ;;
        *) continue ;;
    esac
    output=$work/output.$(sha256sum <<<"$command" | cut -c -16)
    if [ ! -e "$output" ]; then
        read -ra words <<<"${command#examples/run}"
        status=0
        run_program ${words[@]+"${words[@]}"} >"$output" 2>"$work/log" </dev/null || status=$?
        [ $status = 0 ] || [ $status = 77 ] || { complain "$place: this failed: $command"; cat "$work/log" >&2; }
        [ $status != 77 ] || rm -f "$output"
    fi
    [ -e "$output" ] || { echo "$place is not compared: $command is not built"; continue; }
    shown=$((shown + 1))
    same $figures "$work/block.$number" "$output" ||
        { complain "$place is not the output of $command:"; cat "$output" >&2; }
done <"$work/blocks"
[ $shown -ge 4 ] || complain "only $shown outputs were compared"

# Each program has a help text for `examples/run PROGRAM --help`. A program in one file has no
# options, and its help text states that.
for program in quickstart purchase product_import; do
    examples/run "$program" --help | grep -qx 'It has no options.' || complain "$program --help does not answer"
    code=0
    examples/run "$program" --inptu x >/dev/null 2>"$work/log" || code=$?
    [ $code = 2 ] && grep -q "$program has no options" "$work/log" || complain "$program takes an option"
done

# 3. Links into the tree lead to files.
for document in "${documents[@]}"; do
    awk '/^```/ { open = !open } !open' "$document" | { grep -o '](\([^)]*\))' || true; } | sed 's/^](//; s/)$//; s/#.*//' |
        { grep -v '^https\?:' || true; } | sort -u >"$work/links"
    while read -r link; do
        [ -z "$link" ] || [ -e "$(dirname "$document")/$link" ] || complain "$document: a link to no file: $link"
    done <"$work/links"
done

# 4. The commands of the README, as written. examples/run has run above, tests/run runs this test, and
# bench/run takes long.
ln -s "$WAYBILL_SOURCE" "$work/waybill"
while read -r command; do
    case $command in
        "" | examples/run | tests/run* | bench/run*) continue ;;
        cmake\ *) command="cd $work && $command" ;;  # in the folder above the checkout
    esac
    (eval "$command") </dev/null >"$work/log" 2>&1 || { complain "this failed: $command"; cat "$work/log" >&2; }
done <"$work/commands"
[ -s "$work/waybill_batch.hpp" ] && [ -s "$work/waybill.hpp" ] || complain "no single headers were made"
exit $bad
