// SPDX-License-Identifier: MIT
//
// relay_loop: claims rows of an outbox, one claim after the other. Part of `relay`.

#ifndef WAYBILL_QUEUE_DETAIL_RELAY_LOOP_HPP
#define WAYBILL_QUEUE_DETAIL_RELAY_LOOP_HPP

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include <waybill/core/detail/time_source.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/queue/detail/relayed_batch.hpp>
#include <waybill/queue/detail/relayed_claim.hpp>
#include <waybill/queue/outbox_store.hpp>
#include <waybill/queue/relay_report.hpp>

namespace waybill::inline v0_2::detail {

/// Refuses a store that lacks a type or a call. The first error is a sentence that names it.
template <class S>
struct checked_outbox {
    static constexpr bool types = requires {
        typename S::message;
        typename S::claimed_rows;
        typename S::transaction;
    };
    static_assert(types,
                  "outbox store: the types message, claimed_rows and transaction must be "
                  "there");

    [[nodiscard]] static constexpr bool has_message()
    {
        if constexpr (types) return outbox_message<typename S::message>;
        return true;
    }
    [[nodiscard]] static constexpr bool has_claim()
    {
        if constexpr (types) {
            return outbox_claim<typename S::claimed_rows, typename S::message> &&
                   requires(S& s, wall_time t) {
                       { s.claim(1, t, t) } -> std::same_as<result<typename S::claimed_rows>>;
                   };
        }
        return true;
    }
    [[nodiscard]] static constexpr bool has_hold()
    {
        if constexpr (types) {
            return requires(S& s, const typename S::claimed_rows& c, const positions& rows,
                            wall_time t) {
                { s.hold(c, rows, t) } -> std::same_as<result<void>>;
            };
        }
        return true;
    }
    [[nodiscard]] static constexpr bool has_marks()
    {
        if constexpr (types) {
            return requires(S& s, const typename S::claimed_rows& c, const positions& rows,
                            const std::string& reason) {
                { s.mark_sent(c, rows) } -> std::same_as<result<void>>;
                { s.mark_dead(c, rows[0], reason, true) } -> std::same_as<result<void>>;
            };
        }
        return true;
    }
    static_assert(has_message(),
                  "outbox store: a message must have a key, an id and a body, which "
                  "convert to std::string_view");
    static_assert(has_claim(),
                  "outbox store: claim(max_rows, now, until) must exist and return a "
                  "result<claimed_rows>, with the members messages and pending");
    static_assert(has_hold(),
                  "outbox store: hold(claim, rows, until) must exist and return a "
                  "result<void>");
    static_assert(has_marks(),
                  "outbox store: mark_sent(claim, rows) and mark_dead(claim, row, "
                  "reason, blocks_key) must exist and return a result<void>");
    static constexpr bool ok = outbox_store<S>;
    static_assert(!types || !has_message() || !has_claim() || !has_hold() || !has_marks() || ok,
                  "outbox store: add(transaction, message) must exist and return a result<void>");

private:
    using positions = std::vector<std::uint64_t>;
};

/// Refuses arguments of a wrong type. The first error is a sentence.
template <class Store, class Sender, class Transmit, class Environment>
struct checked_relay {
    static constexpr bool stores = checked_outbox<Store>::ok;
    static constexpr bool sends = requires(Sender& s, steady_time t) {
        s.next(t);
        s.policy().ordered;
        typename Sender::resumed;
    };
    static_assert(!stores || sends, "relay: the sender must be a batch_sender");

    [[nodiscard]] static constexpr bool takes_batch()
    {
        if constexpr (stores && sends) {
            using messages = decltype(Store::claimed_rows::messages);
            return requires(Transmit& t, relayed_batch<messages, typename Sender::send>& b) {
                { t(b) } -> std::convertible_to<send_outcome_of<Sender>>;
            };
        }
        return true;
    }
    static_assert(takes_batch(),
                  "relay: transmit must accept a batch, which is a range of "
                  "messages, and return a send_outcome, such as "
                  "batch_sender::accepted{}, and not bool or void");
    static constexpr bool sleeps = !time_source<Environment>;
    static_assert(!stores || sleeps,
                  "relay: a clock was passed in place of an environment, which "
                  "also sleeps");
    static constexpr bool ok = stores && sends && takes_batch() && sleeps;
};

/// The policy with the nearest valid values.
[[nodiscard]] constexpr relay_report::policy valid(relay_report::policy p) noexcept
{
    if (p.max_rows == 0) p.max_rows = 1;
    p.poll_interval = greater(p.poll_interval, duration::milliseconds(1));
    p.lease = greater(p.lease, p.poll_interval + p.poll_interval);
    return p;
}

template <class Store, class Sender, class Transmit, class Clock>
class relay_loop {
    using one_claim = relayed_claim<Store, Sender, Transmit, Clock>;

public:
    relay_loop(Store& store, Sender& sender, Transmit& transmit, Clock& clock,
               const relay_report::policy& p, relay_report& report)
        : store_(store),
          sender_(sender),
          transmit_(transmit),
          clock_(clock),
          policy_(valid(p)),
          report_(report)
    {
    }

    void run()
    {
        if (!sender_.policy().ordered) return end(relay_report::ending::unordered_sender);
        if (sender_.input_begin()) return end(relay_report::ending::other_input);
        sender_.on(typename Sender::discarded{}, clock_.now());
        while (report_.outcome == relay_report::ending::running) claim();
    }

private:
    void end(relay_report::ending e) noexcept { report_.outcome = e; }

    void claim()
    {
        // Items in flight, of another caller.
        if (!sender_.finished()) return end(relay_report::ending::other_input);
        if (sender_.has_stopped()) return end(relay_report::ending::sender_stopped);
        if (clock_.stop_requested()) return end(relay_report::ending::stop_requested);
        const steady_time now = clock_.now();
        const wall_time wall = clock_.wall_now();
        const auto claimed = store_.claim(policy_.max_rows, wall, wall + policy_.lease);
        if (!claimed) {
            ++report_.store_errors;
            report_.last_error = claimed.error();
            return pause();
        }
        if (claimed->messages.size() == 0) {
            const bool empty = !claimed->pending && now >= put_off_until_;
            if (policy_.drain && empty) return end(relay_report::ending::drained);
            return pause();
        }
        ++report_.claims;
        one_claim c(store_, sender_, transmit_, clock_, policy_, report_, *claimed, now, wall);
        finish(c, c.run());
    }

    void finish(const one_claim& c, typename one_claim::ending e)
    {
        put_off_until_ = later(put_off_until_, c.put_off_until());
        if (e == one_claim::ending::stopped) end(relay_report::ending::stop_requested);
        else if (e == one_claim::ending::lost) pause();
        else if (!c.changed_rows() && !sender_.has_stopped()) pause();
    }

    void pause()
    {
        if (!clock_.sleep_until(clock_.now() + policy_.poll_interval))
            end(relay_report::ending::stop_requested);
    }

    Store& store_;
    Sender& sender_;
    Transmit& transmit_;
    Clock& clock_;
    relay_report::policy policy_;
    relay_report& report_;
    steady_time put_off_until_ = steady_time::lowest();
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_RELAY_LOOP_HPP
