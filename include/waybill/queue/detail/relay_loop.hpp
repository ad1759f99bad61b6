// SPDX-License-Identifier: MIT
//
// relay_loop: claims rows of an outbox, one claim after the other. Part of `relay`.

#ifndef WAYBILL_QUEUE_DETAIL_RELAY_LOOP_HPP
#define WAYBILL_QUEUE_DETAIL_RELAY_LOOP_HPP

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/detail/time_source.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/queue/detail/key_number.hpp>
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
          report_(report),
          max_rows_(policy_.max_rows)
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
        const auto claimed = store_.claim(max_rows_, wall, wall + policy_.lease);
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
        if (mark_again(*claimed)) return;
        one_claim c(store_, sender_, transmit_, clock_, policy_, report_, *claimed, now, wall);
        const typename one_claim::ending e = c.run();
        keep_unmarked(c, *claimed);
        finish(c, e, now);
    }

    /// Marks rows that an earlier claim has sent. True if there were such rows; then the others are
    /// returned and claimed again, without those that cannot be marked.
    bool mark_again(const typename Store::claimed_rows& c)
    {
        std::erase_if(unmarked_,
                      [now = clock_.now()](const unmarked_row& r) { return r.until < now; });
        if (unmarked_.empty()) return false;
        std::vector<std::uint64_t> others, one;
        bool any = false;
        for (std::uint64_t row = 0; row != c.messages.size(); ++row) {
            const auto known = find(unmarked_row(c.messages[row]));
            if (known == unmarked_.end()) {
                others.push_back(row);
                continue;
            }
            any = true;
            one.assign(1, row);
            if (!written(store_.mark_sent(c, one))) {
                name_row(report_.last_error, c.messages[row]);
                known->until = forget_at();
                continue;
            }
            ++report_.sent;
            unmarked_.erase(known);
        }
        if (!any || others.empty()) return any;
        if (!written(store_.hold(c, others, clock_.wall_now()))) pause();
        report_.returned += others.size();
        return true;
    }
    [[nodiscard]] bool written(const result<void>& r)
    {
        if (r) return true;
        ++report_.store_errors;
        report_.last_error = r.error();
        return false;
    }

    /// A row that the broker has accepted and that could not be marked. It is forgotten some time
    /// after its last claim: later, an equal message is a new row.
    struct unmarked_row {
        std::string id;
        std::uint64_t key, body;
        steady_time until = steady_time::highest();

        template <class Message>
        explicit unmarked_row(const Message& m)
            : id(std::string_view(m.id)), key(key_number(m.key)), body(key_number(m.body))
        {
        }
        [[nodiscard]] bool equals(const unmarked_row& r) const
        {
            return id == r.id && key == r.key && body == r.body;
        }
    };
    [[nodiscard]] steady_time forget_at() { return clock_.now() + policy_.lease + policy_.lease; }
    [[nodiscard]] typename std::vector<unmarked_row>::iterator find(const unmarked_row& r)
    {
        auto at = unmarked_.begin();
        while (at != unmarked_.end() && !at->equals(r)) ++at;
        return at;
    }
    /// Without an id, equal messages can be different rows.
    void keep_unmarked(const one_claim& c, const typename Store::claimed_rows& claimed)
    {
        for (const std::uint64_t row : c.unmarked()) {
            unmarked_row r(claimed.messages[row]);
            if (r.id.empty() || find(r) != unmarked_.end()) continue;
            if (unmarked_.size() >= policy_.max_rows) unmarked_.erase(unmarked_.begin());
            r.until = forget_at();
            unmarked_.push_back(std::move(r));
        }
    }

    /// A batch that fails as a whole may contain one row that is the reason. Smaller claims find
    /// it, while the sender limits requests as before. They do not grow before its rows can be
    /// claimed again; otherwise the same batch could fail forever. `now` is the time of the claim.
    void fit_claims(const one_claim& c, steady_time now)
    {
        if (c.failed_batch() != 0) {
            max_rows_ = lesser(max_rows_, c.failed_batch() / 2);
            grow_after_ = later(grow_after_, c.put_off_until());
        } else if (c.all_sent() && now >= grow_after_) {
            max_rows_ = lesser(saturating_mul(max_rows_, 2), policy_.max_rows);
        }
    }

    void finish(const one_claim& c, typename one_claim::ending e, steady_time now)
    {
        fit_claims(c, now);
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
    std::uint64_t max_rows_;  // of the next claim
    std::vector<unmarked_row> unmarked_{};
    steady_time put_off_until_ = steady_time::lowest();
    steady_time grow_after_ = steady_time::lowest();
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_RELAY_LOOP_HPP
