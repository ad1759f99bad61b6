// SPDX-License-Identifier: MIT
//
// The log of the examples has the properties that run_partitions relies on.

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include <engines/sqlite_log.hpp>

#include <waybill/testing/log_conformance.hpp>

namespace {

int failures = 0;

void check(bool holds, const std::string& what)
{
    if (holds) return;
    ++failures;
    std::printf("%s\n", what.c_str());
}

// A log with its connection.
class connection {
public:
    explicit connection(const std::string& path)
        : db_(std::make_unique<engines::database>(path)),
          log_(std::make_unique<engines::sqlite_log>(*db_, 3))
    {
    }

    auto partitions() { return log_->partitions(); }
    auto read(const std::string& p, const std::optional<waybill::position>& after, std::uint64_t n)
    {
        return log_->read(p, after, n);
    }
    auto end(const std::string& p) { return log_->end(p); }
    void append(const std::string& p, const std::string& body)
    {
        log_->append(p, body);
        if (!std::exchange(skips_, false)) return;
        engines::statement(*db_,
                           "UPDATE log SET sequence = sequence + 4 WHERE part = ? AND sequence ="
                           " (SELECT max(sequence) FROM log AS l WHERE l.part = log.part)")
            .run(p);
    }
    void skip() { skips_ = true; }
    void truncate(const std::string& p, std::uint64_t sequence)
    {
        engines::statement(*db_, "DELETE FROM log WHERE part = ? AND sequence <= ?")
            .run(p, sequence);
    }
    void drop() { db_->exec("DROP TABLE log"); }

private:
    std::unique_ptr<engines::database> db_;
    std::unique_ptr<engines::sqlite_log> log_;
    bool skips_ = false;
};

}  // namespace

int main(int, char** argv)
{
    int logs = 0;
    const auto path = [&] {
        return std::string(argv[1]) + "/log" + std::to_string(++logs) + ".sqlite";
    };
    const auto report = waybill::testing::log_conformance(
        [&] { return connection(path()); },
        [](connection& c, const std::string& p, const std::string& body) { c.append(p, body); },
        [](connection& c, const std::string&) { c.skip(); },
        [](connection& c, const std::string& p, std::uint64_t n) { c.truncate(p, n); });
    for (const std::string& rule : report.broken) check(false, "broken: " + rule);
    for (const std::string& rule : report.untested) check(false, "untested: " + rule);
    connection gone(path());
    gone.drop();
    check(!gone.read("0", {}, 1) && !gone.end("0"), "without its table, a log returns errors");
    std::printf("%d logs, %d rules broken\n", logs, failures);
    return failures == 0 ? 0 : 1;
}
