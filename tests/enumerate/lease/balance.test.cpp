// SPDX-License-Identifier: MIT
//
// The balance plan on all states of up to 10 partitions and 4 owners.
//
// A state is how many partitions each owner has and how many are free. In each of them every subset
// of the owners acts on the same view: it claims, releases, and steals if the view is overdue.
// Owners without partitions are visible to all (by their heartbeats), or only to themselves. Then
// whole groups of lease managers run over one store.
//
// Rules of known SDKs, as their documentation and issues describe them, are here as mutants.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>
#include <support/row_leases.hpp>

#include <waybill/lease/balance.hpp>
#include <waybill/lease/lease_manager.hpp>
#include <waybill/testing/memory_leases.hpp>

namespace balance_test {
namespace {

using waybill::balance_plan;
using view = balance_plan::lease_view;

using counts = std::vector<std::uint32_t>;  // of each owner; the last one: free
using places = std::vector<std::uint32_t>;  // the holder of each partition

std::uint32_t total(const counts& c)
{
    std::uint32_t n = 0;
    for (const std::uint32_t x : c) n += x;
    return n;
}
std::uint32_t owners_of(const counts& c)
{
    return static_cast<std::uint32_t>(c.size() - 1);
}

/// The share of the owner with this number.
std::uint32_t target_of(const counts& c, std::uint32_t owner)
{
    return total(c) / owners_of(c) + (owner < total(c) % owners_of(c) ? 1 : 0);
}
counts targets_of(std::uint32_t partitions, std::uint32_t owners)
{
    counts c(owners + 1);
    c.back() = partitions;
    counts targets;
    for (std::uint32_t o = 0; o != owners; ++o) targets.push_back(target_of(c, o));
    targets.push_back(0);
    return targets;
}
bool balanced(const counts& c)
{
    return c == targets_of(total(c), owners_of(c));
}

/// How many partitions are above the targets of their owners, and how many are missing.
std::uint32_t distance(const counts& c)
{
    std::uint32_t d = 0;
    for (std::uint32_t o = 0; o != owners_of(c); ++o)
        d += c[o] > target_of(c, o) ? c[o] - target_of(c, o) : target_of(c, o) - c[o];
    return d;
}

void states(std::uint32_t partitions, std::uint32_t boxes, counts& c, std::vector<counts>& all)
{
    if (boxes == 1) {
        c.push_back(partitions);
        all.push_back(c);
        c.pop_back();
        return;
    }
    for (std::uint32_t n = 0; n <= partitions; ++n) {
        c.push_back(n);
        states(partitions - n, boxes - 1, c, all);
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

/// The holder of each partition: in blocks, or in turns.
places holders_of(const counts& c, bool in_turns)
{
    places holders;
    counts left = c;
    while (total(left) != 0) {
        for (std::uint32_t o = 0; o != c.size(); ++o) {
            for (; left[o] != 0; --left[o]) {
                holders.push_back(o + 1 == c.size() ? view::free : o);
                if (in_turns) {
                    --left[o];
                    break;
                }
            }
        }
    }
    return holders;
}

counts counts_of(const places& holders, std::uint32_t owners)
{
    counts c(owners + 1);
    for (const std::uint32_t h : holders) ++c[h < owners ? h : owners];
    return c;
}

struct setting {
    bool announced = true;  // owners without partitions are visible to all
    bool overdue = false;   // no owner has released a partition for an expiry
};

/// The view of `self`.
view seen_by(std::uint32_t self, const places& holders, const counts& c, const setting& s)
{
    std::vector<std::uint32_t> number(owners_of(c), view::free);
    view v;
    v.owners = 0;
    for (std::uint32_t o = 0; o != owners_of(c); ++o) {
        if (s.announced || c[o] != 0 || o == self) number[o] = v.owners++;
    }
    v.self = number[self];
    v.overdue = s.overdue;
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

/// One subset of the owners acts on the same view, one after another. A partition that another one
/// was faster to take is contended. Returns the holders after that.
template <class Plan>
places act(Plan plan, const places& holders, std::uint32_t owners,
           const std::vector<std::uint32_t>& subset, const setting& s, verdict& v)
{
    const counts c = counts_of(holders, owners);
    places after = holders;
    std::set<std::uint32_t> wanted;
    for (const std::uint32_t o : subset) {
        const balance_plan p = plan(seen_by(o, holders, c, s));
        for (const auto* all : {&p.claim, &p.steal}) {
            for (const std::uint32_t part : *all) {
                if (s.announced)
                    v.holds(wanted.insert(part).second, "two owners want the same partition");
                if (after[part] == holders[part]) after[part] = o;
            }
        }
        std::uint32_t surplus = s.overdue && s.announced ? 0 : p.surplus;
        for (std::size_t part = holders.size(); part-- != 0 && surplus != 0;) {
            if (holders[part] != o || after[part] != o) continue;
            after[part] = view::free;
            --surplus;
        }
    }
    return after;
}

std::vector<std::uint32_t> everybody(std::uint32_t owners)
{
    std::vector<std::uint32_t> all;
    for (std::uint32_t o = 0; o != owners; ++o) all.push_back(o);
    return all;
}
std::vector<std::vector<std::uint32_t>> subsets(std::uint32_t owners)
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

/// How many partitions have changed hands when the whole group is balanced. A partition that
/// changes hands twice, or more than three rounds, break a law.
template <class Plan>
std::uint32_t moves_to_balance(Plan plan, places& holders, std::uint32_t owners, const setting& s,
                               verdict& v)
{
    const places start = holders;
    std::vector<std::uint32_t> moves(holders.size());
    std::uint32_t rounds = 0;
    for (; !balanced(counts_of(holders, owners)) && rounds != 8; ++rounds) {
        const places next = act(plan, holders, owners, everybody(owners), s, v);
        for (std::size_t p = 0; p != next.size(); ++p) {
            if (next[p] != holders[p] && next[p] < owners) ++moves[p];
        }
        holders = next;
    }
    v.holds(rounds <= 3, "it takes more than three rounds");
    std::uint32_t all = 0;
    for (std::size_t p = 0; p != moves.size(); ++p) {
        v.holds(moves[p] <= 1, "a partition moves twice");
        v.holds(moves[p] == 0 || holders[p] != start[p], "a partition returns to its first owner");
        all += start[p] < owners ? moves[p] : 0;
    }
    return all;
}

template <class Plan>
void try_announced(Plan plan, std::uint32_t partitions, std::uint32_t owners, verdict& v)
{
    for (const counts& c : all_states(partitions, owners)) {
        ++v.states;
        for (const setting s : {setting{}, setting{.overdue = true}}) {
            for (const bool in_turns : {false, true}) {
                const places holders = holders_of(c, in_turns);
                bool moved = false;
                for (const auto& subset : subsets(owners)) {
                    const counts next = counts_of(act(plan, holders, owners, subset, s, v), owners);
                    if (balanced(c)) v.holds(next == c, "a balanced state moves");
                    if (next == c) continue;
                    moved = true;
                    for (std::uint32_t o = 0; o != owners; ++o) {
                        const std::uint32_t target = target_of(c, o);
                        if (next[o] > c[o])
                            v.holds(next[o] <= target, "an owner exceeds its target");
                        if (next[o] < c[o])
                            v.holds(next[o] >= target, "an owner falls below its target");
                    }
                    v.holds(distance(next) < distance(c), "it does not come closer");
                }
                if (!balanced(c)) v.holds(moved, "an unbalanced state does not change");
                places end = holders;
                (void)moves_to_balance(plan, end, owners, s, v);
            }
        }
    }
}

/// Owners join a balanced group and leave it, at each place in the order of the owners.
template <class Plan>
void try_changes(Plan plan, std::uint32_t partitions, std::uint32_t owners, verdict& v)
{
    const counts before = targets_of(partitions, owners);
    for (std::uint32_t place = 0; place <= owners; ++place) {
        places holders = holders_of(before, true);
        for (std::uint32_t& h : holders) h += h >= place ? 1 : 0;
        const counts joined = targets_of(partitions, owners + 1);
        const std::uint32_t moves = moves_to_balance(plan, holders, owners + 1, {}, v);
        v.holds(moves == joined[place], "a join moves other partitions than those of the joiner");
        v.holds(moves <= partitions / (owners + 1) + 1,
                "a join moves more than one above the least");
        // The same owner leaves, and joins again.
        for (std::uint32_t& h : holders) {
            if (h == place) h = view::free;
            else if (h > place) --h;
        }
        if (owners == 0) continue;
        v.holds(moves_to_balance(plan, holders, owners, {}, v) == 0,
                "a leave takes from the others");
        v.holds(counts_of(holders, owners) == before, "a restart changes the shares of the others");
    }
}

/// If owners without partitions are not visible, the group still ends balanced.
template <class Plan>
void try_unannounced(Plan plan, std::uint32_t partitions, std::uint32_t owners, verdict& v)
{
    enum class mark : std::uint8_t { unknown, open, ends };
    std::map<counts, mark> marks;
    const auto each = subsets(owners);
    const auto visit = [&](const auto& self, const counts& c) -> void {
        marks[c] = mark::open;
        bool moved = false;
        for (const auto& subset : each) {
            if (subset.size() > 2 && subset.size() != owners) continue;
            const counts next = counts_of(act(plan, holders_of(c, false), owners, subset,
                                              {.announced = false, .overdue = true}, v),
                                          owners);
            if (next == c) continue;
            moved = true;
            v.holds(marks[next] != mark::open, "it goes round in a circle");
            if (marks[next] == mark::unknown) self(self, next);
        }
        v.holds(moved != balanced(c),
                moved ? "a balanced state moves" : "an unbalanced state does not change");
        marks[c] = mark::ends;
    };
    for (const counts& c : all_states(partitions, owners)) {
        ++v.states;
        if (marks[c] == mark::unknown) visit(visit, c);
    }
}

constexpr bool few = tests_support::brief;
constexpr std::uint32_t most_partitions = few ? 7 : 10;
constexpr std::uint32_t most_owners = 4;
constexpr std::uint64_t fleets = few ? 30 : 300;

/// Ends when all laws of `wanted` are broken, if there are any.
template <class Plan>
verdict every(Plan plan, bool announced, std::initializer_list<const char*> wanted = {})
{
    verdict v;
    const auto is_broken = [&](const char* law) { return v.broken.contains(law); };
    for (std::uint32_t p = 0; p <= most_partitions; ++p) {
        for (std::uint32_t n = 1; n <= most_owners; ++n) {
            if (wanted.size() != 0 && std::all_of(wanted.begin(), wanted.end(), is_broken)) break;
            if (!announced) {
                try_unannounced(plan, p, n, v);
                continue;
            }
            try_announced(plan, p, n, v);
            try_changes(plan, p, n, v);
        }
    }
    return v;
}

void print(const char* what, const verdict& v)
{
    std::printf("balance: %-40s %6llu states, %9llu laws tried", what,
                static_cast<unsigned long long>(v.states),
                static_cast<unsigned long long>(v.steps));
    for (const auto& [law, n] : v.broken) {
        std::printf("\n         %8llu: %s", static_cast<unsigned long long>(n), law.c_str());
    }
    std::printf("\n");
}

balance_plan ours(const view& v)
{
    return waybill::balance(v, 0.5);
}

TEST_CASE("balance: all states, all owners visible: all invariants hold")
{
    for (const double random : {0.0, 0.5, 0.99}) {
        const verdict v =
            every([&](const view& seen) { return waybill::balance(seen, random); }, true);
        if (random == 0.5) print("all owners are visible", v);
        CHECK(v.broken.empty());
    }
}

TEST_CASE("balance: all states, owners without partitions invisible: all invariants hold")
{
    const verdict v = every(ours, false);
    print("owners without partitions are not visible", v);
    CHECK(v.broken.empty());
}

TEST_CASE("balance: a plan contains the exact counts, target and surplus")
{
    for (const counts& c : all_states(7, 3)) {
        for (std::uint32_t o = 0; o != 3; ++o) {
            const balance_plan p = ours(seen_by(o, holders_of(c, true), c, {}));
            CHECK(p.mine == c[o]);
            CHECK(p.balanced == balanced(c));
            CHECK(p.target == target_of(c, o));
            CHECK(p.surplus == (c[o] > p.target ? c[o] - p.target : 0));
            CHECK(p.steal.empty());
        }
    }
}

// The mutants. Each is a rule from a library, or a likely mistake.

std::uint32_t count(const view& v, std::uint32_t owner)
{
    return static_cast<std::uint32_t>(std::count(v.holders.begin(), v.holders.end(), owner));
}
std::uint32_t quota(const view& v)
{
    return (static_cast<std::uint32_t>(v.holders.size()) + v.owners - 1) / v.owners;
}
std::optional<std::uint32_t> first_of(const view& v, std::uint32_t owner)
{
    const auto at = std::find(v.holders.begin(), v.holders.end(), owner);
    if (at == v.holders.end()) return {};
    return static_cast<std::uint32_t>(at - v.holders.begin());
}
std::uint32_t largest(const view& v)
{
    std::uint32_t victim = v.self;
    for (std::uint32_t o = 0; o != v.owners; ++o) {
        if (count(v, o) > count(v, victim)) victim = o;
    }
    return victim;
}

// The quota is rounded up for all: a joiner gets nothing at 2/2/0 of 4. A free partition and a
// stolen one in one round.
balance_plan rounded_up(const view& v)
{
    balance_plan p;
    const std::uint32_t mine = count(v, v.self);
    const std::uint32_t above = largest(v);
    if (mine >= quota(v)) return p;
    const auto free = first_of(v, view::free);
    const bool any_above = count(v, above) > quota(v);
    if (v.holders.size() % v.owners != 0 && mine + 1 == quota(v) && !free && !any_above) return p;
    if (free) p.claim.push_back(*free);
    if (any_above) p.steal.push_back(*first_of(v, above));
    return p;
}

// The right numbers, but each owner takes the first partitions that it finds.
balance_plan each_for_itself(const view& v)
{
    balance_plan p = ours(v);
    const std::size_t claims = p.claim.size();
    p.claim.clear();
    for (std::uint32_t i = 0; i != v.holders.size() && p.claim.size() != claims; ++i) {
        if (v.holders[i] == view::free) p.claim.push_back(i);
    }
    return p;
}

// Claims free partitions beyond its target, and must release them again.
balance_plan takes_all_that_is_free(const view& v)
{
    balance_plan p = ours(v);
    p.claim.clear();
    for (std::uint32_t i = 0; i != v.holders.size(); ++i) {
        if (v.holders[i] == view::free) p.claim.push_back(i);
    }
    return p;
}

// Steals from the owner with the most partitions, if that owner has more than itself.
balance_plan steals_from_who_has_more(const view& v)
{
    balance_plan p = ours(v);
    if (p.claim.empty() && count(v, largest(v)) > count(v, v.self))
        p.steal = {*first_of(v, largest(v))};
    return p;
}

// Releases all of its partitions when another owner joins, as an eager rebalance does.
balance_plan releases_all(const view& v)
{
    balance_plan p = ours(v);
    if (!p.balanced && p.surplus != 0) p.surplus = p.mine;
    return p;
}

template <class Plan>
void caught(const char* what, Plan plan, std::initializer_list<const char*> laws)
{
    const verdict v = every(plan, true, laws);
    print(what, v);
    for (const char* law : laws) {
        INFO(law);
        CHECK(v.broken.contains(law));
    }
}

TEST_CASE("balance: mutant caught: the quota is rounded up, and one round both claims and steals")
{
    caught("mutant: quota rounded up", rounded_up,
           {"an unbalanced state does not change", "an owner exceeds its target"});
}

TEST_CASE("balance: mutant caught: each owner claims the first partitions that it finds")
{
    caught("mutant: each for itself", each_for_itself, {"two owners want the same partition"});
}

TEST_CASE("balance: mutant caught: an owner claims free partitions beyond its target")
{
    caught("mutant: takes all that is free", takes_all_that_is_free,
           {"an owner exceeds its target", "a partition moves twice"});
}

TEST_CASE("balance: mutant caught: an owner steals from the owner with the most partitions")
{
    caught("mutant: steals from an owner that has more", steals_from_who_has_more,
           {"a balanced state moves"});
}

TEST_CASE("balance: mutant caught: an owner releases all partitions when another joins")
{
    caught("mutant: releases all", releases_all,
           {"an owner falls below its target", "a partition returns to its first owner"});
}

// Whole lease managers over one store, round by round, in an order that differs each time.

struct tally {
    std::uint64_t moves = 0;   // claims of partitions that another owner has released
    std::uint64_t steals = 0;  // claims of partitions that another owner has
    std::uint64_t twice = 0;   // moves of partitions that have moved already
    std::uint32_t rounds = 0;  // until the last partition moved
};

template <class Store>
class fleet_of {
public:
    fleet_of(std::uint32_t partitions, std::uint64_t seed,
             std::uint32_t max_moves = waybill::lease_options::no_limit)
        : options_{waybill::duration::seconds(10), waybill::duration::seconds(60), max_moves},
          dice_(seed)
    {
        for (std::uint32_t p = 0; p != partitions; ++p) names_.push_back(std::to_string(p));
        moves_of.resize(partitions);
    }

    void join(std::uint32_t owners)
    {
        for (std::uint32_t n = 0; n != owners; ++n)
            starts("owner " + std::to_string(managers_.size()));
    }
    void starts(const std::string& name)
    {
        managers_.emplace_back(
            waybill::lease_group{"log", "test", names_, {name, dice_.bits()}, options_});
        responds_.push_back(true);
    }
    /// This owner does not release partitions any more.
    void stops_responding(std::size_t owner) { responds_[owner] = false; }

    [[nodiscard]] std::size_t owners() const { return managers_.size(); }
    /// The owner gives back all leases and ends. Returns false if it does so already.
    bool stop(std::size_t owner)
    {
        waybill::lease_manager& m = managers_[owner];
        if (m.stopping()) return false;
        m.on(waybill::stop_requested{}, now_);
        for (std::uint32_t p = 0; p != names_.size(); ++p)
            m.on(waybill::lease_manager::lease_released{p}, now_);
        return true;
    }
    /// The owner gives back all leases, ends, and starts again under its name. Between the two,
    /// `away` rounds pass.
    tally restart(std::size_t owner, std::uint32_t away)
    {
        (void)stop(owner);
        tally t = run(away, false);
        CHECK(managers_[owner].ended());
        managers_[owner] = waybill::lease_manager(
            {"log", "test", names_, {"owner " + std::to_string(owner), dice_.bits()}, options_});
        return t;
    }

    /// In each round all managers act in turn, with one call or with all of them.
    tally run(std::uint32_t rounds, bool call_by_call)
    {
        tally t;
        std::vector<bool> moved(names_.size());
        for (std::uint32_t r = 1; r <= rounds; ++r) {
            now_ = now_ + options_.interval;
            bool any = true;
            while (any) {
                any = false;
                const std::size_t first = dice_(managers_.size());
                for (std::size_t k = 0; k != managers_.size(); ++k) {
                    const std::size_t owner = (first + k) % managers_.size();
                    any = call(owner, t, r, call_by_call, moved) || any;
                }
            }
        }
        return t;
    }

    [[nodiscard]] bool balanced() const
    {
        std::uint32_t low = ~0U;
        std::uint32_t high = 0;
        std::uint32_t all = 0;
        for (const auto& m : managers_) {
            if (m.stopping()) continue;
            low = std::min(low, m.held());
            high = std::max(high, m.held());
            all += m.held();
        }
        return all == names_.size() && high - low <= 1;
    }
    std::uint64_t calls = 0;                // of the store
    std::vector<std::uint32_t> moves_of{};  // each partition

    /// The number of the owner of each partition.
    [[nodiscard]] places holders() const
    {
        places all(names_.size(), view::free);
        for (std::uint32_t o = 0; o != managers_.size(); ++o) {
            for (std::uint32_t p = 0; p != names_.size(); ++p) {
                if (managers_[o].epoch(p)) all[p] = o;
            }
        }
        return all;
    }

private:
    bool call(std::size_t owner, tally& t, std::uint32_t round, bool only_one,
              std::vector<bool>& moved)
    {
        waybill::lease_manager& m = managers_[owner];
        bool any = false;
        while (const auto c = m.call(now_)) {
            any = true;
            if (const auto* claim = waybill::get_if<waybill::lease_manager::claim>(&*c)) {
                for (const waybill::lease_claim& row : claim->rows) note(row, t, round, moved);
            }
            m.on(waybill::perform(store_, *c, 0.001 * static_cast<double>(dice_(1'000))), now_);
            ++calls;
            for (std::uint32_t p = 0; p != names_.size() && responds_[owner]; ++p) {
                if (m.to_release(p) && m.trusted(p, now_))
                    m.on(waybill::lease_manager::lease_released{p}, now_);
            }
            if (only_one) break;
        }
        return any;
    }

    void note(const waybill::lease_claim& c, tally& t, std::uint32_t round,
              std::vector<bool>& moved)
    {
        const auto table = *store_.list("log", "test");
        const auto same = [&](const waybill::lease& row) { return row.key == c.key; };
        const auto row = std::find_if(table.leases.begin(), table.leases.end(), same);
        const bool there = row != table.leases.end();
        const bool wins = there ? c.expected == row->version : !c.expected;
        if (!wins || c.owner.none() || (there && row->owner == c.owner)) return;
        t.rounds = round;
        if (!there) return;
        const std::size_t p = std::stoul(c.key.partition);
        if (row->owner.none()) ++t.moves;
        else ++t.steals;
        ++moves_of[p];
        if (moved[p]) ++t.twice;
        moved[p] = true;
    }

    waybill::lease_options options_;
    std::vector<std::string> names_;
    std::vector<waybill::lease_manager> managers_;
    std::vector<bool> responds_;
    Store store_;
    tests_support::dice dice_;
    waybill::steady_time now_;
};

using fleet = fleet_of<waybill::testing::memory_leases>;
using row_fleet = fleet_of<tests_support::row_leases>;

// If a view contains the claims of an earlier owner, the next owner may leave it one partition
// more. Then a third round follows.
TEST_CASE_TEMPLATE("balance: five owners start at once: no moves, two or three rounds", Fleet,
                   fleet, row_fleet)
{
    for (std::uint64_t seed = 0; seed != fleets; ++seed) {
        Fleet f(32, seed);
        f.join(5);
        const tally t = f.run(8, seed % 2 == 0);
        CHECK(f.balanced());
        CHECK(t.moves + t.steals == 0);
        CHECK(t.rounds >= 2);
        CHECK(t.rounds <= (seed % 2 == 0 ? 2 : 3));
    }
}

TEST_CASE_TEMPLATE("balance: owners join: only their shares move, once each, within three rounds",
                   Fleet, fleet, row_fleet)
{
    std::uint32_t longest = 0;
    for (std::uint64_t seed = 0; seed != fleets; ++seed) {
        for (const std::uint32_t joiners : {1U, 3U}) {
            Fleet f(32, seed);
            f.join(1);
            CHECK(f.run(3, false).moves == 0);
            f.join(joiners);
            const tally t = f.run(8, seed % 2 == 0);
            CHECK(f.balanced());
            CHECK(t.moves == 32 * joiners / (joiners + 1));
            CHECK(t.steals == 0);
            CHECK(t.twice == 0);
            longest = std::max(longest, t.rounds);
        }
    }
    CHECK(longest <= 3);  // announce, release, claim
    std::printf("balance: a join is balanced after %u rounds\n", longest);
}

TEST_CASE_TEMPLATE("balance: an owner that does not release its surplus loses it after an expiry",
                   Fleet, fleet, row_fleet)
{
    for (std::uint64_t seed = 0; seed != fleets; ++seed) {
        Fleet f(32, seed);
        f.join(1);
        (void)f.run(3, false);
        f.stops_responding(0);
        f.join(1);
        const tally early = f.run(6, seed % 2 == 0);
        CHECK(early.steals == 0);
        const tally late = f.run(6, seed % 2 == 0);
        CHECK(late.steals == 16);
        (void)f.run(2, false);  // the owner notices it
        CHECK(f.balanced());
    }
}

TEST_CASE_TEMPLATE("balance: an owner releases at most max_moves partitions in a round", Fleet,
                   fleet, row_fleet)
{
    for (std::uint64_t seed = 0; seed != fleets; ++seed) {
        Fleet f(32, seed, 4);
        f.join(1);
        (void)f.run(3, false);
        f.join(1);
        std::uint64_t moved = 0;
        for (std::uint32_t round = 0; round != 8; ++round) {
            const tally t = f.run(1, seed % 2 == 0);
            CHECK(t.steals == 0);
            moved += t.moves;
            CHECK(moved <= 4 * (round + 1));
        }
        CHECK(moved == 16);
        CHECK(f.balanced());
    }
}

TEST_CASE_TEMPLATE("balance: a rolling restart moves each partition away and back", Fleet, fleet,
                   row_fleet)
{
    for (std::uint64_t seed = 0; seed != fleets; ++seed) {
        const auto owners = static_cast<std::uint32_t>(2 + seed % 4);
        Fleet f(static_cast<std::uint32_t>(7 + seed % 26), seed);
        f.join(owners);
        (void)f.run(6, false);
        REQUIRE(f.balanced());
        const places before = f.holders();
        std::uint64_t moves = 0;
        for (std::uint32_t o = 0; o != owners; ++o) {
            moves += f.restart(o, 3).moves;
            const tally t = f.run(6, false);
            CHECK(t.steals == 0);
            CHECK(t.twice == 0);
            moves += t.moves;
            CHECK(f.holders() == before);
        }
        CHECK(moves == 2 * before.size());
    }
}

TEST_CASE_TEMPLATE("balance: overlapping changes: a partition moves at most once for each of them",
                   Fleet, fleet, row_fleet)
{
    std::uint32_t most = 0;
    for (std::uint64_t seed = 0; seed != 10 * fleets; ++seed) {
        tests_support::dice dice(seed);
        Fleet f(static_cast<std::uint32_t>(3 + dice(20)), seed);
        f.join(static_cast<std::uint32_t>(1 + dice(4)));
        (void)f.run(6, false);
        REQUIRE(f.balanced());
        std::uint32_t changes = 0;
        const std::uint64_t all = 1 + dice(4);
        while (changes != all) {
            if (f.owners() == 1 || dice.one_in(2)) {
                f.starts(std::string(1, static_cast<char>('a' + dice(26))));
                ++changes;
            } else if (f.stop(dice(f.owners() - 1))) {  // not the last one
                ++changes;
            }
            (void)f.run(static_cast<std::uint32_t>(dice(3)), dice.one_in(2));
        }
        (void)f.run(10, false);
        CHECK(f.balanced());
        const std::uint32_t moves = *std::max_element(f.moves_of.begin(), f.moves_of.end());
        CHECK(moves <= changes);
        most = std::max(most, moves);
    }
    std::printf("balance: up to %u moves of a partition in four changes that overlap\n", most);
}

TEST_CASE("balance: a balanced group makes one call for each owner and round")
{
    fleet f(32, 1);
    f.join(4);
    (void)f.run(6, false);
    f.calls = 0;
    (void)f.run(10, false);
    CHECK(f.calls == 4 * 10);
}

}  // namespace
}  // namespace balance_test
