// SPDX-License-Identifier: MIT
//
// Text that may be a state of scaling. It is refused with a place and a reason, or its state is
// equal after it was written and read again. The state fits its row, is in order, and can be used
// for decisions.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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

void decides(sc::state s)
{
    static const sc::policy p = golden_scaling::deciding_policy();
    static const sc::policy changing = tests_support::replay_policy();
    static const std::vector<sc::reading> known = golden_scaling::known();
    for (const sc::policy* one : {&p, &changing}) {
        for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{3}, UINT64_MAX}) {
            const sc::decision d = sc::decide(*one, known, s, n, golden_scaling::noon);
            const bool inside = d.to >= one->instances.lowest && d.to <= one->instances.highest;
            fuzz::must(d.to == n || inside, "it leads into the bounds");
            s.on(d);
            if (d.command) s.on(sc::applied{d.command->id}, golden_scaling::noon);
            const auto again = read_json<sc::state>(json(s));
            fuzz::must(again.has_value(), "what came of it is read");
            fuzz::must(*again == s, "and is the same");
        }
    }
}

void read(const json& document)
{
    const auto s = read_json<sc::state>(document);
    if (!s) {
        fuzz::must(name(s.error().kind) != "?", "a problem has a name");
        fuzz::must(!s.error().expected.empty(), "the error contains the expected value");
        fuzz::must(!describe(s.error()).empty(), "there is a text");
        return;
    }
    for (std::size_t n = 1; n < s->highest.size(); ++n) {
        fuzz::must(!(s->highest[n].at < s->highest[n - 1].at), "times are in order");
        fuzz::must(s->highest[n].instances < s->highest[n - 1].instances, "and so are instances");
    }
    for (std::size_t n = 1; n < s->lowest.size(); ++n) {
        fuzz::must(!(s->lowest[n].at < s->lowest[n - 1].at), "times are in order");
        fuzz::must(s->lowest[n].instances > s->lowest[n - 1].instances, "and so are instances");
    }
    const std::string written = json(*s).dump();
    fuzz::must(written.size() < 2'048, "it fits its row");
    const auto again = parse_json<sc::state>(written);
    fuzz::must(again.has_value(), "what is written is read");
    fuzz::must(*again == *s, "and is the same");
    fuzz::must(json(*again).dump() == written, "and is written the same");
    decides(*s);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view document = fuzz::text_of(data, size);
    std::uint64_t seed = size;
    for (const char c : document) seed = seed * 31 + static_cast<unsigned char>(c);
    tests_support::dice roll(seed);
    auto parsed = parse_json_text(document);
    if (parsed) read(*parsed);
    json j = parsed ? *std::move(parsed)
                    : json::parse(fuzz_seeds()[roll(fuzz_seeds().size())], nullptr, false);
    // Replaces numbers in the lists and fields.
    constexpr const char* fields[] = {
        "highest",        "lowest",  "applied_changes", "last_id",        "pending",
        "warm_instances", "last_up", "warm_at",         "inactive_since", "version"};
    constexpr const char* others[] = {"",
                                      "1 5 2 4",
                                      "1 4 2 5",
                                      "1 2 3",
                                      "-zz 1 0",
                                      "2 1 1 0",
                                      "1y2p0ij32e8e7 3w5e11264sgsf",
                                      "0 0 0 0 0 0"};
    if (!j.is_object()) return 0;
    for (std::uint64_t n = roll(3) + 1; n != 0; --n) {
        json& one = j[roll.any_of(fields)];
        if (one.is_string() || roll.one_in(4)) one = roll.any_of(others);
        else if (roll.one_in(4)) one = "2024-02-29T12:00:00.000000001Z";
        else if (one.is_object() && !one.empty()) one["id"] = roll(20);
        else one = roll.one_in(3) ? roll.bits() : roll(3);
    }
    read(j);
    return 0;
}

std::vector<std::string> fuzz_seeds()
{
    static const std::vector<std::string> all = [] {
        std::vector<std::string> some{json(golden_scaling::state_empty()).dump(),
                                      json(golden_scaling::state_typical()).dump(),
                                      json(golden_scaling::state_full()).dump()};
        const sc::policy p = tests_support::replay_policy();
        std::uint64_t n = 0;
        (void)tests_support::replay(p, [&](sc::state& s) {
            if (n++ % 30 == 20) some.push_back(json(s).dump());
        });
        return some;
    }();
    return all;
}
