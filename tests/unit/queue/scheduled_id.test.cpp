// SPDX-License-Identifier: MIT

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/queue/scheduled_id.hpp>

namespace scheduled_id_test {
namespace {

using namespace waybill;

static_assert(scheduled_id::parse("order-7:3") == scheduled_id{"order-7", 3});
static_assert(scheduled_id::parse("order-7") == scheduled_id{"order-7", 0});
static_assert(scheduled_id::parse("a:7:3") == scheduled_id{"a:7", 3});
static_assert(scheduled_id::parse("a:4294967295") == scheduled_id{"a", UINT32_MAX});
static_assert(scheduled_id::parse("a:4294967296") == scheduled_id{"a:4294967296", 0});
static_assert(scheduled_id::parse("a:99999999999999999999999") ==
              scheduled_id{"a:99999999999999999999999", 0});
static_assert(scheduled_id::parse("a#3", '#') == scheduled_id{"a", 3});
static_assert(scheduled_id::parse("::1") == scheduled_id{":", 1});

// Texts that scheduled_id never writes are ids of originals.
static_assert(scheduled_id::parse("") == scheduled_id{"", 0});
static_assert(scheduled_id::parse(":") == scheduled_id{":", 0});
static_assert(scheduled_id::parse(":3") == scheduled_id{":3", 0});
static_assert(scheduled_id::parse("3") == scheduled_id{"3", 0});
static_assert(scheduled_id::parse("a:") == scheduled_id{"a:", 0});
static_assert(scheduled_id::parse("a:0") == scheduled_id{"a:0", 0});
static_assert(scheduled_id::parse("a:03") == scheduled_id{"a:03", 0});
static_assert(scheduled_id::parse("a:3 ") == scheduled_id{"a:3 ", 0});
static_assert(scheduled_id::parse("a:-3") == scheduled_id{"a:-3", 0});
static_assert(scheduled_id::parse("a3") == scheduled_id{"a3", 0});

// The attempt in the message determines its id.
static_assert(scheduled_id::original_of("order-7:3", 3) == "order-7");
static_assert(scheduled_id::original_of("a:7", 0) == "a:7");
static_assert(scheduled_id::original_of("a:7:3", 3) == "a:7");
static_assert(!scheduled_id::original_of("a:7", 3));
static_assert(!scheduled_id::original_of("a", 1));

static_assert(name(scheduled_id::error::code::too_large) == "too_large");
static_assert(name(scheduled_id::error::code::no_id) == "no_id");
static_assert(name(scheduled_id::error::code::bad_mark) == "bad_mark");
static_assert(name(static_cast<scheduled_id::error::code>(9)) == "?");

// Accepts new ids, and drops repeated ones without a report.
struct broker {
    std::set<std::string> seen{};
    std::vector<std::string> queue{};

    void send(const std::string& id)
    {
        if (seen.insert(id).second) queue.push_back(id);
    }
};

}  // namespace

TEST_CASE("a clone's id is the original's id and the attempt, and attempts do not accumulate")
{
    CHECK(*scheduled_id::make("order-7", 3) == "order-7:3");
    CHECK(*scheduled_id::make(*scheduled_id::original_of("order-7:3", 3), 4) == "order-7:4");
    CHECK(*scheduled_id::make("a:7", 1) == "a:7:1");
    CHECK(*scheduled_id::make("order-7", 0) == "order-7");
    CHECK(*scheduled_id::make("order-7", UINT32_MAX) == "order-7:4294967295");
    CHECK(*scheduled_id::make("a", 2, scheduled_id::max_bytes, '~') == "a~2");
}

TEST_CASE("ids above the byte limit are refused, not cut")
{
    const std::string longest(126, 'x');
    CHECK(scheduled_id::make(longest, 9)->size() == 128);
    const auto over = scheduled_id::make(longest, 10);
    REQUIRE_FALSE(over.has_value());
    CHECK(over.error() == scheduled_id::error{scheduled_id::error::code::too_large, 129, 128});
    CHECK(describe(over.error()) ==
          "scheduled id: too_large: 129 bytes, at most 128: shorten the id of the message");
    CHECK_FALSE(scheduled_id::make(std::string(129, 'x'), 0).has_value());
    CHECK(scheduled_id::make(std::string(1'000, 'x'), 1, UINT64_MAX).has_value());
    CHECK_FALSE(scheduled_id::make("a", 1, 0).has_value());
}

TEST_CASE("an empty id and a digit as mark are refused")
{
    CHECK(scheduled_id::make("", 1).error().kind == scheduled_id::error::code::no_id);
    CHECK(scheduled_id::make("", 0).error().kind == scheduled_id::error::code::no_id);
    CHECK(describe(scheduled_id::make("a", 1, 128, '7').error()) ==
          "scheduled id: bad_mark: the mark must not be a digit");
}

TEST_CASE("each pair of id and attempt has a unique text, which parses back")
{
    // All ids of up to four of these parts, with attempts that look like parts of ids.
    constexpr char letters[] = {'a', ':', '0', '1', '7'};
    std::vector<std::string> ids;
    for (std::size_t from = 0, length = 1; length <= 4; ++length) {
        const std::size_t until = ids.size();
        for (const char c : letters) {
            if (length == 1) ids.push_back(std::string(1, c));
            for (std::size_t n = from; length != 1 && n != until; ++n) ids.push_back(ids[n] + c);
        }
        from = until;
    }
    CHECK(ids.size() == 5 + 25 + 125 + 625);
    std::map<std::string, scheduled_id> made;
    for (const std::string& id : ids) {
        for (const std::uint32_t attempt : {1U, 7U, 10U, 11U, 17U, 71U, 100U}) {
            const std::string text = *scheduled_id::make(id, attempt);
            CHECK(made.emplace(text, scheduled_id{id, attempt}).second);
            CHECK(scheduled_id::parse(text) == scheduled_id{id, attempt});
            CHECK(scheduled_id::original_of(text, attempt) == std::string_view(id));
        }
    }
}

TEST_CASE("a crash between sending the clone and completing the original sends the clone once")
{
    // As it should be: the id follows from id and attempt. The first time it crashes before it
    // completes, so the original is delivered again, with the same attempt.
    broker b;
    b.send("order-7");
    std::string id = "order-7";
    for (std::uint32_t attempt = 0; attempt != 5; ++attempt) {
        for (int times = 0; times != 2; ++times) {
            b.send(*scheduled_id::make(*scheduled_id::original_of(id, attempt), attempt + 1));
        }
        id = b.queue.back();
    }
    CHECK(b.queue == std::vector<std::string>{"order-7", "order-7:1", "order-7:2", "order-7:3",
                                              "order-7:4", "order-7:5"});
    // Under its own id the clone is dropped: the message is lost.
    broker same;
    same.send("order-7");
    same.send("order-7");
    CHECK(same.queue.size() == 1);
    // If ids are cut to the maximum, those of two messages are equal.
    broker cut;
    const std::string shared(127, 'x');
    cut.send((shared + "a:1").substr(0, 128));
    cut.send((shared + "a:2").substr(0, 128));
    CHECK(cut.queue.size() == 1);
    // Without the attempt, partition:offset would parse as another message.
    broker looks;
    looks.send("0:18");
    looks.send(*scheduled_id::make(scheduled_id::parse("0:17").original,
                                   scheduled_id::parse("0:17").attempt + 1));
    CHECK(looks.queue.size() == 1);
    looks.send(*scheduled_id::make(*scheduled_id::original_of("0:17", 0), 1));
    CHECK(looks.queue.back() == "0:17:1");
}

}  // namespace scheduled_id_test
