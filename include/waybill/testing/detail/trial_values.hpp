// SPDX-License-Identifier: MIT
//
// trial_values: keys, texts and numbers that an incorrect store changes or confuses.

#ifndef WAYBILL_TESTING_DETAIL_TRIAL_VALUES_HPP
#define WAYBILL_TESTING_DETAIL_TRIAL_VALUES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <waybill/consume/stores.hpp>

namespace waybill::inline v0_2::testing::detail {

inline constexpr std::uint64_t largest = ~std::uint64_t{0};

/// Numbers that change if stored in 32 bits, in a double or with a sign, and the changed numbers.
inline constexpr std::uint64_t numbers_of_64_bits[] = {0,
                                                       1,
                                                       5,
                                                       (std::uint64_t{1} << 32U) + 5,
                                                       std::uint64_t{1} << 53U,
                                                       (std::uint64_t{1} << 53U) + 1,
                                                       (std::uint64_t{1} << 63U) - 1,
                                                       std::uint64_t{1} << 63U,
                                                       largest};

/// `count` pseudo-random bytes, in which no sequence of 16 bytes repeats.
[[nodiscard]] inline std::string varied_bytes(std::uint64_t count, std::uint64_t seed)
{
    std::string all(count, '\0');
    unsigned shift = 64;
    for (char& byte : all) {
        if (shift == 64) {
            seed = seed * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
            shift = 32;
        }
        byte = static_cast<char>(seed >> shift);
        shift += 8;
    }
    return all;
}

/// Names that a store could confuse: by case, blanks or the collation of its database, or as
/// numbers, addresses or patterns. Some differ only in the last character.
[[nodiscard]] inline std::vector<std::string> similar_names()
{
    return {"a",
            "A",
            "a ",
            " a",
            "a  ",
            "b",
            "ab",
            "aB",
            "a b",
            "a_b",
            "a/b",
            "a\\b",
            "a#b",
            "a?b",
            "a%2Fb",
            "a+b",
            "a.b",
            "a/",
            "it's \"me\"; --%_",
            "\xC3\xA9",
            "\xC3\x89",
            "e",
            "e\xCC\x81",
            "ss",
            "\xC3\x9F",
            "a\xC2\xA0",
            "a\xC2\xAD",
            "\xEF\xBD\x81",
            "\xF0\x9F\x8D\x80",
            "\xF0\x9F\x8D\x81",
            "1",
            "01",
            "1.0",
            "null",
            "order-17~1",
            "order-17~2",
            std::string(128, 'x'),
            std::string(127, 'x'),
            std::string(127, 'x') + "y"};
}

/// The sizes of `sized_values`. Counts of 8 and 16 bits, and pages of databases, end between them.
inline constexpr std::uint64_t value_sizes[] = {0, 1, 255, 256, 4'097, 70'000};

/// `count` bytes. From 256 bytes on, they contain all values. Without `any_bytes`, they are text.
[[nodiscard]] inline std::string value_of(std::uint64_t count, bool any_bytes)
{
    std::string all = varied_bytes(count, count + 1);
    for (std::size_t n = 0; n != all.size() && (n != 256 || !any_bytes); ++n) {
        const auto byte = static_cast<unsigned char>(all[n]);
        all[n] = static_cast<char>(any_bytes ? n : '!' + byte % 94U);
    }
    return all;
}

/// Names that a store may refuse, but must not change: control characters, invalid UTF-8, and more
/// than 128 bytes, up to 70,000.
[[nodiscard]] inline std::vector<std::string> odd_names()
{
    const std::string zero(1, '\0');
    std::vector<std::string> all{"a" + zero,
                                 "a" + zero + "b",
                                 "a" + zero + "c",
                                 "a\n",
                                 "a\r\n",
                                 "a\t",
                                 "a\tb",
                                 "a\x7F",
                                 "a\xC2\x85",
                                 "\xFF",
                                 "\xFE",
                                 "a\xC3",
                                 std::string(129, 'x'),
                                 std::string(128, 'x') + "y",
                                 std::string(1'100, 'x'),
                                 std::string(1'099, 'x') + "y"};
    for (const std::uint64_t size : value_sizes) {
        if (size > 128) all.push_back(value_of(size, true));
    }
    return all;
}

/// Texts that a store must keep byte for byte.
[[nodiscard]] inline std::vector<std::string> odd_texts()
{
    std::string all_bytes;
    for (int n = 0; n != 256; ++n) all_bytes += static_cast<char>(n);
    return {"",
            " ",
            " x ",
            "x\t",
            "x\r\ny\r\n",
            "\n",
            "007",
            "1e3",
            "-0",
            "1.50",
            "null",
            "NULL",
            "it's \"quoted\" \\n %s",
            "a quarter of a character \xF0\x9F",
            "e\xCC\x81",
            "\xEF\xBB\xBFmarked",
            "\xED\xA0\x80",
            std::string("x\0y", 3),
            std::string("x\0", 2),
            std::string(1, '\0'),
            all_bytes};
}

/// A value of each size in [shortest, longest], both included if they are at most a megabyte.
[[nodiscard]] inline std::vector<std::string> sized_values(std::uint64_t shortest,
                                                           std::uint64_t longest, bool any_bytes)
{
    std::vector<std::uint64_t> sizes{shortest};
    for (const std::uint64_t size : value_sizes) {
        if (size > shortest && size < longest) sizes.push_back(size);
    }
    if (longest > shortest && longest <= 1'000'000) sizes.push_back(longest);
    std::vector<std::string> all;
    all.reserve(sizes.size());
    for (const std::uint64_t size : sizes) all.push_back(value_of(size, any_bytes));
    return all;
}

[[nodiscard]] inline partition_key key_of(std::string source, std::string group,
                                          std::string partition)
{
    return {std::move(source), std::move(group), std::move(partition)};
}

/// Keys that a store could confuse.
[[nodiscard]] inline std::vector<partition_key> similar_keys()
{
    return {key_of("a", "b", "c"), key_of("a", "b", "d"), key_of("a", "c", "c"),
            key_of("b", "b", "c"), key_of("ab", "", "c"), key_of("", "ab", "c"),
            key_of("", "", ""),    key_of("A", "b", "c"), key_of("it's", "\"b\"; --", "%_\\")};
}

/// Three keys. Each has `name` as a different part.
[[nodiscard]] inline std::vector<partition_key> keys_with(const std::string& name)
{
    return {key_of(name, "b", "c"), key_of("a", name, "c"), key_of("a", "b", name)};
}

/// `similar_keys`, the keys with `similar_names`, and keys whose parts become the same text if they
/// are joined with a separator. Sorted, without duplicates.
[[nodiscard]] inline std::vector<partition_key> many_similar_keys()
{
    std::vector<partition_key> all = similar_keys();
    const auto add = [&](partition_key key) { all.push_back(std::move(key)); };
    for (const std::string& name : similar_names()) {
        for (partition_key& key : keys_with(name)) add(std::move(key));
    }
    for (const char* between : {"", "/", ":", "|", "-", ".", ",", "#", "~", "_", " ", "\x1F"}) {
        const std::string two = std::string("p") + between + "q";
        add(key_of(two, "r", "s"));
        add(key_of("p", std::string("q") + between + "r", "s"));
        add(key_of("p", "q", std::string("r") + between + "s"));
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

/// Keys that a store may refuse, but must not confuse.
[[nodiscard]] inline std::vector<partition_key> odd_keys()
{
    std::vector<partition_key> all;
    for (const std::string& name : odd_names()) {
        for (partition_key& key : keys_with(name)) all.push_back(std::move(key));
    }
    return all;
}

/// Three keys. Each differs from `key` in one part.
[[nodiscard]] inline std::vector<partition_key> neighbours(const partition_key& key)
{
    return {key_of(key.source, key.group, key.partition + "1"),
            key_of(key.source, "audit", key.partition),
            key_of("invoices", key.group, key.partition)};
}

[[nodiscard]] inline dead_letter letter_of(const partition_key& key, std::uint64_t sequence,
                                           std::string reason)
{
    dead_letter d;
    d.key = key;
    d.at = {sequence, "o" + std::to_string(sequence)};
    d.reason = std::move(reason);
    d.body = "body";
    d.tries = 1;
    return d;
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_TRIAL_VALUES_HPP
