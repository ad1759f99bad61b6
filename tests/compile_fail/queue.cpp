// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/batch.hpp>
#include <waybill/queue.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_queue.hpp>
#include <waybill/testing/queue_conformance.hpp>

using waybill::testing::manual_environment;
using memory_queue = waybill::testing::memory_queue<manual_environment>;

waybill::steady_time now();

struct complete_outbox {
    struct message {
        std::string key, id, body;
    };
    struct claimed_rows {
        std::vector<message> messages;
        bool pending;
    };
    struct transaction {};
    using positions = std::vector<std::uint64_t>;
    using done = waybill::result<void>;

    done add(transaction&, const message&);
    waybill::result<claimed_rows> claim(std::uint64_t, waybill::wall_time, waybill::wall_time);
    done hold(const claimed_rows&, const positions&, waybill::wall_time);
    done mark_sent(const claimed_rows&, const positions&);
    done mark_dead(const claimed_rows&, std::uint64_t, const std::string&, bool);
};

constexpr auto accept = [](const auto&) { return waybill::batch_sender::accepted{}; };

template <class Store, class Transmit>
void relays_with(Store& store, Transmit transmit)
{
    manual_environment env;
    waybill::batch_sender sender(waybill::send_policy{});
    (void)waybill::relay(store, sender, transmit, env);
}

template <class Store>
void relays(Store& store)
{
    relays_with(store, accept);
}

// expect: outbox store: the types message, claimed_rows and transaction
struct without_types {};
static_assert(&relays<without_types> != nullptr);

// expect: outbox store: a message must have a key
struct message_without_key : complete_outbox {
    struct message {
        std::string id, body;
    };
};
static_assert(&relays<message_without_key> != nullptr);

// expect: outbox store: claim(max_rows, now, until) must exist
struct claim_returns_rows : complete_outbox {
    claimed_rows claim(std::uint64_t, waybill::wall_time, waybill::wall_time);
};
static_assert(&relays<claim_returns_rows> != nullptr);

// expect: outbox store: hold(claim, rows, until) must exist
struct hold_returns_void : complete_outbox {
    void hold(const claimed_rows&, const positions&, waybill::wall_time);
};
static_assert(&relays<hold_returns_void> != nullptr);

// expect: outbox store: mark_sent(claim, rows) and mark_dead
struct mark_sent_returns_bool : complete_outbox {
    bool mark_sent(const claimed_rows&, const positions&);
};
static_assert(&relays<mark_sent_returns_bool> != nullptr);

// expect: relay: transmit must accept a batch
void transmit_returns_bool(complete_outbox& s)
{
    relays_with(s, [](const auto&) { return true; });
}

// expect: relay: a clock was passed in place of an environment
waybill::relay_report relay_clock(complete_outbox& o, waybill::batch_sender& s)
{
    return waybill::relay(o, s, accept, now);
}

// expect: message queue: a nested type message with deliveries must exist
struct mail {
    std::uint64_t deliveries = 1;
};

struct without_message_type {
    waybill::result<std::optional<mail>> receive(waybill::duration lock);
    waybill::fault complete(const mail&);
    waybill::fault abandon(const mail&);
    waybill::fault dead_letter(const mail&, std::string_view reason);
};

auto run_queue_without_message_type(without_message_type& q, manual_environment& env)
{
    return waybill::run_queue(q, [](const mail&) {}, {}, env);
}

struct complete_queue {
    using message = mail;
    waybill::result<std::optional<mail>> receive(waybill::duration lock);
    waybill::fault complete(mail&);
    waybill::fault abandon(mail&, bool failed);
    waybill::fault dead_letter(mail&, std::string_view reason);
};

template <class Queue>
auto validated()
{
    return waybill::validate<Queue>(waybill::queue_policy{});
}

// expect: message queue: a nested type message with deliveries must exist
struct message_without_deliveries : complete_queue {
    struct message {};
};
static_assert(&validated<message_without_deliveries> != nullptr);

// expect: message queue: receive(duration lock) must exist
struct validated_receive_returns_message : complete_queue {
    mail receive(waybill::duration lock);
};
static_assert(&validated<validated_receive_returns_message> != nullptr);

// expect: message queue: complete(message&) must exist
struct validated_without_complete : complete_queue {
    void complete(mail&) = delete;
};
static_assert(&validated<validated_without_complete> != nullptr);

// expect: message queue: abandon(message&, bool failed) or abandon(message&) must exist
struct validated_abandon_returns_void : complete_queue {
    void abandon(mail&, bool failed);
};
static_assert(&validated<validated_abandon_returns_void> != nullptr);

// expect: message queue: dead_letter(message&, std::string_view reason) must exist
struct validated_dead_letter_without_reason : complete_queue {
    waybill::fault dead_letter(mail&);
};
static_assert(&validated<validated_dead_letter_without_reason> != nullptr);

// expect: message queue: receive(duration lock) must exist
struct runs_receive_returns_message : complete_queue {
    mail receive(waybill::duration lock);
};
auto run(runs_receive_returns_message& q, manual_environment& env)
{
    return waybill::run_queue(q, [](const mail&) {}, {}, env);
}

// expect: message queue: complete(message&) must exist
struct runs_without_complete : complete_queue {
    void complete(mail&) = delete;
};
auto run(runs_without_complete& q, manual_environment& env)
{
    return waybill::run_queue(q, [](const mail&) {}, {}, env);
}

// expect: message queue: abandon(message&, bool failed) or abandon(message&) must exist
struct runs_abandon_returns_void : complete_queue {
    void abandon(mail&, bool failed);
};
auto run(runs_abandon_returns_void& q, manual_environment& env)
{
    return waybill::run_queue(q, [](const mail&) {}, {}, env);
}

// expect: message queue: dead_letter(message&, std::string_view reason) must exist
struct runs_dead_letter_without_reason : complete_queue {
    waybill::fault dead_letter(mail&);
};
auto run(runs_dead_letter_without_reason& q, manual_environment& env)
{
    return waybill::run_queue(q, [](const mail&) {}, {}, env);
}

// expect: message queue with schedule_copy: a message must have id, original_id, number
struct copies_without_members : complete_queue {
    waybill::fault schedule_copy(mail&, const waybill::queue_policy::scheduled_copy&);
};
static_assert(&validated<copies_without_members> != nullptr);

struct complete_pointers : complete_queue {
    struct pointer {
        std::uint64_t tries = 0;
        std::uint64_t deliveries = 0;
    };
    using complete_queue::complete;
    waybill::fault schedule_pointer(mail&, std::uint64_t tries, waybill::duration delay);
    waybill::fault defer(mail&);
    waybill::result<std::optional<pointer>> receive_pointer(waybill::duration lock);
    waybill::result<std::optional<mail>> receive_deferred(pointer&, waybill::duration lock);
    waybill::fault complete(pointer&);
    waybill::fault schedule_pointer(pointer&, std::uint64_t tries, waybill::duration delay);
};
static_assert(!waybill::validate<complete_pointers>(waybill::queue_policy{}));

// expect: message queue with schedule_pointer: a nested type pointer with tries and deliveries
struct pointer_without_tries : complete_pointers {
    struct pointer {};
};
static_assert(&validated<pointer_without_tries> != nullptr);

// expect: message queue with schedule_pointer: defer(message&) must exist
struct without_defer : complete_pointers {
    void defer(mail&) = delete;
};
static_assert(&validated<without_defer> != nullptr);

// expect: message queue with schedule_pointer: receive_pointer(duration lock) must exist
struct receive_pointer_returns_pointer : complete_pointers {
    pointer receive_pointer(waybill::duration lock);
};
auto run(receive_pointer_returns_pointer& q, manual_environment& env)
{
    return waybill::run_queue(q, [](const mail&) {}, {}, env);
}

// expect: message queue with schedule_pointer: receive_deferred(pointer&, duration lock) must exist
struct without_receive_deferred : complete_pointers {
    void receive_deferred(pointer&) = delete;
};
static_assert(&validated<without_receive_deferred> != nullptr);

// expect: message queue with schedule_pointer: complete(pointer&) and schedule_pointer(pointer&
struct without_further_pointers : complete_pointers {
    waybill::fault schedule_pointer(mail&, std::uint64_t tries, waybill::duration delay);
};
static_assert(&validated<without_further_pointers> != nullptr);

// expect: queue_conformance: make() must return a message queue
auto make_returns_number(manual_environment& env)
{
    return waybill::testing::queue_conformance(
        [] { return 7; }, [](memory_queue& q, std::string body) { q.put(body); }, env);
}

// expect: queue_conformance: put(queue, body) must add a message to the queue
auto put_of_one_argument(manual_environment& env)
{
    return waybill::testing::queue_conformance([&] { return memory_queue(env); },
                                               [](memory_queue&) {}, env);
}
