// SPDX-License-Identifier: MIT
//
// The same job without waybill, in the usual form, with the same queue and the same ledger.
//
// The sender follows a well-known article on large batches. It knows the size of bodies and assumes
// a fixed size of headers. A refusal raises that size or lowers the limit. Then the whole list is
// sent again, and the loop continues with the old pieces. There is one difference: if a single
// message is too large, the published code recurses without end; this one drops the message.
//
// The consumer writes each effect at once, the checkpoint after the batch, and logs what fails.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "event.hpp"
#include "job.hpp"
#include "ledger.hpp"
#include "producer.hpp"

namespace mailroom {

namespace {

constexpr std::size_t lines_per_list = 1'000;
constexpr std::size_t events_per_read = 100;

class article_sender {
public:
    article_sender(engines::sqlite_queue& queue, const progress_sink& progress)
        : queue_(queue), progress_(progress)
    {
    }

    void send(const std::vector<event>& list)
    {
        for (const std::vector<engines::message>& piece : cut(list)) {
            const waybill::send_outcome answer = queue_.enqueue(piece, [] {});
            const auto* refused = waybill::get_if<waybill::batch_sender::too_large>(&answer);
            if (!refused) {
                progress_("accepted");
                continue;
            }
            progress_(fmt::format("refused {}", refused->actual.value_or(0)));
            if (piece.size() == 1) continue;
            std::uint64_t largest = 0;
            for (const event& e : list)
                largest = std::max<std::uint64_t>(largest, to_message(e).header.size());
            if (largest > header_) header_ = largest;
            else limit_ -= limit_ / 20;
            send(list);
        }
    }

private:
    [[nodiscard]] std::vector<std::vector<engines::message>> cut(
        const std::vector<event>& list) const
    {
        std::vector<std::vector<engines::message>> pieces;
        std::uint64_t bytes = 0;
        for (const event& e : list) {
            const std::uint64_t own = e.body.size() + header_;
            if (pieces.empty() || bytes + own > limit_) {
                pieces.emplace_back();
                bytes = 0;
            }
            pieces.back().push_back(to_message(e));
            bytes += own;
        }
        return pieces;
    }

    engines::sqlite_queue& queue_;
    const progress_sink& progress_;
    std::uint64_t header_ = 54;
    std::uint64_t limit_ = queue_.limit();
};

class naive_consumer {
public:
    naive_consumer(engines::database& sink, engines::sqlite_queue& queue, phases& at)
        : queue_(queue),
          ledger_(sink, at),
          get_(prepared(sink), "SELECT sequence FROM checkpoint"),
          set_(sink, "INSERT OR REPLACE INTO checkpoint VALUES (1, ?)"),
          reached_(static_cast<std::uint64_t>(get_.number().value_or(0)))
    {
    }

    void drain()
    {
        for (;;) {
            std::vector<delivery> batch;
            queue_.read(reached_, events_per_read, [&](auto number, auto header, auto body) {
                batch.push_back(to_delivery(number, header, body));
            });
            if (batch.empty()) return;
            for (const delivery& d : batch) static_cast<void>(ledger_.apply(d));  // would be logged
            reached_ = batch.back().sequence;
            set_.run(reached_);
            queue_.trim(reached_);
        }
    }

    [[nodiscard]] std::uint64_t reached() const noexcept { return reached_; }

private:
    static engines::database& prepared(engines::database& db)
    {
        db.exec("CREATE TABLE IF NOT EXISTS checkpoint (id INTEGER PRIMARY KEY, sequence INTEGER)");
        return db;
    }

    engines::sqlite_queue& queue_;
    ledger ledger_;
    engines::statement get_;
    engines::statement set_;
    std::uint64_t reached_;
};

}  // namespace

void run_naive_job(const options& o, phases& at, const progress_sink& progress)
{
    engines::database queue_db(queue_in(o.db));
    engines::database sink_db(sink_in(o.db));
    engines::sqlite_queue queue(queue_db, o.limit);
    bookmark mark(queue_db);
    article_sender out(queue, progress);
    naive_consumer in(sink_db, queue, at);

    place position = mark.load();
    line_reader file(o.input, position, std::max<std::size_t>(o.limit, longest_line));
    queue.watch = [&](engines::enqueue_step s) {
        if (s == engines::enqueue_step::insert) at.reach("enqueue.insert", position.byte);
    };
    std::vector<event> list;
    for (bool more = true; more;) {
        list.clear();
        place next = position;
        while (list.size() < lines_per_list) {
            std::optional<line> l = file.next();
            more = l.has_value();
            if (!more) break;
            next = l->next;
            if (l->blank()) continue;
            event e = parse(*std::move(l));
            if (!e.marker) list.push_back(std::move(e));  // what cannot be parsed would be logged
        }
        out.send(list);
        position = next;
        mark.store(position);
        in.drain();
        progress(fmt::format("at {} {} {}", position.byte, queue.last(), in.reached()));
    }
}

}  // namespace mailroom
