#!/usr/bin/python3
# SPDX-License-Identifier: MIT
#
#     bench/include_cost.py           memory and CPU time of each include, with all compilers found, and
#                                     the size that a use of each driver adds to an object file;
#                                     with --rounds N instead of 3 rounds
#     bench/include_cost.py --check [WORD]   fails if an include costs more than its bound; with a
#                                     word, only includes whose name contains it. g++ 12 only
#
# The unit is <nlohmann/json.hpp>, beyond <vector> and <string>, with the same compiler. Memory is the
# TOTAL that g++ reports with -ftime-report, which is the same in each run and on each machine; for
# clang it is the peak of the process. CPU time is user and system, without that report, the least of
# some rounds in which all includes take turns. Object sizes are code and constants at -O2 (`size`),
# templates of the standard library included; bench/object_size has each use, and the loop by hand for
# the same job. `import waybill;` is measured with clang 19; its interface is compiled once, before.

import glob
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
include = os.path.join(root, "include")

JSON = "nlohmann/json.hpp"
FMT = "fmt/format.h"
PLAIN = ["vector", "string"]
MODULE = "import waybill;"

tasks = ["batch/chunk_by", "retry/circuit_breaker", "window/sliding_window"]
drivers = ["batch/send_all", "consume/process_batch", "consume/process_at_least_once", "consume/reprocess",
           "lease/processor", "lease/run_partitions", "queue/settle_batches", "retry/retry_call", "session/pipeline",
           "session/process_step", "session/redrive", "session/session_state"]

# What these cost today. Their goal, the bound of the other headers of their kind, is not reached; they
# may not become more expensive, and a lower cost lowers the number here.
not_reached = {"lease/processor": 0.35, "lease/run_partitions": 0.54, "consume": 0.36, "lease": 0.54, "queue": 0.41,
               "session": 0.36, "waybill": 1.92}

peers = [FMT, "toml++/toml.h", "CLI/CLI.hpp", "spdlog/spdlog.h"]


def modules(folder):
    return sorted(os.path.basename(p)[:-4] for p in glob.glob(f"{include}/waybill/{folder}*.hpp")
                  if os.path.basename(p) not in ("waybill.hpp", "version.hpp"))


def lines():
    """(name, includes, includes that it is compared with, bound)"""
    out = [(JSON, [JSON], [], None)]
    out += [(h, [h], [], None) for h in peers]
    out += [(f"waybill/{h}.hpp", [f"waybill/{h}.hpp"], [], 0.1) for h in tasks]
    out += [(f"waybill/{h}.hpp", [f"waybill/{h}.hpp"], [], 0.25) for h in drivers]
    out += [(f"waybill/{m}.hpp", [f"waybill/{m}.hpp"], [], 0.3) for m in modules("")]
    whole = "waybill/waybill.hpp"
    out += [(whole, [whole], [], 1.0),
            ("waybill/ext/json.hpp", [whole, JSON, "waybill/ext/json.hpp"], [whole, JSON], 0.3),
            (MODULE, [MODULE], [], None),
            ("waybill/ext/fmt.hpp", [whole, FMT, "waybill/ext/fmt.hpp"], [whole, FMT], 0.15)]
    for m in modules("ext/json/"):
        base = f"waybill/{m}.hpp"
        if os.path.exists(f"{include}/{base}"):
            out.append((f"waybill/ext/json/{m}.hpp", [base, JSON, f"waybill/ext/json/{m}.hpp"], [base, JSON], 0.1))
    return out


def version(compiler):
    return subprocess.run(compiler[:1] + ["--version"], capture_output=True, text=True).stdout.split("\n")[0]


def compilers():
    """(name, command) of those that are installed."""
    known = [("g++ 12", ["g++-12"]), ("clang 14", ["clang++-14"]), ("clang 19", ["clang++-19"]),
             ("clang 19, libc++", ["clang++-19", "-stdlib=libc++"])]
    found = []
    for name, command in known:
        if shutil.which(command[0]):
            try:
                measured(command, ("string",))
                found.append((name, command))
            except RuntimeError:
                pass
    return found


def measured(compiler, includes, report=False):
    """Bytes of memory and seconds of CPU that a file with these includes takes. The memory is the peak of
    the process or, with `report`, that of g++'s report, which makes the compilation take twice as long."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "includes.cpp")
        with open(source, "w") as f:
            # An import follows the includes.
            f.writelines(f"{i}\n" if i == MODULE else f"#include <{i}>\n"
                         for i in sorted(list(PLAIN) + list(includes), key=lambda i: i == MODULE))
        command = compiler + ["-std=c++20", "-fsyntax-only", f"-I{include}", source]
        with open(os.path.join(folder, "log"), "w+") as log:
            child = subprocess.Popen(command + (["-ftime-report"] if report else []), stdout=log, stderr=log)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            log.seek(0)
            text = log.read()
    if child.returncode != 0:
        raise RuntimeError(f"{' '.join(compiler)} does not compile {' '.join(includes)}:\n{text[:2000]}")
    memory = usage.ru_maxrss * 1024
    if report:
        total = re.search(r"^ TOTAL .*?(\d+)([kMG]?)\s*$", text, re.M)
        memory = int(total.group(1)) << {"": 0, "k": 10, "M": 20, "G": 30}[total.group(2)]
    return memory, usage.ru_utime + usage.ru_stime


def cpu_seconds(command):
    """CPU seconds of a command that must succeed."""
    before = os.times()
    subprocess.run(command, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def with_module(name, compiler, folder):
    """The command with the compiled interface of the module, and the seconds that this took."""
    if "19" not in name:
        return compiler, None
    interface = os.path.join(folder, name.replace(" ", "") + ".pcm")
    seconds = cpu_seconds(compiler + ["-std=c++20", f"-I{include}", "--precompile",
                                      f"{include}/waybill/waybill.cppm", "-o", interface])
    return compiler + [f"-fmodule-file=waybill={interface}"], seconds


def use_seconds(compiler, folder):
    """CPU seconds of a program that uses each part, with the import and with the include instead."""
    with open(f"{root}/tests/modules/use.cpp") as f:
        text = f.read()
    seconds = []
    for begin in (MODULE, "#include <waybill/waybill.hpp>"):
        source = os.path.join(folder, "use.cpp")
        with open(source, "w") as f:
            f.write(text.replace(MODULE, begin))
        seconds.append(cpu_seconds(compiler + ["-std=c++20", f"-I{include}", "-c", source, "-o", source + ".o"]))
    return seconds


def object_size(compiler, source, flags):
    """KiB of code and constants."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "a.o")
        subprocess.run(compiler + ["-std=c++20", "-O2", f"-I{include}", "-c", source, "-o", file] + flags,
                       check=True)
        return int(subprocess.run(["size", file], capture_output=True, text=True, check=True)
                   .stdout.split("\n")[1].split()[0]) / 1024


def key(includes):
    return tuple(sorted(set(includes)))


def needed(table):
    return sorted({key(i) for line in table for i in (line[1], line[2], [])} | {key([JSON])})


def bound_of(name, goal):
    return max(goal, not_reached.get(name.removeprefix("waybill/").removesuffix(".hpp"), 0))


def check(word=""):
    compiler = ["g++-12"] if shutil.which("g++-12") else [os.environ.get("CXX", "g++")]
    holds = re.search(r"\b12\.\d+\.\d+", version(compiler)) and "clang" not in version(compiler)
    if "clang" in version(compiler):
        print("skipped: the bounds are those of g++ 12")
        return 0
    # ext/json.hpp has all of ext/json/<module>.hpp, so their lines are left to the full table.
    table = [(name, includes, base, bound_of(name, goal)) for name, includes, base, goal in lines()
             if goal is not None and word in name and "ext/json/" not in name]
    files = needed(table)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        memory = dict(zip(files, (m for m, _ in pool.map(lambda f: measured(compiler, f, report=True), files))))
    unit = memory[key([JSON])] - memory[key([])]
    too_much = 0
    for name, includes, base, bound in table:
        ratio = (memory[key(includes)] - memory[key(base)]) / unit
        verdict = "" if ratio <= bound else "  TOO MUCH"
        too_much += ratio > bound
        print(f"{name:45} {ratio:5.2f} of at most {bound}{verdict}")
    if too_much and not holds:
        print(f"not a failure: the bounds are those of g++ 12, this is {version(compiler)}")
    return 1 if too_much and holds else 0


def full(rounds, folder):
    table = lines()
    found = []
    interfaces = {}
    for name, compiler in compilers():
        command, interfaces[name] = with_module(name, compiler, folder)
        found.append((name, command))
    missing = set()
    for _, compiler in found:
        for h in peers:
            try:
                measured(compiler, (h,))
            except RuntimeError:
                missing.add(h)
    table = [line for line in table if not missing & set(line[1])]
    files = needed(table)
    results = {}
    for turn in range(rounds):
        for name, compiler in found:
            for f in files:
                if MODULE in f and not interfaces[name]:
                    continue
                if turn == 0 and "clang" not in name:
                    results[name, f] = (measured(compiler, f, report=True)[0], math.inf)
                memory, seconds = measured(compiler, f)
                before = results.get((name, f), (memory, seconds))
                memory = min(memory, before[0]) if "clang" in name else before[0]
                results[name, f] = (memory, min(seconds, before[1]))
    print("memory and CPU time, in units of json.hpp\n")
    print("| include | " + " | ".join(n for n, _ in found) + " | at most |")
    print("|---|" + "---|" * (len(found) + 1))
    for title, includes, base, bound in table:
        cells = []
        at_most = "" if bound is None else f"{bound}"
        if bound is not None and bound_of(title, bound) != bound:
            at_most = f"{bound_of(title, bound)}, goal {bound}"
        for name, _ in found:
            if (name, key(includes)) not in results:
                cells.append("-")
                continue

            def beyond(i, j):
                return results[name, key(i)][0] - results[name, key(j)][0], \
                    results[name, key(i)][1] - results[name, key(j)][1]
            unit = beyond([JSON], [])
            cost = beyond(includes, base)
            cells.append(f"{cost[0] / unit[0]:.2f}, {cost[1] / unit[1]:.2f}")
        print(f"| `{title}` | " + " | ".join(cells) + f" | {at_most} |")
    print()
    for name, compiler in found:
        least, most = results[name, key([])], results[name, key([JSON])]
        print(f"{name}: json.hpp is {(most[0] - least[0]) / 2**20:.0f} MiB and {most[1] - least[1]:.2f} s "
              f"beyond <vector> and <string>, which are {least[0] / 2**20:.0f} MiB and {least[1]:.2f} s")
        if interfaces[name]:
            by_import, by_include = use_seconds(compiler, folder)
            print(f"{name}: the interface of the module compiles in {interfaces[name]:.2f} s; a use of each "
                  f"part in {by_import:.2f} s by import, in {by_include:.2f} s by include")
    for h in sorted(missing):
        print(f"{h} is not installed")
    print("\nsize of an object file in KiB: with the driver, with a loop by hand\n")
    print("| driver | " + " | ".join(n for n, _ in found) + " |")
    print("|---|" + "---|" * len(found))
    for source in sorted(glob.glob(f"{root}/bench/object_size/*.cpp")):
        cells = [f"{object_size(c, source, []):.1f}, {object_size(c, source, ['-DBY_HAND']):.1f}"
                 for _, c in found]
        print(f"| `{os.path.basename(source)[:-4]}` | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        sys.exit(check(*sys.argv[2:]))
    with tempfile.TemporaryDirectory() as of_interfaces:
        sys.exit(full(int(sys.argv[2]) if sys.argv[1:2] == ["--rounds"] else 3, of_interfaces))
