// SPDX-License-Identifier: MIT
//
// Bytes that may be a stored window. They are refused with a reason, or they equal the bytes of the
// window that they decode to. Nearly all changed bytes fail the checksum, so each input is also
// tried with a valid one.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fuzz/fuzz.hpp>
#include <golden/window/windows.hpp>

#include <waybill/core/crc32c.hpp>
#include <waybill/window/window_snapshot.hpp>

namespace {

using namespace waybill;

template <class W>
void read_as(std::string_view bytes)
{
    const auto all = load<W>(bytes, {});
    if (!all) {
        fuzz::must(name(all.error().kind) != "?", "a problem has a name");
        fuzz::must(all.error().offset <= bytes.size(), "the place is in the input");
        fuzz::must(!describe(all.error()).empty(), "there is a text");
        return;
    }
    fuzz::must(all->losses() == window_losses{}, "what keeps all takes all");
    fuzz::must(save(*all) == bytes, "what is read is what is written");
    for (std::uint64_t n = 1; n < all->size(); ++n) {
        fuzz::must(!((*all)[n].at < (*all)[n - 1].at), "times are in order");
    }
    // With other options: dropped samples are counted, and the query has the others.
    const window_options few{.span = duration::seconds(60),
                             .max_points = 4,
                             .ahead = duration::seconds(1),
                             .on_equal_time = window_options::equal_time::replace};
    auto some = load<W>(bytes, few);
    fuzz::must(some.has_value(), "options do not matter to what is read");
    fuzz::must(some->size() <= 4, "there are no more than may be");
    const window_losses lost = some->losses();
    fuzz::must(some->size() + lost.too_old + lost.future + lost.pushed_out <= all->size(),
               "none is made up");
    const wall_time now = all->clock() ? *all->clock() : wall_time::at(duration::seconds(1));
    fuzz::must(some->query(now).points <= some->size(), "an answer is of what there is");
}

void read(std::string_view bytes)
{
    read_as<sliding_window<stats<std::int64_t>>>(bytes);
    read_as<sliding_window<measures<std::uint8_t>, wall_time, worst_case>>(bytes);
    read_as<sliding_window<measures<float, compensated>>>(bytes);
    read_as<sliding_window<measures<double, summed, ends>>>(bytes);
    read_as<sliding_window<weighted_stats<std::uint64_t>>>(bytes);
    read_as<sliding_window<weighted_stats<double>, wall_time, worst_case>>(bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view given = fuzz::text_of(data, size);
    read(given);
    if (size < 4) return 0;
    std::string summed_up(given.substr(0, size - 4));
    std::uint32_t sum = crc32c(summed_up);
    for (int n = 0; n != 4; ++n, sum >>= 8U) summed_up += static_cast<char>(sum & 0xFFU);
    read(summed_up);
    return 0;
}

std::vector<std::string> fuzz_seeds()
{
    std::vector<std::string> all;
    golden_windows::each([&](std::string_view, const auto& w) { all.push_back(save(w)); });
    return all;
}
