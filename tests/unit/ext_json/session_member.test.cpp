// SPDX-License-Identifier: MIT
//
// The progress at the end of a state is read without a tree if it is in the written form. The
// result always equals that of reading the whole state. A blank at the end of the body forces the
// latter.

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/json_states.hpp>

#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/envelope.hpp>

namespace json_session_member_test {

struct order {
    int lines = 0;
    std::string receipt;
    friend bool operator==(const order&, const order&) = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, lines, receipt)

namespace {

using namespace waybill;
using namespace std::string_literals;
using state = state_codec<order>::state;

state decoded(std::string_view body)
{
    static const auto codec = tests_support::make<order>();
    return codec.decode(tests_support::sealed(body));
}

bool is_cut(std::string_view body)
{
    nlohmann::json user;
    session_progress progress;
    const bool cut = detail::read_fast_path(body, user, progress);
    if (!cut) CHECK((user.is_null() && progress == session_progress{}));
    return cut;
}

void reads_as_whole(const std::string& body)
{
    CAPTURE(body);
    const state one = decoded(body);
    const state all = decoded(body + ' ');
    CHECK(one.outcome == all.outcome);
    CHECK(one.problem == all.problem);
    CHECK(one.value == all.value);
    CHECK(one.progress == all.progress);
    CHECK(one.version == all.version);
    CHECK(one.read.user == all.read.user);
    CHECK(one.read.unknown_fields == all.read.unknown_fields);
    CHECK(one.read.unreadable == all.read.unreadable);
}

TEST_CASE("session member: a member as it is written is cut off without parsing the body")
{
    for (const std::string_view body : {
             R"({"lines":3,"receipt":"r17","waybill":{"done":2,"total":5}})",
             R"({"a":"\\","waybill":{"begun":"2024-02-29T12:00:00Z","done":2}})",
             R"({"a":{"waybill":{"done":1}},"waybill":{"first":4,"parked":1,"tries":2}})",
             R"({"a":1,"waybill":{}})",
             R"({"a":[",\"waybill\":{"],"waybill":{"changed":"2024-02-29T12:00:00.25Z"}})",
             R"({"a":1,"waybill":{"done":18446744073709551615}})",
         }) {
        CAPTURE(body);
        CHECK(is_cut(body));
        reads_as_whole(std::string(body));
    }
    const auto codec = *state_codec<order>::make();
    state s = codec.decode(std::nullopt);
    s.value = {3, "r17"};
    const auto at = wall_time::at(duration::seconds(1'709'208'000));
    s.progress = {.done = 4, .total = 9, .begun = at, .changed = at};
    s.progress.first = 2;
    s.progress.dead_lettered = 3;
    s.progress.tries = 1;
    const std::string bytes = *codec.encode(s);
    CHECK(is_cut(std::string_view(bytes).substr(detail::envelope_bytes)));
    CHECK(codec.decode(bytes).progress == s.progress);
    CHECK(codec.decode(bytes).value == s.value);
}

TEST_CASE("session member: an invalid or different member is parsed with the body")
{
    for (const std::string_view body : {
             R"({,"waybill":{"done":1}})",
             R"({ ,"waybill":{"done":1}})",
             R"(,"waybill":{"done":1}})",
             R"({"a":1,,"waybill":{"done":1}})",
             R"({"a","waybill":{"done":1}})",
             R"({"a":"b,"waybill":{"done":1}})",
             R"({"a":"b\",\"waybill\":{\"done\":1}})",
             R"({"a":{"b":1,"waybill":{"done":1}})",
             R"({"a":{"b":1,"waybill":{"done":1}}})",
             R"({"a":[1,"waybill":{"done":1}})",
             R"({"a":[{"b":1,"waybill":{"done":1}}]})",
             R"({"waybill":{"done":1}})",
             R"({"waybill":{"done":1},"a":2})",
             R"({"waybill":{"done":1},"a":2,"waybill":{"done":1}})",
             R"({"a":1,"a":2,"waybill":{"done":1}})",
             R"({"a":1,"waybill":{"done":1,"done":1}})",
             R"({"a":1,"waybill":{"total":1,"done":1}})",
             R"({"a":1,"waybill":{"done":01}})",
             R"({"a":1,"waybill":{"done":0}})",
             R"({"a":1,"waybill":{"done":-1}})",
             R"({"a":1,"waybill":{"done":1.0}})",
             R"({"a":1,"waybill":{"done":1e3}})",
             R"({"a":1,"waybill":{"done":a}})",
             R"({"a":1,"waybill":{"done":}})",
             R"({"a":1,"waybill":{"done":18446744073709551616}})",
             R"({"a":1,"waybill":{"done":1,}})",
             R"({"a":1,"waybill":{,"done":1}})",
             R"({"a":1,"waybill":{"done":1"total":2}})",
             R"({"a":1,"waybill":{"done" :1}})",
             R"({"a":1,"waybill":{"begun":"2024-02-30T12:00:00Z"}})",
             R"({"a":1,"waybill":{"begun":"2024-02-29T12:00:00Z}})",
             R"({"a":1,"waybill":{"begun":"2024-02-29T12:00:00Z","begun":"2024-02-29T12:00:00Z"}})",
             R"({"a":1,"waybill":{"begun":2024}})",
             R"({"a":1,"waybill":{"later":1}})",
             R"({"a":1,"waybill":{"done":1,"version":"1.0"}})",
             R"({"a":1,"waybill":{"done":1,"failed":{"reason":"gap","sequence":1,"step":2}}})",
             R"({"a":1,"waybill":{}}})",
             R"({"a":1,"waybill":{})",
             R"({"a":1,"waybill":{)",
             R"({"a":1,"waybill":{}}}})",
             R"({"a":1,"waybill":[]})",
             R"({"a":1,"waybill":null})",
         }) {
        CAPTURE(body);
        CHECK_FALSE(is_cut(body));
        reads_as_whole(std::string(body));
    }
    reads_as_whole("{\"a\":\"\0\",\"waybill\":{\"done\":1}}"s);
    reads_as_whole("{\"a\":\"\xFF\",\"waybill\":{\"done\":1}}");
    std::string deep = "1";
    for (int n = 0; n != 255; ++n) deep = "{\"a\":" + deep + "}";
    for (int n = 0; n != 3; ++n) {
        reads_as_whole("{\"lines\":1,\"x\":" + deep + ",\"waybill\":{\"done\":1}}");
        deep = "[" + deep + "]";
    }
}

TEST_CASE("session member: a body above 1,024 bytes is parsed as a whole")
{
    for (const std::size_t length : {900U, 950U, 980U, 990U, 1'000U, 5'000U}) {
        std::string body = R"({"receipt":")" + std::string(length, 'r');
        body += R"(","waybill":{"done":2}})";
        CHECK(is_cut(body) == (body.size() <= 1'024));
        reads_as_whole(body);
    }
}

TEST_CASE("session member: random bodies give the same result as a whole parse")
{
    const std::vector<std::string_view> pieces{
        "{",
        "}",
        "}}",
        ",",
        "\"",
        "\\",
        "[",
        "]",
        ":",
        " ",
        "0",
        "1",
        "17",
        "\"a\":",
        "\"lines\":3",
        "\"receipt\":\"r\"",
        "\"waybill\":{",
        ",\"waybill\":{",
        "\"done\":",
        "\"total\":5",
        "\"begun\":\"2024-02-29T12:00:00Z\"",
        "{\"a\":1",
        ",\"waybill\":{\"done\":2}}",
        "\n",
        "-",
        ".5",
    };
    const std::string_view written =
        R"({"lines":3,"receipt":"r17","waybill":{"begun":"2024-02-29T12:00:00Z","done":2,"total":5}})";
    std::mt19937_64 random(20);
    const auto below = [&](std::size_t n) -> std::size_t { return random() % n; };
    int cut = 0;
    const int bodies = tests_support::rounds(20'000, 100'000);
    for (int n = 0; n != bodies; ++n) {
        std::string body(n % 2 == 0 ? std::string_view("{") : written);
        if (n % 2 == 0) {
            for (std::size_t left = below(6); left != 0; --left)
                body += pieces[below(pieces.size())];
            if (n % 4 == 0) body += ",\"waybill\":{\"done\":2}}";
        } else {
            for (std::size_t left = below(3); left != 0; --left) {
                const std::size_t at = below(body.size());
                body.replace(at, below(3), pieces[below(pieces.size())]);
            }
        }
        cut += is_cut(body) ? 1 : 0;
        reads_as_whole(body);
    }
    CHECK(cut > bodies / 100 * 15);
}

}  // namespace
}  // namespace json_session_member_test
