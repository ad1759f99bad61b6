// SPDX-License-Identifier: MIT
//
// reprocess handles the event of the dead letter, and no other.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace reprocess_unit_test {
namespace {

using waybill::dead_letter;
using waybill::dead_letter_body;
using waybill::fault;
using waybill::reprocess_report;
using waybill::result;
using store = waybill::testing::memory_store<std::string>;

const waybill::partition_key key{"orders", "billing", "0"};

struct event {
    std::uint64_t sequence;
    std::string body;
};
struct octets {
    std::uint64_t sequence;
    std::vector<unsigned char> body;
};
struct bare {
    std::uint64_t sequence;
};
struct unnumbered {
    std::string body;
};

// A store with a letter of event 1, and the fetched event.
struct simulation {
    store s{};

    explicit simulation(const waybill::batch_policy& p = {})
    {
        park(waybill::make_dead_letter(key, event{1, "a body"}, waybill::permanent("no"), 1, {},
                                       p.dead_letters));
    }
    void park(const dead_letter& d)
    {
        auto tx = *s.begin();
        (void)s.put(tx, d);
        (void)tx.commit();
    }
    template <class E>
    auto run(E e)
    {
        const auto fetch = [&](const dead_letter&) -> result<std::optional<E>> {
            return std::optional<E>(e);
        };
        const auto handle = [](store::transaction& tx, const E&) {
            tx.record("effect");
            return fault{};
        };
        return waybill::reprocess(s, key, 1, fetch, handle, {});
    }
    template <class E>
    bool takes(E e)
    {
        return run(e).outcome == reprocess_report::outcome_type::handled &&
               s.records().size() == 1 && s.letters().empty();
    }
    template <class E>
    std::string refuses(E e)
    {
        const dead_letter before = **s.find(key, 1);
        const auto r = run(e);
        CHECK(r.outcome == reprocess_report::outcome_type::gone);
        CHECK(r.reason.kind == waybill::fault_kind::permanent);
        CHECK(s.records().empty());
        CHECK(**s.find(key, 1) == before);
        return r.reason.text;
    }
};

TEST_CASE(
    "reprocess: an event with another sequence is refused, whichever part the dead letter "
    "keeps")
{
    for (const auto keeps :
         {dead_letter_body::body, dead_letter_body::pointer, dead_letter_body::summary}) {
        simulation w({.dead_letters = {.keeps = keeps}});
        CHECK(w.refuses(event{77, "a body"}) == "event 77 was fetched instead of event 1");
        CHECK(w.refuses(bare{2}) == "event 2 was fetched instead of event 1");
        CHECK(w.takes(event{1, "a body"}));
    }
}

TEST_CASE("reprocess: an event with another body is refused, whichever part the dead letter keeps")
{
    for (const auto keeps :
         {dead_letter_body::body, dead_letter_body::pointer, dead_letter_body::summary}) {
        simulation w({.dead_letters = {.keeps = keeps, .summary_bytes = 2}});
        CHECK(w.refuses(event{1, "another"}) ==
              "event 1 differs from its dead letter: 7 bytes, not 6, or another checksum");
        (void)w.refuses(event{1, "a bodY"});
        (void)w.refuses(event{1, ""});
        (void)w.refuses(octets{1, {'a', ' ', 'b', 'o', 'd', 'Y'}});
        CHECK(w.takes(octets{1, {'a', ' ', 'b', 'o', 'd', 'y'}}));
    }
}

TEST_CASE("reprocess: a field that the event or the dead letter lacks is not compared")
{
    CHECK(simulation().takes(bare{1}));
    CHECK(simulation().takes(unnumbered{"anything"}));
    simulation w;
    w.park({.key = key, .at = {1, ""}});
    CHECK(w.takes(event{1, "a body"}));
}

TEST_CASE("reprocess: the reason of a failed commit is reported")
{
    using waybill::testing::injected_fault;
    using waybill::testing::store_call;
    for (const bool skips : {false, true}) {
        simulation w;
        const auto fails = [](store_call c) {
            return c == store_call::commit ? injected_fault::fails : injected_fault::none;
        };
        waybill::testing::faulty s(w.s, fails);
        const auto fetch = [](const dead_letter&) -> result<std::optional<bare>> {
            return bare{1};
        };
        const auto handle = [&](auto&, const bare&) {
            return skips ? waybill::skipped() : waybill::event_outcome(fault{});
        };
        const auto r = waybill::reprocess(s, key, 1, fetch, handle, {});
        CHECK(r.outcome == reprocess_report::outcome_type::not_done);
        CHECK(r.reason.text == "store failed");
        CHECK(w.s.letters().size() == 1);
    }
}

}  // namespace
}  // namespace reprocess_unit_test
