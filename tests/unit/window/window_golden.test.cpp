// SPDX-License-Identifier: MIT
//
// Windows of version 1 stay readable: golden/window has the files.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include <doctest/doctest.h>
#include <golden/window/windows.hpp>

#include <waybill/window/window_snapshot.hpp>

namespace window_golden_test {
namespace {

using namespace waybill;

std::string bytes(std::string_view digits)
{
    const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
    std::string out;
    for (std::size_t n = 0; n + 1 < digits.size(); n += 2) {
        out += static_cast<char>(value(digits[n]) * 16 + value(digits[n + 1]));
    }
    return out;
}

}  // namespace

TEST_CASE("golden windows: version 1 bytes load to the stored samples and are written the same")
{
    std::size_t read = 0;
    golden_windows::each([&](std::string_view name, const auto& w) {
        using window = std::remove_cvref_t<decltype(w)>;
        CAPTURE(name);
        const auto* stored = golden_windows::find(name);
        REQUIRE(stored != nullptr);
        const auto again = load<window>(bytes(stored->bytes), w.options());
        REQUIRE(again.has_value());
        CHECK(*again == w);
        // Zero has a sign, which == ignores.
        CHECK(save(*again) == save(w));
        CHECK(save(w) == bytes(stored->bytes));
        ++read;
    });
    CHECK(read == std::size(golden_windows::version_1));
}

TEST_CASE("golden windows: every flipped bit and every truncation is refused")
{
    std::uint64_t refused = 0;
    golden_windows::each([&](std::string_view name, const auto& w) {
        using window = std::remove_cvref_t<decltype(w)>;
        CAPTURE(name);
        const std::string good = bytes(golden_windows::find(name)->bytes);
        for (std::size_t n = 0; n != good.size(); ++n) {
            CHECK_FALSE(load<window>(std::string_view(good).substr(0, n), {}).has_value());
            for (unsigned bit = 0; bit != 8; ++bit) {
                std::string bad = good;
                bad[n] = static_cast<char>(static_cast<unsigned char>(bad[n]) ^ (1U << bit));
                CHECK_FALSE(load<window>(bad, {}).has_value());
                ++refused;
            }
        }
        CHECK_FALSE(load<window>(good + '\0', {}).has_value());
    });
    CHECK(refused > 2'000);
}

}  // namespace window_golden_test
