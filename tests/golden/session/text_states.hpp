// SPDX-License-Identifier: MIT
//
// The values in the files <name>.text of version 1. A new state, running ones, a redriven one, two
// without step numbers, a failed one, one of an import, and extreme values. Also one with lines of
// a later version, and one of an older version of the user's bytes. The files stay readable and
// must never change.

#ifndef WAYBILL_TESTS_GOLDEN_SESSION_TEXT_STATES_HPP
#define WAYBILL_TESTS_GOLDEN_SESSION_TEXT_STATES_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/session/state_text.hpp>

namespace golden_states {

inline constexpr waybill::text_state::options options{.budget = {}, .version = {2, 1}};

/// The previous options, in versions 1.x of the user's bytes.
inline constexpr waybill::text_state::options old_options{.budget = {}, .version = {1, 4}};

inline constexpr waybill::wall_time noon =  // on 29 February 2024
    waybill::wall_time::at(waybill::duration::seconds(1'709'208'000));

/// f(name, state) for each of them.
template <class F>
void each(F f)
{
    using namespace waybill;
    text_state s;
    s.version = options.version;
    f("new", s);

    s.own = "receipt=r17";
    s.progress = {.done = 2, .total = 5, .begun = noon, .changed = noon + duration::seconds(7)};
    f("going", s);

    s.progress.tries = 3;
    s.progress.total = 0;
    f("tried", s);

    s.progress = {.done = 4, .total = 9, .begun = noon, .changed = noon + duration::seconds(7)};
    s.progress.first = 3;
    f("redriven", s);

    s.progress = {.done = 4, .begun = noon, .changed = noon + duration::seconds(7)};
    s.progress.arrived = 4;
    s.progress.arrived_sequence = (7ULL << 48U) + 17;
    f("arrived", s);

    s.progress.arrived = 6;
    s.progress.failed =
        waybill::session_progress::failure{5, 18, dead_letter_reason::failed, 1, "no price", noon};
    f("arrived_failed", s);

    s.progress = {.done = 2, .total = 5, .begun = noon, .changed = noon + duration::seconds(60)};
    s.progress.failed =
        waybill::session_progress::failure{3,
                                           (7ULL << 48U) + 17,
                                           dead_letter_reason::exhausted,
                                           5,
                                           "no printer answers: \xE2\x82\xAC 12 is unpaid",
                                           noon + duration::milliseconds(59'250)};
    f("failed", s);

    s.progress.failed->reason = dead_letter_reason::gap;
    s.progress.failed->text = "two\nlines\\ and\r\t\x01\x7F, and \xFF that is no character\n";
    s.own = "\nlines\n\nof its own, blank ones in front\n";
    f("escaped", s);

    s.progress = {.done = 4'567, .total = 4'567, .dead_lettered = 12};
    s.own.clear();
    for (int n = 0; n != 256; ++n) s.own += static_cast<char>(n);
    f("import", s);

    s.progress = {.done = 1};
    s.version.minor = 9;
    s.later = "speed 17\nfailure nobody knows\n done 3\n";
    s.own = "receipt=r17";
    f("later", s);

    s = {};
    s.version = {2, 65'535};
    s.progress = {.done = detail::highest_size,
                  .total = detail::highest_size,
                  .dead_lettered = detail::highest_size,
                  .tries = detail::highest_size,
                  .begun = wall_time::highest(),
                  .changed = wall_time::lowest()};
    s.progress.failed = waybill::session_progress::failure{detail::highest_size,
                                                           detail::highest_size,
                                                           dead_letter_reason::session_failed,
                                                           detail::highest_size,
                                                           "",
                                                           wall_time::highest()};
    f("ends", s);
}

/// f(name, state) for each state that a program of that version has stored.
template <class F>
void each_old(F f)
{
    using namespace waybill;
    text_state s;
    s.version = old_options.version;
    s.own = "r17";
    s.progress = {.done = 2, .total = 5, .begun = noon, .changed = noon + duration::seconds(7)};
    f("old_going", s);

    s.version.minor = 6;
    s.later = "speed 17\n";
    f("old_later", s);
}

}  // namespace golden_states

#endif  // WAYBILL_TESTS_GOLDEN_SESSION_TEXT_STATES_HPP
