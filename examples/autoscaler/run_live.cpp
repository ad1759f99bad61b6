// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../support/locked_folder.hpp"
#include "../support/program.hpp"
#include "live_queue.hpp"
#include "run.hpp"
#include "session.hpp"
#include <waybill/scaling/known_metrics.hpp>

namespace autoscaler {

namespace {

using namespace std::chrono_literals;

constexpr const char* resource = "orders";
/// The time limit for the remaining messages after the producer has ended.
constexpr waybill::duration longest_rest = waybill::duration::seconds(300);

/// The workers. Their number changes only by commands.
class staff {
public:
    explicit staff(live_queue& q) : queue_(q) {}

    [[nodiscard]] std::uint64_t size() { return queue_.workers().size(); }

    /// Executes the command, and returns whether it was done.
    bool follow(const scaling::command& c)
    {
        if (scaling::admit(c, last_, size()) != scaling::admission::fresh) return false;
        last_ = c.id;
        try {
            while (size() < c.to) queue_.start_worker();
            while (size() > c.to) queue_.stop_worker(queue_.workers().back());
            return true;
        } catch (const std::exception& e) {
            support::say(fmt::format("{}: {}\n", resource, e.what()));
            return false;
        }
    }

private:
    live_queue& queue_;
    std::uint64_t last_ = 0;
};

/// Cost and benefit of the run: worker seconds and the highest age of a message in seconds.
struct tally {
    double worker_seconds = 0;
    double seconds = 0;
    std::uint64_t oldest = 0;
    waybill::steady_time last = steady_now();

    void count(std::uint64_t workers, const std::vector<row>& rows)
    {
        const waybill::steady_time now = steady_now();
        const double passed = static_cast<double>((now - last).count()) / 1e9;
        last = now;
        seconds += passed;
        worker_seconds += passed * static_cast<double>(workers);
        for (const row& r : rows) {
            if (r.metric != "age" || r.value <= static_cast<double>(oldest)) continue;
            oldest = static_cast<std::uint64_t>(r.value);
        }
    }
};

/// Checks that each sent message was processed or is still in the queue.
std::string conservation(live_queue& q, std::vector<std::string>& flaws)
{
    const engines::depth_reading d = q.depth();
    if (!d) {
        flaws.push_back("the number of messages that are left is unknown: " + d.error());
        return {};
    }
    const std::uint64_t left = d->ready + d->in_flight;
    if (q.sent() != q.processed() + left) {
        flaws.push_back(fmt::format("{} messages were sent, but {} processed and {} left", q.sent(),
                                    q.processed(), left));
    }
    return fmt::format("{} sent, {} processed, {} left\n", support::counted(q.sent(), "message"),
                       support::grouped(q.processed()), support::grouped(left));
}

}  // namespace

int run_live(const options& o, rules r)
{
    const std::vector<std::string> metrics{"backlog", "in_flight", "age"};
    if (const auto bad = scaling::unknown_metric(r.policy, metrics)) {
        throw complaint(fmt::format("{}: {}", o.policy, scaling::describe(*bad)));
    }
    if (!r.policy.ladder.empty()) {
        throw complaint(o.policy +
                        ": ladder: --live has no capacity tiers; remove the field, or "
                        "name another policy");
    }
    r.source = fmt::format("a live queue in {}", live_name(o.where));
    const support::locked_folder folder(o.folder, "autoscaler");
    std::vector<std::string> flaws;
    std::string remarks;
    session s(o, r);
    end_on_request();
    {
        live_queue queue(folder.path(), o.where);
        staff workers(queue);
        tally sum;
        const std::uint64_t before = queue.sent();
        while (workers.size() < r.policy.instances.lowest) queue.start_worker();
        queue.start_producer(std::chrono::ceil<std::chrono::seconds>(
                                 static_cast<std::chrono::nanoseconds>(o.lasting)),
                             o.seed, {.quiet = 6s, .burst = 5s});
        std::optional<waybill::steady_time> quiet;  // since the producer has ended
        for (waybill::steady_time due = steady_now(); !is_over();) {
            sleep_until(due);
            if (is_over()) break;
            const engines::depth_reading depth = queue.depth();
            std::vector<row> rows = s.rows_of(resource, depth);
            const std::uint64_t count = workers.size();
            sum.count(count, rows);
            for (const decided& d : s.turn(std::move(rows), {{resource, count}})) {
                if (!d.what.command) continue;
                const bool done = workers.follow(*d.what.command);
                s.answer({resource, d.what.command->id, done, session::now()});
            }
            while (due <= steady_now()) due = due + o.every;
            if (queue.producing()) continue;
            if (!quiet) quiet = steady_now();
            const bool empty = depth && depth->ready == 0 && depth->in_flight == 0;
            if (empty && count <= r.policy.instances.lowest) break;
            if (steady_now() - *quiet >= longest_rest) break;
        }
        while (workers.size() != 0) queue.stop_worker(queue.workers().back());
        remarks += conservation(queue, flaws);
        if (queue.sent() == before && !is_over()) {
            flaws.emplace_back("the producer sent no message");
        }
        if (queue.died() != 0) {
            remarks += support::counted(queue.died(), "worker") + " ended without a stop request\n";
        }
        remarks += fmt::format(
            "{:.1f} workers on average, the maximum is {}; the highest age of a "
            "message was {} s\n",
            sum.seconds > 0 ? sum.worker_seconds / sum.seconds : 0, r.policy.instances.highest,
            sum.oldest);
    }
    const int code = s.end(std::move(flaws), std::move(remarks));
    return is_over() ? 128 + ending_signal() : code;
}

}  // namespace autoscaler
