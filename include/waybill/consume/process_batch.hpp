// SPDX-License-Identifier: MIT
//
// process_batch: each event of a batch takes effect once.
//
//     auto loaded = store.load(key);                       // absent, a value, or an error
//     if (!loaded) return pause_and_come_back(loaded.error());
//     waybill::assignment mine{key, waybill::position_of(*loaded), epoch};
//     auto r = waybill::process_batch(store, mine, events, handle, now);   // handle(tx&, event) -> fault
//     switch (r.end) {
//         case committed: mine.from = r.reached; break;
//         case redeliver: pause(); break;                  // the same events again, none has taken effect
//         case abandoned: stop_reading(mine.key); break;   // somebody else has the partition
//         ...
//
// The handler writes through the transaction that it is given. Effects, dead letters and checkpoint
// are committed together or not at all; what the handler does elsewhere is repeated when the batch
// is. Who calls decides how large a batch is: it is as long as `events`.

#ifndef WAYBILL_CONSUME_PROCESS_BATCH_HPP
#define WAYBILL_CONSUME_PROCESS_BATCH_HPP

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <waybill/consume/batch_machine.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/text.hpp>

namespace waybill::inline v0_1 {

/// Has a sequence number. May have an `offset`, a `body` for its dead letter, and a `time`.
template <class E>
concept sequenced = requires(const E& e) {
    { e.sequence } -> std::convertible_to<std::uint64_t>;
};

/// Where an event stands in its partition.
template <sequenced E>
[[nodiscard]] position position_of(const E& e)
{
    position p{static_cast<std::uint64_t>(e.sequence), {}};
    if constexpr (requires { std::string(e.offset); }) {
        p.offset = std::string(e.offset);
    } else if constexpr (requires { e.offset; }) {
        static_assert(std::integral<std::remove_cvref_t<decltype(e.offset)>>,
                      "an event's `offset` is a text or an integer");
        p.offset = std::to_string(e.offset);
    }
    return p;
}

/// Where to go on after what a store has loaded.
[[nodiscard]] inline std::optional<position> position_of(const std::optional<checkpoint>& stored)
{
    if (!stored) return {};
    return stored->at;
}

/// Takes an event into effect through a transaction.
template <class H, class Tx, class E>
concept event_handler = requires(H& handle, Tx& tx, const E& e) {
    { handle(tx, e) } -> std::convertible_to<fault>;
};

/// What one delivery of a batch came to.
struct [[nodiscard]] batch_report {
    batch_end end = batch_end::empty;
    std::optional<position> reached{};  ///< Where the checkpoint stands, if it is `committed`.
    std::uint64_t handled = 0;          ///< Events that took effect; 0 unless committed, as are these:
    std::uint64_t dead_lettered = 0;
    std::uint64_t skipped = 0;  ///< Events up to `from`, which took effect earlier.
    fault why{};                ///< What kept it from being committed.

    friend bool operator==(const batch_report&, const batch_report&) = default;
};

namespace detail {

template <class Store, class I, class Handler>
class batch_run {
    using transaction = typename Store::transaction;

public:
    batch_run(Store& store, const assignment& mine, I first, std::uint64_t events, position to,
              Handler& handler, wall_time now, const batch_policy& p)
        : store_(store), mine_(mine), first_(first), at_(first), to_(std::move(to)), handler_(handler),
          now_(now), policy_(with_savepoints(p)), machine_(events, mine.from, to_, mine.epoch, policy_)
    {
    }

    batch_report run()
    {
        while (!machine_.ended()) {
            match(machine_.next(),
                  [&](act::begin) {
                      auto begun = store_.begin();
                      if (begun) tx_.emplace(*std::move(begun));
                      machine_.on(done{seen(begun)});
                  },
                  [&](act::savepoint) {
                      if constexpr (savepoint_scope<transaction>) machine_.on(done{seen(tx_->savepoint())});
                  },
                  [&](act::handle a) {
                      const fault f = handler_(*tx_, *at(a.event));
                      const fault_class how = f.how;
                      if (how != fault_class::none) remember(a.event, f);
                      machine_.on(handled{how});
                  },
                  [&](act::release) {
                      if constexpr (savepoint_scope<transaction>) machine_.on(done{seen(tx_->release())});
                  },
                  [&](act::undo) {
                      if constexpr (savepoint_scope<transaction>) machine_.on(done{seen(tx_->undo())});
                  },
                  [&](act::dead_letter a) { machine_.on(done{seen(store_.put(*tx_, letter(a)))}); },
                  [&](act::advance) {
                      const auto r = store_.advance(*tx_, mine_.key, mine_.from, to_, mine_.epoch);
                      if (r && *r != advance_outcome::applied) {
                          why_ = ownership_lost("checkpoint " + std::string(name(*r)));
                      }
                      machine_.on(advanced{r ? *r : advance_outcome::conflict, seen(r)});
                  },
                  [&](act::commit) {
                      const auto r = tx_->commit();
                      if (!r || *r != commit_outcome::applied) why_ = infrastructure("commit not confirmed");
                      seen(r);
                      tx_.reset();
                      machine_.on(committed{r ? *r : commit_outcome::unknown});
                  },
                  [&](act::rollback) {
                      if (tx_) tx_->rollback();
                      tx_.reset();
                      machine_.on(done{});
                  },
                  [&](act::read_back) {
                      auto r = store_.load(mine_.key);
                      const fault_class how = seen(r);
                      machine_.on(loaded{how == fault_class::none ? *r : std::nullopt, how});
                  },
                  [](act::idle) {});
        }
        return report();
    }

private:
    static batch_policy with_savepoints(batch_policy p)
    {
        p.savepoints = p.savepoints && savepoint_scope<transaction>;
        return p;
    }

    /// Notes why a call failed, and answers the class of it. An error that claims to be none is one.
    template <class T>
    fault_class seen(const result<T>& r)
    {
        if (r) return fault_class::none;
        why_ = r.error();
        if (why_.how == fault_class::none) why_.how = fault_class::infrastructure;
        return why_.how;
    }

    /// Why an event failed last: for its dead letter, which may be written only after a replay.
    void remember(std::uint64_t event, const fault& f)
    {
        // A copy, since a text that is cut where it stands would keep all of its megabytes.
        why_ = {f.how, std::string(utf8_prefix(f.text, policy_.reason_bytes))};
        reasons_.insert_or_assign(event, why_.text);
    }

    I at(std::uint64_t event)
    {
        if (event < number_) {
            at_ = first_;
            number_ = 0;
        }
        for (; number_ != event; ++number_) ++at_;
        return at_;
    }

    dead_letter letter(const act::dead_letter& a)
    {
        const auto& e = *at(a.event);
        dead_letter d{mine_.key, waybill::position_of(e), a.how, {}, {}, a.tries, {}, now_};
        if (const auto why = reasons_.find(a.event); why != reasons_.end()) d.reason = why->second;
        if constexpr (requires { std::string_view(e.body); }) {
            d.body = std::string_view(e.body);
        } else if constexpr (requires { e.body; }) {
            static_assert(requires { requires sizeof(*e.body.data()) == 1; e.body.size(); },
                          "an event's `body` is a text or a contiguous range of bytes");
            for (const auto byte : e.body) d.body += static_cast<char>(byte);
        }
        if constexpr (requires { e.time; }) {
            static_assert(std::convertible_to<decltype(e.time), wall_time>,
                          "an event's `time` is a wall_time or a std::chrono::system_clock point");
            d.occurred = wall_time(e.time);
        }
        return d;
    }

    batch_report report()
    {
        batch_report r{.end = *machine_.ended()};
        if (r.end == batch_end::committed) {
            r.reached = to_;
            r.handled = machine_.handled_events();
            r.dead_lettered = machine_.dead_lettered();
        } else {
            r.why = std::move(why_);
            r.why.how = machine_.why();
        }
        return r;
    }

    Store& store_;
    const assignment& mine_;
    I first_;
    I at_;  // event number number_
    std::uint64_t number_ = 0;
    position to_;
    Handler& handler_;
    wall_time now_;
    batch_policy policy_;
    batch_machine machine_;
    std::optional<transaction> tx_;
    fault why_;
    std::map<std::uint64_t, std::string> reasons_;
};

}  // namespace detail

/// Takes `events` into effect, in order, and moves the checkpoint of `mine` to the last of them.
/// Events up to `mine.from` took effect earlier and are skipped. Sequence numbers must ascend;
/// otherwise the answer is `invalid`, and nothing is touched. `now` stands in dead letters.
/// Calls the handler once an event, and once more for each try after a transient failure; without
/// savepoints again from the first event after each failure. Reads the range that often, too.
template <class Store, std::forward_iterator I, std::sentinel_for<I> S, class Handler>
    requires checkpoint_store<Store> && dead_letter_store<Store> && sequenced<std::iter_value_t<I>> &&
             event_handler<Handler, typename Store::transaction, std::iter_value_t<I>>
[[nodiscard]] batch_report process_batch(Store& store, const assignment& mine, I first, S last,
                                         Handler&& handler, wall_time now, const batch_policy& p = {})
{
    std::uint64_t skipped = 0;
    const auto number = [](const I& at) { return static_cast<std::uint64_t>((*at).sequence); };
    for (; first != last && mine.from && number(first) <= mine.from->sequence; ++first) ++skipped;
    if (first == last) return {.end = batch_end::empty, .reached = mine.from, .skipped = skipped};

    std::uint64_t events = 1;
    I final = first;
    for (I at = std::next(first); at != last; final = at, ++at, ++events) {
        if (number(at) > number(final)) continue;
        return {.end = batch_end::invalid,
                .why = permanent("event " + std::to_string(skipped + events) + " has sequence " +
                                 std::to_string(number(at)) + ", which must be greater than " +
                                 std::to_string(number(final)) + " before it")};
    }
    detail::batch_run<Store, I, std::remove_reference_t<Handler>> delivery(
        store, mine, first, events, waybill::position_of(*final), handler, now, p);
    batch_report r = delivery.run();
    r.skipped = skipped;
    return r;
}

/// The same for a container.
template <class Store, class Events, class Handler>
[[nodiscard]] batch_report process_batch(Store& store, const assignment& mine, const Events& events,
                                         Handler&& handler, wall_time now, const batch_policy& p = {})
{
    return process_batch(store, mine, std::begin(events), std::end(events),
                         std::forward<Handler>(handler), now, p);
}

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_CONSUME_PROCESS_BATCH_HPP
