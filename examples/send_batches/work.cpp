// SPDX-License-Identifier: MIT

#include "work.hpp"

#include <chrono>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "../support/environment.hpp"
#include "check.hpp"
#include "known.hpp"
#include <waybill/ext/fmt.hpp>

namespace send_batches {

namespace {

using clock = std::chrono::steady_clock;

waybill::send_policy policy_for(const options& o, const destination& to)
{
    waybill::send_policy p{.limit = to.reported.limit};
    if (o.blind) p.limit = {.items = to.reported.limit.items};  // no refusal contains this limit
    else p.exact_sizes = to.reported.sizes;
    if (o.blind && o.limit && !to.limited) p.limit.bytes = *o.limit;
    if (o.items && *o.items < p.limit.items) p.limit.items = *o.items;
    if (const auto bad = waybill::validate(p)) {
        throw complaint(
            fmt::format("the limits are not valid: {}; change --limit or --items", *bad));
    }
    return p;
}

/// Sends one batch after the other, and reports each.
class transmitter {
public:
    transmitter(destination& to, results& r, const std::function<void(const sent&)>& show)
        : to_(to), r_(r), show_(show)
    {
    }

    template <class Batch>
    waybill::send_outcome operator()(const Batch& batch)
    {
        bodies_.clear();
        std::uint64_t bytes = to_.limit.envelope;
        for (const std::string& line : batch) {
            bodies_.push_back(line);
            bytes += to_.size_of(line.size());
        }
        const bool again = any_ && batch.attempt() == last_;
        last_ = batch.attempt();
        any_ = true;
        waybill::send_outcome o = to_.send(bodies_, batch.attempt());
        sent s{.number = ++number_, .items = batch.size(), .bytes = bytes, .again = again};
        describe(s, o);
        show_(s);
        return o;
    }

private:
    void describe(sent& s, const waybill::send_outcome& o)
    {
        const auto in_words = [&](std::string_view what) {
            s.became = what;
            s.note = to_.said();
        };
        waybill::match(
            o,
            [&](const waybill::batch_sender::accepted& a) {
                s.became = "accepted";
                s.bytes = a.actual.value_or(s.bytes);
            },
            [&](const waybill::batch_sender::too_large& x) {
                in_words("refused");
                s.bytes = x.actual.value_or(s.bytes);
                if (x.limit) {
                    r_.limit_told = true;
                    s.note += fmt::format("{}at most {}", s.note.empty() ? "" : ", ", *x.limit);
                }
            },
            [&](const waybill::batch_sender::partial& p) {
                in_words("partial");
                ++r_.partial;
                s.note = fmt::format("all but {}: {}", p.failed.size(), s.note);
            },
            [&](const waybill::batch_sender::throttled&) {
                in_words("throttled");
                ++r_.throttled;
            },
            [&](const waybill::batch_sender::failed& f) {
                in_words("failed");
                ++r_.failed;
                s.note = f.text;
            },
            [&](const waybill::batch_sender::outcome_unknown&) {
                in_words("unknown");
                ++r_.unknown;
            });
    }

    destination& to_;
    results& r_;
    const std::function<void(const sent&)>& show_;
    std::vector<std::string_view> bodies_{};
    std::uint64_t number_ = 0;
    std::uint64_t last_ = 0;
    bool any_ = false;
};

}  // namespace

results send_lines(const options& o, destination& to, const waybill::calibration& known,
                   std::istream& in, const std::function<void(const sent&)>& show)
{
    const auto begun = clock::now();
    results r;
    const waybill::send_policy policy = policy_for(o, to);
    waybill::batch_sender sender(policy, or_guess(known, policy.limit));
    r.begun = sender.learnt();

    lines input(in);
    waybill::resend_buffer box(input);
    transmitter transmit(to, r, show);
    const bool exact = to.reported.sizes && !o.blind;
    const auto size = [&](const std::string& line) -> std::uint64_t {
        return exact ? to.size_of(line.size()) : line.size();
    };
    support::standard_environment env;
    r.report = waybill::send_all(box, size, sender, transmit, env);
    if (input.broken()) r.wrong.emplace_back("the input cannot be read to its end");

    r.learnt = sender.learnt();
    r.lines = input.read().size();
    r.input_bytes = input.bytes();
    r.numbers = input.numbers();
    waybill::batch_limits real = to.limit;
    real.items = policy.limit.items;
    r.fewest = fewest(input.read(), to, real);
    check_report(r.lines, r);
    if (to.read_back) check_queue(to, input.read(), r);
    r.seconds = std::chrono::duration<double>(clock::now() - begun).count();
    return r;
}

}  // namespace send_batches
