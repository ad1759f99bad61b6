// SPDX-License-Identifier: MIT

#include <cstdint>
#include <forward_list>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/send_all.hpp>

namespace send_all_throwing_test {

using namespace waybill;

namespace {

constexpr auto size = [](const std::string& s) { return s.size(); };

constexpr steady_time at(std::int64_t s)
{
    return steady_time::at(duration::seconds(s));
}

template <class Input>
void a_throwing_send(Input&& input, send_policy::when_unknown how,
                     std::vector<std::string> expected)
{
    batch_sender s(
        {.limit = {.items = 2},
         .on_unknown = how,
         .retry = {.pauses = {.base = duration::seconds(1), .spread = backoff::jitter::none}}});
    std::vector<std::string> log;
    const auto send = [&](const auto& batch) -> send_outcome {
        std::string line = std::to_string(batch.attempt()) + ":";
        for (const std::string& item : batch) line += " " + item;
        log.push_back(line);
        if (log.size() == 2) throw std::runtime_error("the line is dead");
        return batch_sender::accepted{};
    };
    CHECK_THROWS_AS((void)send_all(input, size, s, send, at(0)), std::runtime_error);
    CHECK(s.in_flight() == 0);
    CHECK(!s.finished());
    send_report r = send_all(input, size, s, send, at(0));
    if (r.waiting) r += send_all(input, size, s, send, *r.waiting);
    CHECK(!r.waiting);
    CHECK(log == expected);
    CHECK(s.finished());
    const std::vector<item_report> arrived{{{0, 5}, item_outcome::accepted}};
    const std::vector<item_report> open{{{0, 2}, item_outcome::accepted},
                                        {{2, 2}, item_outcome::in_doubt},
                                        {{4, 1}, item_outcome::accepted}};
    CHECK(r.outcomes == (how == send_policy::when_unknown::repeat ? arrived : open));
}

}  // namespace

TEST_CASE("send_all: a batch whose transmit throws has an unknown outcome")
{
    const std::vector<std::string> again{"0: a b", "1: c d", "1: c d", "2: e"};
    const std::vector<std::string> back{"0: a b", "1: c d", "2: e"};
    for (const send_policy::when_unknown how :
         {send_policy::when_unknown::repeat, send_policy::when_unknown::hand_back}) {
        const auto& expected = how == send_policy::when_unknown::repeat ? again : back;
        a_throwing_send(std::vector<std::string>{"a", "b", "c", "d", "e"}, how, expected);
        a_throwing_send(std::forward_list<std::string>{"a", "b", "c", "d", "e"}, how, expected);
        std::istringstream in("a b c d e");
        a_throwing_send(resend_buffer{std::istream_iterator<std::string>(in),
                                      std::istream_iterator<std::string>()},
                        how, expected);
    }
}

TEST_CASE("send_all: after an exception of the size function, the same item is measured again")
{
    std::istringstream in("a b c d e");
    resend_buffer box{std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
    int asked = 0;
    const auto moody = [&](const std::string& s) -> std::uint64_t {
        if (++asked % 2 == 0) throw std::length_error("not now");
        return s.size();
    };
    batch_sender s({.limit = {.items = 2}});
    std::vector<std::string> got;
    const auto send = [&](const auto& batch) -> send_outcome {
        got.insert(got.end(), batch.begin(), batch.end());
        return batch_sender::accepted{};
    };
    int thrown = 0;
    for (bool done = false; !done && thrown != 20;) {
        try {
            const send_report r = send_all(box, moody, s, send, at(0));
            done = !r.waiting;
        } catch (const std::length_error&) {
            ++thrown;
        }
    }
    CHECK(got == std::vector<std::string>{"a", "b", "c", "d", "e"});
    CHECK(thrown == 4);
    CHECK(s.finished());
}

TEST_CASE("resend_buffer: after an exception of the input, reading continues at the same item")
{
    struct wire {
        using value_type = int;
        using difference_type = std::ptrdiff_t;
        int* at;
        int* failures;
        int operator*() const
        {
            if (*at == 2 && (*failures)-- > 0) throw std::runtime_error("later");
            return *at;
        }
        wire& operator++()
        {
            ++*at;
            return *this;
        }
        void operator++(int) { ++*at; }
        bool operator==(std::default_sentinel_t) const { return *at == 4; }
    };
    int place = 0, failures = 2;
    resend_buffer<wire, std::default_sentinel_t> box(wire{&place, &failures}, {});
    CHECK(*box.pull() == 0);
    CHECK(*box.pull() == 1);
    CHECK_THROWS_AS((void)box.pull(), std::runtime_error);
    CHECK_THROWS_AS((void)box.pull(), std::runtime_error);
    CHECK(box.pulled() == 2);
    CHECK(*box.pull() == 2);
    CHECK(*box.pull() == 3);
    CHECK(!box.pull());
}

}  // namespace send_all_throwing_test
