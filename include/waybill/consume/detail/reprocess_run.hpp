// SPDX-License-Identifier: MIT
//
// reprocess_run: handles the event of one dead letter again. Part of reprocess_all.

#ifndef WAYBILL_CONSUME_DETAIL_REPROCESS_RUN_HPP
#define WAYBILL_CONSUME_DETAIL_REPROCESS_RUN_HPP

#include <optional>
#include <type_traits>
#include <utility>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/dead_letter_run.hpp>
#include <waybill/consume/detail/dead_letter_loop.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/reprocess.hpp>
#include <waybill/consume/reprocess_report.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/detail/send_pace.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>

namespace waybill::inline v0_2::detail {

/// The event of a dead letter is the dead letter itself, if it contains the whole body.
struct letter_as_event {
    template <class Letter>
    [[nodiscard]] result<std::optional<Letter>> operator()(const Letter& d) const
    {
        if (d.kept != dead_letter_body::body) return std::optional<Letter>();
        return std::optional<Letter>(d);
    }
};

/// A handler whose return type is an event_outcome. One that returns nothing succeeds.
template <class Handler>
struct outcome_handler {
    Handler& handle;

    template <class Tx, class E>
        requires requires(Handler& h, Tx& tx, const E& e) { h(tx, e); }
    [[nodiscard]] auto operator()(Tx& tx, const E& e) const
    {
        if constexpr (std::is_void_v<decltype(handle(tx, e))>) {
            handle(tx, e);
            return event_outcome{};
        } else {
            return handle(tx, e);
        }
    }
};

template <class Store, class Fetch, class Handler, class Clock>
class reprocess_run {
public:
    reprocess_run(Store& store, Fetch& fetch, Handler& handler, Clock& clock,
                  const dead_letter::run_policy& policy, dead_letter::run_report& report)
        : store_(store),
          fetch_(fetch),
          handler_{handler},
          clock_(clock),
          policy_{.dead_letters = policy.dead_letters},
          report_(report),
          pace_(policy.max_per_second)
    {
    }

    [[nodiscard]] letter_attempt try_one(const dead_letter& d)
    {
        if (!pace_.wait(clock_)) return {letter_state::stopped};
        reprocess_report r =
            reprocess(store_, d.key, d.at.sequence, fetch_, handler_, clock_.wall_now(), policy_);
        switch (r.outcome) {
            case reprocess_report::outcome_type::handled: ++report_.done; break;
            case reprocess_report::outcome_type::skipped: ++report_.skipped; break;
            case reprocess_report::outcome_type::absent: ++report_.absent; break;
            case reprocess_report::outcome_type::gone: ++report_.gone; break;
            case reprocess_report::outcome_type::failed:
                return {letter_state::refused, std::move(r.reason)};
            case reprocess_report::outcome_type::cancelled: return {letter_state::stopped};
            case reprocess_report::outcome_type::not_done:
            case reprocess_report::outcome_type::unknown:
                return {letter_state::retry, std::move(r.reason)};
        }
        return {letter_state::settled};
    }

    void leave() const noexcept {}

private:
    Store& store_;
    Fetch& fetch_;
    outcome_handler<Handler> handler_;
    Clock& clock_;
    batch_policy policy_;
    dead_letter::run_report& report_;
    send_pace pace_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_REPROCESS_RUN_HPP
