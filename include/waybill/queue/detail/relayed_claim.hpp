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

/// Puts the id of a row before the error of the store.
template <class Message>
void name_row(fault& error, const Message& m)
{
    error.text.insert(0, "\": ").insert(0, std::string_view(m.id)).insert(0, "row \"");
}

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
        claimed_at(now, wall);
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
                    if (write_outcomes()) wait(w.time);
                },
                [&](idle) {
                    if (!sender_.finished() && !std::exchange(flushed_when_idle_, true))
                        sender_.on(typename Sender::flushed{}, now);
                    else if (write_outcomes()) ending_ = ending::done;
                });
        }
        end_claim();
        return ending_;
    }

    /// True if a row was marked, or put off until a later time.
    [[nodiscard]] bool changed_rows() const noexcept { return changed_rows_; }
    [[nodiscard]] bool all_sent() const noexcept { return all_sent_; }
    /// The fewest items of a batch that failed as a whole, until its rows were put off; or 0.
    [[nodiscard]] std::uint64_t failed_batch() const noexcept { return failed_batch_; }
    /// Rows that the broker has accepted and that are not marked as sent.
    [[nodiscard]] const std::vector<std::uint64_t>& unmarked() const noexcept { return unmarked_; }
    /// The latest time until which rows were put off.
    [[nodiscard]] steady_time put_off_until() const noexcept { return put_off_until_; }

private:
    struct row_state {
        bool open = true;
        bool may_have_arrived = false;
        bool waits = false;             // its last answer uses up no try
        std::uint64_t failed_with = 0;  // items of its last batch if that failed as a whole, or 0
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

    void claimed_at(steady_time now, wall_time wall)
    {
        renewed_ = now;
        renewed_wall_ = wall;
        renew_at_ = now + policy_.lease / 4;
    }
    /// True if less than `lease / part` has passed since the last renewal.
    [[nodiscard]] bool is_within(int part)
    {
        return clock_.now() < renewed_ + policy_.lease / part &&
               clock_.wall_now() < renewed_wall_ + policy_.lease / part;
    }
    /// Then publish may take three quarters of the lease.
    [[nodiscard]] bool is_new() { return is_within(4); }
    /// Then no relay has claimed the rows whose clock is ahead by less than half of the lease.
    [[nodiscard]] bool is_certain() { return is_within(2); }
    [[nodiscard]] steady_time until() const { return renewed_ + policy_.lease; }

    /// False if a stop is requested, or if the claim must be renewed first and cannot.
    [[nodiscard]] bool may_send()
    {
        if (clock_.stop_requested()) {
            ending_ = ending::stopped;
            return false;
        }
        if (is_new() || renew()) return true;
        if (ending_ == ending::running && !clock_.sleep_until(renew_at_)) ending_ = ending::stopped;
        return false;
    }

    /// False if the call failed; the claim may be lost.
    [[nodiscard]] bool renew()
    {
        const steady_time now = clock_.now();
        const wall_time wall = clock_.wall_now();
        const std::vector<std::uint64_t> rows = open_rows();
        if (rows.empty()) return true;
        const auto renewed = store_.hold(claimed_, rows, wall + policy_.lease);
        if (renewed) {
            claimed_at(now, wall);
            return true;
        }
        note(renewed.error());
        if (renewed.error().kind == fault_kind::ownership_lost || now >= until())
            ending_ = ending::lost;
        renew_at_ = now + policy_.poll_interval;
        return false;
    }

    /// Waits for `time`. Rows that have waited long end the claim, so that new rows of other keys
    /// can be claimed.
    void wait(steady_time time)
    {
        const steady_time now = clock_.now();
        if (!any_waits()) return_at_ = steady_time::highest();
        if (now >= return_at_) {
            ending_ = ending::done;
            return;
        }
        if (!clock_.sleep_until(earlier(time, earlier(renew_at_, return_at_))))
            ending_ = ending::stopped;
        else if (!is_new()) (void)renew();
    }
    [[nodiscard]] bool any_waits() const
    {
        for (const row_state& r : rows_) {
            if (r.open && r.waits) return true;
        }
        return false;
    }
    void set_waiting(row_state& row)
    {
        row.waits = true;
        return_at_ = earlier(return_at_, clock_.now() + policy_.poll_interval);
    }

    [[nodiscard]] std::vector<std::uint64_t> open_rows() const { return open_rows(rows_); }
    [[nodiscard]] static std::vector<std::uint64_t> open_rows(const std::vector<row_state>& rows)
    {
        std::vector<std::uint64_t> open;
        for (std::uint64_t row = 0; row != rows.size(); ++row) {
            if (rows[row].open) open.push_back(row);
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
        note_answer(a, o);
        if (holds_alternative<typename Sender::outcome_unknown>(o)) set_doubtful(a);
        else report_.maybe_twice -= doubtful;
        const auto result = match(o, [&](auto& event) {
            event.attempt = attempt;
            if constexpr (requires { event.random; }) {
                if (event.random == 1) event.random = clock_.random();
            }
            return sender_.on(event, clock_.now());
        });
        if (result == event_result::invalid) {  // it does not show what has arrived
            report_.maybe_twice += doubtful;
            set_doubtful(a);
            sender_.on(typename Sender::outcome_unknown{attempt, clock_.random()}, clock_.now());
        }
        guard.complete();
    }

    /// Notes the answers for the whole batch before the sender gets it.
    void note_answer(const typename Sender::send& a, const send_outcome_of<Sender>& o)
    {
        const bool waits = holds_alternative<typename Sender::throttled>(o);
        const bool fails = holds_alternative<typename Sender::failed>(o) ||
                           holds_alternative<typename Sender::outcome_unknown>(o);
        for_each_row(a, [&](std::uint64_t n) {
            rows_[n].waits = false;
            if (waits) set_waiting(rows_[n]);
            rows_[n].failed_with = fails ? a.items.items() : 0;
        });
        const auto* part = get_if<typename Sender::partial>(&o);
        if (!part) return;
        for (const auto& entry : part->failed) {
            if (entry.index >= a.items.items()) return;  // the sender refuses the answer
        }
        for (const auto& entry : part->failed) note_entry(a, entry);
    }
    template <class Entry>
    void note_entry(const typename Sender::send& a, const Entry& entry)
    {
        row_state& row = rows_[row_of(a, entry.index)];
        const auto* failed = get_if<typename Sender::failed>(&entry.answer);
        const bool waits =
            failed ? failed->kind == fault_kind::infrastructure || failed->kind == fault_kind::none
                   : holds_alternative<typename Sender::throttled>(entry.answer);
        if (waits) set_waiting(row);
        const bool unknown = holds_alternative<typename Sender::outcome_unknown>(entry.answer) ||
                             holds_alternative<typename Sender::partial>(entry.answer);
        if (!unknown) return;
        if (!std::exchange(row.may_have_arrived, true)) ++report_.maybe_twice;
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
    [[nodiscard]] std::uint64_t row_of(const typename Sender::send& a, std::uint64_t entry) const
    {
        std::uint64_t n = a.items.begin()->first;
        for (const auto& run : a.items) {
            n = run.first + entry;
            if (entry < run.count) break;
            entry -= run.count;
        }
        return n - first_;
    }

    void record(const typename Sender::report& r)
    {
        if (r.overtook) report_.overtook += r.items.count;
        for (std::uint64_t n = r.items.first; n != r.items.end(); ++n) {
            const std::uint64_t row = n - first_;
            if (r.outcome == item_outcome::accepted) sent_.push_back(row);
            else if (r.outcome == item_outcome::too_large) dead_.push_back({row, too_large(r)});
            else if (r.outcome == item_outcome::in_doubt) put_off(row);
            else if (r.outcome != item_outcome::failed) returned_.push_back(row);
            else if (r.kind == fault_kind::permanent) dead_.push_back({row, refused(r)});
            else put_off(row);
        }
        if (r.outcome != item_outcome::accepted) all_sent_ = false;
    }

    void put_off(std::uint64_t row)
    {
        later_.push_back(row);
        const std::uint64_t items = rows_[row].failed_with;
        if (items > 1 && (failed_batch_ == 0 || items < failed_batch_)) failed_batch_ = items;
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

    /// Writes the outcomes of rows, if no other relay has claimed them. Repeats a failed call until
    /// the claim has ended or a stop is requested; then it is false.
    bool write_outcomes()
    {
        while (!(is_certain() || renew()) || !try_to_write()) {
            if (ending_ == ending::lost) return false;
            const bool over = clock_.now() >= until();
            if (!over && clock_.sleep_until(clock_.now() + policy_.poll_interval)) continue;
            ending_ = over ? ending::lost : ending::stopped;
            return false;
        }
        return true;
    }

    /// After a failure, each row is written alone if the store works. A row that it refuses then
    /// is left as it is.
    [[nodiscard]] bool try_to_write()
    {
        if (write_failed_ && !store_works()) return false;
        const bool leave = std::exchange(write_failed_, true);
        if (leave) mark_each_sent();
        else if (!mark_sent()) return false;
        while (!dead_.empty()) {
            const refusal& d = dead_.back();
            const auto marked =
                store_.mark_dead(claimed_, d.row, d.reason, policy_.dead_row_blocks_key);
            if (!written(marked) && !leave) return false;
            rows_[d.row].open = false;
            if (marked) {
                ++report_.dead;
                changed_rows_ = true;
            } else {
                leave_unwritten(d.row);
            }
            dead_.pop_back();
        }
        write_failed_ = false;
        put_off();
        return true;
    }
    /// True if the store answers a call for other rows, or without these for all.
    [[nodiscard]] bool store_works()
    {
        std::vector<row_state> others = rows_;
        for (const std::uint64_t row : sent_) others[row].open = false;
        for (const refusal& d : dead_) others[d.row].open = false;
        std::vector<std::uint64_t> rows = open_rows(others);
        if (rows.empty()) rows = open_rows();
        if (rows.empty()) return true;
        const auto held = store_.hold(claimed_, rows, clock_.wall_now() + policy_.lease);
        // It can be lost because a row is marked: a failed call may have taken effect.
        return written(held) || held.error().kind == fault_kind::ownership_lost;
    }
    [[nodiscard]] bool mark_sent()
    {
        if (sent_.empty()) return true;
        const std::uint64_t certain = certain_rows(sent_);
        report_.maybe_twice += certain;  // if the store throws
        const bool marked = written(store_.mark_sent(claimed_, sent_));
        report_.maybe_twice -= certain;
        if (!marked) return false;
        report_.sent += sent_.size();
        close(sent_);
        changed_rows_ = true;
        return true;
    }
    void mark_each_sent()
    {
        report_.maybe_twice += certain_rows(sent_);  // if the store throws
        std::vector<std::uint64_t> one;
        while (!sent_.empty()) {
            one.assign(1, sent_.back());
            if (written(store_.mark_sent(claimed_, one))) {
                report_.maybe_twice -= certain_rows(one);
                ++report_.sent;
                changed_rows_ = true;
            } else {
                leave_unwritten(one[0]);
                unmarked_.push_back(one[0]);
            }
            close(one);
            sent_.pop_back();
        }
    }
    /// The row stays in the claim until that ends.
    void leave_unwritten(std::uint64_t row)
    {
        ++report_.unwritten;
        name_row(report_.last_error, claimed_.messages[row]);
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
        if (!held) {
            note(held.error());
            if (held.error().kind == fault_kind::ownership_lost) ending_ = ending::lost;
        }
        report_.returned += rows.size();
        close(rows);
    }
    void close(std::vector<std::uint64_t>& rows)
    {
        for (const std::uint64_t row : rows) rows_[row].open = false;
        rows.clear();
    }

    /// Ends the claim: the rows that are left can be claimed at once.
    void end_claim()
    {
        sender_.on(typename Sender::discarded{}, clock_.now());
        report_.maybe_twice += certain_rows(sent_);
        for (const std::uint64_t row : sent_) {
            rows_[row].open = false;  // not before the lease ends
            unmarked_.push_back(row);
        }
        for (const refusal& d : dead_) rows_[d.row].open = false;
        if (sender_.policy().may_overtake) {  // the sender forgets the answers that were lost
            for (const std::uint64_t row : open_rows())
                report_.overtook += rows_[row].may_have_arrived ? 1U : 0U;
        }
        if (ending_ != ending::lost) return_rows();
        if (ending_ == ending::lost) ++report_.lost_claims;
    }
    void return_rows()
    {
        later_.clear();
        returned_.clear();
        for (const std::uint64_t row : open_rows()) {
            all_sent_ = false;
            if (rows_[row].waits) later_.push_back(row);
            else returned_.push_back(row);
        }
        put_off();
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
    bool write_failed_ = false;
    std::uint64_t failed_batch_ = 0;
    steady_time renewed_{}, renew_at_{}, put_off_until_ = steady_time::lowest();
    steady_time return_at_ = steady_time::highest();  // rows have waited long enough
    wall_time renewed_wall_{};
    // Rows with an outcome that is not written yet.
    std::vector<std::uint64_t> sent_{}, later_{}, returned_{};
    std::vector<refusal> dead_{};
    std::vector<std::uint64_t> unmarked_{};
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_QUEUE_DETAIL_RELAYED_CLAIM_HPP
