#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Each public type of tests/golden/api that is a value can be described, printed and formatted with
# fmt: policies, reports, decisions, errors, actions, events, their variants and enums. The test
# prints each type without text, and each entry of the list below that has text.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs /usr/bin/python3

cat >generate.py <<'EOF'
import glob, os, re, sys

# State machines, containers and handles: their actions, events, options and reports have text.
no_text = """
    batch_sender at_least_once_machine batch_machine idempotency_keys lease_manager lease_observer
    partition_lifecycle processor deferred_messages lock_renewal receive_planner settle_batches
    retry_token_bucket retry_loop shared_budget scaling::situation dead_letter_import job pipeline redrive
    text_state_codec partition_tasks partition_tasks::task queue_policy::message_lock
    scaling::metric_source scaling::metric_samples scaling::autoscale_state step_properties::names commit_schedule completion_tracker stuck_watch
    """.split()

kinds, problems = {}, []
for path in sorted(glob.glob(sys.argv[1] + "/*.txt")):
    # testing/ has no values; ext/ has only the values of json.
    if os.path.basename(path) in ("testing.txt", "ext.txt"):
        continue
    parents = []
    for line in open(path):
        depth, text = (len(line) - len(line.lstrip())) // 2, line.strip()
        parents = parents[:depth]
        scope = "waybill"
        named = re.match(r"\[([\w:]+)\] (.*)", text)
        if named:
            scope, text = named.groups()
        found = re.match(r"(type|enum|using) (\w+)(.*)", text)
        if not found or scope == "std" or (found[1] == "using" and "= std::variant<" not in text):
            parents.append(None)  # a template, a function or a field
            continue
        if parents and parents[-1] is None:
            parents.append(None)  # a member of a template
            continue
        name = (parents[-1] if parents else scope) + "::" + found[2]
        parents.append(name)
        kinds[name] = found[1]

print("#include <fmt/chrono.h>\n#include <fmt/ostream.h>\n#include <fmt/ranges.h>\n#include <fmt/std.h>")
print("#include <waybill/waybill.hpp>\n#include <waybill/ext/fmt.hpp>\n#include <waybill/ext/print.hpp>")
print("template <class T> concept described = requires(const T& t) { describe(t); };")
print("template <class T> concept named = requires(const T& t) { name(t); };")
print("template <class T> concept printed = requires(std::ostream& to, const T& t) { to << t; };")
print("template <class T> inline constexpr bool formatted = fmt::is_formattable<T>::value;")
for name, kind in kinds.items():
    short = name.removeprefix("waybill::")
    # The messages of the protocols are sizes of the caller's data; their enums have text.
    protocol = re.match(r"wire::\w+::", short)
    if short.endswith("_types") or (protocol and kind != "enum"):
        continue
    if short in no_text:
        print(f'static_assert(!formatted<{name}>, "{short} has text: remove it from the list");')
        continue
    tests = ["formatted"] if protocol else ["named" if kind == "enum" else "described", "formatted", "printed"]
    for test in tests:
        print(f'static_assert({test}<{name}>, "{short} is not {test}");')
EOF
compiles()
{
    /usr/bin/python3 generate.py "$1" >types.cpp &&
        "${CXX:-c++}" -std=c++20 -fsyntax-only -I"$WAYBILL_SOURCE/include" types.cpp >out 2>&1
}
count() { grep -c '^static_assert' types.cpp; }

compiles "$WAYBILL_SOURCE/tests/golden/api" || fail 'a type has no text'
[ "$(count)" -gt 1000 ] || fail "only $(count) checks"

# A type without text is found.
cp -r "$WAYBILL_SOURCE/tests/golden/api" api
printf '\n== batch/planted.hpp\ntype framed_int\n' >>api/batch.txt
sed -i 's|^#include <waybill/waybill.hpp>|&\\nnamespace waybill { struct framed_int { int n; }; }|' generate.py
! compiles api || fail 'a type without text was not found'
grep -q 'framed_int is not described' out
