// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <support/brief.hpp>

#include <waybill/ext/json/batch.hpp>
#include <waybill/ext/json/consume.hpp>

namespace json_read_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;
using nlohmann::json;

template <class T>
void comes_back(const T& value)
{
    const std::string text = json(value).dump();
    CAPTURE(text);
    const auto read = parse_json<T>(text);
    REQUIRE(read.has_value());
    CHECK(*read == value);
}

TEST_CASE("written values are read back")
{
    comes_back(batch_limits{});
    comes_back(batch_limits{.bytes = 262'144, .items = 4'500, .single = 1'024, .envelope = 512});
    comes_back(batch_limits{.bytes = unlimited - 1, .items = 0});
    comes_back(open_limits{});
    comes_back(open_limits{.open = unlimited, .linger = 50ms, .items = 100});
    comes_back(backoff{});
    comes_back(backoff{
        .base = 1ns, .cap = duration::highest(), .factor = 1.1, .spread = backoff::jitter::none});
    comes_back(backoff{.spread = backoff::jitter::decorrelated, .step = 10s, .highest_hint = 1h});
    comes_back(retry_policy{.max_attempts = UINT32_MAX, .immediate = 7});
    comes_back(call_policy{});
    comes_back(call_policy{.retry = {.max_attempts = 4}, .time_limit = 90s});
    comes_back(retry_levels{});
    comes_back(retry_levels{.immediate = 0, .delayed = UINT32_MAX, .pauses = {.factor = 1}});
    comes_back(retry_budget{.tokens = 3, .successes = 4, .refill = 100ms});
    comes_back(send_policy{});
    comes_back(send_policy{.limit = {.bytes = 1},
                           .item_overhead = 54,
                           .exact_sizes = true,
                           .in_flight = 8,
                           .ordered = true,
                           .one_key = true,
                           .on_too_large = send_policy::when_too_large::replace,
                           .linger = 50ms,
                           .on_unknown = send_policy::when_unknown::hand_back,
                           .retry = {.max_attempts = 1, .pauses = {.factor = 1e300}},
                           .budget = {.tokens = 3, .successes = 4}});
    comes_back(batch_policy{});
    comes_back(batch_policy{.tries = 1,
                            .on_exhausted = batch_policy::when_exhausted::dead_letter,
                            .savepoints = false,
                            .dead_letters = {.reason_bytes = 0,
                                             .keeps = dead_letter_body::summary,
                                             .body_bytes = 5,
                                             .summary_bytes = 0},
                            .decide_all_failed_from = detail::highest_size,
                            .check_commit = batch_policy::commit_check::always,
                            .crash_records = false,
                            .deaths = 9});
    comes_back(calibration());
    comes_back(calibration{.documented = 9,
                           .limit = 1,
                           .ceiling = 2,
                           .envelope = 3,
                           .items = {.ratio = 0.1,
                                     .header = 1.0 / 3,
                                     .ratio_variance = 4,
                                     .covariance = -1e-300,
                                     .header_variance = 9,
                                     .noise = 1e30,
                                     .drift = -7,
                                     .error = 8,
                                     .seen = 3},
                           .accepted = 4,
                           .refused = 5,
                           .consecutive_accepted = 6,
                           .probe_after = 64,
                           .reports = calibration::broker_reports::sizes});
    comes_back(checkpoint{{UINT64_MAX, "off\n\"set"}, UINT64_MAX});
    comes_back(dead_letter{});
    {
        dead_letter summed_up;
        summed_up.kept = dead_letter_body::summary;
        summed_up.size = 1'000'000;
        summed_up.checksum = 0xFFFF'FFFFU;
        comes_back(summed_up);
    }
    comes_back(dead_letter{{"a", "b", "c"},
                           {7, "o"},
                           fault_kind::transient,
                           "gr\xc3\xbc\xc3\x9f",
                           std::string("\0\xff", 2),
                           3,
                           wall_time::lowest(),
                           wall_time::highest()});
}

TEST_CASE("a calibration that is read continues with the same budget")
{
    detail::calibrator learnt(batch_limits{.bytes = 10'000, .envelope = 10}, 5);
    learnt.accepted({.body_bytes = 2'000, .estimated_items = 10, .items = 10}, 2'300, true);
    learnt.refused({.body_bytes = 9'000, .estimated_items = 10, .items = 10}, {}, {});
    const auto again = parse_json<calibration>(json(learnt.state()).dump());
    REQUIRE(again.has_value());
    CHECK(*again == learnt.state());
    CHECK(detail::calibrator(*again).budget() == learnt.budget());
    CHECK(learnt.budget() < 9'000);

    // Contradicting values are ignored, from any source.
    CHECK(detail::calibrator(calibration{.limit = 100, .accepted = 9, .refused = 9}).budget() ==
          100);
    CHECK(detail::calibrator(calibration{.limit = 100, .refused = 0}).budget() == 100);
}

TEST_CASE("a calibration after random events is read back")
{
    std::mt19937_64 dice(11);
    const std::uint64_t wild[] = {0, 1, 2, 100, 262'144, unlimited / 2, unlimited - 1, unlimited};
    const auto some = [&] { return wild[dice() % std::size(wild)]; };
    const auto perhaps = [&]() -> std::optional<std::uint64_t> {
        if (dice() % 3 == 0) return {};
        return some();
    };
    for (int round = 0; round < tests_support::rounds(5'000, 5'000); ++round) {
        CAPTURE(round);
        detail::calibrator learnt(batch_limits{.bytes = some(), .envelope = some()}, some());
        for (auto steps = dice() % 6; steps != 0; --steps) {
            const detail::batch_sizes b{some(), some(), some(), some()};
            if (dice() % 2 == 0) learnt.accepted(b, perhaps(), dice() % 2 == 0);
            else learnt.refused(b, perhaps(), perhaps());
        }
        const std::string text = json(learnt.state()).dump();
        CAPTURE(text);
        const auto again = parse_json<calibration>(text);
        REQUIRE(again.has_value());
        REQUIRE(*again == learnt.state());

        // A state may be written by hand. The same rules hold for its valid parts.
        const double odd[] = {0, 1, -1, 1e-9, 1e19, -1e40, 1e300};
        const auto number = [&] { return odd[dice() % std::size(odd)]; };
        const calibration made{.documented = some(),
                               .limit = some(),
                               .ceiling = some(),
                               .envelope = some(),
                               .items = {number(), number(), number(), number(), number(), number(),
                                         number(), number(), static_cast<std::uint32_t>(dice())},
                               .accepted = some(),
                               .refused = some(),
                               .consecutive_accepted = static_cast<std::uint32_t>(dice()),
                               .probe_after = static_cast<std::uint32_t>(dice()),
                               .reports = calibration::broker_reports::refusals};
        const auto read = parse_json<calibration>(json(made).dump());
        REQUIRE(read.has_value());
        REQUIRE(*read == detail::calibrator(made).state());
    }
}

TEST_CASE("missing fields of a policy have their defaults")
{
    CHECK(*parse_json<batch_limits>("{}") == batch_limits{});
    CHECK(*parse_json<send_policy>("{}") == send_policy{});
    CHECK(*parse_json<batch_policy>(R"({"tries": 9})") == batch_policy{.tries = 9});
    const auto p =
        parse_json<send_policy>(R"({"retry": {"pauses": {"cap": "10min", "factor": 3}}})");
    REQUIRE(p.has_value());
    CHECK(*p == send_policy{.retry = {.pauses = {.cap = 10min, .factor = 3.0}}});
    CHECK(*parse_json<batch_limits>(R"({"bytes": "unlimited"})") == batch_limits{});
    // Whether the values make sense is a separate check.
    CHECK(validate(*parse_json<backoff>(R"({"factor": -2})")).has_value());
    // Documents from before step, hint and refill keep their meaning.
    CHECK(*parse_json<backoff>(R"({"base":"1s","cap":"2s","factor":3.0,"spread":"equal"})") ==
          backoff{.base = 1s, .cap = 2s, .factor = 3, .spread = backoff::jitter::equal});
    CHECK(*parse_json<retry_budget>(R"({"tokens":7,"successes":2})") ==
          retry_budget{.tokens = 7, .successes = 2});
}

struct bad_case {
    std::string_view text;
    json_error::code problem;
    std::string_view line;
};

template <class T>
void refuses(std::initializer_list<bad_case> table)
{
    for (const bad_case& b : table) {
        CAPTURE(b.text);
        const auto read = parse_json<T>(b.text);
        REQUIRE_FALSE(read.has_value());
        CHECK(describe(read.error()) == b.line);
        CHECK(read.error().kind == b.problem);
    }
}

TEST_CASE("an error in a policy has its path")
{
    using enum json_error::code;
    refuses<send_policy>({
        {"[]", wrong, "the document: expected an object, found an array"},
        {"null", wrong, "the document: expected an object, found null"},
        {R"({"limit": 5})", wrong, "/limit: expected an object, found 5"},
        {R"({"limit": {"bytes": -1}})", wrong,
         R"(/limit/bytes: expected a whole number of at most 64 bits, or "unlimited", found -1)"},
        {R"({"limit": {"bytes": 1.5}})", wrong,
         R"(/limit/bytes: expected a whole number of at most 64 bits, or "unlimited", found 1.5)"},
        {R"({"limit": {"bytes": 1e3}})", wrong,
         R"(/limit/bytes: expected a whole number of at most 64 bits, or "unlimited", found 1000.0)"},
        {R"({"limit": {"bytes": 18446744073709551616}})", wrong,
         R"(/limit/bytes: expected a whole number of at most 64 bits, or "unlimited", found 1.8446744073709552e+19)"},
        {R"({"limit": {"bytes": "256K"}})", wrong,
         R"(/limit/bytes: expected a whole number of at most 64 bits, or "unlimited", found "256K")"},
        {R"({"limit": {"bytes": null}})", wrong,
         R"(/limit/bytes: expected a whole number of at most 64 bits, or "unlimited", found null)"},
        {R"({"limit": {"bytes": true}})", wrong,
         R"(/limit/bytes: expected a whole number of at most 64 bits, or "unlimited", found true)"},
        {R"({"in_flight": 4294967296})", wrong,
         "/in_flight: expected a whole number of at most 32 bits, found 4294967296"},
        {R"({"in_flight": "unlimited"})", wrong,
         R"(/in_flight: expected a whole number of at most 32 bits, found "unlimited")"},
        {R"({"linger": 50})", wrong,
         R"(/linger: expected a duration such as "1.5s" (ns, us, ms, s, min, h, or "forever"), found 50)"},
        {R"({"linger": "50"})", wrong,
         R"(/linger: expected a duration such as "1.5s" (ns, us, ms, s, min, h, or "forever"), found "50")"},
        {R"({"retry": {"pauses": {"base": "fast"}}})", wrong,
         R"(/retry/pauses/base: expected a duration such as "1.5s" (ns, us, ms, s, min, h, or "forever"), found "fast")"},
        {R"({"retry": {"pauses": {"factor": "2"}}})", wrong,
         R"(/retry/pauses/factor: expected a number, found "2")"},
        {R"({"retry": {"pauses": {"steps": "1s"}}})", unknown_field,
         R"(/retry/pauses/steps: expected one of the fields base, cap, factor, spread, step, highest_hint, found "1s")"},
        {R"({"retry": {"pauses": {"spread": "half"}}})", wrong,
         R"(/retry/pauses/spread: expected none, equal, full, decorrelated or around, found "half")"},
        {R"({"on_unknown": 0})", wrong, "/on_unknown: expected repeat or hand_back, found 0"},
        {R"({"retry": {"pauzes": {}}})", unknown_field,
         "/retry/pauzes: expected one of the fields max_attempts, immediate, pauses, found an "
         "object"},
        {R"({"a/b~c": [1]})", unknown_field,
         "/a~1b~0c: expected one of the fields limit, item_overhead, exact_sizes, in_flight, "
         "ordered, may_overtake, "
         "one_key, on_too_large, linger, on_unknown, retry, budget, found an array"},
        {R"({"Header": 1})", unknown_field,
         "/Header: expected one of the fields limit, item_overhead, exact_sizes, in_flight, "
         "ordered, may_overtake, "
         "one_key, on_too_large, linger, on_unknown, retry, budget, found 1"},
        {R"({"": 1})", unknown_field,
         "/: expected one of the fields limit, item_overhead, exact_sizes, in_flight, ordered, "
         "may_overtake, "
         "one_key, "
         "on_too_large, linger, on_unknown, retry, budget, found 1"},
        {R"({"item_overhead": 1, "item_overhead": 2})", duplicate,
         "/item_overhead: expected this name once, found it twice"},
        {R"({"x": [{}, {"y": {"a": 1, "b": [2], "a": 3}}]})", duplicate,
         "/x/1/y/a: expected this name once, found it twice"},
        {"", syntax,
         "the document: expected JSON in UTF-8, found a syntax error in line 1, column 1"},
        {"{\n \"item_overhead\": 1,\n}", syntax,
         "the document: expected JSON in UTF-8, found a syntax error in line 3, column 1"},
        {"{} {}", syntax,
         "the document: expected JSON in UTF-8, found a syntax error in line 1, column 4"},
        {R"({"item_overhead": 01})", syntax,
         "the document: expected JSON in UTF-8, found a syntax error in line 1, column 20"},
        {R"({"retry": {"pauses": {"factor": 1e999}}})", syntax,
         "the document: expected JSON in UTF-8, found a syntax error in line 1, column 37"},
    });
    refuses<batch_policy>({
        {R"({"savepoints": 1})", wrong, "/savepoints: expected true or false, found 1"},
        {R"({"on_exhausted": "drop"})", wrong,
         R"(/on_exhausted: expected redeliver or dead_letter, found "drop")"},
    });
}

TEST_CASE("a stored state with a missing or unknown field is refused")
{
    using enum json_error::code;
    refuses<checkpoint>({
        {"{}", missing, "/version: expected a value, found nothing"},
        {R"({"version": 2, "at": "elsewhere", "more": 1})", newer,
         "/version: expected version 1 or older (update the program), found 2"},
        {R"({"version": 0})", wrong, "/version: expected version 1 or older, found 0"},
        {R"({"version": "1"})", wrong, R"(/version: expected version 1 or older, found "1")"},
        {R"({"version": 1, "epoch": 1})", missing, "/at: expected a value, found nothing"},
        {R"({"version": 1, "at": {"sequence": 1}, "epoch": 1})", missing,
         "/at/offset: expected a value, found nothing"},
        {R"({"version": 1, "at": {"sequence": "unlimited", "offset": ""}, "epoch": 1})", wrong,
         R"(/at/sequence: expected a whole number of at most 64 bits, found "unlimited")"},
        {R"({"version": 1, "at": {"sequence": 1, "offset": ""}, "epoch": 1, "owner": "me"})",
         unknown_field, R"(/owner: expected one of the fields version, at, epoch, found "me")"},
    });
    json crossed = calibration{};
    crossed["accepted"] = crossed["refused"] = 9;
    json cut = calibration{};
    cut.erase("refused");
    refuses<calibration>({
        {crossed.dump(), wrong,
         R"(the document: expected "refused" greater than "accepted", found an object)"},
        {cut.dump(), missing, "/refused: expected a value, found nothing"},
    });
    json letter = dead_letter{};
    const auto broken = [&](std::string_view field, json value) {
        json j = letter;
        j[std::string(field)] = std::move(value);
        const auto read = read_json<dead_letter>(j);
        return read ? std::string("read") : describe(read.error());
    };
    CHECK(broken("kind", "none") == "read");
    CHECK(broken("occurred", 0) ==
          R"(/occurred: expected a time such as "2024-02-29T12:00:00.25Z", found 0)");
    CHECK(
        broken("dead_lettered_at", "2023-02-29T00:00:00Z") ==
        R"(/dead_lettered_at: expected a time such as "2024-02-29T12:00:00.25Z", found "2023-02-29T00:00:00Z")");
    CHECK(broken("body", 1) == "/body: expected a text in UTF-8, found 1");
    CHECK(broken("body", "\xff") == "/body: expected a text in UTF-8, found \"\\ufffd\"");
    CHECK(
        broken("body_base64", "Zg==") ==
        "/body: expected one of the fields version, key, at, kind, reason_base64, reason, "
        "body_base64, tries, occurred, dead_lettered_at, kept, size, checksum, found \"\"");  // both
    letter.erase("body");
    CHECK(broken("body_base64", "Zg==") == "read");
    CHECK(broken("body_base64", "Zg=") == R"(/body_base64: expected base64, found "Zg=")");
    CHECK(broken("body_base64", 5) == "/body_base64: expected base64, found 5");
}

TEST_CASE("an error is short, even for long names and values")
{
    json j;
    j[std::string(10'000, 'x')] = std::string(10'000, 'y');
    const auto read = read_json<batch_limits>(j);
    REQUIRE_FALSE(read.has_value());
    CHECK(describe(read.error()).size() < 250);
    CHECK(describe(read_json<batch_limits>(json(std::string(61, 'z'))).error()) ==
          "the document: expected an object, found \"" + std::string(60, 'z') + "\"...");
    CHECK(describe(read_json<batch_limits>(json::binary({1, 2})).error()) ==
          "the document: expected an object, found no JSON value");
    CHECK(describe(read_json<batch_limits>(json(json::value_t::discarded)).error()) ==
          "the document: expected an object, found no JSON value");
    CHECK(describe(
              read_json<backoff>({{"factor", std::numeric_limits<double>::infinity()}}).error()) ==
          "/factor: expected a number, found null");
}

TEST_CASE("numbers set by a program are read like numbers of a text")
{
    CHECK(read_json<batch_limits>({{"bytes", 5}})->bytes == 5);
    CHECK(read_json<batch_limits>({{"bytes", 5U}})->bytes == 5);
    CHECK_FALSE(read_json<batch_limits>({{"bytes", -5}}).has_value());
    CHECK_FALSE(read_json<batch_limits>({{"bytes", 5.0}}).has_value());
    CHECK(read_json<batch_limits>({{"bytes", UINT64_MAX}})->bytes == unlimited);
}

TEST_CASE("unlimited nesting is an error")
{
    const std::string deep(150'000, '[');
    CHECK_FALSE(parse_json<batch_limits>(deep).has_value());
    CHECK_FALSE(parse_json<batch_limits>(deep + std::string(150'000, ']')).has_value());
    CHECK_FALSE(parse_json<batch_limits>(R"({"bytes":)" + deep + std::string(150'000, ']') + "}")
                    .has_value());
}

// get<T>() would throw, so there is none.
template <class T>
constexpr bool no_get = !nlohmann::detail::has_from_json<json, T>::value &&
                        !nlohmann::detail::has_from_json<nlohmann::ordered_json, T>::value;
static_assert(no_get<batch_limits> && no_get<duration> && no_get<calibration>);
static_assert(no_get<add_result> && no_get<advance_outcome> && no_get<batch_outcome> &&
              no_get<batch_close_reason> && no_get<commit_outcome> && no_get<fault_kind> &&
              no_get<event_result> && no_get<item_outcome> && no_get<backoff::jitter> &&
              no_get<json_error::code> && no_get<batch_policy::when_exhausted> &&
              no_get<send_policy::when_unknown>);
static_assert(detail::json_readable<send_policy> && detail::json_readable<dead_letter> &&
              !detail::json_readable<send_report>);

std::string complaint(const std::string& text)
{
    const auto complain = [](const std::string& line) { return line; };

    //! [ext_policy]
    auto policy = waybill::parse_json<waybill::send_policy>(text);
    if (!policy) return complain(waybill::describe(policy.error()));
    // "/retry/pauses/base: expected a duration such as "1.5s" ..., found 100"
    if (auto bad = waybill::validate(*policy)) return complain(waybill::describe(*bad));
    //! [ext_policy]
    return {};
}

TEST_CASE("the guide's example: a policy from a file")
{
    CHECK(complaint(R"({"item_overhead": 54})") == "");
    CHECK(complaint(R"({"retry": {"pauses": {"base": 100}}})")
              .starts_with("/retry/pauses/base: expected a duration such as \"1.5s\" "));
    CHECK(complaint(R"({"retry": {"pauses": {"base": 100}}})").ends_with(", found 100"));
    CHECK(complaint(R"({"limit": {"bytes": 0}})").starts_with("limits.bytes is 0"));
}

TEST_CASE("the guide's example: a row of stored state")
{
    const waybill::checkpoint at{{17, "o"}, 3};
    const auto complain = [](const std::string& line) { FAIL(line); };

    //! [ext_stored]
    const std::string row = nlohmann::json(at).dump();
    // {"at":{"offset":"o","sequence":17},"epoch":3,"version":1}
    const auto again = waybill::parse_json<waybill::checkpoint>(row, {.max_bytes = 65'536});
    if (!again) return complain(waybill::describe(again.error()));
    //! [ext_stored]
    CHECK(row == R"({"at":{"offset":"o","sequence":17},"epoch":3,"version":1})");
    CHECK(*again == at);
}

}  // namespace
}  // namespace json_read_test
