// SPDX-License-Identifier: MIT
//
// relayed_claim: sends the rows of one claim and writes their outcomes. Part of `relay`.

#ifndef WAYBILL_QUEUE_DETAIL_RELAYED_CLAIM_HPP
#define WAYBILL_QUEUE_DETAIL_RELAYED_CLAIM_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/act.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/queue/detail/key_number.hpp>
#include <waybill/queue/detail/relayed_batch.hpp>
#include <waybill/queue/relay_report.hpp>

namespace waybill::inline v0_2::detail {

/// `send_outcome`. A name that depends on the sender, so that this header includes no sender.
template <class Sender>
using send_outcome_of =
    variant<typename Sender::accepted, typename Sender::too_large, typename Sender::partial,
            typename Sender::throttled, typename Sender::failed, typename Sender::outcome_unknown>;

/// A guard for one attempt. Reports `outcome_unknown` if `transmit` throws or its result cannot be
/// processed: the batch may have arrived.
template <class Sender>
class relayed_attempt {
public:
    relayed_attempt(Sender& s, std::uint64_t attempt, steady_time now)
        : sender_(s), attempt_(attempt), now_(now)
    {
        sender_.on(typename Sender::started{attempt}, now);
    }
    relayed_attempt(const relayed_attempt&) = delete;
    relayed_attempt& operator=(const relayed_attempt&) = delete;
    ~relayed_attempt()
    {
        if (pending_) sender_.on(typename Sender::outcome_unknown{attempt_}, now_);
    }
    void complete() noexcept { pending_ = false; }

private:
    Sender& sender_;
    std::uint64_t attempt_;
    steady_time now_;
    bool pending_ = true;
};

template <class Store, class Sender, class Transmit, class Clock>
class relayed_claim {
    using claimed_rows = typename Store::claimed_rows;
    using item_outcome = decltype(Sender::report::outcome);

    /// A row that the broker refused.
    struct refusal {
        std::uint64_t row;
        std::string reason;
    };

public:
    enum class ending : std::uint8_t { running, done, lost, stopped };

    /// `now` and `wall` are times before the claim. `p` is valid.
    relayed_claim(Store& store, Sender& sender, Transmit& transmit, Clock& clock,
                  const relay_report::policy& p, relay_report& report, const claimed_rows& claimed,
                  steady_time now, wall_time wall)
        : store_(store),
          sender_(sender),
          transmit_(transmit),
          clock_(clock),
          policy_(p),
          report_(report),
          claimed_(claimed),
          first_(sender.end()),
          rows_(claimed.messages.size())
    {
        claimed_until(now, wall);
    }

    ending run()
    {
        queue_rows();
        while (ending_ == ending::running) {
            const steady_time now = clock_.now();
            match(
                sender_.next(now),
                [&](const typename Sender::send& a) {
                    if (write_outcomes() && may_send()) transmit(a);
                },
                [&](const typename Sender::report& r) {
                    record(r);
                    sender_.on(typename Sender::reported{r.items}, now);
                },
                [&](const typename Sender::replace& r) {
                    sender_.on(typename Sender::not_replaced{r.item}, now);
                },
                [&](wait_until w) {
                    if (!write_outcomes()) return;
                    if (clock_.sleep_until(earlier(w.time, renew_at_))) renew_if_due();
                    else ending_ = ending::stopped;
                },
                [&](idle) {
                    if (!sender_.finished() && !std::exchange(flushed_when_idle_, true))
                        sender_.on(typename Sender::flushed{}, now);
                    else if (write_outcomes()) ending_ = ending::done;
                });
        }
        return_open_rows();
        return ending_;
    }

    /// True if a row was marked, or put off until a later time.
    [[nodiscard]] bool changed_rows() const noexcept { return changed_rows_; }
    [[nodiscard]] bool all_sent() const noexcept { return all_sent_; }
    /// The latest time until which rows were put off.
    [[nodiscard]] steady_time put_off_until() const noexcept { return put_off_until_; }

private:
    struct row_state {
        bool open = true;
        bool may_have_arrived = false;
    };

    [[nodiscard]] std::uint64_t key_of(std::uint64_t row) const
    {
        const std::string_view key = claimed_.messages[row].key;
        return key.empty() ? first_ + row : key_number(key);
    }
    [[nodiscard]] std::uint64_t size_of(std::uint64_t row) const
    {
        const auto& m = claimed_.messages[row];
        if constexpr (requires { m.wire_size(); }) return m.wire_size();
        else return std::string_view(m.body).size();
    }

    void queue_rows()
    {
        const steady_time now = clock_.now();
        for (std::uint64_t row = 0; row != rows_.size(); ++row)
            sender_.on(typename Sender::queued{size_of(row), key_of(row)}, now);
        sender_.on(typename Sender::flushed{}, now);
    }

    void claimed_until(steady_time now, wall_time wall)
    {
        renew_at_ = now + policy_.lease / 2;
        renew_wall_ = wall + policy_.lease / 2;
        until_ = now + policy_.lease;
    }

    [[nodiscard]] bool may_send()
    {
        if (!clock_.stop_requested()) return renew_if_due();
        ending_ = ending::stopped;
        return false;
    }

    /// Renews the claim after half of its time. False if it is lost.
    bool renew_if_due()
    {
        const steady_time now = clock_.now();
        const wall_time wall = clock_.wall_now();
        if (now < renew_at_ && wall < renew_wall_) return true;
        const auto renewed = store_.hold(claimed_, open_rows(), wall + policy_.lease);
        if (renewed) {
            claimed_until(now, wall);
            return true;
        }
        note(renewed.error());
        if (renewed.error().kind == fault_kind::ownership_lost || now >= until_) {
            ending_ = ending::lost;
            return false;
        }
        renew_at_ = now + policy_.poll_interval;
        renew_wall_ = wall + policy_.poll_interval;
        return true;
    }

    [[nodiscard]] std::vector<std::uint64_t> open_rows() const
    {
        std::vector<std::uint64_t> open;
        for (std::uint64_t row = 0; row != rows_.size(); ++row) {
            if (rows_[row].open) open.push_back(row);
        }
        return open;
    }

    void transmit(const typename Sender::send& a)
    {
        const std::uint64_t attempt = a.attempt;
        relayed_batch batch(claimed_.messages, first_, a);
        const std::uint64_t doubtful = certain_rows(a);
        relayed_attempt guard(sender_, attempt, clock_.now());
        report_.maybe_twice += doubtful;  // if `transmit_` throws
        ++report_.sends;
        send_outcome_of<Sender> o = transmit_(batch);
        if (holds_alternative<typename Sender::outcome_unknown>(o)) set_doubtful(a);
        else report_.maybe_twice -= doubtful;
        const auto result = match(o, [&](auto& event) {
            event.attempt = attempt;
            if constexpr (requires { event.random; }) {
                if (event.random == 1) event.random = clock_.random();
            }
            return sender_.on(event, clock_.now());
        });
        const auto* part = get_if<typename Sender::partial>(&o);
        if (result == event_result::invalid) {  // it does not show what has arrived
            report_.maybe_twice += doubtful;
            set_doubtful(a);
            sender_.on(typename Sender::outcome_unknown{attempt, clock_.random()}, clock_.now());
        } else if (part) {
            for (const auto& entry : part->failed) {
                if (holds_alternative<typename Sender::outcome_unknown>(entry.answer))
                    set_doubtful(a, entry.index);
            }
        }
        guard.complete();
    }

    template <class F>
    void for_each_row(const typename Sender::send& a, F f) const
    {
        for (const auto& run : a.items) {
            for (std::uint64_t n = run.first; n != run.end(); ++n) f(n - first_);
        }
    }
    [[nodiscard]] std::uint64_t certain_rows(const typename Sender::send& a) const
    {
        std::uint64_t n = 0;
        for_each_row(a, [&](std::uint64_t row) {
            if (!rows_[row].may_have_arrived) ++n;
        });
        return n;
    }
    [[nodiscard]] std::uint64_t certain_rows(const std::vector<std::uint64_t>& rows) const
    {
        std::uint64_t n = 0;
        for (const std::uint64_t row : rows) {
            if (!rows_[row].may_have_arrived) ++n;
        }
        return n;
    }
    void set_doubtful(const typename Sender::send& a)
    {
        for_each_row(a, [&](std::uint64_t row) { rows_[row].may_have_arrived = true; });
    }
    /// Counts the row of this entry, once.
    void set_doubtful(const typename Sender::send& a, std::uint64_t entry)
    {
        for (const auto& run : a.items) {
            if (entry < run.count) {
                row_state& row = rows_[run.first + entry - first_];
                if (!std::exchange(row.may_have_arrived, true)) ++report_.maybe_twice;
                return;
            }
            entry -= run.count;
        }
    }

    void record(const typename Sender::report& r)
    {
        if (r.overtook) report_.overtook += r.items.count;
        for (std::uint64_t n = r.items.first; n != r.items.end(); ++n) {
            const std::uint64_t row = n - first_;
            if (r.outcome == item_outcome::accepted) sent_.push_back(row);
            else if (r.outcome == item_outcome::too_large) dead_.push_back({row, too_large(r)});
            else if (r.outcome == item_outcome::in_doubt) later_.push_back(row);
            else if (r.outcome != item_outcome::failed) returned_.push_back(row);
            else if (r.kind == fault_kind::permanent) dead_.push_back({row, refused(r)});
            else later_.push_back(row);
        }
        if (r.outcome != item_outcome::accepted) all_sent_ = false;
    }

    [[nodiscard]] static std::string refused(const typename Sender::report& r)
    {
        return r.text.empty() ? "refused by the broker without a text" : std::string(r.text);
    }
    [[nodiscard]] static std::string too_large(const typename Sender::report& r)
    {
        std::string reason = "too large: " + std::to_string(r.bytes) + " bytes";
        if (r.limit != unlimited && r.bytes > r.limit)
            reason += " where the limit is " + std::to_string(r.limit);
        return reason;
    }

    /// Writes the outcomes of rows. Repeats a failed call until the claim has ended or a stop is
    /// requested; then it is false.
    bool write_outcomes()
    {
        while (!try_to_write()) {
            const bool over = clock_.now() >= until_;
            if (!over && clock_.sleep_until(clock_.now() + policy_.poll_interval)) continue;
            ending_ = over ? ending::lost : ending::stopped;
            return false;
        }
        return true;
    }

    [[nodiscard]] bool try_to_write()
    {
        if (!sent_.empty()) {
            const std::uint64_t certain = certain_rows(sent_);
            report_.maybe_twice += certain;  // if the store throws
            const bool marked = written(store_.mark_sent(claimed_, sent_));
            report_.maybe_twice -= certain;
            if (!marked) return false;
            report_.sent += sent_.size();
            close(sent_);
            changed_rows_ = true;
        }
        while (!dead_.empty()) {
            const refusal& d = dead_.back();
            if (!written(store_.mark_dead(claimed_, d.row, d.reason, policy_.dead_row_blocks_key)))
                return false;
            rows_[d.row].open = false;
            ++report_.dead;
            dead_.pop_back();
            changed_rows_ = true;
        }
        put_off();
        return true;
    }

    /// Returns rows to the store. If that fails, they can be claimed when the claim ends.
    void put_off()
    {
        if (!later_.empty()) {
            put_off_until_ = later(put_off_until_, clock_.now() + policy_.poll_interval);
            give_back(later_, clock_.wall_now() + policy_.poll_interval);
            changed_rows_ = true;
        }
        if (!returned_.empty()) give_back(returned_, clock_.wall_now());
    }
    void give_back(std::vector<std::uint64_t>& rows, wall_time until)
    {
        const auto held = store_.hold(claimed_, rows, until);
        if (!held) note(held.error());
        report_.returned += rows.size();
        close(rows);
    }
    void close(std::vector<std::uint64_t>& rows)
    {
        for (const std::uint64_t row : rows) rows_[row].open = false;
        rows.clear();
    }

    /// Ends the claim: the rows that are left can be claimed at once.
    void return_open_rows()
    {
        sender_.on(typename Sender::discarded{}, clock_.now());
        report_.maybe_twice += certain_rows(sent_);
        for (const std::uint64_t row : sent_) rows_[row].open = false;  // not before the lease ends
        for (const refusal& d : dead_) rows_[d.row].open = false;
        if (ending_ == ending::lost) {
            ++report_.lost_claims;
            return;
        }
        std::vector<std::uint64_t> open = open_rows();
        if (!open.empty()) give_back(open, clock_.wall_now());
    }

    [[nodiscard]] bool written(const result<void>& r)
    {
        if (!r) note(r.error());
        return r.has_value();
    }
    void note(const fault& error)
    {
        ++report_.store_errors;
        report_.last_error = error;
    }

    Store& store_;
    Sender& sender_;
    Transmit& transmit_;
    Clock& clock_;
    const relay_report::policy& policy_;
    relay_report& report_;
    const claimed_rows& claimed_;
    std::uint64_t first_;  // the sender's number of the first row
    std::vector<row_state> rows_;
    ending ending_ = ending::running;
    bool flushed_when_idle_ = false;
    bool changed_rows_ = false;
    bool all_sent_ = true;
    steady_time until_{}, renew_at_{}, put_off_until_ = steady_time::lowest();
    wall_time renew_wall_{};
    // Rows with an outcome that is not written yet.
    std::vector<std::uint64_t> sent_{}, later_{}, returned_{};
    std::vector<refusal> dead_{};
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_RELAYED_CLAIM_HPP
