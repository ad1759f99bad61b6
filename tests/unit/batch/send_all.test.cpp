// SPDX-License-Identifier: MIT

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <iterator>
#include <list>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/send_all.hpp>

namespace send_all_test {

using namespace waybill;
using namespace std::chrono_literals;

namespace {

constexpr auto size = [](const std::string& s) { return s.size(); };

constexpr steady_time at(std::int64_t ms)
{
    return steady_time::at(duration::milliseconds(ms));
}

// Returns the scripted answers, one for each request, and then accepts.
struct broker {
    std::vector<send_outcome> answers{};
    std::vector<std::vector<std::string>> sent_batches{};  // all that was sent to it
    std::vector<std::uint64_t> attempts{};

    template <class Batch>
    send_outcome operator()(const Batch& batch)
    {
        sent_batches.emplace_back(batch.begin(), batch.end());
        attempts.push_back(batch.attempt());
        CHECK(sent_batches.back().size() == batch.size());
        CHECK(!sent_batches.back().empty());
        const std::size_t n = sent_batches.size() - 1;
        return n < answers.size() ? answers[n] : batch_sender::accepted{};
    }
};

using batches = std::vector<std::vector<std::string>>;

send_policy policy(std::uint64_t most_items)
{
    return {
        .limit = {.items = most_items},
        .retry = {.max_attempts = 3, .pauses = {.base = 100ms, .spread = backoff::jitter::none}}};
}

item_range item(std::uint64_t first, std::uint64_t count = 1)
{
    return {first, count};
}

}  // namespace

static_assert(
    std::forward_iterator<waybill::detail::sent_batch<std::forward_list<int>::iterator>::iterator>);
static_assert(std::forward_iterator<waybill::detail::sent_batch<const int*>::iterator>);

TEST_CASE("send_all: accepts any multi-pass container")
{
    const std::array<std::string, 5> words{"a", "bb", "ccc", "dddd", "eeeee"};
    const auto goes = [&](const auto& input) {
        batch_sender s(policy(2));
        broker b;
        const send_report r = send_all(input, size, s, b, at(0));
        CHECK(b.sent_batches == batches{{"a", "bb"}, {"ccc", "dddd"}, {"eeeee"}});
        CHECK(r.outcomes == std::vector<item_report>{{item(0, 5), item_outcome::accepted}});
        CHECK(r.taken == 5);
        CHECK(r.sends == 3);
        CHECK(r.refusals == 0);
        CHECK(r.accepted == 5);
        CHECK(r.not_accepted == 0);
        CHECK(r.unaccepted_bytes == 0);
        CHECK(!r.waiting);
        CHECK(!r.stopped);
        CHECK(s.finished());
    };
    goes(words);
    goes(std::vector<std::string>(words.begin(), words.end()));
    goes(std::list<std::string>(words.begin(), words.end()));
    goes(std::forward_list<std::string>(words.begin(), words.end()));
    std::vector<std::string> mine(words.begin(), words.end());
    batch_sender s(policy(9));
    broker b;
    CHECK(send_all(mine, &std::string::size, s, b, at(0)).sends == 1);
    CHECK(send_all(mine.begin() + 1, mine.begin() + 3, size, s, b, at(0)).accepted == 2);
    CHECK(b.sent_batches.back() == std::vector<std::string>{"bb", "ccc"});
}

TEST_CASE("send_all: an empty input, and one of a single item")
{
    batch_sender s(policy(2));
    broker b;
    std::vector<std::string> words;
    CHECK(send_all(words, size, s, b, at(0)) == send_report{});
    words.push_back("x");
    const send_report r = send_all(words, size, s, b, at(0));
    CHECK(r.outcomes == std::vector<item_report>{{item(0), item_outcome::accepted}});
    CHECK(b.sent_batches == batches{{"x"}});
}

TEST_CASE("send_all: reports every outcome, numbered from the first item of the input")
{
    batch_sender s({.limit = {.bytes = 5, .items = 3}, .retry = {.max_attempts = 1}});
    const std::vector<std::string> before{"zz", "zz"};
    broker b;
    CHECK(send_all(before, size, s, b, at(0)).accepted == 2);

    const std::vector<std::string> words{"a", "b", "123456", "c", "d", "e", "f"};
    const std::array<batch_sender::entry_fault, 1> second{
        batch_sender::entry_fault{1, fault_kind::permanent}};
    b = {.answers = {batch_sender::partial{.failed = second},
                     batch_sender::failed{0, fault_kind::transient, "no such queue"}}};
    const send_report r = send_all(words, size, s, b, at(0));
    CHECK(b.sent_batches == batches{{"a", "b", "c"}, {"d", "e", "f"}});
    CHECK(r.outcomes ==
          std::vector<item_report>{
              {item(2), item_outcome::too_large, fault_kind::permanent, 6, 5, 0, ""},
              {item(0), item_outcome::accepted},
              {item(1), item_outcome::failed, fault_kind::permanent, 0, 0, 0, ""},
              {item(3), item_outcome::accepted},
              {item(4, 3), item_outcome::failed, fault_kind::transient, 0, 0, 0, "no such queue"}});
    CHECK(r.accepted == 2);
    CHECK(r.not_accepted == 5);
    CHECK(describe(r.outcomes[0]) == "item 2: too_large, 6 bytes where the limit is 5");
    CHECK(describe(r.outcomes[4]) == "items 4 to 6: failed, transient: no such queue");
    CHECK(describe(r.outcomes[1]) == "item 0: accepted");
}

template <class Input>
void resumes(Input&& input)
{
    batch_sender s(policy(2));
    const std::array<batch_sender::entry_fault, 1> first{
        batch_sender::entry_fault{0, fault_kind::transient}};
    broker b{.answers = {batch_sender::accepted{}, batch_sender::partial{.failed = first},
                         batch_sender::throttled{.retry_after = 1s},
                         batch_sender::outcome_unknown{}, batch_sender::too_large{},
                         batch_sender::too_large{}}};
    send_report r = send_all(input, size, s, b, at(0));
    CHECK(r.taken == 5);  // returned items travel with new ones
    CHECK(r.accepted == 3);
    CHECK(r.waiting == at(100));
    CHECK(send_all(input, size, s, b, at(0)).sends == 0);  // too early: the report is the same
    r += send_all(input, size, s, b, at(100));
    CHECK(r.waiting == at(1'100));
    r += send_all(input, size, s, b, at(1'100));
    CHECK(r.waiting == at(1'200));
    // The repeated batch is refused and cut again. Its first item, refused alone, is in doubt.
    r += send_all(input, size, s, b, at(1'200));
    CHECK(!r.waiting);
    CHECK(b.sent_batches == batches{{"a", "bb"},
                                    {"ccc", "dddd"},
                                    {"ccc", "eeeee"},
                                    {"ccc", "eeeee"},
                                    {"ccc", "eeeee"},
                                    {"ccc"},
                                    {"eeeee", "f"},
                                    {"gg"}});
    CHECK(b.attempts == std::vector<std::uint64_t>{0, 1, 2, 3, 3, 4, 5, 6});
    CHECK(r.outcomes == std::vector<item_report>{{item(0, 2), item_outcome::accepted},
                                                 {item(3), item_outcome::accepted},
                                                 {item(2), item_outcome::in_doubt},
                                                 {item(4, 3), item_outcome::accepted}});
    CHECK(r.taken == 7);
    CHECK(r.sends == 8);
    CHECK(r.refusals == 2);
    CHECK(r.throttled == 1);
    CHECK(r.maybe_twice == 2);
    CHECK(r.unaccepted_bytes == 8 + 8 + 8 + 3);
}

TEST_CASE("send_all: a further call continues after the last one")
{
    const std::vector<std::string> words{"a", "bb", "ccc", "dddd", "eeeee", "f", "gg"};
    resumes(words);
    resumes(std::list<std::string>(words.begin(), words.end()));
    resumes(std::forward_list<std::string>(words.begin(), words.end()));
    std::istringstream in("a bb ccc dddd eeeee f gg");
    resend_buffer box{std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
    resumes(box);
    CHECK(box.size() == 0);
    CHECK(box.pulled() == 7);
}

TEST_CASE("send_all: a resend_buffer holds at most one batch and one more item")
{
    std::ostringstream out;
    for (int i = 0; i != 500; ++i) out << "item" << i << ' ';
    std::istringstream in(out.str());
    resend_buffer box{std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
    batch_sender s({.limit = {.bytes = 70}, .retry = policy(1).retry});
    std::size_t held = 0;
    std::vector<std::string> got;
    const send_report r = send_all(
        box, size, s,
        [&](const auto& batch) -> send_outcome {
            held = std::max(held, box.size());
            std::uint64_t bytes = 0;  // with three bytes an item that the sender does not know of
            for (const std::string& item : batch) bytes += 3 + item.size();
            if (bytes > 70) return batch_sender::too_large{.actual = bytes, .limit = 70};
            got.insert(got.end(), batch.begin(), batch.end());
            return batch_sender::accepted{};
        },
        at(0));
    CHECK(r.refusals <= 3);  // one reported sum does not show how much items vary: that is probed
    CHECK(r.accepted == 500);
    CHECK(held <= 15);  // of item0 to item9, fourteen fit into 70 bytes before it is known better
    REQUIRE(got.size() == 500);
    for (std::size_t i = 0; i != 500; ++i) CHECK(got[i] == "item" + std::to_string(i));
}

TEST_CASE("send_all: one resend_buffer for several senders, one sender for several inputs")
{
    std::istringstream in("a b c d e f g");
    resend_buffer box{std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
    batch_sender first(policy(2));
    broker b{.answers = {batch_sender::accepted{},
                         batch_sender::failed{0, fault_kind::cancelled, "closing"}}};
    const send_report r = send_all(box, size, first, b, at(0));
    CHECK(r.stopped);
    CHECK(r.outcomes == std::vector<item_report>{{item(0, 2), item_outcome::accepted},
                                                 {item(2, 2), item_outcome::unsent}});
    CHECK(r.taken == 4);
    CHECK(!r.waiting);
    CHECK(first.finished());

    // It stays stopped: nothing more is read.
    const send_report none = send_all(box, size, first, b, at(0));
    CHECK(none.stopped);
    CHECK(none.taken == 0);
    CHECK(none.sends == 0);

    batch_sender second(policy(2));
    const std::vector<std::string> words{"x", "y", "z"};
    CHECK(send_all(words, size, second, b, at(0)).accepted == 3);
    b = {};
    const send_report rest = send_all(box, size, second, b, at(0));
    CHECK(b.sent_batches == batches{{"e", "f"}, {"g"}});
    CHECK(rest.taken == 3);
    CHECK(rest.outcomes == std::vector<item_report>{{item(0, 3), item_outcome::accepted}});
}

TEST_CASE("send_all: after a stop between two calls, the remaining items are unsent")
{
    const std::forward_list<std::string> words{"a", "b", "c"};
    batch_sender s(policy(2));
    broker b{.answers = {batch_sender::throttled{.retry_after = 1s}}};
    send_report r = send_all(words, size, s, b, at(0));
    CHECK(r.waiting == at(1'000));
    s.on(batch_sender::stopped{}, at(0));
    r += send_all(words, size, s, b, at(0));
    CHECK(r.stopped);
    CHECK(!r.waiting);
    CHECK(r.taken == 2);  // the third was never read
    CHECK(r.outcomes == std::vector<item_report>{{item(0, 2), item_outcome::unsent}});

    // Stopped by the send function: its batch is in flight and counts.
    batch_sender t(policy(2));
    const send_report u = send_all(
        words, size, t,
        [&](const auto&) -> send_outcome {
            t.on(batch_sender::stopped{}, at(0));
            return batch_sender::accepted{};
        },
        at(0));
    CHECK(u.stopped);
    CHECK(u.accepted == 2);
    CHECK(u.sends == 1);
}

TEST_CASE("send_all: after contradictory results the items are in_doubt")
{
    const std::vector<std::string> words{"a", "b"};
    batch_sender s(policy(2));
    const std::array<batch_sender::entry_fault, 1> far{
        batch_sender::entry_fault{2, fault_kind::permanent}};
    const std::array<std::uint64_t, 3> three{1, 1, 1};
    broker b{.answers = {batch_sender::partial{.failed = far},
                         batch_sender::too_large{0, {}, {}, three},
                         batch_sender::failed{0, fault_kind::none, ""}}};
    send_report r = send_all(words, size, s, b, at(0));
    CHECK(r.waiting == at(100));
    r += send_all(words, size, s, b, at(100));
    CHECK(r.waiting == at(300));
    r += send_all(words, size, s, b, at(300));
    CHECK(b.attempts == std::vector<std::uint64_t>{0, 0, 0});
    CHECK(r.outcomes == std::vector<item_report>{{item(0, 2), item_outcome::in_doubt}});
}

TEST_CASE("send_all: reads the clock in every step, and returns to wait")
{
    const std::vector<std::string> words{"a"};
    batch_sender s(policy(1));
    broker b{.answers = {batch_sender::throttled{}, batch_sender::throttled{},
                         batch_sender::throttled{}}};
    std::int64_t now = 0;
    const auto clock = [&] { return at(now); };
    int calls = 0;
    send_report r;
    do {
        r += send_all(words, size, s, b, clock);
        if (r.waiting) now = r.waiting->since_epoch().count() / 1'000'000;
    } while (r.waiting && ++calls != 10);
    CHECK(calls == 3);
    CHECK(now == 100 + 200 + 400);
    CHECK(r.accepted == 1);
    // A broker that asks for an endless pause gets one.
    batch_sender u({.retry = {.pauses = {.highest_hint = duration::highest()}}});
    broker never{.answers = {batch_sender::throttled{.retry_after = duration::highest()}}};
    CHECK(send_all(words, size, u, never, at(1)).waiting == steady_time::highest());
}

}  // namespace send_all_test
