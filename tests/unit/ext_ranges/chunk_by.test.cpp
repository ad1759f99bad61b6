// SPDX-License-Identifier: MIT

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <range/v3/algorithm/count_if.hpp>
#include <range/v3/algorithm/for_each.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/all.hpp>
#include <range/v3/view/cache1.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/getlines.hpp>
#include <range/v3/view/istream.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>

#include <waybill/batch/chunk_by.hpp>
#include <waybill/ext/ranges.hpp>

namespace ext_ranges_test {

/// Two brackets, and a comma before each element but the first.
struct array_of {
    struct state {
        bool any = false;
        friend bool operator==(const state&, const state&) = default;
    };
    std::uint64_t envelope(std::uint64_t) const { return 2; }
    std::uint64_t delta(const state& s, std::uint64_t n) const { return n + (s.any ? 1 : 0); }
    void push(state& s, std::uint64_t) const { s.any = true; }
};

namespace {

using waybill::batch_close_reason;
using waybill::batch_limits;

struct own_size {
    std::uint64_t operator()(std::uint64_t n) const { return n; }
};

/// Numbers that can be read once; counts how many have been.
class source {
public:
    source(std::vector<std::uint64_t> all, std::size_t& reads)
        : all_(std::move(all)), reads_(&reads)
    {
    }

    class iterator {
    public:
        using iterator_concept = std::input_iterator_tag;
        using iterator_category = std::input_iterator_tag;
        using value_type = std::uint64_t;
        using difference_type = std::ptrdiff_t;
        using pointer = const std::uint64_t*;
        using reference = std::uint64_t;

        iterator() = default;
        explicit iterator(source& s) : source_(&s) { source_->read(); }
        std::uint64_t operator*() const { return source_->all_[source_->at_ - 1]; }
        iterator& operator++()
        {
            source_->read();
            return *this;
        }
        void operator++(int) { source_->read(); }
        friend bool operator==(const iterator& i, std::default_sentinel_t) { return i.over(); }

    private:
        bool over() const { return source_->at_ > source_->all_.size(); }

        source* source_ = nullptr;
    };

    iterator begin() { return iterator(*this); }
    std::default_sentinel_t end() const { return {}; }

private:
    void read()
    {
        ++at_;
        if (at_ <= all_.size()) ++*reads_;
    }

    std::vector<std::uint64_t> all_;
    std::size_t* reads_;
    std::size_t at_ = 0;
};

struct cut {
    std::vector<std::uint64_t> items;
    std::uint64_t bytes;
    bool fits;
    batch_close_reason closed;
    friend bool operator==(const cut&, const cut&) = default;
};

template <class Chunks>
std::vector<cut> cuts(Chunks&& chunks)
{
    std::vector<cut> all;
    for (auto&& c : chunks) {
        cut one{{}, c.bytes, c.fits, c.closed};
        for (const std::uint64_t n : c) one.items.push_back(n);
        all.push_back(std::move(one));
    }
    return all;
}

TEST_CASE("a multi-pass range gives chunks that refer to it")
{
    const std::vector<std::uint64_t> sizes{1, 2, 3, 9, 1};
    const batch_limits l{.bytes = 4};
    auto chunks = sizes | waybill::views::chunk_by(l, own_size{});
    static_assert(ranges::forward_range<decltype(chunks)>);
    static_assert(ranges::view_<decltype(chunks)>);
    static_assert(std::same_as<ranges::range_value_t<decltype(chunks)>,
                               waybill::chunk<std::vector<std::uint64_t>::const_iterator>>);
    CHECK(cuts(chunks) == cuts(waybill::chunk_by(sizes, l, own_size{})));
    CHECK(&*(*chunks.begin()).begin() == &sizes[0]);
    CHECK(cuts(chunks) == cuts(chunks));

    const auto unchanging = chunks;
    CHECK(cuts(unchanging) == cuts(chunks));
    CHECK(cuts(waybill::views::chunk_by(sizes, l, own_size{})) == cuts(chunks));

    const std::list<std::uint64_t> list(sizes.begin(), sizes.end());
    CHECK(cuts(list | waybill::views::chunk_by(l, own_size{})) == cuts(chunks));
    CHECK(cuts(sizes | ranges::views::take(3) | waybill::views::chunk_by(l, own_size{})).size() ==
          2);
}

TEST_CASE("temporary values of a transform can be cut")
{
    const std::vector<int> numbers{1, 2, 3, 4};
    const auto chunks =
        numbers | ranges::views::filter([](int n) { return n != 2; }) |
        ranges::views::transform([](int n) { return std::string(std::size_t(n), 'x'); }) |
        waybill::views::chunk_by(batch_limits{.bytes = 4}, &std::string::size) |
        ranges::views::transform([](const auto& c) { return c.bytes; }) | ranges::to<std::vector>();
    CHECK(chunks == std::vector<std::uint64_t>{4, 4});
}

TEST_CASE("a single-pass range gives batches that own their items")
{
    std::size_t reads = 0;
    source in({1, 2, 3, 9, 1}, reads);
    auto batches = in | waybill::views::chunk_by(batch_limits{.bytes = 4}, own_size{});
    static_assert(ranges::input_range<decltype(batches)> &&
                  !ranges::forward_range<decltype(batches)>);
    static_assert(std::same_as<ranges::range_value_t<decltype(batches)>,
                               waybill::owned_chunk<std::uint64_t>>);
    CHECK(reads == 0);
    const std::vector<cut> expected{
        {{1, 2}, 3, true, batch_close_reason::bytes},
        {{3}, 3, true, batch_close_reason::bytes},
        {{9}, 9, false, batch_close_reason::bytes},
        {{1}, 1, true, batch_close_reason::end},
    };
    CHECK(cuts(batches) == expected);
    CHECK(reads == 5);
    CHECK(batches.begin() == batches.end());
}

TEST_CASE("at most one item is read beyond a batch")
{
    std::size_t reads = 0;
    source in({2, 2, 3, 9, 1, 1, 1, 1}, reads);
    auto batches = in | waybill::views::chunk_by(batch_limits{.bytes = 4, .items = 3}, own_size{});
    auto at = batches.begin();
    CHECK(reads == 3);  // 2 2 | 3
    CHECK(at->size() == 2);
    CHECK(reads == 3);
    ++at;
    CHECK(reads == 4);  // 3 | 9
    ++at;
    CHECK(at->fits == false);
    CHECK(reads == 4);  // no item goes with one that is too large
    ++at;
    CHECK(reads == 7);  // 1 1 1, which is the maximum
    CHECK(at->closed == batch_close_reason::items);
    ++at;
    CHECK(reads == 8);
    CHECK(at->closed == batch_close_reason::end);
    CHECK(at->items == std::vector<std::uint64_t>{1});
    ++at;
    CHECK(at == batches.end());
    CHECK(batches.begin() == batches.end());
}

using sequence = std::vector<std::uint64_t>;

/// The first batch; then the loop ends.
template <class Batches>
sequence one_of(Batches&& batches)
{
    for (auto& b : batches) return b.items;
    return {};
}

TEST_CASE("a second loop continues after the last batch of the first")
{
    std::size_t reads = 0;
    source in({1, 2, 3, 4, 5, 6, 7}, reads);
    auto batches = in | waybill::views::chunk_by(batch_limits{.items = 2}, own_size{});
    CHECK(one_of(batches) == sequence{1, 2});
    CHECK(one_of(batches) == sequence{3, 4});
    // A check for the end does not read the next item.
    CHECK(batches.begin() != batches.end());
    CHECK(reads == 6);
    CHECK(one_of(batches) == sequence{5, 6});
    CHECK(cuts(batches) == std::vector<cut>{{{7}, 7, true, batch_close_reason::end}});
    CHECK(one_of(batches).empty());

    // Items that a later view has cut and not read are there for the next one.
    source again({1, 2, 3, 4, 5}, reads);
    auto more = again | waybill::views::chunk_by(batch_limits{.items = 2}, own_size{});
    CHECK(cuts(more | ranges::views::take(1)).size() == 1);
    CHECK(one_of(more) == sequence{3, 4});
    CHECK(one_of(more) == sequence{5});
    // A skipped batch is skipped without being read.
    source third({1, 2, 3}, reads);
    auto passed = third | waybill::views::chunk_by(batch_limits{.items = 2}, own_size{});
    auto at = passed.begin();
    ++at;
    CHECK(at->items == sequence{3});
}

TEST_CASE("copies and moved-to views of a single-pass range share its position")
{
    std::size_t reads = 0;
    for (const batch_limits l :
         {batch_limits{.items = 2}, batch_limits{.bytes = 2}}) {  // with an item held, too
        const auto one = [](std::uint64_t) { return 1; };
        source in({1, 2, 3, 4, 5, 6, 7, 8}, reads);
        auto batches = in | waybill::views::chunk_by(l, one);
        auto early = batches;
        CHECK(one_of(batches) == sequence{1, 2});
        auto copy = batches;
        CHECK(one_of(copy) == sequence{3, 4});
        auto moved = std::move(batches);
        CHECK(one_of(moved) == sequence{5, 6});
        batches = early;
        CHECK(one_of(batches) == sequence{7, 8});
        CHECK(one_of(early).empty());
    }

    // Its iterators stay good while any of them is there.
    std::istringstream text("a\nb\nc");
    auto lines = ranges::getlines(text) |
                 ranges::views::transform([](const std::string& s) { return s + "!"; }) |
                 waybill::views::chunk_by(batch_limits{.items = 1}, &std::string::size);
    auto at = lines.begin();
    const auto elsewhere = std::make_unique<decltype(lines)>(std::move(lines));
    CHECK(at->items == std::vector<std::string>{"a!"});
    ++at;
    CHECK(at->items == std::vector<std::string>{"b!"});
    CHECK(elsewhere->begin()->items == std::vector<std::string>{"c!"});
    CHECK(elsewhere->begin() == elsewhere->end());

    decltype(lines) none;
    CHECK(none.begin() == none.end());
}

TEST_CASE("an exception during iteration loses and repeats no item")
{
    for (int bad = 0; bad < 24; ++bad) {
        CAPTURE(bad);
        std::size_t reads = 0;
        int calls = 0;
        const auto stumble = [&] {
            if (calls++ == bad) throw std::runtime_error("once");
        };
        source in({1, 2, 3, 4, 5}, reads);
        auto batches = in | ranges::views::transform([&](std::uint64_t n) {
                           stumble();
                           return n;
                       }) |
                       waybill::views::chunk_by(
                           [&] {
                               stumble();
                               return batch_limits{.bytes = 6};
                           },
                           [&](std::uint64_t n) {
                               stumble();
                               return n;
                           });
        std::vector<sequence> all;
        for (int loop = 0; loop < 2; ++loop) {
            try {
                for (auto& b : batches) all.push_back(b.items);
            } catch (const std::runtime_error&) {
            }
        }
        CHECK(all == std::vector<sequence>{{1, 2, 3}, {4}, {5}});
        CHECK(reads == 5);
    }
}

TEST_CASE("limits may be written in place")
{
    const sequence sizes{1, 1, 1, 5};
    CHECK(cuts(sizes | waybill::views::chunk_by({.bytes = 2}, own_size{})).size() == 3);
    CHECK(cuts(waybill::views::chunk_by(sizes, {.bytes = 2}, own_size{})).size() == 3);
    std::size_t reads = 0;
    source in(sizes, reads);
    CHECK(cuts(in | waybill::views::chunk_by({.bytes = 2}, own_size{})).size() == 3);
    source other(sizes, reads);
    CHECK(cuts(waybill::views::chunk_by(other, {.items = 3}, own_size{})).size() == 2);
}

TEST_CASE("a batch that is full at the end of the range is the last")
{
    std::size_t reads = 0;
    source in({1, 1}, reads);
    auto all = cuts(in | waybill::views::chunk_by(batch_limits{.items = 2}, own_size{}));
    REQUIRE(all.size() == 1);
    CHECK(all[0].closed == batch_close_reason::items);
    source none({}, reads);
    CHECK(cuts(none | waybill::views::chunk_by(batch_limits{}, own_size{})).empty());
}

TEST_CASE("each item is made once, and measured once for each batch that it is tried in")
{
    std::istringstream text("a\nbb\n\nccc\nd");
    int made = 0;
    int measured = 0;
    auto batches = ranges::getlines(text) | ranges::views::transform([&](const std::string& line) {
                       ++made;
                       return line + "!";
                   }) |
                   waybill::views::chunk_by(batch_limits{.bytes = 5}, [&](const std::string& s) {
                       ++measured;
                       return s.size();
                   });
    std::vector<std::vector<std::string>> all;
    for (auto& b : batches) all.push_back(std::move(b.items));
    const std::vector<std::vector<std::string>> expected{{"a!", "bb!"}, {"!", "ccc!"}, {"d!"}};
    CHECK(all == expected);
    CHECK(made == 5);
    CHECK(measured == 7);  // two did not fit at first
}

TEST_CASE("each chunk is cut with the current limits and sizes")
{
    const std::vector<std::uint64_t> sizes(12, 10);
    for (const bool once : {false, true}) {
        CAPTURE(once);
        std::uint64_t header = 0;
        std::uint64_t most = 40;
        const auto size = [&](std::uint64_t n) { return n + header; };
        const auto newest = [&] { return batch_limits{.bytes = most}; };
        std::vector<std::size_t> counts;
        const auto learn = [&](std::size_t n) {
            counts.push_back(n);
            if (counts.size() == 1) header = 10;
            if (counts.size() == 2) most = 60;
        };
        if (once) {
            std::size_t reads = 0;
            source in(sizes, reads);
            for (auto& b : in | waybill::views::chunk_by(newest, size)) learn(b.size());
        } else {
            for (auto c : sizes | waybill::views::chunk_by(newest, size)) learn(c.count);
        }
        CHECK(counts == std::vector<std::size_t>{4, 2, 3, 3});
    }
}

TEST_CASE("move-only items are moved")
{
    std::istringstream text("1 2 3 4");
    auto batches = ranges::istream<int>(text) |
                   ranges::views::transform([](int n) { return std::make_unique<int>(n); }) |
                   waybill::views::chunk_by(batch_limits{.items = 3},
                                            [](const std::unique_ptr<int>&) { return 1; });
    std::vector<std::unique_ptr<int>> all;
    std::size_t count = 0;
    for (auto& b : batches) {
        ++count;
        for (auto& p : b) all.push_back(std::move(p));
    }
    CHECK(count == 2);
    REQUIRE(all.size() == 4);
    CHECK(*all[3] == 4);
}

TEST_CASE("further views follow the batches, and may end early")
{
    std::size_t reads = 0;
    source in(std::vector<std::uint64_t>(10, 1), reads);
    const auto sums = in | waybill::views::chunk_by(batch_limits{.items = 2}, own_size{}) |
                      ranges::views::transform([](auto& b) { return b.bytes; }) |
                      ranges::views::take(2) | ranges::to<std::vector>();
    CHECK(sums == std::vector<std::uint64_t>{2, 2});
    CHECK(reads <= 6);  // take() reads one batch more than it returns

    // cache1 makes elements of a transform readable once: each is made once.
    const std::vector<int> numbers{1, 2, 3};
    int made = 0;
    auto batches = numbers | ranges::views::transform([&](int n) {
                       ++made;
                       return std::uint64_t(n);
                   }) |
                   ranges::views::cache1 |
                   waybill::views::chunk_by(batch_limits{.bytes = 3}, own_size{});
    CHECK(cuts(batches).size() == 2);
    CHECK(made == 3);
}

TEST_CASE("extreme limits and sizes terminate, and keep the order")
{
    std::size_t reads = 0;
    const auto negative = [](std::uint64_t n) { return n == 2 ? -1 : 1; };
    source in({1, 2, 3}, reads);
    auto all = cuts(in | waybill::views::chunk_by(batch_limits{}, negative));
    REQUIRE(all.size() == 3);
    CHECK_FALSE(all[1].fits);
    source zero({1, 2}, reads);
    CHECK(cuts(zero | waybill::views::chunk_by(batch_limits{.items = 0}, own_size{})).size() == 2);
    source narrow({1, 2}, reads);
    for (auto& c : narrow | waybill::views::chunk_by(batch_limits{.bytes = 0}, own_size{})) {
        CHECK(c.size() == 1);
        CHECK_FALSE(c.fits);
    }
}

TEST_CASE("single-pass and multi-pass ranges are cut alike, for random sizes")
{
    std::mt19937_64 dice(7);
    for (int round = 0; round < 2'000; ++round) {
        std::vector<std::uint64_t> sizes(dice() % 30);
        for (auto& n : sizes) n = dice() % 12;
        const batch_limits l{.bytes = dice() % 30,
                             .items = dice() % 6,
                             .single = dice() % 3 == 0 ? dice() % 12 : waybill::unlimited,
                             .envelope = dice() % 4};
        std::size_t reads = 0;
        source in(sizes, reads);
        const std::vector<cut> walked = cuts(waybill::chunk_by(sizes, l, own_size{}));
        std::vector<cut> read = cuts(in | waybill::views::chunk_by(l, own_size{}));
        CHECK(cuts(sizes | waybill::views::chunk_by(l, own_size{})) == walked);
        // A single-pass range does not read ahead to find out that a batch was the last.
        if (!read.empty() && read.back().fits && read.back().closed == batch_close_reason::items) {
            read.back().closed = walked.back().closed;
        }
        REQUIRE(read == walked);
        REQUIRE(reads == sizes.size());
    }
}

TEST_CASE("a batch of the previous size reuses its memory")
{
    std::size_t reads = 0;
    source in(std::vector<std::uint64_t>(40, 1), reads);
    const std::uint64_t* data = nullptr;
    for (auto& b : in | waybill::views::chunk_by(batch_limits{.items = 8}, own_size{})) {
        if (data) CHECK(b.items.data() == data);
        data = b.items.data();
    }
}

TEST_CASE("a framing gives the same batches for single-pass and multi-pass ranges")
{
    const sequence sizes{3, 3, 2, 9, 8, 1};
    const batch_limits l{.bytes = 10};
    const std::vector<cut> expected{
        {{3, 3}, 9, true, batch_close_reason::bytes}, {{2}, 4, true, batch_close_reason::bytes},
        {{9}, 11, false, batch_close_reason::bytes},  {{8}, 10, true, batch_close_reason::bytes},
        {{1}, 3, true, batch_close_reason::end},
    };
    CHECK(cuts(sizes | waybill::views::chunk_by(l, array_of{})) == expected);
    CHECK(cuts(waybill::views::chunk_by(sizes, l, array_of{})) == expected);
    std::size_t reads = 0;
    source in(sizes, reads);
    CHECK(cuts(in | waybill::views::chunk_by(l, array_of{})) == expected);
    CHECK(reads == sizes.size());
}

TEST_CASE("the limits may shrink and grow during iteration, also with a framing")
{
    const sequence sizes(12, 1);
    std::size_t reads = 0;
    source in(sizes, reads);
    batch_limits now{.items = 6};
    std::vector<std::size_t> counts;
    for (auto& b : in | waybill::views::chunk_by([&now] { return now; }, array_of{})) {
        counts.push_back(b.size());
        now = counts.size() == 1 ? batch_limits{.bytes = 6} : batch_limits{};
    }
    CHECK(counts == std::vector<std::size_t>{6, 2, 4});

    // Fewer are allowed than are in it already.
    source other(sizes, reads);
    std::size_t asked = 0;
    const auto fewer = [&asked] { return batch_limits{.items = ++asked < 5 ? 100u : 2u}; };
    auto batches = other | waybill::views::chunk_by(fewer, own_size{});
    auto at = batches.begin();
    CHECK(at->size() == 4);
    CHECK(at->closed == batch_close_reason::items);
    ++at;
    CHECK(at->size() == 2);
}

TEST_CASE("integers need no size function")
{
    const sequence sizes{1, 2, 3, 9, 1};
    const batch_limits l{.bytes = 4};
    const auto expected = cuts(sizes | waybill::views::chunk_by(l, own_size{}));
    CHECK(cuts(sizes | waybill::views::chunk_by(l)) == expected);
    CHECK(cuts(sizes | waybill::views::chunk_by({.bytes = 4})) == expected);
    CHECK(cuts(waybill::views::chunk_by(sizes, l)) == expected);
    CHECK(cuts(waybill::views::chunk_by(sizes, {.bytes = 4})) == expected);
    std::size_t reads = 0;
    source in(sizes, reads);
    CHECK(cuts(in | waybill::views::chunk_by(l)) == expected);
    source other(sizes, reads);
    CHECK(cuts(waybill::views::chunk_by(other, l)) == expected);
    CHECK(cuts(sizes | waybill::views::chunk_by([] { return batch_limits{.bytes = 4}; })) ==
          expected);

    // Runs that are long enough for blocks, through a pipe and not.
    const std::vector<std::uint32_t> many(10'000, 7);
    std::vector<std::uint64_t> counts;
    for (auto c : many | waybill::views::chunk_by({.bytes = 21'000})) counts.push_back(c.count);
    CHECK(counts == std::vector<std::uint64_t>{3'000, 3'000, 3'000, 1'000});
}

TEST_CASE("the chunks of the core are a range for views and algorithms of range-v3")
{
    const sequence sizes{1, 2, 3, 9, 1};
    const auto range = waybill::chunk_by(sizes, {.bytes = 4});
    static_assert(ranges::forward_range<decltype(range)>);
    CHECK(ranges::distance(range) == 4);
    CHECK(ranges::count_if(range, [](const auto& c) { return c.fits; }) == 3);
    std::uint64_t bytes = 0;
    ranges::for_each(range, [&bytes](const auto& c) { bytes += c.bytes; });
    CHECK(bytes == 16);
    const auto counts =
        ranges::views::all(range) | ranges::views::filter([](const auto& c) { return c.fits; }) |
        ranges::views::transform([](const auto& c) { return c.count; }) | ranges::to<std::vector>();
    CHECK(counts == sequence{2, 1, 1});
}

TEST_CASE("an exception of a framing loses and repeats no item")
{
    struct stumbling : array_of {
        std::uint64_t delta(const state& s, std::uint64_t n) const
        {
            if ((*calls)++ == bad) throw std::runtime_error("once");
            return array_of::delta(s, n);
        }
        void push(state& s, std::uint64_t n) const
        {
            array_of::push(s, n);
            if ((*calls)++ == bad) throw std::runtime_error("once");
        }
        int* calls = nullptr;
        int bad = 0;
    };
    for (int bad = 0; bad < 24; ++bad) {
        CAPTURE(bad);
        std::size_t reads = 0;
        int calls = 0;
        stumbling f;
        f.calls = &calls;
        f.bad = bad;
        source in({1, 2, 3, 90, 4}, reads);
        auto batches = in | waybill::views::chunk_by(batch_limits{.bytes = 6}, f);
        std::vector<sequence> all;
        for (int loop = 0; loop < 2; ++loop) {
            try {
                for (auto& b : batches) all.push_back(b.items);
            } catch (const std::runtime_error&) {
            }
        }
        CHECK(all == std::vector<sequence>{{1, 2}, {3}, {90}, {4}});
        CHECK(reads == 5);
    }
}

template <class R, class L, class F>
concept chunkable =
    requires(R&& r, L l, F f) { static_cast<R&&>(r) | waybill::views::chunk_by(l, f); };
static_assert(chunkable<std::vector<std::uint64_t>&, batch_limits, own_size>);
static_assert(chunkable<std::vector<std::uint64_t>&, std::function<batch_limits()>, own_size>);
static_assert(chunkable<source&, batch_limits, own_size>);
static_assert(!chunkable<std::vector<std::uint64_t>, batch_limits, own_size>);  // would be gone
static_assert(
    !chunkable<std::vector<std::string>&, batch_limits, own_size>);  // no size of a string
static_assert(chunkable<std::vector<std::uint64_t>&, batch_limits, array_of>);
static_assert(chunkable<source&, batch_limits, array_of>);
static_assert(!chunkable<std::vector<std::string>&, batch_limits, array_of>);
static_assert(chunkable<std::vector<int>&, batch_limits, std::identity>);
static_assert(!chunkable<std::vector<std::string>&, batch_limits, std::identity>);

TEST_CASE("the guide's example: lines of a stream as batches")
{
    std::istringstream in("aa\nbbb\ncccccccccc\nd\n");
    const waybill::batch_limits limits{.bytes = 6};
    std::vector<std::size_t> sent;
    std::vector<std::string> elsewhere;
    const auto send = [&](const auto& batch) { sent.push_back(batch.size()); };
    const auto store_elsewhere = [&](const std::string& line) { elsewhere.push_back(line); };

    //! [ext_batches]
    for (auto&& batch : ranges::getlines(in) | waybill::views::chunk_by(limits, &std::string::size))
        batch.fits ? send(batch) : store_elsewhere(*batch.begin());
    //! [ext_batches]
    CHECK(sent == std::vector<std::size_t>{2, 1});
    CHECK(elsewhere == std::vector<std::string>{"cccccccccc"});
}

}  // namespace
}  // namespace ext_ranges_test
