// SPDX-License-Identifier: MIT
//
// outbox_rules: the rules of an outbox store, for outbox_conformance.

#ifndef WAYBILL_TESTING_DETAIL_OUTBOX_RULES_HPP
#define WAYBILL_TESTING_DETAIL_OUTBOX_RULES_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <waybill/consume/stores.hpp>
#include <waybill/queue/outbox_store.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// The calls of the suite to an outbox. Times are seconds after a fixed wall time.
template <class S>
class outbox_trial {
public:
    using claimed_rows = typename S::claimed_rows;
    using positions = std::vector<std::uint64_t>;

    outbox_trial(S& s, trial& t) : store_(s), trial_(t) {}

    [[nodiscard]] static wall_time at(std::int64_t second)
    {
        return wall_time::at(duration::seconds(1'700'000'000 + second));
    }

    bool add(const std::string& key, const std::string& id, const std::string& body = "body")
    {
        auto tx = store_.begin();
        if (!tx) return false;
        typename S::message m;
        m.key = key;
        m.id = id;
        m.body = body;
        return store_.add(*tx, m) && trial::committed(*tx);
    }

    /// Adds rows with these keys. Their ids are "1", "2" and so on, in all calls.
    void add_keys(const std::vector<std::string>& keys)
    {
        bool added = true;
        for (const std::string& key : keys) added = add(key, std::to_string(++ids_)) && added;
        trial_.holds(added, "add: a message is stored by the commit of its transaction");
    }

    /// Claims rows from `from` to `until`.
    claimed_rows claim(std::int64_t from, std::int64_t until, std::uint64_t max_rows = 100)
    {
        auto c = store_.claim(max_rows, at(from), at(until));
        trial_.holds(c.has_value(), "claim: succeeds if the store can be reached");
        if (!c) return {};
        return *std::move(c);
    }

    /// The ids of a claim, separated by blanks.
    [[nodiscard]] static std::string ids(const claimed_rows& c)
    {
        std::string all;
        for (std::uint64_t n = 0; n != c.messages.size(); ++n) {
            if (n != 0) all += ' ';
            all += std::string(c.messages[n].id);
        }
        return all;
    }
    std::string claimed_ids(std::int64_t from, std::int64_t until, std::uint64_t max_rows = 100)
    {
        return ids(claim(from, until, max_rows));
    }

    /// True if the claim has this many rows. Otherwise the calls with its rows make no sense.
    [[nodiscard]] static bool has(const claimed_rows& c, std::uint64_t rows)
    {
        return c.messages.size() == rows;
    }

    bool sent(const claimed_rows& c, const positions& rows)
    {
        return store_.mark_sent(c, rows).has_value();
    }
    bool dead(const claimed_rows& c, std::uint64_t row, bool blocks_key)
    {
        return store_.mark_dead(c, row, "refused", blocks_key).has_value();
    }
    bool holds(const claimed_rows& c, const positions& rows, std::int64_t until)
    {
        return store_.hold(c, rows, at(until)).has_value();
    }
    bool hold_is_lost(const claimed_rows& c, const positions& rows, std::int64_t until)
    {
        const auto r = store_.hold(c, rows, at(until));
        return !r && r.error().kind == fault_kind::ownership_lost;
    }

private:
    S& store_;
    trial& trial_;
    int ids_ = 0;
};

template <class S>
void outbox_transaction_rules(S& s, trial& t)
{
    outbox_trial<S> box(s, t);
    t.holds(!box.claim(0, 10).pending && box.claimed_ids(0, 10).empty(),
            "claim: of an empty store it has no rows, and none is pending");
    {
        auto tx = s.begin();
        typename S::message m;
        m.key = "a";
        m.id = "rolled back";
        m.body = "body";
        if (tx) t.holds(s.add(*tx, m).has_value(), "add: succeeds in an open transaction");
        if (tx) tx->rollback();
    }
    t.holds(box.claimed_ids(0, 10).empty(), "add: a rollback removes the row");
    box.add_keys({"a"});
    t.holds(box.claimed_ids(0, 10) == "1", "claim: contains the rows of committed transactions");
}

template <class S>
void outbox_claim_rules(S& s, trial& t)
{
    outbox_trial<S> box(s, t);
    box.add_keys({"a", "b", "a", "c", "a", "b"});
    const auto first = box.claim(0, 10, 3);
    t.holds(box.ids(first) == "1 2 3", "claim: has at most `max` rows, the oldest first");
    t.holds(box.claimed_ids(0, 20) == "4",
            "claim: has no row of another claim, and no row of a key with such a row");
    const auto none = box.claim(0, 10);
    t.holds(box.has(none, 0) && none.pending,
            "claim: without rows, `pending` is true while rows are in other claims");
    t.holds(box.claimed_ids(9, 20).empty(), "claim: lasts until its time");
    t.holds(box.claimed_ids(10, 30) == "1 2 3 5 6",
            "claim: at the end of a claim its rows can be claimed again, in order");
    t.holds(box.claimed_ids(20, 30) == "4", "claim: lasts until its time, and not longer");
}

template <class S>
void outbox_order_rules(S& s, trial& t)
{
    outbox_trial<S> box(s, t);
    box.add_keys({"a", "", "b", "", "a"});
    const auto first = box.claim(0, 10, 2);
    t.holds(box.ids(first) == "1 2" && box.claimed_ids(0, 10) == "3 4",
            "claim: rows with an empty key have no order");
    if (!box.has(first, 2)) return;
    box.add_keys({"a", "c"});
    t.holds(box.claimed_ids(1, 10) == "7",
            "claim: a row that is added while an earlier row of its key is claimed has to wait");
    t.holds(box.sent(first, {0}) && box.claimed_ids(2, 10) == "5 6",
            "mark_sent: later rows of the key can be claimed after it");
}

template <class S>
void outbox_sent_rules(S& s, trial& t)
{
    outbox_trial<S> box(s, t);
    box.add_keys({"a", "b", "c"});
    const auto first = box.claim(0, 10);
    if (!box.has(first, 3)) return t.holds(false, "claim: contains all rows that fit");
    t.holds(box.sent(first, {0, 2}) && box.claimed_ids(10, 20) == "2",
            "mark_sent: removes the rows of the list, and no other rows");
    t.holds(box.sent(first, {0}), "mark_sent: a row that is marked already is no error");
    t.holds(
        box.sent(first, {1}) && box.claimed_ids(15, 20).empty() && box.claimed_ids(20, 30) == "2",
        "mark_sent: a row that is in a later claim does not change, and is no error");
    const auto last = box.claim(30, 40);
    t.holds(box.has(last, 1) && box.sent(last, {0}) && box.claimed_ids(50, 60).empty() &&
                !box.claim(50, 60).pending,
            "mark_sent: a row that is marked is not claimed again, and is not pending");
    box.add_keys({"a"});
    const auto late = box.claim(60, 70);
    t.holds(box.has(late, 1) && box.sent(late, {0}) && box.claimed_ids(80, 90).empty(),
            "mark_sent: a claim whose time has ended marks rows that no later claim has");
}

template <class S>
void outbox_dead_rules(S& s, trial& t)
{
    outbox_trial<S> box(s, t);
    box.add_keys({"a", "b", "a", "b", "", ""});
    const auto first = box.claim(0, 10);
    if (!box.has(first, 6)) return t.holds(false, "claim: contains all rows that fit");
    t.holds(box.dead(first, 0, false) && box.dead(first, 1, true) && box.dead(first, 4, true) &&
                box.claimed_ids(10, 20) == "3 6",
            "mark_dead: the row is not claimed again; later rows of its key are, unless it blocks "
            "the key");
    const auto none = box.claim(15, 20);
    t.holds(box.has(none, 0) && none.pending, "mark_dead: rows of other claims are pending");
    const auto second = box.claim(20, 30);
    t.holds(
        box.ids(second) == "3 6" && box.dead(first, 2, true) && box.claimed_ids(30, 40) == "3 6",
        "mark_dead: a row that is in a later claim does not change");
    const auto last = box.claim(40, 50);
    if (box.has(last, 2)) t.holds(box.sent(last, {0, 1}), "mark_sent: succeeds");
    t.holds(!box.claim(60, 70).pending,
            "claim: dead rows, and rows after one that blocks their key, are not pending");
    box.add_keys({"b", "a"});
    t.holds(box.claimed_ids(60, 70) == "8",
            "mark_dead: a row that is added after one that blocks its key is not claimed");
}

template <class S>
void outbox_hold_rules(S& s, trial& t)
{
    outbox_trial<S> box(s, t);
    box.add_keys({"a", "b", "a"});
    const auto first = box.claim(0, 10);
    if (!box.has(first, 3)) return t.holds(false, "claim: contains all rows that fit");
    t.holds(box.holds(first, {0, 1, 2}, 20) && box.claimed_ids(19, 30).empty(),
            "hold: rows are claimed until the new time");
    t.holds(box.holds(first, {1}, 5) && box.claimed_ids(5, 30) == "2",
            "hold: with an earlier time a row can be claimed at once, and other rows cannot");
    t.holds(box.hold_is_lost(first, {1}, 40), "hold: ownership_lost if a row is in a later claim");
    t.holds(box.claimed_ids(30, 31) == "1 2 3",
            "hold: a row that is in a later claim does not change");
    t.holds(box.hold_is_lost(first, {0, 1, 2}, 50) && box.claimed_ids(31, 40) == "1 2 3",
            "hold: a claim whose rows are in a later claim changes nothing");
    const auto second = box.claim(40, 50);
    if (!box.has(second, 3)) return t.holds(false, "claim: contains all rows of ended claims");
    t.holds(box.holds(second, {0}, 60) && box.holds(second, {1, 2}, 45) &&
                box.claimed_ids(45, 50) == "2" && box.claim(45, 50).pending,
            "hold: later rows of the key wait for a row that is held");
    t.holds(box.sent(second, {0}) && box.hold_is_lost(second, {0}, 70),
            "hold: ownership_lost if a row is marked already");
    t.holds(box.claimed_ids(50, 60) == "2 3", "hold: does not bring back a row that is marked");
    t.holds(box.holds(box.claim(60, 70), {}, 80), "hold: no rows are no error");
}

template <class S>
void outbox_value_rules(S& s, trial& t)
{
    outbox_trial<S> box(s, t);
    std::vector<std::string> bodies = odd_texts();
    bodies.push_back(varied_bytes(1'000'000, 1));
    std::vector<std::string> ids = similar_names();
    bool stored = true;
    for (std::uint64_t n = 0; n != ids.size(); ++n)
        stored = box.add(ids[n], ids[n], bodies[n % bodies.size()]) && stored;
    t.holds(stored, "add: keys and ids of up to 128 bytes, and any bodies, can be stored");
    const auto all = box.claim(0, 10);
    bool same = box.has(all, ids.size());
    for (std::uint64_t n = 0; same && n != ids.size(); ++n) {
        same = all.messages[n].key == ids[n] && all.messages[n].id == ids[n] &&
               all.messages[n].body == bodies[n % bodies.size()];
    }
    t.holds(same, "claim: keys, ids and bodies are those that were added, byte for byte");
    if (!same) return;
    std::vector<std::uint64_t> odd;
    for (std::uint64_t n = 1; n < ids.size(); n += 2) odd.push_back(n);
    t.holds(box.holds(all, odd, 5), "hold: succeeds");
    t.holds(box.has(box.claim(5, 10), odd.size()),
            "claim: keys are compared byte for byte: a key does not wait for a similar one");
}

template <class S>
void second_outbox_rules(S& one, S& two, trial& t)
{
    outbox_trial<S> a(one, t);
    outbox_trial<S> b(two, t);
    a.add_keys({"a", "b", "a"});
    const auto first = a.claim(0, 10, 1);
    t.holds(b.claimed_ids(0, 10) == "2",
            "claim: a second connection gets no row of a claim, and no later row of its keys");
    t.holds(a.has(first, 1) && a.sent(first, {0}) && b.claimed_ids(0, 10) == "3",
            "mark_sent: a second connection sees it");
    const auto taken = b.claim(10, 20);
    t.holds(b.ids(taken) == "2 3" && a.sent(first, {0}) && a.hold_is_lost(first, {0}, 30) &&
                a.claimed_ids(10, 20).empty(),
            "claim: claims of two connections are different claims");
}

/// Both connections claim at the same time.
template <class S, class Race>
void outbox_race(S& one, S& two, Race& race, trial& t)
{
    outbox_trial<S> a(one, t);
    outbox_trial<S> b(two, t);
    a.add_keys({"a", "a", "b", "c", "b", "a", "c"});
    std::optional<typename S::claimed_rows> x;
    std::optional<typename S::claimed_rows> y;
    const auto claim = [&](S& s, auto& to, std::uint64_t max_rows) {
        auto c = s.claim(max_rows, a.at(0), a.at(10));
        if (c) to = *std::move(c);
    };
    race([&] { claim(one, x, 2); }, [&] { claim(two, y, 3); });
    std::vector<std::string> keys;
    std::uint64_t rows = 0;
    bool shared = false;
    for (const auto& c : {x, y}) {
        if (!c) continue;
        rows += c->messages.size();
        std::vector<std::string> own;
        for (std::uint64_t n = 0; n != c->messages.size(); ++n)
            own.emplace_back(c->messages[n].key);
        for (const std::string& key : own) {
            for (const std::string& other : keys) shared = shared || key == other;
        }
        keys.insert(keys.end(), own.begin(), own.end());
    }
    t.holds(!shared, "claim: of two concurrent claims only one has rows of a key");
    t.holds(rows != 0, "claim: of two concurrent claims one has rows, unless it fails");
}

template <class Again, class Race>
void untested_outbox_rules(trial& t)
{
    if constexpr (!has_second<Again>) {
        for (const char* const rule :
             {"claim: a second connection gets no row of a claim, and no later row of its keys",
              "mark_sent: a second connection sees it",
              "claim: claims of two connections are different claims"})
            t.untested(rule, second_connection);
    }
    if constexpr (!has_race<Race>) {
        t.untested("claim: of two concurrent claims only one has rows of a key",
                   threads_and_connections);
    }
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_OUTBOX_RULES_HPP
