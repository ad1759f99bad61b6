// SPDX-License-Identifier: MIT

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <forward_list>
#include <iterator>
#include <list>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/owned_chunks.hpp>

namespace owned_chunks_test {

using waybill::batch_close_reason;
using waybill::batch_limits;
using waybill::owned_chunk;
using waybill::owned_chunks;

using strings = std::vector<std::string>;

/// Three batches of ten bytes, as more-itertools cuts them.
strings words()
{
    return {"12345", "123", "12345678", "1", "1", "12", "1"};
}

const std::vector<strings> expected{{"12345", "123"}, {"12345678", "1", "1"}, {"12", "1"}};
constexpr batch_limits ten{.bytes = 10};

template <class Chunks>
std::vector<strings> shown(const Chunks& chunks)
{
    std::vector<strings> all;
    for (const auto& c : chunks) all.emplace_back(c.begin(), c.end());
    return all;
}

TEST_CASE("owned_chunks: items are moved out of an rvalue container")
{
    std::vector<std::unique_ptr<int>> inbox;
    std::vector<const int*> addresses;
    for (int n : {6, 3, 5, 20, 1}) {
        addresses.push_back(inbox.emplace_back(std::make_unique<int>(n)).get());
    }
    const auto batches =
        owned_chunks(std::move(inbox), ten, [](const std::unique_ptr<int>& p) { return *p; });
    static_assert(
        std::same_as<decltype(batches), const std::vector<owned_chunk<std::unique_ptr<int>>>>);
    REQUIRE(batches.size() == 4);
    std::vector<const int*> found;
    for (const auto& b : batches) {
        for (const auto& p : b) found.push_back(p.get());
    }
    CHECK(found == addresses);
    CHECK(batches[0].size() == 2);
    CHECK(batches[0].bytes == 9);
    CHECK(batches[0].fits);
    CHECK(batches[0].closed == batch_close_reason::bytes);
    CHECK_FALSE(batches[2].fits);
    CHECK(batches[2].bytes == 20);
    CHECK(batches[2].size() == 1);
    CHECK(batches[3].closed == batch_close_reason::end);
}

TEST_CASE("owned_chunks: an lvalue container and the data of a view stay unchanged")
{
    strings inbox = words();
    CHECK(shown(owned_chunks(inbox, ten, &std::string::size)) == expected);
    CHECK(inbox == words());
    CHECK(shown(owned_chunks(std::as_const(inbox), ten, &std::string::size)) == expected);
    CHECK(shown(owned_chunks(std::span(inbox), ten, &std::string::size)) == expected);
    CHECK(inbox == words());
    CHECK(shown(owned_chunks(inbox.begin(), inbox.end(), ten, &std::string::size)) == expected);
    CHECK(inbox == words());

    CHECK(shown(owned_chunks(std::move_iterator(inbox.begin()), std::move_iterator(inbox.end()),
                             ten, &std::string::size)) == expected);
    CHECK(inbox == strings(7));
    inbox = words();
    CHECK(shown(owned_chunks(std::move(inbox), ten, &std::string::size)) == expected);
    CHECK(inbox == strings(7));  // NOLINT: the rest has been moved from
}

TEST_CASE("owned_chunks: items come from any container and go into any")
{
    strings all = words();
    CHECK(shown(owned_chunks(std::list<std::string>(all.begin(), all.end()), ten,
                             &std::string::size)) == expected);
    CHECK(shown(owned_chunks(std::forward_list<std::string>(all.begin(), all.end()), ten,
                             &std::string::size)) == expected);
    CHECK(shown(owned_chunks(std::array<std::string, 2>{"12345", "123"}, ten,
                             &std::string::size)) == std::vector<strings>{expected[0]});
    const std::string plain[] = {"12345", "123"};
    CHECK(shown(owned_chunks(plain, ten, &std::string::size)) == std::vector<strings>{expected[0]});
    CHECK(shown(owned_chunks(std::set<std::string>{"12345", "67"}, ten, &std::string::size)) ==
          std::vector<strings>{{"12345", "67"}});

    const auto deques = owned_chunks<std::deque<std::string>>(all, ten, &std::string::size);
    static_assert(std::same_as<decltype(deques[0].items), std::deque<std::string>>);
    CHECK(shown(deques) == expected);
    CHECK(shown(owned_chunks<std::list<std::string>>(all.begin(), all.end(), ten,
                                                     &std::string::size)) == expected);
    CHECK(shown(owned_chunks<std::deque<std::string>>(std::move(all), ten, &std::string::size)) ==
          expected);
    const auto texts =
        owned_chunks<std::string>(std::string("a line"), {.items = 4}, [](char) { return 1; });
    REQUIRE(texts.size() == 2);
    CHECK(texts[0].items == "a li");
}

/// Two bytes around the batch, a comma before each item but the first.
struct array_of_text {
    struct state {
        bool any = false;
        friend bool operator==(const state&, const state&) = default;
    };
    std::uint64_t envelope(const std::string&) const { return 2; }
    std::uint64_t delta(const state& s, const std::string& t) const
    {
        return t.size() + (s.any ? 1 : 0);
    }
    void push(state& s, const std::string&) const { s.any = true; }
};

TEST_CASE("owned_chunks: accepts a framing, and integers without a size function")
{
    const auto framed = owned_chunks(words(), {.bytes = 11}, array_of_text{});
    CHECK(shown(framed) ==
          std::vector<strings>{{"12345", "123"}, {"12345678"}, {"1", "1", "12", "1"}});
    CHECK(framed[0].bytes == 11);
    CHECK(framed[2].bytes == 10);

    const auto sizes = owned_chunks(std::vector<int>{5, 5, 5}, ten);
    REQUIRE(sizes.size() == 2);
    CHECK(sizes[0].items == std::vector<int>{5, 5});
    CHECK(sizes[1] == owned_chunk<int>{{5}, 5, true, batch_close_reason::end});
    CHECK(owned_chunks(std::vector<int>{}, ten).empty());
}

TEST_CASE("owned_chunks: each size is requested once, and no batch has spare capacity")
{
    int asked = 0;
    strings inbox = words();
    const auto batches = owned_chunks(std::move(inbox), ten, [&asked](const std::string& s) {
        ++asked;
        return s.size();
    });
    CHECK(asked == 7);
    for (const auto& b : batches) CHECK(b.items.capacity() == b.items.size());
}

/// Counts its moves.
struct counted {
    explicit counted(int& m) : moves(&m) {}
    counted(counted&& from) noexcept : moves(from.moves) { ++*moves; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    counted& operator=(counted&&) = default;
    ~counted() = default;

    int* moves;
};

/// Notes how many moves there were when the last of its kind was made ready.
struct shelf : std::vector<counted> {
    void reserve(std::size_t n)
    {
        std::vector<counted>::reserve(n);
        ready_after = moves;
    }
    static inline int moves = 0;
    static inline int ready_after = -1;
};

TEST_CASE("owned_chunks: all batches are reserved before the first item moves")
{
    std::vector<counted> inbox;
    inbox.reserve(10);
    for (int i = 0; i != 10; ++i) inbox.emplace_back(shelf::moves);
    const auto batches =
        owned_chunks<shelf>(std::move(inbox), {.items = 3}, [](const counted&) { return 1; });
    CHECK(batches.size() == 4);
    CHECK(shelf::moves == 10);
    CHECK(shelf::ready_after == 0);
}

}  // namespace owned_chunks_test
