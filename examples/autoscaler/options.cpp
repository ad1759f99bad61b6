// SPDX-License-Identifier: MIT

#include "options.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../engines/depth_any.hpp"
#include "../support/program.hpp"
#include "live_engine.hpp"
#include <waybill/core/time_text.hpp>

// The folder of the trace and the policies; CMake sets it. The default is the working directory.
#ifndef WAYBILL_AUTOSCALER_FOLDER
#define WAYBILL_AUTOSCALER_FOLDER "."
#endif

namespace autoscaler {

namespace {

using waybill::duration;

constexpr std::string_view usage = R"(usage: autoscaler [TRACE] [options]
       autoscaler --from QUEUE [options]
       autoscaler --live [QUEUE] [options]

When do I scale, and why? Reads metrics of a resource and decides at intervals how many instances it
needs. Prints the numbers that are the reason of each decision.

  TRACE              CSV with the columns time,resource,metric,value and, optionally, instances; or
                     the same as one JSON object a line. - is the standard input. Without it: a
                     recording of a RabbitMQ queue under real load
  --from QUEUE       reads the metrics backlog, in_flight and age of a queue before each decision:
                     {}
  --live [QUEUE]     starts a queue, a producer that sends in bursts, and workers, as processes. The
                     number of workers is scaled. The queue (default: sqlite):
                     {}
  --policy FILE.json when to scale. Without it: policy.json in the folder of the recording, and for
                     --live policy_live.json
  --window SPAN      only samples of this last time are used (default 2min; --live 4s)
  --every SPAN       interval of the decisions (default 15s; --from 5s; --live 500ms)
  --for SPAN         duration of --from (default: until Ctrl-C), and of the producer of --live
                     (default 40s)
  --instances N      number of simulated instances at the start, for a trace and --from (default:
                     the minimum of the policy). Each decision then sets their number
  --delay SPAN       time until simulated instances are ready (default 0s)
  --instances trace  the numbers of instances are those of the trace. Decisions are only advice
  --state FILE       keeps the state between decisions. After a kill, a run with the same file
                     continues and makes the same decisions. Not for --live
  --json FILE        each decision with all its numbers, one JSON object a line
  --chart FILE.svg   draws metrics, thresholds, instances and decisions
  --all              prints each decision with all comparisons. Without it: decisions that change
                     the number or have another reason than the previous one
  --folder FOLDER    keeps the queue of --live in this folder (default: a temporary one)
  --seed N           seed of the bursts of --live (default 1)
  --plain            no colours
  --help             prints this text

At the end all decisions are repeated, as if the program had been killed before each of them, and
checked against the rows and the policy. The exit code is 0 if they are the same and correct.
)";

/// Each alternative on a line of its own.
std::string listed(std::string_view forms)
{
    std::string out;
    for (const char c : forms) {
        if (c != ' ' || !out.ends_with(',')) out += c;
        else out += "\n                     ";
    }
    return out;
}

ending wrong(std::string text)
{
    return {2, std::move(text) + "\nautoscaler --help lists all options."};
}

constexpr std::array<std::string_view, 13> with_value = {
    "--from",  "--policy", "--window", "--every",  "--for",  "--instances", "--delay",
    "--state", "--json",   "--chart",  "--folder", "--seed", "--tick-pause"};

/// Sets a time in [least, one year].
std::optional<ending> set_time(duration& to, std::string_view name, const std::string& value,
                               duration least)
{
    const auto d = waybill::parse_duration(value);
    if (!d || *d > duration::seconds(31'536'000)) {
        return wrong(fmt::format(
            "{} {}: a time such as 500ms, 15s or 10min is expected, at most 1 year", name, value));
    }
    if (*d < least) {
        return wrong(
            fmt::format("{} {}: must be at least {}", name, value, waybill::to_text(least)));
    }
    to = *d;
    return {};
}

std::optional<ending> set_number(std::optional<std::uint64_t>& to, std::string_view name,
                                 const std::string& value, std::string_view expected)
{
    to = support::number_in(value);
    if (to) return {};
    return wrong(fmt::format("{} {}: {} is expected", name, value, expected));
}

/// Sets an option that takes a value; returns the error, if any.
std::optional<ending> set(options& o, std::string_view name, const std::string& value)
{
    if (name == "--from") o.from = value;
    if (name == "--policy") o.policy = value;
    if (name == "--state") o.state = value;
    if (name == "--json") o.records = value;
    if (name == "--chart") o.chart = value;
    if (name == "--folder") o.folder = value;
    if (name == "--window") return set_time(o.window, name, value, duration::milliseconds(1));
    if (name == "--every") return set_time(o.every, name, value, duration::milliseconds(100));
    if (name == "--delay") return set_time(o.delay, name, value, duration());
    if (name == "--for") return set_time(o.lasting, name, value, duration::milliseconds(1));
    if (name == "--instances") {
        o.advise = value == "trace";
        if (o.advise) o.instances.reset();
        else return set_number(o.instances, name, value, "a number or the word trace");
    }
    if (name == "--seed" || name == "--tick-pause") {
        std::optional<std::uint64_t> n;
        if (auto bad = set_number(n, name, value, "a number")) return bad;
        (name == "--seed" ? o.seed : o.pause_ms) = *n;
    }
    return {};
}

/// The first conflict between options, if any.
std::optional<ending> conflict(const options& o)
{
    const int ways = (o.input.empty() ? 0 : 1) + (o.from.empty() ? 0 : 1) + (o.live ? 1 : 0);
    if (ways > 1) return wrong("a trace, --from and --live: name only one of them");
    const bool trace = o.from.empty() && !o.live;
    if (o.advise && !trace) return wrong("--instances trace needs a trace: omit --from and --live");
    if (o.live && o.instances)
        return wrong("--instances is not for --live, which starts real workers: omit it");
    if (o.live && o.delay != duration())
        return wrong("--delay is not for --live, which starts real workers: omit it");
    if (o.advise && o.delay != duration())
        return wrong("--delay has no effect with --instances trace: omit one of them");
    if (o.live && !o.state.empty())
        return wrong("--state is not for --live, whose workers end with the run: omit it");
    if (trace && o.lasting != duration())
        return wrong("--for is only for --from and --live: omit it, all rows of a trace are used");
    if (const auto flaw = live_flaw(o.where); o.live && flaw) return wrong("--live: " + *flaw);
    if (!o.live && !o.folder.empty())
        return wrong("--folder is only for --live: add --live, or omit it");
    if (!o.from.empty()) {
        if (const auto q = engines::depth_from(o.from); !q) {
            return wrong("--from: " + q.error());
        }
    }
    return {};
}

void fill_in(options& o)
{
    const std::string folder = WAYBILL_AUTOSCALER_FOLDER;
    const auto otherwise = [](duration& d, duration usual) {
        if (d == duration()) d = usual;
    };
    if (o.policy.empty()) o.policy = folder + (o.live ? "/policy_live.json" : "/policy.json");
    if (o.live) {
        otherwise(o.window, duration::seconds(4));
        otherwise(o.every, duration::milliseconds(500));
        otherwise(o.lasting, duration::seconds(40));
    }
    otherwise(o.window, duration::seconds(120));
    otherwise(o.every, duration::seconds(o.from.empty() ? 15 : 5));
    if (o.input.empty() && o.from.empty() && !o.live) o.input = folder + "/trace.csv";
    if (!support::coloured()) o.plain = true;
}

}  // namespace

std::variant<options, ending> options_in(int argc, char** argv)
{
    options o;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--help" || name == "-h") {
            return ending{0, fmt::format(usage, listed(engines::depth_forms), live_forms)};
        }
        const bool takes =
            std::find(with_value.begin(), with_value.end(), name) != with_value.end();
        if (name == "--live") {
            o.live = true;
            if (i + 1 != argc && is_live_form(argv[i + 1])) o.where = argv[++i];
        } else if (name == "--all") {
            o.all = true;
        } else if (name == "--plain") {
            o.plain = true;
        } else if (takes) {
            if (auto bad = support::value_error(name, argv[++i])) return wrong(*std::move(bad));
            if (auto bad = set(o, name, argv[i])) return *bad;
        } else if (name.empty() || (name.starts_with('-') && name != "-")) {
            return wrong(support::no_option(name));
        } else if (!o.input.empty()) {
            return wrong(fmt::format("two traces, {} and {}: name only one", o.input, name));
        } else {
            o.input = name;
        }
    }
    if (auto bad = conflict(o)) return *bad;
    fill_in(o);
    return o;
}

}  // namespace autoscaler
