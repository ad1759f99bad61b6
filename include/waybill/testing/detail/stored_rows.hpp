// SPDX-License-Identifier: MIT
//
// stored_rows: creates, writes and reads the rows of a store in the conformance suite.
//
// There are three kinds of rows: checkpoint, dead letter and crash record. Most rules are the same
// for all kinds.

#ifndef WAYBILL_TESTING_DETAIL_STORED_ROWS_HPP
#define WAYBILL_TESTING_DETAIL_STORED_ROWS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <waybill/consume/stores.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// Creates, writes and reads rows of one kind. `write` replaces `from` by `to` within a
/// transaction; either may be absent. It returns whether the store accepted the write.
template <class Row>
struct rows_of;

template <>
struct rows_of<checkpoint> {
    static constexpr std::string_view plural = "checkpoints";
    static constexpr std::string_view first = "a first checkpoint";
    static constexpr std::string_view replaced = "a checkpoint that moved";
    static constexpr std::string_view removed = "a checkpoint that was reset";
    template <class S>
    static constexpr bool removed_by = checkpoint_reset<S>;

    static checkpoint make(const partition_key&, std::uint64_t n)
    {
        return {{n, "offset " + std::to_string(n)}, 1};
    }
    template <class S>
    static auto read(S& s, const partition_key& key)
    {
        return s.load(key);
    }
    template <class S, class Tx>
    static bool write(S& s, Tx& tx, const partition_key& key, const std::optional<checkpoint>& from,
                      const std::optional<checkpoint>& to)
    {
        result<advance_outcome> r = advance_outcome::conflict;
        const auto start = from ? std::optional(from->at) : std::optional<position>();
        if (to) r = s.advance(tx, key, start, to->at, to->epoch);
        if constexpr (checkpoint_reset<S>) {
            if (!to && from) r = s.reset(tx, key, from->at, from->epoch);
        }
        return r && *r == advance_outcome::applied;
    }
};

template <>
struct rows_of<dead_letter> {
    static constexpr std::string_view plural = "dead letters";
    static constexpr std::string_view first = "a first dead letter";
    static constexpr std::string_view replaced = "a dead letter that was replaced";
    static constexpr std::string_view removed = "a dead letter that was removed";
    template <class S>
    static constexpr bool removed_by = dead_letter_queue<S>;

    /// The sequence of all dead letters of these rules.
    static constexpr std::uint64_t sequence = 7;

    static dead_letter make(const partition_key& key, std::uint64_t n)
    {
        return letter_of(key, sequence, "reason " + std::to_string(n));
    }
    template <class S>
    static auto read(S& s, const partition_key& key)
    {
        return s.find(key, sequence);
    }
    template <class S, class Tx>
    static bool write(S& s, Tx& tx, const partition_key& key,
                      const std::optional<dead_letter>& from, const std::optional<dead_letter>& to)
    {
        if (to) return s.put(tx, *to).has_value();
        if constexpr (dead_letter_queue<S>) {
            const auto r = s.remove(tx, key, sequence);
            return r && *r == from.has_value();
        }
        return false;
    }
};

template <>
struct rows_of<crash_record> {
    static constexpr std::string_view plural = "crash records";
    static constexpr std::string_view first = "a first crash record";
    static constexpr std::string_view replaced = "a crash record that was replaced";
    static constexpr std::string_view removed = "a crash record that was cleared";
    template <class S>
    static constexpr bool removed_by = crash_record_store<S>;

    static crash_record make(const partition_key&, std::uint64_t n)
    {
        return {.from = n, .to = n + 2, .suspects = n + 1, .incarnation = 1, .epoch = 1};
    }
    template <class S>
    static auto read(S& s, const partition_key& key)
    {
        return s.load_crash_record(key);
    }
    template <class S, class Tx>
    static bool write(S& s, Tx& tx, const partition_key& key, const std::optional<crash_record>&,
                      const std::optional<crash_record>& to)
    {
        return to ? s.store_crash_record(tx, key, *to).has_value()
                  : s.clear_crash_record(tx, key).has_value();
    }
};

/// True if `list` returns exactly this dead letter for its key, or no dead letter if `row` is
/// empty. Also true if the store has no `list`, and for other kinds of rows.
template <class Row, class S>
[[nodiscard]] bool lists_only(S& s, const partition_key& key, const std::optional<Row>& row)
{
    if constexpr (dead_letter_queue<S> && std::is_same_v<Row, dead_letter>) {
        const auto r = s.list(key, {}, 3);
        return r && (row ? r->size() == 1 && r->front() == *row : r->empty());
    }
    return true;
}

/// True if each call that reads the row of `key` returns exactly `row`.
template <class Row, class S>
[[nodiscard]] bool row_is(S& s, const partition_key& key, const std::optional<Row>& row)
{
    const auto r = rows_of<Row>::read(s, key);
    return r && *r == row && lists_only(s, key, row);
}

/// Writes in a separate transaction. Returns whether the write was committed.
template <class Row, class S>
bool commit_write(trial& t, S& s, const partition_key& key, const std::optional<Row>& from,
                  const std::optional<Row>& to)
{
    auto tx = t.open(s);
    return tx && rows_of<Row>::write(s, *tx, key, from, to) && t.committed(*tx);
}

/// One write: the committed row before it, and the row after it.
template <class Row>
struct change {
    std::string_view name;
    partition_key key{};
    std::optional<Row> from{};
    std::optional<Row> to{};
};

/// Calls f(std::type_identity<Row>()) for each kind of rows that the store keeps.
template <class S, class F>
void for_each_kind(F f)
{
    if constexpr (checkpoint_store<S>) f(std::type_identity<checkpoint>());
    if constexpr (dead_letter_store<S>) f(std::type_identity<dead_letter>());
    if constexpr (crash_record_store<S>) f(std::type_identity<crash_record>());
}

/// Calls f(change) for a first, a replaced and a removed row of each kind that the store keeps.
/// Each change has a separate key. If the store cannot remove rows of a kind, there is no removed
/// row.
template <class S, class F>
void for_each_change(const std::string& source, F f)
{
    for_each_kind<S>([&]<class Row>(std::type_identity<Row>) {
        using rows = rows_of<Row>;
        const auto key = [&](const char* part) {
            return key_of(source, std::string(rows::plural), part);
        };
        const auto row = [&](const char* part, std::uint64_t n) {
            return std::optional(rows::make(key(part), n));
        };
        f(change<Row>{rows::first, key("1"), {}, row("1", 1)});
        f(change<Row>{rows::replaced, key("2"), row("2", 1), row("2", 2)});
        if constexpr (rows::template removed_by<S>) {
            f(change<Row>{rows::removed, key("3"), row("3", 1), {}});
        }
    });
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_STORED_ROWS_HPP
