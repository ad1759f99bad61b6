// SPDX-License-Identifier: MIT
//
// idempotency_key: a key for the effect of an event, the same for each delivery of the event.
//
//     waybill::idempotency_key({"orders", "billing", "0"}, 17)      // "orders/billing/0/17"
//
// An effect outside of the checkpoint's transaction is repeated when its event is delivered again.
// The receiver detects the repetition by the key: in a unique column, as a message id, or in the
// Idempotency-Key header of a request.
//
// Guarantees
//   1. The key depends only on source, group, partition and sequence number. It is the same in
//      every process, after every crash, and when a dead letter is processed again.
//   2. Different events have different keys. In names, each byte except ASCII letters, digits and
//      . _ - is written as %XX. A slash follows each name.
//   3. A key has at most `max_bytes` bytes. If the names are too long, all keys of the partition
//      begin with ~ and 32 hexadecimal digits of the SHA-256 of the names instead.
//   4. The format is stable: stored keys stay valid.
//
// The guide describes when to leave out the group, and which keys a rewind produces.

#ifndef WAYBILL_CONSUME_IDEMPOTENCY_KEY_HPP
#define WAYBILL_CONSUME_IDEMPOTENCY_KEY_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/consume/position.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/sha256.hpp>
#include <waybill/core/enum_name.hpp>

namespace waybill::inline v0_2 {

/// The keys of one partition. Only the constructor allocates. It is linear in the names; a call
/// takes constant time.
class idempotency_keys {
public:
    /// The effect that a key identifies, and the size of keys.
    struct options {
        /// The effect that the key identifies.
        enum class scope_type : std::uint8_t {
            group,  ///< One effect for each group that reads the event. The key contains the group.
            event,  ///< One effect for the event in all groups. The key does not contain the group.
        };
        [[nodiscard]] friend constexpr std::string_view texts_of(scope_type) noexcept
        {
            return "group, event";
        }

        scope_type scope = scope_type::group;
        /// Maximum size of a key in bytes, at least `min_bytes`. Service Bus and SQS accept up to
        /// 128 for the message id that detects duplicates.
        std::size_t max_bytes = 128;

        /// The smallest valid `max_bytes`: ~, a digest of 32 digits, a slash and a number of 20
        /// digits. A smaller value counts as this one.
        static constexpr std::size_t min_bytes = 1 + 32 + 1 + 20;

        friend bool operator==(const options&, const options&) = default;
    };

    explicit idempotency_keys(const partition_key& key) : idempotency_keys(key, options{}) {}
    idempotency_keys(const partition_key& key, const options& o)
    {
        append_name(key.source);
        if (o.scope == options::scope_type::group) append_name(key.group);
        append_name(key.partition);
        const std::size_t max_bytes = o.max_bytes < o.min_bytes ? o.min_bytes : o.max_bytes;
        if (text_.size() + max_digits > max_bytes) shorten();
        names_size_ = text_.size();
        text_.reserve(names_size_ + max_digits);
    }

    /// The key of the event `sequence`. The view is valid until the next call.
    [[nodiscard]] std::string_view operator()(std::uint64_t sequence)
    {
        std::array<char, max_digits> digits{};
        std::size_t first = digits.size();
        do {
            digits[--first] = static_cast<char>('0' + sequence % 10);
            sequence /= 10;
        } while (sequence != 0);
        text_.resize(names_size_);
        text_.append(digits.data() + first, digits.size() - first);
        return text_;
    }

    friend bool operator==(const idempotency_keys& a, const idempotency_keys& b)
    {
        return a.names() == b.names();
    }

private:
    static constexpr std::size_t max_digits = 20;  // decimal digits of 2^64 - 1

    [[nodiscard]] std::string_view names() const
    {
        return std::string_view(text_).substr(0, names_size_);
    }

    void append_hex(unsigned byte)
    {
        constexpr std::string_view digits = "0123456789ABCDEF";
        text_ += digits[byte / 16];
        text_ += digits[byte % 16];
    }

    void append_name(std::string_view name)
    {
        for (const char c : name) {
            const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
            if (plain) {
                text_ += c;
            } else {
                text_ += '%';
                append_hex(static_cast<unsigned char>(c));
            }
        }
        text_ += '/';
    }

    /// Replaces the names by the first 16 bytes of their SHA-256.
    void shorten()
    {
        constexpr std::size_t used_bytes = 16;
        const std::array<std::uint8_t, 32> digest = detail::sha256(text_);
        text_ = "~";
        for (std::size_t i = 0; i != used_bytes; ++i) append_hex(digest[i]);
        text_ += '/';
    }

    std::string text_;  // the names, each followed by a slash, then the number of the last event
    std::size_t names_size_ = 0;
};

[[nodiscard]] constexpr std::optional<config_error> validate(
    const idempotency_keys::options& o) noexcept
{
    if (o.max_bytes >= o.min_bytes) return {};
    return config_error{"idempotency.max_bytes", o.max_bytes, "must be at least", o.min_bytes};
}

/// The key of one event. For several keys of one partition, `idempotency_keys` is faster.
[[nodiscard]] inline std::string idempotency_key(const partition_key& key, std::uint64_t sequence,
                                                 const idempotency_keys::options& o = {})
{
    return std::string(idempotency_keys(key, o)(sequence));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_IDEMPOTENCY_KEY_HPP
