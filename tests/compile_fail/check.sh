#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
#     check.sh SOURCE COMPILER FLAG...
#
# Passes if each case of SOURCE is an error, and the first error of each case contains the words that
# its first line expects. A case begins with this line and ends at the next one:
#
#     // expect: words of the message | or other words, where compilers differ
#
# The first error is the first line with "error:" that the compiler prints for the case, wherever it
# is found: a user reads that line and seldom the next ones. The case of an error in a header is the
# one whose line is the origin of the instantiation. A line `// options: -nostdinc` in SOURCE has
# further options of the compiler.
set -euo pipefail
source=$1 compiler=$2
shift 2
read -ra options < <(sed -n 's|^// options: ||p' "$source") || true
case $compiler in
    *clang*) options+=(-fno-caret-diagnostics -ferror-limit=0) ;;
    *) options+=(-fno-diagnostics-show-caret) ;;
esac
if text=$(LC_ALL=C "$compiler" "$@" -std=c++20 -fsyntax-only ${options[@]+"${options[@]}"} "$source" 2>&1); then
    echo "compiles, and should not"
    exit 1
fi
awk -v source="$source" '
    function line_of_source(text)  # the number after the name of the source, or 0
    {
        return index(text, source ":") == 1 ? substr(text, length(source) + 2) + 0 : 0
    }
    function case_at(line,  k)
    {
        for (k = cases; k > 0 && start[k] > line; --k) {}
        return k
    }
    function count_error(  at)
    {
        if (error == "") return
        at = case_at(line_of_source(error))
        if (at == 0) at = case_at(origin)
        if (at == 0 && outside == "") outside = error
        if (!(at in first)) first[at] = error
        error = ""
    }
    FILENAME != "-" {
        if (sub(/^\/\/ expect: /, "")) { start[++cases] = FNR; expected[cases] = $0 }
        next
    }
    / (error|warning): / { count_error(); if (/ error: /) error = $0; next }
    # An error in a header that the case includes.
    / from / && case_at(line_of_source(substr($0, index($0, "from ") + 5))) {
        count_error()
        origin = line_of_source(substr($0, index($0, "from ") + 5))
    }
    # If the origin has changed, g++ prints it before the error and clang after it.
    / required from here$| requested here$/ && line_of_source($0) {
        if (/ required from here$/) count_error()
        origin = line_of_source($0)
    }
    END {
        count_error()
        if (cases == 0) { print "no line  // expect: words"; exit 1 }
        if (outside != "") { print "an error outside of all cases:\n" outside; failed = 1 }
        for (k = 1; k <= cases; ++k) {
            found = 0
            n = split(expected[k], words, / [|] /)
            for (i = 1; i <= n; ++i) if (k in first && index(first[k], words[i])) found = 1
            if (!found) {
                print source ":" start[k] ": " (k in first ? "the first error is without" : "no error with") \
                    " the words: " expected[k] "\n" first[k]
                failed = 1
            }
        }
        exit failed
    }' "$source" - <<<"$text" || { printf '\nAll errors:\n%s\n' "$text"; exit 1; }
