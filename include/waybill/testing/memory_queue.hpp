// SPDX-License-Identifier: MIT
//
// memory_queue: a message queue in memory, with locks, deliveries, deferral and dead letters.
//
//     waybill::testing::manual_environment env;
//     waybill::testing::memory_queue queue(env);
//     queue.put("first");
//     const auto report = waybill::run_queue(queue, handle, {.stop_when_empty = true}, env);
//     CHECK(queue.dead_letters().empty());
//
//   1. Locks use the steady clock of the environment, due times its wall clock.
//   2. The second template argument selects how the queue defers: by itself, with copies (and
//      duplicate detection by id), with pointers, or not at all.
//   3. A visible message with a lower number is received first. So a deferred message that is due
//      comes before newer ones.
//   4. A message with more than `max_deliveries` goes to the dead letters without a reason, as
//      brokers do it.
//
// Each call takes time linear in the messages.

#ifndef WAYBILL_TESTING_MEMORY_QUEUE_HPP
#define WAYBILL_TESTING_MEMORY_QUEUE_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/queue/message_queue.hpp>

namespace waybill::inline v0_2::testing {

/// The way in which a memory_queue defers a message.
enum class queue_deferral : std::uint8_t { none, by_time, by_copy, by_pointer };

struct queued_message {
    std::uint64_t number = 0;
    std::string id{};  ///< The number if none was given.
    std::string body{};
    std::uint64_t deliveries = 0;  ///< Deliveries that count, this one included.
    std::uint64_t crashes = 0;     ///< Deliveries before this one, in a row, without a settlement.
    std::string original_id{};     ///< Of a copy, the id of the first message. Otherwise empty.
    std::uint64_t tries = 0;       ///< Tries of the earlier copies.
    std::uint64_t lock = 0;        ///< Names the lock of this delivery.

    friend bool operator==(const queued_message&, const queued_message&) = default;
};

/// A scheduled message with the number of a deferred message.
struct queued_pointer {
    std::uint64_t number = 0;
    std::uint64_t original = 0;
    std::uint64_t tries = 0;
    std::uint64_t deliveries = 0;  ///< Deliveries, this one included.
    std::uint64_t lock = 0;

    friend bool operator==(const queued_pointer&, const queued_pointer&) = default;
};

template <class Environment, queue_deferral Deferral = queue_deferral::by_time>
class memory_queue {
public:
    using message = queued_message;
    using pointer = queued_pointer;

    struct dead {
        message what{};
        std::string reason{};  ///< Empty if the queue itself moved it here.

        friend bool operator==(const dead&, const dead&) = default;
    };

    explicit memory_queue(Environment& env, std::uint64_t max_deliveries = ~std::uint64_t{0})
        : env_(env), max_deliveries_(max_deliveries)
    {
    }

    /// Adds a message. With copies, an id that was used before is dropped. Returns its number.
    std::uint64_t put(std::string body, std::string id = {})
    {
        const std::uint64_t number = ++last_number_;
        if (id.empty()) id = std::to_string(number);
        add({.number = number, .id = std::move(id), .body = std::move(body)}, wall_time::lowest());
        return number;
    }

    [[nodiscard]] result<std::optional<message>> receive(duration lock)
    {
        for (auto i = stored_.begin(); i != stored_.end(); ++i) {
            stored& s = i->second;
            if (s.deferred || !is_visible(s.lock_end, s.due)) continue;
            if (s.what.deliveries >= max_deliveries_) {
                dead_.push_back({std::move(s.what), {}});
                return stored_.erase(i), receive(lock);
            }
            return std::optional(deliver(s, lock));
        }
        return std::optional<message>();
    }

    fault complete(message& m)
    {
        if (find(m) == nullptr) return lost();
        ++completed_;
        stored_.erase(m.number);
        return {};
    }

    fault abandon(message& m, bool failed)
    {
        stored* s = find(m);
        if (s == nullptr) return lost();
        s->lock_end = steady_time::lowest();
        s->due = wall_time::lowest();
        uncount(*s, failed);
        return {};
    }

    fault dead_letter(message& m, std::string_view reason)
    {
        stored* s = find(m);
        if (s == nullptr) return lost();
        dead_.push_back({std::move(s->what), std::string(reason)});
        stored_.erase(m.number);
        return {};
    }

    fault renew(message& m, duration lock)
    {
        stored* s = find(m);
        if (s == nullptr) return lost();
        s->lock_end = env_.now() + lock;
        return {};
    }

    [[nodiscard]] result<bool> empty() const { return stored_.empty(); }

    fault defer(message& m, duration delay, bool failed)
        requires(Deferral == queue_deferral::by_time)
    {
        stored* s = find(m);
        if (s == nullptr) return lost();
        s->lock_end = steady_time::lowest();
        s->due = env_.wall_now() + delay;
        s->is_free = !failed;
        uncount(*s, failed);
        return {};
    }

    /// Ends the deferrals that were no failed tries.
    fault make_due()
        requires(Deferral == queue_deferral::by_time)
    {
        for (auto& [number, s] : stored_)
            if (std::exchange(s.is_free, false)) s.due = wall_time::lowest();
        return {};
    }

    fault schedule_copy(message& m, const queue_policy::scheduled_copy& copy)
        requires(Deferral == queue_deferral::by_copy)
    {
        add({.number = ++last_number_,
             .id = copy.id,
             .body = m.body,
             .original_id = copy.original_id,
             .tries = copy.tries},
            env_.wall_now() + copy.delay);
        return {};
    }

    fault schedule_pointer(message& m, std::uint64_t tries, duration delay)
        requires(Deferral == queue_deferral::by_pointer)
    {
        return add_pointer(m.number, tries, delay);
    }
    fault schedule_pointer(const pointer& p, std::uint64_t tries, duration delay)
        requires(Deferral == queue_deferral::by_pointer)
    {
        return add_pointer(p.original, tries, delay);
    }

    fault defer(message& m)
        requires(Deferral == queue_deferral::by_pointer)
    {
        stored* s = find(m);
        if (s == nullptr) return lost();
        s->lock_end = steady_time::lowest();
        s->deferred = true;
        uncount(*s, false);
        return {};
    }

    [[nodiscard]] result<std::optional<pointer>> receive_pointer(duration lock)
        requires(Deferral == queue_deferral::by_pointer)
    {
        for (auto& [number, p] : pointers_) {
            if (!is_visible(p.lock_end, p.due)) continue;
            ++p.what.deliveries;
            p.what.lock = ++last_lock_;
            p.lock_end = env_.now() + lock;
            return std::optional(p.what);
        }
        return std::optional<pointer>();
    }

    /// Empty if the message no longer exists, or was never deferred. A message with a lock is
    /// `transient`.
    [[nodiscard]] result<std::optional<message>> receive_deferred(const pointer& p, duration lock)
        requires(Deferral == queue_deferral::by_pointer)
    {
        const auto i = stored_.find(p.original);
        if (i == stored_.end() || !i->second.deferred) return std::optional<message>();
        if (env_.now() < i->second.lock_end)
            return unexpected(transient("the deferred message is locked"));
        return std::optional(deliver(i->second, lock));
    }

    fault complete(pointer& p)
        requires(Deferral == queue_deferral::by_pointer)
    {
        if (find_pointer(p) == nullptr) return lost();
        pointers_.erase(p.number);
        return {};
    }
    fault renew(pointer& p, duration lock)
        requires(Deferral == queue_deferral::by_pointer)
    {
        stored_pointer* s = find_pointer(p);
        if (s == nullptr) return lost();
        s->lock_end = env_.now() + lock;
        return {};
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return stored_.size(); }
    [[nodiscard]] std::uint64_t pointers() const noexcept { return pointers_.size(); }
    [[nodiscard]] std::uint64_t completed() const noexcept { return completed_; }
    [[nodiscard]] const std::vector<dead>& dead_letters() const noexcept { return dead_; }

    /// Calls f(message) for each message that is in the queue.
    template <class F>
    void each(F&& f) const
    {
        for (const auto& [number, s] : stored_) f(s.what);
    }

private:
    struct stored {
        message what{};
        steady_time lock_end = steady_time::lowest();
        wall_time due = wall_time::lowest();
        std::uint64_t unsettled = 0;  // deliveries since the last settlement
        bool deferred = false;        // only its pointer returns it
        bool is_free = false;         // deferred, and not as a failed try
    };
    struct stored_pointer {
        pointer what{};
        steady_time lock_end = steady_time::lowest();
        wall_time due = wall_time::lowest();
    };

    static fault lost() { return ownership_lost("the lock is lost"); }

    [[nodiscard]] bool is_visible(steady_time lock_end, wall_time due) const
    {
        return !(env_.now() < lock_end) && !(env_.wall_now() < due);
    }

    void add(message m, wall_time due)
    {
        if (Deferral == queue_deferral::by_copy && !ids_.insert(m.id).second) return;
        const std::uint64_t number = m.number;
        stored_.emplace(number, stored{.what = std::move(m), .due = due});
    }

    fault add_pointer(std::uint64_t original, std::uint64_t tries, duration delay)
    {
        const std::uint64_t number = ++last_number_;
        pointers_.emplace(number, stored_pointer{.what = {number, original, tries},
                                                 .due = env_.wall_now() + delay});
        return {};
    }

    [[nodiscard]] message deliver(stored& s, duration lock)
    {
        s.is_free = false;
        s.what.crashes = s.unsettled++;
        ++s.what.deliveries;
        s.what.lock = ++last_lock_;
        s.lock_end = env_.now() + lock;
        return s.what;
    }

    static void uncount(stored& s, bool failed)
    {
        s.unsettled = 0;
        if (!failed && s.what.deliveries != 0) --s.what.deliveries;
    }

    /// Null if the lock is lost.
    [[nodiscard]] stored* find(const message& m)
    {
        const auto i = stored_.find(m.number);
        if (i == stored_.end() || i->second.what.lock != m.lock) return nullptr;
        return env_.now() < i->second.lock_end ? &i->second : nullptr;
    }
    [[nodiscard]] stored_pointer* find_pointer(const pointer& p)
    {
        const auto i = pointers_.find(p.number);
        if (i == pointers_.end() || i->second.what.lock != p.lock) return nullptr;
        return env_.now() < i->second.lock_end ? &i->second : nullptr;
    }

    Environment& env_;
    std::uint64_t max_deliveries_;
    std::map<std::uint64_t, stored> stored_;
    std::map<std::uint64_t, stored_pointer> pointers_;
    std::vector<dead> dead_;
    std::set<std::string> ids_;
    std::uint64_t last_number_ = 0;
    std::uint64_t last_lock_ = 0;
    std::uint64_t completed_ = 0;
};

template <class Environment>
memory_queue(Environment&) -> memory_queue<Environment>;
template <class Environment>
memory_queue(Environment&, std::uint64_t) -> memory_queue<Environment>;

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_MEMORY_QUEUE_HPP
