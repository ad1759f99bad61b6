// SPDX-License-Identifier: MIT
//
// The leases of the examples have the properties that a lease_manager relies on, with real races
// between threads. They fence the checkpoints of the store beside them.

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <engines/sqlite_leases.hpp>
#include <engines/sqlite_store.hpp>

#include <waybill/lease/fenced_store.hpp>
#include <waybill/testing/fence_conformance.hpp>
#include <waybill/testing/lease_conformance.hpp>

namespace {

int failures = 0;

void check(bool holds, const std::string& what)
{
    if (holds) return;
    ++failures;
    std::printf("%s\n", what.c_str());
}

// Leases with their connection.
class connection {
public:
    explicit connection(std::string path)
        : path_(std::move(path)),
          db_(std::make_unique<engines::database>(path_)),
          leases_(std::make_unique<engines::sqlite_leases>(*db_))
    {
    }

    auto list(const std::string& source, const std::string& group)
    {
        return leases_->list(source, group);
    }
    auto claim(const waybill::lease_claim& c) { return leases_->claim(c); }
    auto heartbeat(const waybill::owner_heartbeat& p) { return leases_->heartbeat(p); }
    auto leave(const waybill::owner_heartbeat& p) { return leases_->leave(p); }
    auto renew(const waybill::owner_heartbeat& p, std::uint64_t since)
    {
        return leases_->renew(p, since);
    }
    auto claim_all(const std::vector<waybill::lease_claim>& c) { return leases_->claim_all(c); }

    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
    std::unique_ptr<engines::database> db_;
    std::unique_ptr<engines::sqlite_leases> leases_;
};

const waybill::partition_key key{"orders", "billing", "0"};

// Only the current holder of the lease commits.
void fence(const std::string& path)
{
    engines::database db(path);
    engines::sqlite_store checkpoints(db);
    engines::sqlite_leases leases(db);
    waybill::fenced_store store(checkpoints, leases);
    static_assert(waybill::checkpoint_store<decltype(store)>);
    static_assert(waybill::dead_letter_store<decltype(store)>);

    engines::database other_db(path);
    sqlite3_busy_timeout(other_db.handle(), 0);
    engines::sqlite_leases other(other_db);

    const auto advance = [&](const std::optional<waybill::position>& from, std::uint64_t to,
                             std::uint64_t epoch) {
        auto tx = *store.begin();
        const auto a = *store.advance(tx, key, from, {to, {}}, epoch);
        if (a == waybill::advance_outcome::applied) check(tx.commit().has_value(), "fence: commit");
        return a;
    };
    using waybill::advance_outcome;
    check(advance({}, 1, 1) == advance_outcome::stale_epoch, "fence: there is no lease");
    const auto mine = *leases.claim({key, {"a", 1}, 1, {}});
    check(advance({}, 1, 1) == advance_outcome::applied, "fence: the holder commits");
    check(advance(waybill::position{1, {}}, 2, 2) == advance_outcome::stale_epoch,
          "fence: no lease has this epoch");
    {
        auto tx = *store.begin();
        check(*store.advance(tx, key, waybill::position{1, {}}, {2, {}}, 1) ==
                  advance_outcome::applied,
              "fence: the holder advances");
        check(!other.claim({key, {"b", 2}, 2, mine.version}),
              "fence: the lease of an open commit cannot be claimed, and that is a fault");
        check(*tx.commit() == waybill::commit_outcome::applied,
              "fence: the holder commits the open transaction");
    }
    check(other.claim({key, {"b", 2}, 2, mine.version})->outcome ==
              waybill::lease_claim::result::claim_outcome::won,
          "fence: the lease is taken over");
    check(advance(waybill::position{2, {}}, 3, 1) == advance_outcome::stale_epoch,
          "fence: a replaced owner cannot commit, also before any other commit");
    check(advance(waybill::position{2, {}}, 3, 2) == advance_outcome::applied,
          "fence: the new owner commits");
    check(advance(waybill::position{2, {}}, 4, 2) == advance_outcome::conflict,
          "fence: compare-and-set is left");
}

}  // namespace

int main(int, char** argv)
{
    int stores = 0;
    const auto path = [&] {
        return std::string(argv[1]) + "/leases" + std::to_string(++stores) + ".sqlite";
    };
    const auto report = waybill::testing::lease_conformance(
        [&] { return connection(path()); },
        [](const connection& c) { return connection(c.path()); },
        [](auto f, auto g) {
            std::thread one(f);
            g();
            one.join();
        },
        [](const connection& c, const waybill::partition_key&) {
            engines::database(c.path()).exec("DELETE FROM leases");
        });
    for (const std::string& rule : report.broken) check(false, "broken: " + rule);
    for (const std::string& rule : report.untested) check(false, "untested: " + rule);

    connection gone(path());
    engines::database(gone.path()).exec("DROP TABLE leases; DROP TABLE owners");
    for (const std::string& rule : waybill::testing::lease_outage_conformance(gone).broken)
        check(false, rule);

    fence(path());
    const std::string both = path();
    engines::database db(both);
    engines::sqlite_store checkpoints(db);
    engines::sqlite_leases leases(db);
    engines::database other_db(both);
    sqlite3_busy_timeout(other_db.handle(), 0);
    engines::sqlite_leases other(other_db);
    const auto fenced = waybill::testing::fence_conformance(checkpoints, leases, other);
    for (const std::string& rule : fenced.broken) check(false, "broken: " + rule);
    for (const std::string& rule : fenced.untested) check(false, "untested: " + rule);
    std::printf("%d lease stores, %d rules broken\n", stores, failures);
    return failures == 0 && stores > 3 ? 0 : 1;
}
