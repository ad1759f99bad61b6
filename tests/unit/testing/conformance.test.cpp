// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <support/wrong_store.hpp>
#include <waybill/testing/conformance.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>
#include <waybill/testing/outage_conformance.hpp>

namespace conformance_test {
namespace {

using tests_support::flaw;
using tests_support::wrong_store;

std::vector<std::string> rules_broken_by(flaw f, bool with_second = true)
{
    const auto make = [f] { return wrong_store(f); };
    if (!with_second) return waybill::testing::conformance(make);
    wrong_store shared;
    auto broken = waybill::testing::conformance(
        make,
        [&](wrong_store& s) {
            shared = s;
            return s;
        },
        // Whoever waits for a lock waits until the other one has committed.
        [&](auto waits, auto commits) {
            bool done = false;
            const auto once = [&] {
                if (!std::exchange(done, true)) commits();
            };
            shared.meanwhile(once);
            waits();
            once();
            shared.meanwhile({});
        });
    const auto down = waybill::testing::outage_conformance(make, [](wrong_store& s) { s.break_down(); });
    broken.insert(broken.end(), down.begin(), down.end());
    return broken;
}

std::string all(const std::vector<std::string>& rules)
{
    std::string text;
    for (const auto& r : rules) text += r + "\n";
    return text;
}

// A store of checkpoints alone, one of attempts alone, and one of dead letters alone.
struct only_checkpoints {
    using transaction = wrong_store::transaction;
    wrong_store behind{flaw::none};
    auto begin() { return behind.begin(); }
    auto load(const waybill::partition_key& k) { return behind.load(k); }
    auto advance(transaction& tx, const waybill::partition_key& k,
                 const std::optional<waybill::position>& from, const waybill::position& to, std::uint64_t epoch)
    {
        return behind.advance(tx, k, from, to, epoch);
    }
};
struct only_attempts {
    using transaction = wrong_store::transaction;
    wrong_store behind{flaw::none};
    auto begin() { return behind.begin(); }
    auto attempted(const waybill::partition_key& k) { return behind.attempted(k); }
    auto note(transaction& tx, const waybill::partition_key& k, const waybill::attempt& a) { return behind.note(tx, k, a); }
    auto forget(transaction& tx, const waybill::partition_key& k) { return behind.forget(tx, k); }
};
struct only_letters {
    using transaction = wrong_store::transaction;
    wrong_store behind{flaw::none};
    auto begin() { return behind.begin(); }
    auto put(transaction& tx, const waybill::dead_letter& d) { return behind.put(tx, d); }
    auto find(const waybill::partition_key& k, std::uint64_t n) { return behind.find(k, n); }
};

TEST_CASE("conformance: the memory store conforms")
{
    using store = waybill::testing::memory_store<std::string>;
    const auto make = [] { return store(); };
    CHECK(all(waybill::testing::conformance(make)) == "");
    CHECK(all(waybill::testing::conformance(make, [](store& s) -> store& { return s; })) == "");
}

TEST_CASE("conformance: a faulty store in which nothing goes wrong conforms")
{
    using store = waybill::testing::memory_store<std::string>;
    const auto fine = [](waybill::testing::store_call) { return waybill::testing::mishap::none; };
    store kept;
    const auto make = [&] {
        kept = store();
        return waybill::testing::faulty(kept, fine);
    };
    const auto again = [&](auto&) { return waybill::testing::faulty(kept, fine); };
    CHECK(all(waybill::testing::conformance(make, again)) == "");
}

TEST_CASE("conformance: right stores conform, with one writer at a time as well")
{
    CHECK(all(rules_broken_by(flaw::none)) == "");
    CHECK(all(rules_broken_by(flaw::none, false)) == "");
    CHECK(all(rules_broken_by(flaw::only_one_transaction)) == "");
    CHECK(all(waybill::testing::conformance([] { return only_checkpoints{}; })) == "");
    CHECK(all(waybill::testing::conformance([] { return only_letters{}; })) == "");
    CHECK(all(waybill::testing::conformance([] { return only_attempts{}; })) == "");
}

TEST_CASE("conformance: every flaw is caught, and by name")
{
    const struct {
        flaw wrong;
        const char* caught_by;
    } cases[] = {
        {flaw::only_forward, "from something earlier than what is stored is refused"},
        {flaw::no_guard, "from something where nothing is stored is refused"},
        {flaw::absent_is_anything, "from absent is refused where something is stored"},
        {flaw::checked_once, "of two transactions with the same `from` at most one takes effect"},
        {flaw::no_epoch, "a lower epoch than the stored one is refused"},
        {flaw::epoch_forgotten, "stores the epoch"},
        {flaw::offset_compared, "offsets are not compared"},
        {flaw::offset_dropped, "answers what was committed, sequence, offset and epoch"},
        {flaw::absent_is_zero, "a checkpoint that was never written is absent"},
        {flaw::zero_is_absent, "sequence numbers are 64 bits wide, from 0"},
        {flaw::sequence_32_bits, "sequence numbers are 64 bits wide"},
        {flaw::sequence_is_a_double, "sequence numbers are 64 bits wide"},
        {flaw::group_forgotten, "checkpoints of different keys are independent"},
        {flaw::key_concatenated, "checkpoints of different keys are independent"},
        {flaw::key_ignores_case, "checkpoints of different keys are independent"},
        {flaw::put_is_forgotten, "put: what is committed is found again"},
        {flaw::put_keeps_the_first, "replaces the first, every field"},
        {flaw::put_refuses_the_second, "a second dead letter of the same event is no error"},
        {flaw::put_adds_a_row, "replaces the first, every field"},
        {flaw::put_at_once, "a dead letter is gone after a rollback"},
        {flaw::advance_at_once, "a transaction that goes out of scope is rolled back"},
        {flaw::letters_by_sequence, "dead letters are told apart by each part of the key"},
        {flaw::text_ends_at_nul, "takes any bytes"},
        {flaw::text_of_64_kb, "texts of a megabyte"},
        {flaw::text_is_utf8, "takes any bytes"},
        {flaw::tries_forgotten, "replaces the first, every field"},
        {flaw::time_in_seconds, "replaces the first, every field"},
        {flaw::undo_does_nothing, "undo removes what was written since the savepoint"},
        {flaw::undo_removes_all, "undo keeps what was written before the savepoint"},
        {flaw::release_removes, "release keeps what was written"},
        {flaw::rollback_commits, "rollback removes what was written"},
        {flaw::scope_commits, "a transaction that goes out of scope is rolled back"},
        {flaw::commit_lies, "answers what was committed"},
        {flaw::commit_after_rollback, "a commit after a rollback does nothing"},
        {flaw::moved_from_commits, "a transaction that was moved from commits nothing"},
        {flaw::advance_before_lock, "of two transactions with the same `from` that meet at most one takes effect"},
        {flaw::remove_before_lock, "remove the same letter and meet at most one takes effect"},
        {flaw::outage_is_absent, "load: a store that cannot be reached is an error"},
        {flaw::outage_is_absent, "find: a store that cannot be reached is an error"},
        {flaw::outage_is_absent, "list: a store that cannot be reached is an error"},
        {flaw::outage_is_absent, "attempted: a store that cannot be reached is an error"},
        {flaw::outage_is_a_conflict, "advance: a store that cannot be reached is an error"},
        {flaw::outage_is_a_conflict, "remove: a store that cannot be reached is an error"},
        {flaw::outage_is_forgotten, "advance: is not committed to a store that cannot be reached"},
        {flaw::outage_is_forgotten, "put: is not committed to a store that cannot be reached"},
        {flaw::outage_is_forgotten, "remove: is not committed to a store that cannot be reached"},
        {flaw::outage_is_forgotten, "note and forget: are not committed"},
        {flaw::begin_fails, "begin opens a transaction"},
        {flaw::assign_commits, "a transaction that is assigned over is rolled back"},
        {flaw::assign_leaks, "a transaction that is assigned over is rolled back"},
        {flaw::note_is_forgotten, "attempted: answers what was committed"},
        {flaw::note_keeps_the_first, "note: replaces the row"},
        {flaw::note_at_once, "a row is gone with a transaction that goes out of scope"},
        {flaw::forget_does_nothing, "forget: removes the row"},
        {flaw::forget_needs_a_row, "forget: where there is no row that is no error"},
        {flaw::from_absent_is_zero, "absent is not 0"},
        {flaw::deaths_of_one_byte, "with numbers of all bits"},
        {flaw::last_suspect_forgotten, "every field"},
        {flaw::epoch_of_note_forgotten, "every field"},
        {flaw::attempts_by_source, "rows of different keys are independent"},
        {flaw::remove_does_nothing, "remove: removes that letter and no other"},
        {flaw::remove_always_finds, "remove: answers false where there is no such letter"},
        {flaw::remove_at_once, "remove: a rollback brings the letter back"},
        {flaw::remove_checked_once, "of two transactions that remove the same letter at most one takes effect"},
        {flaw::list_by_digits, "by their sequence in all 64 bits"},
        {flaw::list_with_signs, "by their sequence in all 64 bits"},
        {flaw::list_from_after, "list: only what is behind `after`"},
        {flaw::list_of_all_keys, "list: all letters of the key"},
        {flaw::list_without_end, "no more than `most`"},
        {flaw::kept_forgotten, "replaces the first, every field"},
        {flaw::size_forgotten, "replaces the first, every field"},
        {flaw::checksum_forgotten, "replaces the first, every field"},
        {flaw::advance_any_partition, "advance: other keys are left alone"},
        {flaw::advance_any_group, "advance: other keys are left alone"},
        {flaw::remove_any_partition, "remove: letters of other keys stay"},
        {flaw::remove_any_group, "remove: letters of other keys stay"},
        {flaw::list_any_partition, "list: all letters of the key"},
        {flaw::list_any_group, "list: all letters of the key"},
        {flaw::forget_any_partition, "rows of different keys are independent"},
        {flaw::forget_any_group, "rows of different keys are independent"},
        {flaw::reset_forgets_the_epoch, "reset: the epoch goes on guarding against lower ones"},
        {flaw::reset_is_to_zero, "reset: leaves no checkpoint to load"},
        {flaw::reset_is_not_compared, "reset: from something else than what is stored is refused"},
    };
    std::set<flaw> tried;
    for (const auto& c : cases) tried.insert(c.wrong);
    CHECK(tried.size() + 2 == static_cast<std::size_t>(flaw::only_one_transaction) + 1);
    for (const auto& c : cases) {
        const std::string broken = all(rules_broken_by(c.wrong));
        INFO("flaw ", static_cast<int>(c.wrong), " breaks:\n", broken);
        CHECK(broken.find(c.caught_by) != std::string::npos);
    }
}

}  // namespace
}  // namespace conformance_test
