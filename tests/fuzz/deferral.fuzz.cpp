// SPDX-License-Identifier: MIT
//
// Bytes or text that may be stored deferred messages. They are refused with a reason, or they equal
// the bytes of the state that they decode to. All entries of that state are handed out. Nearly all
// changed bytes fail the checksum, so each input is also tried with a valid one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fuzz/fuzz.hpp>
#include <golden/queue/books.hpp>

#include <waybill/core/crc32c.hpp>
#include <waybill/ext/json/queue.hpp>
#include <waybill/queue/deferred_messages_bytes.hpp>

namespace {

using namespace waybill;
using nlohmann::json;

void works(deferred_messages b)
{
    const std::uint64_t all = b.size();
    std::uint64_t out = 0;
    std::uint64_t n = 0;
    b.each([&](const deferred& d) {
        fuzz::must(n++ == 0 || d.sequence > out, "sequences are in order");
        out = d.sequence;
    });
    fuzz::must(b.in_hand() == 0, "nothing is in hand");
    for (out = 0; !b.empty();) {
        const auto some = b.take(wall_time::highest(), {}, 3,
                                 deferral_options::hand_out_order::group_by_partition);
        fuzz::must(!some.empty(), "there is always one to hand out");
        for (const deferred_messages::taken& h : some) {
            fuzz::must(b.settled(h.entry.sequence) == event_result::applied, "and it is there");
            ++out;
        }
    }
    fuzz::must(out == all, "each comes once");
}

void read_bytes(std::string_view bytes)
{
    const auto b = load<deferred_messages>(bytes, {});
    if (!b) {
        fuzz::must(name(b.error().kind) != "?", "a problem has a name");
        fuzz::must(b.error().offset <= bytes.size(), "the place is in the input");
        fuzz::must(!describe(b.error()).empty(), "there is a text");
        return;
    }
    fuzz::must(save(*b) == bytes, "what is read is what is written");
    fuzz::must(load<deferred>(bytes).has_value() == (b->size() == 1), "a row is one entry");
    const auto again = read_json<deferred_messages>(json(*b));
    fuzz::must(again.has_value() && *again == *b, "and it is the same as JSON");
    const auto few = load<deferred_messages>(bytes, {.max_messages = 1, .session_order = false});
    fuzz::must(few.has_value() && few->size() == b->size(), "options lose nothing");
    works(*b);
    works(*few);
}

void read_text(std::string_view document)
{
    const auto b = parse_json<deferred_messages>(document);
    if (!b) {
        fuzz::must(name(b.error().kind) != "?", "a problem has a name");
        fuzz::must(!b.error().expected.empty(), "the error contains the expected value");
        return;
    }
    const auto again = load<deferred_messages>(save(*b), {});
    fuzz::must(again.has_value() && *again == *b, "what is read is written");
    works(*b);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view given = fuzz::text_of(data, size);
    read_bytes(given);
    read_text(given);
    if (size < 4) return 0;
    std::string summed_up(given.substr(0, size - 4));
    std::uint32_t sum = crc32c(summed_up);
    for (int n = 0; n != 4; ++n, sum >>= 8U) summed_up += static_cast<char>(sum & 0xFFU);
    read_bytes(summed_up);
    return 0;
}

std::vector<std::string> fuzz_seeds()
{
    std::vector<std::string> all;
    golden_books::each([&](std::string_view, const deferred_messages& b) {
        all.push_back(save(b));
        all.push_back(json(b).dump());
    });
    return all;
}
