// SPDX-License-Identifier: MIT

#include "job.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <range/v3/view/cache1.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/generate.hpp>
#include <range/v3/view/take_while.hpp>
#include <range/v3/view/transform.hpp>

#include "consumer.hpp"
#include "event.hpp"
#include "producer.hpp"
#include <waybill/batch.hpp>

namespace mailroom {

namespace {

// The consumer runs when this many messages wait. It is a compromise between a visible backlog and
// a small queue.
constexpr std::uint64_t high_water = 500;

/// The backlog over time, for a spreadsheet. After a kill a row may be missing or repeated.
class backlog_log {
public:
    explicit backlog_log(const std::string& dir) : file_(dir + "/backlog.csv", std::ios::app)
    {
        file_.seekp(0, std::ios::end);
        if (file_.tellp() == std::streampos(0)) file_ << "event_time,enqueued,applied,backlog\n";
    }

    void note(std::string_view time, std::uint64_t enqueued, std::uint64_t applied)
    {
        file_ << fmt::format("{},{},{},{}\n", time, enqueued, applied, enqueued - applied)
              << std::flush;
    }

private:
    std::ofstream file_;
};

std::function<void(engines::enqueue_step)> watching(phases& at, const std::uint64_t& byte)
{
    return [&](engines::enqueue_step s) {
        using enum engines::enqueue_step;
        at.reach(s == begin    ? "enqueue.begin"
                 : s == insert ? "enqueue.insert"
                 : s == commit ? "enqueue.commit"
                               : "enqueue.done",
                 byte);
    };
}

}  // namespace

void run_job(const options& o, phases& at, const progress_sink& progress)
{
    namespace views = ranges::views;

    engines::database queue_db(queue_in(o.db));
    engines::database sink_db(sink_in(o.db));
    engines::sqlite_queue queue(queue_db, o.limit);
    producer out(queue_db, queue, at, progress);
    consumer in(sink_db, queue, at);
    backlog_log log(o.db);

    place position = out.from();
    queue.watch = watching(at, position.byte);
    line_reader file(o.input, position, std::max<std::size_t>(o.limit, longest_line));
    std::string time;
    const auto tell_where = [&] {
        const std::uint64_t enqueued = queue.last();
        log.note(time, enqueued, in.reached());
        progress(fmt::format("at {} {} {}", position.byte, enqueued, in.reached()));
        return enqueued - in.reached();
    };

    // Lines can be read only once, so a resend_buffer keeps those that are not in the queue yet.
    auto events = views::generate([&] { return file.next(); }) |
                  views::take_while([](const std::optional<line>& l) { return l.has_value(); }) |
                  views::filter([](const std::optional<line>& l) { return !l->blank(); }) |
                  views::transform([](std::optional<line>&& l) { return parse(*std::move(l)); }) |
                  views::cache1;
    waybill::resend_buffer box(events);
    out.send(
        box,
        [&](const event& first) {
            position.byte = first.begin;
            at.reach("read", position.byte);
            progress("worked");
        },
        [&](const event& last) {
            time = last.time;
            position = last.next;
            if (tell_where() < high_water) return;
            in.drain();
            tell_where();
        });
    if (in.drain() != 0) {
        progress("worked");
        tell_where();
    }
}

}  // namespace mailroom
