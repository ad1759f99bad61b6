// SPDX-License-Identifier: MIT
//
// Text that may be a message of scaling: a sample of a metric, a command or its result. It is
// refused with a place and a reason, or it is read as exactly one of the three. Written and read
// again, it is equal. This also holds for messages with any bytes in their names.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fuzz/fuzz.hpp>
#include <golden/scaling/values.hpp>
#include <support/dice.hpp>

#include <waybill/ext/json/scaling.hpp>

namespace {

using namespace waybill;
namespace sc = waybill::scaling;
using nlohmann::json;

void use(const sc::metric_message& m)
{
    fuzz::must(std::isfinite(m.value), "a sample is a number");
}

void use(const sc::command_message& m)
{
    for (const std::uint64_t instances : {std::uint64_t{0}, m.command.from, UINT64_MAX}) {
        const sc::admission a = sc::admit(m.command, 17, instances);
        const bool fresh =
            m.command.id > 17 && m.command.from == instances && m.command.from != m.command.to;
        fuzz::must((a == sc::admission::fresh) == fresh, "a command is executed if it is new");
    }
}

void use(const sc::result_message& m)
{
    sc::state s;
    s.last_id = 18;
    s.pending = sc::pending_command{.issued = {17, 4, 6}, .at = golden_scaling::noon};
    const sc::state before = s;
    const sc::command_result r = sc::record(s, m, golden_scaling::noon);
    const bool is_pending = m.id == 17;
    fuzz::must((r == sc::command_result::applied) == is_pending, "it is of the pending command");
    fuzz::must(s.pending.has_value() != is_pending, "a command has one result");
    fuzz::must(is_pending || s == before, "another result changes nothing");
    if (is_pending) {
        fuzz::must(s.last_up.has_value() == m.applied, "an applied command begins a cooldown");
        fuzz::must(s.last_failure.has_value() != m.applied, "a failed one is recorded");
    }
}

/// Writes the message, and reads an equal one.
template <class T>
void survives(const T& m)
{
    const std::string written = json(m).dump();
    const auto again = parse_json<T>(written);
    fuzz::must(again.has_value(), "what is written is read");
    fuzz::must(*again == m, "and is the same");
    fuzz::must(json(*again).dump() == written, "and is written the same");
}

/// True if it is a T.
template <class T>
bool is(const json& document)
{
    const auto m = read_json<T>(document);
    if (!m) {
        fuzz::must(name(m.error().kind) != "?", "a problem has a name");
        fuzz::must(!m.error().expected.empty(), "the error contains the expected value");
        fuzz::must(!describe(m.error()).empty(), "there is a text");
        return false;
    }
    survives(*m);
    use(*m);
    return true;
}

void read(const json& document)
{
    const int kinds = is<sc::metric_message>(document) + is<sc::command_message>(document) +
                      is<sc::result_message>(document);
    fuzz::must(kinds <= 1, "a message is of one kind");
}

double any_number(tests_support::dice& roll)
{
    constexpr double some[] = {
        0.0, -0.0, 1, 0.1, 1e300, -1e300, 5e-324, 412.5, std::numeric_limits<double>::max()};
    if (roll.one_in(2)) return roll.any_of(some);
    return static_cast<double>(static_cast<std::int64_t>(roll.bits())) / 3;
}

/// Messages with these bytes as names.
void made(std::string_view bytes, tests_support::dice& roll)
{
    const std::string first(bytes.substr(0, roll(bytes.size() + 1)));
    const std::string second(bytes.substr(first.size()));
    const auto at = wall_time::at(duration::nanoseconds(static_cast<std::int64_t>(roll.bits())));
    survives(sc::metric_message{first, second, at, any_number(roll)});
    survives(sc::command_message{first, {roll.bits(), roll(5), roll.bits()}});
    survives(sc::result_message{first, roll.bits(), roll.one_in(2), second});
    for (const double none :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        const json j = sc::metric_message{first, second, at, none};
        fuzz::must(!read_json<sc::metric_message>(j).has_value(), "no number is no sample");
    }
}

/// Replaces the values of fields.
void exchange(json& j, tests_support::dice& roll)
{
    constexpr const char* fields[] = {
        "version", "resource", "metric", "at",   "value",           "id",           "from",
        "to",      "applied",  "failed", "text", "resource_base64", "metric_base64"};
    constexpr const char* texts[] = {"",
                                     "orders",
                                     "b3JkZXJz",
                                     "/w==",
                                     "/w=",
                                     "\xff",
                                     "2024-02-29T12:00:00Z",
                                     "2024-02-30T12:00:00Z"};
    for (std::uint64_t n = roll(3) + 1; n != 0; --n) {
        const char* const field = roll.any_of(fields);
        switch (roll(5)) {
            case 0: j.erase(field); break;
            case 1: j[field] = roll.any_of(texts); break;
            case 2: j[field] = any_number(roll); break;
            case 3: j[field] = json::array({roll(3)}); break;
            default: j[field] = roll.one_in(3) ? roll.bits() : roll(20); break;
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view document = fuzz::text_of(data, size);
    std::uint64_t seed = size;
    for (const char c : document) seed = seed * 31 + static_cast<unsigned char>(c);
    tests_support::dice roll(seed);
    made(document, roll);
    auto parsed = parse_json_text(document);
    if (parsed) read(*parsed);
    json j = parsed ? *std::move(parsed)
                    : json::parse(fuzz_seeds()[roll(fuzz_seeds().size())], nullptr, false);
    if (!j.is_object()) return 0;
    exchange(j, roll);
    read(j);
    return 0;
}

std::vector<std::string> fuzz_seeds()
{
    static const std::vector<std::string> all{
        json(golden_scaling::message_metric()).dump(),
        json(golden_scaling::message_command()).dump(),
        json(golden_scaling::message_applied()).dump(),
        json(golden_scaling::message_failed()).dump(),
        json(sc::metric_message{"\xfe", "\xff", {}, 1}).dump(),
        json(sc::command_message{"", {UINT64_MAX, 0, UINT64_MAX}}).dump()};
    return all;
}
