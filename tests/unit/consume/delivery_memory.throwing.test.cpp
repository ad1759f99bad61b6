// SPDX-License-Identifier: MIT
//
// A delivery that runs out of memory, at each of its allocations, one run after the other.
//
// The exception passes through. A caller that catches it starts over from the stored state, as
// after a crash. Each event has taken effect once, or has been handled at least once.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/scarce_new.hpp>

#include <waybill/consume.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/memory_store.hpp>

namespace delivery_memory_test {
namespace {

namespace scarce = tests_support::scarce;
using waybill::assignment;
using waybill::batch_outcome;
using waybill::fault;
using waybill::partition_key;
using waybill::position;
using inner_store = waybill::testing::memory_store<std::uint64_t>;

// Names and texts that are longer than the small buffer of a string.
const partition_key key{"a source with a rather long name", "a group with a rather long name",
                        "partition number seven, with a long name"};
const std::string long_reason(100, 'r');

// A remote store: a commit has enough memory, or there is an exception before or after it.
class store_type {
public:
    class transaction {
    public:
        explicit transaction(inner_store::transaction tx) : tx_(std::move(tx)) {}
        void record(std::uint64_t n) { tx_.record(n); }
        waybill::result<void> savepoint() { return tx_.savepoint(); }
        waybill::result<void> release_savepoint() { return tx_.release_savepoint(); }
        waybill::result<void> rollback_to_savepoint() { return tx_.rollback_to_savepoint(); }
        waybill::result<waybill::commit_outcome> commit()
        {
            scarce::one();
            auto answer = [&] {
                const scarce::pause enough;
                return tx_.commit();
            }();
            scarce::one();
            return answer;
        }
        void rollback() noexcept { tx_.rollback(); }
        inner_store::transaction& inner() { return tx_; }

    private:
        inner_store::transaction tx_;
    };

    waybill::result<transaction> begin()
    {
        scarce::one();
        return transaction(*kept.begin());
    }
    auto load(const partition_key& k) const { return kept.load(k); }
    auto advance(transaction& tx, const partition_key& k, const std::optional<position>& from,
                 const position& to, std::uint64_t epoch)
    {
        return kept.advance(tx.inner(), k, from, to, epoch);
    }
    auto put(transaction& tx, const waybill::dead_letter& d) { return kept.put(tx.inner(), d); }
    auto find(const partition_key& k, std::uint64_t sequence) const
    {
        return kept.find(k, sequence);
    }
    auto remove(transaction& tx, const partition_key& k, std::uint64_t sequence)
    {
        return kept.remove(tx.inner(), k, sequence);
    }
    auto list(const partition_key& k, const std::optional<std::uint64_t>& after,
              std::uint64_t most) const
    {
        return kept.list(k, after, most);
    }
    auto load_crash_record(const partition_key& k) const { return kept.load_crash_record(k); }
    auto store_crash_record(transaction& tx, const partition_key& k,
                            const waybill::crash_record& row)
    {
        return kept.store_crash_record(tx.inner(), k, row);
    }
    auto clear_crash_record(transaction& tx, const partition_key& k)
    {
        return kept.clear_crash_record(tx.inner(), k);
    }

    inner_store kept;
};
static_assert(waybill::checkpoint_store<store_type> && waybill::dead_letter_queue<store_type>);
static_assert(waybill::crash_record_store<store_type> &&
              waybill::savepoint_scope<store_type::transaction>);

struct event {
    std::uint64_t sequence;
};
constexpr std::uint64_t last_event = 8;
constexpr std::uint64_t bad_event = 3;

std::vector<event> from_behind(const std::optional<position>& p)
{
    std::vector<event> out;
    for (std::uint64_t n = p ? p->sequence + 1 : 1; n <= last_event && out.size() != 4; ++n)
        out.push_back({n});
    return out;
}

// A log and its store. The third event fails permanently, the fifth one only at first.
struct simulation {
    store_type store;
    bool fifth_failed = false;
    std::vector<std::uint64_t> handled;
    std::set<std::string, std::less<>> keys;

    fault says(std::uint64_t n)
    {
        if (n == bad_event) return waybill::permanent(long_reason);
        if (n == 5 && !std::exchange(fifth_failed, true))
            return waybill::transient("for now, and not for ever");
        return {};
    }

    // Delivers until the log is drained. Returns false if it does not end.
    bool in_transactions(std::uint64_t incarnation, const waybill::batch_policy& p)
    {
        for (int rounds = 0; rounds != 20; ++rounds) {
            const auto at = waybill::position_of(*store.load(key));
            if (at && at->sequence == last_event) return true;
            const assignment mine{key, at, 1, incarnation};
            const auto events = from_behind(at);
            const auto handle = [&](store_type::transaction& tx, const event& e) {
                tx.record(e.sequence);
                return says(e.sequence);
            };
            const auto r = waybill::process_batch(store, mine, events, handle, {}, p);
            if (r.outcome != batch_outcome::committed && r.outcome != batch_outcome::redeliver)
                return false;
        }
        return false;
    }

    bool at_least_once()
    {
        waybill::checkpoint_writer_for checkpoints(store);
        waybill::dead_letter_sink_for letters(store);
        for (int rounds = 0; rounds != 20; ++rounds) {
            const auto at = waybill::position_of(*store.load(key));
            if (at && at->sequence == last_event) return true;
            const assignment mine{key, at, 1};
            const auto events = from_behind(at);
            const auto handle = [&](const event& e, std::string_view id) {
                if (e.sequence == bad_event) return says(e.sequence);
                fault f = says(e.sequence);
                if (f.ok() && !keys.contains(id)) {  // the effect, and its key, at the same time
                    const scarce::pause enough;
                    keys.emplace(id);
                    handled.push_back(e.sequence);
                }
                return f;
            };
            const auto r =
                waybill::process_at_least_once(checkpoints, letters, mine, events, handle, {});
            if (r.outcome != batch_outcome::committed && r.outcome != batch_outcome::redeliver)
                return false;
        }
        return false;
    }

    // The final state: all effects in order, except the bad event, which is a letter.
    void check(const std::vector<std::uint64_t>& effects) const
    {
        CHECK(effects == std::vector<std::uint64_t>{1, 2, 4, 5, 6, 7, 8});
        REQUIRE(store.kept.letters().size() == 1);
        const auto& [row, letter] = *store.kept.letters().begin();
        CHECK(row.second == bad_event);
        CHECK(letter.kind == waybill::fault_kind::permanent);
        CHECK(letter.reason == long_reason);
        CHECK((*store.load(key))->at.sequence == last_event);
    }
};

// In each simulation another allocation of `run` is the first one that fails. Then `again` starts
// over with enough memory.
template <class Prepare, class Run, class Again, class Check>
std::uint64_t each_failure(Prepare prepare, Run run, Again again, Check check)
{
    for (std::uint64_t after = 0;; ++after) {
        auto w = prepare();
        bool well = false;
        // A CHECK in there would catch the exception.
        const bool failed = scarce::fails_after(after, [&] { well = run(w); });
        CHECK(well != failed);
        if (failed) again(w);
        check(w);
        if (!failed) return after;
        REQUIRE(after != 100'000);
    }
}

}  // namespace

TEST_CASE("delivery memory: process_batch applies each event once if any allocation fails")
{
    std::uint64_t all = 0;
    for (const bool savepoints : {true, false}) {
        for (const std::uint64_t first : {0U, 7U}) {
            for (const std::uint64_t second : {first, first == 0 ? first : first + 1}) {
                const waybill::batch_policy p{.savepoints = savepoints};
                const std::uint64_t failures =
                    each_failure([] { return simulation(); },
                                 [&](simulation& w) { return w.in_transactions(first, p); },
                                 [&](simulation& w) {
                                     // The stored data is complete, before anything is repaired.
                                     const auto at = *w.store.load(key);
                                     const std::uint64_t letters = w.store.kept.letters().size();
                                     CHECK((at ? at->at.sequence : 0) ==
                                           w.store.kept.records().size() + letters);
                                     CHECK(w.in_transactions(second, p));
                                 },
                                 [](const simulation& w) { w.check(w.store.kept.records()); });
                CHECK(failures > 25);
                all += failures;
            }
        }
    }
    MESSAGE(all);
}

TEST_CASE("delivery memory: process_at_least_once loses nothing, and duplicates no key")
{
    const std::uint64_t failures =
        each_failure([] { return simulation(); }, [](simulation& w) { return w.at_least_once(); },
                     [](simulation& w) {
                         const auto at = *w.store.load(key);
                         for (std::uint64_t n = 1; at && n <= at->at.sequence; ++n) {
                             bool there = n == bad_event && !w.store.kept.letters().empty();
                             for (const std::uint64_t h : w.handled) there = there || h == n;
                             CHECK(there);
                         }
                         CHECK(w.at_least_once());
                     },
                     [](const simulation& w) { w.check(w.handled); });
    CHECK(failures > 25);
    MESSAGE(failures);
}

namespace {

simulation drained()
{
    simulation w;
    (void)w.in_transactions(0, {});
    return w;
}

bool rewind_once(simulation& w)
{
    const auto at = waybill::position_of(*w.store.load(key));
    if (at->sequence == 4) return true;
    const auto r = waybill::rewind(w.store, {key, at, 1},
                                   position{4, "an offset of more than a few characters"});
    return r.outcome == waybill::rewind_report::outcome_type::rewound;
}

}  // namespace

TEST_CASE("delivery memory: rewind is complete or without effect")
{
    const std::uint64_t failures = each_failure(
        drained, rewind_once,
        [](simulation& w) {
            const std::uint64_t at = (*w.store.load(key))->at.sequence;
            CHECK((at == 4 || at == last_event));
            CHECK(rewind_once(w));
        },
        [](simulation& w) {
            CHECK((*w.store.load(key))->at.sequence == 4);
            CHECK(w.in_transactions(0, {}));
            CHECK(w.store.kept.records() ==
                  std::vector<std::uint64_t>{1, 2, 4, 5, 6, 7, 8, 5, 6, 7, 8});
        });
    CHECK(failures >= 4);
    MESSAGE(failures);
}

namespace {

waybill::reprocess_report::outcome_type reprocess_once(simulation& w, const fault& says)
{
    const auto fetch = [](const waybill::dead_letter& d) -> waybill::result<std::optional<event>> {
        return std::optional(event{d.at.sequence});
    };
    const auto handle = [&](store_type::transaction& tx, const event& e) {
        tx.record(100 + e.sequence);
        return says;
    };
    return waybill::reprocess(w.store, key, bad_event, fetch, handle, {}).outcome;
}

}  // namespace

TEST_CASE("delivery memory: in reprocess, effect and dead letter change together")
{
    using waybill::reprocess_report;
    const auto times = [](const simulation& w) {
        std::uint64_t n = 0;
        for (const std::uint64_t r : w.store.kept.records()) n += r == 100 + bad_event ? 1U : 0U;
        return n;
    };
    const std::uint64_t failures = each_failure(
        drained,
        [](simulation& w) {
            return reprocess_once(w, {}) == reprocess_report::outcome_type::handled;
        },
        [&](simulation& w) {
            CHECK(w.store.kept.letters().size() + times(w) == 1);
            const auto end = reprocess_once(w, {});
            CHECK((end == reprocess_report::outcome_type::handled ||
                   end == reprocess_report::outcome_type::absent));
        },
        [&](const simulation& w) {
            CHECK(w.store.kept.letters().empty());
            CHECK(times(w) == 1);
        });
    CHECK(failures >= 5);
    const fault bad = waybill::permanent(std::string(200, 'x'));
    const std::uint64_t more = each_failure(
        drained,
        [&](simulation& w) {
            return reprocess_once(w, bad) == reprocess_report::outcome_type::failed;
        },
        [&](simulation& w) {
            CHECK(w.store.kept.letters().size() == 1);
            CHECK(reprocess_once(w, bad) == reprocess_report::outcome_type::failed);
        },
        [&](const simulation& w) {
            CHECK(times(w) == 0);
            CHECK(w.store.kept.letters().begin()->second.reason == bad.text);
        });
    CHECK(more >= 8);
    const std::uint64_t both = failures + more;
    MESSAGE(both);
}

TEST_CASE("delivery memory: memory_store commits all or nothing")
{
    struct plain {
        inner_store store;
    };
    const auto commit = [](plain& p) {
        auto tx = *p.store.begin();
        const auto from = waybill::position_of(*p.store.load(key));
        const std::uint64_t n = from ? from->sequence : 0;
        tx.record(n + 1);
        tx.record(n + 2);
        (void)p.store.put(tx, {.key = key, .at = {n + 3, {}}, .reason = long_reason});
        (void)p.store.store_crash_record(tx, key, waybill::crash_record{});
        (void)p.store.advance(tx, key, from, {n + 4, "an offset of more than a few characters"}, 1);
        (void)tx.commit();
    };
    const auto whole = [](const plain& p, std::uint64_t times) {
        const auto at = *p.store.load(key);
        CHECK((at ? at->at.sequence : 0) == 4 * times);
        CHECK(p.store.records().size() == 2 * times);
        CHECK(p.store.letters().size() == times);
    };
    for (std::uint64_t after = 0;; ++after) {
        plain p;
        commit(p);
        const bool failed = scarce::fails_after(after, [&] { commit(p); });
        whole(p, failed ? 1 : 2);
        if (!failed) break;
    }
}

}  // namespace delivery_memory_test
