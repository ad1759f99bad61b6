// SPDX-License-Identifier: MIT
//
// Bytes that may be a session's state. They are refused with a reason, or they equal the bytes of
// the state that they decode to, and that state can be written as failed. Nearly all changed bytes
// fail the checksum, so each input is also tried with a valid line.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuzz/fuzz.hpp>
#include <golden/session/text_states.hpp>

#include <waybill/core/crc32c.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/detail/text_state_codec.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/state_text.hpp>

namespace {

using namespace waybill;

void opened(std::string_view bytes, std::uint64_t budget)
{
    const opened_state s = detail::open_state(bytes, budget);
    fuzz::must(name(s.problem) != "?" && !describe(s).empty(),
               "the problem has a name and a description");
    fuzz::must(s.outcome != state_read::absent, "bytes are never no state");
    fuzz::must((s.outcome == state_read::ok) == (s.problem == opened_state::problem_type::none),
               "and why");
    fuzz::must(s.body.empty() || s.outcome == state_read::ok, "only what is right has a body");
    if (s.outcome != state_read::ok || s.without_envelope) return;
    fuzz::must(detail::seal_state(s.format, s.version, s.body) == bytes,
               "what is read is what is written");
}

void read_as(std::string_view bytes, const text_state::options& o)
{
    opened(bytes, o.budget.bytes);
    text_state::read_result r = detail::read_text_state(bytes, o);
    fuzz::must(name(r.problem) != "?" && !describe(r).empty(),
               "the problem has a name and a description");
    fuzz::must(
        (r.outcome == state_read::ok) == (r.problem == text_state::read_result::problem_type::none),
        "and why");
    if (r.outcome != state_read::ok) {
        fuzz::must(r.state == text_state{{}, {}, o.version, {}}, "nothing of it is taken over");
        return;
    }
    const bool ours = detail::written_version(r.state.version, o.version) == r.state.version;
    const auto again = detail::write_text_state(r.state, o);
    fuzz::must(again.has_value() && (!ours || *again == bytes), "what is read is what is written");
    if (r.state.progress.failed) return;
    session_progress::failure f{detail::highest_size,
                                detail::highest_size,
                                dead_letter_reason::session_failed,
                                detail::highest_size,
                                {},
                                {}};
    f.text.assign(1'000, '\n');  // the small budget requires a cut
    f.at = wall_time::highest();
    r.state.progress = {detail::highest_size,
                        detail::highest_size,
                        detail::highest_size,
                        detail::highest_size,
                        f,
                        f.at,
                        f.at};
    const auto failed = detail::write_text_state(r.state, o);
    fuzz::must(failed.has_value() && failed->size() <= o.budget.bytes, "a failure can be written");
    fuzz::must(detail::read_text_state(*failed, o).outcome == state_read::ok, "and read");
}

void read_all(std::string_view bytes)
{
    read_as(bytes, golden_states::options);
    read_as(bytes, {.budget = {.bytes = 700, .failure_reserve = 512}, .version = {2, 1}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view given = fuzz::text_of(data, size);
    read_all(given);
    const std::size_t end = given.find('\n');
    if (end == std::string_view::npos) return 0;
    // The line with a valid checksum, and another line before the rest.
    std::string summed(given);
    if (end >= 8) {
        const std::uint32_t sum = crc32c(given.substr(end), crc32c(given.substr(0, end - 8)));
        detail::put_digits(summed.data() + end - 8, 8, sum, 16);
        read_all(summed);
    }
    read_all(detail::seal_state(state_format::text, {2, 1}, given.substr(end + 1)));
    return 0;
}

std::vector<std::string> fuzz_seeds()
{
    std::vector<std::string> all;
    golden_states::each([&](std::string_view, const text_state& s) {
        all.push_back(detail::write_text_state(s, golden_states::options).value_or(std::string()));
    });
    all.emplace_back(R"({"IsFailedSession":true})");
    all.emplace_back("waybill/2 json and more 00000000\n{}");
    return all;
}
