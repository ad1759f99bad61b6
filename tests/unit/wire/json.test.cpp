// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <support/static_check.hpp>

#include <waybill/wire/base64.hpp>
#include <waybill/wire/json_array.hpp>
#include <waybill/wire/json_text.hpp>

namespace json_test {

namespace json = waybill::wire::json;
using json::escapes;
using json::measure;
using json::measured;
using json::string_size;
using waybill::detail::highest_size;
using waybill::wire::base64_size;
using waybill::wire::base64_unpadded_size;

constexpr std::uint64_t ascii(std::string_view text)
{
    return measure(text, escapes::ascii).bytes;
}

constexpr std::uint64_t fewest(std::string_view text)
{
    return measure(text).bytes;
}

// Escaped characters.
static_assert(string_size("") == 2 && string_size("abc") == 5);
static_assert(fewest("\"\\\b\f\n\r\t") == 14 && fewest("/") == 1 && fewest("'") == 1);
static_assert(fewest(std::string_view("\0\x1f", 2)) == 12 && fewest(" ") == 1);
static_assert(fewest("\x7f") == 1 && ascii("\x7f") == 6 && ascii("~") == 1);
static_assert(fewest("\xc3\xa9") == 2 && ascii("\xc3\xa9") == 6);
static_assert(fewest("\xe2\x82\xac") == 3 && ascii("\xe2\x82\xac") == 6);
static_assert(fewest("\xf0\x9f\x98\x80") == 4 && ascii("\xf0\x9f\x98\x80") == 12);
static_assert(string_size("\xf0\x9f\x98\x80", escapes::ascii) == 14);

// The limits of well-formed UTF-8: all of it is kept.
static_assert(measure("\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf") ==
              measured{16, 0});
static_assert(measure("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf") == measured{8, 0});

// Beyond them: each invalid part is replaced by three bytes, or by \ufffd.
static_assert(measure("\x80") == measured{3, 1});
static_assert(measure("\x80", escapes::ascii) == measured{6, 1});
static_assert(measure("\xc0\xaf") == measured{6, 2}, "overlong: neither byte begins a character");
static_assert(measure("\xe0\x9f\xbf") == measured{9, 3});
static_assert(measure("\xed\xa0\x80") == measured{9, 3}, "a surrogate");
static_assert(measure("\xf4\x90\x80\x80") == measured{12, 4}, "above U+10FFFF");
static_assert(measure("\xc1\x80") == measured{6, 2} && measure("\xf5\x80") == measured{6, 2});
static_assert(measure("\xf0\x8f\xbf\xbf") == measured{12, 4} && measure("\xff") == measured{3, 1});
static_assert(measure("\xe2\x82") == measured{3, 1}, "the beginning of a character is one part");
static_assert(measure("\xe2\x82"
                      "a") == measured{4, 1},
              "and what breaks it off is read again");
static_assert(measure("\xf0\x9f\x98\xc3\xa9") == measured{5, 1});
static_assert(measure("\xf0\x9f\x98\"") == measured{5, 1});
static_assert(measure("\xc3") == measured{3, 1} && measure("a\xff") == measured{4, 1});

// Several documents.
template <class Framing, class Document>
constexpr std::uint64_t together(const Framing& framing, const std::vector<Document>& documents)
{
    typename Framing::state state;
    std::uint64_t sum = documents.empty() ? 0 : framing.envelope(documents.front());
    for (const auto& d : documents) {
        sum += framing.delta(state, d);
        framing.push(state, d);
    }
    return sum;
}

using texts = std::vector<std::string_view>;
STATIC_CHECK(together(json::array{}, texts{"{}"}) == 4);
STATIC_CHECK(together(json::array{}, texts{"1", "22", "333"}) == 2 + 6 + 2);
STATIC_CHECK(together(json::lines{}, texts{"1", "22", "333"}) == 6 + 3);
// Integers are sizes, and a negative one is an error.
STATIC_CHECK(together(json::array<>{}, std::vector<int>{1, 2, 3}) == 2 + 6 + 2);
static_assert(json::array{}.delta({}, -1) == highest_size);
static_assert(json::array{}.delta({true}, highest_size) == highest_size);
static_assert(json::lines{}.delta({}, highest_size) == highest_size);
static_assert(json::bulk_size("{\"index\":{}}", "{\"a\":1}") == 12 + 1 + 7);
constexpr auto escaped = [](std::string_view s) { return string_size(s); };
STATIC_CHECK(together(json::array{escaped}, texts{"a", "\n"}) == 2 + 3 + 4 + 1);
STATIC_CHECK(together(json::lines{escaped}, texts{"a", "\n"}) == 4 + 5);

static_assert(base64_size(0) == 0 && base64_size(1) == 4 && base64_size(3) == 4);
static_assert(base64_size(4) == 8 && base64_size(49'152) == 65'536);
static_assert(base64_unpadded_size(0) == 0 && base64_unpadded_size(1) == 2);
static_assert(base64_unpadded_size(2) == 3 && base64_unpadded_size(3) == 4);
static_assert(base64_unpadded_size(4) == 6);
static_assert(base64_size(std::uint64_t{1} << 32U) == 5'726'623'064);
static_assert(base64_size(highest_size) == highest_size);
static_assert(base64_unpadded_size(highest_size / 4 * 3) == highest_size - 3);
static_assert(base64_unpadded_size(highest_size - 1) == highest_size);

TEST_CASE("json: lines accepts a size function of the caller")
{
    struct change {
        std::string action;
        std::string source;
    };
    const json::lines bulk{[](const change& c) { return json::bulk_size(c.action, c.source); }};
    const std::vector<change> changes{{"{\"create\":{}}", "{}"}, {"{\"index\":{}}", "{}"}};
    CHECK(together(bulk, changes) ==
          std::string_view("{\"create\":{}}\n{}\n{\"index\":{}}\n{}\n").size());
}

}  // namespace json_test
