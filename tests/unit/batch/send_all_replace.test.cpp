// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/send_all.hpp>

namespace send_all_replace_test {

using namespace waybill;

namespace {

using strings = std::vector<std::string>;

constexpr auto size = [](const std::string& s) { return s.size(); };

send_policy policy(send_policy::when_too_large how = send_policy::when_too_large::replace)
{
    return {.limit = {.bytes = 12, .items = 3}, .on_too_large = how, .retry = {.max_attempts = 1}};
}

// A claim check: the item is stored, and its ticket replaces it.
struct store {
    std::map<std::string, std::string> kept{};
    std::size_t capacity = 100;
    std::vector<batch_sender::replace> asked{};

    fault operator()(std::string& item, const batch_sender::replace& r)
    {
        asked.push_back(r);
        if (kept.size() == capacity) return {fault_kind::transient, "the store is full"};
        std::string ticket = "#" + std::to_string(kept.size());
        kept.emplace(ticket, std::exchange(item, ticket));
        return {};
    }
};

struct broker {
    std::vector<strings> batches{};

    template <class Batch>
    send_outcome operator()(const Batch& batch)
    {
        batches.emplace_back(batch.begin(), batch.end());
        for (const std::string& s : batches.back()) {
            if (s.find("refuse me") != std::string::npos) return batch_sender::too_large{};
        }
        return batch_sender::accepted{};
    }
};

const std::string large(40, 'L');

}  // namespace

TEST_CASE("send_all: an oversized item is stored, and its reference is sent under the same number")
{
    strings words{"a", large, "b", large + "!", "c"};
    batch_sender s(policy());
    store kept;
    broker b;
    const send_report r = send_all(words, size, s, b, steady_time(), kept);
    CHECK(b.batches == std::vector<strings>{{"a", "#0", "b"}, {"#1", "c"}});
    CHECK(words == strings{"a", "#0", "b", "#1", "c"});
    CHECK(kept.kept["#1"] == large + "!");
    CHECK(kept.asked == std::vector<batch_sender::replace>{{1, 40, 12, 0}, {3, 41, 12, 0}});
    CHECK(r.outcomes == std::vector<item_report>{{{0, 5}, item_outcome::accepted}});
    CHECK(r.accepted == 5);
    CHECK(r.sends == 2);
}

TEST_CASE("send_all: item numbers are those of the input, also for a second input")
{
    batch_sender s(policy());
    store kept;
    broker b;
    strings first{"a", "b"}, second{"c", large};
    CHECK(send_all(first, size, s, b, steady_time(), kept).accepted == 2);
    CHECK(send_all(second, size, s, b, steady_time(), kept).accepted == 2);
    CHECK(kept.asked == std::vector<batch_sender::replace>{{1, 40, 12, 0}});
    CHECK(second.back() == "#0");
}

TEST_CASE("send_all: if the store fails, the item is too_large with the text of the store")
{
    strings words{large, large, "a"};
    batch_sender s(policy());
    store kept{.capacity = 1};
    broker b;
    const send_report r = send_all(words, size, s, b, steady_time(), kept);
    CHECK(b.batches == std::vector<strings>{{"#0", "a"}});
    REQUIRE(r.outcomes.size() == 3);
    CHECK(describe(r.outcomes[0]) ==
          "item 1: too_large, 40 bytes where the limit is 12: the store is full");
    CHECK(r.outcomes[1].items == item_range{0, 1});
    CHECK(words[1] == large);
    CHECK(r.accepted == 2);
    CHECK(r.not_accepted == 1);
}

TEST_CASE("send_all: an oversized reference is not replaced again")
{
    strings words{large};
    batch_sender s(policy());
    broker b;
    int asked = 0;
    const send_report r = send_all(words, size, s, b, steady_time(),
                                   [&](std::string& item, const batch_sender::replace&) {
                                       ++asked;
                                       item.resize(20);
                                       return fault{};
                                   });
    CHECK(asked == 1);
    CHECK(r.outcomes.front().outcome == item_outcome::too_large);
    CHECK(r.outcomes.front().bytes == 20);
    CHECK(r.outcomes.front().text.empty());
}

TEST_CASE("send_all: an item that the broker refuses alone is replaced")
{
    strings words{"a", "refuse me", "b"};
    batch_sender s(policy());
    store kept;
    broker b;
    send_report r = send_all(words, size, s, b, steady_time(), kept);
    CHECK(r.accepted == 3);
    CHECK(words[1] == "#0");
    CHECK(kept.kept["#0"] == "refuse me");
}

TEST_CASE("send_all: with a single-pass input, references replace items in the resend_buffer")
{
    std::istringstream in("a " + large + " b " + large + " c");
    using words = std::istream_iterator<std::string>;
    resend_buffer box{words(in), words()};
    batch_sender s(policy());
    store kept{.capacity = 1};
    broker b;
    const send_report r = send_all(box, size, s, b, steady_time(), kept);
    CHECK(b.batches == std::vector<strings>{{"a", "#0", "b"}, {"c"}});
    CHECK(r.accepted == 4);
    CHECK(r.not_accepted == 1);
    CHECK(box.size() == 0);
}

TEST_CASE("send_all: with report or send_alone, the replace function is not called")
{
    for (const send_policy::when_too_large how :
         {send_policy::when_too_large::report, send_policy::when_too_large::send_alone}) {
        const strings words{"a", large, "b"};
        batch_sender s(policy(how));
        broker b;
        int asked = 0;
        const send_report r = send_all(words, size, s, b, steady_time(),
                                       [&](const std::string&, const batch_sender::replace&) {
                                           ++asked;
                                           return fault{};
                                       });
        CHECK(asked == 0);
        if (how == send_policy::when_too_large::report) {
            CHECK(b.batches == std::vector<strings>{{"a", "b"}});
        } else {
            CHECK(b.batches == std::vector<strings>{{"a"}, {large}, {"b"}});
        }
        CHECK(r.accepted ==
              b.batches.size() + (how == send_policy::when_too_large::report ? 1U : 0U));
    }
    // Without a function that replaces, everything stays as it is.
    const strings words{"a", large};
    batch_sender s(policy());
    broker b;
    const send_report r = send_all(words, size, s, b, steady_time());
    CHECK(r.accepted == 1);
    CHECK(r.outcomes.front().outcome == item_outcome::too_large);
}

TEST_CASE("send_all: a too_large report does not contain the text of another failure")
{
    const strings words{"a", large};
    send_policy p = policy(send_policy::when_too_large::report);
    p.limit.items = 1;
    batch_sender s(p);
    const send_report r = send_all(
        words, size, s,
        [](const auto&) -> send_outcome {
            return batch_sender::failed{0, fault_kind::permanent, "no such queue"};
        },
        steady_time());
    REQUIRE(r.outcomes.size() == 2);
    CHECK(describe(r.outcomes[0]) == "item 0: failed, permanent: no such queue");
    CHECK(describe(r.outcomes[1]) == "item 1: too_large, 40 bytes where the limit is 12");
}

}  // namespace send_all_replace_test
