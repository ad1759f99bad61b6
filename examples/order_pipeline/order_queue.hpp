// SPDX-License-Identifier: MIT
//
// order_queue: the queue of sessions, in SQLite or PostgreSQL, for workers, sweep and redrive.
//
// In PostgreSQL the effect of a step and the state of its session are one transaction, from
// `begin_step` to `set_state`. In SQLite they are in two files: these calls do nothing there.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_ORDER_QUEUE_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_ORDER_QUEUE_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../engines/session_message.hpp"
#include <waybill/batch.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>

namespace order_pipeline {

class order_queue {
public:
    using lock = engines::session_lock;
    using message = engines::session_message;
    using fault = waybill::fault;
    template <class T>
    using result = waybill::result<T>;

    order_queue() = default;
    order_queue(const order_queue&) = delete;
    order_queue& operator=(const order_queue&) = delete;
    virtual ~order_queue() = default;

    /// Sends the whole batch or nothing.
    [[nodiscard]] virtual waybill::send_outcome send(const std::vector<message>& batch) = 0;
    [[nodiscard]] virtual result<std::optional<lock>> accept() = 0;
    [[nodiscard]] virtual result<std::optional<lock>> accept(const std::string& session) = 0;
    [[nodiscard]] virtual result<std::optional<message>> receive(const lock& l) = 0;
    [[nodiscard]] virtual fault complete(const lock& l, const message& m) = 0;
    [[nodiscard]] virtual fault renew(const lock& l) = 0;
    [[nodiscard]] virtual fault close(const lock& l, std::chrono::milliseconds pause = {}) = 0;
    [[nodiscard]] virtual result<std::optional<std::string>> state(const lock& l) = 0;
    /// Commits the step that was begun, if one was. An empty optional removes the state.
    [[nodiscard]] virtual fault set_state(const lock& l, std::optional<std::string_view> s) = 0;
    [[nodiscard]] virtual result<std::vector<std::string>> sessions_with_state() = 0;
    [[nodiscard]] virtual result<std::optional<message>> receive_dead() = 0;
    [[nodiscard]] virtual result<std::optional<message>> peek_dead(std::uint64_t after) = 0;
    [[nodiscard]] virtual fault complete_dead(const message& m) = 0;
    /// Messages that are neither complete nor dead letters. Not zero if that is unknown.
    [[nodiscard]] virtual std::uint64_t depth() = 0;

    [[nodiscard]] virtual fault begin_step() { return {}; }
    /// For a step that is in the state already.
    [[nodiscard]] virtual fault commit_step() { return {}; }
    /// Rolls back the step that was begun, if any.
    virtual void drop_step() {}
};

/// Forwards to a queue of engines/.
template <class Queue>
class queue_on : public order_queue {
public:
    template <class... A>
    explicit queue_on(A&&... a) : queue_(std::forward<A>(a)...)
    {
    }

    waybill::send_outcome send(const std::vector<message>& b) override { return queue_.send(b); }
    result<std::optional<lock>> accept() override { return queue_.accept(); }
    result<std::optional<lock>> accept(const std::string& s) override { return queue_.accept(s); }
    result<std::optional<message>> receive(const lock& l) override { return queue_.receive(l); }
    fault complete(const lock& l, const message& m) override { return queue_.complete(l, m); }
    fault renew(const lock& l) override { return queue_.renew(l); }
    fault close(const lock& l, std::chrono::milliseconds pause) override
    {
        return queue_.close(l, pause);
    }
    result<std::optional<std::string>> state(const lock& l) override { return queue_.state(l); }
    fault set_state(const lock& l, std::optional<std::string_view> s) override
    {
        return queue_.set_state(l, s);
    }
    result<std::vector<std::string>> sessions_with_state() override
    {
        return queue_.sessions_with_state();
    }
    result<std::optional<message>> receive_dead() override { return queue_.receive_dead(); }
    result<std::optional<message>> peek_dead(std::uint64_t after) override
    {
        return queue_.peek_dead(after);
    }
    fault complete_dead(const message& m) override { return queue_.complete_dead(m); }
    std::uint64_t depth() override
    {
        if constexpr (requires { queue_.depth().value_or(1); }) return queue_.depth().value_or(1);
        else return queue_.depth();
    }

protected:
    Queue queue_;
};

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_ORDER_QUEUE_HPP
