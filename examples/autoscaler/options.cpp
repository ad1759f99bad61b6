// SPDX-License-Identifier: MIT

#include "options.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>
#include <waybill/core/time_text.hpp>

#include "../engines/depth_any.hpp"
#include "../support/program.hpp"
#include "live_engine.hpp"

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

When do I scale, and why? Reads what was measured of a resource, decides now and then how many
instances it shall have, and says for each decision which numbers it was made of.

  TRACE              CSV with the columns time,resource,metric,value and, if you like, instances, or
                     the same as one JSON object a line; - is the standard input; without it a
                     recording of a RabbitMQ queue under real load
  --from QUEUE       asks a queue how deep it is (metrics backlog, in_flight and age) at each
                     decision:
                     {}
  --live [QUEUE]     starts a queue, a producer that sends in bursts, and the workers that are
                     decided on, as processes; the queue is in (default: sqlite)
                     {}
  --policy FILE.json when to scale; without it policy.json beside the recording, and for --live
                     policy_live.json there
  --window SPAN      of which samples are looked at (default 2min; --live 4s)
  --every SPAN       how often is decided (default 15s; --from 5s; --live 500ms)
  --for SPAN         how long --from asks (default: until Ctrl-C), and the producer of --live sends
                     (default 40s)
  --instances N      with a trace or --from they are simulated: so many at first (default: as few as
                     the policy allows), and then as many as was decided
  --delay SPAN       how long it takes until simulated instances are there (default 0s)
  --instances trace  as many as the trace says: what is decided is advice that nobody follows
  --state FILE       what is known from one decision to the next; killed at any time and started
                     again, it goes on there and decides as if nothing had been. Not for --live
  --json FILE        each decision with all its numbers, one JSON object a line
  --chart FILE.svg   draws metrics, thresholds, instances and decisions
  --all              prints each decision with all comparisons; without it those decisions that
                     change something or have another reason than the one before, and why
  --folder FOLDER    where the queue of --live is, and stays (default: a temporary one)
  --seed N           of the bursts of --live (default 1)
  --plain            no colours
  --help             this

At the end all decisions are made again, as if the program had been killed before each of them, and
checked against the rows and the policy. It exits with 0 if they are the same and nothing is wrong.
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
    "--from",  "--policy", "--window", "--every", "--for",    "--instances", "--delay",
    "--state", "--json",   "--chart",  "--folder", "--seed", "--tick-pause"};

/// Sets a time in [least, one year].
std::optional<ending> set_time(duration& to, std::string_view name, const std::string& value,
                               duration least)
{
    const auto d = waybill::parse_duration(value);
    if (!d || *d > duration::seconds(31'536'000)) {
        return wrong(fmt::format("{} {}: a time such as 500ms, 15s or 10min is expected", name,
                                 value));
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
    if (ways > 1) return wrong("a trace, --from and --live: only one of them is possible");
    const bool trace = o.from.empty() && !o.live;
    if (o.advise && !trace) return wrong("--instances trace needs a trace");
    if (o.live && o.instances) return wrong("--instances: --live has real ones");
    if (o.live && o.delay != duration()) return wrong("--delay: --live has its own");
    if (o.advise && o.delay != duration()) return wrong("--delay has no effect with --advise");
    if (o.live && !o.state.empty()) return wrong("--state: the workers of --live end with it");
    if (trace && o.lasting != duration()) return wrong("--for: a trace lasts as long as it lasts");
    if (const auto flaw = live_flaw(o.where); o.live && flaw) return wrong("--live: " + *flaw);
    if (!o.live && !o.folder.empty()) return wrong("--folder is for --live");
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
    if (isatty(STDOUT_FILENO) == 0) o.plain = true;
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
        const bool takes = std::find(with_value.begin(), with_value.end(), name) !=
                           with_value.end();
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
            return wrong(fmt::format("one trace is enough: {} is one too many", name));
        } else {
            o.input = name;
        }
    }
    if (auto bad = conflict(o)) return *bad;
    fill_in(o);
    return o;
}

}  // namespace autoscaler
