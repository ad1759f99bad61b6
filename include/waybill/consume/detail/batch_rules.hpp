// SPDX-License-Identifier: MIT
//
// batch_rules: the part of a `batch_policy` that the `batch_machine` copies.

#ifndef WAYBILL_CONSUME_DETAIL_BATCH_RULES_HPP
#define WAYBILL_CONSUME_DETAIL_BATCH_RULES_HPP

#include <cstdint>

#include <waybill/consume/batch_policy.hpp>

namespace waybill::inline v0_2::detail {

/// The part of a policy that the state machine needs. Copied once per batch, so it is small.
struct batch_rules {
    explicit constexpr batch_rules(const batch_policy& p, bool counts_deaths) noexcept
        : decide_all_failed_from(p.decide_all_failed_from),
          tries(p.tries == 0 ? 1 : p.tries),
          deaths(p.deaths),
          on_exhausted(p.on_exhausted),
          savepoints(p.savepoints),
          writes_dead_letters(p.dead_letters.keeps != dead_letter_body::discard),
          always_checks_commit(p.check_commit == batch_policy::commit_check::always),
          crash_records(p.crash_records && counts_deaths)
    {
    }

    std::uint64_t decide_all_failed_from;
    std::uint32_t tries;
    std::uint32_t deaths;
    batch_policy::when_exhausted on_exhausted;
    bool savepoints;
    bool writes_dead_letters;
    bool always_checks_commit;
    bool crash_records;

    friend bool operator==(const batch_rules&, const batch_rules&) = default;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_BATCH_RULES_HPP
