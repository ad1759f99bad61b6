// SPDX-License-Identifier: MIT
//
// amqp_fields: sizes of values, lists and maps, from which amqp_size computes sections.

#ifndef WAYBILL_WIRE_DETAIL_AMQP_FIELDS_HPP
#define WAYBILL_WIRE_DETAIL_AMQP_FIELDS_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/amqp_encoder.hpp>
#include <waybill/wire/amqp_message.hpp>
#include <waybill/wire/amqp_value.hpp>

namespace waybill::inline v0_2::wire::amqp::detail {

inline constexpr std::uint64_t max_length = 0xFFFF'FFFF;  // the largest 32-bit length

// A section begins with 0x00 and the ulong of its descriptor, in short or long form.
template <profile P>
inline constexpr std::uint64_t descriptor = P::rules.widest ? 10 : 3;

// Bytes before `octets` octets: a constructor, and the length in one byte or in four.
template <profile P>
[[nodiscard]] constexpr std::uint64_t prefix(std::uint64_t octets) noexcept
{
    return P::rules.widest || octets > 255 ? 5 : 2;
}

// Bytes of a list or map of `count` elements with `bytes` bytes, constructor included. Length and
// count have one byte each, or four bytes each. The length field also counts the count field, so
// one byte of length suffices for 254 bytes of elements.
[[nodiscard]] constexpr std::uint64_t compound(bool can_be_short, std::uint64_t count,
                                               std::uint64_t bytes) noexcept
{
    if (can_be_short && bytes <= 254 && count <= 255) return bytes + 3;
    return bytes > max_length - 4 || count > max_length ? waybill::detail::highest_size : bytes + 9;
}

// Bytes of consecutive values. The sums need not saturate: `length_bits_` records a length over 32
// bits. Without such a length, an overflow requires more than 2^31 values of 4 GiB.
template <profile P>
class size_sum {
public:
    constexpr void add_bytes(std::uint64_t n) noexcept { bytes_ += n; }

    constexpr void add_text(std::uint64_t octets) noexcept
    {
        bytes_ += octets + prefix<P>(octets);
        length_bits_ |= octets;
    }

    constexpr void add(const value& v) noexcept
    {
        constexpr encoder e = P::rules;
        const std::uint64_t n = v.length();
        length_bits_ |= n;
        if (e.binary_or_null && v.what() == value::kind::binary && n == 0) {
            bytes_ += 1;
            return;
        }
        const bool is_long = n > 255 && v.what() != value::kind::encoded;
        if constexpr (e.widest) bytes_ += n + v.longest_size();
        else if constexpr (e.number == numbers::untyped)
            bytes_ += n + v.shortest_untyped_size() + (is_long ? 3 : 0);
        else bytes_ += n + v.shortest_size() + (is_long ? 3 : 0);
    }

    // A numeric identifier is a ulong with every encoder.
    constexpr void add(const identifier& id) noexcept
    {
        const value& v = id.as_value();
        if (v.what() == value::kind::number)
            add_bytes(P::rules.widest ? v.longest_size() : v.shortest_size());
        else add(v);
    }

    // A separate sum per entry, so that its additions do not wait for those of the previous entry.
    constexpr void add(const property& p) noexcept
    {
        size_sum entry;
        entry.add_text(p.name.size());
        entry.add(p.value);
        bytes_ += entry.bytes_;
        length_bits_ |= entry.length_bits_;
    }

    [[nodiscard]] constexpr std::uint64_t bytes() const noexcept
    {
        return length_bits_ > max_length ? waybill::detail::highest_size : bytes_;
    }

private:
    std::uint64_t bytes_ = 0;
    std::uint64_t length_bits_ = 0;  // bitwise or of all lengths
};

// The fields of a list in their order. An unwritten field is a null of one byte if a later field is
// written, or if the encoder does not trim nulls.
template <profile P>
class fields {
public:
    // Counts the next field. Returns true if the caller has to add its size.
    constexpr bool next(bool is_given, bool is_written) noexcept
    {
        ++field_count_;
        any_given_ = any_given_ || is_given;
        if (!is_written) return false;
        ++written_count_;
        last_written_ = field_count_;
        return true;
    }

    // Adds an optional field. A value equal to `default_value` is written only if `writes_default`
    // is set.
    template <class T>
    constexpr void add(const std::optional<T>& field, bool writes_default, T default_value) noexcept
    {
        if (!field) {
            ++field_count_;
        } else if (next(true, writes_default || *field != default_value)) {
            sum_.add_bytes(width(*field));
        }
    }

    constexpr void add(const octets& field) noexcept
    {
        if (next(field.given(), field.given())) add_text(field);
    }

    constexpr void add(const identifier& field) noexcept
    {
        if (next(field.given(), field.given())) sum_.add(field);
    }

    constexpr void add_bytes(std::uint64_t bytes) noexcept { sum_.add_bytes(bytes); }
    constexpr void add_text(const octets& field) noexcept { sum_.add_text(field.size()); }

    [[nodiscard]] constexpr std::uint64_t section_size(section rule) const noexcept
    {
        if (last_written_ == 0) {
            const bool is_written =
                rule == section::always || (rule == section::if_given && any_given_);
            if (!is_written) return 0;
            if (P::rules.trims_nulls) return descriptor<P> + 1;  // list0
        }
        const std::uint64_t count = P::rules.trims_nulls ? last_written_ : field_count_;
        const std::uint64_t bytes =
            waybill::detail::saturating_add(sum_.bytes(), count - written_count_);
        return waybill::detail::saturating_add(descriptor<P>,
                                               compound(P::rules.short_lists, count, bytes));
    }

private:
    [[nodiscard]] static constexpr std::uint64_t width(bool) noexcept { return 1; }
    [[nodiscard]] static constexpr std::uint64_t width(std::uint8_t) noexcept { return 2; }
    [[nodiscard]] static constexpr std::uint64_t width(std::int64_t) noexcept { return 9; }
    [[nodiscard]] static constexpr std::uint64_t width(std::uint32_t n) noexcept
    {
        return value(n).shortest_size();
    }

    size_sum<P> sum_;
    std::uint64_t field_count_ = 0;
    std::uint64_t last_written_ = 0;
    std::uint64_t written_count_ = 0;
    bool any_given_ = false;
};

// Bytes of a value, including its constructor.
template <profile P>
[[nodiscard]] constexpr std::uint64_t value_size(const value& v) noexcept
{
    size_sum<P> sum;
    sum.add(v);
    return sum.bytes();
}

// Bytes of a map without a descriptor.
template <profile P>
[[nodiscard]] constexpr std::uint64_t entries_size(const entries& map) noexcept
{
    size_sum<P> sum;
    for (const property& each : map) sum.add(each);
    return compound(P::rules.short_maps, waybill::detail::saturating_mul(map.size(), 2),
                    sum.bytes());
}

}  // namespace waybill::inline v0_2::wire::amqp::detail

#endif  // WAYBILL_WIRE_DETAIL_AMQP_FIELDS_HPP
