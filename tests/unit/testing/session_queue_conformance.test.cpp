// SPDX-License-Identifier: MIT
//
// The queue in memory conforms, and queues with one mistake do not.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_session_queue.hpp>
#include <waybill/testing/session_queue_conformance.hpp>

namespace session_queue_conformance_test {
namespace {

using waybill::duration;
using waybill::fault;
using waybill::result;
using waybill::testing::conformance_report;
using waybill::testing::manual_environment;
using waybill::testing::sent_message;
using memory = waybill::testing::memory_session_queue;

template <class Q>
void send(Q& q, const sent_message& m)
{
    memory::message out{.session = m.session, .id = m.id, .body = m.body};
    for (const auto& [name, value] : m.properties) out.properties.emplace(name, value);
    q.send(std::move(out));
}

template <class Q>
conformance_report report_of()
{
    manual_environment env;
    return waybill::testing::session_queue_conformance(
        [&] { return Q(env); }, [](Q& q, const sent_message& m) { send(q, m); },
        [&](Q&, duration d) { env.advance(d); });
}

template <class Q>
std::string broken()
{
    std::string all;
    for (const std::string& rule : report_of<Q>().broken) all += rule + "\n";
    return all;
}

TEST_CASE("session_queue_conformance: the memory queue conforms, and every rule is tested")
{
    const auto report = report_of<memory>();
    CHECK(report.broken.empty());
    CHECK(report.untested.empty());
}

struct uncounted : memory {
    explicit uncounted(const manual_environment& e) : memory(e, {.counts_deliveries = false}) {}
};

TEST_CASE("session_queue_conformance: a queue that does not count deliveries conforms")
{
    CHECK(broken<uncounted>().empty());
}

TEST_CASE("session_queue_conformance: without a wait function, the rules of time are untested")
{
    manual_environment env;
    const auto report = waybill::testing::session_queue_conformance(
        [&] { return memory(env); }, [](memory& q, const sent_message& m) { send(q, m); });
    CHECK(report.broken.empty());
    CHECK(report.untested.size() == 3);
}

// -- queues with one mistake each

struct completes_nothing : memory {
    using memory::memory;
    fault complete(const lock&, const message&) { return {}; }
};

struct renews_nothing : memory {
    using memory::memory;
    fault renew(const lock&) { return {}; }
};

struct ignores_pauses : memory {
    using memory::memory;
    fault close(const lock& l, duration) { return memory::close(l, {}); }
};

struct numbers_deliveries : memory {
    using memory::memory;
    result<std::optional<message>> receive(const lock& l)
    {
        auto m = memory::receive(l);
        if (m && *m) (*m)->sequence = ++next;
        return m;
    }
    fault complete(const lock& l, message m)
    {
        (void)m;
        (void)l;
        return {};
    }
    std::uint64_t next = 0;
};

struct forgets_closed_messages : memory {
    using memory::memory;
    fault close(const lock& l, duration d)
    {
        for (auto m = memory::receive(l); m && *m; m = memory::receive(l))
            (void)memory::complete(l, **m);
        return memory::close(l, d);
    }
};

struct empty_state_is_absent : memory {
    using memory::memory;
    using memory::save;
    result<std::optional<std::string>> load(const lock& l)
    {
        auto s = memory::load(l);
        if (s && *s && (*s)->empty()) s->reset();
        return s;
    }
};

struct absent_state_is_empty : memory {
    using memory::memory;
    result<std::optional<std::string>> load(const lock& l)
    {
        auto s = memory::load(l);
        if (s && !*s) s->emplace();
        return s;
    }
};

struct clears_with_the_lock : memory {
    using memory::memory;
    fault close(const lock& l, duration d)
    {
        (void)memory::clear(l);
        return memory::close(l, d);
    }
};

struct cuts_state_at_nul : memory {
    using memory::memory;
    fault save(const lock& l, const std::string& bytes) { return memory::save(l, bytes.c_str()); }
    fault save(transaction& t, const lock& l, const std::string& bytes)
    {
        return memory::save(t, l, bytes);
    }
};

struct saves_before_commit : memory {
    using memory::memory;
    using memory::save;
    fault save(transaction&, const lock& l, const std::string& bytes)
    {
        return memory::save(l, bytes);
    }
};

/// An expired lock is reported as an outage, so it would be retried without end.
struct lost_lock_is_infrastructure : memory {
    using memory::memory;
    result<std::optional<message>> receive(const lock& l)
    {
        auto m = memory::receive(l);
        if (!m) return waybill::unexpected(waybill::infrastructure(m.error().text));
        return m;
    }
};

/// An expired lock may still save: it overwrites the state of the next holder.
struct saves_without_lock : memory {
    using memory::memory;
    using memory::save;
    fault save(const lock& l, const std::string& bytes)
    {
        const fault f = memory::save(l, bytes);
        if (f.ok()) last = l;
        return last.session == l.session ? fault{} : f;
    }
    lock last{};
};

struct drops_properties : memory {
    using memory::memory;
    result<std::optional<message>> receive(const lock& l)
    {
        auto m = memory::receive(l);
        if (m && *m) (*m)->properties.erase("empty");
        return m;
    }
};

struct counts_from_zero : memory {
    using memory::memory;
    result<std::optional<message>> receive(const lock& l)
    {
        auto m = memory::receive(l);
        if (m && *m) --(*m)->deliveries;
        return m;
    }
};

struct folds_case : memory {
    using memory::memory;
    void send(message m)
    {
        for (char& c : m.session) {
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
        }
        memory::send(std::move(m));
    }
};

template <std::size_t Longest>
struct cuts_bodies : memory {
    using memory::memory;
    void send(message m)
    {
        if (m.body.size() > Longest) m.body.resize(Longest);
        memory::send(std::move(m));
    }
};

struct loses_empty_bodies : memory {
    using memory::memory;
    void send(message m)
    {
        if (!m.body.empty()) memory::send(std::move(m));
    }
};

struct cuts_states : memory {
    using memory::memory;
    using memory::save;
    fault save(const lock& l, const std::string& bytes)
    {
        return memory::save(l, bytes.substr(0, 65'535));
    }
};

struct delivers_1000 : memory {
    using memory::memory;
    result<std::optional<message>> receive(const lock& l)
    {
        if (++received > 1'000) return std::optional<message>();
        return memory::receive(l);
    }
    int received = 0;
};

TEST_CASE("session_queue_conformance: each queue with one flaw is detected")
{
    const std::string sizes = "receive: bodies of all sizes are unchanged\n";
    CHECK(broken<cuts_bodies<65'535>>() == sizes);
    CHECK(broken<cuts_bodies<4'096>>() == sizes);
    CHECK(broken<loses_empty_bodies>() == sizes);
    CHECK(broken<cuts_states>() == "save: states of all sizes are unchanged\n");
    CHECK(broken<delivers_1000>() ==
          "receive, accept: each of 1,100 messages and of 1,100 sessions is received once\n");
    CHECK(broken<completes_nothing>().find("close: messages that are not complete are delivered") !=
          std::string::npos);
    CHECK(broken<renews_nothing>().starts_with("renew: fails with a lock that was closed\n"));
    CHECK(broken<renews_nothing>().find("renew: the lock expires later\n") != std::string::npos);
    CHECK(broken<ignores_pauses>() ==
          "close: a session with a pause is not accepted before the pause is over, and then is\n");
    CHECK(broken<numbers_deliveries>().find("receive: a message has the same sequence number") !=
          std::string::npos);
    CHECK(broken<forgets_closed_messages>().find("close: ") != std::string::npos);
    CHECK(broken<empty_state_is_absent>() ==
          "save: keeps any bytes as they are; an empty state is not an absent one\n");
    CHECK(
        broken<absent_state_is_empty>().starts_with("load: a session without a state has none\n"));
    CHECK(broken<clears_with_the_lock>() ==
          "save: the state stays until it is removed, also without messages and locks\n");
    CHECK(broken<cuts_state_at_nul>().starts_with("save: keeps any bytes as they are"));
    CHECK(broken<saves_before_commit>() ==
          "save(tx): without a commit, the state does not change\n");
    CHECK(broken<lost_lock_is_infrastructure>().starts_with("after a lock has expired"));
    CHECK(broken<saves_without_lock>().starts_with("after a lock has expired"));
    CHECK(broken<drops_properties>() ==
          "receive: find returns the properties that were sent, and no others\n");
    CHECK(broken<counts_from_zero>() ==
          "receive: deliveries are counted, this one included, or are always 0\n");
    CHECK(broken<folds_case>().find("sessions with similar ids") != std::string::npos);
}

}  // namespace
}  // namespace session_queue_conformance_test
