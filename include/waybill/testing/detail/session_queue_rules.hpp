// SPDX-License-Identifier: MIT
//
// session_queue_rules: the rules of session_queue_conformance.

#ifndef WAYBILL_TESTING_DETAIL_SESSION_QUEUE_RULES_HPP
#define WAYBILL_TESTING_DETAIL_SESSION_QUEUE_RULES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/session/session_queue.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing::detail {

using waybill::detail::closes_with_pause;
using waybill::detail::saves_in_transactions;
using waybill::detail::stores_session_states;

[[nodiscard]] inline fault to_fault(fault f)
{
    return f;
}
[[nodiscard]] inline fault to_fault(const result<void>& r)
{
    return r ? fault{} : r.error();
}

struct session_queue_rule {
    static constexpr std::string_view expired =
        "after a lock has expired, each call with it is ownership_lost and changes nothing";
    static constexpr std::string_view accepted_again =
        "accept: a session whose lock has expired is accepted again, with its messages in order";
    static constexpr std::string_view foreign =
        "an expired lock stays lost after another consumer has accepted the session";
    static constexpr std::string_view renewed = "renew: the lock expires later";
    static constexpr std::string_view counted =
        "receive: deliveries are counted, this one included, or are always 0";
    static constexpr std::string_view same_sequence =
        "receive: a message has the same sequence number in each delivery";
    static constexpr std::string_view paused =
        "close: a session with a pause is not accepted before the pause is over, and then is";
    static constexpr std::string_view state_kept =
        "save: the state stays if the lock expires, and an expired lock does not change it";
};

template <class Make, class Send, class Message, class Queue>
class session_queue_rules {
    using lock = typename Queue::lock;
    using message = typename Queue::message;
    using bodies = std::vector<std::string>;

public:
    session_queue_rules(Make& make, Send& send, trial& t) : make_(make), send_(send), t_(t) {}

    void messages()
    {
        Queue q = make_();
        const auto none = q.accept();
        t_.holds(none && !*none, "accept: an empty queue has no session, which is not an error");
        send_all(q, "a", {"1", "2", "3"});
        send_all(q, "b", {"x"});
        const auto l = accepted(q);
        t_.holds(l && std::string_view(l->session) == "a",
                 "accept: returns a lock with the id of a session that has messages");
        if (!l) return;
        std::vector<message> all = received(q, *l);
        t_.holds(bodies_of(all) == bodies{"1", "2", "3"},
                 "receive: returns the messages of the session in order, each once, and then none");
        send_all(q, "a", {"4"});
        const auto later = received(q, *l);
        t_.holds(bodies_of(later) == bodies{"4"},
                 "receive: a message that is sent later is received with the same lock");
        for (const message& m : later) all.push_back(m);
        bool distinct = true;
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (std::size_t k = 0; k != i; ++k)
                distinct = distinct && all[i].sequence != all[k].sequence;
        }
        t_.holds(distinct, "receive: messages have different sequence numbers");
        if (all.size() != 4) return;
        t_.holds(to_fault(q.complete(*l, all[0])).ok() && to_fault(q.complete(*l, all[1])).ok(),
                 "complete: removes a message that was received");
        const std::uint64_t third = all[2].sequence;
        t_.holds(closed(q, *l), "close: releases the session");
        const auto again = accepted(q, "a");
        if (!again) return;
        const auto rest = received(q, *again);
        t_.holds(
            bodies_of(rest) == bodies{"3", "4"},
            "close: messages that are not complete are delivered again, in order, and no other");
        t_.holds(!rest.empty() && rest[0].sequence == third, session_queue_rule::same_sequence);
        for (const message& m : rest) static_cast<void>(q.complete(*again, m));
        t_.holds(closed(q, *again), "close: releases the session");
        contents();
    }

    void locks()
    {
        Queue q = make_();
        send_all(q, "a", {"1"});
        send_all(q, "b", {"2"});
        const auto first = accepted(q);
        const auto second = accepted(q);
        const auto third = q.accept();
        t_.holds(first && second && first->session != second->session,
                 "accept: a locked session is not accepted again, and another one is");
        t_.holds(third && !*third, "accept: if all sessions are locked, there is none");
        if (!first || !second) return;
        const auto own = received(q, *second);
        t_.holds(own.size() == 1 && std::string_view(own[0].body) == "2",
                 "receive: returns only messages of the locked session");
        t_.holds(closed(q, *first), "close: releases the session");
        t_.holds(!to_fault(q.renew(*first)).ok(), "renew: fails with a lock that was closed");
        const auto again = accepted(q);
        t_.holds(again && again->session == first->session,
                 "close: a session that was closed without a pause is accepted again");
        similar_ids();
    }

    void states()
    {
        if constexpr (stores_session_states<Queue>) {
            Queue q = make_();
            send_all(q, "a", {"1"});
            send_all(q, "A", {"2"});
            const auto l = accepted(q, "a");
            const auto other = accepted(q, "A");
            if (!l || !other) return;
            t_.holds(state_of(q, *l) == absent, "load: a session without a state has none");
            std::string all_bytes;
            for (int n = 0; n != 256; ++n) all_bytes += static_cast<char>(n);
            bool kept = true;
            for (const std::string& bytes :
                 {std::string("one"), all_bytes, std::string(), all_bytes})
                kept = saved(q, *l, bytes) && state_of(q, *l) == "=" + bytes && kept;
            t_.holds(kept,
                     "save: keeps any bytes as they are; an empty state is not an absent one");
            t_.holds(state_of(q, *other) == absent, "save: changes only the state of its session");
            for (const message& m : received(q, *l)) static_cast<void>(q.complete(*l, m));
            t_.holds(closed(q, *l), "close: releases the session");
            send_all(q, "a", {"3"});
            const auto again = accepted(q, "a");
            if (!again) return;
            t_.holds(state_of(q, *again) == "=" + all_bytes,
                     "save: the state stays until it is removed, also without messages and locks");
            t_.holds(to_fault(q.clear(*again)).ok() && state_of(q, *again) == absent,
                     "clear: removes the state");
            t_.holds(to_fault(q.clear(*again)).ok(), "clear: an absent state is not an error");
        } else {
            t_.untested("load, save, clear: states", "these calls");
        }
    }

    void transactions()
    {
        if constexpr (saves_in_transactions<Queue> && stores_session_states<Queue>) {
            Queue q = make_();
            send_all(q, "a", {"1"});
            const auto l = accepted(q);
            if (!l) return;
            static_cast<void>(saved(q, *l, "before"));
            {
                auto tx = q.begin();
                t_.holds(tx && to_fault(q.save(*tx, *l, "dropped")).ok(),
                         "save(tx): succeeds while the lock is held");
            }
            t_.holds(state_of(q, *l) == "=before",
                     "save(tx): without a commit, the state does not change");
            {
                auto tx = q.begin();
                const bool written = tx && to_fault(q.save(*tx, *l, "after")).ok();
                const bool done = written && trial::committed(*tx);
                t_.holds(done, "save(tx): commits");
            }
            t_.holds(state_of(q, *l) == "=after", "save(tx): with the commit, the state is saved");
            t_.holds(closed(q, *l), "close: releases the session");
            auto tx = q.begin();
            const bool refused = tx && !to_fault(q.save(*tx, *l, "late")).ok();
            t_.holds(refused, "save(tx): fails with a lock that is lost");
        } else {
            t_.untested("begin, save(tx): transactions", "these calls");
        }
    }

    template <class Wait>
    void times(Wait& wait, duration lock_duration)
    {
        const duration past = lock_duration + lock_duration / 4;
        expired_locks(wait, past);
        renewals(wait, lock_duration);
        if constexpr (closes_with_pause<Queue, lock>) pauses(wait, lock_duration);
        else t_.untested(session_queue_rule::paused, "close(lock, pause)");
    }

    void untested_times()
    {
        using rule = session_queue_rule;
        for (const auto r : {rule::expired, rule::accepted_again, rule::foreign, rule::renewed,
                             rule::counted, rule::paused, rule::state_kept})
            t_.untested(r, "a function that lets time pass");
    }

private:
    static constexpr std::string_view absent = "absent";

    void send_all(Queue& q, const std::string& session, const bodies& texts)
    {
        for (const std::string& body : texts)
            send_(q, Message{session, "id-" + std::to_string(++sent_), body, {}});
    }

    /// A lock that must be accepted now.
    std::optional<lock> accepted(Queue& q)
    {
        auto l = q.accept();
        t_.holds(l && *l, "accept: returns a session with messages and without a lock");
        return l ? *std::move(l) : std::optional<lock>();
    }
    /// The lock of this session. Other sessions stay locked.
    std::optional<lock> accepted(Queue& q, std::string_view id)
    {
        for (int n = 0; n != 4; ++n) {
            auto l = q.accept();
            if (!l || !*l) break;
            if (std::string_view((*l)->session) == id) return *std::move(l);
        }
        t_.holds(false, "accept: returns a session with messages and without a lock");
        return {};
    }

    std::vector<message> received(Queue& q, const lock& l)
    {
        std::vector<message> all;
        for (int n = 0; n != 100; ++n) {
            auto m = q.receive(l);
            t_.holds(m.has_value(), "receive: succeeds while the lock is held");
            if (!m || !*m) break;
            all.push_back(**std::move(m));
        }
        return all;
    }

    static bodies bodies_of(const std::vector<message>& all)
    {
        bodies texts;
        for (const message& m : all) texts.push_back(std::string(std::string_view(m.body)));
        return texts;
    }

    static bool closed(Queue& q, const lock& l, duration pause = {})
    {
        if constexpr (closes_with_pause<Queue, lock>) return to_fault(q.close(l, pause)).ok();
        else return to_fault(q.close(l)).ok();
    }

    static bool saved(Queue& q, const lock& l, const std::string& bytes)
    {
        return to_fault(q.save(l, bytes)).ok();
    }
    /// "=" and the bytes, "absent", or "error".
    static std::string state_of(Queue& q, const lock& l)
    {
        const auto s = q.load(l);
        if (!s) return "error";
        return *s ? "=" + **s : std::string(absent);
    }

    void contents()
    {
        Queue q = make_();
        std::string body;
        for (int n = 0; n != 256; ++n) body += static_cast<char>(n);
        send_(q, Message{"s", "my-id", body, {{"waybill-step", "3"}, {"empty", ""}}});
        const auto l = accepted(q);
        if (!l) return;
        const auto all = received(q, *l);
        const bool one = all.size() == 1;
        t_.holds(one && std::string_view(all[0].body) == body,
                 "receive: the body has the bytes that were sent");
        t_.holds(one && std::string_view(all[0].id) == "my-id",
                 "receive: the message has the id with which it was sent");
        const bool has = one && all[0].find("waybill-step") && all[0].find("empty") &&
                         !all[0].find("waybill-total");
        t_.holds(has && std::string_view(*all[0].find("waybill-step")) == "3" &&
                     std::string_view(*all[0].find("empty")).empty(),
                 "receive: find returns the properties that were sent, and no others");
    }

    void similar_ids()
    {
        const std::vector<std::string> ids = {"a",
                                              "A",
                                              "a ",
                                              "ab",
                                              "a/b",
                                              "1",
                                              "01",
                                              "order-17~1",
                                              "\xC3\xA9",
                                              std::string(128, 'x'),
                                              std::string(127, 'x') + "y"};
        Queue q = make_();
        for (const std::string& id : ids) send_all(q, id, {id});
        bool separate = true;
        for (std::size_t n = 0; n != ids.size(); ++n) {
            auto l = q.accept();
            if (!l || !*l) {
                separate = false;
                break;
            }
            const auto all = received(q, **l);
            separate = separate && all.size() == 1 &&
                       std::string_view(all[0].body) == std::string_view((*l)->session);
        }
        t_.holds(separate, "sessions with similar ids are different sessions");
    }

    template <class Wait>
    void expired_locks(Wait& wait, duration past)
    {
        using rule = session_queue_rule;
        Queue q = make_();
        send_all(q, "a", {"1", "2"});
        const auto old = accepted(q);
        if (!old) return;
        auto first = q.receive(*old);
        const bool has_first = first && *first;
        if constexpr (stores_session_states<Queue>) static_cast<void>(saved(q, *old, "kept"));
        wait(q, past);
        bool lost = is_lost(q, *old);
        if (has_first) lost = lost && to_fault(q.complete(*old, **first)).kind == gone;
        t_.holds(lost, rule::expired);

        const auto now = accepted(q);
        if (!now) return;
        const auto all = received(q, *now);
        t_.holds(bodies_of(all) == bodies{"1", "2"}, rule::accepted_again);
        t_.holds(has_first && !all.empty() && all[0].sequence == (*first)->sequence,
                 rule::same_sequence);
        const bool counts = has_first && (*first)->deliveries != 0;
        t_.holds(has_first && all.size() == 2 &&
                     (counts ? (*first)->deliveries == 1 && all[0].deliveries == 2
                             : all[0].deliveries == 0 && all[1].deliveries == 0),
                 rule::counted);
        bool foreign = is_lost(q, *old);
        if (has_first) foreign = foreign && to_fault(q.complete(*old, **first)).kind == gone;
        static_cast<void>(closed(q, *old));  // must not release the new lock
        const bool held = to_fault(q.renew(*now)).ok();
        t_.holds(foreign && held, rule::foreign);
        if constexpr (stores_session_states<Queue>)
            t_.holds(state_of(q, *now) == "=kept", rule::state_kept);
    }

    static constexpr fault_kind gone = fault_kind::ownership_lost;

    /// True if all calls without a message report that the lock is lost. `close` is not among them:
    /// some clients do not report it.
    static bool is_lost(Queue& q, const lock& l)
    {
        const auto m = q.receive(l);
        bool lost = !m && m.error().kind == gone && to_fault(q.renew(l)).kind == gone;
        if constexpr (stores_session_states<Queue>) {
            const auto s = q.load(l);
            lost = lost && !s && s.error().kind == gone;
            lost = lost && to_fault(q.save(l, "changed")).kind == gone;
            lost = lost && to_fault(q.clear(l)).kind == gone;
        }
        return lost;
    }

    template <class Wait>
    void renewals(Wait& wait, duration lock_duration)
    {
        Queue q = make_();
        send_all(q, "a", {"1"});
        const auto l = accepted(q);
        if (!l) return;
        bool held = true;
        for (int n = 0; n != 3; ++n) {
            wait(q, lock_duration / 2);
            held = to_fault(q.renew(*l)).ok() && held;
        }
        t_.holds(held && received(q, *l).size() == 1, session_queue_rule::renewed);
    }

    template <class Wait>
    void pauses(Wait& wait, duration lock_duration)
    {
        Queue q = make_();
        send_all(q, "a", {"1"});
        const auto l = accepted(q);
        if (!l) return;
        const duration pause = lock_duration * 2;
        const bool done = closed(q, *l, pause);
        const auto early = q.accept();
        wait(q, pause / 2);
        const auto still_early = q.accept();
        wait(q, pause / 2 + lock_duration / 4);
        const auto late = q.accept();
        t_.holds(done && early && !*early && still_early && !*still_early && late && *late,
                 session_queue_rule::paused);
    }

    Make& make_;
    Send& send_;
    trial& t_;
    std::uint64_t sent_ = 0;
};

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_SESSION_QUEUE_RULES_HPP
