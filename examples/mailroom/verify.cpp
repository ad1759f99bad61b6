// SPDX-License-Identifier: MIT

#include "verify.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "../engines/sqlite.hpp"
#include "../engines/sqlite_queue.hpp"
#include "consumer.hpp"
#include "event.hpp"
#include "job.hpp"

namespace mailroom {

namespace {

/// Rows of the sink, ordered by the number of their line.
class rows {
public:
    rows(engines::database& db, const char* sql) : all_(db, sql)
    {
        all_.query();
        advance();
    }

    /// The number of matching rows of this line. Rows that match no line are strays.
    template <class Same>
    std::uint64_t about(std::uint64_t line, Same&& same)
    {
        std::uint64_t n = 0;
        for (; more_ && all_.size(0) <= line; advance()) {
            if (all_.size(0) == line && same(all_)) ++n;
            else ++strays_;
        }
        return n;
    }

    std::uint64_t strays()
    {
        for (; more_; advance()) ++strays_;
        return strays_;
    }

private:
    void advance() { more_ = all_.step(); }

    engines::statement all_;
    bool more_ = false;
    std::uint64_t strays_ = 0;
};

/// Greedy batches in order with exact sizes. Their number is the minimum for this order.
class fewest_batches {
public:
    explicit fewest_batches(std::uint64_t limit) : limit_(limit) {}

    void add(const event& e)
    {
        std::uint64_t own = engines::sqlite_queue::size_of(to_message(e));
        if (engines::sqlite_queue::envelope + own > limit_) {
            own = engines::sqlite_queue::size_of(to_message(marker_of(e, "too large: ... bytes")));
        }
        if (batches_ == 0 || bytes_ + own > limit_) {
            ++batches_;
            bytes_ = engines::sqlite_queue::envelope;
        }
        bytes_ += own;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return batches_; }

private:
    std::uint64_t limit_;
    std::uint64_t bytes_ = 0;
    std::uint64_t batches_ = 0;
};

bool has_table(engines::database& db, const char* name)
{
    return engines::statement(db, "SELECT count(*) FROM sqlite_master WHERE name = ?")
               .number(std::string_view(name)) > 0;
}

}  // namespace

findings verify(const options& o, const place* from)
{
    engines::database sink(sink_in(o.db));
    findings f;
    rows applied(sink, "SELECT line, bytes, checksum FROM applied ORDER BY line");
    std::optional<rows> parked;
    if (has_table(sink, "dead_letters")) {
        parked.emplace(
            sink,
            "SELECT CAST(substr(place, 6) AS INTEGER) AS line FROM dead_letters ORDER BY line");
    }
    fewest_batches fewest(o.limit);
    line_reader file(o.input, {}, std::max<std::size_t>(o.limit, longest_line));
    while (std::optional<line> l = file.next()) {
        if (l->blank()) {
            ++f.blank;
            continue;
        }
        ++f.read;
        const std::int64_t sum = checksum(l->text);
        const std::uint64_t in = applied.about(l->number, [&](const engines::statement& row) {
            return row.size(1) == l->length && row.integer(2) == sum;
        });
        const std::uint64_t out =
            parked ? parked->about(l->number, [](const auto&) { return true; }) : 0;
        if (in != 0) ++f.applied;
        else if (out != 0) ++f.dead_lettered;
        else ++f.lost;
        f.duplicated += in + out - (in + out == 0 ? 0 : 1);
        if (from && l->begin >= from->byte) fewest.add(parse(*std::move(l)));
    }
    f.optimum = fewest.count();
    const std::uint64_t strays = applied.strays() + (parked ? parked->strays() : 0);
    if (strays != 0)
        f.wrong.push_back(fmt::format("{} rows of the sink have no line in the input", strays));
    return f;
}

std::vector<std::string> check_sums(const options& o, const findings& f)
{
    engines::database queue_db(queue_in(o.db));
    engines::database sink(sink_in(o.db));
    engines::sqlite_queue queue(queue_db, o.limit);
    std::vector<std::string> wrong;
    const auto equal = [&](std::string_view what, std::int64_t a, std::int64_t b) {
        if (a != b) wrong.push_back(fmt::format("{}: {} and {} should be equal", what, a, b));
    };
    const auto number = [&](const char* sql) {
        return engines::statement(sink, sql).number().value_or(0);
    };
    const auto events = static_cast<std::int64_t>(f.read);

    equal("rows of the ledger and events applied", number("SELECT count(*) FROM applied"),
          static_cast<std::int64_t>(f.applied));
    equal("events by second", number("SELECT sum(events) FROM seconds"),
          number("SELECT count(*) FROM applied"));
    equal("bytes by second", number("SELECT sum(bytes) FROM seconds"),
          number("SELECT sum(bytes) FROM applied"));
    equal("events by package", number("SELECT sum(events) FROM packages"),
          number("SELECT count(*) FROM applied WHERE package IS NOT NULL"));
    equal("installations", number("SELECT sum(installed) FROM packages"),
          number("SELECT count(*) FROM applied WHERE package IS NOT NULL AND event = 'installed'"));
    equal("rows of dead letters", number("SELECT count(*) FROM dead_letters"),
          static_cast<std::int64_t>(f.dead_lettered));
    equal("messages sent to the queue and events", static_cast<std::int64_t>(queue.last()), events);
    equal("messages left in the queue and 0", static_cast<std::int64_t>(queue.depth()), 0);
    equal("the checkpoint and the end of the queue", number("SELECT sequence FROM checkpoints"),
          events);
    return wrong;
}

void dump(const options& o)
{
    engines::database sink(sink_in(o.db));
    std::vector<std::string> names;
    engines::statement tables(sink,
                              "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    for (tables.query(); tables.step();) names.emplace_back(tables.text(0));
    for (const std::string& name : names) {
        engines::statement all(sink, fmt::format("SELECT rowid, * FROM {} ORDER BY rowid", name));
        for (all.query(); all.step();) {
            std::string row = name;
            for (int i = 0; i < all.columns(); ++i) {
                row += '|';
                if (all.null(i)) row += "NULL";
                else row += all.text(i);
            }
            fmt::print("{}\n", row);
        }
    }
}

}  // namespace mailroom
