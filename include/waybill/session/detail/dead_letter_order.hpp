// SPDX-License-Identifier: MIT
//
// dead_letter_order: sorts dead letters in place and moves each of them once.
//
// A dead letter has several hundred bytes and owns strings. Direct sorting of a million of them
// takes seconds. `dead_letter_order` sorts keys of 24 bytes instead, and then moves each dead
// letter to its place. The key of a session id contains seven bytes from the first position at
// which the ids differ, and the number of these bytes. Ids with equal keys are sorted again by the
// bytes that follow.
//
// Dead letters that are already in order are neither sorted nor moved, for example rows that a
// table returns in the order of their keys. Memory: 48 bytes of keys for each dead letter.

#ifndef WAYBILL_SESSION_DETAIL_DEAD_LETTER_ORDER_HPP
#define WAYBILL_SESSION_DETAIL_DEAD_LETTER_ORDER_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/session/pipeline_dead_letter.hpp>

namespace waybill::inline v0_2::detail {

/// The sort key of a dead letter. Compared by `major`, then by `minor`.
struct order_key {
    std::uint64_t major = 0;
    std::uint64_t minor = 0;
    std::size_t index = 0;  // the position of the dead letter before the sort

    friend constexpr bool operator<(const order_key& a, const order_key& b) noexcept
    {
        return a.major != b.major ? a.major < b.major : a.minor < b.minor;
    }
};

using order_keys = std::span<order_key>;

constexpr void insertion_sort(order_keys keys) noexcept
{
    for (std::size_t i = 1; i < keys.size(); ++i) {
        const order_key k = keys[i];
        std::size_t at = i;
        for (; at != 0 && k < keys[at - 1]; --at) keys[at] = keys[at - 1];
        keys[at] = k;
    }
}

/// Byte `n` of a key. Byte 0 is the least significant.
[[nodiscard]] constexpr std::size_t byte_of(const order_key& k, unsigned n) noexcept
{
    return (n < 8 ? k.minor >> (8 * n) : k.major >> (8 * (n - 8))) & 0xFFU;
}

/// Stable radix sort from the least significant byte. Bytes that are equal in all keys are skipped.
/// At most 48 keys: insertion sort. `scratch` must have the size of `keys`.
constexpr void sort_keys(order_keys keys, order_keys scratch) noexcept
{
    constexpr std::size_t max_insertion_sort = 48;
    if (keys.size() <= max_insertion_sort) return insertion_sort(keys);
    constexpr unsigned key_bytes = 16;  // of `major` and `minor`
    std::array<std::array<std::size_t, 256>, key_bytes> counts{};
    bool in_order = true;
    for (std::size_t i = 0; i != keys.size(); ++i) {
        in_order = in_order && (i == 0 || !(keys[i] < keys[i - 1]));
        for (unsigned n = 0; n != key_bytes; ++n) ++counts[n][byte_of(keys[i], n)];
    }
    if (in_order) return;
    bool in_scratch = false;
    for (unsigned n = 0; n != key_bytes; ++n) {
        const order_keys from = in_scratch ? scratch : keys;
        const order_keys to = in_scratch ? keys : scratch;
        if (counts[n][byte_of(from[0], n)] == from.size()) continue;
        // Replace each count by the position of its first key.
        std::size_t before = 0;
        for (std::size_t& c : counts[n]) before += std::exchange(c, before);
        for (const order_key& k : from) to[counts[n][byte_of(k, n)]++] = k;
        in_scratch = !in_scratch;
    }
    for (std::size_t i = 0; in_scratch && i != keys.size(); ++i) keys[i] = scratch[i];
}

/// Eight bytes of a text from `from` as a big-endian number, padded with zeros. Numbers have the
/// order of the bytes.
[[nodiscard]] constexpr std::uint64_t bytes_at(std::string_view text, std::size_t from) noexcept
{
    std::uint64_t n = 0;
    for (std::size_t i = 0; i != 8; ++i) {
        n = n << 8U | (from + i < text.size() ? static_cast<unsigned char>(text[from + i]) : 0U);
    }
    return n;
}

/// The length of the common prefix of two texts, in bytes.
[[nodiscard]] constexpr std::size_t common_prefix_size(std::string_view a,
                                                       std::string_view b) noexcept
{
    const std::size_t shorter = a.size() < b.size() ? a.size() : b.size();
    std::size_t n = 0;
    while (n != shorter && a[n] == b[n]) ++n;
    return n;
}

/// Sorts dead letters, or a range of them. Keeps its scratch memory for the next sort.
class dead_letter_order {
public:
    explicit dead_letter_order(std::span<pipeline_dead_letter> letters) : letters_(letters) {}

    /// Sorts by session id, then by sequence number, whose upper 16 bits are the partition.
    void by_session()
    {
        if (in_order()) return;
        make_keys(letters_.size());
        for (order_key& k : keys_) k.minor = letters_[k.index].sequence;
        sort_by_session_id(keys_, 0);
        move_letters(letters_);
    }

    /// Stable sort of `count` dead letters from `offset` by `key(letter, index)`.
    template <class F>
    void by_key(std::size_t offset, std::size_t count, F key)
    {
        make_keys(count);
        const std::span<pipeline_dead_letter> part = letters_.subspan(offset, count);
        for (order_key& k : keys_) k.major = key(part[k.index], offset + k.index);
        sort_keys(keys_, scratch_);
        move_letters(part);
    }

private:
    [[nodiscard]] std::string_view session(std::size_t i) const noexcept
    {
        return letters_[i].properties.session;
    }

    [[nodiscard]] bool in_order() const noexcept
    {
        for (std::size_t i = 1; i < letters_.size(); ++i) {
            const int id_order = session(i - 1).compare(session(i));
            const bool sequence_descends = letters_[i].sequence < letters_[i - 1].sequence;
            if (id_order > 0 || (id_order == 0 && sequence_descends)) return false;
        }
        return true;
    }

    void make_keys(std::size_t count)
    {
        keys_.assign(count, {});
        scratch_.resize(count);
        for (std::size_t i = 0; i != count; ++i) keys_[i].index = i;
    }

    /// Sorts keys whose session ids have the first `from` bytes in common.
    void sort_by_session_id(order_keys keys, std::size_t from)
    {
        if (keys.size() < 2) return;
        std::size_t common = session(keys[0].index).size();
        bool all_equal = true;
        for (const order_key& k : keys.subspan(1)) {
            const std::string_view first = session(keys[0].index);
            const std::string_view other = session(k.index);
            const std::size_t n = from + common_prefix_size(first.substr(from), other.substr(from));
            all_equal = all_equal && n == first.size() && n == other.size();
            if (n < common) common = n;
        }
        for (order_key& k : keys) k.major = all_equal ? 0 : id_part_key(session(k.index), common);
        sort_keys(keys, order_keys(scratch_).first(keys.size()));
        for (std::size_t at = 0; !all_equal && at != keys.size();) {
            std::size_t end = at + 1;
            while (end != keys.size() && keys[end].major == keys[at].major) ++end;
            const bool may_continue = (keys[at].major & 0xFFU) == part_bytes;
            if (may_continue) sort_by_session_id(keys.subspan(at, end - at), common + part_bytes);
            at = end;
        }
    }

    /// Seven bytes of a text from `from`, and the number of bytes left (at most 7) as the lowest
    /// byte. The end of a text sorts before any byte. Texts that end within these bytes are equal
    /// if the keys are.
    [[nodiscard]] static std::uint64_t id_part_key(std::string_view text, std::size_t from) noexcept
    {
        const std::size_t rest = text.size() - from;
        const std::uint64_t bytes = bytes_at(text, from) & ~std::uint64_t{0xFF};
        return bytes | (rest < part_bytes ? rest : part_bytes);
    }
    static constexpr std::size_t part_bytes = 7;

    /// Moves each dead letter to the position of its key, cycle by cycle, with one temporary for
    /// each cycle.
    void move_letters(std::span<pipeline_dead_letter> part)
    {
        for (std::size_t i = 0; i != part.size(); ++i) {
            if (keys_[i].index == i) continue;
            pipeline_dead_letter displaced = std::move(part[i]);
            std::size_t at = i;
            while (keys_[at].index != i) {
                part[at] = std::move(part[keys_[at].index]);
                at = std::exchange(keys_[at].index, at);
            }
            part[at] = std::move(displaced);
            keys_[at].index = at;
        }
    }

    std::span<pipeline_dead_letter> letters_;
    std::vector<order_key> keys_;
    std::vector<order_key> scratch_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_DEAD_LETTER_ORDER_HPP
