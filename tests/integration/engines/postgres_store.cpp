// SPDX-License-Identifier: MIT
//
// The stores on PostgreSQL have the properties that process_batch and lease_manager rely on: the
// conformance suites, races of real connections, and all outcomes of a transaction. Connections are
// cut before and after a commit, and the server is killed during commits.
//
//     postgres_store ADDRESS FOLDER SERVER      as postgres_server makes them, and that script

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <engines/postgres_leases.hpp>

#include "postgres_ends.hpp"
#include "postgres_kills.hpp"
#include "postgres_own.hpp"
#include <waybill/testing/conformance.hpp>
#include <waybill/testing/fence_conformance.hpp>
#include <waybill/testing/lease_conformance.hpp>
#include <waybill/testing/outage_conformance.hpp>

namespace {

using namespace postgres_test;

/// Prints a report. Returns the number of its rules that are broken or untested.
int shown(const char* suite, const waybill::testing::conformance_report& report)
{
    for (const std::string& rule : report.broken) std::printf("broken: %s\n", rule.c_str());
    for (const std::string& rule : report.untested) std::printf("untested: %s\n", rule.c_str());
    std::printf("%s: %zu rules broken, %zu untested\n", suite, report.broken.size(),
                report.untested.size());
    return static_cast<int>(report.broken.size() + report.untested.size());
}

/// Most of the suite runs in one thread, so a long wait for a lock is not needed.
int conforms()
{
    auto report = waybill::testing::conformance(
        [&] { return store_at(fresh_schema(), "50ms"); },
        [](const store_at& s) { return store_at(s.schema(), "50ms"); },
        [](auto waits, auto commits) {
            std::thread other(waits);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            commits();
            other.join();
        });
    const auto down = waybill::testing::outage_conformance(
        [] { return store_at(fresh_schema()); },
        [](const store_at& s) {
            engines::postgres by_hand(where);
            by_hand.connect();
            by_hand.exec(("DROP SCHEMA " + s.schema() + " CASCADE").c_str());
        });
    report.broken.insert(report.broken.end(), down.broken.begin(), down.broken.end());
    return shown("conformance", report);
}

/// Leases with their connection.
class leases_at {
public:
    explicit leases_at(std::string address)
        : address_(std::move(address)),
          db_(std::make_unique<engines::postgres>(address_)),
          leases_(std::make_unique<engines::postgres_leases>(*db_))
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

    [[nodiscard]] const std::string& address() const { return address_; }

private:
    std::string address_;
    std::unique_ptr<engines::postgres> db_;
    std::unique_ptr<engines::postgres_leases> leases_;
};

int leases_conform()
{
    int wrong = shown("leases", waybill::testing::lease_conformance(
                                    [&] { return leases_at(address_of(fresh_schema(), "5s")); },
                                    [](const leases_at& l) { return leases_at(l.address()); },
                                    [](auto f, auto g) {
                                        std::thread other(f);
                                        g();
                                        other.join();
                                    },
                                    [](const leases_at& l, const waybill::partition_key&) {
                                        engines::postgres by_hand(l.address());
                                        by_hand.connect();
                                        by_hand.exec("DELETE FROM leases");
                                    }));
    leases_at nowhere("host=127.0.0.1 port=1 connect_timeout=2");
    wrong += shown("leases in an outage", waybill::testing::lease_outage_conformance(nowhere));
    const std::string both = fresh_schema();
    store_at checkpoints(both);
    engines::postgres_leases leases(checkpoints.db());
    leases_at other(address_of(both, "50ms"));
    return wrong +
           shown("fence", waybill::testing::fence_conformance(checkpoints.bare(), leases, other));
}

}  // namespace

int main(int count, char** argv)
{
    if (count != 4) return 2;
    where = argv[1];
    int wrong = conforms();
    wrong += leases_conform();
    wrong += races();
    wrong += ends();
    wrong += cuts();
    wrong += kills(argv[2], argv[3]);
    return wrong == 0 ? 0 : 1;
}
