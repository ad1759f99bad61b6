// SPDX-License-Identifier: MIT
//
// session: decisions in real time, for samples of a running queue.
//
//     session s(o, rules);                       // continues from --state, if given
//     for (const decided& d : s.turn(rows, {})) follow(d);
//     s.answer({"orders", id, true, now});       // counts from the next turn on
//     return s.end(flaws, remarks);
//
// At least the last ten thousand turns are kept for the checks and the chart at the end. The memory
// is bounded for a run of any length.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_SESSION_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_SESSION_HPP

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "../engines/depth.hpp"
#include "brain.hpp"
#include "closing.hpp"
#include "options.hpp"
#include "record_file.hpp"
#include "state_file.hpp"
#include "ticks.hpp"
#include <waybill/core/time.hpp>

namespace autoscaler {

class session {
public:
    session(const options& o, const rules& r);
    session(const session&) = delete;
    session& operator=(const session&) = delete;

    /// The depth of a queue as rows of a resource, with the current time. An unknown depth has no
    /// rows. The first unknown depth and the first known one after it are reported on stderr.
    [[nodiscard]] std::vector<row> rows_of(const std::string& resource,
                                           const engines::depth_reading& d);

    /// Decides at the current time.
    const std::vector<decided>& turn(std::vector<row> rows, std::vector<head_count> counted);
    void answer(autoscaler::answer a) { answers_.push_back(std::move(a)); }

    /// Prints, checks and draws. Returns the exit code.
    [[nodiscard]] int end(std::vector<std::string> flaws, std::string remarks);

    [[nodiscard]] static waybill::wall_time now();  ///< In whole milliseconds.

private:
    void forget_the_oldest();

    const options& o_;
    const rules& r_;
    stored kept_{};
    record_file records_;
    memory start_{};   // the state before the first tick that is kept
    memory middle_{};  // the state in the middle of the kept ticks
    std::deque<std::vector<row>> rows_{};
    std::vector<tick> ticks_{};
    std::vector<std::vector<decided>> made_{};
    std::vector<autoscaler::answer> answers_{};
    std::uint64_t unknown_ = 0;
    bool was_unknown_ = false;
};

/// Installs handlers of the signals that end the program, such as Ctrl-C. is_over() needs them.
void end_on_request();
[[nodiscard]] bool is_over();
/// The last such signal, or 0.
[[nodiscard]] int ending_signal();
/// Sleeps until `due` or such a signal.
void sleep_until(waybill::steady_time due);
[[nodiscard]] waybill::steady_time steady_now();

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_SESSION_HPP
