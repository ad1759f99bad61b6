// SPDX-License-Identifier: MIT
//
// Bytes that may be the encoded state of a tracker. They are refused with a reason, or decode to
// ascending done positions. Encoded again, these take no more bytes and decode to the same. Nearly
// all changed bytes fail the checksum, so each input is also tried with a valid one, as text, and
// after the position that it names.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fuzz/fuzz.hpp>

#include <waybill/core/crc32c.hpp>
#include <waybill/tracking/tracker_bytes.hpp>

namespace {

using namespace waybill;

void walk(const completion_tracker& from, const tracker_start& start)
{
    // Replays the log as far as it is known: done positions are skipped, and the others are begun.
    completion_tracker t = from;
    for (std::uint64_t n = 0; n < start.done.size() && n < 8; ++n) {
        const detail::position_run r = start.done[n];
        for (const std::uint64_t s : {r.first, r.last}) {
            fuzz::must(!t.begin(s), "what is done is not begun");
        }
        fuzz::must(t.in_flight() == 0 && t.watermark() == r.last, "all is passed");
        if (r.last == detail::highest_size) break;
        fuzz::must(t.begin(r.last + 1).has_value(), "what is not done is begun");
        fuzz::must(t.complete({r.last + 1, t.generation()}) == event_result::applied, "and done");
    }
}

void read(std::optional<std::uint64_t> from, std::string_view bytes)
{
    const auto start = decode(from, bytes);
    if (!start) {
        fuzz::must(name(start.error()) != "?", "a problem has a name");
        return;
    }
    fuzz::must(start->from == from, "the start is at the requested position");
    fuzz::must(start->done.size() <= 4 * bytes.size(), "memory is bounded by the bytes");
    for (std::uint64_t n = 0; n != start->done.size(); ++n) {
        const detail::position_run r = start->done[n];
        fuzz::must(r.first <= r.last, "a run ends at or after its beginning");
        fuzz::must(n == 0 || start->done[n - 1].last + 1 < r.first, "runs ascend and do not touch");
        fuzz::must(!from || r.first > *from, "runs are after the watermark");
    }
    completion_tracker t;
    t.resume(*start);
    const encoded_done again = encode(t, {.max_bytes = detail::highest_size});
    fuzz::must(again.bytes.size() <= bytes.size(), "it is no longer than it was");
    fuzz::must(again.dropped == 0, "all of it is there");
    const auto twice = decode(from, again.bytes);
    fuzz::must(twice.has_value() && twice->done == start->done, "the second read equals the first");
    const encoded_done cut = encode(t, {.max_bytes = bytes.size() / 2});
    fuzz::must(cut.bytes.size() <= bytes.size() / 2, "it is cut");
    fuzz::must(decode(from, cut.bytes).has_value(), "and can be read");
    fuzz::must(decode_text(from, detail::to_base64(bytes)) == start, "as text, too");
    walk(t, *start);
}

std::string sealed(std::string_view bytes)
{
    std::string all(bytes);
    std::uint32_t sum = crc32c(bytes);
    for (int n = 0; n != 4; ++n, sum >>= 8U) all += static_cast<char>(sum & 0xFFU);
    return all;
}

void read_everywhere(std::string_view bytes)
{
    for (const std::optional<std::uint64_t>& from : {std::optional<std::uint64_t>(),
                                                     {0},
                                                     {10},
                                                     {1'000'000},
                                                     {detail::highest_size - 1},
                                                     {detail::highest_size}}) {
        read(from, bytes);
    }
    // And at the position that it names.
    if (bytes.size() < 2) return;
    detail::tracker_reader in(bytes.substr(1));
    const std::uint64_t first = in.take_number();
    if (first != 0) read(first - 1, bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view given = fuzz::text_of(data, size);
    read_everywhere(given);
    if (size >= 4) read_everywhere(sealed(given.substr(0, size - 4)));
    if (const auto bytes = detail::from_base64(given)) {
        fuzz::must(detail::to_base64(*bytes) == given, "one way to write a text");
        read_everywhere(*bytes);
    }
    return 0;
}

std::vector<std::string> fuzz_seeds()
{
    std::vector<std::string> all;
    for (const std::optional<std::uint64_t>& from :
         {std::optional<std::uint64_t>(), {10}, {1'000'000}, {detail::highest_size - 5'000}}) {
        for (const std::uint64_t apart : {1U, 2U, 300U}) {
            for (const std::uint64_t in_flight_each : {2U, 3U, 40U}) {
                for (const bool most_done : {false, true}) {
                    completion_tracker t{{}, from};
                    std::vector<tracked_event> tickets;
                    for (std::uint64_t n = 0; n != 500; ++n) {
                        const std::uint64_t at = from.value_or(7) + 1 + n * apart;
                        if (at <= from.value_or(7)) break;
                        tickets.push_back(*t.begin(at));
                    }
                    for (std::size_t n = 1; n < tickets.size(); ++n) {
                        if ((n % in_flight_each == 0) != most_done) (void)t.complete(tickets[n]);
                    }
                    all.push_back(encode(t, {.max_bytes = 100}).bytes);
                    all.push_back(encode_text(t, {.max_bytes = 1'000}).bytes);
                }
            }
        }
    }
    return all;
}
