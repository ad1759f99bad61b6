// SPDX-License-Identifier: MIT

#include "relay.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "../engines/smtp.hpp"
#include "../support/program.hpp"
#include "letter.hpp"
#include "mail_table.hpp"
#include "progress_pipe.hpp"
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/core/match.hpp>
#include <waybill/queue.hpp>
#include <waybill/retry.hpp>

namespace outbox {

namespace {

using namespace std::chrono_literals;

waybill::steady_time steady()
{
    return std::chrono::steady_clock::now();
}
waybill::wall_time wall()
{
    return std::chrono::system_clock::now();
}

// All times are short, so that a run is short. In production they are minutes, like an outage.

/// For a transient refusal of a mail: one immediate retry, and then four delayed ones.
constexpr waybill::retry_levels levels{
    .immediate = 1,
    .delayed = 4,
    .pauses = {.base = 200ms, .cap = 2s, .spread = waybill::backoff::jitter::equal}};

/// For a mail without a server, or with a lost connection. Such a failure does not count as a try.
/// Exception: a mail that was deferred `innocent_for` ago while the circuit breaker is closed, as
/// the server may break off because of this mail. RFC 5321, 4.5.4.1, has days here.
constexpr waybill::backoff no_server{
    .base = 300ms, .cap = 300ms, .spread = waybill::backoff::jitter::equal};
constexpr waybill::duration innocent_for = 5min;

/// For the server: three failures in a row, or half of the calls.
constexpr waybill::circuit_breaker::config guarding{
    .failure_ratio = 0.5,
    .minimum_throughput = 20,
    .sampling_duration = 2s,
    .consecutive_failures = 3,
    .timeout = 30s,
    .break_duration = {.base = 250ms, .cap = 1s, .spread = waybill::backoff::jitter::none}};

/// All entries are written with each change, so their number is limited.
constexpr waybill::deferral_options deferral{.max_messages = 500};

static_assert(!validate(levels) && !validate(no_server) && !validate(guarding) &&
              !validate(deferral));

waybill::deferred_messages restored(const std::optional<std::string>& bytes)
{
    if (!bytes) return waybill::deferred_messages(deferral);
    auto loaded = waybill::load<waybill::deferred_messages>(*bytes, deferral);
    // Without them, mails would be lost.
    if (!loaded) throw support::complaint(waybill::describe(loaded.error()));
    return *std::move(loaded);
}

class relay {
public:
    explicit relay(const options& o)
        : progress_(o.progress),
          begun_(waybill::wall_time::at(
              waybill::duration::nanoseconds(static_cast<std::int64_t>(o.begun)))),
          dice_(o.seed),
          mails_(o.db),
          deferred_(restored(mails_.deferred_bytes())),
          server_("127.0.0.1", std::to_string(o.port), 5s)
    {
        if (deferred_.empty()) return;
        const auto due = deferred_.next_due();
        progress_("restored", fmt::format("restored {}; the first is due at {}",
                                          support::counted(deferred_.size(), "deferred mail"),
                                          due ? moment(*due) : "?"));
    }

    void run()
    {
        for (bool open = true; open;) {
            tell_breaker();
            if (guard_.room(steady()) == 0) sleep_until(guard_.next_change(steady()));
            else if (auto mail = next_mail()) deliver(*mail);
            else if (deferred_.empty() && mails_.all_tried()) open = false;
            else sleep_until(next_look());
        }
    }

private:
    /// Deferred mails that are due come before fresh ones, so they are the probes.
    std::optional<letter> next_mail()
    {
        for (const waybill::deferred_messages::taken& h : deferred_.take(wall(), steady(), 1)) {
            auto mail = mails_.find(h.entry.sequence);
            if (!mail) {
                throw support::complaint(
                    fmt::format("the deferred mail {} is not in the table outbox: the database is "
                                "damaged; use another folder",
                                h.entry.sequence));
            }
            mail->tries = h.entry.attempts;
            mail->deferred_since = h.entry.since;
            return mail;
        }
        if (deferred_.size() == deferral.max_messages) return {};  // it is full
        return mails_.next_fresh();
    }

    void deliver(letter& mail)
    {
        while (const auto pass = guard_.try_acquire(steady())) {
            progress_.call(mail.id);
            const waybill::fault f = server_.send(to_mail(mail, message_id(mail)));
            guard_.record(*pass, f.kind, steady(), draw());
            if (f.ok()) return sent(mail);
            said_ = f.text;
            if (f.kind == waybill::fault_kind::infrastructure && is_innocent(mail)) {
                return defer(mail, steady() + pause(no_server, 1, draw()), f);
            }
            ++mail.tries;
            const bool again = waybill::match(
                waybill::decide(levels, mail.tries, f.kind, draw(), steady()),
                [&](waybill::retry_now) { return told_again(mail, f); },
                [&](waybill::wait_until w) { return defer(mail, w.time, f), false; },
                [&](waybill::give_up) { return bury(mail, f), false; });
            if (!again) return;
        }
        defer(mail, steady(), {});  // the circuit breaker gave no permit
    }

    /// Whether a lost connection is the server's fault, not that of the mail.
    bool is_innocent(const letter& mail) const
    {
        const bool others_pass =
            guard_.state(steady()) == waybill::circuit_breaker::circuit_state::closed;
        const bool is_old = mail.deferred_since && wall() - *mail.deferred_since >= innocent_for;
        return !others_pass || !is_old;
    }

    void sent(const letter& mail)
    {
        deferred_.settled(mail.id);
        mails_.sent(mail, save(deferred_));
        progress_("sent", fmt::format("order {}", mail.id));
    }

    bool told_again(const letter& mail, const waybill::fault& f)
    {
        progress_("again", fmt::format("at once: order {}: {}", mail.id, f.text));
        return true;
    }

    /// The due time is a wall time, so that it is valid in another process, too.
    void defer(const letter& mail, waybill::steady_time until, const waybill::fault& f)
    {
        const waybill::wall_time now = wall();
        const waybill::wall_time due = now + (until - steady());
        deferred_.defer({.sequence = mail.id,
                         .due = due,
                         .attempts = mail.tries,
                         .since = mail.deferred_since.value_or(now)});
        mails_.deferred(mail, save(deferred_));
        progress_("deferred", fmt::format("until {}: order {}: {}", moment(due), mail.id,
                                          f.ok() ? "the circuit breaker gave no permit" : f.text));
    }

    void bury(const letter& mail, const waybill::fault& f)
    {
        deferred_.settled(mail.id);
        mails_.dead(mail, save(deferred_), f.text, wall());
        progress_(
            "dead",
            fmt::format("letter: order {} to {} after {}: {}", mail.id, mail.recipient,
                        mail.tries == 1 ? "1 try" : fmt::format("{} tries", mail.tries), f.text));
    }

    /// Equal in every process and after every crash, so that the server can drop duplicates.
    std::string message_id(const letter& mail)
    {
        return std::string(keys_(mail.id)) + "@shop.example";
    }

    void tell_breaker()
    {
        const waybill::steady_time now = steady();
        const waybill::circuit_breaker::circuit_state state = guard_.state(now);
        if (guard_.generation(now) == reported_generation_) return;
        reported_generation_ = guard_.generation(now);
        const std::string line = fmt::format("is {}", name(state));
        if (state != waybill::circuit_breaker::circuit_state::open)
            return progress_("breaker", line);
        const waybill::wall_time until = wall() + (guard_.next_change(now) - now);
        progress_("breaker", fmt::format("{} until {}: {}", line, moment(until), said_));
    }

    waybill::steady_time next_look() const
    {
        waybill::duration pause = 10ms;  // for fresh mails
        if (const auto due = deferred_.next_due()) pause = std::min(pause, *due - wall());
        return steady() + pause;
    }

    static void sleep_until(waybill::steady_time t)
    {
        std::this_thread::sleep_until(std::chrono::steady_clock::time_point(t));
    }

    std::string moment(waybill::wall_time t) const
    {
        return fmt::format("{:.2f} s", static_cast<double>((t - begun_).count()) / 1e9);
    }

    double draw() { return std::uniform_real_distribution<double>()(dice_); }

    progress_pipe progress_;
    waybill::wall_time begun_;
    std::mt19937_64 dice_;
    mail_table mails_;
    waybill::deferred_messages deferred_;
    engines::smtp server_;
    waybill::circuit_breaker guard_{guarding};
    waybill::idempotency_keys keys_{{"shop", "outbox", "mails"}};
    std::string said_{};                     // the last refusal
    std::uint64_t reported_generation_ = 1;  // of the generations of the circuit breaker
};

}  // namespace

void run_relay(const options& o)
{
    relay(o).run();
}

}  // namespace outbox
