// SPDX-License-Identifier: MIT
//
// Bytes that may be a session's state in JSON or CBOR. They are refused with a reason, or their
// state is equal after it was written and read again, and can be written as failed. Nearly all
// changed bytes fail the checksum, so each input is also tried after a valid line.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuzz/fuzz.hpp>
#include <golden/session/json_states.hpp>

#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/envelope.hpp>

namespace {

using namespace waybill;

std::string dumped(const nlohmann::json& value)
{
    return value.dump();
}

template <class T>
void read_as(std::string_view bytes, const state_codec<T>& codec)
{
    decoded_state<T> s = codec.decode(bytes);
    fuzz::must(name(s.problem) != "?" && !describe(s).empty(),
               "the problem has a name and a description");
    fuzz::must(s.outcome != state_read::absent, "bytes are never no state");
    if (s.outcome != state_read::ok) {
        fuzz::must(s.problem != json_state_problem::none, "and why");
        fuzz::must(s.progress == session_progress{}, "nothing of it is taken over");
        fuzz::must(!codec.encode(s).has_value(), "it is not written over");
        return;
    }
    const auto written = codec.encode(s);
    if (written) {
        const decoded_state<T> again = codec.decode(*written);
        fuzz::must(again.outcome == state_read::ok, "what is written is read");
        const bool failed = s.progress.failed.has_value();
        // A failure whose user's part cannot be written is written without it and without unknown
        // fields, but for its mark.
        const bool left_out = failed && !s.read.user.empty() &&
                              again.read.user.size() == again.read.user.count("IsFailedSession");
        // Compared as texts: a NaN of CBOR is not equal to itself.
        fuzz::must(left_out || dumped(again.value) == dumped(s.value), "and is the same");
        fuzz::must(again.progress.failed.has_value() == failed, "and failed");
        fuzz::must(again.progress.done == s.progress.done, "and as far");
        fuzz::must(left_out || again.read.unknown_fields == s.read.unknown_fields,
                   "with what is not known");
        const auto same = codec.encode(again);
        fuzz::must(same && (left_out || *same == *written), "and is written the same");
        const auto still = codec.encode(codec.decode(*same));
        fuzz::must(still && *still == *same, "and stays so");
    }
    const bool before = s.progress.failed.has_value();
    fuzz::must(before || written || codec.options().format == state_format::json ||
                   written.error().problem != state_unwritten::problem_type::threw,
               "it is never thrown at");
    if (before) return;
    s.progress = {detail::highest_size,
                  detail::highest_size,
                  detail::highest_size,
                  detail::highest_size,
                  {},
                  {},
                  {}};
    s.progress.failed = session_progress::failure{7,
                                                  8,
                                                  dead_letter_reason::session_failed,
                                                  9,
                                                  std::string(600, '\xFF'),
                                                  wall_time::highest()};
    const auto failed = codec.encode(s);
    fuzz::must(failed && failed->size() <= codec.options().budget.bytes, "a failure is written");
    const decoded_state<T> stopped = codec.decode(*failed);
    fuzz::must(stopped.outcome == state_read::ok && stopped.progress.failed, "and read");
    fuzz::must(stopped.progress.failed->sequence == 8, "as that");
}

void read_all(std::string_view bytes)
{
    static const auto json = golden_json_states::codec_for("json");
    static const auto cbor = golden_json_states::codec_for("cbor");
    static const auto bare = golden_json_states::codec_for("bare");
    static const auto any =
        *state_codec<nlohmann::json>::make({.budget = {.bytes = 700, .failure_reserve = 512}});
    static const auto any_cbor = *state_codec<nlohmann::json>::make(
        {.budget = {.bytes = 700, .failure_reserve = 512}, .format = state_format::cbor});
    read_as(bytes, json);
    read_as(bytes, cbor);
    read_as(bytes, bare);
    read_as(bytes, any);
    read_as(bytes, any_cbor);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view given = fuzz::text_of(data, size);
    read_all(given);
    const std::size_t end = given.starts_with("waybill/") ? given.find('\n') : given.npos;
    const std::string_view body = end == given.npos ? given : given.substr(end + 1);
    const bool cbor = given.substr(0, 15).find("cbor") != given.npos;
    read_all(detail::seal_state(cbor ? state_format::cbor : state_format::json, {1, 0}, body));
    return 0;
}

std::vector<std::string> fuzz_seeds()
{
    std::vector<std::string> all;
    for (const std::string_view form : {"json", "cbor", "bare"}) {
        golden_json_states::each([&](std::string_view, const golden_json_states::state& s) {
            all.push_back(*golden_json_states::codec_for(form).encode(s));
        });
    }
    all.emplace_back(R"({"IsFailedSession":true,"no":4})");
    // Nested texts without a length: a recursive parser must have a limit.
    for (const char piece : {'\x7F', '\x5F'}) {
        all.push_back(detail::seal_state(state_format::cbor, {1, 0},
                                         "\xA1\x61"
                                         "a" +
                                             std::string(60'000, piece)));
    }
    all.push_back(detail::seal_state(state_format::cbor, {1, 0},
                                     "\xA1\x7F\x61"
                                     "a\x61"
                                     "b\xFF\x81\xF6"));
    return all;
}
