// SPDX-License-Identifier: MIT
//
// separate_stores: checkpoints and dead letters that share no transaction with anything.
//
// What `process_at_least_once` writes to. A log's own offsets and a dead-letter topic are such:
//
//   load(key)                     the committed checkpoint, absent, or an error: three answers
//   commit(key, from, to, epoch)  compares and sets, for good, only if `from` is what is stored; an
//                                 error says that nobody knows whether it was
//   put(letter)                   parks a dead letter, and answers when it is there for good: one
//                                 that is sent and not acknowledged is an error, not a success
//
// A store that fences by other means than `from` may leave it unread, as a consumer group does that
// refuses commits of an old generation. One that keeps no epochs answers load() with the one that
// it was given last. The same letter may be put twice; by key and sequence it is known again.
//
// `committing` and `parking` make the two of a transactional store, a transaction for each call.

#ifndef WAYBILL_CONSUME_SEPARATE_STORES_HPP
#define WAYBILL_CONSUME_SEPARATE_STORES_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/result.hpp>

namespace waybill::inline v0_2 {

template <class C>
concept checkpoint_writer =
    requires(C& c, const partition_key& key, const std::optional<position>& from,
             const position& to, std::uint64_t epoch) {
        { c.load(key) } -> std::same_as<result<std::optional<checkpoint>>>;
        { c.commit(key, from, to, epoch) } -> std::same_as<result<advance_outcome>>;
    };

template <class L>
concept dead_letter_sink = requires(L& l, const dead_letter& letter) {
    { l.put(letter) } -> std::same_as<result<void>>;
};

namespace detail {

/// Ends the transaction of one call: there for good, or an error.
template <transaction_scope Tx>
[[nodiscard]] result<void> finish(Tx& tx, const char* what)
{
    const result<commit_outcome> c = tx.commit();
    if (!c) return unexpected(c.error());
    if (*c == commit_outcome::applied) return {};
    return unexpected(infrastructure(std::string(what) + " is " + std::string(name(*c))));
}

}  // namespace detail

/// The checkpoints of a transactional store, which has to outlive this.
template <checkpoint_store Store>
class committing {
public:
    explicit committing(Store& store) : store_(&store) {}

    [[nodiscard]] result<std::optional<checkpoint>> load(const partition_key& key)
    {
        return store_->load(key);
    }

    [[nodiscard]] result<advance_outcome> commit(const partition_key& key,
                                                 const std::optional<position>& from,
                                                 const position& to, std::uint64_t epoch)
    {
        auto tx = store_->begin();
        if (!tx) return unexpected(tx.error());
        auto moved = store_->advance(*tx, key, from, to, epoch);
        if (!moved || *moved != advance_outcome::applied) {
            tx->rollback();
            return moved;
        }
        auto kept = detail::finish(*tx, "the checkpoint");
        if (!kept) return unexpected(kept.error());
        return moved;
    }

private:
    Store* store_;
};

/// The dead letters of a transactional store, which has to outlive this.
template <dead_letter_store Store>
class parking {
public:
    explicit parking(Store& store) : store_(&store) {}

    [[nodiscard]] result<void> put(const dead_letter& letter)
    {
        auto tx = store_->begin();
        if (!tx) return unexpected(tx.error());
        if (auto there = store_->put(*tx, letter); !there) {
            tx->rollback();
            return there;
        }
        return detail::finish(*tx, "the dead letter");
    }

private:
    Store* store_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_SEPARATE_STORES_HPP
