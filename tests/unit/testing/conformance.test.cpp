// SPDX-License-Identifier: MIT

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/wrong_store.hpp>

#include <waybill/testing/conformance.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>
#include <waybill/testing/outage_conformance.hpp>

namespace conformance_test {
namespace {

using tests_support::flaw;
using tests_support::wrong_store;

namespace suite = waybill::testing::detail;
using report = waybill::testing::conformance_report;

struct maker {
    flaw wrong;
    wrong_store operator()() const { return wrong_store(wrong); }
};

// Two connections to one store, and a race in which one waits for a lock until the other one has
// committed.
struct connections {
    wrong_store shared{};

    auto again()
    {
        return [this](wrong_store& s) {
            shared = s;
            return s;
        };
    }
    auto race()
    {
        return [this](auto waits, auto commits) {
            bool done = false;
            const auto once = [&] {
                if (!std::exchange(done, true)) commits();
            };
            shared.meanwhile(once);
            waits();
            once();
            shared.meanwhile({});
        };
    }
};

// The suite with a second connection and races, and with one connection.
report report_on(flaw f)
{
    connections two;
    return waybill::testing::conformance(maker{f}, two.again(), two.race());
}
report alone_on(flaw f)
{
    return waybill::testing::conformance(maker{f});
}

// The parts of the suite, and the first word of their rules.
enum class part {
    checkpoints,
    letters,
    queue,
    attempts,
    transactions,
    connections,
    races,
    keys,
    outage
};
constexpr std::string_view names[] = {
    "checkpoints:",  "put:",         "list, remove:", "crash records:",
    "transactions:", "connections:", "races:",        "keys:"};

std::vector<std::string> broken_in(part p, flaw f)
{
    maker make{f};
    if (p == part::outage) {
        return waybill::testing::outage_conformance(make, [](wrong_store& s) { s.break_down(); })
            .broken;
    }
    connections two;
    auto again = two.again();
    auto race = two.race();
    using trial = suite::store_trial<maker, decltype(again), decltype(race)>;
    auto rules = suite::store_rules<trial>("", "");
    const std::string_view name = names[static_cast<int>(p)];
    std::erase_if(rules, [&](const auto& r) { return !r.promise.starts_with(name); });
    suite::trial t;
    suite::run_rules<waybill::testing::no_second>(t, rules, {suite::way::plain},
                                                  [&](suite::way how, auto body) {
                                                      trial x(make, again, race, how, t);
                                                      body(x);
                                                  });
    return t.report.broken;
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
                 const std::optional<waybill::position>& from, const waybill::position& to,
                 std::uint64_t epoch)
    {
        return behind.advance(tx, k, from, to, epoch);
    }
};
struct only_attempts {
    using transaction = wrong_store::transaction;
    wrong_store behind{flaw::none};
    auto begin() { return behind.begin(); }
    auto load_crash_record(const waybill::partition_key& k) { return behind.load_crash_record(k); }
    auto store_crash_record(transaction& tx, const waybill::partition_key& k,
                            const waybill::crash_record& a)
    {
        return behind.store_crash_record(tx, k, a);
    }
    auto clear_crash_record(transaction& tx, const waybill::partition_key& k)
    {
        return behind.clear_crash_record(tx, k);
    }
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
    CHECK(all(waybill::testing::conformance(make).broken) == "");
    CHECK(all(waybill::testing::conformance(make, [](store& s) -> store& { return s; }).broken) ==
          "");
}

TEST_CASE("conformance: a faulty store without injected faults conforms")
{
    using store = waybill::testing::memory_store<std::string>;
    const auto fine = [](waybill::testing::store_call) {
        return waybill::testing::injected_fault::none;
    };
    store kept;
    const auto make = [&] {
        kept = store();
        return waybill::testing::faulty(kept, fine);
    };
    const auto again = [&](auto&) { return waybill::testing::faulty(kept, fine); };
    CHECK(all(waybill::testing::conformance(make, again).broken) == "");
}

TEST_CASE("conformance: correct stores conform, also with one writer at a time")
{
    CHECK(report_on(flaw::none) == report{});
    CHECK(report_on(flaw::only_one_transaction) == report{});
    CHECK(all(alone_on(flaw::none).broken) == "");
    CHECK(all(waybill::testing::conformance([] { return only_checkpoints{}; }).broken) == "");
    CHECK(all(waybill::testing::conformance([] { return only_letters{}; }).broken) == "");
    CHECK(all(waybill::testing::conformance([] { return only_attempts{}; }).broken) == "");
}

TEST_CASE("conformance: with one connection the report contains the untested rules")
{
    const auto of_checkpoints = waybill::testing::conformance([] { return only_checkpoints{}; });
    CHECK(all(of_checkpoints.untested) ==
          "connections: committed writes (needs a second connection)\n"
          "races: one of two transactions (needs a second connection and two threads)\n"
          "each rule; if two connections are used in turn (needs a second connection)\n"
          "each rule; if each call uses a new connection (needs a second connection)\n");
    using store = waybill::testing::memory_store<std::string>;
    const auto no_threads =
        waybill::testing::conformance([] { return store(); }, [](store& s) -> store& { return s; });
    CHECK(all(no_threads.untested) == "races: one of two transactions (needs two threads)\n");
}

TEST_CASE("conformance: flaws that one connection does not detect")
{
    for (const flaw f : {flaw::advance_before_lock, flaw::remove_before_lock, flaw::load_caches,
                         flaw::compares_with_cache}) {
        INFO("flaw ", static_cast<int>(f));
        CHECK(all(alone_on(f).broken) == "");
    }
}

TEST_CASE("conformance: the whole suite reports the findings of each of its parts")
{
    const std::string broken = all(report_on(flaw::begin_fails).broken);
    for (const char* rule :
         {"advance: an absent `from` is applied if no checkpoint is stored",
          "put: a committed letter is found", "remove: a rollback restores the letter",
          "list: all letters of the key, by their sequence in all 64 bits",
          "load_crash_record: returns every field as committed", "commit keeps a first dead letter",
          "after the commit a second connection sees a first crash record"}) {
        INFO("rule ", std::string(rule));
        CHECK(broken.find(rule) != std::string::npos);
    }
    CHECK(report_on(flaw::remove_before_lock).broken ==
          std::vector<std::string>{
              "two concurrent transactions that remove the same letter: at most one takes effect"});
}

TEST_CASE("conformance: each flaw is detected by its part of the suite, with the rule")
{
    const struct {
        part in;
        flaw wrong;
        const char* caught_by;
    } cases[] = {
        {part::checkpoints, flaw::epoch_of_group,
         "advance: the epoch of another partition is not compared"},
        {part::checkpoints, flaw::epoch_at_once, "rollback reverts a higher epoch"},
        {part::checkpoints, flaw::reset_from_of_32_bits,
         "reset: `from` and epoch are compared in all 64 bits"},
        {part::queue, flaw::remove_of_32_bits, "remove: sequences are compared in all 64 bits"},
        {part::queue, flaw::commit_of_100,
         "list: returns all committed letters, up to `max_count`"},
        {part::transactions, flaw::savepoints_of_64, "a transaction takes 200 savepoints"},
        {part::transactions, flaw::leftovers_committed, "rollback reverts a first checkpoint"},
        {part::connections, flaw::loser_leaves_letters, "the unconfirmed one leaves nothing"},
        {part::connections, flaw::list_is_dirty,
         "before the commit a second connection does not see a first dead letter"},
        {part::connections, flaw::dirty_compares,
         "advance: a `from` that another connection has not committed is refused"},
        {part::checkpoints, flaw::only_forward,
         "advance: a `from` before the stored checkpoint is refused, even if `to` is after it"},
        {part::checkpoints, flaw::no_guard,
         "advance: a `from` is refused if no checkpoint is stored"},
        {part::checkpoints, flaw::absent_is_anything,
         "advance: an absent `from` is refused if a checkpoint is stored"},
        {part::checkpoints, flaw::no_epoch, "a lower epoch than the stored one is refused"},
        {part::checkpoints, flaw::epoch_forgotten, "stores the epoch"},
        {part::checkpoints, flaw::offset_compared, "offsets are not compared"},
        {part::checkpoints, flaw::offset_dropped,
         "load: returns sequence, offset and epoch as committed"},
        {part::checkpoints, flaw::absent_is_zero, "a checkpoint that was never written is absent"},
        {part::checkpoints, flaw::zero_is_absent, "sequence numbers are 64 bits wide, from 0"},
        {part::checkpoints, flaw::sequence_32_bits, "sequence numbers are 64 bits wide"},
        {part::checkpoints, flaw::sequence_is_a_double, "sequence numbers are 64 bits wide"},
        {part::checkpoints, flaw::commit_lies,
         "load: returns sequence, offset and epoch as committed"},
        {part::checkpoints, flaw::advance_any_partition,
         "advance: other keys do not change, even if they have the same checkpoint"},
        {part::checkpoints, flaw::advance_any_group,
         "advance: other keys do not change, even if they have the same checkpoint"},
        {part::checkpoints, flaw::reset_forgets_the_epoch,
         "reset: lower epochs are still refused after it"},
        {part::checkpoints, flaw::reset_is_to_zero, "reset: the checkpoint is absent after it"},
        {part::checkpoints, flaw::reset_is_not_compared,
         "reset: a `from` that is not the stored checkpoint is refused"},
        {part::checkpoints, flaw::offset_of_255_bytes,
         "advance: keeps an offset of up to 1,024 bytes whole"},
        {part::checkpoints, flaw::offset_ends_at_nul, "advance: keeps any bytes of an offset"},
        {part::checkpoints, flaw::offset_is_utf8, "advance: keeps any bytes of an offset"},
        {part::checkpoints, flaw::offset_is_a_number, "advance: keeps any bytes of an offset"},
        {part::checkpoints, flaw::epochs_of_32_bits, "advance: epochs are compared in all 64 bits"},
        {part::checkpoints, flaw::epochs_with_sign, "advance: accepts every 64-bit epoch"},
        {part::checkpoints, flaw::from_of_32_bits, "advance: `from` is compared in all 64 bits"},
        {part::checkpoints, flaw::from_is_a_double, "advance: `from` is compared in all 64 bits"},
        {part::checkpoints, flaw::from_zero_is_absent,
         "advance: from 0 is refused if no checkpoint is stored"},
        {part::checkpoints, flaw::conflict_is_an_error,
         "advance: a `from` that is not the stored checkpoint is a conflict, not an error"},
        {part::checkpoints, flaw::stale_is_a_conflict,
         "advance: a lower epoch returns stale_epoch, not an error"},
        {part::checkpoints, flaw::unchanged_is_a_conflict,
         "advance: to the position that is stored already is applied"},
        {part::letters, flaw::put_is_forgotten, "put: a committed letter is found"},
        {part::letters, flaw::put_keeps_the_first, "replaces the first, every field"},
        {part::letters, flaw::put_refuses_the_second,
         "a second dead letter of the same event is no error"},
        {part::letters, flaw::put_adds_a_row, "replaces the first, every field"},
        {part::letters, flaw::letters_by_sequence,
         "dead letters are distinguished by each part of the key"},
        {part::letters, flaw::text_ends_at_nul, "takes any bytes in a body"},
        {part::letters, flaw::text_of_64_kb, "texts of a megabyte"},
        {part::letters, flaw::text_is_utf8, "takes any bytes in a reason"},
        {part::letters, flaw::tries_forgotten, "replaces the first, every field"},
        {part::letters, flaw::time_in_seconds, "replaces the first, every field"},
        {part::letters, flaw::kept_forgotten, "replaces the first, every field"},
        {part::letters, flaw::size_forgotten, "replaces the first, every field"},
        {part::letters, flaw::checksum_forgotten, "replaces the first, every field"},
        {part::letters, flaw::reason_ends_at_nul, "put: takes any bytes in a reason"},
        {part::letters, flaw::reason_trimmed, "put: takes any bytes in a reason"},
        {part::letters, flaw::reason_of_4096_bytes, "put: takes any bytes in a reason"},
        {part::letters, flaw::empty_reason_is_null,
         "put: an empty or absent field replaces what was there"},
        {part::letters, flaw::line_ends_changed, "put: takes any bytes in a body"},
        {part::letters, flaw::letter_offset_of_255_bytes,
         "put: keeps an offset of up to 1,024 bytes whole"},
        {part::letters, flaw::kind_of_one_bit, "put: keeps every fault_kind"},
        {part::letters, flaw::kept_of_one_bit, "put: keeps every dead_letter_body"},
        {part::letters, flaw::put_merges, "put: an empty or absent field replaces what was there"},
        {part::queue, flaw::remove_does_nothing, "remove: removes only this letter"},
        {part::queue, flaw::remove_always_finds,
         "remove: returns false if the letter does not exist, not an error"},
        {part::queue, flaw::remove_at_once, "remove: a rollback restores the letter"},
        {part::queue, flaw::list_by_digits, "by their sequence in all 64 bits"},
        {part::queue, flaw::list_with_signs, "by their sequence in all 64 bits"},
        {part::queue, flaw::list_from_after, "list: returns only letters after `after`"},
        {part::queue, flaw::list_of_all_keys, "list: all letters of the key"},
        {part::queue, flaw::list_without_end,
         "list: `after` need not exist; at most `max_count` letters are returned"},
        {part::queue, flaw::remove_any_partition, "remove: letters of other keys stay"},
        {part::queue, flaw::remove_any_group, "remove: letters of other keys stay"},
        {part::queue, flaw::list_any_partition, "list: all letters of the key"},
        {part::queue, flaw::list_any_group, "list: all letters of the key"},
        {part::queue, flaw::list_of_1000, "list: returns all committed letters, up to `max_count`"},
        {part::queue, flaw::list_cuts_bodies, "list: returns large letters unchanged"},
        {part::queue, flaw::remove_misses_own_letter,
         "remove: removes a letter that the same transaction has put"},
        {part::attempts, flaw::note_is_forgotten,
         "load_crash_record: returns every field as committed"},
        {part::attempts, flaw::note_keeps_the_first, "store_crash_record: replaces the row"},
        {part::attempts, flaw::forget_does_nothing, "clear_crash_record: removes the row"},
        {part::attempts, flaw::forget_needs_a_row, "clear_crash_record: an absent row is no error"},
        {part::attempts, flaw::from_absent_is_zero, "absent is not 0"},
        {part::attempts, flaw::deaths_of_one_byte, "with numbers of all bits"},
        {part::attempts, flaw::last_suspect_forgotten, "every field"},
        {part::attempts, flaw::epoch_of_note_forgotten, "every field"},
        {part::attempts, flaw::forget_misses_own_row,
         "clear_crash_record: removes a row that the same transaction has stored"},
        {part::keys, flaw::group_forgotten, "checkpoints of different keys are independent"},
        {part::keys, flaw::key_concatenated, "checkpoints of different keys are independent"},
        {part::keys, flaw::key_ignores_case, "checkpoints of different keys are independent"},
        {part::keys, flaw::attempts_by_source, "crash records of different keys are independent"},
        {part::keys, flaw::forget_any_partition, "crash records of different keys are independent"},
        {part::keys, flaw::forget_any_group, "crash records of different keys are independent"},
        {part::keys, flaw::key_trimmed, "checkpoints of different keys are independent"},
        {part::keys, flaw::key_joined, "checkpoints of different keys are independent"},
        {part::keys, flaw::key_ends_at_nul,
         "checkpoints of a key that a store may refuse are refused, or independent"},
        {part::keys, flaw::key_of_255_bytes,
         "checkpoints of a key that a store may refuse are refused, or independent"},
        {part::keys, flaw::partition_is_a_number, "checkpoints of different keys are independent"},
        {part::keys, flaw::partition_ignores_case, "checkpoints of different keys are independent"},
        {part::transactions, flaw::put_at_once, "rollback reverts a first dead letter"},
        {part::transactions, flaw::advance_at_once,
         "a transaction that goes out of scope reverts a first checkpoint"},
        {part::transactions, flaw::undo_does_nothing,
         "rollback_to_savepoint reverts a first dead letter"},
        {part::transactions, flaw::undo_removes_all,
         "rollback_to_savepoint keeps what was written before its savepoint: checkpoints"},
        {part::transactions, flaw::release_removes, "release keeps a first checkpoint"},
        {part::transactions, flaw::rollback_commits, "rollback reverts a first checkpoint"},
        {part::transactions, flaw::scope_commits,
         "a transaction that goes out of scope reverts a first checkpoint"},
        {part::transactions, flaw::commit_after_rollback, "a commit after a rollback does nothing"},
        {part::transactions, flaw::moved_from_commits,
         "a transaction that was moved from commits nothing"},
        {part::transactions, flaw::begin_fails, "begin opens a transaction"},
        {part::transactions, flaw::assign_commits,
         "a transaction that is assigned over reverts a first checkpoint"},
        {part::transactions, flaw::assign_leaks,
         "a transaction that is assigned over blocks no other"},
        {part::transactions, flaw::note_at_once,
         "a transaction that goes out of scope reverts a first crash record"},
        {part::transactions, flaw::rollback_keeps_attempts,
         "rollback reverts a first crash record"},
        {part::transactions, flaw::undo_keeps_removals,
         "rollback_to_savepoint reverts a dead letter that was removed"},
        {part::transactions, flaw::undo_keeps_attempts,
         "rollback_to_savepoint reverts a first crash record"},
        {part::transactions, flaw::second_commit_writes,
         "a second commit of a transaction writes nothing: checkpoints"},
        {part::transactions, flaw::rollback_after_commit,
         "a rollback after the commit keeps a first checkpoint"},
        {part::transactions, flaw::late_writes,
         "a transaction that has ended does not write a first dead letter"},
        {part::transactions, flaw::scope_leaks,
         "begin opens a transaction after 100 that went out of scope"},
        {part::connections, flaw::checked_once,
         "two transactions with the same `from`: at most one takes effect"},
        {part::connections, flaw::remove_checked_once,
         "two transactions that remove the same letter: at most one takes effect"},
        {part::connections, flaw::dirty_moves,
         "before the commit a second connection does not see a checkpoint that moved"},
        {part::connections, flaw::load_caches,
         "after the commit a second connection sees a checkpoint that moved"},
        {part::connections, flaw::compares_with_cache,
         "advance: a later commit of another connection is a conflict"},
        {part::connections, flaw::whole_file_written,
         "two transactions on different keys: each confirmed one takes effect: checkpoints"},
        {part::races, flaw::advance_before_lock,
         "two concurrent transactions with the same `from`: at most one takes effect"},
        {part::races, flaw::remove_before_lock,
         "two concurrent transactions that remove the same letter: at most one takes effect"},
        {part::outage, flaw::outage_is_absent,
         "load: while the store cannot be reached, the result is an error"},
        {part::outage, flaw::outage_is_absent,
         "find: while the store cannot be reached, the result is an error"},
        {part::outage, flaw::outage_is_absent,
         "list: while the store cannot be reached, the result is an error"},
        {part::outage, flaw::outage_is_absent,
         "load_crash_record: while the store cannot be reached, the result is an error"},
        {part::outage, flaw::outage_is_lost_ownership,
         "returns neither ownership_lost nor cancelled"},
        {part::outage, flaw::outage_is_a_conflict,
         "advance: while the store cannot be reached, the result is an error"},
        {part::outage, flaw::outage_is_a_conflict,
         "reset: while the store cannot be reached, the result is an error"},
        {part::outage, flaw::outage_is_forgotten,
         "reset: is not committed to a store that cannot be reached"},
        {part::outage, flaw::outage_is_a_conflict,
         "remove: while the store cannot be reached, the result is an error"},
        {part::outage, flaw::outage_is_forgotten,
         "advance: is not committed to a store that cannot be reached"},
        {part::outage, flaw::outage_is_forgotten,
         "put: is not committed to a store that cannot be reached"},
        {part::outage, flaw::outage_is_forgotten,
         "remove: is not committed to a store that cannot be reached"},
        {part::outage, flaw::outage_is_forgotten,
         "store_crash_record and clear_crash_record: are not committed"},
    };
    std::set<flaw> tried;
    for (const auto& c : cases) tried.insert(c.wrong);
    CHECK(tried.size() + 2 == static_cast<std::size_t>(flaw::only_one_transaction) + 1);
    for (const auto& c : cases) {
        const std::string broken = all(broken_in(c.in, c.wrong));
        INFO("flaw ", static_cast<int>(c.wrong), " breaks:\n", broken);
        CHECK(broken.find(c.caught_by) != std::string::npos);
    }
}

}  // namespace
}  // namespace conformance_test
