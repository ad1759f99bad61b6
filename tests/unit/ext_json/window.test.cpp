// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/ext/json/window.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/window_snapshot.hpp>

namespace json_window_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;
using nlohmann::json;

template <class V>
using plain = sliding_window<stats<V>>;
template <class V>
using weighing = sliding_window<weighted_stats<V>, wall_time, worst_case>;

constexpr wall_time noon = wall_time::at(duration::seconds(1'709'208'000));

template <class W>
void comes_back(const W& w)
{
    const std::string text = json(w).dump();
    CAPTURE(text);
    const auto read = parse_json_with<W>(text, w.options());
    REQUIRE(read.has_value());
    CHECK(*read == w);
    CHECK(json(*read).dump() == text);
}

template <class W>
std::string wrong(std::string_view document)
{
    const auto read = parse_json_with<W>(document, {});
    return read ? "nothing" : describe(read.error());
}

// A document whose samples are these.
template <class W>
std::string wrong_samples(std::string_view samples)
{
    return wrong<W>(R"({"version":1,"samples":)" + std::string(samples) + "}");
}

TEST_CASE("a window is written as its samples")
{
    plain<std::int64_t> w({.span = 10min});
    CHECK(json(w).dump() == R"({"samples":[],"version":1})");
    w.insert(noon, -120);
    w.insert(noon + 90s, 135);
    w.advance(noon + 2min);
    CHECK(json(w).dump() == R"({"clock":"2024-02-29T12:02:00Z","samples":[)"
                            R"(["2024-02-29T12:00:00Z",-120],["2024-02-29T12:01:30Z",135]],)"
                            R"("version":1})");

    weighing<double> weighted;
    weighted.insert(noon, 0.1, 20);
    CHECK(json(weighted).dump() == R"({"samples":[["2024-02-29T12:00:00Z",0.1,20]],"version":1})");
    CHECK(json(snapshot_error{snapshot_error::code::newer, 3}).dump() ==
          R"({"kind":"newer","offset":3})");
}

TEST_CASE("written windows are read back")
{
    comes_back(plain<std::int64_t>({.span = 10min}));
    plain<std::int64_t> ints({.span = 10min, .max_points = 8});
    ints.advance(noon);
    comes_back(ints);
    for (int n = 0; n != 5; ++n) ints.insert(noon + duration::seconds(n), INT64_MIN + n);
    ints.insert(noon + 9s, INT64_MAX);
    comes_back(ints);

    plain<std::uint64_t> wide;
    wide.insert(wall_time::lowest(), 0);
    wide.insert(wall_time::highest(), UINT64_MAX);
    comes_back(wide);

    plain<char> narrow;
    narrow.insert(noon, 'x');
    comes_back(narrow);
    CHECK(json(narrow)["samples"][0][1] == 120);

    plain<double> doubles;
    for (const double x : {0.1, -0.0, 5.0, 1e300, std::numeric_limits<double>::denorm_min()}) {
        doubles.insert(noon, x);
    }
    comes_back(doubles);

    weighing<float> floats;
    floats.insert(noon, 0.1F, UINT32_MAX);
    floats.insert(noon + 1ns, -(std::numeric_limits<float>::max)(), 1);
    comes_back(floats);
}

TEST_CASE("options are given by the reader")
{
    plain<std::int64_t> w;
    for (int n = 0; n != 20; ++n) w.insert(noon + duration::seconds(60 * n), n);
    w.advance(noon + 19min);
    auto shorter = read_json_with<plain<std::int64_t>>(json(w), {.span = 5min, .max_points = 100});
    REQUIRE(shorter.has_value());
    CHECK(shorter->size() == 5);
    CHECK(shorter->losses() == window_losses{.too_old = 15});
    CHECK(shorter->query(noon + 24h).points == 0);

    // With none given all is kept.
    const auto all = read_json<plain<std::int64_t>>(json(w));
    REQUIRE(all.has_value());
    CHECK(*all == w);
}

TEST_CASE("an invalid window is refused with its path")
{
    using W = plain<std::int8_t>;
    using Q = weighing<std::int64_t>;
    CHECK(wrong<W>(R"({"version":1,"samples":[]})") == "nothing");
    CHECK(wrong<W>("[]") == "the document: expected an object, found an array");
    CHECK(wrong<W>(R"({"samples":[]})") == "/version: expected a value, found nothing");
    CHECK(wrong<W>(R"({"version":1})") == "/samples: expected a value, found nothing");
    CHECK(wrong<W>(R"({"version":2,"samples":[]})") ==
          "/version: expected version 1 or older (update the program), found 2");
    CHECK(wrong<W>(R"({"version":1,"samples":[],"clok":1})") ==
          "/clok: expected one of the fields version, clock, samples, found 1");
    CHECK(wrong<W>(R"({"version":1,"clock":7,"samples":[]})") ==
          R"(/clock: expected a time such as "2024-02-29T12:00:00.25Z", found 7)");
    CHECK(wrong<W>(R"({"version":1,"clock":null,"samples":[]})") ==
          R"(/clock: expected a time such as "2024-02-29T12:00:00.25Z", found null)");
    CHECK(wrong<W>(R"({"version":1,"samples":[],"samples":[]})") ==
          "/samples: expected this name once, found it twice");
    CHECK(wrong<W>(R"({"version":1,)") ==
          "the document: expected JSON in UTF-8, found a syntax error in line 1, column 14");

    CHECK(wrong_samples<W>("{}") == "/samples: expected an array of samples, found an object");
    CHECK(wrong_samples<W>("[7]") == "/samples/0: expected [time, value], found 7");
    CHECK(wrong_samples<W>(R"([["2024-02-29T12:00:00Z",1,1]])") ==
          "/samples/0: expected [time, value], found an array");
    CHECK(wrong_samples<Q>(R"([["2024-02-29T12:00:00Z",1]])") ==
          "/samples/0: expected [time, value, weight], found an array");
    CHECK(wrong_samples<W>(R"([["2024-02-29T12:00:00Z",1],["noon",1]])") ==
          R"(/samples/1/0: expected a time such as "2024-02-29T12:00:00.25Z", found "noon")");
    CHECK(wrong_samples<W>(R"([["2024-02-29T12:00:00Z",1],["2024-02-29T11:59:00Z",1]])") ==
          "/samples/1/0: expected a time of at least 2024-02-29T12:00:00Z, the previous sample, "
          R"(found "2024-02-29T11:59:00Z")");
    for (const std::string_view value : {"128", "-129", "1.5", "1e2", "null", "\"7\"", "[]"}) {
        CAPTURE(value);
        const std::string samples = R"([["2024-02-29T12:00:00Z",)" + std::string(value) + "]]";
        CHECK(wrong_samples<W>(samples).starts_with(
            "/samples/0/1: expected a whole number of -128 to 127, found "));
    }
    CHECK(wrong_samples<plain<std::uint16_t>>(R"([["2024-02-29T12:00:00Z",-1]])") ==
          "/samples/0/1: expected a whole number of 0 to 65535, found -1");
    CHECK(wrong_samples<plain<float>>(R"([["2024-02-29T12:00:00Z",1e39]])") ==
          "/samples/0/1: expected a number of at most 32 bits, found 1e+39");
    CHECK(wrong_samples<plain<double>>(R"([["2024-02-29T12:00:00Z",true]])") ==
          "/samples/0/1: expected a number, found true");
    CHECK(wrong_samples<Q>(R"([["2024-02-29T12:00:00Z",1,0]])") ==
          "/samples/0/2: expected a weight of at least 1, found 0");
    CHECK(wrong_samples<Q>(R"([["2024-02-29T12:00:00Z",1,4294967296]])") ==
          "/samples/0/2: expected a whole number of at most 32 bits, found 4294967296");

    // A number that JSON does not have, inserted by a program.
    json infinite = json::parse(R"({"version":1,"samples":[["2024-02-29T12:00:00Z",1.0]]})");
    CHECK(read_json_with<plain<double>>(infinite, {}).has_value());
    for (const double x :
         {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
        infinite["samples"][0][1] = x;
        CHECK(describe(read_json_with<plain<double>>(infinite, {}).error())
                  .starts_with("/samples/0/1"));
    }
}

TEST_CASE("invalid window options are refused by name")
{
    using W = plain<std::int64_t>;
    const auto refused = [](const window_options& o) {
        const auto read = parse_json_with<W>(R"({"version":1,"samples":[]})", o);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().path == "options");
        CHECK(read_json_with<W>(json(W{}), o).error() == read.error());
        return describe(read.error());
    };
    CHECK(refused({.span = 0s}) ==
          "options: expected valid options, found "
          "span is 0: nanoseconds must be more than (0)");
    CHECK(refused({.max_points = 0}) ==
          "options: expected valid options, "
          "found max_points is 0: must be at least (1)");
    const auto bytes = load<W>("", {.span = 0s});
    CHECK(json(bytes.error()).dump() ==
          R"-({"kind":"bad_options","offset":0,)-"
          R"-("options":"span is 0: nanoseconds must be more than (0)"})-");
}

TEST_CASE("after an error the window is unchanged")
{
    plain<std::int64_t> w;
    w.insert(noon, 7);
    std::optional<json_error> error;
    const json bad = json::parse(R"({"version":1,"samples":[["2024-02-29T12:00:00Z",1],2]})");
    read_value(json_place{bad, "/windows/3", error}, w);
    REQUIRE(error.has_value());
    CHECK(error->path == "/windows/3/samples/1");
    CHECK(w.size() == 1);
    CHECK(w[0].value == 7);
}

}  // namespace
}  // namespace json_window_test
