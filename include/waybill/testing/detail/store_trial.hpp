// SPDX-License-Identifier: MIT
//
// store_trial: a store whose calls use the connections of a way, and the list of the rules of
// conformance.hpp.

#ifndef WAYBILL_TESTING_DETAIL_STORE_TRIAL_HPP
#define WAYBILL_TESTING_DETAIL_STORE_TRIAL_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/consume/process_batch.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/checkpoint_rules.hpp>
#include <waybill/testing/detail/connection_rules.hpp>
#include <waybill/testing/detail/crash_record_rules.hpp>
#include <waybill/testing/detail/dead_letter_queue_rules.hpp>
#include <waybill/testing/detail/dead_letter_rules.hpp>
#include <waybill/testing/detail/key_rules.hpp>
#include <waybill/testing/detail/race_rules.hpp>
#include <waybill/testing/detail/transaction_rules.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing::detail {

/// A new store. Each transaction and each read uses a connection of the way.
template <class Make, class Again, class Race>
class store_trial : public connections<Make, Again> {
public:
    using typename connections<Make, Again>::store;

    /// A transaction and its connection. Its rules must not assign it.
    class transaction {
    public:
        transaction(std::shared_ptr<store> at, typename store::transaction in)
            : at_(std::move(at)), in_(std::move(in))
        {
        }
        [[nodiscard]] result<commit_outcome> commit() { return in_.commit(); }
        void rollback() noexcept { in_.rollback(); }

    private:
        friend class store_trial;
        std::shared_ptr<store> at_;  // closed after the transaction has ended
        typename store::transaction in_;
    };

    store_trial(Make& make, Again& again, Race& race_, way how, trial& to)
        : connections<Make, Again>(make, again, how), race(race_), t(to)
    {
    }

    [[nodiscard]] result<transaction> begin()
    {
        auto at = this->kept();
        auto in = at->begin();
        if (!in) return unexpected(in.error());
        return transaction(std::move(at), *std::move(in));
    }

    auto load(const partition_key& key)
        requires checkpoint_store<store>
    {
        return this->through([&](auto& s) { return s.load(key); });
    }
    auto advance(transaction& tx, const partition_key& key, const std::optional<position>& from,
                 const position& to, std::uint64_t epoch)
        requires checkpoint_store<store>
    {
        return tx.at_->advance(tx.in_, key, from, to, epoch);
    }
    auto reset(transaction& tx, const partition_key& key, const position& from, std::uint64_t epoch)
        requires checkpoint_reset<store>
    {
        return tx.at_->reset(tx.in_, key, from, epoch);
    }
    auto find(const partition_key& key, std::uint64_t sequence)
        requires dead_letter_store<store>
    {
        return this->through([&](auto& s) { return s.find(key, sequence); });
    }
    auto put(transaction& tx, const dead_letter& letter)
        requires dead_letter_store<store>
    {
        return tx.at_->put(tx.in_, letter);
    }
    auto remove(transaction& tx, const partition_key& key, std::uint64_t sequence)
        requires dead_letter_queue<store>
    {
        return tx.at_->remove(tx.in_, key, sequence);
    }
    auto list(const partition_key& key, const std::optional<std::uint64_t>& after,
              std::uint64_t max_count)
        requires dead_letter_queue<store>
    {
        return this->through([&](auto& s) { return s.list(key, after, max_count); });
    }
    auto dead_letter_keys()
        requires requires(store& s) { s.dead_letter_keys(); }
    {
        return this->through([](auto& s) { return s.dead_letter_keys(); });
    }
    auto load_crash_record(const partition_key& key)
        requires crash_record_store<store>
    {
        return this->through([&](auto& s) { return s.load_crash_record(key); });
    }
    auto store_crash_record(transaction& tx, const partition_key& key, const crash_record& row)
        requires crash_record_store<store>
    {
        return tx.at_->store_crash_record(tx.in_, key, row);
    }
    auto clear_crash_record(transaction& tx, const partition_key& key)
        requires crash_record_store<store>
    {
        return tx.at_->clear_crash_record(tx.in_, key);
    }

    Race& race;
    trial& t;
};

/// The rules of all calls that the store of `X` has. `two` and `threads` name a missing argument.
template <class X>
[[nodiscard]] std::vector<rule<X>> store_rules(std::string_view two, std::string_view threads)
{
    using S = typename X::store;
    std::vector<rule<X>> all;
    if constexpr (checkpoint_store<S>) {
        all.push_back({"checkpoints: advance", [](X& x) { checkpoint_rules(x.t, x); }});
        all.push_back({"checkpoints: 64 bits", [](X& x) { wide_rules(x.t, x); }, "", 1});
        all.push_back({"checkpoints: offsets", [](X& x) { offset_rules(x.t, x); }, "", 1});
    }
    if constexpr (checkpoint_reset<S>) {
        all.push_back({"checkpoints: reset", [](X& x) { reset_rules(x.t, x); }});
        all.push_back({"checkpoints: wide", [](X& x) { wide_reset_rules(x.t, x); }, "", 1});
    }
    if constexpr (dead_letter_store<S>) {
        all.push_back({"put: replaces the letter", [](X& x) { put_rules(x.t, x); }});
        all.push_back({"put: all values", [](X& x) { letter_value_rules(x.t, x); }, "", 1});
        all.push_back({"put: sequences", [](X& x) { letter_sequence_rules(x.t, x); }, "", 1});
        all.push_back({"put: all texts", [](X& x) { letter_text_rules(x.t, x); }, "", 1});
    }
    if constexpr (dead_letter_queue<S>) {
        all.push_back({"list, remove: letters", [](X& x) { remove_rules(x.t, x); }});
        all.push_back({"list, remove: 64 bits", [](X& x) { remove_64_bit_rules(x.t, x); }, "", 1});
        all.push_back({"list, remove: order", [](X& x) { list_rules(x.t, x); }});
        all.push_back({"list, remove: keys", [](X& x) { key_list_rules(x.t, x); }});
    }
    if constexpr (crash_record_store<S>)
        all.push_back({"crash records: replaced", [](X& x) { all_crash_record_rules(x.t, x); }});
    all.push_back({"transactions: ends",
                   [](X& x) { x.with_two([&](S& s, auto&) { ending_rules_of(x.t, s); }); }, "", 1});
    all.push_back({"transactions: objects",
                   [](X& x) { x.with_two([&](S& s, auto&) { object_rules_of(x.t, s); }); }, "", 1});
    if constexpr (savepoint_scope<typename S::transaction>) {
        all.push_back({"transactions: savepoints",
                       [](X& x) { x.with_two([&](S& s, auto&) { every_savepoint_rule(x.t, s); }); },
                       "", 1});
    }
    all.push_back(
        {"connections: committed writes",
         [](X& x) { x.with_two([&](S& s, auto& other) { connection_rules(x.t, s, other); }); }, two,
         1});
    all.push_back(
        {"races: one of two transactions",
         [](X& x) { x.with_two([&](S& s, auto& other) { race_rules(x.t, s, other, x.race); }); },
         threads, 1});
    all.push_back({"keys: independent rows", [](X& x) { key_rules(x.t, x); }, "", 1, true});
    if constexpr (dead_letter_queue<S>)
        all.push_back(
            {"list, remove: pages", [](X& x) { many_letters_rules(x.t, x); }, "", 1, true});
    return all;
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_STORE_TRIAL_HPP
