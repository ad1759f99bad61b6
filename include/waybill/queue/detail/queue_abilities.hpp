// SPDX-License-Identifier: MIT
//
// queue_abilities: the optional calls of a message_queue.

#ifndef WAYBILL_QUEUE_DETAIL_QUEUE_ABILITIES_HPP
#define WAYBILL_QUEUE_DETAIL_QUEUE_ABILITIES_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/queue/queue_policy.hpp>
#include <waybill/queue/settle_policy.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/delivery.hpp>

namespace waybill::inline v0_2::detail {

template <class Q>
concept names_message = requires(const typename Q::message& m) {
    { m.deliveries } -> std::convertible_to<std::uint64_t>;
};
template <class Q>
concept receives = requires(Q& q, duration lock) {
    { q.receive(lock) } -> std::same_as<result<std::optional<typename Q::message>>>;
};
template <class Q>
concept completes = requires(Q& q, typename Q::message& m) {
    { q.complete(m) } -> std::convertible_to<fault>;
};
template <class Q>
concept dead_letters = requires(Q& q, typename Q::message& m, std::string_view reason) {
    { q.dead_letter(m, reason) } -> std::convertible_to<fault>;
};
template <class Q>
concept dead_letters_by_reference =
    requires(Q& q, typename Q::message& m, std::string_view reason) {
        { q.dead_letter_by_reference(m, reason) } -> std::convertible_to<fault>;
    };
template <class Q>
concept abandons_uncounted = requires(Q& q, typename Q::message& m) {
    { q.abandon(m, false) } -> std::convertible_to<fault>;
};
template <class Q>
concept abandons_counted = requires(Q& q, typename Q::message& m) {
    { q.abandon(m) } -> std::convertible_to<fault>;
};

/// The queue holds back the message itself.
template <class Q>
concept defers_uncounted = requires(Q& q, typename Q::message& m, duration delay) {
    { q.defer(m, delay, false) } -> std::convertible_to<fault>;
};
template <class Q>
concept defers_counted = requires(Q& q, typename Q::message& m, duration delay) {
    { q.defer(m, delay) } -> std::convertible_to<fault>;
};

/// A copy takes the place of the message.
template <class Q>
concept schedules_copies =
    requires(Q& q, typename Q::message& m, const queue_policy::scheduled_copy& copy) {
        { q.schedule_copy(m, copy) } -> std::convertible_to<fault>;
    };
template <class Message>
concept message_of_copies = requires(const Message& m) {
    { m.id } -> std::convertible_to<std::string_view>;
    { m.original_id } -> std::convertible_to<std::string_view>;
    { m.number } -> std::convertible_to<std::uint64_t>;
    { m.tries } -> std::convertible_to<std::uint64_t>;
};

/// The queue returns a deferred message only for its pointer.
template <class Q>
concept defers_with_pointers =
    requires(Q& q, typename Q::message& m, std::uint64_t tries, duration delay) {
        { q.schedule_pointer(m, tries, delay) } -> std::convertible_to<fault>;
    };
template <class Q>
concept names_pointer = requires(const typename Q::pointer& p) {
    { p.tries } -> std::convertible_to<std::uint64_t>;
    { p.deliveries } -> std::convertible_to<std::uint64_t>;
};
template <class Q>
concept defers_for_pointer = requires(Q& q, typename Q::message& m) {
    { q.defer(m) } -> std::convertible_to<fault>;
};
template <class Q>
concept receives_pointers = requires(Q& q, duration lock) {
    { q.receive_pointer(lock) } -> std::same_as<result<std::optional<typename Q::pointer>>>;
};
template <class Q>
concept receives_deferred = requires(Q& q, typename Q::pointer& p, duration lock) {
    { q.receive_deferred(p, lock) } -> std::same_as<result<std::optional<typename Q::message>>>;
};
template <class Q>
concept settles_pointers =
    requires(Q& q, typename Q::pointer& p, std::uint64_t tries, duration delay) {
        { q.complete(p) } -> std::convertible_to<fault>;
        { q.schedule_pointer(p, tries, delay) } -> std::convertible_to<fault>;
    };

template <class Q, class Message>
concept renews = requires(Q& q, Message& m, duration lock) {
    { q.renew(m, lock) } -> std::convertible_to<fault>;
};

/// Its messages report the duration of their lock, which is configured for the queue or the
/// message.
template <class Message>
concept reports_lock = requires(const Message& m) {
    { m.locked_for } -> std::convertible_to<duration>;
};

/// Its messages report how many deliveries in a row ended without a settlement.
template <class Message>
concept reports_crashes = requires(const Message& m) {
    { m.crashes } -> std::convertible_to<std::uint64_t>;
};

/// The queue can end the deferrals that were no failed tries.
template <class Q>
concept makes_due = defers_uncounted<Q> && requires(Q& q) {
    { q.make_due() } -> std::convertible_to<fault>;
};

template <class Q>
concept reports_empty = requires(Q& q) {
    { q.empty() } -> std::same_as<result<bool>>;
};

template <class Q>
struct queue_abilities {
    static constexpr bool by_pointer = defers_with_pointers<Q>;
    static constexpr bool by_copy = !by_pointer && schedules_copies<Q>;
    static constexpr bool by_time =
        !by_pointer && !by_copy && (defers_uncounted<Q> || defers_counted<Q>);
    static constexpr bool can_defer = by_pointer || by_copy || by_time;
    /// A delivery that ends with a deferral without a failure uses up no delivery of the message.
    static constexpr bool defers_free = by_copy || by_pointer || (by_time && defers_uncounted<Q>);
    /// Without a deferral, locks expire on purpose. The deliveries of a copy count from 1.
    static constexpr bool counts_crashes =
        can_defer && (reports_crashes<typename Q::message> || (by_copy && abandons_uncounted<Q>));
};

/// Names the missing call of a queue in the first line of the error.
template <class Q>
struct checked_queue {
    static constexpr bool has_message = names_message<Q>;
    static_assert(has_message, "message queue: a nested type message with deliveries must exist");
    static_assert(!has_message || receives<Q>,
                  "message queue: receive(duration lock) must exist and return a "
                  "waybill::result<std::optional<message>>");
    static_assert(!has_message || completes<Q>,
                  "message queue: complete(message&) must exist and return a waybill::fault");
    static_assert(!has_message || abandons_uncounted<Q> || abandons_counted<Q>,
                  "message queue: abandon(message&, bool failed) or abandon(message&) must exist "
                  "and return a waybill::fault");
    static_assert(!has_message || dead_letters<Q>,
                  "message queue: dead_letter(message&, std::string_view reason) must exist and "
                  "return a waybill::fault");

    template <class Message>
    static constexpr bool fits_copies = !schedules_copies<Q> || message_of_copies<Message>;
    static constexpr bool copies_fit = [] {
        if constexpr (has_message) return fits_copies<typename Q::message>;
        else return true;
    }();
    static_assert(copies_fit,
                  "message queue with schedule_copy: a message must have id, original_id, number "
                  "and tries");

    static constexpr bool with_pointers = has_message && defers_with_pointers<Q>;
    static constexpr bool has_pointer = with_pointers && names_pointer<Q>;
    static_assert(!with_pointers || has_pointer,
                  "message queue with schedule_pointer: a nested type pointer with tries and "
                  "deliveries must exist");
    static_assert(!with_pointers || defers_for_pointer<Q>,
                  "message queue with schedule_pointer: defer(message&) must exist and return a "
                  "waybill::fault");
    static_assert(!has_pointer || receives_pointers<Q>,
                  "message queue with schedule_pointer: receive_pointer(duration lock) must exist "
                  "and return a waybill::result<std::optional<pointer>>");
    static_assert(!has_pointer || receives_deferred<Q>,
                  "message queue with schedule_pointer: receive_deferred(pointer&, duration lock) "
                  "must exist and return a waybill::result<std::optional<message>>");
    static_assert(!has_pointer || settles_pointers<Q>,
                  "message queue with schedule_pointer: complete(pointer&) and "
                  "schedule_pointer(pointer&, std::uint64_t tries, duration delay) must exist and "
                  "return a waybill::fault");
    static constexpr bool ok =
        has_message && receives<Q> && completes<Q> && dead_letters<Q> &&
        (abandons_uncounted<Q> || abandons_counted<Q>) && copies_fit &&
        (!with_pointers || (has_pointer && defers_for_pointer<Q> && receives_pointers<Q> &&
                            receives_deferred<Q> && settles_pointers<Q>));
};

struct no_pointer {};
template <class Q>
struct pointer_of {
    using type = no_pointer;
};
template <class Q>
    requires queue_abilities<Q>::by_pointer
struct pointer_of<Q> {
    using type = typename Q::pointer;
};

template <class Message>
[[nodiscard]] std::string id_of_message(const Message& m)
{
    if constexpr (requires {
                      { m.original_id } -> std::convertible_to<std::string_view>;
                  }) {
        const std::string_view original = m.original_id;
        if (!original.empty()) return std::string(original);
    }
    if constexpr (requires {
                      { m.id } -> std::convertible_to<std::string_view>;
                  })
        return std::string(std::string_view(m.id));
    else if constexpr (requires { std::to_string(m.number); }) return std::to_string(m.number);
    else return {};
}

/// The lowest number of tries that together last for `wanted`, with the lowest random values.
[[nodiscard]] constexpr std::uint64_t tries_for(duration wanted, const backoff& pauses,
                                                duration lock, bool can_defer) noexcept
{
    if (wanted == duration::highest()) return highest_size;
    if (wanted <= duration{}) return 1;
    constexpr std::uint32_t max_summed = 2'000;
    const duration last_hold = can_defer ? pause(pauses, UINT32_MAX, 0.0) : lock;
    duration elapsed{};
    for (std::uint32_t n = 1; elapsed < wanted; ++n) {
        const duration hold = can_defer ? pause(pauses, n, 0.0) : lock;
        if (hold == last_hold || n == max_summed) {
            const auto more = delivery_terms::deliveries_for(wanted - elapsed, hold);
            return more ? saturating_add(n, *more) : highest_size;
        }
        elapsed += hold;
        if (elapsed >= wanted) return std::uint64_t{n} + 1;
    }
    return 1;
}

/// The settle_policy of run_queue for a queue with these abilities.
template <class Q>
[[nodiscard]] constexpr settle_policy settle_policy_of(const queue_policy& p) noexcept
{
    using abilities = queue_abilities<Q>;
    settle_policy s;
    const std::uint64_t tries = tries_for(p.retry_for, p.pauses, p.lock, abilities::can_defer);
    s.levels.immediate = 0;
    s.levels.delayed = retry_levels::unlimited;
    if (tries < retry_levels::unlimited) s.levels.delayed = static_cast<std::uint32_t>(tries - 1);
    s.levels.pauses = p.pauses;
    s.max_deliveries = p.max_deliveries;
    s.to_settle = p.to_settle;
    s.can_defer = abilities::can_defer;
    s.on_outage = abilities::can_defer ? settle_policy::when_down::defer
                                       : settle_policy::when_down::let_lock_expire;
    s.defer_renews = abilities::by_copy || abilities::by_pointer;
    s.release_counts = !abandons_uncounted<Q>;
    return s;
}

/// The first error of the policy for a queue with these abilities.
template <class Q>
[[nodiscard]] constexpr std::optional<config_error> check_for_queue(const queue_policy& p) noexcept
{
    if (auto bad = validate(p)) return bad;
    using abilities = queue_abilities<Q>;
    constexpr std::uint64_t min_key_bytes = 16;  // as many as an id of a copy stands for
    if (abilities::by_copy && p.copy_key.size() < min_key_bytes) {
        return config_error{"queue_policy.copy_key", p.copy_key.size(),
                            "bytes must be at least, because the queue schedules copies",
                            min_key_bytes};
    }
    const std::uint64_t tries = tries_for(p.retry_for, p.pauses, p.lock, abilities::can_defer);
    const bool limited = tries != highest_size && p.max_deliveries != highest_size;
    const bool all_count = !abilities::by_copy && !abilities::by_pointer;
    if (limited && all_count && tries > p.max_deliveries) {
        return config_error{"queue_policy.max_deliveries", p.max_deliveries,
                            "must be at least the number of tries in retry_for", tries};
    }
    return {};
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_QUEUE_ABILITIES_HPP
