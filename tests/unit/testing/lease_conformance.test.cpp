// SPDX-License-Identifier: MIT
//
// The suite for lease stores accepts a right one, and reports the rule that a wrong one breaks.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/testing/lease_conformance.hpp>
#include <waybill/testing/memory_leases.hpp>

namespace lease_conformance_test {
namespace {

using waybill::lease;
using waybill::lease_claim;
using waybill::lease_table;
using waybill::owner_heartbeat;
using waybill::result;

enum class flaw : std::uint8_t {
    none,
    racy_first_claim,      // checks whether there is a row, and writes it later
    racy_claim,            // the same for an existing row
    first_claim_replaces,  // does not look
    ignores_version,
    only_owner_compared,  // the owner may write with any version
    version_of_content,   // unchanged if nothing else changes
    version_alternates,
    absent_is_created,  // if a row is expected and there is none
    epoch_forgotten,
    incarnation_forgotten,
    incarnation_32_bits,
    giving_back_deletes,
    giving_back_is_an_error,
    empty_is_an_error,
    group_forgotten,
    key_concatenated,
    announce_adds,
    announce_by_name,
    withdraw_all_of_name,
    withdraw_any_version,
    withdraw_of_nothing_is_an_error,
    contended_and_written,
    contended_is_an_error,
    update_any_partition,  // writes the rows of other keys that have this version
    update_any_group,
    versions_from_one,   // for each new row
    owner_ignores_case,  // in heartbeats
    owner_trimmed,
    key_trimmed,  // trailing blanks are dropped
    partition_ignores_case,
    lists_1000_leases,
    lists_1000_owners,
    list_caches,  // on each connection, until this connection writes
    epoch_is_a_double,
    expected_of_32_bits,
    heartbeat_of_32_bits,  // `leave` compares the low half of the version
    key_of_255_bytes,
    owner_of_65535_bytes,
    beats_twice_is_an_error,  // as an INSERT of the same row
};

// Handles share their data, like connections. A racy store calls `between` after its read and
// before its write.
class wrong_leases {
public:
    explicit wrong_leases(flaw f) : flaw_(f), data_(std::make_shared<data>()) {}

    result<lease_table> list(const std::string& source, const std::string& group)
    {
        auto listed = read(source, group);
        if (flaw_ != flaw::list_caches || !listed) return listed;
        return listed_.try_emplace({source, group}, *listed).first->second;
    }

    result<lease_claim::result> claim(const lease_claim& c)
    {
        listed_.clear();
        if (c.expected &&
            (flaw_ == flaw::update_any_partition || flaw_ == flaw::update_any_group)) {
            return update_any(c);
        }
        return write(c);
    }

    result<void> heartbeat(const owner_heartbeat& p)
    {
        listed_.clear();
        const auto found = find(p, flaw_ == flaw::announce_by_name);
        if (flaw_ == flaw::beats_twice_is_an_error && found != data_->owners.end() && *found == p)
            return down();
        if (found != data_->owners.end() && flaw_ != flaw::announce_adds) *found = p;
        else data_->owners.push_back(p);
        if (flaw_ == flaw::owner_of_65535_bytes && p.owner.name.size() > 65'535)
            data_->owners.back().owner.name.resize(65'535);
        return {};
    }

    result<void> leave(const owner_heartbeat& p)
    {
        listed_.clear();
        const auto found = find(p, flaw_ == flaw::withdraw_all_of_name);
        if (found == data_->owners.end()) {
            if (flaw_ == flaw::withdraw_of_nothing_is_an_error)
                return waybill::unexpected(waybill::infrastructure("none"));
            return {};
        }
        if (flaw_ == flaw::withdraw_all_of_name) {
            std::erase_if(data_->owners,
                          [&](const owner_heartbeat& q) { return q.owner.name == p.owner.name; });
        } else if (found->version == p.version || flaw_ == flaw::withdraw_any_version ||
                   (flaw_ == flaw::heartbeat_of_32_bits &&
                    static_cast<std::uint32_t>(found->version ^ p.version) == 0)) {
            data_->owners.erase(found);
        }
        return {};
    }

    void erase(const waybill::partition_key& key) { data_->leases.erase(id_of({key, {}, 0, {}})); }
    void between(std::function<void()> f) { data_->between = std::move(f); }

private:
    using id = std::tuple<std::string, std::string, std::string>;
    struct data {
        std::map<id, lease> leases;
        std::vector<owner_heartbeat> owners;
        std::uint64_t writes = 0;
        std::function<void()> between;
    };

    struct anything {
        template <class T>
        operator result<T>() const
        {
            return waybill::unexpected(waybill::infrastructure("down"));
        }
    };
    static anything down() { return {}; }

    result<lease_table> read(const std::string& source, const std::string& group) const
    {
        if (data_->leases.empty() && data_->owners.empty() && flaw_ == flaw::empty_is_an_error)
            return down();
        lease_table t;
        for (const auto& [key, row] : data_->leases) {
            if (row.key.source != source) continue;
            if (row.key.group == group || flaw_ == flaw::group_forgotten) t.leases.push_back(row);
        }
        for (const owner_heartbeat& p : data_->owners) {
            if (p.source == source && p.group == group) t.owners.push_back(p);
        }
        if (flaw_ == flaw::lists_1000_leases && t.leases.size() > 1'000) t.leases.resize(1'000);
        if (flaw_ == flaw::lists_1000_owners && t.owners.size() > 1'000) t.owners.resize(1'000);
        return t;
    }

    result<lease_claim::result> write(const lease_claim& c)
    {
        const auto found = data_->leases.find(id_of(c));
        const bool there = found != data_->leases.end();
        bool wins = there ? c.expected == found->second.version : !c.expected;
        if (flaw_ == flaw::expected_of_32_bits && there && c.expected)
            wins = static_cast<std::uint32_t>(*c.expected ^ found->second.version) == 0;
        if (flaw_ == flaw::first_claim_replaces && !c.expected) wins = true;
        if (flaw_ == flaw::ignores_version && there && c.expected) wins = true;
        if (flaw_ == flaw::only_owner_compared && there && c.expected &&
            c.owner == found->second.owner)
            wins = true;
        if (flaw_ == flaw::absent_is_created && !there) wins = true;
        if (flaw_ == flaw::giving_back_is_an_error && c.owner.none()) return down();
        if (!wins && flaw_ == flaw::contended_is_an_error) return down();
        if (!wins && flaw_ != flaw::contended_and_written) return lease_claim::result{};
        if (flaw_ == (c.expected ? flaw::racy_claim : flaw::racy_first_claim) && data_->between) {
            std::exchange(data_->between, {})();
        }
        lease row{c.key, c.owner, c.epoch, next_version(there ? &found->second : nullptr, c)};
        if (flaw_ == flaw::epoch_forgotten) row.epoch = 1;
        if (flaw_ == flaw::epoch_is_a_double && row.epoch >> 53U != 0) row.epoch &= ~1ULL;
        if (flaw_ == flaw::incarnation_forgotten) row.owner.incarnation = 0;
        if (flaw_ == flaw::incarnation_32_bits) row.owner.incarnation &= 0xFFFF'FFFFU;
        const std::uint64_t version = row.version;
        if (flaw_ == flaw::giving_back_deletes && c.owner.none()) data_->leases.erase(id_of(c));
        else data_->leases.insert_or_assign(id_of(c), row);
        if (!wins) return lease_claim::result{};
        return lease_claim::result{lease_claim::result::claim_outcome::won, c.epoch, version};
    }

    id id_of(const lease_claim& c) const
    {
        if (flaw_ == flaw::key_concatenated)
            return {c.key.source + c.key.group, "", c.key.partition};
        id known{c.key.source, c.key.group, c.key.partition};
        if (flaw_ == flaw::key_trimmed) trim(std::get<2>(known));
        if (flaw_ == flaw::key_of_255_bytes) std::get<2>(known) = std::get<2>(known).substr(0, 255);
        if (flaw_ == flaw::partition_ignores_case) lower(std::get<2>(known));
        return known;
    }
    static void trim(std::string& text)
    {
        while (!text.empty() && text.back() == ' ') text.pop_back();
    }
    static void lower(std::string& text)
    {
        for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    waybill::owner_id known_as(waybill::owner_id owner) const
    {
        if (flaw_ == flaw::owner_trimmed) trim(owner.name);
        if (flaw_ == flaw::owner_ignores_case) lower(owner.name);
        return owner;
    }
    std::vector<owner_heartbeat>::iterator find(const owner_heartbeat& p, bool by_name)
    {
        return std::find_if(
            data_->owners.begin(), data_->owners.end(), [&](const owner_heartbeat& q) {
                const bool same = by_name ? q.owner.name == p.owner.name
                                          : q.owner.incarnation == p.owner.incarnation &&
                                                known_as(q.owner) == known_as(p.owner);
                return q.source == p.source && q.group == p.group && same;
            });
    }
    lease_claim::result update_any(const lease_claim& c)
    {
        lease_claim::result o;
        for (auto& [at, row] : data_->leases) {
            const bool group = row.key.group == c.key.group || flaw_ == flaw::update_any_group;
            const bool partition =
                row.key.partition == c.key.partition || flaw_ == flaw::update_any_partition;
            if (row.key.source != c.key.source || !group || !partition || row.version != c.expected)
                continue;
            row = {row.key, c.owner, c.epoch, ++data_->writes};
            o = {lease_claim::result::claim_outcome::won, c.epoch, row.version};
        }
        return o;
    }
    std::uint64_t next_version(const lease* old, const lease_claim& c)
    {
        if (flaw_ == flaw::versions_from_one) return old ? old->version + 1 : 1;
        if (flaw_ == flaw::version_of_content && old && old->owner == c.owner) return old->version;
        if (flaw_ == flaw::version_alternates) return ++data_->writes % 2;
        return ++data_->writes;
    }

    flaw flaw_;
    std::shared_ptr<data> data_;
    std::map<std::pair<std::string, std::string>, lease_table> listed_{};
};

waybill::testing::conformance_report report_on(flaw f)
{
    wrong_leases* current = nullptr;
    std::optional<wrong_leases> store;
    return waybill::testing::lease_conformance(
        [&] { return wrong_leases(f); },
        [&](wrong_leases& s) {
            store.emplace(s);
            current = &*store;
            return s;
        },
        // The second call runs during the first one, if it can.
        [&](auto first, auto second) {
            bool done = false;
            const auto once = [&] {
                if (!std::exchange(done, true)) second();
            };
            current->between(once);
            first();
            once();
        },
        [](wrong_leases& s, const waybill::partition_key& key) { s.erase(key); });
}

TEST_CASE("lease_conformance: correct stores conform")
{
    CHECK(report_on(flaw::none) == waybill::testing::conformance_report{});
    CHECK(waybill::testing::lease_conformance(
              [] { return waybill::testing::memory_leases(); }, [](auto& s) -> auto& { return s; },
              waybill::testing::no_race(), [](auto& s, const auto& key) { s.erase(key); })
              .broken.empty());
}

TEST_CASE("lease_conformance: the report contains the untested rules")
{
    const auto report =
        waybill::testing::lease_conformance([] { return waybill::testing::memory_leases(); });
    CHECK(report.broken.empty());
    CHECK(report.untested ==
          std::vector<std::string>{
              "claim: a lease whose row was deleted has no version that it had before"
              " (needs rows that are deleted by hand)",
              "renew: is complete after a deletion (needs rows that are deleted by hand)",
              "claim: of two concurrent claims of a lease at most one wins (needs two threads)",
              "each rule; if two connections are used in turn (needs a second connection)",
              "each rule; if each call uses a new connection (needs a second connection)"});
}

TEST_CASE("lease_conformance: each flaw is detected by the rule that it breaks")
{
    const std::pair<flaw, const char*> all[] = {
        {flaw::racy_first_claim, "claim: of two concurrent claims of a new lease at most one wins"},
        {flaw::racy_claim, "claim: of two concurrent claims of a lease at most one wins"},
        {flaw::first_claim_replaces,
         "claim: a second claim without an expected version is contended, and changes nothing"},
        {flaw::ignores_version,
         "claim: one that expects another version is contended and changes nothing"},
        {flaw::only_owner_compared,
         "claim: one that expects another version is contended and changes nothing"},
        {flaw::version_of_content,
         "claim: each claim that wins has a new version, also if it changes nothing else"},
        {flaw::version_alternates,
         "claim: each claim that wins has a new version, also if it changes nothing else"},
        {flaw::absent_is_created,
         "claim: an expected version without a row is contended, and stores no row"},
        {flaw::epoch_forgotten, "claim: owner and epoch are stored as claimed"},
        {flaw::incarnation_forgotten, "claim: the first one wins, and is listed with its version"},
        {flaw::incarnation_32_bits,
         "claim: stores any name, and all 64 bits of incarnation and epoch"},
        {flaw::giving_back_deletes, "claim: a claim without an owner releases the lease"},
        {flaw::giving_back_is_an_error, "claim: a claim without an owner releases the lease"},
        {flaw::empty_is_an_error, "list: returns no error if the store can be reached"},
        {flaw::group_forgotten,
         "leases of different keys are independent, and listed for their group only"},
        {flaw::key_concatenated,
         "leases of different keys are independent, and listed for their group only"},
        {flaw::announce_adds, "heartbeat: a second call replaces the row"},
        {flaw::announce_by_name, "heartbeat: two incarnations of one name are two owners"},
        {flaw::withdraw_all_of_name, "leave: removes only this owner"},
        {flaw::withdraw_any_version, "leave: does not remove an owner with a later heartbeat"},
        {flaw::withdraw_of_nothing_is_an_error, "leave: an absent owner is no error"},
        {flaw::contended_and_written,
         "claim: an expected version without a row is contended, and stores no row"},
        {flaw::update_any_partition,
         "claim: the version of another lease is contended, and changes neither"},
        {flaw::update_any_group,
         "claim: the version of another lease is contended, and changes neither"},
        {flaw::versions_from_one,
         "claim: a lease whose row was deleted has no version that it had before"},
        {flaw::contended_is_an_error,
         "claim: returns won or contended if the store can be reached"},
        {flaw::owner_ignores_case,
         "heartbeat: owners are distinguished by all bytes of their names"},
        {flaw::owner_trimmed, "heartbeat: owners are distinguished by all bytes of their names"},
        {flaw::key_trimmed, "leases of different keys are independent"},
        {flaw::partition_ignores_case, "leases of different keys are independent"},
        {flaw::lists_1000_leases, "list: returns each of 1,100 leases and of 1,100 owners once"},
        {flaw::lists_1000_owners, "list: returns each of 1,100 leases and of 1,100 owners once"},
        {flaw::list_caches,
         "claim: the first one wins, and is listed with its version; if two connections are used "
         "in turn"},
        {flaw::epoch_is_a_double,
         "claim: stores any name, and all 64 bits of incarnation and epoch"},
        {flaw::expected_of_32_bits,
         "claim: one that expects another version is contended and changes nothing"},
        {flaw::heartbeat_of_32_bits, "heartbeat, leave: incarnations and versions have 64 bits"},
        {flaw::key_of_255_bytes, "claim, heartbeat: keys and names that a store may refuse"},
        {flaw::owner_of_65535_bytes, "claim, heartbeat: keys and names that a store may refuse"},
        {flaw::beats_twice_is_an_error,
         "heartbeat: an owner without leases is listed; if each call is made twice"},
    };
    for (const auto& one : all) {
        const std::vector<std::string> broken = report_on(one.first).broken;
        const std::string wanted = one.second;
        INFO("flaw ", static_cast<int>(one.first), ": ", wanted);
        const bool named = std::any_of(broken.begin(), broken.end(), [&](const std::string& b) {
            return b.rfind(wanted, 0) == 0;
        });
        CHECK(named);
    }
}

// A store that is down, and one that returns results in that case.
struct down_leases {
    bool swallows = false;

    result<lease_table> list(const std::string&, const std::string&)
    {
        return answer<lease_table>();
    }
    result<lease_claim::result> claim(const lease_claim&) { return answer<lease_claim::result>(); }
    result<void> heartbeat(const owner_heartbeat&) { return answer<void>(); }
    result<void> leave(const owner_heartbeat&) { return answer<void>(); }

private:
    template <class T>
    result<T> answer() const
    {
        if (swallows) return {};
        return waybill::unexpected(waybill::infrastructure("connection refused"));
    }
};

TEST_CASE("lease_conformance: a store that hides errors is detected")
{
    down_leases honest;
    CHECK(waybill::testing::lease_outage_conformance(honest).broken.empty());
    down_leases swallows{true};
    const auto broken = waybill::testing::lease_outage_conformance(swallows).broken;
    CHECK(broken.size() == 4);
    CHECK(std::find(
              broken.begin(), broken.end(),
              "claim: while the store cannot be reached, the result is an error, not contention") !=
          broken.end());
}

// Stores with `renew` and `claim_all` that break one of their rules.
enum class bulk_flaw : std::uint8_t {
    none,
    not_marked,
    mark_stays,
    misses_changes,
    misses_deletions,
    any_version_is_known,
    ignores_heartbeat,
    absent_heartbeat_is_equal,
    all_or_nothing,
    lists_no_owners,
};

class bulk_store : public waybill::testing::memory_leases {
public:
    explicit bulk_store(bulk_flaw f) : flaw_(f) {}

    [[nodiscard]] result<lease_table> renew(const owner_heartbeat& own, std::uint64_t since)
    {
        owner_heartbeat row = own;
        if (flaw_ == bulk_flaw::not_marked) row.renews_leases = false;
        marked_.push_back(own.owner);
        auto t = *memory_leases::renew(row, since);
        const bool partial = since != 0 && (t.partial || flaw_ == bulk_flaw::misses_deletions);
        if (flaw_ == bulk_flaw::misses_deletions) t.partial = partial;
        if (flaw_ == bulk_flaw::misses_changes && since != 0) {
            t.leases.clear();
            t.partial = true;
        }
        if (flaw_ == bulk_flaw::any_version_is_known && since > t.version) {
            t.leases.clear();
            t.partial = true;
        }
        if (flaw_ == bulk_flaw::lists_no_owners && t.partial) t.owners.clear();
        return t;
    }
    [[nodiscard]] result<std::vector<lease_claim::result>> claim_all(
        std::vector<lease_claim> claims)
    {
        const memory_leases before = *this;
        for (lease_claim& c : claims) {
            const bool gone = c.expired_owner.name == "gone";
            if (flaw_ == bulk_flaw::ignores_heartbeat && !gone) c.expired_owner = {};
            if (flaw_ == bulk_flaw::absent_heartbeat_is_equal && gone) c.expired_owner = {};
        }
        auto results = *memory_leases::claim_all(claims);
        const auto lost = [](const lease_claim::result& r) {
            return r.outcome != lease_claim::result::claim_outcome::won;
        };
        if (flaw_ == bulk_flaw::all_or_nothing &&
            std::any_of(results.begin(), results.end(), lost)) {
            static_cast<memory_leases&>(*this) = before;
            results.assign(claims.size(), lease_claim::result{});
        }
        return results;
    }
    [[nodiscard]] result<void> heartbeat(const owner_heartbeat& p)
    {
        owner_heartbeat row = p;
        const bool was = std::find(marked_.begin(), marked_.end(), p.owner) != marked_.end();
        if (flaw_ == bulk_flaw::mark_stays && was) row.renews_leases = true;
        return memory_leases::heartbeat(row);
    }

private:
    bulk_flaw flaw_;
    std::vector<waybill::owner_id> marked_;
};

waybill::testing::conformance_report bulk_report(bulk_flaw f)
{
    return waybill::testing::lease_conformance(
        [f] { return bulk_store(f); }, waybill::testing::no_second{}, waybill::testing::no_race{},
        [](bulk_store& s, const waybill::partition_key& key) { s.erase(key); });
}

TEST_CASE("lease conformance: a store that renews all leases at once conforms")
{
    for (const std::string& rule : bulk_report(bulk_flaw::none).broken) FAIL_CHECK(rule);
}

TEST_CASE("lease conformance: each flaw of renew and claim_all is detected")
{
    const std::pair<bulk_flaw, const char*> flaws[] = {
        {bulk_flaw::not_marked, "renew: writes the heartbeat, marked"},
        {bulk_flaw::mark_stays, "heartbeat: takes the mark away"},
        {bulk_flaw::misses_changes, "renew: returns a lease that `claim` has changed since"},
        {bulk_flaw::misses_deletions, "renew: returns all leases after a row was deleted"},
        {bulk_flaw::any_version_is_known, "renew: returns all leases if the version is not one"},
        {bulk_flaw::ignores_heartbeat, "has written its heartbeat since"},
        {bulk_flaw::absent_heartbeat_is_equal, "has removed its heartbeat since"},
        {bulk_flaw::all_or_nothing, "claim_all: each claim wins or is contended by itself"},
        {bulk_flaw::lists_no_owners, "renew: returns no lease if none has changed"},
    };
    for (const auto& one : flaws) {
        const std::string rule = one.second;
        INFO(rule);
        bool found = false;
        for (const std::string& broken : bulk_report(one.first).broken)
            found = found || broken.find(rule) != std::string::npos;
        CHECK(found);
    }
}

}  // namespace
}  // namespace lease_conformance_test
