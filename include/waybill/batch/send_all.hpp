// SPDX-License-Identifier: MIT
//
// send_all: sends a whole input through a function that sends one batch.
//
//     waybill::batch_sender sender{{.limit = {.bytes = 262'144}, .item_overhead = 54}};
//     const auto transmit = [&](auto batch) -> waybill::send_outcome {
//         switch (sdk.send(batch)) {
//             case sdk::ok:          return batch_sender::accepted{};
//             case sdk::over_limit:  return batch_sender::too_large{};
//             case sdk::busy:        return batch_sender::throttled{.retry_after = sdk.hint()};
//             default:               return batch_sender::outcome_unknown{};
//         }
//     };
//     auto report = waybill::send_all(inbox, body_size, sender, transmit, env);
//     for (const auto& r : report.outcomes) log(waybill::describe(r));
//
// It drives the sender with one attempt at a time, and sleeps while nothing can be sent. After a
// stop request, or at the end of `time_limited(env, 10min)`, it returns with `waiting` set. A
// further call with the same input, sender and function continues. The sender keeps its calibration
// for the next input. For an input that can be read only once: `resend_buffer`.

#ifndef WAYBILL_BATCH_SEND_ALL_HPP
#define WAYBILL_BATCH_SEND_ALL_HPP

#include <cstdint>
#include <iterator>
#include <utility>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/detail/send_loop.hpp>
#include <waybill/batch/detail/send_source.hpp>
#include <waybill/batch/resend_buffer.hpp>
#include <waybill/batch/send_report.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/core/detail/driver_clock.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2 {

/// Sends [first, last) in as few batches as `s` can. Each item is in exactly one outcome of this
/// report or of a later one. Calls `size` once for each item. O(items) time, O(batch) memory. A
/// further call for the same input first advances over the items that were already taken.
///
/// The sender must not have open items, except from earlier calls for the same input. Otherwise
/// `other_input` is set in the report, and nothing is done. The same holds if the input has fewer
/// items than were already taken from it.
///
/// If the policy is `send_policy::when_too_large::replace`, each item that fits into no batch
/// causes one call of `replace(item, batch_sender::replace)`. The call comes before earlier waiting
/// items are sent. It stores the item elsewhere, puts a smaller reference in its place and returns
/// an empty fault. The reference is measured and sent under the same number. With any other fault
/// the item stays and ends as `too_large`, with the text of the fault.
///
/// If the policy uses keys, `size` returns `queued{bytes, key}`. A plain number has the key 0, so
/// an `ordered` input stops at its first item that does not arrive. A replaced item keeps its key.
///
/// `env` is an environment. With a clock in its place, send_all never sleeps: `waiting` in the
/// report is the time of the next call. A clock is a function that returns the steady time, or a
/// fixed time. An environment also provides the jitter of retries.
///
/// Exceptions of the caller's functions pass through. The sender stores the report of that call.
/// The next call for the same input returns it together with its own; until then
/// `batch_sender::unreported` returns it. If `send` throws, the outcome of its batch is unknown.
/// ext/exceptions.hpp turns exceptions into outcomes.
template <std::forward_iterator I, std::sentinel_for<I> S, class F, class Send, class Environment,
          class Replace = detail::keep_too_large>
[[nodiscard]] send_report send_all(I first, S last, const F& size, batch_sender& s, Send&& send,
                                   Environment&& env, Replace&& replace = {})
{
    detail::driver_clock clock(env);
    if (!detail::open_input(s, clock.now())) return {.other_input = true};
    const std::uint64_t taken = s.end() - *s.input_begin();
    detail::forward_source<I, S, F> source(std::move(first), std::move(last), size, taken);
    if (source.taken() != taken) return {.other_input = true};
    return detail::send_loop(source, s, clock, send, replace).run();
}

/// The same for a container or view that can be walked again.
template <class Items, class F, class Send, class Environment,
          class Replace = detail::keep_too_large>
    requires std::forward_iterator<decltype(std::begin(std::declval<Items&>()))>
[[nodiscard]] send_report send_all(Items& items, const F& size, batch_sender& s, Send&& send,
                                   Environment&& env, Replace&& replace = {})
{
    return send_all(std::begin(items), std::end(items), size, s, std::forward<Send>(send), env,
                    std::forward<Replace>(replace));
}

/// The same for an input that can be read only once.
template <class I, class S, class F, class Send, class Environment,
          class Replace = detail::keep_too_large>
[[nodiscard]] send_report send_all(resend_buffer<I, S>& box, const F& size, batch_sender& s,
                                   Send&& send, Environment&& env, Replace&& replace = {})
{
    detail::driver_clock clock(env);
    if (!detail::open_input(s, clock.now())) return {.other_input = true};
    const std::uint64_t taken = s.end() - *s.input_begin();
    const std::uint64_t settled_before = detail::saturating_sub(box.pulled(), taken);
    const std::uint64_t first_needed = settled_before + (s.first_open() - *s.input_begin());
    if (box.pulled() < taken || box.first() > first_needed) return {.other_input = true};
    detail::buffered_source<resend_buffer<I, S>, F> source(box, size, settled_before);
    return detail::send_loop(source, s, clock, send, replace).run();
}

namespace detail {

template <class Items>
struct report_of_temporary {
    static_assert(sizeof(Items) == 0,
                  "send_all: the input is a temporary, and a further call could not continue with "
                  "it; give it a name first");
};

template <class I>
struct report_of_single_pass {
    static_assert(sizeof(I) == 0,
                  "send_all: the input can be read only once, and a refused batch could not be cut "
                  "again; read it through a resend_buffer");
};

}  // namespace detail

/// Refused: a further call needs the same input.
template <class Items, class F, class Send, class Environment,
          class Replace = detail::keep_too_large>
detail::report_of_temporary<Items> send_all(const Items&& temporary, const F&, batch_sender&,
                                            Send&&, Environment&&, Replace&& = {});

/// Refused: an input that can be read only once needs a `resend_buffer`.
template <std::input_iterator I, std::sentinel_for<I> S, class F, class Send, class Environment,
          class Replace = detail::keep_too_large>
    requires(!std::forward_iterator<I>)
detail::report_of_single_pass<I> send_all(I first, S last, const F&, batch_sender&, Send&&,
                                          Environment&&, Replace&& = {});
template <class Items, class F, class Send, class Environment,
          class Replace = detail::keep_too_large>
    requires std::input_iterator<decltype(std::begin(std::declval<Items&>()))> &&
             (!std::forward_iterator<decltype(std::begin(std::declval<Items&>()))>)
detail::report_of_single_pass<Items> send_all(Items& items, const F&, batch_sender&, Send&&,
                                              Environment&&, Replace&& = {});

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SEND_ALL_HPP
