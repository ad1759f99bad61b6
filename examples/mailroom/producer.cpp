// SPDX-License-Identifier: MIT

#include "producer.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <waybill/ext/fmt.hpp>

namespace mailroom {

namespace {

engines::database& with_bookmark(engines::database& db)
{
    db.exec(
        "CREATE TABLE IF NOT EXISTS bookmark (id INTEGER PRIMARY KEY CHECK (id = 1),"
        " byte INTEGER NOT NULL, line INTEGER NOT NULL)");
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

// The limit is in the queue's manual; of the headers nobody has said anything.
producer::producer(engines::database& db, engines::sqlite_queue& queue, phases& at, teller tell)
    : queue_(queue),
      at_(at),
      tell_(std::move(tell)),
      bookmark_(db),
      sender_(waybill::send_policy{.limit = {.bytes = queue.limit()}})
{
}

void producer::send(const std::vector<event>& batch)
{
    // Larger than the limit even without a header: there is no need to ask.
    if (batch.size() == 1 && batch.front().body.size() > queue_.limit()) {
        return put_marker(batch.front(), batch.front().body.size());
    }
    const auto body = [](const event& e) { return e.body.size(); };
    const waybill::send_report report =
        waybill::send_all(batch, body, sender_, waybill::steady_time{},
                          [this](const auto& part) { return enqueue(part); });

    // This queue accepts or refuses, and so an event is in it, or it was refused when it was alone
    // and its marker is.
    for (const waybill::item_report& r : report.outcomes) {
        if (r.outcome == waybill::item_outcome::accepted) continue;
        if (r.outcome == waybill::item_outcome::too_large) continue;
        throw std::runtime_error(fmt::format("an event did not get into the queue: {}", r));
    }
}

template <class Batch>
waybill::send_outcome producer::enqueue(const Batch& batch)
{
    const event* last = nullptr;
    messages_.clear();
    for (const event& e : batch) {
        messages_.push_back(to_message(e));
        last = &e;
    }
    const waybill::send_outcome answer = try_enqueue(last->next);
    const auto* refused = std::get_if<waybill::refused>(&answer);
    if (refused && batch.size() == 1) put_marker(*last, refused->actual.value_or(0));
    return answer;
}

waybill::send_outcome producer::try_enqueue(const place& next)
{
    const waybill::send_outcome answer = queue_.enqueue(messages_, [&] { bookmark_.store(next); });
    if (const auto* refused = std::get_if<waybill::refused>(&answer)) {
        tell_(fmt::format("refused {}", refused->actual.value_or(0)));
    } else {
        tell_("accepted");
    }
    return answer;
}

/// An event that is too large by itself. Its marker takes its place in the order at once, before
/// anything that follows: what the bookmark has passed is in the queue.
void producer::put_marker(const event& e, std::uint64_t bytes)
{
    at_.reach("enqueue.marker", e.begin);
    const std::string reason =
        fmt::format("too large: {} bytes where the limit is {}", bytes, queue_.limit());
    messages_.assign(1, to_message(marker_of(e, reason)));
    const waybill::send_outcome taken = try_enqueue(e.next);
    if (!std::holds_alternative<waybill::accepted>(taken)) {
        throw std::runtime_error("the queue refuses even the marker of an event");
    }
}

}  // namespace mailroom
