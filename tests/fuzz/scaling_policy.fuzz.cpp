// SPDX-License-Identifier: MIT
//
// Text that may be a policy of scaling. It is refused with a place and a reason, or its policy is
// equal after it was written and read again. The policy decides within its bounds, for any number
// of instances and any known metrics.
//
// Changed bytes seldom make another policy. So each input is also tried with a part of its JSON
// replaced by another part, or by a value that is invalid there.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuzz/fuzz.hpp>
#include <golden/scaling/values.hpp>
#include <support/dice.hpp>
#include <support/scaling_replay.hpp>

#include <waybill/ext/json/scaling.hpp>

namespace {

using namespace waybill;
namespace sc = waybill::scaling;
using nlohmann::json;

constexpr wall_time noon = golden_scaling::noon;

void decides(const sc::policy& p, tests_support::dice& roll)
{
    const std::vector<std::string_view> metrics = sc::metrics_of(p);
    std::vector<sc::reading> known;
    constexpr double values[] = {0, 1, -1, 50, 1e3, 1e9, 1e300, -1e300, 0.1};
    for (const std::string_view m : metrics) {
        if (roll.one_in(5)) continue;
        sc::reading r{.metric = m, .points = roll(12), .first = noon, .last = noon, .timed = true};
        for (std::size_t s = 0; s != sc::statistics; ++s) {
            if (!roll.one_in(8)) r.set(static_cast<sc::statistic>(s), roll.any_of(values));
        }
        known.push_back(r);
    }
    sc::state state;
    const std::uint64_t counts[] = {
        0, 1, 2, 20, p.instances.lowest, p.instances.highest, UINT64_MAX, roll(100)};
    for (const std::uint64_t n : counts) {
        const wall_time now = noon + duration::seconds(static_cast<std::int64_t>(roll(10'000)));
        const sc::decision d = sc::decide(p, known, state, n, now);
        fuzz::must(d.from == n, "the decision has the given number of instances");
        const bool inside = d.to >= p.instances.lowest && d.to <= p.instances.highest;
        fuzz::must(d.to == n || inside, "it leads into the bounds");
        fuzz::must(d.command.has_value() == (d.to != n), "there is a command for a change");
        state.on(d);
        if (d.command) state.on(sc::applied{d.command->id}, now);
    }
}

void read(const result<sc::policy, json_error>& p, tests_support::dice& roll)
{
    if (!p) {
        fuzz::must(name(p.error().kind) != "?", "a problem has a name");
        fuzz::must(!p.error().expected.empty(), "the error contains the expected value");
        fuzz::must(!describe(p.error()).empty(), "there is a text");
        return;
    }
    const auto written = sc::write_policy(*p);
    fuzz::must(written.has_value(), "what is read can be written");
    const auto again = sc::parse_policy(written->dump());
    fuzz::must(again.has_value(), "what is written can be read");
    fuzz::must(*again == *p, "and is the same");
    decides(*p, roll);
}

/// All values within a value, itself first.
void each_part(json& j, std::vector<json*>& parts)
{
    parts.push_back(&j);
    if (!j.is_structured()) return;
    for (json& part : j) each_part(part, parts);
}

/// The replacements for parts of an input: whole seeds, and all of their parts.
struct shelf {
    std::vector<json> seeds;
    std::vector<json> parts;
};

const shelf& stock()
{
    static const shelf all = [] {
        shelf s;
        for (const std::string& seed : fuzz_seeds()) {
            s.seeds.push_back(json::parse(seed, nullptr, false));
            std::vector<json*> parts;
            each_part(s.seeds.back(), parts);
            for (const json* part : parts) s.parts.push_back(*part);
        }
        for (const char* odd :
             {"null", "true", "0", "-1", "1", "1e300", "-0.0", "18446744073709551615", "\"\"",
              "\"-1s\"", "\"forever\"", "[]", "{}", "[[1, 100]]"}) {
            s.parts.push_back(json::parse(odd, nullptr, false));
        }
        return s;
    }();
    return all;
}

template <class T>
const T& one_of(const std::vector<T>& all, tests_support::dice& roll)
{
    return all[roll(all.size())];
}

json exchanged(json j, tests_support::dice& roll)
{
    for (std::uint64_t times = 1 + roll(3); times != 0; --times) {
        std::vector<json*> parts;
        each_part(j, parts);
        json& one = *one_of(parts, roll);
        const json& other = one_of(stock().parts, roll);
        switch (roll(6)) {
            case 0:
                if (one.is_object() && !one.empty()) one.erase(one.begin());
                break;
            case 1:
                for (std::uint64_t deep = roll.one_in(50) ? 70 : 1 + roll(3); deep != 0; --deep) {
                    json inner = std::move(one);
                    one = {{"not", std::move(inner)}};
                }
                break;
            case 2: one = {{"any", json::array({one, other})}}; break;
            case 3:
                if (one.is_array()) one.push_back(other);
                else one = other;
                break;
            default: one = other; break;
        }
    }
    return j;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view document = fuzz::text_of(data, size);
    std::uint64_t seed = size;
    for (const char c : document) seed = seed * 31 + static_cast<unsigned char>(c);
    tests_support::dice roll(seed);
    read(sc::parse_policy(document), roll);
    const auto parsed = parse_json_text(document);
    const bool takes = parsed && size < 10'000;
    read(sc::read_policy(exchanged(takes ? *parsed : one_of(stock().seeds, roll), roll)), roll);
    return 0;
}

std::vector<std::string> fuzz_seeds()
{
    static const std::vector<std::string> all = [] {
        std::vector<std::string> some;
        for (const sc::policy& p :
             {golden_scaling::policy_small(), golden_scaling::policy_full(),
              golden_scaling::policy_ladder(), golden_scaling::deciding_policy(),
              tests_support::replay_policy(), sc::policy{.targets = {{sc::last("backlog"), 100}}},
              sc::policy{.up = sc::at_least_of(2, sc::mean("a") > 1, sc::highest("a") > 2)}}) {
            if (const auto written = sc::write_policy(p)) some.push_back(written->dump());
        }
        return some;
    }();
    return all;
}
