// SPDX-License-Identifier: MIT
//
// dead_letter_rules: the rules of the dead letters of a store (`put`, `find`).
//
// A part of conformance.hpp.

#ifndef WAYBILL_TESTING_DETAIL_DEAD_LETTER_RULES_HPP
#define WAYBILL_TESTING_DETAIL_DEAD_LETTER_RULES_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// A dead letter of event 1. Except for key and sequence, each field differs from `letter_of`, and
/// `body` and `at.offset` are empty.
[[nodiscard]] inline dead_letter replacement_letter(const partition_key& key)
{
    dead_letter d = letter_of(key, 1, "another reason");
    d.kind = fault_kind::transient;
    d.tries = 4'000'000'000U;
    d.at.offset.clear();
    d.body.clear();
    d.occurred = wall_time::at(duration::nanoseconds(-1));
    d.dead_lettered_at = wall_time::at(duration::nanoseconds(1'700'000'000'123'456'789));
    d.kept = dead_letter_body::discard;
    d.size = (std::uint64_t{1} << 63U) + 1;
    d.checksum = 0xFFFF'FFFEU;
    return d;
}

template <class S>
void put_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "0");
    const dead_letter a = letter_of(key, 1, "first");
    const dead_letter replacement = replacement_letter(key);
    t.holds(t.missing(s, a), "find: a dead letter that was never put is absent");
    t.holds(t.put(s, a) && t.has(s, a), "put: a committed letter is found");
    t.holds(t.missing(s, letter_of(key, 2, "")), "find: returns the letter of this event only");
    t.holds(t.put(s, replacement), "put: a second dead letter of the same event is no error");
    t.holds(t.has(s, replacement),
            "put: a second dead letter of the same event replaces the first, every field");
    dead_letter bare = letter_of(key, 1, "");
    bare.body.clear();
    t.holds(t.put(s, bare) && t.has(s, bare),
            "put: an empty or absent field replaces what was there, and is not NULL");
    if (auto tx = t.open(s)) {
        const bool both = s.put(*tx, a) && s.put(*tx, replacement) && t.committed(*tx);
        t.holds(both && t.has(s, replacement),
                "put: within a transaction the last one counts, too");
    }
}

/// All values of the enumerations; times and numbers at their limits.
template <class S>
void letter_value_rules(trial& t, S& s)
{
    dead_letter d = letter_of(key_of("orders", "billing", "1"), 1, "first");
    bool kinds = true;
    for (int n = 0; n <= static_cast<int>(fault_kind::cancelled); ++n) {
        d.kind = static_cast<fault_kind>(n);
        kinds = t.put(s, d) && t.has(s, d) && kinds;
    }
    t.holds(kinds, "put: keeps every fault_kind");
    bool kept = true;
    for (int n = 0; n <= static_cast<int>(dead_letter_body::discard); ++n) {
        d.kept = static_cast<dead_letter_body>(n);
        kept = t.put(s, d) && t.has(s, d) && kept;
    }
    t.holds(kept, "put: keeps every dead_letter_body");
    bool times = true;
    for (const std::int64_t ns : {INT64_MIN, INT64_MIN + 1, std::int64_t{-1'000'000'001},
                                  std::int64_t{1}, std::int64_t{1'000'000'001}, INT64_MAX}) {
        d.occurred = d.dead_lettered_at = wall_time::at(duration::nanoseconds(ns));
        times = t.put(s, d) && t.has(s, d) && times;
    }
    t.holds(times, "put: keeps times in nanoseconds, of 64 bits");
    bool numbers = true;
    for (const std::uint64_t n : numbers_of_64_bits) {
        d.size = n;
        d.tries = static_cast<std::uint32_t>(n);
        d.checksum = static_cast<std::uint32_t>(n);
        numbers = t.put(s, d) && t.has(s, d) && numbers;
    }
    t.holds(numbers, "put: keeps numbers of all bits");
}

/// Any bytes in each text field. Only one field is varied at a time, so that a broken rule names
/// the field.
template <class S>
void letter_text_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "2");
    const dead_letter plain = letter_of(key, 1, "first");
    const auto keeps = [&](const dead_letter& d) { return t.put(s, d) && t.has(s, d); };
    std::vector<std::string> texts = odd_texts();
    for (std::string& text : sized_values(0, largest, true)) texts.push_back(std::move(text));
    for (const std::string& text : texts) {
        dead_letter reason = plain;
        reason.reason = text;
        t.holds(keeps(reason), "put: takes any bytes in a reason, and keeps them as they are");
        dead_letter body = plain;
        body.body = text;
        t.holds(keeps(body), "put: takes any bytes in a body, and keeps them as they are");
        if (text.size() > 1'024) continue;
        dead_letter offset = plain;
        offset.at.offset = text;
        t.holds(keeps(offset), "put: takes any bytes in an offset, and keeps them as they are");
    }
    dead_letter sized = plain;
    for (const std::uint64_t size : {127U, 128U, 255U, 256U, 511U, 512U, 1'024U}) {
        sized.at.offset = varied_bytes(size, size);
        t.holds(keeps(sized), "put: keeps an offset of up to 1,024 bytes whole");
    }
    sized.at.offset = varied_bytes(70'000, 1);
    t.holds(!t.put(s, sized) || t.has(s, sized),
            "put: keeps an offset of 70,000 bytes whole, or refuses it");
    dead_letter large = plain;
    large.reason.assign(1U << 20U, 'r');
    large.body.assign((1U << 20U) + 1, '\0');
    t.holds(keeps(large), "put: takes texts of a megabyte");
}

template <class S>
void letter_sequence_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "3");
    std::vector<dead_letter> all;
    for (const partition_key& k : neighbours(key))
        all.push_back(letter_of(k, 1, k.source + k.group));
    for (const std::uint64_t n : numbers_of_64_bits)
        all.push_back(letter_of(key, n, std::to_string(n)));
    bool kept = true;
    for (const dead_letter& d : all) kept = t.put(s, d) && kept;
    for (const dead_letter& d : all) kept = t.has(s, d) && kept;
    t.holds(kept,
            "dead letters are distinguished by each part of the key and all 64 bits of the "
            "sequence");
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_DEAD_LETTER_RULES_HPP
