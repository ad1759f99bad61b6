// SPDX-License-Identifier: MIT
//
// queue_handler: calls the handler of run_queue, and records its delivery in the report.

#ifndef WAYBILL_QUEUE_DETAIL_QUEUE_HANDLER_HPP
#define WAYBILL_QUEUE_DETAIL_QUEUE_HANDLER_HPP

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/queue/queue_policy.hpp>
#include <waybill/queue/queue_report.hpp>

namespace waybill::inline v0_2::detail {

/// The result of a handler: a fault, and the server's delay if there is one.
struct handled {
    fault reason{};
    duration retry_after{};
};

/// A fault, a fault_kind, a result<T>, or a struct with a fault `reason`, such as call_answer.
template <class R>
concept queue_result =
    std::same_as<R, fault> || std::same_as<R, fault_kind> || requires(const R& r) {
        { r.reason } -> std::convertible_to<fault>;
    } || requires(const R& r) {
        { r.has_value() } -> std::convertible_to<bool>;
        { r.error() } -> std::convertible_to<fault>;
    };

template <class Handler, class Message>
struct checked_queue_handler {
    static constexpr bool takes_lock =
        std::invocable<Handler&, const Message&, queue_policy::message_lock&>;
    static constexpr bool takes_message = takes_lock || std::invocable<Handler&, const Message&>;
    static_assert(takes_message,
                  "run_queue: the handler must accept a const message& of the queue, and may "
                  "accept a waybill::queue_policy::message_lock& as its second argument");

    static auto call(Handler& h, const Message& m, queue_policy::message_lock& lock)
    {
        if constexpr (takes_lock) return h(m, lock);
        else return h(m);
    }
    using result_type =
        std::remove_cvref_t<decltype(call(std::declval<Handler&>(), std::declval<const Message&>(),
                                          std::declval<queue_policy::message_lock&>()))>;
    static_assert(std::is_void_v<result_type> || queue_result<result_type>,
                  "run_queue: the handler must return a fault, a fault_kind, a result, a "
                  "call_answer or nothing, and not bool");
};

template <class R>
[[nodiscard]] handled handled_as(R&& r)
{
    using result_type = std::remove_cvref_t<R>;
    handled h;
    if constexpr (std::same_as<result_type, fault_kind>) {
        h.reason.kind = r;
    } else if constexpr (requires { r.reason.kind; }) {
        h.reason = std::forward<R>(r).reason;
        if constexpr (requires { r.retry_after; }) h.retry_after = r.retry_after;
    } else if constexpr (requires { r.error().kind; }) {
        if (!r.has_value()) h.reason = std::forward<R>(r).error();
    } else {
        h.reason = std::forward<R>(r);
    }
    return h;
}

/// A delivery from its receipt to its outcome. A template, so that nothing is instantiated while
/// the header is read. If an exception leaves the scope before the outcome,
/// the message is recorded as left to its lock.
template <class Report>
class delivery_record {
public:
    delivery_record(Report& r, std::string id) : report_(r)
    {
        entry_.id = std::move(id);
        // The destructor must not allocate.
        if (r.listed.size() == r.listed.capacity() && r.listed.size() < Report::max_listed)
            r.listed.reserve(2 * r.listed.size() + 8);
        r.received = saturating_add(r.received, 1);
    }
    delivery_record(const delivery_record&) = delete;
    delivery_record& operator=(const delivery_record&) = delete;
    ~delivery_record()
    {
        if (recorded_) return;
        report_.interrupted = saturating_add(report_.interrupted, 1);
        entry_.text.clear();
        add(Report::outcome::left_to_lock);
    }

    void end(typename Report::outcome how, fault_kind kind, std::string text)
    {
        entry_.kind = kind;
        entry_.text = std::move(text);
        recorded_ = true;
        add(how);
    }

private:
    void add(typename Report::outcome how)
    {
        std::uint64_t& count = counter_of(how);
        count = saturating_add(count, 1);
        const bool needs_a_look =
            how == Report::outcome::dead_lettered || how == Report::outcome::left_to_lock ||
            how == Report::outcome::unconfirmed || how == Report::outcome::stuck;
        if (!needs_a_look) return;
        entry_.how = how;
        if (report_.listed.size() < Report::max_listed) report_.listed.push_back(std::move(entry_));
        else report_.unlisted = saturating_add(report_.unlisted, 1);
    }

    [[nodiscard]] std::uint64_t& counter_of(typename Report::outcome how) noexcept
    {
        switch (how) {
            case Report::outcome::completed: return report_.completed;
            case Report::outcome::given_back: return report_.given_back;
            case Report::outcome::deferred: return report_.deferred;
            case Report::outcome::dead_lettered: return report_.dead_lettered;
            case Report::outcome::left_to_lock: return report_.left_to_lock;
            case Report::outcome::stuck: return report_.stuck;
            case Report::outcome::unconfirmed: break;
        }
        return report_.unconfirmed;
    }

    Report& report_;
    typename Report::delivery entry_{};
    bool recorded_ = false;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_QUEUE_HANDLER_HPP
