// SPDX-License-Identifier: MIT

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/text.hpp>

namespace text_test {

using waybill::utf8_prefix;

static_assert(utf8_prefix("abc", 3) == "abc" && utf8_prefix("abc", 2) == "ab");
static_assert(utf8_prefix("abc", 0).empty() && utf8_prefix("", 0).empty() &&
              utf8_prefix("", 9).empty());
static_assert(utf8_prefix("a\xC3\xA9", 2) == "a");
static_assert(utf8_prefix("a\xC3\xA9z", 3) == "a\xC3\xA9");
static_assert(utf8_prefix("\xE2\x82\xAC!", 2).empty());
static_assert(utf8_prefix("\xF0\x9F\x9A\x80!", 3).empty());
static_assert(utf8_prefix("\xF0\x9F\x9A\x80!", 4) == "\xF0\x9F\x9A\x80");
static_assert(utf8_prefix("\x80\x80\x80\x80\x80\x80", 5).size() == 5);
static_assert(utf8_prefix("a\x80\x80", 2) == "a\x80");  // a byte that continues nothing
static_assert(utf8_prefix("\xC3\xA9\xA9\xA9", 3) == "\xC3\xA9\xA9");

namespace {

// A naive reader: character by character; an invalid byte counts alone.
std::size_t naive(std::string_view text, std::size_t most)
{
    std::size_t at = 0;
    std::size_t whole = 0;
    while (at < text.size()) {
        const auto lead = static_cast<unsigned char>(text[at]);
        std::size_t length = lead < 0xC0U ? 1U : lead < 0xE0U ? 2U : lead < 0xF0U ? 3U : 4U;
        std::size_t n = 1;
        while (n < length && at + n < text.size() &&
               (static_cast<unsigned char>(text[at + n]) & 0xC0U) == 0x80U) {
            ++n;
        }
        at += n;
        if (at <= most) whole = at;
    }
    return text.size() <= most ? text.size() : whole;
}

}  // namespace

TEST_CASE("utf8_prefix: all combinations of up to seven bytes of each class, cut at every length")
{
    constexpr std::array<char, 5> bytes{'a', '\x82', '\xC3', '\xE2', '\xF0'};
    std::size_t texts = 0, wrong = 0, far = 0;
    for (std::size_t length = 0; length <= 7; ++length) {
        std::size_t all = 1;
        for (std::size_t i = 0; i != length; ++i) all *= bytes.size();
        for (std::size_t code = 0; code != all; ++code) {
            std::string text;
            for (std::size_t i = 0, c = code; i != length; ++i, c /= bytes.size())
                text += bytes[c % bytes.size()];
            for (std::size_t most = 0; most <= length + 1; ++most) {
                const std::string_view cut = utf8_prefix(text, most);
                ++texts;
                if (cut.data() != text.data() || cut.size() > most) ++wrong;
                if (cut.size() != naive(text, most)) ++wrong;
                if (text.size() > most && cut.size() + 3 < most) ++far;
            }
        }
    }
    CHECK(texts > 800'000);
    CHECK(wrong == 0);
    CHECK(far == 0);
}

}  // namespace text_test
