// SPDX-License-Identifier: MIT
//
// memory_session_queue: a queue with sessions in memory, for tests of applications.
//
//     waybill::testing::manual_environment env;
//     waybill::testing::memory_session_queue queue(env);
//     auto job = waybill::job::make("order-17", 5);
//     while (!job->complete()) queue.send(job->next(), "...");       // with step properties
//     queue.send({.session = "import-1", .body = "nails;250"});      // without
//     auto report = waybill::run_session(queue, codec, dead_letters, handler, policy, env);
//
//   1. Locks expire by the steady clock of the environment. A delivery counts if the lock expires
//      before the message is complete, and not if the session is closed.
//   2. After `options::max_deliveries` counted deliveries, the queue dead-letters a message itself.
//   3. A message with the id of an earlier one is dropped.
//   4. A transaction contains the state of a session, and the functions of `on_commit`.
// It conforms to session_queue_conformance.hpp. All calls take time linear in the messages at most.

#ifndef WAYBILL_TESTING_MEMORY_SESSION_QUEUE_HPP
#define WAYBILL_TESTING_MEMORY_SESSION_QUEUE_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/consume/stores.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/redrive_plan.hpp>
#include <waybill/session/session_queue.hpp>
#include <waybill/session/step_properties.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace waybill::inline v0_2::testing {

class memory_session_queue {
public:
    struct lock {
        std::string session{};
        std::uint64_t token = 0;

        friend bool operator==(const lock&, const lock&) = default;
    };

    struct message {
        std::string session{};
        std::string id{};  ///< Empty: no id.
        std::map<std::string, std::string, std::less<>> properties{};
        std::string body{};
        // Set by the queue.
        std::uint64_t sequence = 0;
        std::uint64_t deliveries = 1;
        wall_time enqueued{};

        [[nodiscard]] std::optional<std::string_view> find(std::string_view property) const
        {
            const auto found = properties.find(property);
            if (found == properties.end()) return {};
            return std::string_view(found->second);
        }
        friend bool operator==(const message&, const message&) = default;
    };

    struct options {
        duration lock = duration::seconds(30);
        std::uint64_t max_deliveries = 10;
        bool counts_deliveries = true;  ///< False: each message has 0 deliveries.

        friend bool operator==(const options&, const options&) = default;
    };

    /// Open until it is committed. Without a commit, its writes are dropped.
    class transaction {
    public:
        /// `write` is called if the transaction commits.
        void on_commit(std::function<void()> write) { writes_.push_back(std::move(write)); }
        [[nodiscard]] result<commit_outcome> commit()
        {
            for (const auto& write : std::exchange(writes_, {})) write();
            return commit_outcome::applied;
        }
        void rollback() noexcept { writes_.clear(); }

    private:
        std::vector<std::function<void()>> writes_;
    };

    explicit memory_session_queue(const manual_environment& env) : memory_session_queue(env, {}) {}
    memory_session_queue(const manual_environment& env, const options& o) : env_(&env), options_(o)
    {
    }

    void send(message m)
    {
        if (!m.id.empty() && !ids_.insert(m.id).second) return;
        m.sequence = ++sent_;
        m.enqueued = env_->wall_now();
        sessions_[m.session].messages.push_back({std::move(m)});
    }
    /// For a redrive: `redrive_all(dead_letters, {}, [&](const auto& m) { return queue.send(m); }`.
    fault send(const redrive_plan::planned_message& m)
    {
        send(m.properties, std::string(m.body), m.origin, m.message_id);
        return {};
    }
    /// With step properties, for messages of a `job`. A redriven message needs also its origin.
    void send(const step_properties& step, std::string body,
              const step_properties::origin& origin = {}, std::string id = {})
    {
        message m{.session = step.session,
                  .id = id.empty() ? job::message_id(step) : std::move(id),
                  .body = std::move(body)};
        write_step_properties(step, origin, [&m](std::string_view name, std::string_view value) {
            m.properties.emplace(name, value);
        });
        send(std::move(m));
    }

    [[nodiscard]] result<std::optional<lock>> accept()
    {
        expire_locks();
        const auto* oldest = static_cast<const std::string*>(nullptr);
        std::uint64_t lowest = sent_ + 1;
        for (auto& [id, s] : sessions_) {
            const bool free = s.token == 0 && s.not_before <= env_->now();
            if (!free || s.messages.empty()) continue;
            if (s.messages.front().content.sequence >= lowest) continue;
            lowest = s.messages.front().content.sequence;
            oldest = &id;
        }
        if (oldest == nullptr) return std::optional<lock>();
        session& s = sessions_[*oldest];
        s.token = ++tokens_;
        s.locked_until = env_->now() + options_.lock;
        return std::optional(lock{*oldest, s.token});
    }

    [[nodiscard]] result<std::optional<message>> receive(const lock& l)
    {
        session* const s = held(l);
        if (s == nullptr) return unexpected(lost(l));
        for (stored& m : s->messages) {
            if (std::exchange(m.received, true)) continue;
            message copy = m.content;
            copy.deliveries = options_.counts_deliveries ? m.failures + 1 : 0;
            return std::optional(std::move(copy));
        }
        return std::optional<message>();
    }

    [[nodiscard]] fault complete(const lock& l, const message& m)
    {
        session* const s = held(l);
        if (s == nullptr) return lost(l);
        for (auto i = s->messages.begin(); i != s->messages.end(); ++i) {
            if (i->content.sequence != m.sequence || !i->received) continue;
            s->messages.erase(i);
            return {};
        }
        return ownership_lost("the message was not received with this lock");
    }

    [[nodiscard]] fault renew(const lock& l)
    {
        session* const s = held(l);
        if (s == nullptr) return lost(l);
        s->locked_until = env_->now() + options_.lock;
        return {};
    }

    [[nodiscard]] fault close(const lock& l, duration pause)
    {
        session* const s = held(l);
        if (s == nullptr) return lost(l);
        s->token = 0;
        s->not_before = env_->now() + pause;
        for (stored& m : s->messages) m.received = false;
        return {};
    }

    [[nodiscard]] result<std::optional<std::string>> load(const lock& l)
    {
        session* const s = held(l);
        if (s == nullptr) return unexpected(lost(l));
        return s->state;
    }
    [[nodiscard]] fault save(const lock& l, const std::string& bytes)
    {
        session* const s = held(l);
        if (s == nullptr) return lost(l);
        s->state = bytes;
        return {};
    }
    [[nodiscard]] fault clear(const lock& l)
    {
        session* const s = held(l);
        if (s == nullptr) return lost(l);
        s->state.reset();
        return {};
    }

    [[nodiscard]] result<transaction> begin() { return transaction(); }
    [[nodiscard]] fault save(transaction& tx, const lock& l, const std::string& bytes)
    {
        if (held(l) == nullptr) return lost(l);
        tx.on_commit([this, id = l.session, bytes] { sessions_[id].state = bytes; });
        return {};
    }

    /// Messages that are neither complete nor dead-lettered by the queue.
    [[nodiscard]] std::uint64_t depth() const noexcept
    {
        std::uint64_t n = 0;
        for (const auto& [id, s] : sessions_) n += s.messages.size();
        return n;
    }
    /// The state of a session; nullopt if there is none.
    [[nodiscard]] std::optional<std::string> state(std::string_view id) const
    {
        const auto found = sessions_.find(id);
        return found == sessions_.end() ? std::nullopt : found->second.state;
    }
    /// The messages that the queue has dead-lettered.
    [[nodiscard]] const std::vector<message>& dead_letters() const noexcept { return dead_; }

private:
    struct stored {
        message content{};
        bool received = false;  // with the current lock
        std::uint64_t failures = 0;
    };
    struct session {
        std::vector<stored> messages{};
        std::uint64_t token = 0;  // 0: not locked
        steady_time locked_until{};
        steady_time not_before = steady_time::lowest();
        std::optional<std::string> state{};
    };

    static fault lost(const lock& l) { return ownership_lost(l.session + ": the lock is lost"); }

    [[nodiscard]] session* held(const lock& l)
    {
        const auto found = sessions_.find(l.session);
        if (found == sessions_.end() || found->second.token != l.token) return nullptr;
        return env_->now() < found->second.locked_until ? &found->second : nullptr;
    }

    void expire_locks()
    {
        for (auto& [id, s] : sessions_) {
            if (s.token == 0 || env_->now() < s.locked_until) continue;
            s.token = 0;
            std::vector<stored> kept;
            for (stored& m : s.messages) {
                if (std::exchange(m.received, false)) ++m.failures;
                if (options_.counts_deliveries && m.failures >= options_.max_deliveries)
                    dead_.push_back(std::move(m.content));
                else kept.push_back(std::move(m));
            }
            s.messages = std::move(kept);
        }
    }

    const manual_environment* env_;
    options options_;
    std::map<std::string, session, std::less<>> sessions_;
    std::vector<message> dead_;
    std::set<std::string> ids_;
    std::uint64_t sent_ = 0;
    std::uint64_t tokens_ = 0;
};

static_assert(session_queue<memory_session_queue>);

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_MEMORY_SESSION_QUEUE_HPP
