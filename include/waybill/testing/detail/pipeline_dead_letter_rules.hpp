// SPDX-License-Identifier: MIT
//
// pipeline_dead_letter_rules: the rules of a table of step dead letters, for
// pipeline_dead_letter_conformance.

#ifndef WAYBILL_TESTING_DETAIL_PIPELINE_DEAD_LETTER_RULES_HPP
#define WAYBILL_TESTING_DETAIL_PIPELINE_DEAD_LETTER_RULES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <waybill/session/pipeline_dead_letter_store.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// A dead letter with a different value in each field.
[[nodiscard]] inline pipeline_dead_letter step_letter_of(std::string session,
                                                         std::uint64_t sequence)
{
    pipeline_dead_letter l;
    l.properties = {std::move(session), 4, 2, 9, true};
    l.origin = {"order-17", 11, 3, 5, "first state", "original id"};
    l.sequence = sequence;
    l.message_id = "id-" + std::to_string(sequence);
    l.reason = dead_letter_reason::exhausted;
    l.cause = 12;
    l.resume_at = 4;
    l.independent = true;
    l.text = "no template";
    l.tries = 6;
    l.enqueued = wall_time::at(duration::nanoseconds(1'700'000'000'123'456'789));
    l.dead_lettered_at = wall_time::at(duration::nanoseconds(1'700'000'000'987'654'321));
    l.kept = dead_letter_body::summary;
    l.body = "body";
    l.size = 70'000;
    l.checksum = 0xFEDC'BA98;
    l.state = "state";
    l.state_omitted = true;
    return l;
}

/// A table whose calls use the connections of a way.
template <class Make, class Again>
struct step_letter_calls : connections<Make, Again> {
    using typename connections<Make, Again>::store;
    using letters = std::span<const pipeline_dead_letter>;

    step_letter_calls(Make& make, Again& again, way how, trial& to)
        : connections<Make, Again>(make, again, how), t(to)
    {
    }

    auto list()
    {
        return this->through([](auto& s) { return s.list(); });
    }
    fault upsert(const pipeline_dead_letter& l)
    {
        return written([&](auto& s) { return s.upsert(l); });
    }
    fault mark(letters all)
    {
        return written([&](auto& s) { return s.mark(all); });
    }
    fault remove(letters all)
    {
        return written([&](auto& s) { return s.remove(all); });
    }
    std::uint64_t removed_at_once()
        requires requires(store& s) { std::uint64_t{s.removed_at_once()}; }
    {
        return this->through([](auto& s) { return s.removed_at_once(); });
    }

    trial& t;

private:
    template <class F>
    fault written(F f)
    {
        fault done = this->through(f);
        return done.ok() && this->repeats() ? this->through(f) : done;
    }
};

/// The calls of the suite to a table.
template <pipeline_dead_letter_store S>
class step_letter_trial {
public:
    using letters = std::vector<pipeline_dead_letter>;
    step_letter_trial(S& s, trial& t) : store_(s), trial_(t) {}

    void upsert(const pipeline_dead_letter& l)
    {
        trial_.holds(store_.upsert(l).ok(), "upsert: succeeds if the table can be reached");
    }
    void mark(const letters& all)
    {
        trial_.holds(store_.mark(all).ok(),
                     "mark: succeeds if the table can be reached, also for a missing dead letter");
    }
    void remove(const letters& all)
    {
        trial_.holds(store_.remove(all).ok(),
                     "remove: succeeds if the table can be reached, also "
                     "for a missing dead letter");
    }
    /// True if the table contains exactly these dead letters.
    [[nodiscard]] bool contains(letters expected)
    {
        auto listed = store_.list();
        trial_.holds(listed.has_value(), "list: succeeds if the table can be reached");
        if (!listed) return false;
        const auto by_key = [](const pipeline_dead_letter& a, const pipeline_dead_letter& b) {
            return a.properties.session != b.properties.session
                       ? a.properties.session < b.properties.session
                       : a.sequence < b.sequence;
        };
        std::sort(listed->begin(), listed->end(), by_key);
        std::sort(expected.begin(), expected.end(), by_key);
        return *listed == expected;
    }

private:
    S& store_;
    trial& trial_;
};

template <class X>
void step_letter_upsert_rules(X& s)
{
    trial& t = s.t;
    step_letter_trial<X> table(s, t);
    t.holds(table.contains({}), "list: an empty table has no dead letters, which is no error");
    const pipeline_dead_letter stored = step_letter_of("order-17~2", 7);
    table.upsert(stored);
    t.holds(table.contains({stored}), "upsert: all fields are stored unchanged");
    table.upsert(stored);
    t.holds(table.contains({stored}), "upsert: the same session and sequence is one row");

    pipeline_dead_letter again = stored;
    again.text = "no template, again";
    again.state.clear();
    again.state_omitted = false;
    pipeline_dead_letter merged = pipeline_dead_letter::merged(stored, again);
    table.upsert(again);
    t.holds(table.contains({merged}),
            "upsert: the row is the result of merged(stored, written): a missing state is kept");

    pipeline_dead_letter marked = merged;
    marked.last_redriven_step = 9;
    table.mark({marked});
    merged = pipeline_dead_letter::with_mark(merged, marked);
    table.upsert(again);
    merged = pipeline_dead_letter::merged(merged, again);
    t.holds(table.contains({merged}), "upsert: the mark of a stored dead letter is kept");

    pipeline_dead_letter of_broker = stored;
    of_broker.reason = dead_letter_reason::broker;
    of_broker.text = "delivered 10 times";
    table.upsert(of_broker);
    merged = pipeline_dead_letter::merged(merged, of_broker);
    t.holds(table.contains({merged}),
            "upsert: a dead letter of the broker does not replace one of a pipeline");
}

template <class X>
void step_letter_mark_rules(X& s)
{
    trial& t = s.t;
    step_letter_trial<X> table(s, t);
    pipeline_dead_letter a = step_letter_of("order-1", 7);
    pipeline_dead_letter b = step_letter_of("order-1", 8);
    const pipeline_dead_letter other = step_letter_of("order-2", 7);
    table.upsert(a);
    table.upsert(b);
    table.upsert(other);

    pipeline_dead_letter of_a = a;
    of_a.last_redriven_step = 5;
    of_a.resume_at = 3;
    of_a.properties.total = 8;
    of_a.text = "another reason";
    of_a.body = "another body";
    pipeline_dead_letter of_b = b;
    of_b.last_redriven_step = 6;
    table.mark({of_a, of_b});
    a = pipeline_dead_letter::with_mark(a, of_a);
    b = pipeline_dead_letter::with_mark(b, of_b);
    t.holds(table.contains({a, b, other}),
            "mark: changes last_redriven_step, resume_at and the total of these dead letters, and "
            "nothing else");

    of_a.last_redriven_step = 4;
    of_a.resume_at = 2;
    table.mark({of_a});
    t.holds(table.contains({a, b, other}), "mark: a lower mark changes nothing");

    table.mark({step_letter_of("order-3", 7), step_letter_of("order-1", 9)});
    t.holds(table.contains({a, b, other}), "mark: a missing dead letter stays absent");
    table.mark({});
    t.holds(table.contains({a, b, other}), "mark: without dead letters it changes nothing");
}

template <class X>
void step_letter_remove_rules(X& s)
{
    trial& t = s.t;
    step_letter_trial<X> table(s, t);
    const pipeline_dead_letter a = step_letter_of("order-1", 7);
    const pipeline_dead_letter b = step_letter_of("order-1", 70);
    const pipeline_dead_letter other = step_letter_of("order-2", 7);
    const pipeline_dead_letter last = step_letter_of("order-2", 700);
    for (const pipeline_dead_letter& l : {a, b, other, last}) table.upsert(l);
    table.remove({a, last});
    t.holds(table.contains({b, other}), "remove: removes these dead letters and no other");
    table.remove({a, b});
    t.holds(table.contains({other}),
            "remove: a missing dead letter is no error, and the others "
            "are removed");
    table.remove({});
    t.holds(table.contains({other}), "remove: without dead letters it removes nothing");
    table.upsert(a);
    t.holds(table.contains({a, other}), "upsert: a removed dead letter can be written again");
    if constexpr (requires { std::uint64_t{s.removed_at_once()}; })
        t.holds(s.removed_at_once() >= 1, "removed_at_once: is at least 1");
}

template <class X>
void step_letter_bytes_rules(X& s)
{
    trial& t = s.t;
    step_letter_trial<X> table(s, t);
    std::vector<pipeline_dead_letter> all;
    std::uint64_t sequence = 0;
    std::vector<std::string> texts = odd_texts();
    for (std::string& value : sized_values(0, ~std::uint64_t{0}, true))
        texts.push_back(std::move(value));
    for (const std::string& text : texts) {
        pipeline_dead_letter l = step_letter_of("bytes", ++sequence);
        l.text = value_of(text.size() > 4'097 ? 4'097 : text.size(), false);
        l.body = l.state = l.origin.state = text;
        all.push_back(std::move(l));
    }
    for (const pipeline_dead_letter& l : all) table.upsert(l);
    t.holds(table.contains(all),
            "upsert: bodies and states of all bytes and of 0, 1, 255, 256, 4,097 and 70,000 bytes, "
            "and texts of up to 4,097 bytes, are stored unchanged");
    table.remove(all);

    all.clear();
    for (const std::uint64_t n : numbers_of_64_bits) {
        pipeline_dead_letter l = step_letter_of("numbers", n);
        l.properties.step = l.properties.first = l.properties.total = n;
        l.origin.sequence = l.origin.tries = l.origin.generation = n;
        l.cause = l.resume_at = l.tries = l.size = n;
        l.checksum = static_cast<std::uint32_t>(n);
        all.push_back(std::move(l));
    }
    for (const pipeline_dead_letter& l : all) table.upsert(l);
    t.holds(table.contains(all), "upsert: sequences and counts have 64 bits");
    table.remove(all);
    t.holds(table.contains({}), "remove: finds sequences of 64 bits");

    all.clear();
    for (const std::string& name : similar_names()) all.push_back(step_letter_of(name, 7));
    for (const pipeline_dead_letter& l : all) table.upsert(l);
    t.holds(table.contains(all), "upsert: sessions are compared byte for byte");
    for (pipeline_dead_letter& l : all) l.last_redriven_step = 9;
    for (const pipeline_dead_letter& l : all) table.mark({l});
    t.holds(table.contains(all), "mark: sessions are compared byte for byte");
    while (!all.empty()) {
        table.remove({all.back()});
        all.pop_back();
        t.holds(table.contains(all), "remove: sessions are compared byte for byte");
    }
}

/// With many dead letters: a table that lists in pages has to list all pages.
template <class X>
void step_letter_count_rules(X& s)
{
    trial& t = s.t;
    constexpr std::size_t more_than_a_page = 1'100;
    step_letter_trial<X> table(s, t);
    std::vector<pipeline_dead_letter> all;
    for (std::size_t n = 0; n != more_than_a_page; ++n)
        all.push_back(step_letter_of("order-" + std::to_string(n / 7), n));
    for (const pipeline_dead_letter& l : all) table.upsert(l);
    t.holds(table.contains(all), "list: returns all dead letters");
    for (pipeline_dead_letter& l : all) l.last_redriven_step = 9;
    table.mark(all);
    t.holds(table.contains(all), "mark: marks any number of dead letters");
    table.remove(all);
    t.holds(table.contains({}), "remove: removes any number of dead letters");
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_PIPELINE_DEAD_LETTER_RULES_HPP
