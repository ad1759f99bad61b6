// SPDX-License-Identifier: MIT
//
// outbox_rules: the rules of an outbox store, for outbox_conformance.

#ifndef WAYBILL_TESTING_DETAIL_OUTBOX_RULES_HPP
#define WAYBILL_TESTING_DETAIL_OUTBOX_RULES_HPP

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/consume/stores.hpp>
#include <waybill/queue/outbox_store.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

inline constexpr std::string_view outbox_reasons =
    "mark_dead: the reason is stored with the row byte for byte; one above the declared limit may "
    "be an error";
inline constexpr std::string_view outbox_two_transactions =
    "claim: rows of a key have one order, also if two open transactions added them: a claim "
    "between the commits must not change it";
inline constexpr std::string_view outbox_one_claims =
    "claim: of two concurrent claims only one has rows of a key";

/// The calls of the suite to a new outbox. Times are seconds after a fixed wall time.
template <class Make, class Again, class Race, class Reasons>
class outbox_trial : public connections<Make, Again> {
public:
    using typename connections<Make, Again>::store;
    using message = typename store::message;
    using claimed_rows = typename store::claimed_rows;
    using positions = std::vector<std::uint64_t>;

    outbox_trial(Make& make, Again& again, Race& race_of, Reasons& reasons,
                 const store_limits& declared, way how, trial& to)
        : connections<Make, Again>(make, again, how),
          race(race_of),
          limits(declared),
          t(to),
          reasons_(reasons)
    {
    }

    [[nodiscard]] static wall_time at(std::int64_t second)
    {
        return wall_time::at(duration::seconds(1'700'000'000 + second));
    }
    [[nodiscard]] static message message_of(const std::string& key, const std::string& id,
                                            const std::string& body = "body")
    {
        message m;
        m.key = key;
        m.id = id;
        m.body = body;
        return m;
    }

    /// Adds messages in one transaction, and commits it.
    result<void> add(const std::vector<message>& all)
    {
        return this->through([&](auto& s) -> result<void> {
            auto tx = s.begin();
            if (!tx) return unexpected(tx.error());
            for (const message& m : all) {
                if (auto added = s.add(*tx, m); !added) return added;
            }
            if (!trial::committed(*tx)) return unexpected(infrastructure("no commit"));
            return {};
        });
    }
    /// Adds rows with these keys. Their ids are "1", "2" and so on, in all calls.
    void add_keys(const std::vector<std::string>& keys)
    {
        bool added = true;
        for (const std::string& key : keys)
            added = add({message_of(key, std::to_string(++ids_))}).has_value() && added;
        t.holds(added, "add: a message is stored by the commit of its transaction");
    }
    /// Calls `add` in a transaction that has no commit, but `end(tx)`.
    template <class F>
    bool add_without_commit(const message& m, F end)
    {
        return this->through([&](auto& s) {
            auto tx = s.begin();
            const bool added = tx && s.add(*tx, m);
            if (added) end(*tx);
            return added;
        });
    }

    /// Claims rows from `from` to `until`.
    claimed_rows claim(std::int64_t from, std::int64_t until, std::uint64_t max_rows = 100)
    {
        auto c = this->through([&](auto& s) { return s.claim(max_rows, at(from), at(until)); });
        t.holds(c.has_value(), "claim: succeeds if the store can be reached");
        if (!c) return {};
        return *std::move(c);
    }
    /// The claims of all rows that can be claimed. A store may claim fewer rows than it could.
    std::vector<claimed_rows> claim_all(std::int64_t from, std::int64_t until)
    {
        std::vector<claimed_rows> all;
        for (int n = 0; n != 1'000; ++n) {  // far more than the suite has rows in a claim
            all.push_back(claim(from, until, 10'000));
            if (has(all.back(), 0)) break;
        }
        all.pop_back();
        return all;
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
    [[nodiscard]] static positions all_of(const claimed_rows& c)
    {
        positions all(c.messages.size());
        for (std::uint64_t n = 0; n != all.size(); ++n) all[n] = n;
        return all;
    }

    bool sent(const claimed_rows& c, const positions& rows)
    {
        return marked([&](auto& s) { return s.mark_sent(c, rows); }).has_value();
    }
    bool dead(const claimed_rows& c, std::uint64_t row, bool blocks_key,
              const std::string& reason = "refused")
    {
        return marked([&](auto& s) { return s.mark_dead(c, row, reason, blocks_key); }).has_value();
    }
    bool holds(const claimed_rows& c, const positions& rows, std::int64_t until)
    {
        return marked([&](auto& s) { return s.hold(c, rows, at(until)); }).has_value();
    }
    bool hold_is_lost(const claimed_rows& c, const positions& rows, std::int64_t until)
    {
        const auto r = marked([&](auto& s) { return s.hold(c, rows, at(until)); });
        return !r && r.error().kind == fault_kind::ownership_lost;
    }

    [[nodiscard]] std::vector<std::string> reasons()
    {
        return this->through([&](auto& s) {
            const auto all = reasons_(s);
            return std::vector<std::string>(all.begin(), all.end());
        });
    }
    Race& race;
    const store_limits& limits;
    trial& t;

private:
    template <class F>
    result<void> marked(F f)
    {
        result<void> r = this->through(f);
        return r && this->repeats() ? this->through(f) : r;
    }

    Reasons& reasons_;
    int ids_ = 0;
};

template <class X>
void outbox_transaction_rules(X& box)
{
    auto& t = box.t;
    t.holds(!box.claim(0, 10).pending && box.claimed_ids(0, 10).empty(),
            "claim: of an empty store it has no rows, and none is pending");
    const auto message = box.message_of("a", "not committed");
    t.holds(box.add_without_commit(message, [](auto& tx) { tx.rollback(); }),
            "add: succeeds in an open transaction");
    t.holds(box.claimed_ids(0, 10).empty(), "add: a rollback removes the row");
    (void)box.add_without_commit(message, [](auto&) {});
    t.holds(box.claimed_ids(0, 10).empty(),
            "add: a transaction that is destroyed without a commit adds no row");
    box.add_keys({"a"});
    t.holds(box.claimed_ids(0, 10) == "1", "claim: contains the rows of committed transactions");
}

template <class X>
void outbox_claim_rules(X& box)
{
    auto& t = box.t;
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

template <class X>
void outbox_order_rules(X& box)
{
    auto& t = box.t;
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

template <class X>
void outbox_sent_rules(X& box)
{
    auto& t = box.t;
    box.add_keys({"a", "b", "c"});
    const auto first = box.claim(0, 10);
    if (!box.has(first, 3)) return (void)t.holds(false, "claim: contains all rows that fit");
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

template <class X>
void outbox_dead_rules(X& box)
{
    auto& t = box.t;
    box.add_keys({"a", "b", "a", "b", "", ""});
    const auto first = box.claim(0, 10);
    if (!box.has(first, 6)) return (void)t.holds(false, "claim: contains all rows that fit");
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

template <class X>
void outbox_hold_rules(X& box)
{
    auto& t = box.t;
    box.add_keys({"a", "b", "a"});
    const auto first = box.claim(0, 10);
    if (!box.has(first, 3)) return (void)t.holds(false, "claim: contains all rows that fit");
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
    if (!box.has(second, 3))
        return (void)t.holds(false, "claim: contains all rows of ended claims");
    t.holds(box.holds(second, {0}, 60) && box.holds(second, {1, 2}, 45) &&
                box.claimed_ids(45, 50) == "2" && box.claim(45, 50).pending,
            "hold: later rows of the key wait for a row that is held");
    t.holds(box.sent(second, {0}) && box.hold_is_lost(second, {0}, 70),
            "hold: ownership_lost if a row is marked already");
    t.holds(box.claimed_ids(50, 60) == "2 3", "hold: does not bring back a row that is marked");
    t.holds(box.holds(box.claim(60, 70), {}, 80), "hold: no rows are no error");
}

/// Names, ids and bodies that a store could change, and those of certain sizes.
template <class X>
void outbox_value_rules(X& box)
{
    auto& t = box.t;
    std::vector<typename X::message> all;
    std::vector<std::string> all_bodies =
        sized_values(box.limits.shortest_body, box.limits.longest_body, box.limits.any_bytes);
    for (const std::string& text : odd_texts()) {
        const bool fits = text.size() >= box.limits.shortest_body;
        if (fits && box.limits.any_bytes) all_bodies.push_back(text);
    }
    if (box.limits.longest_body >= 300'000)
        all_bodies.push_back(value_of(300'000, box.limits.any_bytes));
    for (const std::string& name : similar_names())
        all.push_back(box.message_of(name, name, all_bodies[all.size() % all_bodies.size()]));
    const std::uint64_t similar = all.size();
    for (const std::string& key : sized_values(0, box.limits.longest_key, true))
        all.push_back(box.message_of(key, "key of " + std::to_string(key.size()), all_bodies[0]));
    for (const std::string& id : sized_values(0, box.limits.longest_id, true))
        all.push_back(box.message_of("id of " + std::to_string(id.size()), id, all_bodies[0]));
    bool stored = true;
    for (const typename X::message& m : all) stored = box.add({m}).has_value() && stored;
    t.holds(stored, "add: keys, ids and bodies within the declared limits can be stored");
    const auto c = box.claim(0, 10);
    bool same = box.has(c, all.size());
    for (std::uint64_t n = 0; same && n != all.size(); ++n) {
        same = c.messages[n].key == all[n].key && c.messages[n].id == all[n].id &&
               c.messages[n].body == all[n].body;
    }
    t.holds(same,
            "claim: keys, ids and bodies of all bytes and of 0, 1, 255, 256, 4,097 and 70,000 "
            "bytes are those that were added");
    if (!same) return;
    typename X::positions odd;
    for (std::uint64_t n = 1; n < similar; n += 2) odd.push_back(n);
    t.holds(box.holds(c, odd, 5), "hold: succeeds");
    t.holds(box.has(box.claim(5, 10), odd.size()),
            "claim: keys are compared byte for byte: a key does not wait for a similar one");
}

/// Values outside the declared limits.
template <class X>
void outbox_limit_rules(X& box)
{
    std::int64_t second = 0;
    const auto try_with = [&](const typename X::message& m) {
        const auto added = box.add({m});
        if (!added) {
            return (void)box.t.holds(!added.error().text.empty(),
                                     "add: the error for a value outside the limits has a text");
        }
        const auto c = box.claim(second, second + 1);
        second += 10;
        box.t.holds(box.has(c, 1) && c.messages[0].key == m.key && c.messages[0].id == m.id &&
                        c.messages[0].body == m.body && box.sent(c, {0}),
                    "add: a value outside the limits is stored unchanged, or is an error");
    };
    const store_limits& most = box.limits;
    const std::string body = value_of(most.shortest_body, most.any_bytes);
    const auto above = [&](std::uint64_t limit, auto make) {
        if (limit < 1'000'000) try_with(make(value_of(limit + 1, most.any_bytes)));
    };
    above(most.longest_key, [&](const std::string& v) { return X::message_of(v, "1", body); });
    above(most.longest_id, [&](const std::string& v) { return X::message_of("a", v, body); });
    above(most.longest_body, [&](const std::string& v) { return X::message_of("a", "2", v); });
    if (most.shortest_body != 0) {
        try_with(X::message_of("a", "3", value_of(most.shortest_body - 1, most.any_bytes)));
    }
    if (!most.any_bytes) try_with(X::message_of("a", "4", value_of(256, true)));
}

template <class X>
void outbox_reason_rules(X& box)
{
    std::vector<std::string> expected =
        sized_values(0, box.limits.longest_reason, box.limits.any_bytes);
    const std::uint64_t within = expected.size();
    if (box.limits.longest_reason < 1'000'000)
        expected.push_back(value_of(box.limits.longest_reason + 1, box.limits.any_bytes));
    for (std::uint64_t n = 0; n != expected.size(); ++n) box.add_keys({""});
    const auto c = box.claim(0, 10);
    if (!box.has(c, expected.size())) return;
    bool stored = true;
    for (std::uint64_t n = 0; n != within; ++n)
        stored = box.dead(c, n, false, expected[n]) && stored;
    if (expected.size() != within && !box.dead(c, within, false, expected[within]))
        expected.pop_back();
    auto found = box.reasons();
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    box.t.holds(stored && found == expected, outbox_reasons);
}

/// More rows than a database returns or changes at once.
template <class X>
void outbox_page_rules(X& box)
{
    auto& t = box.t;
    constexpr std::uint64_t rows = 1'100;
    std::vector<typename X::message> all;
    std::string ids;
    for (std::uint64_t n = 0; n != rows; ++n) {
        const std::string id = std::to_string(n);
        all.push_back(box.message_of("key of " + id, id));
        ids += id + ' ';
    }
    t.holds(box.add(all).has_value(), "add: a transaction stores 1,100 rows");
    const auto claim_all = [&](std::int64_t from, std::int64_t until) {
        auto claims = box.claim_all(from, until);
        std::string claimed;
        for (const auto& c : claims) claimed += box.ids(c) + ' ';
        t.holds(claimed == ids, "claim: of 1,100 rows each is claimed once, the oldest first");
        return claims;
    };
    const auto first = claim_all(0, 10);
    bool held = true;
    for (const auto& c : first) held = box.holds(c, box.all_of(c), 20) && held;
    t.holds(held && box.claimed_ids(19, 20).empty(), "hold: of 1,100 rows each is held");
    const auto second = claim_all(20, 30);
    bool lost = true;
    for (const auto& c : first) lost = box.hold_is_lost(c, box.all_of(c), 40) && lost;
    t.holds(lost, "hold: ownership_lost if one of 1,100 rows is in a later claim");
    bool sent = true;
    for (const auto& c : second) sent = box.sent(c, box.all_of(c)) && sent;
    t.holds(sent && box.claimed_ids(40, 50).empty() && !box.claim(40, 50).pending,
            "mark_sent: removes each of 1,100 rows");
}

/// Numbers that change in 32 bits, in a double or with a sign.
template <class X>
void outbox_number_rules(X& box)
{
    constexpr std::int64_t late = 6'000'000'000;  // in 2213: more than 32 bits of seconds
    box.add_keys({"a", "b"});
    for (const std::uint64_t max_rows : numbers_of_64_bits) {
        if (max_rows < 2) continue;
        const auto c = box.claim(0, 10, max_rows);
        box.t.holds(box.has(c, 2) && box.holds(c, {0, 1}, 0),
                    "claim: `max` is compared in all 64 bits");
    }
    (void)box.claim(10, late);
    box.t.holds(box.claimed_ids(late - 1, late).empty() && box.claimed_ids(late, late + 1) == "1 2",
                "claim: lasts until its time, also after the year 2200");
}

/// Two open transactions add a row of the same key. With `second_first` the second one is committed
/// first. With `claims`, rows are also claimed and sent between the commits. Returns the bodies in
/// the order of sending, or none if the second transaction cannot add. Times begin with `second`.
template <class X>
std::string sent_of_two_transactions(X& box, bool second_first, bool claims, std::int64_t second)
{
    std::string order;
    const auto message = [&, id = second](const char* body) {
        return X::message_of("a", body + std::to_string(id), body);
    };
    const auto commit_and_send = [&](auto& tx, bool sends) {
        (void)tx.commit();
        if (!sends) return;
        const auto c = box.claim(second, second + 1);
        ++second;
        for (std::uint64_t n = 0; n != c.messages.size(); ++n)
            order += std::string(c.messages[n].body) + ' ';
        (void)box.sent(c, box.all_of(c));
    };
    box.with_two([&](auto& one, auto& two) {
        auto first = one.begin();
        const bool added = first && one.add(*first, message("created"));
        box.t.holds(added, "add: succeeds in an open transaction");
        auto next = two.begin();
        if (!added || !next || !two.add(*next, message("cancelled"))) return;
        commit_and_send(second_first ? *next : *first, claims);
        commit_and_send(second_first ? *first : *next, true);
    });
    return order;
}

template <class X>
void outbox_open_transactions_rules(X& box)
{
    for (const bool second_first : {true, false}) {
        const std::int64_t second = second_first ? 0 : 200;
        const std::string order = sent_of_two_transactions(box, second_first, true, second);
        if (order.empty()) return;
        box.t.holds(order == sent_of_two_transactions(box, second_first, false, second + 100),
                    outbox_two_transactions);
    }
}

/// Both connections claim at the same time.
template <class X>
void outbox_race(X& box)
{
    box.add_keys({"a", "a", "b", "c", "b", "a", "c"});
    std::optional<typename X::claimed_rows> claims[2];
    const auto claim = [&](auto& s, auto& to, std::uint64_t max_rows) {
        auto c = s.claim(max_rows, box.at(0), box.at(10));
        if (c) to = *std::move(c);
    };
    box.with_two([&](auto& one, auto& two) {
        box.race([&] { claim(one, claims[0], 2); }, [&] { claim(two, claims[1], 3); });
    });
    std::uint64_t rows = 0;
    std::vector<std::string> keys[2];
    for (const int n : {0, 1}) {
        if (!claims[n]) continue;
        rows += claims[n]->messages.size();
        for (std::uint64_t i = 0; i != claims[n]->messages.size(); ++i)
            keys[n].emplace_back(claims[n]->messages[i].key);
    }
    bool shared = false;
    for (const std::string& key : keys[0])
        shared = shared || std::find(keys[1].begin(), keys[1].end(), key) != keys[1].end();
    box.t.holds(!shared, outbox_one_claims);
    box.t.holds(rows != 0, "claim: of two concurrent claims one has rows, unless it fails");
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_OUTBOX_RULES_HPP
