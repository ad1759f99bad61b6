// SPDX-License-Identifier: MIT
//
// Dead letters: their content, and handling their events again.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/faulty.hpp>
#include <waybill/testing/memory_store.hpp>

namespace letters_unit_test {
namespace {

using waybill::batch_outcome;
using waybill::batch_policy;
using waybill::crc32c;
using waybill::dead_letter;
using waybill::dead_letter_body;
using waybill::event_outcome;
using waybill::fault;
using waybill::fault_kind;
using waybill::reprocess;
using waybill::reprocess_report;
using waybill::result;
using waybill::wall_time;
using store = waybill::testing::memory_store<std::string>;

const waybill::partition_key key{"orders", "billing", "0"};
const wall_time noon = wall_time::at(waybill::duration::seconds(43'200));
const wall_time later = wall_time::at(waybill::duration::seconds(43'260));

static_assert(waybill::dead_letter_queue<store>);
static_assert(name(reprocess_report::outcome_type::gone) == "gone" &&
              name(reprocess_report::outcome_type::not_done) == "not_done");

struct event {
    std::uint64_t sequence;
    std::string body;
};

dead_letter letter_of(const std::string& body, const waybill::dead_letter_options& o)
{
    return waybill::make_dead_letter(key, event{7, body}, waybill::permanent("no"), 1, noon, o);
}

TEST_CASE("dead_letter: keeps the body, a pointer or a summary, and always size and checksum")
{
    const std::string body = "12345678\xE2\x82\xAC rest";  // a euro sign from the ninth byte on
    const auto whole = letter_of(body, {});
    CHECK(whole.body == body);
    CHECK(whole.kept == dead_letter_body::body);
    const auto pointer = letter_of(body, {.keeps = dead_letter_body::pointer});
    CHECK(pointer.body == "");
    CHECK(pointer.kept == dead_letter_body::pointer);
    CHECK(pointer.at.sequence == 7);
    for (const std::uint64_t most :
         {std::uint64_t{8}, std::uint64_t{9}, std::uint64_t{10}, std::uint64_t{11}}) {
        const auto summary =
            letter_of(body, {.keeps = dead_letter_body::summary, .summary_bytes = most});
        CHECK(summary.kept == dead_letter_body::summary);
        CHECK(summary.body == body.substr(0, most == 11 ? 11 : 8));
    }
    CHECK(letter_of(body, {.keeps = dead_letter_body::summary,
                           .summary_bytes = waybill::detail::highest_size})
              .body == body);
    for (const auto keeps :
         {dead_letter_body::body, dead_letter_body::pointer, dead_letter_body::summary}) {
        const auto d = letter_of(body, {.keeps = keeps});
        CHECK(d.size == body.size());
        CHECK(d.checksum == crc32c(body));
    }
}

TEST_CASE("dead_letter: an oversized body is kept as a summary, for any bytes")
{
    const std::string huge(10'000'000, '\xFF');
    const auto d = letter_of(huge, {.body_bytes = 1'000'000, .summary_bytes = 100});
    CHECK(d.kept == dead_letter_body::summary);
    CHECK(d.body == std::string(100, '\xFF'));
    CHECK(d.body.capacity() < 1'000);
    CHECK(d.size == 10'000'000);
    CHECK(letter_of(std::string(100, 'x'), {.body_bytes = 100}).kept == dead_letter_body::body);
    const auto none =
        waybill::make_dead_letter(key, waybill::position{3, "3"}, waybill::transient("x"), 2, noon);
    CHECK(none.size == 0);
    CHECK(none.at.offset == "3");
    CHECK(none.kind == fault_kind::transient);
}

TEST_CASE("dead_letter: process_batch writes what the policy keeps, or counts a dropped event")
{
    const std::vector<event> events{{1, "good"}, {2, "bad"}};
    const auto handle = [](store::transaction& tx, const event& e) -> fault {
        tx.record(e.body);
        return e.body == "bad" ? waybill::permanent("cannot be") : fault{};
    };
    store pointers;
    CHECK(waybill::process_batch(pointers, {key, {}, 1}, events, handle, noon,
                                 {.dead_letters = {.keeps = dead_letter_body::pointer}})
              .dead_lettered == 1);
    CHECK((*pointers.find(key, 2))->body == "");
    CHECK((*pointers.find(key, 2))->checksum == crc32c("bad"));

    store nothing;
    const auto r = waybill::process_batch(nothing, {key, {}, 1}, events, handle, noon,
                                          {.dead_letters = {.keeps = dead_letter_body::discard}});
    CHECK(r.outcome == batch_outcome::committed);
    CHECK(r.dropped == 1);
    CHECK(r.dead_lettered == 0);
    CHECK(nothing.letters().empty());
    CHECK(nothing.records() == std::vector<std::string>{"good"});
}

// A store with the letter of event 2, and the next outcome of its event.
struct simulation {
    store s{};
    event_outcome answer{};
    int fetched = 0;

    simulation() { park(2, "bad"); }
    void park(std::uint64_t n, const std::string& body)
    {
        auto tx = *s.begin();
        (void)s.put(tx, waybill::make_dead_letter(key, event{n, body},
                                                  waybill::permanent("cannot be"), 1, noon));
        (void)tx.commit();
    }
    auto run(std::uint64_t n = 2, std::optional<fault> log = {}, bool gone = false)
    {
        const auto fetch = [&](const dead_letter& d) -> result<std::optional<event>> {
            ++fetched;
            if (log) return waybill::unexpected(*log);
            if (gone) return std::optional<event>();
            return event{d.at.sequence, d.body};
        };
        const auto handle = [&](store::transaction& tx, const event& e) {
            tx.record(e.body);
            return answer;
        };
        return reprocess(s, key, n, fetch, handle, later);
    }
};

TEST_CASE(
    "reprocess: the effect of the event and the removal of its dead letter are one "
    "transaction")
{
    simulation w;
    CHECK(w.run() == waybill::reprocess_report{reprocess_report::outcome_type::handled, {}});
    CHECK(w.s.records() == std::vector<std::string>{"bad"});
    CHECK(w.s.letters().empty());
    CHECK(w.run().outcome == reprocess_report::outcome_type::absent);
    CHECK(w.fetched == 1);
}

TEST_CASE(
    "reprocess: a repeated failure has no effect; its dead letter has the new reason and "
    "tries")
{
    simulation w;
    w.answer = waybill::transient(std::string(5'000, 'x'));
    const auto r = w.run();
    CHECK(r.outcome == reprocess_report::outcome_type::failed);
    CHECK(r.reason.kind == fault_kind::transient);
    const dead_letter d = **w.s.find(key, 2);
    CHECK(d.kind == fault_kind::transient);
    CHECK(d.reason == std::string(1'024, 'x'));
    CHECK(d.tries == 2);
    CHECK(d.dead_lettered_at == later);
    CHECK(d.body == "bad");
    CHECK(w.s.records().empty());
}

TEST_CASE("reprocess: skipped events lose their dead letters, and have no effect")
{
    simulation w;
    w.answer = waybill::skipped();
    CHECK(w.run().outcome == reprocess_report::outcome_type::skipped);
    CHECK(w.s.records().empty());
    CHECK(w.s.letters().empty());
}

TEST_CASE("reprocess: if an event is gone or a dependency is down, its dead letter is unchanged")
{
    simulation w;
    const dead_letter before = **w.s.find(key, 2);
    CHECK(w.run(2, {}, true).outcome == reprocess_report::outcome_type::gone);
    CHECK(w.run(2, waybill::infrastructure("log down")).outcome ==
          reprocess_report::outcome_type::not_done);
    CHECK(w.run(2, waybill::cancelled("stop")).outcome ==
          reprocess_report::outcome_type::cancelled);
    for (const auto& f : {waybill::infrastructure("down"), waybill::ownership_lost("not mine"),
                          waybill::cancelled("stop")}) {
        w.answer = f;
        const auto r = w.run();
        CHECK(r.outcome == (f.kind == fault_kind::cancelled
                                ? reprocess_report::outcome_type::cancelled
                                : reprocess_report::outcome_type::not_done));
        CHECK(r.reason == f);
    }
    CHECK(**w.s.find(key, 2) == before);
    CHECK(w.s.records().empty());
}

TEST_CASE("reprocess: handles all listed dead letters in order")
{
    simulation w;
    for (const std::uint64_t n : {5U, 3U, 4U}) w.park(n, std::to_string(n));
    std::optional<std::uint64_t> after;
    std::vector<std::uint64_t> seen;
    for (;;) {
        const auto page = *w.s.list(key, after, 2);
        if (page.empty()) break;
        for (const dead_letter& d : page) {
            seen.push_back(d.at.sequence);
            CHECK(w.run(d.at.sequence).outcome == reprocess_report::outcome_type::handled);
        }
        after = page.back().at.sequence;
    }
    CHECK(seen == std::vector<std::uint64_t>{2, 3, 4, 5});
    CHECK(w.s.letters().empty());
}

TEST_CASE("rewind: moves the owner's checkpoint back, and refuses another owner's")
{
    using waybill::position;
    using waybill::rewind;
    using waybill::rewind_report;
    static_assert(name(rewind_report::outcome_type::rewound) == "rewound" &&
                  name(rewind_report::outcome_type::ownership_lost) == "ownership_lost");

    store s;
    const auto handle = [](store::transaction& tx, const event& e) {
        tx.record(e.body);
        return fault{};
    };
    const std::vector<event> events{{1, "a"}, {2, "b"}, {3, "c"}};
    waybill::assignment mine{key, {}, 4};
    CHECK(rewind(s, mine, position{1, ""}).outcome == rewind_report::outcome_type::invalid);
    CHECK(rewind(s, mine, position{1, ""}).reason.text ==
          "cannot rewind to 1: the checkpoint is absent");
    mine.from = waybill::process_batch(s, mine, events, handle, noon).reached;
    CHECK(rewind(s, mine, position{3, ""}).reason.text ==
          "cannot rewind to 3: the checkpoint is at 3, and must be after the target");
    CHECK(rewind(s, mine, position{4, ""}).outcome == rewind_report::outcome_type::invalid);

    const auto r = rewind(s, mine, position{1, "one"});
    CHECK(r.outcome == rewind_report::outcome_type::rewound);
    CHECK(r.mine == waybill::assignment{key, position{1, "one"}, 4});
    CHECK(*s.load(key) == waybill::checkpoint{{1, "one"}, 4});
    const auto again = waybill::process_batch(s, r.mine, events, handle, noon);
    CHECK(again.repeated == 1);
    CHECK(again.handled == 2);
    CHECK(s.records() == std::vector<std::string>{"a", "b", "c", "b", "c"});

    // A caller with a wrong checkpoint or an earlier epoch is refused.
    CHECK(rewind(s, r.mine, position{0, ""}).outcome ==
          rewind_report::outcome_type::ownership_lost);
    waybill::assignment earlier{key, again.reached, 3};
    CHECK(
        rewind(s, earlier, position{0, ""}).reason ==
        waybill::ownership_lost("checkpoint stale_epoch: another owner has a higher epoch than 3"));
    CHECK((*s.load(key))->at.sequence == 3);
}

// A store that cannot go back to the beginning.
struct without_reset {
    using transaction = store::transaction;
    store& behind;
    auto begin() { return behind.begin(); }
    auto load(const waybill::partition_key& k) { return behind.load(k); }
    auto advance(transaction& tx, const waybill::partition_key& k,
                 const std::optional<waybill::position>& from, const waybill::position& to,
                 std::uint64_t epoch)
    {
        return behind.advance(tx, k, from, to, epoch);
    }
};
static_assert(waybill::checkpoint_store<without_reset> &&
              !waybill::checkpoint_reset<without_reset>);
static_assert(waybill::checkpoint_reset<store>);

TEST_CASE("rewind: to the beginning, if the first sequence is 0")
{
    using waybill::position;
    using waybill::rewind;
    using waybill::rewind_report;
    store s;
    const auto handle = [](store::transaction& tx, const event& e) {
        tx.record(e.body);
        return fault{};
    };
    const std::vector<event> events{{0, "a"}, {1, "b"}};
    waybill::assignment mine{key, {}, 4};
    CHECK(rewind(s, mine, std::nullopt).reason.text ==
          "cannot rewind to the beginning: the checkpoint is absent");
    mine.from = waybill::process_batch(s, mine, events, handle, noon).reached;
    without_reset plain{s};
    CHECK(rewind(plain, mine, std::nullopt).outcome == rewind_report::outcome_type::unable);
    CHECK(rewind(plain, mine, std::nullopt).reason ==
          waybill::permanent("the store has no reset(): rewind to a position"));
    CHECK(rewind(plain, mine, position{0, ""}).outcome == rewind_report::outcome_type::rewound);
    mine.from = position{0, ""};
    CHECK(rewind(s, {key, position{1, ""}, 4}, std::nullopt).outcome ==
          rewind_report::outcome_type::ownership_lost);

    const auto r = rewind(s, mine, std::nullopt);
    CHECK(r.outcome == rewind_report::outcome_type::rewound);
    CHECK(r.mine == waybill::assignment{key, {}, 4});
    CHECK(!*s.load(key));
    // An earlier owner cannot write after that.
    CHECK(waybill::process_batch(s, {key, {}, 3}, events, handle, noon).outcome ==
          batch_outcome::ownership_lost);
    CHECK(waybill::process_batch(s, r.mine, events, handle, noon).handled == 2);
    CHECK(s.records() == std::vector<std::string>{"a", "b", "a", "b"});
}

TEST_CASE("rewind: to the beginning, if the result of the commit is lost")
{
    using waybill::rewind_report;
    using waybill::testing::injected_fault;
    for (const injected_fault what :
         {injected_fault::unknown_applied, injected_fault::unknown_not_applied}) {
        store kept;
        auto tx = *kept.begin();
        (void)kept.advance(tx, key, {}, {3, ""}, 4);
        (void)tx.commit();
        waybill::testing::faulty s(kept, [&](waybill::testing::store_call c) {
            return c == waybill::testing::store_call::commit ? what : injected_fault::none;
        });
        const auto r = waybill::rewind(s, {key, waybill::position{3, ""}, 4}, std::nullopt);
        CHECK(r.outcome == (what == injected_fault::unknown_applied
                                ? rewind_report::outcome_type::rewound
                                : rewind_report::outcome_type::not_done));
        CHECK(kept.load(key)->has_value() == (what == injected_fault::unknown_not_applied));
    }
}

TEST_CASE("rewind: after a lost commit result, the checkpoint counts as ours only with our epoch")
{
    using waybill::position;
    using waybill::rewind_report;
    for (const std::uint64_t their_epoch : {std::uint64_t{4}, std::uint64_t{5}}) {
        store kept;
        const auto set = [&](const std::optional<position>& from, std::uint64_t to,
                             std::uint64_t epoch) {
            auto tx = *kept.begin();
            (void)kept.advance(tx, key, from, position{to, ""}, epoch);
            (void)tx.commit();
        };
        set({}, 3, 4);
        waybill::testing::faulty s(kept, [&](waybill::testing::store_call c) {
            if (c != waybill::testing::store_call::commit)
                return waybill::testing::injected_fault::none;
            set(position{3, ""}, 1, their_epoch);  // another owner has rewound to the same place
            return waybill::testing::injected_fault::unknown_not_applied;
        });
        const auto r = waybill::rewind(s, {key, position{3, ""}, 4}, position{1, ""});
        CHECK(r.outcome == (their_epoch == 4 ? rewind_report::outcome_type::rewound
                                             : rewind_report::outcome_type::ownership_lost));
    }
}

// A store that never takes a body of more than ten bytes.
struct small_store : waybill::testing::memory_store<std::uint64_t> {
    using memory = waybill::testing::memory_store<std::uint64_t>;
    waybill::result<void> put(transaction& tx, const waybill::dead_letter& d)
    {
        if (d.body.size() > 10) return waybill::unexpected(waybill::permanent("too big"));
        return memory::put(tx, d);
    }
};

TEST_CASE("dead_letter: one that the store refuses is stored without its body, and blocks no event")
{
    struct large {
        std::uint64_t sequence;
        std::string body;
    };
    small_store small;
    const waybill::assignment mine{{"log", "g", "0"}, {}, 1};
    const std::vector<large> events{{1, "small"}, {2, std::string(11, 'x')}, {3, "last"}};
    const auto handle = [](auto&, const large&) { return waybill::permanent("bad"); };
    const auto r = waybill::process_batch(small, mine, events, handle, waybill::wall_time{});
    CHECK(r.outcome == waybill::batch_outcome::committed);
    CHECK(r.dead_lettered == 3);
    const auto letter = **small.find(mine.key, 2);
    CHECK(letter.kept == waybill::dead_letter_body::pointer);
    CHECK(letter.body.empty());
    CHECK(letter.size == 11);
    CHECK(letter.reason == "bad");
    CHECK((*small.find(mine.key, 1))->body == "small");
}

}  // namespace
}  // namespace letters_unit_test
