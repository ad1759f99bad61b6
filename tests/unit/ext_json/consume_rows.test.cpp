// SPDX-License-Identifier: MIT
//
// Rows of attempts, leases and owners as texts: golden/consume has the files.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include <doctest/doctest.h>
#include <golden/consume/rows.hpp>

#include <waybill/ext/json/consume.hpp>
#include <waybill/ext/json/lease.hpp>

namespace json_consume_rows_test {
namespace {

using namespace waybill;
using nlohmann::json;

template <class T>
std::string wrong(const json& document)
{
    const auto read = read_json<T>(document);
    return read ? "nothing" : describe(read.error());
}

// A valid row with one wrong field.
template <class T, class V>
std::string wrong_field(const T& row, const char* field, const V& value)
{
    json j = row;
    j[field] = value;
    return wrong<T>(j);
}

template <class T>
std::string without(const T& row, const char* field)
{
    json j = row;
    j.erase(field);
    return wrong<T>(j);
}

const partition_key key{"orders", "billing", "0"};
const lease held{key, {"host-7", 81}, 3, 12};
const owner_heartbeat there{"orders", "billing", {"host-7", 81}, 5};
const crash_record died{10, 14, 4, 1, 7, 3};

TEST_CASE("rows are written as in the guide of lease")
{
    const owner_id host{"host-7", 81};
    CHECK(json(lease{{"orders", "billing", "0"}, host, 3, 12}) == json::parse(R"text(
{"version": 1, "key": {"source": "orders", "group": "billing", "partition": "0"},
 "owner": {"name": "host-7", "incarnation": 81}, "epoch": 3, "row_version": 12}
)text"));
    CHECK(json(owner_heartbeat{"orders", "billing", host, 12}) == json::parse(R"text(
{"version": 1, "source": "orders", "group": "billing",
 "owner": {"name": "host-7", "incarnation": 81}, "row_version": 12}
)text"));
}

TEST_CASE("stored rows of version 1 are read, and written the same")
{
    std::size_t read = 0;
    golden_rows::each([&](std::string_view name, const auto& row) {
        using T = std::remove_cvref_t<decltype(row)>;
        CAPTURE(name);
        const auto* stored = golden_rows::find(name);
        REQUIRE(stored != nullptr);
        const auto again = parse_json<T>(stored->json);
        REQUIRE_MESSAGE(again.has_value(), describe(again.error()));
        CHECK(*again == row);
        CHECK(json(row).dump() == stored->json);
        ++read;
    });
    CHECK(read == std::size(golden_rows::version_1));
}

TEST_CASE("an invalid crash record is refused with its path")
{
    CHECK(wrong<crash_record>(died) == "nothing");
    CHECK(without(died, "from") == "nothing");
    CHECK(wrong<crash_record>(json::array()) == "the document: expected an object, found an array");
    CHECK(without(died, "version") == "/version: expected a value, found nothing");
    CHECK(without(died, "suspects") == "/suspects: expected a value, found nothing");
    CHECK(without(died, "deaths") == "/deaths: expected a value, found nothing");
    CHECK(without(died, "incarnation") == "/incarnation: expected a value, found nothing");
    CHECK(without(died, "to") == "/to: expected a value, found nothing");
    CHECK(without(died, "epoch") == "/epoch: expected a value, found nothing");
    CHECK(wrong_field(died, "version", 2) ==
          "/version: expected version 1 or older (update the program), found 2");
    CHECK(wrong_field(died, "from", nullptr) ==
          "/from: expected a whole number of at most 64 bits, found null");
    CHECK(wrong_field(died, "suspects", "all") ==
          "/suspects: expected a whole number of at most 64 bits, found \"all\"");
    CHECK(wrong_field(died, "deaths", std::uint64_t{1} << 32U) ==
          "/deaths: expected a whole number of at most 32 bits, found 4294967296");
    CHECK(wrong_field(died, "incarnation", -7) ==
          "/incarnation: expected a whole number of at most 64 bits, found -7");
    CHECK(wrong_field(died, "death", 1) ==
          "/death: expected one of the fields version, from, to, suspects, deaths, incarnation, "
          "epoch, found 1");
    CHECK(read_json<crash_record>(json{{"version", 2}}).error().kind == json_error::code::newer);
    CHECK(
        parse_json<crash_record>(R"({"version":1,"incarnation":1,"incarnation":2})").error().kind ==
        json_error::code::duplicate);
}

TEST_CASE("an invalid lease is refused with its path")
{
    CHECK(wrong<lease>(held) == "nothing");
    for (const char* const field : {"version", "key", "owner", "epoch", "row_version"}) {
        CHECK(without(held, field) ==
              "/" + std::string(field) + ": expected a value, found nothing");
    }
    CHECK(wrong_field(held, "version", 2) ==
          "/version: expected version 1 or older (update the program), found 2");
    CHECK(wrong_field(held, "epoch", 1.5) ==
          "/epoch: expected a whole number of at most 64 bits, found 1.5");
    CHECK(wrong_field(held, "owner", "host-7") == "/owner: expected an object, found \"host-7\"");
    CHECK(wrong_field(held, "owner", json{{"name", "host-7"}}) ==
          "/owner/incarnation: expected a value, found nothing");
    CHECK(wrong_field(held, "owner", json{{"name", "a"}, {"incarnation", 1}, {"pid", 2}}) ==
          "/owner/pid: expected one of the fields name_base64, name, incarnation, found 2");
    CHECK(wrong_field(held, "key", json{{"source", 5}}) ==
          "/key/source: expected a text in UTF-8, found 5");
    CHECK(wrong_field(held, "expiry", "1min") ==
          "/expiry: expected one of the fields version, key, owner, epoch, row_version, found "
          "\"1min\"");
    CHECK(read_json<lease>(json{{"version", 2}}).error().kind == json_error::code::newer);
}

TEST_CASE("an invalid heartbeat or owner is refused with its path")
{
    CHECK(wrong<owner_heartbeat>(there) == "nothing");
    for (const char* const field : {"version", "source", "group", "owner", "row_version"}) {
        CHECK(without(there, field) ==
              "/" + std::string(field) + ": expected a value, found nothing");
    }
    CHECK(wrong_field(there, "version", 2) ==
          "/version: expected version 1 or older (update the program), found 2");
    CHECK(wrong_field(there, "renews_leases", 1) ==
          "/renews_leases: expected true or false, found 1");
    owner_heartbeat renewing = there;
    renewing.renews_leases = true;
    CHECK(*read_json<owner_heartbeat>(json(renewing)) == renewing);
    CHECK(wrong_field(there, "row_version", true) ==
          "/row_version: expected a whole number of at most 64 bits, found true");
    CHECK(wrong_field(there, "group_base64", "*") == "/group_base64: expected base64, found \"*\"");
    CHECK(wrong_field(there, "more", 1) ==
          "/more: expected one of the fields version, source_base64, source, group_base64, group, "
          "owner, row_version, renews_leases, found 1");

    const owner_id host{"host-7", 81};
    CHECK(wrong<owner_id>(host) == "nothing");
    CHECK(*read_json<owner_id>(json(host)) == host);
    CHECK(without(host, "name") == "/name: expected a value, found nothing");
    CHECK(without(host, "incarnation") == "/incarnation: expected a value, found nothing");
    CHECK(wrong_field(host, "incarnation", "81") ==
          "/incarnation: expected a whole number of at most 64 bits, found \"81\"");
    CHECK(wrong_field(host, "pid", 1) ==
          "/pid: expected one of the fields name_base64, name, incarnation, found 1");
}

TEST_CASE("claims, claim results, lease tables and balance plans are written")
{
    CHECK(json(lease_claim{key, {"host-7", 81}, 4, 12}).dump() ==
          R"({"epoch":4,"expected":12,"key":{"group":"billing","partition":"0","source":"orders"},)"
          R"("owner":{"incarnation":81,"name":"host-7"}})");
    CHECK_FALSE(json(lease_claim{}).contains("expected"));
    CHECK_FALSE(json(lease_claim{}).contains("expired_owner"));
    const json takes = lease_claim{.expired_owner = there.owner, .expired_heartbeat = 5};
    CHECK(takes["expired_owner"] == json(there.owner));
    CHECK(takes["expired_heartbeat"] == 5);
    const json part = lease_table{.version = 7, .partial = true};
    CHECK(part["version"] == 7);
    CHECK(part["partial"] == true);
    CHECK(json(lease_claim::result{lease_claim::result::claim_outcome::won, 4, 13}).dump() ==
          R"({"epoch":4,"outcome":"won","row_version":13})");
    CHECK(json(lease_claim::result{}).dump() == R"({"outcome":"contended"})");
    CHECK(json(lease_table{{held}, {there}}).dump() ==
          R"({"leases":[)" + json(held).dump() + R"(],"owners":[)" + json(there).dump() + "]}");
    CHECK(json(balance_plan{.claim = {1, 4}, .mine = 1, .target = 3}).dump() ==
          R"({"balanced":false,"claim":[1,4],"mine":1,"steal":[],"surplus":0,"target":3})");
    CHECK(json(balance_plan{.steal = {5}, .mine = 2, .target = 3})["steal"] == json{5});
    CHECK(json(balance_plan{.surplus = 2, .mine = 5, .target = 3})["surplus"] == 2);
}

}  // namespace
}  // namespace json_consume_rows_test
