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
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

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
    static constexpr std::string_view renewed = "renew: the lock expires later";
    static constexpr std::string_view same_sequence =
        "receive: a message has the same sequence number in each delivery";
    static constexpr std::string_view paused =
        "close: a session with a pause is not accepted before the pause is over, and then is";
    static constexpr std::string_view all_messages =
        "receive, accept: each of 1,100 messages and of 1,100 sessions is received once";
};

/// The rules of a new, empty queue `q`. `send` sends a `Message`, `wait` lets time pass.
template <class Message, class Queue, class Send, class Wait>
class session_queue_trial {
    using lock = typename Queue::lock;
    using message = typename Queue::message;
    using bodies = std::vector<std::string>;

public:
    session_queue_trial(Queue& q, Send& send, Wait& wait, duration lock_duration,
                        const store_limits& limits, trial& t)
        : q_(q), send_(send), wait_(wait), lock_(lock_duration), limits_(limits), t_(t)
    {
    }

    void messages()
    {
        const auto none = q_.accept();
        t_.holds(none && !*none, "accept: an empty queue has no session, which is not an error");
        send_all("a", {"1", "2", "3"});
        send_all("b", {"x"});
        const auto l = accepted();
        t_.holds(l && std::string_view(l->session) == "a",
                 "accept: returns a lock with the id of a session that has messages");
        if (!l) return;
        std::vector<message> all = received(*l);
        t_.holds(bodies_of(all) == bodies{"1", "2", "3"},
                 "receive: returns the messages of the session in order, each once, and then none");
        send_all("a", {"4"});
        const auto later = received(*l);
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
        t_.holds(to_fault(q_.complete(*l, all[0])).ok() && to_fault(q_.complete(*l, all[1])).ok(),
                 "complete: removes a message that was received");
        const std::uint64_t third = all[2].sequence;
        t_.holds(closed(*l), "close: releases the session");
        const auto again = accepted("a");
        if (!again) return;
        const auto rest = received(*again);
        t_.holds(
            bodies_of(rest) == bodies{"3", "4"},
            "close: messages that are not complete are delivered again, in order, and no other");
        t_.holds(!rest.empty() && rest[0].sequence == third, session_queue_rule::same_sequence);
        for (const message& m : rest) static_cast<void>(q_.complete(*again, m));
        t_.holds(closed(*again), "close: releases the session");
    }

    void locks()
    {
        send_all("a", {"1"});
        send_all("b", {"2"});
        const auto first = accepted();
        const auto second = accepted();
        const auto third = q_.accept();
        t_.holds(first && second && first->session != second->session,
                 "accept: a locked session is not accepted again, and another one is");
        t_.holds(third && !*third, "accept: if all sessions are locked, there is none");
        if (!first || !second) return;
        const auto own = received(*second);
        t_.holds(own.size() == 1 && std::string_view(own[0].body) == "2",
                 "receive: returns only messages of the locked session");
        t_.holds(closed(*first), "close: releases the session");
        t_.holds(!to_fault(q_.renew(*first)).ok(), "renew: fails with a lock that was closed");
        const auto again = accepted();
        t_.holds(again && again->session == first->session,
                 "close: a session that was closed without a pause is accepted again");
    }

    void states()
    {
        if constexpr (stores_session_states<Queue>) {
            send_all("a", {"1"});
            send_all("A", {"2"});
            const auto l = accepted("a");
            const auto other = accepted("A");
            if (!l || !other) return;
            t_.holds(state_of(*l) == absent, "load: a session without a state has none");
            std::string all_bytes;
            for (int n = 0; n != 256; ++n) all_bytes += static_cast<char>(n);
            bool kept = true;
            for (const std::string& bytes :
                 {std::string("one"), all_bytes, std::string(), all_bytes})
                kept = saved(*l, bytes) && state_of(*l) == "=" + bytes && kept;
            t_.holds(kept,
                     "save: keeps any bytes as they are; an empty state is not an absent one");
            t_.holds(state_of(*other) == absent, "save: changes only the state of its session");
            for (const message& m : received(*l)) static_cast<void>(q_.complete(*l, m));
            t_.holds(closed(*l), "close: releases the session");
            send_all("a", {"3"});
            const auto again = accepted("a");
            if (!again) return;
            t_.holds(state_of(*again) == "=" + all_bytes,
                     "save: the state stays until it is removed, also without messages and locks");
            t_.holds(to_fault(q_.clear(*again)).ok() && state_of(*again) == absent,
                     "clear: removes the state");
            t_.holds(to_fault(q_.clear(*again)).ok(), "clear: an absent state is not an error");
        }
    }

    void transactions()
    {
        if constexpr (saves_in_transactions<Queue> && stores_session_states<Queue>) {
            send_all("a", {"1"});
            const auto l = accepted();
            if (!l) return;
            static_cast<void>(saved(*l, "before"));
            {
                auto tx = q_.begin();
                t_.holds(tx && to_fault(q_.save(*tx, *l, "dropped")).ok(),
                         "save(tx): succeeds while the lock is held");
            }
            t_.holds(state_of(*l) == "=before",
                     "save(tx): without a commit, the state does not change");
            {
                auto tx = q_.begin();
                const bool written = tx && to_fault(q_.save(*tx, *l, "after")).ok();
                const bool done = written && trial::committed(*tx);
                t_.holds(done, "save(tx): commits");
            }
            t_.holds(state_of(*l) == "=after", "save(tx): with the commit, the state is saved");
            t_.holds(closed(*l), "close: releases the session");
            auto tx = q_.begin();
            const bool refused = tx && !to_fault(q_.save(*tx, *l, "late")).ok();
            t_.holds(refused, "save(tx): fails with a lock that is lost");
        }
    }

    void values()
    {
        const bodies all =
            sized_values(limits_.shortest_body, limits_.longest_body, limits_.any_bytes);
        send_all("sized", all);
        const auto l = accepted();
        if (!l) return;
        t_.holds(bodies_of(received(*l)) == all, "receive: bodies of all sizes are unchanged");
        if constexpr (stores_session_states<Queue>) {
            bool kept = true;
            for (const std::string& bytes : sized_values(0, limits_.longest_body, true))
                kept = saved(*l, bytes) && state_of(*l) == "=" + bytes && kept;
            t_.holds(kept, "save: states of all sizes are unchanged");
        }
    }

    /// More messages and sessions than a request returns.
    void pages()
    {
        constexpr int count = 1'100;
        bodies sent;
        for (int n = 0; n != count; ++n) sent.push_back(std::to_string(n));
        send_all("many", sent);
        const auto l = accepted();
        if (!l) return;
        bodies found;
        for (int n = 0; n != count; ++n) {
            if (n % 50 == 0) static_cast<void>(q_.renew(*l));
            const auto m = q_.receive(*l);
            if (!m || !*m) break;
            found.push_back(std::string(std::string_view((*m)->body)));
            static_cast<void>(q_.complete(*l, **m));
        }
        t_.holds(found == sent && closed(*l) && each_has_its_message(sent),
                 session_queue_rule::all_messages);
    }

    void contents()
    {
        std::string body;
        for (int n = 0; n != 256; ++n) body += static_cast<char>(n);
        send_(q_, Message{"s", "my-id", body, {{"waybill-step", "3"}, {"empty", ""}}});
        const auto l = accepted();
        if (!l) return;
        const auto all = received(*l);
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
        t_.holds(each_has_its_message(similar_names()),
                 "sessions with similar ids are different sessions");
    }

    void expired_locks()
    {
        using rule = session_queue_rule;
        send_all("a", {"1", "2"});
        const auto old = accepted();
        if (!old) return;
        auto first = q_.receive(*old);
        const bool has_first = first && *first;
        if constexpr (stores_session_states<Queue>) static_cast<void>(saved(*old, "kept"));
        wait_(q_, lock_ + lock_ / 4);
        bool lost = is_lost(*old);
        if (has_first) lost = lost && to_fault(q_.complete(*old, **first)).kind == gone;
        t_.holds(lost, rule::expired);

        const auto now = accepted();
        if (!now) return;
        const auto all = received(*now);
        t_.holds(bodies_of(all) == bodies{"1", "2"},
                 "accept: a session whose lock has expired is accepted again, with its messages in "
                 "order");
        t_.holds(has_first && !all.empty() && all[0].sequence == (*first)->sequence,
                 rule::same_sequence);
        const bool counts = has_first && (*first)->deliveries != 0;
        t_.holds(has_first && all.size() == 2 &&
                     (counts ? (*first)->deliveries == 1 && all[0].deliveries == 2
                             : all[0].deliveries == 0 && all[1].deliveries == 0),
                 "receive: deliveries are counted, this one included, or are always 0");
        bool foreign = is_lost(*old);
        if (has_first) foreign = foreign && to_fault(q_.complete(*old, **first)).kind == gone;
        static_cast<void>(closed(*old));  // must not release the new lock
        const bool held = to_fault(q_.renew(*now)).ok();
        t_.holds(foreign && held,
                 "an expired lock stays lost after another consumer has accepted the session");
        if constexpr (stores_session_states<Queue>)
            t_.holds(state_of(*now) == "=kept",
                     "save: the state stays if the lock expires, and an expired lock does not "
                     "change it");
    }

    void renewals()
    {
        send_all("a", {"1"});
        const auto l = accepted();
        if (!l) return;
        bool held = true;
        for (int n = 0; n != 3; ++n) {
            wait_(q_, lock_ / 2);
            held = to_fault(q_.renew(*l)).ok() && held;
        }
        t_.holds(held && received(*l).size() == 1, session_queue_rule::renewed);
    }

    void pauses()
    {
        send_all("a", {"1"});
        const auto l = accepted();
        if (!l) return;
        const duration pause = lock_ * 2;
        const bool done = closed(*l, pause);
        const auto early = q_.accept();
        wait_(q_, pause / 2);
        const auto still_early = q_.accept();
        wait_(q_, pause / 2 + lock_ / 4);
        const auto late = q_.accept();
        t_.holds(done && early && !*early && still_early && !*still_early && late && *late,
                 session_queue_rule::paused);
    }

private:
    static constexpr std::string_view absent = "absent";

    void send_all(const std::string& session, const bodies& texts)
    {
        for (const std::string& body : texts)
            send_(q_, Message{session, "id-" + std::to_string(++sent_), body, {}});
    }

    /// A lock that must be accepted now.
    std::optional<lock> accepted()
    {
        auto l = q_.accept();
        t_.holds(l && *l, "accept: returns a session with messages and without a lock");
        return l ? *std::move(l) : std::optional<lock>();
    }
    /// The lock of this session. Other sessions stay locked.
    std::optional<lock> accepted(std::string_view id)
    {
        for (int n = 0; n != 4; ++n) {
            auto l = q_.accept();
            if (!l || !*l) break;
            if (std::string_view((*l)->session) == id) return *std::move(l);
        }
        t_.holds(false, "accept: returns a session with messages and without a lock");
        return {};
    }

    /// Sends a message to each of these sessions. True if each session has exactly its message. They
    /// are completed at once, because accepting all sessions may take longer than a lock.
    bool each_has_its_message(const bodies& ids)
    {
        for (const std::string& id : ids) send_all(id, {id});
        for (std::size_t n = 0; n != ids.size(); ++n) {
            const auto l = accepted();
            if (!l) return false;
            const auto all = received(*l);
            if (all.size() != 1 || std::string_view(all[0].body) != std::string_view(l->session))
                return false;
            if (!to_fault(q_.complete(*l, all[0])).ok() || !closed(*l)) return false;
        }
        const auto none = q_.accept();
        return none && !*none;
    }

    std::vector<message> received(const lock& l)
    {
        std::vector<message> all;
        for (int n = 0; n != 100; ++n) {
            auto m = q_.receive(l);
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

    bool closed(const lock& l, duration pause = {})
    {
        if constexpr (closes_with_pause<Queue, lock>) return to_fault(q_.close(l, pause)).ok();
        else return to_fault(q_.close(l)).ok();
    }

    bool saved(const lock& l, const std::string& bytes) { return to_fault(q_.save(l, bytes)).ok(); }
    /// "=" and the bytes, "absent", or "error".
    std::string state_of(const lock& l)
    {
        const auto s = q_.load(l);
        if (!s) return "error";
        return *s ? "=" + **s : std::string(absent);
    }

    static constexpr fault_kind gone = fault_kind::ownership_lost;

    /// True if all calls without a message report that the lock is lost. `close` is not among them:
    /// some clients do not report it.
    bool is_lost(const lock& l)
    {
        const auto m = q_.receive(l);
        bool lost = !m && m.error().kind == gone && to_fault(q_.renew(l)).kind == gone;
        if constexpr (stores_session_states<Queue>) {
            const auto s = q_.load(l);
            lost = lost && !s && s.error().kind == gone;
            lost = lost && to_fault(q_.save(l, "changed")).kind == gone;
            lost = lost && to_fault(q_.clear(l)).kind == gone;
        }
        return lost;
    }

    Queue& q_;
    Send& send_;
    Wait& wait_;
    duration lock_;
    const store_limits& limits_;
    trial& t_;
    std::uint64_t sent_ = 0;
};

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_SESSION_QUEUE_RULES_HPP
