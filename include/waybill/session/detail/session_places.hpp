// SPDX-License-Identifier: MIT
//
// session_places: the place of a session's state in run_session: the queue, under the lock of the
// session, or a session store.

#ifndef WAYBILL_SESSION_DETAIL_SESSION_PLACES_HPP
#define WAYBILL_SESSION_DETAIL_SESSION_PLACES_HPP

#include <optional>
#include <string>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/session/detail/call_results.hpp>
#include <waybill/session/detail/session_handler.hpp>
#include <waybill/session/session_queue.hpp>
#include <waybill/session/session_store.hpp>

namespace waybill::inline v0_2::detail {

/// True if the commit is confirmed. Its result is compared by name, so that no header of the module
/// consume is needed.
template <class Commit>
[[nodiscard]] fault commit_fault(const Commit& c)
{
    if (!c) return infrastructure("the transaction did not commit: " + c.error().text);
    using outcome = std::remove_cvref_t<decltype(*c)>;
    if (*c == outcome::applied) return {};
    return infrastructure("the transaction did not commit, or its reply was lost");
}

/// The state in the queue. If a transaction is open, `save` writes into it and commits it.
template <class Queue>
class state_in_queue {
public:
    using tx = typename transaction_of<Queue>::type;

    state_in_queue(Queue& queue, const typename Queue::lock& lock, std::optional<tx>& open)
        : queue_(&queue), lock_(&lock), open_(&open)
    {
    }

    [[nodiscard]] result<std::optional<std::string>> load() { return queue_->load(*lock_); }
    [[nodiscard]] fault save(const std::string& bytes)
    {
        if constexpr (saves_in_transactions<Queue>) {
            if (*open_) {
                fault f = to_fault(queue_->save(**open_, *lock_, bytes));
                return f.ok() ? commit_fault((*open_)->commit()) : f;
            }
        }
        return fault_of([&] { return queue_->save(*lock_, bytes); });
    }
    [[nodiscard]] fault clear()
    {
        return fault_of([&] { return queue_->clear(*lock_); });
    }

private:
    Queue* queue_;
    const typename Queue::lock* lock_;
    std::optional<tx>* open_;
};

/// Opens the state in the queue.
struct states_in_queue {
    static constexpr bool in_transactions = true;

    template <class Queue, class Tx>
    [[nodiscard]] state_in_queue<Queue> open(Queue& queue, const typename Queue::lock& lock,
                                             std::optional<Tx>& tx) const
    {
        static_assert(stores_session_states<Queue>,
                      "run_session: the queue has no load(lock), save(lock, bytes) and "
                      "clear(lock); pass a session_store as second argument");
        return {queue, lock, tx};
    }
};

/// Opens the state in a session store.
template <class Store>
struct states_in_store {
    static constexpr bool in_transactions = false;
    Store& store;

    template <class Queue, class Tx>
    [[nodiscard]] versioned_session_state<Store> open(Queue&, const typename Queue::lock& lock,
                                                      std::optional<Tx>&) const
    {
        return {store, std::string(lock.session)};
    }
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_SESSION_PLACES_HPP
