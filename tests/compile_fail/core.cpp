// SPDX-License-Identifier: MIT

#include <iostream>

#include <waybill/core/match.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>

// expect: a_duration_is_printed_by_to_text | a duration is printed by to_text, of time_text.hpp
//
// Seconds or nanoseconds? to_text writes the unit.
void duration_printed(waybill::duration pause)
{
    std::cout << pause;
}

// expect: a_wall_time_is_printed_by_to_text | a wall time is printed by to_text, of time_text.hpp
void wall_time_printed(waybill::wall_time stored)
{
    std::cout << stored;
}

// expect: match: the handlers return different types; return the same type
long match_answers_differ(const waybill::variant<int, char>& held)
{
    return waybill::match(held, [](int n) { return n; }, [](char) { return 1L; });
}

// expect: nodiscard
#pragma GCC diagnostic error "-Wunused-result"
waybill::result<void> store();

void result_ignored()
{
    store();
}

// expect: variant: moving a value must not throw
struct may_throw {
    may_throw(may_throw&&) {}
};

waybill::variant<int, may_throw> variant_move_may_throw()
{
    return 1;
}

// expect: holds_alternative: the variant has no such type
const long* variant_other_type(const waybill::variant<int, char>& held)
{
    return waybill::get_if<long>(&held);
}
