// SPDX-License-Identifier: MIT
//
// Each allocation in turn fails, of the resend_buffer or of its sender, alone or with all that
// follow until the caller catches. No item is lost, and every item is reported once.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <set>
#include <vector>

#include <doctest/doctest.h>
#include <support/scarce_new.hpp>

#include <waybill/batch/send_all.hpp>

namespace send_all_memory_test {

using namespace waybill;

namespace scarce = tests_support::scarce;

namespace {

constexpr std::int64_t how_many = 40;

// Reads 0, 1, 2 ... once.
struct counter {
    using value_type = std::uint64_t;
    using difference_type = std::ptrdiff_t;
    std::uint64_t* at = nullptr;
    std::uint64_t operator*() const { return *at; }
    counter& operator++()
    {
        ++*at;
        return *this;
    }
    void operator++(int) { ++*at; }
    friend bool operator==(const counter& c, std::default_sentinel_t)
    {
        return *c.at == std::uint64_t{how_many};
    }
};

enum class mood { agreeable, small, small_and_silent, partial, busy };

// Drops repeated attempts with the same number, like brokers with duplicate detection.
struct broker {
    mood is = mood::agreeable;
    std::vector<int> got = std::vector<int>(how_many);
    std::set<std::uint64_t> seen{};
    std::uint64_t sends = 0;
    std::array<batch_sender::entry_fault, 1> fault{};

    template <class Batch>
    send_outcome operator()(const Batch& batch)
    {
        const std::uint64_t budget = scarce::left;
        scarce::left = scarce::plenty;  // its own allocations do not count
        send_outcome o = answer(batch);
        scarce::left = budget;
        return o;
    }

    template <class Batch>
    send_outcome answer(const Batch& batch)
    {
        ++sends;
        std::uint64_t bytes = 0;
        for (const std::uint64_t n : batch) bytes += 8 + n % 3;
        const bool large = bytes > 45;
        if (is == mood::small && large)
            return batch_sender::too_large{.actual = bytes, .limit = 45};
        if (is == mood::small_and_silent && large) return batch_sender::too_large{};
        if (is == mood::busy && sends % 2 == 0) return batch_sender::throttled{};
        const bool fresh = seen.insert(batch.attempt()).second;
        const bool in_part = is == mood::partial && batch.size() > 2;
        std::uint64_t place = 0;
        for (const std::uint64_t n : batch) {
            if (fresh && !(in_part && place == 1)) ++got[n];
            ++place;
        }
        if (!in_part) return batch_sender::accepted{};
        fault[0] = {1, fault_kind::transient};
        return waybill::batch_sender::partial{.failed = fault};
    }
};

// False if there was enough memory.
bool survives(std::uint64_t allocations_before, send_policy p, mood is)
{
    p.limit.bytes = 70;
    p.limit.items = 7;
    p.retry.max_attempts = 100;
    batch_sender s(p);
    broker b{.is = is};
    std::uint64_t read = 0;
    resend_buffer<counter, std::default_sentinel_t> box(counter{&read}, {});
    const auto size = [](std::uint64_t n) { return batch_sender::queued(5 + n % 3, n % 3); };
    bool failed = false;
    steady_time now{};
    std::vector<int> reported(how_many);  // how often the reports have each item
    scarce::left = allocations_before;
    for (int calls = 0; calls != 400 && !(s.finished() && box.pulled() == std::uint64_t{how_many});
         ++calls) {
        try {
            const send_report r = send_all(box, size, s, b, now);
            CHECK(!r.other_input);
            if (r.waiting) now = *r.waiting;
            for (const item_report& i : r.outcomes) {
                for (std::uint64_t n = i.items.first; n != i.items.end(); ++n) ++reported.at(n);
            }
        } catch (const std::bad_alloc&) {
            failed = true;
            scarce::left = scarce::plenty;
        }
    }
    scarce::left = scarce::plenty;
    CHECK(s.finished());
    CHECK(box.pulled() == std::uint64_t{how_many});
    CHECK(box.size() == 0);
    CHECK(std::count(reported.begin(), reported.end(), 1) == how_many);
    // If an answer could not be stored, the batch is sent again. An item that failed in it may have
    // arrived before. So it ends as in doubt, and stops its key.
    const auto times = [&](int n) { return std::count(b.got.begin(), b.got.end(), n); };
    CHECK(times(1) + times(0) == how_many);
    const bool undecided = is == mood::partial && failed;
    CHECK(times(0) <= (!undecided ? 0 : p.ordered ? how_many / 3 + 1 : 1));
    return failed;
}

}  // namespace

TEST_CASE("send_all: a failed allocation propagates, and loses and duplicates nothing")
{
    for (const mood is :
         {mood::agreeable, mood::small, mood::small_and_silent, mood::partial, mood::busy}) {
        for (const bool ordered : {false, true}) {
            for (const bool lasting : {false, true}) {
                scarce::fails_once = !lasting;
                CAPTURE(static_cast<int>(is));
                CAPTURE(ordered);
                CAPTURE(lasting);
                std::uint64_t n = 0;
                while (survives(n, {.item_overhead = 3, .ordered = ordered}, is)) ++n;
                CHECK(n > 8);  // there are some, whichever library it is
            }
        }
    }
    scarce::fails_once = false;
}

}  // namespace send_all_memory_test
