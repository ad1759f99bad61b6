// SPDX-License-Identifier: MIT
//
// Text that may be a window as JSON. It is refused with a place and a reason, or its window is
// equal after it was written and read again.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fuzz/fuzz.hpp>
#include <golden/window/windows.hpp>

#include <waybill/ext/json/window.hpp>

namespace {

using namespace waybill;

template <class W>
void read_as(std::string_view document)
{
    const auto all = parse_json_with<W>(document, {});
    if (!all) {
        fuzz::must(name(all.error().kind) != "?", "a problem has a name");
        fuzz::must(!all.error().expected.empty(), "the error contains the expected value");
        fuzz::must(!describe(all.error()).empty(), "there is a text");
        return;
    }
    fuzz::must(all->losses() == window_losses{}, "what keeps all takes all");
    const std::string written = nlohmann::json(*all).dump();
    const auto again = parse_json_with<W>(written, {});
    fuzz::must(again.has_value(), "what is written is read");
    fuzz::must(*again == *all, "and is the same");
    fuzz::must(nlohmann::json(*again).dump() == written, "and is written the same");
    fuzz::must(load<W>(save(*all), {}).has_value(), "and so are its bytes");
    const window_options few{.span = duration::seconds(60), .max_points = 4};
    fuzz::must(parse_json_with<W>(document, few)->size() <= 4, "there are no more than may be");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view document = fuzz::text_of(data, size);
    read_as<sliding_window<stats<std::int64_t>>>(document);
    read_as<sliding_window<measures<float>>>(document);
    read_as<sliding_window<weighted_stats<double>, wall_time, worst_case>>(document);
    return 0;
}

std::vector<std::string> fuzz_seeds()
{
    std::vector<std::string> all;
    golden_windows::each(
        [&](std::string_view, const auto& w) { all.push_back(nlohmann::json(w).dump()); });
    return all;
}
