// SPDX-License-Identifier: MIT
//
// outbox_at: an outbox that owns its connection, for suites that make outboxes one after the other.

#ifndef WAYBILL_TESTS_OUTBOX_AT_HPP
#define WAYBILL_TESTS_OUTBOX_AT_HPP

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <waybill/core/time.hpp>
#include <waybill/testing/conformance_report.hpp>

namespace engines_test {

/// All calls of an outbox on a connection of its own to `where`.
template <class Connection, class Outbox>
class outbox_at {
public:
    using message = typename Outbox::message;
    using transaction = typename Outbox::transaction;
    using claimed_rows = typename Outbox::claimed_rows;
    using positions = typename Outbox::positions;

    explicit outbox_at(std::string where)
        : where_(std::move(where)),
          db_(std::make_unique<Connection>(where_)),
          box_(std::make_unique<Outbox>(*db_))
    {
    }

    auto begin() { return box_->begin(); }
    auto add(transaction& tx, const message& m) { return box_->add(tx, m); }
    /// If the outbox can add several.
    auto add(transaction& tx, const std::vector<message>& all) { return box_->add(tx, all); }
    auto claim(std::uint64_t max_rows, waybill::wall_time now, waybill::wall_time until)
    {
        return box_->claim(max_rows, now, until);
    }
    auto hold(const claimed_rows& c, const positions& rows, waybill::wall_time until)
    {
        return box_->hold(c, rows, until);
    }
    auto mark_sent(const claimed_rows& c, const positions& rows)
    {
        return box_->mark_sent(c, rows);
    }
    auto mark_dead(const claimed_rows& c, std::uint64_t row, const std::string& reason, bool blocks)
    {
        return box_->mark_dead(c, row, reason, blocks);
    }

    [[nodiscard]] const std::string& where() const { return where_; }
    [[nodiscard]] Connection& db() { return *db_; }

private:
    std::string where_;
    std::unique_ptr<Connection> db_;
    std::unique_ptr<Outbox> box_;
};

/// Prints a report. Returns the number of its rules that are broken or untested.
inline int shown(const char* suite, const waybill::testing::conformance_report& report)
{
    for (const std::string& rule : report.broken) std::printf("broken: %s\n", rule.c_str());
    for (const std::string& rule : report.untested) std::printf("untested: %s\n", rule.c_str());
    std::printf("%s: %zu rules broken, %zu untested\n", suite, report.broken.size(),
                report.untested.size());
    return static_cast<int>(report.broken.size() + report.untested.size());
}

}  // namespace engines_test

#endif  // WAYBILL_TESTS_OUTBOX_AT_HPP
