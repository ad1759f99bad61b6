// SPDX-License-Identifier: MIT
//
// session: decisions as time goes by, for samples that are taken now and not read from a file.
//
//     session s(o, rules);                       // goes on from --state, if there is one
//     for (const decided& d : s.turn(rows, {})) follow(d);
//     s.answer({"orders", id, true, now});       // counts from the next turn on
//     return s.end(flaws, remarks);
//
// The last ten thousand turns at least are kept for the checks and the chart at the end; an
// autoscaler that runs for a year does not grow.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_SESSION_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_SESSION_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <waybill/core/time.hpp>

#include "../engines/depth.hpp"
#include "brain.hpp"
#include "closing.hpp"
#include "options.hpp"
#include "record_file.hpp"
#include "state_file.hpp"
#include "ticks.hpp"

namespace autoscaler {

class session {
public:
    session(const options& o, const rules& r);
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    /// What a queue said as rows of a resource, as of now. What is unknown is no row: it is said
    /// beside the result, the first time and when it is over.
    [[nodiscard]] std::vector<row> rows_of(const std::string& resource,
                                           const engines::depth_reading& d);

    /// Decides now.
    const std::vector<decided>& turn(std::vector<row> rows, std::vector<head_count> counted);
    void answer(autoscaler::answer a) { answers_.push_back(std::move(a)); }

    /// Prints, checks and draws. What to exit with.
    [[nodiscard]] int end(std::vector<std::string> flaws, std::string remarks);

    [[nodiscard]] static waybill::wall_time now();  ///< In whole milliseconds.

private:
    void forget_the_oldest();

    const options& o_;
    const rules& r_;
    stored kept_{};
    record_file records_;
    memory start_{};   // before the first tick that is kept
    memory middle_{};  // in the middle of them
    std::deque<std::vector<row>> rows_{};
    std::vector<tick> ticks_{};
    std::vector<std::vector<decided>> made_{};
    std::vector<autoscaler::answer> answers_{};
    std::uint64_t unknown_ = 0;
    bool was_unknown_ = false;
};

/// Whether somebody wants us to end, as by Ctrl-C. To be heard, ask for it first.
void end_on_request();
[[nodiscard]] bool is_over();
/// The signal that asked for the end; 0 while none has.
[[nodiscard]] int ending_signal();
/// Until then, or until somebody wants us to end.
void sleep_until(waybill::steady_time due);
[[nodiscard]] waybill::steady_time steady_now();

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_SESSION_HPP
