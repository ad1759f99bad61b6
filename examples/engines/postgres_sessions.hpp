// SPDX-License-Identifier: MIT
//
// postgres_sessions: a queue with sessions in PostgreSQL, whose session locks are row locks.
//
//     engines::postgres db("host=127.0.0.1 dbname=shop");
//     engines::postgres_sessions queue(db, "host=127.0.0.1 dbname=shop", {.lock = 30s});
//     if (auto held = *queue.accept()) {                     // SELECT ... FOR UPDATE SKIP LOCKED
//         while (auto m = *queue.receive(*held)) {
//             auto tx = *queue.begin();
//             insert_effect.run(m->id, m->body);             // engines::prepared on db
//             queue.save(tx, *held, new_state);              // with the state, or not at all
//             if (*tx.commit() != waybill::commit_outcome::applied) break;
//             queue.complete(*held, *m);
//         }
//         queue.close(*held);
//     }
//
// A held session has a connection of its own, the holder. Its transaction locks one row and writes
// nothing. All writes are made by `db`, each call in its own transaction. One transaction for lock
// and writes would be simpler, but its rollback would also remove the delivery count: a step that
// ends its process would be delivered without end. It would also repeat all steps of the session.
//
//   1. A process that ends releases its sessions at once, since its holders end with it. No clock
//      is compared for that.
//   2. Each acceptance has a token of its own. Each write locks the session's row in
//      `session_states` and compares the token there. After another process has accepted the
//      session, no write of the former one can commit.
//   3. A step takes effect once if its effect and `save(tx, ...)` are one transaction. The state
//      then has the step. If the message is delivered again, `waybill::pipeline` completes it
//      without a run.
//   4. `receive` commits the delivery count before the step begins. `close` takes it back. After
//      the last delivery the message becomes a dead letter of the queue, and the next one follows.
//   5. A message with an id that was sent before, within `remembers`, is accepted and dropped.
//   6. The server ends a holder that was idle for `lock`: its process hangs, or is cut off. `renew`
//      restarts that time. It must be longer than any step.
//
//     the process ends                 the session is free; the message in hand is delivered again
//     ... before the commit of a step  no effect; the delivery counts
//     ... after it                     the step is in the state, and does not run again
//     a holder's connection ends       each call with its lock is `ownership_lost`
//     db's connection ends             the call is `infrastructure`; the lock stays
//     ... in a commit                  `infrastructure`, and either outcome: load the state again
//     the server ends or fails over    all locks are free; each confirmed commit is there
//     the process hangs                free after `lock`; then `ownership_lost`
//     SQLSTATE 22, 23, 54              `permanent`; all other ones `infrastructure`
//
// A state and its dead letter are two transactions. The dead letter is written before the message
// is complete and replaces itself if it is written again. `confirm` checks the lock in the
// transaction of the dead letter. Pauses, `enqueued` and `remembers` use the server's clock.
//
// Connections: one, and one for each session that is held at a time. `accept` passes over the
// messages of locked sessions that are older than its own. Sends wait for each other. The rows of
// a session stay after its last message. An open holder keeps VACUUM from removing dead rows.
//
// Needs PostgreSQL 10 or later. A connection pooler must assign connections to clients, not to
// transactions. The object and its connections belong to one thread.

#ifndef WAYBILL_EXAMPLES_ENGINES_POSTGRES_SESSIONS_HPP
#define WAYBILL_EXAMPLES_ENGINES_POSTGRES_SESSIONS_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "postgres.hpp"
#include "postgres_session_tables.hpp"
#include "postgres_store.hpp"
#include "session_message.hpp"
#include <waybill/batch.hpp>
#include <waybill/session.hpp>

namespace engines {

struct postgres_session_options {
    std::chrono::milliseconds lock{30'000};  ///< Of a process that hangs. At least 1.
    std::uint64_t deliveries = 10;           ///< Of one message, before it is a dead letter.
    std::chrono::milliseconds remembers{600'000};
    std::uint64_t batch_bytes = 262'144;
    std::uint64_t state_bytes = 262'144;
};

class postgres_sessions : private detail::postgres_session_statements {
    template <class T>
    using result = waybill::result<T>;
    using fault = waybill::fault;
    using milliseconds = std::chrono::milliseconds;

public:
    // A waybill::session_queue, with states and transactions.
    using lock = session_lock;
    using message = session_message;
    using transaction = postgres_store::transaction;

    /// Does not connect yet. `where` is the address of the same database, for the holders.
    postgres_sessions(postgres& db, std::string where, const postgres_session_options& o = {})
        : postgres_session_statements(db), where_(std::move(where)), o_(o), transactions_(db)
    {
    }

    // ---- sending

    /// Sends the whole batch or nothing.
    template <class Batch>
    [[nodiscard]] waybill::send_outcome send(const Batch& batch)
    {
        std::uint64_t bytes = session_batch_envelope;
        for (const session_message& m : batch) bytes += size_in_batch(m);
        if (bytes > o_.batch_bytes) {
            return waybill::batch_sender::too_large{.actual = bytes, .limit = o_.batch_bytes};
        }
        const auto sent = change<void>([&]() -> result<void> {
            one_sender_.run();
            forget_.run(o_.remembers.count());
            for (const session_message& m : batch)
                put_.run(m.session, m.id, stored_properties(m), m.body);
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

    // ---- sessions

    /// Accepts the session with the oldest message, of those without a holder or a pause.
    [[nodiscard]] result<std::optional<session_lock>> accept()
    {
        const auto made = connected([&] { on_.outside([&] { prepare(); }); });
        if (!made) return waybill::unexpected(made.error());
        // Another process can complete the messages, or pause the session, before its row is
        // locked here.
        for (int tries = 0; tries != most_tries; ++tries) {
            auto h = new_holder();
            std::optional<std::string> next;
            const auto locked = connected([&] { next = h->lock_next(); });
            if (!locked) return waybill::unexpected(locked.error());
            if (!next) return std::optional<session_lock>();
            auto held = take(std::move(h), *next, take_next_);
            if (!held || *held) return held;
        }
        return std::optional<session_lock>();
    }
    /// Accepts this session, unless it has a holder. It need not have messages.
    [[nodiscard]] result<std::optional<session_lock>> accept(std::string_view id)
    {
        const std::string session(id);
        const auto made = change<void>([&]() -> result<void> {
            state_row_.run(session);
            lock_row_.run(session);
            return {};
        });
        if (!made) return waybill::unexpected(made.error());
        auto h = new_holder();
        bool free = false;
        const auto locked = connected([&] { free = h->lock(session); });
        if (!locked) return waybill::unexpected(locked.error());
        if (!free) return std::optional<session_lock>();
        return take(std::move(h), session, take_);
    }

    /// The next message that was not received with this lock.
    [[nodiscard]] result<std::optional<session_message>> receive(const session_lock& l)
    {
        using found = std::optional<session_message>;
        return under<found>(l, [&]() -> result<found> {
            const rows r = receive_.run(l.session, l.token);
            if (r.empty()) return found();
            return found(message_in(r));
        });
    }

    [[nodiscard]] fault complete(const session_lock& l, const session_message& m)
    {
        return settle(l, [&] { return complete_.run(m.sequence, l.session, l.token).touched(); });
    }
    /// The message is delivered again, before all others, and this delivery counts.
    [[nodiscard]] fault abandon(const session_lock& l, const session_message& m)
    {
        return settle(l, [&] {
            const std::uint64_t done = abandon_.run(m.sequence, l.session, l.token).touched();
            bury_.run(l.session, o_.deliveries);
            return done;
        });
    }

    /// The server confirms that the holder's transaction is open.
    [[nodiscard]] fault renew(const session_lock& l)
    {
        const auto at = find(l);
        if (at == held_by_.end() || !at->second.by->confirm()) return drop(l);
        return fault_of(under<void>(l, [] { return result<void>(); }));
    }

    /// Gives the session back. No process accepts it before `pause` is over.
    [[nodiscard]] fault close(const session_lock& l, milliseconds pause = {})
    {
        const fault f = fault_of(under<void>(l, [&]() -> result<void> {
            untake_.run(l.session, l.token);
            if (pause.count() > 0) pause_.run(l.session, pause.count());
            return {};
        }));
        if (const auto at = find(l); at != held_by_.end()) {
            at->second.by->release();
            if (idle_.size() < most_idle) idle_.push_back(std::move(at->second.by));
            held_by_.erase(at);
        }
        return f;
    }
    /// The same. The pause is rounded up to milliseconds.
    [[nodiscard]] fault close(const session_lock& l, waybill::duration pause)
    {
        return close(l, std::chrono::ceil<milliseconds>(std::chrono::nanoseconds(pause.count())));
    }

    // ---- states

    [[nodiscard]] result<std::optional<std::string>> load(const session_lock& l)
    {
        using found = std::optional<std::string>;
        return under<found>(l, [&]() -> result<found> {
            const rows r = state_.run(l.session);
            if (r.empty() || r.null(0, 0)) return found();
            return found(r.bytes(0, 0));
        });
    }
    [[nodiscard]] fault save(const session_lock& l, const std::string& bytes)
    {
        return set_state(l, bytes);
    }
    [[nodiscard]] fault clear(const session_lock& l) { return set_state(l, {}); }
    /// An empty optional removes the state.
    [[nodiscard]] fault set_state(const session_lock& l, std::optional<std::string_view> bytes)
    {
        if (bytes && bytes->size() > o_.state_bytes) return too_large(bytes->size());
        return settle(l, [&] { return set_state_.run(l.session, l.token, bytes).touched(); });
    }
    [[nodiscard]] result<std::optional<std::string>> state(const session_lock& l)
    {
        return load(l);
    }

    /// A transaction of `db`, which may contain other writes.
    [[nodiscard]] result<transaction> begin()
    {
        const auto made = connected([&] { on_.outside([&] { prepare(); }); });
        if (!made) return waybill::unexpected(made.error());
        return transactions_.begin();
    }
    [[nodiscard]] fault save(transaction&, const session_lock& l, const std::string& bytes)
    {
        if (bytes.size() > o_.state_bytes) return too_large(bytes.size());
        return within(l, [&] { return set_state_.run(l.session, l.token, bytes).touched() == 1; });
    }
    /// Checks the lock. Until the end of the transaction, no other process can accept the session.
    [[nodiscard]] fault confirm(transaction&, const session_lock& l)
    {
        return within(l, [&] { return !held_.run(l.session, l.token).empty(); });
    }

    /// The sessions that have a state.
    [[nodiscard]] result<std::vector<std::string>> sessions_with_state()
    {
        return read<std::vector<std::string>>([&] {
            std::vector<std::string> all;
            const rows r = with_state_.run();
            for (int i = 0; i != r.size(); ++i) all.push_back(r.bytes(i, 0));
            return all;
        });
    }

    // ---- dead letters of the queue itself

    /// The oldest one that was not received within the time of a lock.
    [[nodiscard]] result<std::optional<session_message>> receive_dead()
    {
        using found = std::optional<session_message>;
        return change<found>(
            [&]() -> result<found> { return dead_in(dead_.run(o_.lock.count())); });
    }
    /// The one with the next higher sequence number, which is not received.
    [[nodiscard]] result<std::optional<session_message>> peek_dead(std::uint64_t after)
    {
        return read<std::optional<session_message>>([&] { return dead_in(peek_dead_.run(after)); });
    }
    [[nodiscard]] fault complete_dead(const session_message& m)
    {
        return fault_of(change<void>([&]() -> result<void> {
            remove_dead_.run(m.sequence);
            return {};
        }));
    }

    /// Messages that are neither complete nor dead letters.
    [[nodiscard]] result<std::uint64_t> depth()
    {
        return read<std::uint64_t>([&] { return depth_.run().number<std::uint64_t>(0, 0); });
    }

    /// The process of the server that has the row lock of this session; 0 without one.
    [[nodiscard]] int holder_of(const session_lock& l)
    {
        const auto at = find(l);
        return at == held_by_.end() ? 0 : at->second.by->server_process();
    }

private:
    using holder = detail::session_lock_holder;
    struct acceptance {
        std::uint64_t token = 0;
        std::unique_ptr<holder> by{};
    };
    using acceptances = std::map<std::string, acceptance, std::less<>>;
    static constexpr int most_tries = 16;
    static constexpr std::size_t most_idle = 2;

    [[nodiscard]] fault too_large(std::size_t bytes) const
    {
        return waybill::permanent("the session state has " + std::to_string(bytes) +
                                  " bytes, the limit is " + std::to_string(o_.state_bytes));
    }
    [[nodiscard]] static fault fault_of(const result<void>& r) { return r ? fault{} : r.error(); }
    [[nodiscard]] static fault lost(const session_lock& l)
    {
        return waybill::ownership_lost("the lock of " + l.session +
                                       " is lost: its connection has ended, or it was closed");
    }
    [[nodiscard]] fault drop(const session_lock& l)
    {
        if (const auto at = find(l); at != held_by_.end()) held_by_.erase(at);
        return lost(l);
    }
    [[nodiscard]] acceptances::iterator find(const session_lock& l)
    {
        const auto at = held_by_.find(l.session);
        return at == held_by_.end() || at->second.token == l.token ? at : held_by_.end();
    }
    [[nodiscard]] bool holds(const session_lock& l)
    {
        const auto at = find(l);
        return at != held_by_.end() && at->second.by->open();
    }

    [[nodiscard]] std::unique_ptr<holder> new_holder()
    {
        if (idle_.empty()) return std::make_unique<holder>(where_, o_.lock);
        auto h = std::move(idle_.back());
        idle_.pop_back();
        return h;
    }

    /// The row in session_locks is locked by `h`. `statement` sets a new token, or finds that there
    /// is nothing to accept.
    [[nodiscard]] result<std::optional<session_lock>> take(std::unique_ptr<holder> h,
                                                           const std::string& session,
                                                           prepared& statement)
    {
        using found = std::optional<session_lock>;
        auto held = change<found>([&]() -> result<found> {
            const rows r = statement.run(session);
            if (r.empty()) return found();
            untake_lost_.run(session);
            bury_.run(session, o_.deliveries);
            return found(session_lock{session, r.number<std::uint64_t>(0, 0)});
        });
        if (held && *held) held_by_[session] = {(*held)->token, std::move(h)};
        else h->release();
        if (h && idle_.size() < most_idle) idle_.push_back(std::move(h));
        return held;
    }

    /// Calls f. A refusal of the server or of the connection becomes a fault.
    template <class F>
    [[nodiscard]] static result<void> connected(F&& f)
    {
        try {
            f();
        } catch (const postgres_error& e) {
            return waybill::unexpected(
                fault{classify_postgres(e), std::string("sessions in PostgreSQL: ") + e.what()});
        }
        return {};
    }

    /// Requires: no transaction is open.
    void prepare()
    {
        if (on_.in_transaction()) throw postgres_error("a transaction is open", "");
        if (made_ == on_.life() && on_.alive()) return;
        if (!on_.alive()) on_.connect();
        on_.exec(tables);
        // A process that hangs in a transaction keeps the next holder waiting.
        detail::limit_idle_transactions(on_, o_.lock);
        made_ = on_.life();
    }

    /// One transaction, which is rolled back if f returns a fault.
    template <class T, class F>
    [[nodiscard]] result<T> change(F&& f)
    {
        auto tx = begin();
        if (!tx) return waybill::unexpected(std::move(tx).error());
        std::optional<result<T>> r;
        const auto ran = connected([&] { r.emplace(f()); });
        if (!ran) return waybill::unexpected(ran.error());
        if (!*r) return *std::move(r);
        const auto end = tx->commit();
        if (end && *end == waybill::commit_outcome::applied) return *std::move(r);
        return waybill::unexpected(waybill::infrastructure(
            "sessions in PostgreSQL: the transaction did not commit, or its reply was lost"));
    }

    /// The same with a lock, which is checked in the transaction.
    template <class T, class F>
    [[nodiscard]] result<T> under(const session_lock& l, F&& f)
    {
        if (!holds(l)) return waybill::unexpected(drop(l));
        return change<T>([&]() -> result<T> {
            if (held_.run(l.session, l.token).empty()) return waybill::unexpected(lost(l));
            return f();
        });
    }
    template <class F>
    [[nodiscard]] fault settle(const session_lock& l, F&& f)
    {
        return fault_of(under<void>(l, [&]() -> result<void> {
            if (f() == 0) return waybill::unexpected(lost(l));
            return {};
        }));
    }
    /// A check, or a write that contains it, in a transaction of the caller.
    template <class F>
    [[nodiscard]] fault within(const session_lock& l, F&& f)
    {
        if (!on_.in_transaction()) return waybill::infrastructure("the transaction is over");
        if (!holds(l)) return drop(l);
        bool done = false;
        const auto ran = connected([&] { done = f(); });
        if (!ran) return ran.error();
        return done ? fault{} : lost(l);
    }

    /// Without a transaction.
    template <class T, class F>
    [[nodiscard]] result<T> read(F&& f)
    {
        T found{};
        const auto ran = connected([&] {
            on_.outside([&] {
                prepare();
                found = f();
            });
        });
        if (!ran) return waybill::unexpected(ran.error());
        return found;
    }

    [[nodiscard]] static session_message message_in(const rows& r)
    {
        session_message m{.session = r.bytes(0, 1), .id = r.bytes(0, 2), .body = r.bytes(0, 4)};
        if (!read_properties(r.bytes(0, 3), m)) {
            throw postgres_error("message " + std::string(r.text(0, 0)) + " of " + m.session +
                                     " in session_messages: the properties cannot be read",
                                 "");
        }
        m.sequence = r.number<std::uint64_t>(0, 0);
        m.enqueued = r.number(0, 5);
        m.deliveries = r.number<std::uint64_t>(0, 6);
        return m;
    }
    [[nodiscard]] static std::optional<session_message> dead_in(const rows& r)
    {
        if (r.empty()) return {};
        session_message m = message_in(r);
        m.dead_for = std::string(r.text(0, 7));
        return m;
    }

    std::string where_;
    postgres_session_options o_;
    postgres_store transactions_;
    std::uint64_t made_ = 0;  // the connection on which the tables are known to exist
    acceptances held_by_{};
    std::vector<std::unique_ptr<holder>> idle_{};
};

static_assert(waybill::session_queue<postgres_sessions>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_POSTGRES_SESSIONS_HPP
