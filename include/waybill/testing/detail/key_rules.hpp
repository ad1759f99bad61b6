// SPDX-License-Identifier: MIT
//
// key_rules: the rows of different keys are independent, for any characters in them.
//
// A part of conformance.hpp.

#ifndef WAYBILL_TESTING_DETAIL_KEY_RULES_HPP
#define WAYBILL_TESTING_DETAIL_KEY_RULES_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <waybill/testing/detail/stored_rows.hpp>
#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// Writes a row under each key, then removes every second row. Returns whether each key reads only
/// its own row. If `may_refuse`, the store may refuse a key with an error.
template <class Row, class S>
[[nodiscard]] bool keys_are_apart(trial& t, S& s, const std::vector<partition_key>& keys,
                                  bool may_refuse)
{
    using rows = rows_of<Row>;
    bool apart = true;
    std::vector<std::optional<Row>> kept;
    for (const partition_key& key : keys) {
        const auto row = std::optional(rows::make(key, kept.size()));
        const auto before = rows::read(s, key);
        const bool taken = commit_write<Row>(t, s, key, {}, row);
        // A read of a refused key may return an absent row or an error.
        apart = (before ? !*before : may_refuse) && (taken || may_refuse) && apart;
        kept.push_back(taken ? row : std::nullopt);
    }
    const auto stand = [&] {
        for (std::size_t i = 0; i != keys.size(); ++i) {
            const auto found = rows::read(s, keys[i]);
            if (found ? *found != kept[i] : !may_refuse || kept[i]) return false;
            if (kept[i] && !lists_only(s, keys[i], kept[i])) return false;
        }
        return true;
    };
    apart = apart && stand();
    if constexpr (rows::template removed_by<S>) {
        for (std::size_t i = 0; apart && i < keys.size(); i += 2) {
            if (kept[i]) apart = commit_write<Row>(t, s, keys[i], kept[i], {});
            kept[i].reset();
        }
        apart = apart && stand();
    }
    return apart;
}

/// The rules of keys, for each kind of rows.
template <class S>
void key_rules(trial& t, S& s)
{
    const std::vector<partition_key> similar = many_similar_keys();
    const std::vector<partition_key> odd = odd_keys();
    for_each_kind<S>([&]<class Row>(std::type_identity<Row>) {
        const std::string plural(rows_of<Row>::plural);
        t.holds(keys_are_apart<Row>(t, s, similar, false),
                plural + " of different keys are independent, whatever characters are in them");
        t.holds(keys_are_apart<Row>(t, s, odd, true),
                plural +
                    " of a key that a store may refuse are refused, or independent: a key is not "
                    "cut at a NUL or after 255 bytes");
    });
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_KEY_RULES_HPP
