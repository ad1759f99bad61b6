// SPDX-License-Identifier: MIT

#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/send_all.hpp>

namespace send_all_input_test {

using namespace waybill;

namespace {

constexpr auto size = [](const std::string& s) { return s.size(); };
constexpr auto busy = [](const auto&) -> send_outcome { return batch_sender::throttled{}; };
constexpr auto works = [](const auto&) -> send_outcome { return batch_sender::accepted{}; };

batch_sender with_room_for(std::uint64_t items)
{
    return batch_sender(
        {.limit = {.items = items}, .retry = {.pauses = {.spread = backoff::jitter::none}}});
}

steady_time later_on()
{
    return steady_time::at(duration::seconds(60));
}

}  // namespace

TEST_CASE("send_all: an input other than the waiting one is reported, and nothing is sent")
{
    const std::vector<std::string> ten(10, "x");
    const std::vector<std::string> two(2, "y");
    batch_sender s = with_room_for(5);
    CHECK(send_all(ten, size, s, busy, steady_time()).waiting);
    const batch_sender before = s;
    const send_report r = send_all(two, size, s, works, later_on());
    CHECK(r.other_input);
    CHECK(r.sends == 0);
    CHECK(s == before);
    CHECK(send_all(ten, size, s, works, later_on()).accepted == 10);
    CHECK(send_all(two, size, s, works, later_on()).accepted == 2);
}

TEST_CASE("send_all: a sender with manually queued items rejects an input")
{
    const std::vector<std::string> two(2, "y");
    batch_sender s = with_room_for(5);
    s.on(batch_sender::queued{1U}, steady_time());
    CHECK(send_all(two, size, s, works, steady_time()).other_input);
    CHECK(s.end() == 1);
}

TEST_CASE("send_all: a resend_buffer other than the waiting one is reported")
{
    std::istringstream a("a b c d e f"), b("g h");
    using words = std::istream_iterator<std::string>;
    resend_buffer first{words(a), words()};
    resend_buffer second{words(b), words()};
    batch_sender s = with_room_for(2);
    CHECK(send_all(first, size, s, busy, steady_time()).waiting);
    CHECK(send_all(second, size, s, works, later_on()).other_input);
    CHECK(second.pulled() == 0);
    auto copy = first;  // a copy has the kept items
    CHECK(copy.size() == first.size());
    CHECK(send_all(first, size, s, works, later_on()).accepted == 6);
}

TEST_CASE("item_report: describe contains the known facts of an oversized item")
{
    item_report r{{3, 1}, item_outcome::too_large, fault_kind::permanent, 300, 200, {}};
    CHECK(describe(r) == "item 3: too_large, 300 bytes where the limit is 200");
    r.limit = unlimited;
    CHECK(describe(r) == "item 3: too_large, 300 bytes, refused alone, limit unknown");
    r.limit = 400;
    CHECK(describe(r) ==
          "item 3: too_large, 300 bytes at least, refused alone although the reported limit is "
          "400");
}

}  // namespace send_all_input_test
