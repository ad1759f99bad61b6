// SPDX-License-Identifier: MIT
//
// The JSON of version 1 is read for good: golden/window has the files.

#include <cstddef>
#include <iterator>
#include <string_view>
#include <type_traits>

#include <doctest/doctest.h>
#include <golden/window/windows.hpp>

#include <waybill/ext/json/window.hpp>

namespace json_window_golden_test {

using namespace waybill;

TEST_CASE("stored samples of version 1 are read, and written the same")
{
    std::size_t read = 0;
    golden_windows::each([&](std::string_view name, const auto& w) {
        using window = std::remove_cvref_t<decltype(w)>;
        CAPTURE(name);
        const auto* stored = golden_windows::find(name);
        REQUIRE(stored != nullptr);
        const auto again = parse_json_with<window>(stored->json, w.options());
        REQUIRE(again.has_value());
        CHECK(*again == w);
        CHECK(nlohmann::json(*again).dump() == stored->json);  // the sign of zero, too
        CHECK(nlohmann::json(w).dump() == stored->json);
        ++read;
    });
    CHECK(read == std::size(golden_windows::version_1));
}

}  // namespace json_window_golden_test
