// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <waybill/session.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_pipeline_dead_letters.hpp>
#include <waybill/testing/memory_session_queue.hpp>
#include <waybill/testing/memory_sessions.hpp>

using waybill::pipeline;
using waybill::testing::manual_environment;
using queue = waybill::testing::memory_session_queue;

constexpr auto succeeds = [](const auto&...) { return waybill::fault{}; };
constexpr auto handles = [](std::string&, const pipeline::step&) { return waybill::fault{}; };

constexpr auto loads = [](pipeline::load_state) { return pipeline::state_loaded{}; };
constexpr auto executes = [](pipeline::execute) { return waybill::fault{}; };
constexpr auto saves = [](pipeline::save_state) { return waybill::fault{}; };
constexpr auto dead_letters = [](pipeline::write_dead_letter) { return waybill::fault{}; };
constexpr auto completes = [](waybill::complete) { return waybill::fault{}; };
constexpr auto clears = [](pipeline::clear_state) { return waybill::fault{}; };
constexpr auto gives_back = [](pipeline::give_back) {};

struct wall_environment : manual_environment {
    std::chrono::system_clock::time_point now() { return {}; }
};

struct letters {
    waybill::fault upsert(const waybill::pipeline_dead_letter&);
};

template <class Environment, class... Calls>
void steps(Environment env, Calls... calls)
{
    pipeline pipe;
    (void)waybill::process_step(pipe, waybill::step_facts{}, env, calls...);
}

template <class Queue, class Letters, class Handler, class Environment = manual_environment>
void runs_with(Queue& q, Letters& l, Handler handler, Environment env = {})
{
    (void)waybill::run_session(q, waybill::text_state_codec(), l, handler, {}, env);
}

template <class Table, class Send>
void redrives_with(Table& table, Send send)
{
    manual_environment env;
    (void)waybill::redrive_all(table, {}, send, env);
}

template <class Queue, class Letters>
void runs(Queue& q, Letters& l)
{
    runs_with(q, l, handles);
}

template <class Table>
void redrives(Table& table)
{
    redrives_with(table, succeeds);
}

template <class Store>
void clears_state(Store& store)
{
    waybill::versioned_session_state<Store> held(store, "order-17");
    (void)held.clear();
}

// expect: process_step: a call accepts none of the pipeline's actions
//
// A call for `wait_until` is optional, so one with a wrong argument would be ignored.
void call_without_action(manual_environment env)
{
    steps(env, loads, executes, saves, dead_letters, completes, clears, gives_back,
          [](waybill::steady_time) { return waybill::fault{}; });
}

// expect: process_step: no call for write_dead_letter, or more than one
//
// The driver of a session must handle failed steps.
void forgotten_call(manual_environment env)
{
    steps(env, loads, executes, saves, completes, clears, gives_back);
}

// expect: execute must return a fault
//
// A bool does not show whether a step may be retried.
void execute_returns_bool(manual_environment env)
{
    steps(
        env, loads, [](pipeline::execute) { return true; }, saves, dead_letters, completes, clears,
        gives_back);
}

// expect: load_state must return state_loaded
//
// The outcome of the read is not enough: without its progress a failed session would start from the
// beginning.
void load_returns_outcome(manual_environment env)
{
    steps(
        env, [](pipeline::load_state) { return waybill::state_read::ok; }, executes, saves,
        dead_letters, completes, clears, gives_back);
}

// expect: must return a fault
//
// The function that writes the state must return whether it was written.
void save_returns_void(manual_environment env)
{
    steps(
        env, loads, executes, [](pipeline::save_state) {}, dead_letters, completes, clears,
        gives_back);
}

// expect: process_step: it sleeps, so it needs an environment and not a clock
//
// A point in time is no environment: a pause before the next attempt would never end.
void step_at_time(waybill::steady_time now)
{
    steps(now, loads, executes, saves, dead_letters, completes, clears, gives_back);
}

// expect: environment: now() must return a steady time, and not a wall time
//
// The system clock may jump, and a pause with it.
void step_by_wall_clock(wall_environment env)
{
    steps(env, loads, executes, saves, dead_letters, completes, clears, gives_back);
}

// expect: run_session: the dead letters must have upsert(pipeline_dead_letter)
struct upsert_returns_void {
    void upsert(const waybill::pipeline_dead_letter&);
};
static_assert(&runs<queue, upsert_returns_void> != nullptr);

// expect: run_session: the handler must return void, a fault
void handler_returns_bool(queue& q, letters& l)
{
    runs_with(q, l, [](std::string&, const pipeline::step&) { return true; });
}

// expect: run_session: the handler must accept the value of the codec by reference
void handler_takes_body(queue& q, letters& l)
{
    runs_with(q, l, [](const std::string& body) { return body.empty(); });
}

// expect: session queue: receive(lock) must exist and return
struct receive_returns_message : queue {
    std::optional<message> receive(const lock&);
};
static_assert(&runs<receive_returns_message, letters> != nullptr);

// expect: session queue: complete(lock, message) and renew(lock) must exist and return a fault
struct renew_returns_void : queue {
    void renew(const lock&);
};
static_assert(&runs<renew_returns_void, letters> != nullptr);

// expect: run_session: the queue has no load(lock), save(lock, bytes) and clear(lock)
struct without_states : queue {
    void clear(const lock&);
};
static_assert(&runs<without_states, letters> != nullptr);

// expect: run_session: the handler accepts a transaction of the queue, but the states
void transaction_with_store(queue& q, letters& l, waybill::testing::memory_sessions& states,
                            manual_environment& env)
{
    const auto in_transaction = [](queue::transaction&, std::string&, const pipeline::step&) {};
    (void)waybill::run_session(q, states, waybill::text_state_codec(), l, in_transaction, {}, env);
}

// expect: environment: now() must return a steady time, and not a wall time
struct other_wall_environment : wall_environment {};

void session_by_wall_clock(queue& q, letters& l, other_wall_environment env)
{
    runs_with(q, l, handles, env);
}

// expect: attempt: the step must return a fault, a result<void> or executed
//
// A bool does not show whether true is success.
struct place {
    waybill::result<std::optional<std::string>> load();
    waybill::fault save(const std::string&);
    waybill::fault clear();
};

auto attempt_returns_bool(waybill::session_state<waybill::text_state_codec, place>& state)
{
    return state.attempt([](std::string&) { return true; });
}

// expect: session_state: the place must have load() -> result<std::optional<std::string>>
//
// If a missing state is returned as an empty text, a new session looks damaged.
struct load_returns_text : place {
    waybill::result<std::string> load();
};

waybill::fault place_without_absence(
    waybill::session_state<waybill::text_state_codec, load_returns_text>& state)
{
    return state.clear();
}

struct complete_sessions {
    using version = std::uint64_t;
    using state = waybill::stored_state<version>;
    waybill::result<std::optional<state>> load(const std::string& session);
    waybill::result<waybill::save_result<version>> save(const std::string& session,
                                                        const std::string& bytes,
                                                        const std::optional<version>& expected);
    waybill::result<waybill::state_write> clear(const std::string& session, version expected);
};

// expect: session store: the type `version` must exist and be regular
struct without_version_type {
    waybill::result<std::optional<std::string>> load(const std::string& session);
};
static_assert(&clears_state<without_version_type> != nullptr);

// expect: session store: load(session) must exist
struct sessions_load_text : complete_sessions {
    waybill::result<std::optional<std::string>> load(const std::string& session);
};
static_assert(&clears_state<sessions_load_text> != nullptr);

// expect: session store: save(session, bytes, expected) must exist and return
struct save_without_version : complete_sessions {
    waybill::result<void> save(const std::string& session, const std::string& bytes);
};
static_assert(&clears_state<save_without_version> != nullptr);

// expect: session store: clear(session, expected) must exist and return result<state_write>
struct clear_returns_void : complete_sessions {
    void clear(const std::string& session, version expected);
};
static_assert(&clears_state<clear_returns_void> != nullptr);

// expect: dead letters: list() must exist and return result<std::vector<pipeline_dead_letter>>
struct table_without_list {
    waybill::fault upsert(const waybill::pipeline_dead_letter&);
    waybill::fault mark(std::span<const waybill::pipeline_dead_letter>);
    waybill::fault remove(std::span<const waybill::pipeline_dead_letter>);
};
static_assert(&redrives<table_without_list> != nullptr);

// expect: dead letters: mark(span of letters) must exist and return a fault
struct table_without_mark {
    waybill::result<std::vector<waybill::pipeline_dead_letter>> list();
    waybill::fault upsert(const waybill::pipeline_dead_letter&);
    waybill::fault remove(std::span<const waybill::pipeline_dead_letter>);
};
static_assert(&redrives<table_without_mark> != nullptr);

// expect: redrive_all: the send function must return a fault, a fault_kind, a result<void>, a call_answer or nothing, and not bool
void redrive_send_returns_bool(waybill::testing::memory_pipeline_dead_letters& t)
{
    redrives_with(t, [](const auto&) { return true; });
}

// expect: redrive_all: the send function must accept a const redrive_plan::planned_message& (if it does, its body does not compile: see the errors above)
void redrive_send_takes_string(waybill::testing::memory_pipeline_dead_letters& t)
{
    redrives_with(t, [](const std::string&) { return waybill::fault{}; });
}
