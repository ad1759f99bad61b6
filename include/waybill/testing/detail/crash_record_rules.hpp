// SPDX-License-Identifier: MIT
//
// crash_record_rules: the rules of the crash records of a store (`load_crash_record`,
// `store_crash_record`, `clear_crash_record`).
//
// A part of conformance.hpp.

#ifndef WAYBILL_TESTING_DETAIL_CRASH_RECORD_RULES_HPP
#define WAYBILL_TESTING_DETAIL_CRASH_RECORD_RULES_HPP

#include <cstdint>
#include <optional>

#include <waybill/testing/detail/stored_rows.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// One row: absent, written, replaced and removed.
template <class S>
void crash_record_rules(trial& t, S& s, const partition_key& key, const crash_record& row)
{
    const std::optional<crash_record> absent;
    const auto stored = [&](const crash_record& a) {
        return commit_write<crash_record>(t, s, key, {}, a) && row_is(s, key, std::optional(a));
    };
    const auto cleared = [&] {
        return commit_write<crash_record>(t, s, key, {}, {}) && row_is(s, key, absent);
    };
    t.holds(row_is(s, key, absent), "load_crash_record: a row that was never stored is absent");
    t.holds(cleared(), "clear_crash_record: an absent row is no error");
    t.holds(stored(row), "load_crash_record: returns every field as committed");
    constexpr std::uint64_t not_in_int64 = std::uint64_t{1} << 63U;
    constexpr std::uint64_t not_in_double = (std::uint64_t{1} << 53U) + 1;
    constexpr std::uint64_t all = largest;
    const crash_record rows[] = {
        // from, to, suspects, deaths, incarnation, epoch
        {{}, 3, 1, 0, 0, 2},
        {0, 0, 0, 0, 1, 0},
        {all, all, all, UINT32_MAX, all, all},
        {not_in_int64, not_in_double, not_in_int64, 1U << 31U, not_in_double, not_in_int64},
        {not_in_double, not_in_int64, not_in_double, 1, not_in_int64, not_in_double}};
    for (const crash_record& a : rows) {
        t.holds(
            stored(a),
            "store_crash_record: replaces the row, with numbers of all bits, and absent is not 0");
    }
    t.holds(cleared(), "clear_crash_record: removes the row");
    t.holds(stored(row), "store_crash_record: works again after clear_crash_record");
}

/// If a transaction writes a row several times, the last write counts.
template <class S>
void crash_record_order_rules(trial& t, S& s, const partition_key& key, const crash_record& row)
{
    const crash_record other{
        .from = 18, .to = 68, .suspects = 50, .deaths = 2, .incarnation = 3, .epoch = 6};
    if (auto tx = t.open(s)) {
        const bool done = s.store_crash_record(*tx, key, row) && s.clear_crash_record(*tx, key) &&
                          t.committed(*tx);
        t.holds(done && row_is(s, key, std::optional<crash_record>()),
                "clear_crash_record: removes a row that the same transaction has stored");
    }
    if (auto tx = t.open(s)) {
        const bool done = s.store_crash_record(*tx, key, other) &&
                          s.store_crash_record(*tx, key, row) && t.committed(*tx);
        t.holds(done && row_is(s, key, std::optional(row)),
                "store_crash_record: within a transaction the last one counts");
    }
    if (auto tx = t.open(s)) {
        const bool done = s.clear_crash_record(*tx, key) && s.store_crash_record(*tx, key, other) &&
                          t.committed(*tx);
        t.holds(done && row_is(s, key, std::optional(other)),
                "store_crash_record: keeps a row that the same transaction has cleared before");
    }
}

/// The rules of `load_crash_record`, `store_crash_record` and `clear_crash_record`.
template <class S>
void all_crash_record_rules(trial& t, S& s)
{
    const crash_record row{.from = 17,
                           .to = 117,
                           .suspects = 100,
                           .deaths = 2,
                           .incarnation = 0x9E3779B97F4A7C15U,
                           .epoch = 5};
    crash_record_rules(t, s, key_of("orders", "billing", "0"), row);
    crash_record_order_rules(t, s, key_of("orders", "billing", "1"), row);
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_CRASH_RECORD_RULES_HPP
