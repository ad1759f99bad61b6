// SPDX-License-Identifier: MIT
//
// A program of its own: it counts the checks that nlohmann's library makes of its own values, about
// one for each value that it visits. JSON_ASSERT has to be defined before that library is included.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <new>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#ifdef INCLUDE_NLOHMANN_JSON_HPP_
#error "nlohmann's library must not be included before"
#endif

namespace json_parse_test {

inline std::uint64_t checks = 0;     // that nlohmann's library has made
inline std::uint64_t allocated = 0;  // bytes

}  // namespace json_parse_test

#define JSON_ASSERT(...) static_cast<void>(++json_parse_test::checks)

#include <waybill/ext/json/parse.hpp>

// Inlined, g++ would see memory of new go to free, and warn.
[[gnu::noinline]] void* operator new(std::size_t size)
{
    json_parse_test::allocated += size;
    if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
    std::abort();
}
[[gnu::noinline]] void operator delete(void* p) noexcept
{
    std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept
{
    std::free(p);
}

namespace json_parse_test {
namespace {

using namespace waybill;
using nlohmann::json;

std::string repeated(std::string_view piece, std::size_t times)
{
    std::string all;
    for (std::size_t n = 0; n != times; ++n) all += piece;
    return all;
}

std::string nested(std::size_t levels)
{
    return repeated("[", levels) + repeated("]", levels);
}

/// n pieces of the same kind in one array or object.
using shape = std::string (*)(std::size_t n);

std::string array_of_objects(std::size_t n)
{
    return "[" + repeated(R"({"id":7,"ok":true},)", n) + "{}]";
}

std::string object_of_objects(std::size_t n)
{
    std::string all = "{";
    for (std::size_t i = 0; i != n; ++i) all += '"' + std::to_string(i) + R"(":{"id":7},)";
    return all + R"("":{}})";
}

std::string array_of_chains(std::size_t n)
{
    const std::string chain = repeated(R"({"a":[)", 50) + repeated("]}", 50) + ",";
    return "[" + repeated(chain, n / 50) + "[]]";
}

std::string array_of_strings(std::size_t n)
{
    return "[" + repeated('"' + std::string(100, 'x') + "\",", n) + "\"\"]";
}

std::string array_of_numbers(std::size_t n)
{
    return "[" + repeated("-12.5,12,", n) + "0]";
}

constexpr std::array<shape, 5> shapes{array_of_objects, object_of_objects, array_of_chains,
                                      array_of_strings, array_of_numbers};

std::uint64_t checks_to_parse(const std::string& document)
{
    const std::uint64_t before = checks;
    CHECK(parse_json_text(document).has_value());
    return checks - before;
}

TEST_CASE("the work of the parser is linear in the size of the text")
{
    for (std::size_t n = 0; n != shapes.size(); ++n) {
        CAPTURE(n);
        const std::uint64_t once = checks_to_parse(shapes[n](1'000));
        const std::uint64_t twice = checks_to_parse(shapes[n](2'000));
        CHECK(once > 1'000);
        CHECK(twice * 10 <= once * 21);
    }
}

/// The earlier parser: that of nlohmann, with a callback that records the first duplicate name of
/// an object. Its time is quadratic.
class parser_with_callback {
public:
    result<json, json_error> operator()(std::string_view text)
    {
        const auto follow = [this](int, json::parse_event_t e, json& value) {
            on(e, value);
            return true;
        };
        json value = json::parse(text.begin(), text.end(), follow, false);
        if (value.is_discarded())
            return unexpected(json_error{json_error::code::syntax, {}, {}, {}});
        if (!path_) return value;
        return unexpected(
            json_error{json_error::code::duplicate, *path_, "this name once", "it twice"});
    }

private:
    struct level {
        bool array = false;
        std::size_t index = 0;
        std::string key{};
        std::set<std::string> keys{};
    };

    using event = json::parse_event_t;

    void on(event e, const json& value)
    {
        if (e == event::object_start || e == event::array_start) {
            open_.push_back({.array = e == event::array_start});
            return;
        }
        if (e == event::key) return named(*value.get_ptr<const std::string*>());
        if (e != event::value) open_.pop_back();
        if (!open_.empty()) ++open_.back().index;
    }

    void named(const std::string& key)
    {
        open_.back().key = key;
        if (open_.back().keys.insert(key).second || path_) return;
        path_.emplace();
        for (const level& l : open_) {
            path_ = detail::path_to(*path_, l.array ? std::to_string(l.index) : l.key);
        }
    }

    std::vector<level> open_;
    std::optional<std::string> path_;
};

constexpr std::string_view seeds[]{
    R"({"limit": {"bytes": 262144, "items": "unlimited"}, "retry": {"pauses": {"factor": 2.5}}})",
    R"([{"b": 1, "a": [true, false, null]}, {"a": {"a": [[], {}, [{}]]}, "b": -0.0, "c": 1e-9}])",
    R"({"x": [{}, {"y": {"a": 1, "b": [2], "a": 3}}], "x": 2})",
    R"({"a/b~c": "gr\u00fc\u00df \ud83d\ude00 \\ \" \n", "": 18446744073709551616})",
    "\xEF\xBB\xBF [\"\xC3\xBC\", -9223372036854775808, 18446744073709551615]",
    "  7  ",
};

std::string mutated(std::mt19937_64& random)
{
    std::string text(seeds[random() % std::size(seeds)]);
    for (auto edits = random() % 4; edits != 0 && !text.empty(); --edits) {
        const std::size_t at = random() % text.size();
        constexpr std::string_view pieces = "\"{}[],:\\0-eab \n\xC3";
        switch (random() % 4) {
            case 0: text[at] = pieces[random() % pieces.size()]; break;
            case 1: text.erase(at, 1 + random() % 9); break;
            case 2: text.insert(at, 1, pieces[random() % pieces.size()]); break;
            default: text.insert(at, text.substr(at, 1 + random() % 30)); break;
        }
    }
    return text;
}

TEST_CASE("the result equals that of nlohmann's parser with a callback")
{
    std::mt19937_64 random(14);
    std::array<int, 3> found{};  // values, texts that are not JSON, names that are there twice
    for (int round = 0; round != 5'000; ++round) {
        const std::string document = mutated(random);
        CAPTURE(document);
        const auto expected = parser_with_callback()(document);
        auto actual = parse_json_text(document);
        REQUIRE(actual.has_value() == expected.has_value());
        if (actual) {
            REQUIRE(*actual == *expected);
            ++found[0];
        } else if (expected.error().kind == json_error::code::syntax) {
            REQUIRE(actual.error().kind == json_error::code::syntax);
            ++found[1];
        } else {
            REQUIRE(actual.error() == expected.error());
            ++found[2];
        }
    }
    for (const int n : found) CHECK(n > 100);
}

TEST_CASE("a NUL does not end a text")
{
    using namespace std::string_view_literals;
    for (const std::string_view document : {"{}\0"sv, "{}\0{}"sv, "[1,\0 2]"sv, "\0"sv}) {
        const auto parsed = parse_json_text(document);
        REQUIRE_FALSE(parsed.has_value());
        CHECK(parsed.error().kind == json_error::code::syntax);
        const std::size_t column = document.find('\0') + 1;
        CHECK(parsed.error().found == "a syntax error in line 1, column " + std::to_string(column));
    }
}

/// "" if it is a value.
std::string problem_of(std::string_view document, const json_limits& limits)
{
    const auto parsed = parse_json_text(document, limits);
    if (parsed) return {};
    CHECK(parsed.error().kind == json_error::code::too_large);
    return describe(parsed.error());
}

TEST_CASE("a text at a limit is read; one above it is refused with path and limit")
{
    constexpr std::string_view depth =
        "expected at most 2 levels of objects and arrays (shorten the text, or raise "
        "json_limits::max_depth), found one more";
    constexpr std::string_view members =
        "expected at most 3 members and elements (shorten the text, or raise "
        "json_limits::max_members), found one more";
    const json_limits two{.max_depth = 2};
    CHECK(problem_of("[[], {}]", two).empty());
    CHECK(problem_of("[[], {}, [[]]]", two) == "/2/0: " + std::string(depth));
    CHECK(problem_of(R"({"b": 1, "a": {"z": {}}})", two) == "/a/z: " + std::string(depth));
    CHECK(problem_of("7", {.max_depth = 0}).empty());
    CHECK(problem_of("[]", {.max_depth = 0}).starts_with("the document: expected at most 0 level"));

    const json_limits three{.max_members = 3};
    CHECK(problem_of(R"([1, {"a": 2}])", three).empty());
    CHECK(problem_of(R"([1, {"b": 2, "a": 3}])", three) == "/1/a: " + std::string(members));
    CHECK(problem_of(R"({"a": {}, "b": [1, 2]})", three) == "/b/1: " + std::string(members));
    CHECK(problem_of("[[[[]]]]", three).empty());
    CHECK(problem_of("[[[[[]]]]]", three) == "/0/0/0/0: " + std::string(members));
    CHECK(problem_of("[]", {.max_members = 0}).empty());
    CHECK(problem_of("\"text\"", {.max_members = 0}).empty());

    CHECK(problem_of("[1]", {.max_bytes = 3}).empty());
    CHECK(problem_of("[1] ", {.max_bytes = 3}) ==
          "the document: expected at most 3 bytes (shorten the text, or raise "
          "json_limits::max_bytes), found 4");

    CHECK(problem_of(nested(256), {}).empty());
    CHECK_FALSE(problem_of(nested(257), {}).empty());
}

TEST_CASE("a text above a limit takes no memory for the part above it")
{
    const std::string abyss(1'000'000, '[');
    const std::string wide = array_of_numbers(100'000);
    const std::string named = object_of_objects(10'000);
    const std::uint64_t before = allocated;
    CHECK_FALSE(problem_of(abyss, {}).empty());
    CHECK_FALSE(problem_of(wide, {.max_members = 100}).empty());
    CHECK_FALSE(problem_of(named, {.max_members = 100}).empty());
    CHECK_FALSE(problem_of(wide, {.max_bytes = 100'000}).empty());
    CHECK(allocated - before < 400'000);  // 256 levels, and a path to the last one
}

TEST_CASE("a member or element takes at most 200 bytes of memory")
{
    std::string members = "{";
    for (int n = 0; n != 1'000; ++n) members += '"' + std::to_string(n) + R"(":{},)";
    for (const std::string& document :
         {members + R"("":[]})", "[" + repeated("{},", 1'000) + "[]]", nested(256)}) {
        const std::uint64_t before = allocated;
        const auto parsed = parse_json_text(document);
        REQUIRE(parsed.has_value());
        const std::size_t n = parsed->size() == 1 ? 256 : parsed->size();
        CHECK(allocated - before < 200 * n);
    }
}

TEST_CASE("a syntax error is reported before an earlier duplicate name")
{
    CHECK(describe(parse_json_text(R"({"a": 1, "a": 2, "b": )").error()) ==
          "the document: expected JSON in UTF-8, found a syntax error in line 1, column 23");
    CHECK(describe(parse_json_text(R"({"a": [{"b": 1, "b": {}, "b": 3}], "a": 2})").error()) ==
          "/a/0/b: expected this name once, found it twice");
}

TEST_CASE("a long path is shortened in the middle")
{
    std::string document = R"({"x": 1, "x": 2})";
    for (int n = 0; n != 100; ++n) {
        document = R"({"level )" + std::to_string(n) + "\": [" + document + "]}";
    }
    const auto parsed = parse_json_text(document);
    REQUIRE_FALSE(parsed.has_value());
    const std::string& path = parsed.error().path;
    CHECK(path.size() <= detail::max_path_bytes);
    CHECK(path.size() > detail::max_path_bytes - 40);
    CHECK(path.starts_with("/level 99/0/level 98/0/"));
    CHECK(path.ends_with("/level 0/0/x"));
    CHECK(path.find("/.../") == path.rfind("/.../"));
    CHECK(path.find("/.../") != path.npos);

    // At the bound it is whole.
    std::string whole;
    while (whole.size() != detail::max_path_bytes) whole = detail::path_to(whole, "abcd");
    CHECK(whole == repeated("/abcd", detail::max_path_bytes / 5));
    const std::string ends = repeated("/abcd", 29);
    CHECK(detail::path_to(whole, "") == ends + "/..." + ends + "/");

    // Any steps, added at either end.
    std::mt19937_64 random(14);
    std::string back;
    std::string front;
    for (int n = 0; n != 1'000; ++n) {
        constexpr std::string_view pieces[]{"...", "~", "/", "", "name", "17"};
        std::string step;
        for (auto times = random() % 70; times != 0; --times) step += pieces[random() % 6];
        back = detail::path_to(back, step);
        front = detail::shortened_path(detail::path_to({}, step) + front);
        REQUIRE(back.size() <= detail::max_path_bytes);
        REQUIRE(back.ends_with(detail::path_to({}, step)));
        REQUIRE(front.size() <= detail::max_path_bytes);
        REQUIRE(front.starts_with(detail::path_to({}, step)));
    }
}

}  // namespace
}  // namespace json_parse_test
