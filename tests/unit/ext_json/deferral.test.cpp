// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <golden/queue/books.hpp>

#include <waybill/ext/json/queue.hpp>

namespace json_deferral_test {
namespace {

using namespace waybill;
using nlohmann::json;

deferred_messages two()
{
    deferred_messages b;
    b.defer({.sequence = 7, .due = golden_books::seconds(golden_books::noon), .session = "s"});
    b.defer({.sequence = 9, .due = golden_books::seconds(golden_books::noon)});
    return b;
}

std::string wrong(const json& document)
{
    const auto read = read_json<deferred_messages>(document);
    return read ? "nothing" : describe(read.error());
}

// Two valid entries with one wrong field in the second.
template <class V>
std::string wrong_field(const char* field, const V& value)
{
    json j = two();
    j["entries"][1][field] = value;
    return wrong(j);
}

}  // namespace

TEST_CASE("deferred messages are written as in the guide of queue")
{
    const auto noon = golden_books::seconds(golden_books::noon);
    deferred_messages b;
    b.defer({.sequence = 7,
             .due = noon + duration::seconds(600),
             .attempts = 2,
             .session = "s1",
             .id = "order-7",
             .since = noon});
    CHECK(json(b) == json::parse(R"text(
{"version": 1, "entries": [{"sequence": 7, "due": "2024-02-29T12:10:00Z", "attempts": 2,
 "session": "s1", "id": "order-7", "since": "2024-02-29T12:00:00Z"}]}
)text"));
}

TEST_CASE("stored deferred messages of version 1 are read, and written the same")
{
    std::size_t read = 0;
    golden_books::each([&](std::string_view name, const deferred_messages& b) {
        CAPTURE(name);
        const auto* stored = golden_books::find(name);
        REQUIRE(stored != nullptr);
        const auto again = parse_json<deferred_messages>(stored->json);
        REQUIRE_MESSAGE(again.has_value(), describe(again.error()));
        CHECK(again->in_hand() == 0);
        CHECK(save(*again) == golden_books::bytes_of(stored->bytes));
        CHECK(json(*again).dump() == stored->json);
        CHECK(json(b).dump() == stored->json);
        ++read;
    });
    CHECK(read == std::size(golden_books::version_1));
}

TEST_CASE("invalid deferred messages are refused with their path")
{
    CHECK(wrong(json(two())) == "nothing");
    CHECK(wrong(json::array()) == "the document: expected an object, found an array");
    CHECK(wrong(json::object()) == "/version: expected a value, found nothing");
    CHECK(wrong({{"version", 1}}) == "/entries: expected a value, found nothing");
    CHECK(wrong({{"version", 1}, {"entries", 3}}) == "/entries: expected an array, found 3");
    CHECK(wrong({{"version", 2}, {"entries", 3}}) ==
          "/version: expected version 1 or older (update the program), found 2");
    CHECK(read_json<deferred_messages>(json{{"version", 2}}).error().kind ==
          json_error::code::newer);
    json j = two();
    j["more"] = 1;
    CHECK(wrong(j) == "/more: expected one of the fields version, entries, found 1");
    CHECK(wrong_field("more", 1) ==
          "/entries/1/more: expected one of the fields sequence, due, attempts, session_base64, "
          "session, id_base64, id, since, found 1");
    CHECK(wrong_field("sequence", -1) ==
          "/entries/1/sequence: expected a whole number of at most 64 bits, found -1");
    CHECK(wrong_field("sequence", 7) ==
          "/entries/1/sequence: expected a whole number above 7, found 7");
    CHECK(wrong_field("attempts", std::uint64_t{1} << 32U) ==
          "/entries/1/attempts: expected a whole number of at most 32 bits, found 4294967296");
    CHECK(wrong_field("due", 5) ==
          "/entries/1/due: expected a time such as \"2024-02-29T12:00:00.25Z\", found 5");
    CHECK(wrong_field("session_base64", "*") ==
          "/entries/1/session_base64: expected base64, "
          "found \"*\"");
    CHECK(wrong_field("id", nullptr).starts_with("/entries/1/id: expected a text"));
    j = two();
    j["entries"][0].erase("since");
    CHECK(wrong(j) == "/entries/0/since: expected a value, found nothing");
    j["entries"][0] = 5;
    CHECK(wrong(j) == "/entries/0: expected an object, found 5");
}

TEST_CASE("options are given by the reader, and validated")
{
    const std::string written = json(two()).dump();
    const auto again = parse_json_with<deferred_messages>(written, {.max_messages = 1});
    REQUIRE(again.has_value());
    CHECK(again->size() == 2);
    CHECK(again->options().max_messages == 1);
    CHECK(describe(parse_json_with<deferred_messages>(written, {.max_messages = 0}).error()) ==
          "options: expected valid options, found deferral.max_messages is 0: must "
          "be at least (1)");
    CHECK(parse_json_with<deferred_messages>("{", {}).error().kind == json_error::code::syntax);
    CHECK(parse_json_with<deferred_messages>(R"({"version":1,"version":1,"entries":[]})", {})
              .error()
              .kind == json_error::code::duplicate);
}

TEST_CASE("results, errors and entries of deferred messages are written")
{
    CHECK(json(deferred_messages::defer_result::full) == "full");
    CHECK(json(deferral_options::hand_out_order::group_by_partition) == "group_by_partition");
    CHECK(json(load<deferred_messages>("x", {}).error()).dump() ==
          R"({"kind":"other_format","offset":0})");
    CHECK(json(load<deferred_messages>("x", {.max_messages = 0}).error())["options"].is_string());
    CHECK(json(two().take(golden_books::seconds(golden_books::noon), {}, 1)[0])["ticket"] == 1);
}

}  // namespace json_deferral_test
