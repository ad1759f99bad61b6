// SPDX-License-Identifier: MIT
//
// send_policy: the configuration of a sender.

#ifndef WAYBILL_BATCH_SEND_POLICY_HPP
#define WAYBILL_BATCH_SEND_POLICY_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/batch_limits.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/budget.hpp>
#include <waybill/retry/decide.hpp>

namespace waybill::inline v0_2 {

/// The configuration of a sender. A plain value; `validate` finds invalid fields.
struct send_policy {
    /// The treatment of an item that exceeds a limit. With each of them, an item that exceeds only
    /// a limit reported by the broker is first sent alone, as a trial. If an item of at most the
    /// same size was refused alone, only some items are tried (send_trials.hpp). The broker may
    /// have raised its limit since.
    enum class when_too_large : std::uint8_t {
        report,      ///< It ends as `too_large` and is not sent, except as such a trial.
        send_alone,  ///< It is sent as a batch of one item; the broker decides.
        replace,     ///< The caller is asked for a smaller item in its place (claim check).
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(when_too_large) noexcept
    {
        return "report, send_alone, replace";
    }

    /// The treatment of a batch whose outcome is unknown.
    enum class when_unknown : std::uint8_t {
        /// The identical batch is sent again; if this repetition is too large or fails in part, its
        /// items are sent in other batches. Broker or readers must drop duplicates of each item.
        repeat,
        hand_back,  ///< Its items end as `in_doubt`.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(when_unknown) noexcept
    {
        return "repeat, hand_back";
    }

    /// The limits of the destination.
    batch_limits limit{};
    /// First estimate of the bytes of an item beyond its body.
    std::uint64_t item_overhead = 0;
    /// Sizes are as the broker counts them: nothing is estimated, and `item_overhead` is ignored.
    bool exact_sizes = false;
    /// Maximum number of attempts in flight, with those that wait for their repetition; 0 counts as
    /// 1.
    std::uint32_t in_flight = 1;
    /// At most one attempt in flight for each key, and if `limit.answers_per_entry`, one item. A key
    /// stops at its first item that does not
    /// arrive. A batch that is not half full waits for the attempts in flight if items of their
    /// keys could be added to it. It waits at most until `linger`, and not for retries.
    bool ordered = false;
    /// Only if `ordered`, and if the service answers for each entry of a request. False: a request
    /// has at most one item of a key, so that no item can arrive before an earlier one of its key.
    /// With few keys, requests are small. True: a request may have several items of a key. If one
    /// is refused, later ones of the same request overtake it; the report counts them.
    bool may_overtake = false;
    /// All items of a batch have the same key.
    bool one_key = false;
    /// The treatment of an item that exceeds a limit.
    when_too_large on_too_large = when_too_large::report;
    /// Maximum time that a batch waits to fill. It starts with the first item of the batch, or when
    /// the batch before it is sent.
    duration linger = duration::highest();
    /// The treatment of a batch whose outcome is unknown.
    when_unknown on_unknown = when_unknown::repeat;
    /// The retries of each item. `max_attempts` above 255 counts as 255.
    retry_policy retry{};
    /// The budget of retries for the whole sender. Retries after `throttled` and `too_large` are
    /// free.
    retry_budget budget{};

    friend bool operator==(const send_policy&, const send_policy&) = default;
};

/// The first invalid field, if any.
[[nodiscard]] constexpr std::optional<config_error> validate(const send_policy& p) noexcept
{
    if (p.in_flight == 0) return config_error{"in_flight", 0, "must be at least", 1};
    if (p.linger < duration{}) {
        // The absolute value, also of the lowest duration.
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(p.linger.count());
        return config_error{.field = "linger",
                            .value = ns,
                            .rule = "nanoseconds must be at least",
                            .bound = 0,
                            .negative = true};
    }
    if (p.one_key && p.ordered && p.limit.answers_per_entry && !p.may_overtake) {
        return config_error{"one_key", 1,
                            "makes batches of one item with `ordered` and answers per entry; set "
                            "`may_overtake`, or set it to",
                            0};
    }
    if (const auto bad = validate(p.limit)) return bad;
    if (const auto bad = validate(p.retry)) return bad;
    return validate(p.budget);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SEND_POLICY_HPP
