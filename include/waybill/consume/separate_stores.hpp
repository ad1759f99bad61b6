// SPDX-License-Identifier: MIT
//
// separate_stores: checkpoints and dead letters that share no transaction with anything.
//
// `process_at_least_once` writes to a checkpoint_writer and a dead_letter_sink. Examples: the
// offsets of a log, and a dead-letter topic.
//
// `checkpoint_writer_for` and `dead_letter_sink_for` adapt a transactional store to these concepts.
// Each write is a transaction of its own.

#ifndef WAYBILL_CONSUME_SEPARATE_STORES_HPP
#define WAYBILL_CONSUME_SEPARATE_STORES_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <waybill/consume/detail/checked_stores.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/result.hpp>

namespace waybill::inline v0_2 {

/// A store of checkpoints:
///
///     load(key)                     returns the committed checkpoint, no value if there is none,
///                                   or an error
///     commit(key, from, to, epoch)  durable compare-and-set: writes `to` only if `from` is stored.
///                                   After an error the outcome is unknown
///
/// A store may ignore `from` if it fences by other means. Example: a consumer group that rejects
/// commits of an old generation. If a store keeps no epochs, load() returns the last epoch that
/// commit() received.
template <class C>
concept checkpoint_writer =
    requires(C& c, const partition_key& key, const std::optional<position>& from,
             const position& to, std::uint64_t epoch) {
        { c.load(key) } -> std::same_as<result<std::optional<checkpoint>>>;
        { c.commit(key, from, to, epoch) } -> std::same_as<result<advance_outcome>>;
    };

/// A store of dead letters. put() returns success after the dead letter is durable. A letter that
/// is sent and not acknowledged is an error. The same letter may be put twice; its key and sequence
/// identify it.
template <class L>
concept dead_letter_sink = requires(L& l, const dead_letter& letter) {
    { l.put(letter) } -> std::same_as<result<void>>;
};

namespace detail {

/// Commits the transaction of one call. An error of commit() is returned unchanged. The outcomes
/// `not_applied` and `unknown` become an `infrastructure` error, whose text begins with `subject`.
template <detail::transaction_scope Tx>
[[nodiscard]] result<void> commit_call(Tx& tx, const char* subject)
{
    const result<commit_outcome> c = tx.commit();
    if (!c) return unexpected(c.error());
    if (*c == commit_outcome::applied) return {};
    return unexpected(
        infrastructure(std::string("the commit of ") + subject + " is " + std::string(name(*c))));
}

}  // namespace detail

/// A checkpoint_writer that uses a transactional store. The store must outlive it.
template <class Store>
class checkpoint_writer_for {
    static_assert(detail::checked_checkpoint_store<Store>::ok);

public:
    explicit checkpoint_writer_for(Store& store) : store_(&store) {}

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
        auto advanced = store_->advance(*tx, key, from, to, epoch);
        if (!advanced || *advanced != advance_outcome::applied) {
            tx->rollback();
            return advanced;
        }
        auto committed = detail::commit_call(*tx, "the checkpoint");
        if (!committed) return unexpected(committed.error());
        return advanced;
    }

private:
    Store* store_;
};

/// A dead_letter_sink that uses a transactional store. The store must outlive it.
template <class Store>
class dead_letter_sink_for {
    static_assert(detail::checked_dead_letter_store<Store>::ok);

public:
    explicit dead_letter_sink_for(Store& store) : store_(&store) {}

    [[nodiscard]] result<void> put(const dead_letter& letter)
    {
        auto tx = store_->begin();
        if (!tx) return unexpected(tx.error());
        if (auto written = store_->put(*tx, letter); !written) {
            tx->rollback();
            return written;
        }
        return detail::commit_call(*tx, "the dead letter");
    }

private:
    Store* store_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_SEPARATE_STORES_HPP
