#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
#     cmake/rename_0_2.py FILE...            changes names of version 0.1 to those of 0.2 in these files
#     cmake/rename_0_2.py --dry-run FILE...  prints the changes only
#
# Run it once: a few names of 0.2 are names of 0.1 for something else. renames_0_2.txt has the names.
# Headers, qualified names and names that cannot be anything else are changed. A member such as `.how`
# may belong to another type: such lines are printed with the new name, to be changed by hand. A line
# with a name or header that has become internal is printed, too: it works, but may not in a later
# version. The compiler finds the rest.

import os
import re
import sys

names = os.path.join(os.path.dirname(os.path.realpath(__file__)), "renames_0_2.txt")


def read_names():
    """(headers, qualified names, unambiguous words, members to look at)"""
    headers, qualified, words, members = {}, {}, {}, {}
    seen = {}
    lines = [line.split("#")[0].split() for line in open(names, encoding="ascii")]
    lines = [line for line in lines if line]
    for kind, old, new in lines:
        if kind != "header":
            seen.setdefault(old.split("::")[-1], set()).add(new.split("::")[-1])
    for kind, old, new in lines:
        if kind == "header":
            headers[old] = new
            continue
        short, new_short = old.split("::")[-1], new.split("::")[-1]
        if kind == "name":
            new_short = unqualified(new)
            qualified[old] = new
            if old.startswith("waybill::act::"):  # with `namespace act = waybill::act;`, which goes
                qualified[old[len("waybill::"):]] = new
            elif old.count("::") > 1:  # waybill::heard::taken is also written heard::taken
                qualified["::".join(old.split("::")[-2:])] = "::".join(new.split("::")[-2:])
        if "_" in short and len(seen[short]) == 1:
            words[short] = new_short
        elif kind == "member":
            members.setdefault(short, set()).add(new_short)
    return headers, qualified, words, members


def unqualified(name):
    """A name as it is written with `using namespace waybill`: `detail::x`, `lock_renewal::config`."""
    scopes = name.split("::")[1:-1]
    in_namespace = scopes and scopes[0] in ("retry_presets", "scaling", "testing", "wire")
    return name.split("::")[-1] if in_namespace else "::".join(name.split("::")[1:])


def pattern(texts, before, after):
    """Any of the texts, the longest that fits."""
    ordered = sorted(texts, key=len, reverse=True)
    return re.compile(before + "(" + "|".join(map(re.escape, ordered)) + ")" + after)


def main():
    dry = "--dry-run" in sys.argv
    files = [a for a in sys.argv[1:] if a != "--dry-run"]
    if not files:
        print("usage: rename_0_2.py [--dry-run] FILE...", file=sys.stderr)
        return 2
    headers, qualified, words, members = read_names()
    by_header = pattern(headers, "", "")
    # One pass: what was an old name may be the new name of another thing.
    by_name = re.compile(pattern(qualified, r"(?<![\w:])", r"\b").pattern + "|" +
                         pattern(words, r"\b", r"\b").pattern)
    renamed = {**words, **qualified}
    by_member = pattern(members, r"(?:\.|->)", r"\b")
    for path in files:
        try:
            text = open(path, encoding="utf-8").read()
        except (OSError, UnicodeDecodeError) as error:
            print(f"{path}: cannot be read as UTF-8 text: {error}", file=sys.stderr)
            return 1
        new = by_header.sub(lambda m: headers[m.group()], text)
        new = by_name.sub(lambda m: renamed[m.group()], new)
        # Actions were std::variant in 0.1.
        new = re.sub(r"\bstd::(get_if|holds_alternative)(?=<\s*(?:::)?waybill::)", r"waybill::\1", new)
        for number, (was, line) in enumerate(zip(text.splitlines(), new.splitlines()), 1):
            if was != line and dry:
                print(f"{path}:{number}: {line.strip()}")
            for found in by_member.finditer(line):
                becomes = " or ".join(sorted(members[found.group(1)]))
                print(f"{path}:{number}: look: .{found.group(1)} may be .{becomes}: {line.strip()}")
            if "std::visit(" in line or re.search(r"\bstd::get<\s*(?:::)?waybill::", line):
                print(f"{path}:{number}: look: of an action: waybill::match or waybill::get_if: {line.strip()}")
            if re.search(r"waybill(::|/[a-z]+/)detail", line) and was != line:
                print(f"{path}:{number}: look: internal since 0.2: {line.strip()}")
        new = re.sub(r"(?m)^[ \t]*namespace act = (::)?waybill::act;\n", "", new)
        if not dry and new != text:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(new)
    return 0


sys.exit(main())
