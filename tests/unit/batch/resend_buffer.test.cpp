// SPDX-License-Identifier: MIT

#include <concepts>
#include <cstdint>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/resend_buffer.hpp>

namespace outbox_test {

using waybill::resend_buffer;

namespace {

// Counts up to `last`; can be read once, and knows how far it has been.
struct counter {
    using value_type = std::uint64_t;
    using difference_type = std::ptrdiff_t;
    std::uint64_t* at = nullptr;
    std::uint64_t last = 0;
    std::uint64_t operator*() const { return *at; }
    counter& operator++()
    {
        ++*at;
        return *this;
    }
    void operator++(int) { ++*at; }
    friend bool operator==(const counter& c, std::default_sentinel_t) { return *c.at == c.last; }
};
static_assert(std::input_iterator<counter> && !std::forward_iterator<counter>);

}  // namespace

TEST_CASE("resend_buffer: keeps pulled items, by number, until they are released")
{
    std::uint64_t read = 0;
    resend_buffer<counter, std::default_sentinel_t> box(counter{&read, 1'000}, {});
    std::uint64_t low = 0;
    for (std::uint64_t n = 0; n != 1'000; ++n) {
        CHECK(box.pulled() == n);
        const std::uint64_t* item = box.pull();
        REQUIRE(item);
        CHECK(*item == n);
        CHECK(read == n);  // no further than that
        if (n % 3 == 2) box.release(low += 2);
        for (std::uint64_t i = low; i <= n; ++i) {
            if (*box.at(i) != i) CHECK(*box.at(i) == i);
        }
        CHECK(box.size() == n + 1 - low);
    }
    CHECK(!box.pull());
    CHECK(!box.pull());
    CHECK(box.pulled() == 1'000);
    box.release(5);  // is gone already
    CHECK(*box.at(low) == low);
    box.release(~std::uint64_t{0});
    CHECK(box.size() == 0);
    CHECK(box.pulled() == 1'000);
}

TEST_CASE("resend_buffer: a peeked item is read once, and counts only after take")
{
    std::uint64_t read = 0;
    resend_buffer<counter, std::default_sentinel_t> box(counter{&read, 2}, {});
    CHECK(*box.peek() == 0);
    CHECK(*box.peek() == 0);
    CHECK(box.pulled() == 0);
    CHECK(box.size() == 0);
    box.release(7);
    CHECK(*box.peek() == 0);
    box.take();
    CHECK(box.pulled() == 1);
    CHECK(*box.pull() == 1);
    CHECK(box.pulled() == 2);
    CHECK(*box.at(0) == 0);
    CHECK(*box.at(1) == 1);
    CHECK(!box.peek());
    box.take();
    CHECK(box.pulled() == 2);
}

TEST_CASE("resend_buffer: accepts a stream, an empty input and move-only items")
{
    std::istringstream in("one two three");
    resend_buffer words{std::istream_iterator<std::string>(in),
                        std::istream_iterator<std::string>()};
    CHECK(*words.pull() == "one");
    CHECK(*words.pull() == "two");
    std::string rest;
    in >> rest;
    CHECK(rest == "three");  // nothing is read ahead
    CHECK(*words.at(0) == "one");

    std::vector<int> none;
    resend_buffer empty(none);
    CHECK(!empty.pull());
    CHECK(empty.pulled() == 0);

    std::vector<std::unique_ptr<int>> owners;
    for (int i = 0; i != 3; ++i) owners.push_back(std::make_unique<int>(i));
    resend_buffer moved(std::make_move_iterator(owners.begin()),
                        std::make_move_iterator(owners.end()));
    CHECK(**moved.pull() == 0);
    CHECK(**moved.pull() == 1);
    CHECK(**moved.at(0) == 0);
    CHECK(!owners[1]);
    CHECK(owners[2]);
}

}  // namespace outbox_test
