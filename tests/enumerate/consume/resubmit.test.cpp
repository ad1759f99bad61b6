// SPDX-License-Identifier: MIT
//
// resubmit and reprocess_all with every fault at every call of the store and of the send function.
//
// resubmit: each message is sent, the oldest first, and a message is sent again only if its outcome
// was unknown. reprocess_all: each event takes effect once. In the end no dead letter is left.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>

#include <waybill/consume/reprocess_all.hpp>
#include <waybill/consume/resubmit.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_store.hpp>

namespace resubmit_enumeration {
namespace {

using tests_support::brief;
using waybill::dead_letter;
using waybill::fault;
using waybill::testing::choices;
using waybill::testing::injected_fault;
using waybill::testing::store_call;
using memory = waybill::testing::memory_store<std::uint64_t>;
using run_outcome = dead_letter::run_report::run_outcome;

const waybill::partition_key key{"log", "test", "0"};

enum class wrong : std::uint8_t {
    nothing,
    removes_before_sending,
    removes_nothing,       // the store confirms a removal and does nothing
    confirms_what_failed,  // a failed send counts as accepted
    lists_newest_first,
    new_id_for_each_attempt,
    commits_with_lies,  // the store returns a wrong outcome of a commit
};

memory store_of(std::uint64_t letters)
{
    memory s;
    auto tx = s.begin();
    for (std::uint64_t n = 1; n <= letters; ++n) {
        dead_letter d;
        d.key = key;
        d.at = {n, ""};
        static_cast<void>(s.put(*tx, d));
    }
    static_cast<void>(tx->commit());
    return s;
}

template <class Store>
struct environment : waybill::testing::manual_environment {
    const Store* store = nullptr;
    bool stop_requested() const { return !store->alive(); }
};

// A store whose list or removal is wrong.
template <class Inner>
struct wrong_store {
    using transaction = typename Inner::transaction;
    Inner& inner;
    wrong w;

    auto begin() { return inner.begin(); }
    auto find(const waybill::partition_key& k, std::uint64_t n) { return inner.find(k, n); }
    auto put(transaction& tx, const dead_letter& d) { return inner.put(tx, d); }
    waybill::result<bool> remove(transaction& tx, const waybill::partition_key& k, std::uint64_t n)
    {
        if (w == wrong::removes_nothing) return true;
        return inner.remove(tx, k, n);
    }
    auto list(const waybill::partition_key& k, const std::optional<std::uint64_t>& after,
              std::uint64_t max_count)
    {
        auto r = inner.list(k, after, max_count);
        if (r && w == wrong::lists_newest_first) {
            for (std::size_t n = 0; n < r->size() / 2; ++n)
                std::swap((*r)[n], (*r)[r->size() - 1 - n]);
        }
        return r;
    }
};

struct result {
    std::vector<std::string> ids;
    std::vector<std::uint64_t> effects;
    std::size_t left = 0;
    std::uint64_t in_doubt = 0;
    std::uint64_t done = 0;
    std::uint32_t deaths = 0;
    bool finished = false;
};

constexpr std::uint64_t letters = 3;

// Runs one driver again until it has finished.
template <class Run>
result run(wrong w, choices& picks, std::uint32_t faults, Run&& driver)
{
    result r;
    memory kept = store_of(letters);
    const auto fault_of = [&](std::span<const injected_fault> all) {
        if (faults == 0) return injected_fault::none;
        const injected_fault f = all[picks.pick(static_cast<std::uint32_t>(all.size()))];
        if (f != injected_fault::none) --faults;
        return f;
    };
    waybill::testing::faulty flaky(kept, [&](store_call c) {
        return fault_of(w == wrong::commits_with_lies ? waybill::testing::faults_and_lies_of(c)
                                                      : waybill::testing::faults_of(c));
    });
    for (std::uint32_t round = 0; round != 5 && !r.finished; ++round) {
        flaky.revive();
        environment<decltype(flaky)> env;
        env.store = &flaky;
        wrong_store<decltype(flaky)> store{flaky, w};
        dead_letter::run_report report;
        const auto send_fault = [&] {
            return fault_of(waybill::testing::faults_of(store_call::put));
        };
        driver(store, flaky, kept, send_fault, env, report, r);
        r.in_doubt += report.in_doubt;
        r.done += report.done;
        r.deaths += flaky.alive() ? 0U : 1U;
        r.finished = report.outcome == run_outcome::finished;
    }
    r.left = kept.letters().size();
    r.effects = kept.records();
    return r;
}

result resubmitted(wrong w, choices& picks, std::uint32_t faults)
{
    return run(w, picks, faults,
               [w](auto& store, auto& flaky, memory& kept, auto send_fault, auto& env, auto& report,
                   result& r) {
                   const auto send = [&](const dead_letter& l, std::string_view id) -> fault {
                       if (!flaky.alive()) return waybill::cancelled("dead");
                       if (w == wrong::removes_before_sending) {
                           auto tx = kept.begin();
                           static_cast<void>(kept.remove(*tx, key, l.at.sequence));
                           static_cast<void>(tx->commit());
                       }
                       const injected_fault f = send_fault();
                       if (f == injected_fault::dies_before) return flaky.die();
                       if (f == injected_fault::fails) {
                           if (w == wrong::confirms_what_failed) return {};
                           return waybill::infrastructure("down");
                       }
                       r.ids.emplace_back(id);
                       if (w == wrong::new_id_for_each_attempt)
                           r.ids.back() += std::to_string(r.ids.size());
                       if (f == injected_fault::dies_after) return flaky.die();
                       if (f == injected_fault::fails_though_done)
                           return waybill::infrastructure("no answer");
                       return {};
                   };
                   waybill::resubmit(store, send, {.keys = {key}, .page = 2}, env, report);
               });
}

result reprocessed(wrong w, choices& picks, std::uint32_t faults)
{
    return run(
        w, picks, faults,
        [](auto& store, auto& flaky, memory&, auto send_fault, auto& env, auto& report, result&) {
            const auto handle = [&](auto& tx, const dead_letter& l) -> fault {
                const injected_fault f = send_fault();
                if (f == injected_fault::dies_before) return flaky.die();
                if (f == injected_fault::fails) return waybill::infrastructure("down");
                if (tx.inner() != nullptr) tx.inner()->record(l.at.sequence);
                if (f == injected_fault::dies_after) return flaky.die();
                if (f == injected_fault::fails_though_done)
                    return waybill::infrastructure("no answer");
                return {};
            };
            waybill::reprocess_all(store, handle, {.keys = {key}, .page = 2}, env, report);
        });
}

std::string broken_resubmit(const result& r)
{
    if (!r.finished) return "not finished";
    if (r.left != 0) return "a dead letter is left";
    std::vector<std::string> distinct;
    for (const std::string& id : r.ids) {
        if (distinct.empty() || distinct.back() != id) distinct.push_back(id);
    }
    if (distinct != std::vector<std::string>{"log/test/0/1", "log/test/0/2", "log/test/0/3"})
        return "a message is lost, or out of order, or has another id";
    // After a death, the message in flight and one whose dead letter was not removed yet.
    if (r.ids.size() - distinct.size() > r.in_doubt + r.deaths) return "sent twice without a doubt";
    return {};
}

std::string broken_reprocess(const result& r)
{
    if (!r.finished) return "not finished";
    if (r.left != 0) return "a dead letter is left";
    if (r.effects != std::vector<std::uint64_t>{1, 2, 3}) return "not each effect once, in order";
    return {};
}

template <class Run, class Broken>
std::string first_broken(wrong w, std::uint32_t faults, Run&& run_one, Broken&& broken,
                         std::uint64_t* runs = nullptr)
{
    choices picks;
    do {
        const std::string b = broken(run_one(w, picks, faults));
        if (!b.empty()) return b + ": " + picks.line();
        if (runs != nullptr) ++*runs;
    } while (picks.next());
    return {};
}

constexpr std::uint32_t most_faults = brief ? 2 : 3;

TEST_CASE("resubmit: faults at any calls lose no message and repeat only those of unknown outcome")
{
    std::uint64_t runs = 0;
    CHECK(first_broken(wrong::nothing, most_faults, resubmitted, broken_resubmit, &runs) == "");
    CHECK(runs > (brief ? 1'000 : 90'000));
}

TEST_CASE("reprocess_all: faults at any calls: each event takes effect once")
{
    std::uint64_t runs = 0;
    CHECK(first_broken(wrong::nothing, most_faults, reprocessed, broken_reprocess, &runs) == "");
    CHECK(runs > (brief ? 1'000 : 90'000));
}

TEST_CASE("resubmit, reprocess_all: mutants are caught")
{
    for (const wrong w :
         {wrong::removes_before_sending, wrong::removes_nothing, wrong::confirms_what_failed,
          wrong::lists_newest_first, wrong::new_id_for_each_attempt, wrong::commits_with_lies}) {
        CAPTURE(static_cast<int>(w));
        CHECK(first_broken(w, 2, resubmitted, broken_resubmit) != "");
    }
    for (const wrong w :
         {wrong::removes_nothing, wrong::lists_newest_first, wrong::commits_with_lies}) {
        CAPTURE(static_cast<int>(w));
        CHECK(first_broken(w, 2, reprocessed, broken_reprocess) != "");
    }
}

}  // namespace
}  // namespace resubmit_enumeration
