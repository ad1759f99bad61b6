// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck.h>

#include <waybill/wire/json_array.hpp>
#include <waybill/wire/json_text.hpp>

namespace json_prop {

namespace wire_json = waybill::wire::json;
using replace = nlohmann::json::error_handler_t;
using wire_json::escapes;

// Random bytes; many are the first byte of a character or a continuation byte.
rc::Gen<std::string> any_text()
{
    const auto near_utf8 =
        rc::gen::elementOf(std::string("\x1f\x20\"\\\x7f\x80\x8f\x90\x9f\xa0\xbf"
                                       "\xc1\xc2\xdf\xe0\xe1\xed\xee\xef\xf0\xf1\xf4\xf5\xff"));
    const auto whole = rc::gen::elementOf(std::vector<std::string>{
        "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf", "abc"});
    const auto text_of = [](char c) { return std::string(1, c); };
    const auto byte = rc::gen::map(rc::gen::arbitrary<char>(), text_of);
    const auto edge = rc::gen::map(near_utf8, text_of);
    const auto parts =
        rc::gen::container<std::vector<std::string>>(rc::gen::oneOf(byte, edge, edge, whole));
    return rc::gen::map(parts, [](const std::vector<std::string>& all) {
        std::string out;
        for (const auto& p : all) out += p;
        return out;
    });
}

std::string dumped(const std::string& text, bool ascii)
{
    return nlohmann::json(text).dump(-1, ' ', ascii, replace::replace);
}

TEST_CASE("json: string_size equals the length that nlohmann-json writes, also for invalid UTF-8")
{
    CHECK(rc::check([] {
        const auto text = *any_text();
        RC_ASSERT(wire_json::string_size(text) == dumped(text, false).size());
        RC_ASSERT(wire_json::string_size(text, escapes::ascii) == dumped(text, true).size());
    }));
}

TEST_CASE("json: measure counts as many replaced parts as nlohmann-json")
{
    CHECK(rc::check([] {
        const auto text = *any_text();
        const auto count = [](const std::string& in) {
            std::uint64_t n = 0;
            for (std::size_t at = 0; (at = in.find("\xef\xbf\xbd", at)) != in.npos; at += 3) ++n;
            return n;
        };
        const std::uint64_t before = count(text);
        const std::uint64_t after = count(dumped(text, false));
        RC_ASSERT(wire_json::measure(text).replaced == after - before);
        RC_ASSERT(wire_json::measure(text, escapes::ascii).replaced == after - before);
    }));
}

TEST_CASE("json: string_size equals nlohmann-json for all texts of 1 to 3 bytes out of 30")
{
    // One byte of each class of the rules, and its neighbours.
    const std::string classes(
        "\0\x08\x1f\x20\"\\a\x7f\x80\x8f\x90\x9f\xa0\xbf\xc0\xc1\xc2\xdf"
        "\xe0\xe1\xec\xed\xee\xef\xf0\xf1\xf3\xf4\xf5\xff",
        30);
    std::uint64_t wrong = 0;
    std::uint64_t seen = 0;
    const auto look = [&](const std::string& text) {
        ++seen;
        if (wire_json::string_size(text) != dumped(text, false).size()) ++wrong;
        if (wire_json::string_size(text, escapes::ascii) != dumped(text, true).size()) ++wrong;
    };
    for (const char a : classes) {
        look({a});
        for (const char b : classes) {
            look({a, b});
            for (const char c : classes) look({a, b, c});
        }
    }
    CHECK(seen == 30U * 31U * 30U + 30U);
    CHECK(wrong == 0);
}

TEST_CASE("json: sizes of arrays and lines of documents equal the written lengths")
{
    CHECK(rc::check([](const std::vector<std::vector<int>>& documents) {
        nlohmann::json all = nlohmann::json::array();
        std::string lines;
        const wire_json::array array;
        const wire_json::lines line;
        wire_json::array<>::state so_far;
        std::uint64_t sum = 2;
        std::uint64_t lines_sum = 0;
        for (const auto& d : documents) {
            all.push_back(d);
            const std::string document = nlohmann::json(d).dump();
            lines += document + "\n";
            RC_ASSERT(array.envelope(document) == 2U);
            sum += array.delta(so_far, document);
            array.push(so_far, document);
            lines_sum += line.delta({}, document);
        }
        RC_ASSERT(sum == all.dump().size());
        RC_ASSERT(lines_sum == lines.size());
    }));
}

}  // namespace json_prop
