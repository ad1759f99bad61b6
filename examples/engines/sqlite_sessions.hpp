// SPDX-License-Identifier: MIT
//
// sqlite_sessions: a queue with sessions in a file, with the rules of Azure Service Bus.
//
//     engines::sqlite_sessions queue(db, {.lock = 30s});
//     if (auto held = *queue.accept()) {               // the next session without a receiver
//         while (auto m = *queue.receive(*held)) {     // its messages, in order
//             work_on(*m);
//             queue.complete(*held, *m);
//         }
//         queue.close(*held);
//     }
//
//   1. A session belongs to one receiver until its lock ends; the lock can be renewed. Each call
//      with a lock that has ended, or that another receiver has, is `ownership_lost`.
//   2. A message with an id that was sent before is accepted and dropped.
//   3. A delivery counts if the lock ends after the message was received, or if the message is
//      abandoned; not if the session is closed. After the last delivery the message becomes a dead
//      letter, and the next message of its session follows.
//   4. The state of a session stays until it is removed, also without messages.
//   5. With partitions, the upper 16 bits of a sequence number are the partition, and the lower 48
//      bits start again after their maximum. Messages are delivered in the order of their arrival.
//   6. Locks end by the wall clock, because processes share it. `accept` finds locks that have
//      ended.
//   7. Each process has a connection of its own.
//
// Failure                                     Fault
// the lock has ended                          ownership_lost
// a message or a state above its limit        permanent
// SQLite                                      infrastructure; the transaction was rolled back

#ifndef WAYBILL_EXAMPLES_ENGINES_SQLITE_SESSIONS_HPP
#define WAYBILL_EXAMPLES_ENGINES_SQLITE_SESSIONS_HPP

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "session_message.hpp"
#include "sqlite_session_tables.hpp"
#include "sqlite_transaction.hpp"
#include <waybill/batch.hpp>
#include <waybill/core/crc32c.hpp>
#include <waybill/session.hpp>

namespace engines {

class sqlite_sessions : private sqlite_transactions, private detail::session_statements {
    template <class T>
    using result = waybill::result<T>;
    using fault = waybill::fault;

public:
    // A waybill::session_queue, with states and transactions.
    using lock = session_lock;
    using message = session_message;
    using sqlite_transactions::begin, sqlite_transactions::transaction;

    explicit sqlite_sessions(database& db, const session_options& o = {})
        : sqlite_transactions(db), session_statements(db), o_(o)
    {
    }

    /// The bytes of a message in a batch.
    [[nodiscard]] static std::uint64_t size_of(const session_message& m)
    {
        return size_in_batch(m);
    }
    static constexpr std::uint64_t envelope = session_batch_envelope;

    /// Sends the whole batch or nothing.
    template <class Batch>
    [[nodiscard]] waybill::send_outcome send(const Batch& batch)
    {
        std::uint64_t bytes = envelope;
        for (const session_message& m : batch) bytes += size_of(m);
        if (bytes > o_.batch_bytes) {
            return waybill::batch_sender::too_large{.actual = bytes, .limit = o_.batch_bytes};
        }
        const auto sent = change<void>([&]() -> result<void> {
            const std::int64_t now = o_.clock();
            forget_.run(now - o_.remembers.count());
            for (const session_message& m : batch) put(m, now);
            return {};
        });
        if (sent) return waybill::batch_sender::accepted{.actual = bytes};
        return waybill::batch_sender::failed{.kind = sent.error().kind, .text = sent.error().text};
    }

    /// Sends one message.
    [[nodiscard]] fault send(const session_message& m)
    {
        const waybill::send_outcome sent = send(std::span(&m, 1));
        if (const auto* f = waybill::get_if<waybill::batch_sender::failed>(&sent))
            return {f->kind, f->text};
        if (waybill::holds_alternative<waybill::batch_sender::accepted>(sent)) return {};
        return waybill::permanent("the message is larger than the limit of the queue, " +
                                  std::to_string(o_.batch_bytes) + " bytes");
    }
    /// A message with step properties. Its id is `id`, or that of its step.
    [[nodiscard]] fault send(const waybill::step_properties& s, std::string body,
                             const waybill::step_properties::origin& origin = {},
                             std::string id = {})
    {
        if (id.empty()) id = waybill::job::message_id(s);
        session_message m{.session = s.session, .id = std::move(id), .body = std::move(body)};
        waybill::write_step_properties(s, origin,
                                       [&](std::string_view name, std::string_view value) {
                                           m.properties.emplace(name, value);
                                       });
        return send(m);
    }
    /// A message of a redrive.
    [[nodiscard]] fault send(const waybill::redrive_plan::planned_message& m)
    {
        return send(m.properties, std::string(m.body), m.origin, m.message_id);
    }

    /// Accepts the session with the oldest message, of those without a holder.
    [[nodiscard]] result<std::optional<session_lock>> accept()
    {
        return change<std::optional<session_lock>>([&]() -> result<std::optional<session_lock>> {
            const std::int64_t now = o_.clock();
            end_locks(now);
            std::optional<session_lock> held;
            next_.each([&] { held.emplace().session = next_.bytes(0); }, now);
            if (held) take(*held, now);
            return held;
        });
    }
    /// Accepts the given session, unless a receiver has it. It may have no messages.
    [[nodiscard]] result<std::optional<session_lock>> accept(std::string_view session)
    {
        return change<std::optional<session_lock>>([&]() -> result<std::optional<session_lock>> {
            const std::int64_t now = o_.clock();
            end_locks(now);
            std::optional<session_lock> held;
            if (has_holder_.number(session)) return held;
            take(held.emplace(session_lock{std::string(session)}), now);
            return held;
        });
    }

    /// The next message that was not received under this lock.
    [[nodiscard]] result<std::optional<session_message>> receive(const session_lock& l)
    {
        using found = std::optional<session_message>;
        return under<found>(l, [&]() -> result<found> {
            found m;
            take_.each([&] { m = message_in(take_); }, l.session, l.token);
            return m;
        });
    }

    [[nodiscard]] fault complete(const session_lock& l, const session_message& m)
    {
        return settle(l, [&] {
            complete_.run(m.sequence, l.session, l.token);
            return changed();
        });
    }
    /// The message is delivered again, before all others, and this delivery counts.
    [[nodiscard]] fault abandon(const session_lock& l, const session_message& m)
    {
        return settle(l, [&] {
            abandon_.run(m.sequence, l.session, l.token);
            const bool done = changed();
            bury();
            return done;
        });
    }

    [[nodiscard]] fault renew(const session_lock& l)
    {
        return said(under<void>(l, [&]() -> result<void> {
            renew_.run(until(o_.clock()), l.session);
            return {};
        }));
    }

    /// Gives the session back. It is accepted again after `pause`.
    [[nodiscard]] fault close(const session_lock& l, std::chrono::milliseconds pause = {})
    {
        return said(under<void>(l, [&]() -> result<void> {
            untake_.run(l.session);
            unlock_.run(o_.clock() + pause.count(), l.session);
            return {};
        }));
    }

    /// The same. The pause is rounded up to milliseconds.
    [[nodiscard]] fault close(const session_lock& l, waybill::duration pause)
    {
        const std::chrono::nanoseconds exact(pause.count());
        return close(l, std::chrono::ceil<std::chrono::milliseconds>(exact));
    }

    [[nodiscard]] result<std::optional<std::string>> load(const session_lock& l)
    {
        return state(l);
    }
    [[nodiscard]] fault save(const session_lock& l, const std::string& bytes)
    {
        return set_state(l, bytes);
    }
    [[nodiscard]] fault clear(const session_lock& l) { return set_state(l, {}); }
    /// In a transaction on the same connection, which may contain other writes. The lock is checked
    /// in it, and no other connection can write before its end.
    [[nodiscard]] fault save(transaction& tx, const session_lock& l, const std::string& bytes)
    {
        if (bytes.size() > o_.state_bytes) return too_large(bytes.size());
        bool held = false;
        const auto written = within(tx, [&] {
            held = held_.number(l.session, l.token, o_.clock()).has_value();
            if (held) set_state_.run(blob{bytes}, l.session);
        });
        if (!written) return written.error();
        return held ? fault{} : lost(l).error();
    }

    [[nodiscard]] result<std::optional<std::string>> state(const session_lock& l)
    {
        using found = std::optional<std::string>;
        return under<found>(l, [&]() -> result<found> {
            found bytes;
            state_.each(
                [&] {
                    if (!state_.null(0)) bytes = state_.bytes(0);
                },
                l.session);
            return bytes;
        });
    }
    /// An empty optional removes the state.
    [[nodiscard]] fault set_state(const session_lock& l, std::optional<std::string_view> bytes)
    {
        if (bytes && bytes->size() > o_.state_bytes) return too_large(bytes->size());
        return said(under<void>(l, [&]() -> result<void> {
            std::optional<blob> b;
            if (bytes) b = blob{*bytes};
            set_state_.run(b, l.session);
            return {};
        }));
    }

    /// The sessions that have a state.
    [[nodiscard]] result<std::vector<std::string>> sessions_with_state()
    {
        return answer([&] {
            std::vector<std::string> all;
            with_state_.each([&] { all.push_back(with_state_.bytes(0)); });
            return all;
        });
    }

    /// The oldest dead letter that was not read within the time of a lock.
    [[nodiscard]] result<std::optional<session_message>> receive_dead()
    {
        using found = std::optional<session_message>;
        return change<found>([&]() -> result<found> {
            found m;
            const std::int64_t now = o_.clock();
            dead_.each([&] { m = dead_in(dead_); }, until(now), now);
            return m;
        });
    }
    /// The dead letter with the next higher sequence number. It is read only, and not received.
    [[nodiscard]] result<std::optional<session_message>> peek_dead(std::uint64_t after)
    {
        return answer([&] {
            std::optional<session_message> m;
            peek_dead_.each([&] { m = dead_in(peek_dead_); }, after);
            return m;
        });
    }
    [[nodiscard]] fault complete_dead(const session_message& m)
    {
        return said(answer([&] { remove_dead_.run(m.sequence); }));
    }

    /// Messages that are neither complete nor dead letters.
    [[nodiscard]] std::uint64_t depth()
    {
        return static_cast<std::uint64_t>(depth_.number().value_or(0));
    }

private:
    static constexpr std::uint64_t numbers = std::uint64_t{1} << 48U;

    [[nodiscard]] std::int64_t until(std::int64_t now) const { return now + o_.lock.count(); }
    [[nodiscard]] bool changed() const { return sqlite3_changes(db_.handle()) != 0; }

    [[nodiscard]] fault too_large(std::size_t bytes) const
    {
        return waybill::permanent("the session state has " + std::to_string(bytes) +
                                  " bytes, the limit is " + std::to_string(o_.state_bytes));
    }
    [[nodiscard]] static fault said(const result<void>& r) { return r ? fault{} : r.error(); }
    [[nodiscard]] static waybill::unexpected<fault> lost(const session_lock& l)
    {
        return waybill::unexpected(
            waybill::ownership_lost("the lock of " + l.session + " is lost"));
    }

    /// One transaction, which is rolled back if f returns a fault.
    template <class T, class F>
    [[nodiscard]] result<T> change(F&& f)
    {
        auto tx = begin();
        if (!tx) return waybill::unexpected(std::move(tx).error());
        auto r = answer(f);
        if (!r) return waybill::unexpected(std::move(r).error());
        if (!*r) return *std::move(r);
        const auto end = tx->commit();
        if (end && *end == waybill::commit_outcome::applied) return *std::move(r);
        return waybill::unexpected(waybill::infrastructure("the commit of the queue failed"));
    }

    /// The same for the holder of a session only.
    template <class T, class F>
    [[nodiscard]] result<T> under(const session_lock& l, F&& f)
    {
        return change<T>([&]() -> result<T> {
            if (!held_.number(l.session, l.token, o_.clock())) return lost(l);
            return f();
        });
    }

    template <class F>
    [[nodiscard]] fault settle(const session_lock& l, F&& f)
    {
        return said(under<void>(l, [&]() -> result<void> {
            if (!f()) return lost(l);
            return {};
        }));
    }

    void take(session_lock& l, std::int64_t now)
    {
        lock_.each([&] { l.token = lock_.size(0); }, l.session, until(now));
    }

    void put(const session_message& m, std::int64_t now)
    {
        if (!m.id.empty()) {
            use_id_.run(m.id, now);
            if (!changed()) return;
        }
        const std::uint64_t parts = std::max<std::uint64_t>(o_.partitions, 1);
        const std::uint64_t part = waybill::crc32c(m.session) % parts;
        std::uint64_t number = 0;
        number_.each([&] { number = number_.size(0) % numbers; }, part);
        put_.run(part << 48U | number, m.session, m.id, blob{stored_properties(m)}, blob{m.body},
                 now);
    }

    void end_locks(std::int64_t now)
    {
        bool any = false;
        ended_.each([&] { any = true; }, now);
        if (!any) return;
        count_.run(now);
        end_.run(now);
        bury();
    }
    void bury()
    {
        bury_.run(o_.deliveries);
        if (changed()) buried_.run(o_.deliveries);
    }

    [[nodiscard]] static session_message message_in(const statement& s)
    {
        session_message m{.session = s.bytes(1), .id = s.bytes(2), .body = s.bytes(4)};
        if (!read_properties(s.bytes(3), m)) {
            throw sqlite_error("the properties of a message cannot be read", SQLITE_CORRUPT);
        }
        m.sequence = s.size(0);
        m.enqueued = s.integer(5);
        m.deliveries = s.whole<std::uint64_t>(6);
        return m;
    }

    [[nodiscard]] static session_message dead_in(const statement& s)
    {
        session_message m = message_in(s);
        m.dead_for = s.bytes(7);
        return m;
    }

    session_options o_;
};

static_assert(waybill::session_queue<sqlite_sessions>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SQLITE_SESSIONS_HPP
