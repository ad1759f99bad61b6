// SPDX-License-Identifier: MIT
//
// The balance plan on all states of up to 10 partitions and 4 owners.
//
// A state is how many partitions each owner has and how many are free. From each of them every
// owner acts alone, every two act on the same view, and all do. A steal is one step, to take what
// is free costs nothing; what is the least possible is found by searching all moves that anybody
// could make, knowing nothing of the rule. Owners who have nothing are seen by all (they announced
// themselves), or by nobody but themselves.
//
// The rules of known SDKs are here as mutants, as described in their documentation and issues.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <support/dice.hpp>
#include <support/brief.hpp>
#include <waybill/lease/balance.hpp>
#include <waybill/lease/lease_manager.hpp>
#include <waybill/testing/memory_leases.hpp>

namespace balance_test {
namespace {

using waybill::balance_plan;

using counts = std::vector<std::uint32_t>;  // of each owner; the last one is what is free

std::uint32_t total(const counts& c)
{
    std::uint32_t n = 0;
    for (const std::uint32_t x : c) n += x;
    return n;
}
std::uint32_t owners_of(const counts& c) { return static_cast<std::uint32_t>(c.size() - 1); }
std::uint32_t least_of(const counts& c) { return total(c) / owners_of(c); }
std::uint32_t most_of(const counts& c) { return (total(c) + owners_of(c) - 1) / owners_of(c); }

bool balanced(const counts& c)
{
    if (c.back() != 0) return false;
    const auto [low, high] = std::minmax_element(c.begin(), c.end() - 1);
    return *high - *low <= 1;
}

void states(std::uint32_t partitions, std::uint32_t places, counts& c, std::vector<counts>& all)
{
    if (places == 1) {
        c.push_back(partitions);
        all.push_back(c);
        c.pop_back();
        return;
    }
    for (std::uint32_t n = 0; n <= partitions; ++n) {
        c.push_back(n);
        states(partitions - n, places - 1, c, all);
        c.pop_back();
    }
}

std::vector<counts> all_states(std::uint32_t partitions, std::uint32_t owners)
{
    std::vector<counts> all;
    counts c;
    states(partitions, owners + 1, c, all);
    return all;
}

// The fewest steals to a balanced state, whoever moves what: every claim and every steal is tried.
std::map<counts, std::uint32_t> fewest_steals(const std::vector<counts>& all)
{
    std::map<counts, std::uint32_t> fewest;
    for (const counts& c : all) fewest[c] = balanced(c) ? 0 : 1'000;
    for (bool changed = true; changed;) {
        changed = false;
        for (const counts& c : all) {
            std::uint32_t best = fewest[c];
            for (std::size_t from = 0; from != c.size(); ++from) {
                for (std::size_t to = 0; to + 1 != c.size(); ++to) {
                    if (c[from] == 0 || from == to) continue;
                    counts next = c;
                    --next[from];
                    ++next[to];
                    best = std::min(best, fewest[next] + (from + 1 == c.size() ? 0 : 1));
                }
            }
            changed = changed || best != fewest[c];
            fewest[c] = best;
        }
    }
    return fewest;
}

// Who has which: in blocks, or in turns.
std::vector<std::uint32_t> holders_of(const counts& c, bool in_turns)
{
    std::vector<std::uint32_t> holders;
    counts left = c;
    while (total(left) != 0) {
        for (std::uint32_t o = 0; o != c.size(); ++o) {
            for (; left[o] != 0; --left[o]) {
                holders.push_back(o + 1 == c.size() ? balance_plan::lease_view::free : o);
                if (in_turns) {
                    --left[o];
                    break;
                }
            }
        }
    }
    return holders;
}

counts counts_of(const std::vector<std::uint32_t>& holders, std::uint32_t owners)
{
    counts c(owners + 1);
    for (const std::uint32_t h : holders) ++c[h < owners ? h : owners];
    return c;
}

// What `self` sees; where nobody announces himself, others who have nothing are not there.
balance_plan::lease_view seen_by(std::uint32_t self, const std::vector<std::uint32_t>& holders,
                                 const counts& c, bool announced)
{
    std::vector<std::uint32_t> number(owners_of(c), balance_plan::lease_view::free);
    balance_plan::lease_view v;
    v.owners = 0;
    for (std::uint32_t o = 0; o != owners_of(c); ++o) {
        if (announced || c[o] != 0 || o == self) number[o] = v.owners++;
    }
    v.self = number[self];
    for (const std::uint32_t h : holders) v.holders.push_back(h < owners_of(c) ? number[h] : h);
    return v;
}

struct verdict {
    std::uint64_t states = 0;
    std::uint64_t steps = 0;
    std::map<std::string, std::uint64_t> broken;

    void holds(bool it_does, const char* law)
    {
        ++steps;
        if (!it_does) ++broken[law];
    }
};

// One group of owners acts on the same view, one after another; what somebody else was faster to
// take is contended. Answers the counts after that.
template <class Plan>
counts act(Plan plan, const counts& c, const std::vector<std::uint32_t>& holders,
           const std::vector<std::uint32_t>& group, bool announced, verdict& v)
{
    std::vector<std::uint32_t> after = holders;
    std::set<std::uint32_t> wanted;
    for (const std::uint32_t o : group) {
        const balance_plan p = plan(seen_by(o, holders, c, announced));
        std::vector<std::uint32_t> takes = p.claim;
        if (p.steal) takes.push_back(*p.steal);
        for (const std::uint32_t part : takes) {
            if (announced) v.holds(wanted.insert(part).second, "two who see the same want the same partition");
            if (after[part] != holders[part]) continue;
            after[part] = o;
        }
    }
    return counts_of(after, owners_of(c));
}

std::vector<std::vector<std::uint32_t>> groups(std::uint32_t owners)
{
    std::vector<std::vector<std::uint32_t>> g;
    for (std::uint32_t set = 1; set != 1U << owners; ++set) {
        g.emplace_back();
        for (std::uint32_t o = 0; o != owners; ++o) {
            if ((set >> o & 1U) != 0) g.back().push_back(o);
        }
    }
    return g;
}

template <class Plan>
void try_announced(Plan plan, std::uint32_t partitions, std::uint32_t owners, verdict& v)
{
    const std::vector<counts> all = all_states(partitions, owners);
    auto fewest = fewest_steals(all);
    for (const counts& c : all) {
        ++v.states;
        for (const bool in_turns : {false, true}) {
            const auto holders = holders_of(c, in_turns);
            bool moved = false;
            for (const auto& group : groups(owners)) {
                const counts next = act(plan, c, holders, group, true, v);
                const bool moves = next != c;
                moved = moved || moves;
                if (balanced(c)) v.holds(!moves, "a balanced state moves");
                if (!moves) continue;
                std::uint32_t stolen = 0;
                for (std::uint32_t o = 0; o != owners; ++o) {
                    if (next[o] > c[o]) v.holds(next[o] <= most_of(c), "somebody takes more than his share");
                    if (next[o] < c[o]) {
                        v.holds(next[o] >= least_of(c), "somebody is robbed of his share");
                        stolen += c[o] - next[o];
                    }
                }
                v.holds(fewest[next] + stolen == fewest[c], "a steal was not needed");
                v.holds(next.back() < c.back() || fewest[next] < fewest[c], "it does not come closer");
            }
            if (!balanced(c)) v.holds(moved, "an unbalanced state is a dead end");
        }
    }
}

// Where owners without partitions are not seen, all that can be promised is that it ends well.
template <class Plan>
void try_unannounced(Plan plan, std::uint32_t partitions, std::uint32_t owners, verdict& v)
{
    enum class mark : std::uint8_t { unknown, open, ends };
    const std::vector<counts> all = all_states(partitions, owners);
    std::map<counts, mark> marks;
    const auto each = groups(owners);
    const auto visit = [&](const auto& self, const counts& c) -> void {
        marks[c] = mark::open;
        bool moved = false;
        for (const auto& group : each) {
            if (group.size() > 2 && group.size() != owners) continue;
            const counts next = act(plan, c, holders_of(c, false), group, false, v);
            if (next == c) continue;
            moved = true;
            v.holds(marks[next] != mark::open, "it goes round in a circle");
            if (marks[next] == mark::unknown) self(self, next);
        }
        v.holds(moved != balanced(c), moved ? "a balanced state moves" : "an unbalanced state is a dead end");
        marks[c] = mark::ends;
    };
    for (const counts& c : all) {
        ++v.states;
        if (marks[c] == mark::unknown) visit(visit, c);
    }
}

constexpr bool few = tests_support::brief;
constexpr std::uint32_t most_partitions = few ? 7 : 10;
constexpr std::uint32_t most_owners = 4;
constexpr std::uint64_t fleets = few ? 30 : 300;

template <class Plan>
verdict every(Plan plan, bool announced)
{
    verdict v;
    for (std::uint32_t p = 0; p <= most_partitions; ++p) {
        for (std::uint32_t n = 1; n <= most_owners; ++n) {
            if (announced) try_announced(plan, p, n, v);
            else try_unannounced(plan, p, n, v);
        }
    }
    return v;
}

void print(const char* what, const verdict& v)
{
    std::printf("balance: %-40s %6llu states, %9llu laws tried", what, static_cast<unsigned long long>(v.states),
                static_cast<unsigned long long>(v.steps));
    for (const auto& [law, n] : v.broken) {
        std::printf("\n         %8llu: %s", static_cast<unsigned long long>(n), law.c_str());
    }
    std::printf("\n");
}

balance_plan ours(const balance_plan::lease_view& v) { return waybill::balance(v, 0.5); }

TEST_CASE("balance: all states, where all announce themselves")
{
    for (const double draw : {0.0, 0.5, 0.99}) {
        const verdict v = every(
            [&](const balance_plan::lease_view& view) { return waybill::balance(view, draw); },
            true);
        if (draw == 0.5) print("all announced", v);
        CHECK(v.broken.empty());
    }
}

TEST_CASE("balance: all states, where who has nothing is not seen")
{
    const verdict v = every(ours, false);
    print("nobody announced", v);
    CHECK(v.broken.empty());
}

TEST_CASE("balance: a plan says what it is")
{
    for (const counts& c : all_states(7, 3)) {
        for (std::uint32_t o = 0; o != 3; ++o) {
            const balance_plan p = ours(seen_by(o, holders_of(c, true), c, true));
            CHECK(p.mine == c[o]);
            CHECK(p.balanced == balanced(c));
            CHECK((p.target == 2 || p.target == 3));
            CHECK((p.claim.empty() || !p.steal));
        }
    }
}

// The mutants. Each is one rule that somebody has shipped or might well write.

std::uint32_t count(const balance_plan::lease_view& v, std::uint32_t owner)
{
    return static_cast<std::uint32_t>(std::count(v.holders.begin(), v.holders.end(), owner));
}
std::uint32_t quota(const balance_plan::lease_view& v)
{
    return (static_cast<std::uint32_t>(v.holders.size()) + v.owners - 1) / v.owners;
}
std::optional<std::uint32_t> first_of(const balance_plan::lease_view& v, std::uint32_t owner)
{
    const auto at = std::find(v.holders.begin(), v.holders.end(), owner);
    if (at == v.holders.end()) return {};
    return static_cast<std::uint32_t>(at - v.holders.begin());
}
std::uint32_t largest(const balance_plan::lease_view& v)
{
    std::uint32_t victim = v.self;
    for (std::uint32_t o = 0; o != v.owners; ++o) {
        if (count(v, o) > count(v, victim)) victim = o;
    }
    return victim;
}

// Rounded up for everybody: a joiner starves at 2/2/+0 of 4. A free one and a stolen one in one
// round.
balance_plan rounded_up(const balance_plan::lease_view& v)
{
    balance_plan p;
    const std::uint32_t mine = count(v, v.self);
    const std::uint32_t above = largest(v);
    if (mine >= quota(v)) return p;
    const auto free = first_of(v, balance_plan::lease_view::free);
    const bool any_above = count(v, above) > quota(v);
    if (v.holders.size() % v.owners != 0 && mine + 1 == quota(v) && !free && !any_above) return p;
    if (free) p.claim.push_back(*free);
    if (any_above) p.steal = first_of(v, above);
    return p;
}

/// The n-th partition of an owner, from the front again where there are not so many.
std::optional<std::uint32_t> nth_of(const balance_plan::lease_view& v, std::uint32_t owner,
                                    std::uint32_t n)
{
    if (count(v, owner) == 0) return {};
    n %= count(v, owner);
    for (std::uint32_t i = 0;; ++i) {
        if (v.holders[i] == owner && n-- == 0) return i;
    }
}

// The right numbers, but each for himself. Two at once want the same partition; or, where each
// picks another one, they rob the same owner twice.
balance_plan each_for_himself(const balance_plan::lease_view& v)
{
    balance_plan p;
    const std::uint32_t mine = count(v, v.self);
    const auto least = static_cast<std::uint32_t>(v.holders.size()) / v.owners;
    for (std::uint32_t i = 0; i != v.holders.size() && mine + p.claim.size() < least; ++i) {
        if (v.holders[i] == balance_plan::lease_view::free) p.claim.push_back(i);
    }
    if (!p.claim.empty()) return p;
    const std::uint32_t victim = largest(v);
    if (mine < least && count(v, victim) > least) p.steal = nth_of(v, victim, v.self);
    else if (mine == least && count(v, victim) > least + 1) p.steal = nth_of(v, victim, v.self);
    else if (mine == least && mine < quota(v)) {
        if (const auto free = first_of(v, balance_plan::lease_view::free)) p.claim.push_back(*free);
    }
    return p;
}

// Takes what is free beyond its share: others have to steal that back.
balance_plan takes_all_that_is_free(const balance_plan::lease_view& v)
{
    balance_plan p = ours(v);
    p.claim.clear();
    for (std::uint32_t i = 0; i != v.holders.size(); ++i) {
        if (v.holders[i] == balance_plan::lease_view::free) p.claim.push_back(i);
    }
    return p;
}

// Steals from whoever has more than itself.
balance_plan steals_from_who_has_more(const balance_plan::lease_view& v)
{
    balance_plan p = ours(v);
    if (p.claim.empty() && count(v, largest(v)) > count(v, v.self)) p.steal = first_of(v, largest(v));
    return p;
}

template <class Plan>
void caught(const char* what, Plan plan, std::initializer_list<const char*> laws)
{
    const verdict v = every(plan, true);
    print(what, v);
    for (const char* law : laws) {
        INFO(law);
        CHECK(v.broken.contains(law));
    }
}

TEST_CASE("balance: mutant caught: the quota rounded up, a free one and a stolen one at once")
{
    caught("mutant: quota rounded up", rounded_up,
           {"an unbalanced state is a dead end", "somebody takes more than his share"});
    const counts starving{2, 2, 0, 0};
    verdict v;
    for (const auto& group : groups(3)) {
        CHECK(act(rounded_up, starving, holders_of(starving, false), group, true, v) == starving);
    }
    CHECK(act(ours, starving, holders_of(starving, false), {2}, true, v) == counts{2, 1, 1, 0});
    const counts overshot{0, 2, 1};
    CHECK(act(rounded_up, {0, 3, 1}, holders_of({0, 3, 1}, false), {0}, true, v) == counts{2, 2, 0});
    CHECK(act(ours, overshot, holders_of(overshot, false), {0}, true, v) == counts{1, 2, 0});
}

TEST_CASE("balance: mutant caught: each for himself")
{
    caught("mutant: each for himself", each_for_himself,
           {"two who see the same want the same partition", "somebody is robbed of his share"});
}

TEST_CASE("balance: mutant caught: takes all that is free")
{
    caught("mutant: takes all that is free", takes_all_that_is_free,
           {"somebody takes more than his share", "a steal was not needed"});
}

TEST_CASE("balance: mutant caught: steals from who has more")
{
    caught("mutant: steals from who has more", steals_from_who_has_more, {"a balanced state moves"});
}

// Whole lease_managers over one store, round by round, in an order that differs from round to
// round.

struct tally {
    std::uint64_t steals = 0;
    std::uint32_t rounds = 0;  // until the last partition moved
};

class fleet {
public:
    explicit fleet(std::uint32_t partitions, std::uint64_t seed) : dice_(seed)
    {
        for (std::uint32_t p = 0; p != partitions; ++p) names_.push_back(std::to_string(p));
    }

    void join(std::uint32_t owners)
    {
        for (std::uint32_t n = 0; n != owners; ++n) {
            const waybill::owner_id self{"owner " + std::to_string(keepers_.size()), dice_.bits()};
            keepers_.emplace_back(waybill::lease_group{"log", "test", names_, self, options});
        }
    }

    /// Round after round; in each one every manager comes in turn, with one call or with all of
    /// them.
    tally run(std::uint32_t rounds, bool call_by_call)
    {
        tally t;
        for (std::uint32_t r = 1; r <= rounds; ++r) {
            now_ = now_ + options.interval;
            bool any = true;
            while (any) {
                any = false;
                const std::size_t first = dice_(keepers_.size());
                for (std::size_t k = 0; k != keepers_.size(); ++k) {
                    any = call(keepers_[(first + k) % keepers_.size()], t, r, call_by_call) || any;
                }
            }
        }
        return t;
    }

    [[nodiscard]] bool balanced()
    {
        std::uint32_t low = ~0U;
        std::uint32_t high = 0;
        std::uint32_t all = 0;
        for (const auto& k : keepers_) {
            low = std::min(low, k.held());
            high = std::max(high, k.held());
            all += k.held();
        }
        return all == names_.size() && high - low <= 1;
    }

private:
    bool call(waybill::lease_manager& k, tally& t, std::uint32_t round, bool only_one)
    {
        bool any = false;
        while (const auto c = k.call(now_)) {
            any = true;
            if (const auto* claim = std::get_if<waybill::lease_manager::claim>(&*c))
                note(claim->row, t, round);
            k.on(waybill::perform(store_, *c, 0.001 * static_cast<double>(dice_(1'000))), now_);
            if (only_one) break;
        }
        return any;
    }

    void note(const waybill::lease_claim& c, tally& t, std::uint32_t round)
    {
        const auto table = *store_.list("log", "test");
        const auto same = [&](const waybill::lease& row) { return row.key == c.key; };
        const auto row = std::find_if(table.leases.begin(), table.leases.end(), same);
        const bool there = row != table.leases.end();
        const bool wins = there ? c.expected == row->version : !c.expected;
        if (!wins || (there && row->owner == c.owner)) return;
        t.rounds = round;
        if (there && !row->owner.none()) ++t.steals;
    }

    static constexpr waybill::lease_options options{waybill::duration::seconds(10), waybill::duration::seconds(60)};

    std::vector<std::string> names_;
    std::vector<waybill::lease_manager> keepers_;
    waybill::testing::memory_leases store_;
    tests_support::dice dice_;
    waybill::steady_time now_;
};

// Who acts on what an earlier one has already taken may leave the one more to him: a third round.
TEST_CASE("balance: five owners start at once: nothing is stolen, two rounds or three")
{
    for (std::uint64_t seed = 0; seed != fleets; ++seed) {
        fleet f(32, seed);
        f.join(5);
        const tally t = f.run(8, seed % 2 == 0);
        CHECK(f.balanced());
        CHECK(t.steals == 0);
        CHECK(t.rounds >= 2);
        CHECK(t.rounds <= (seed % 2 == 0 ? 2 : 3));
    }
}

TEST_CASE("balance: three owners join one who has 32: 24 steals, which is the least")
{
    std::uint32_t longest = 0;
    for (std::uint64_t seed = 0; seed != fleets; ++seed) {
        fleet f(32, seed);
        f.join(1);
        CHECK(f.run(3, false).steals == 0);
        f.join(3);
        const tally t = f.run(30, seed % 2 == 0);
        CHECK(f.balanced());
        CHECK(t.steals == 24);
        CHECK(t.rounds >= 9);  // the first one is for announcing
        longest = std::max(longest, t.rounds);
    }
    CHECK(longest <= 16);  // now and then the victim renews in between, and the thief comes again
    std::printf("balance: 24 steals by three take up to %u rounds\n", longest);
}

}  // namespace
}  // namespace balance_test
