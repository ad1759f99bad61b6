// SPDX-License-Identifier: MIT

#include "producer.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <waybill/ext/fmt.hpp>
#include <waybill/ext/json.hpp>

namespace mailroom {

namespace {

engines::database& with_bookmark(engines::database& db)
{
    db.exec(
        "CREATE TABLE IF NOT EXISTS bookmark (id INTEGER PRIMARY KEY CHECK (id = 1),"
        " byte INTEGER NOT NULL, line INTEGER NOT NULL)");
    return db;
}

engines::database& with_learnt(engines::database& db)
{
    db.exec(
        "CREATE TABLE IF NOT EXISTS learnt (id INTEGER PRIMARY KEY CHECK (id = 1),"
        " state TEXT NOT NULL)");
    return db;
}

}  // namespace

bookmark::bookmark(engines::database& db)
    : get_(with_bookmark(db), "SELECT byte, line FROM bookmark"),
      set_(db, "INSERT OR REPLACE INTO bookmark VALUES (1, ?, ?)")
{
}

place bookmark::load()
{
    place p;
    for (get_.query(); get_.step();) p = {get_.size(0), get_.size(1)};
    return p;
}

learnt::learnt(engines::database& db)
    : get_(with_learnt(db), "SELECT state FROM learnt"),
      set_(db, "INSERT OR REPLACE INTO learnt VALUES (1, ?)")
{
}

waybill::calibration learnt::load()
{
    std::string text;
    for (get_.query(); get_.step();) text = get_.text(0);
    // An invalid text is replaced by a new calibration.
    return waybill::parse_json<waybill::calibration>(text).value_or(waybill::calibration{});
}

void learnt::store(const waybill::calibration& c)
{
    set_.run(nlohmann::json(c).dump());
}

// The queue's limit is known. The size of headers is not; the sender learns it.
producer::producer(engines::database& db, engines::sqlite_queue& queue, phases& at,
                   progress_sink progress)
    : queue_(queue),
      at_(at),
      progress_(std::move(progress)),
      bookmark_(db),
      learnt_(db),
      sender_(waybill::send_policy{.limit = {.bytes = queue.limit()},
                                   .on_too_large = waybill::send_policy::when_too_large::replace},
              learnt_.load())
{
}

waybill::send_outcome producer::enqueue(const place& next)
{
    const waybill::send_outcome answer = queue_.enqueue(messages_, [&] {
        bookmark_.store(next);
        learnt_.store(sender_.learnt());
    });
    if (const auto* refused = waybill::get_if<waybill::batch_sender::too_large>(&answer)) {
        progress_(fmt::format("refused {}", refused->actual.value_or(0)));
    } else {
        progress_("accepted");
    }
    return answer;
}

void producer::put_marker(event& e, std::uint64_t bytes)
{
    at_.reach("enqueue.marker", e.begin);
    e = marker_of(e,
                  fmt::format("too large: {} bytes where the limit is {}", bytes, queue_.limit()));
}

void producer::check(const waybill::send_report& report)
{
    // This queue only accepts or refuses. Otherwise even the marker is too large.
    for (const waybill::item_report& r : report.outcomes) {
        if (r.outcome == waybill::item_outcome::accepted) continue;
        throw std::runtime_error(fmt::format("an event was not accepted by the queue: {}", r));
    }
}

}  // namespace mailroom
