// SPDX-License-Identifier: MIT
//
// idempotency_key: the name of an event's effect, the same however often the event is delivered.
//
// An effect outside of the checkpoint's transaction is repeated when its event is. Whoever receives
// it knows it again by this key: a unique column, a message id, the Idempotency-Key of a request.
//
//     waybill::idempotency_key({"orders", "billing", "0"}, 17)      // "orders/billing/0/17"
//     waybill::idempotency_key({"a/b", "", "ü"}, 0)                 // "a%2Fb//%C3%BC/0"
//
// Four things hold:
//   1. it is made of the source, the group, the partition and the sequence number alone, so it is
//      the same in every process, after every crash, and when a dead letter is processed again;
//   2. two events never share one, whatever characters are in their names: all but letters, digits
//      and . _ - are written as %XX, and the parts are parted by a slash;
//   3. it has at most `most` bytes. Where names are too long for that, all keys of the partition
//      begin with ~ and 32 digits of their SHA-256 in place of the names;
//   4. its form does not change any more: what was stored years ago is found again.
//
// The group is a part of it, as it is of checkpoints and dead letters: billing and shipping have
// one effect each for the same order, and a receiver that serves both must not take the second for
// the first one again. Where the effect is the event's own, whoever causes it, leave the group out.
// A rewind on purpose comes with the same keys as the first time: their effects are not repeated.

#ifndef WAYBILL_CONSUME_IDEMPOTENCY_KEY_HPP
#define WAYBILL_CONSUME_IDEMPOTENCY_KEY_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/consume/position.hpp>
#include <waybill/core/check.hpp>
#include <waybill/core/sha256.hpp>

namespace waybill::inline v0_2 {

/// Whose effect the key names.
enum class idempotency_scope : std::uint8_t {
    group,  ///< One effect for each group that reads the event.
    event,  ///< One effect of the event, whichever group causes it.
};

[[nodiscard]] constexpr std::string_view name(idempotency_scope s) noexcept
{
    switch (s) {
        case idempotency_scope::group: return "group";
        case idempotency_scope::event: return "event";
    }
    return "?";
}

struct idempotency_options {
    idempotency_scope scope = idempotency_scope::group;
    /// Most bytes. Service Bus and SQS take 128 for the id by which they find duplicates.
    std::size_t most = 128;

    /// The shortest key that holds a digest and any number; less reads as this.
    static constexpr std::size_t least = 54;

    friend bool operator==(const idempotency_options&, const idempotency_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const idempotency_options& o) noexcept
{
    if (o.most >= o.least) return {};
    return config_error{"idempotency.most", o.most, "must be at least", o.least};
}

/// The keys of one partition. Allocates for the first of them, and no more.
class idempotency_keys {
public:
    explicit idempotency_keys(const partition_key& key, const idempotency_options& o = {})
    {
        write(key.source);
        if (o.scope == idempotency_scope::group) write(key.group);
        write(key.partition);
        const std::size_t most = o.most < o.least ? o.least : o.most;
        if (text_.size() + highest_digits > most) shorten();
        names_ = text_.size();
        text_.reserve(names_ + highest_digits);
    }

    /// The key of this event. The view lasts until the next call.
    [[nodiscard]] std::string_view operator()(std::uint64_t sequence)
    {
        std::array<char, highest_digits> digits{};
        std::size_t first = digits.size();
        do {
            digits[--first] = static_cast<char>('0' + sequence % 10);
            sequence /= 10;
        } while (sequence != 0);
        text_.resize(names_);
        text_.append(digits.data() + first, digits.size() - first);
        return text_;
    }

    friend bool operator==(const idempotency_keys& a, const idempotency_keys& b)
    {
        return a.names() == b.names();
    }

private:
    static constexpr std::size_t highest_digits = 20;  // of 2^64 - 1

    [[nodiscard]] std::string_view names() const
    {
        return std::string_view(text_).substr(0, names_);
    }

    void hex(unsigned byte)
    {
        constexpr std::string_view digits = "0123456789ABCDEF";
        text_ += digits[byte / 16];
        text_ += digits[byte % 16];
    }

    void write(std::string_view part)
    {
        for (const char c : part) {
            const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
            if (plain) {
                text_ += c;
            } else {
                text_ += '%';
                hex(static_cast<unsigned char>(c));
            }
        }
        text_ += '/';
    }

    void shorten()
    {
        const std::array<std::uint8_t, 32> digest = sha256(text_);
        text_ = "~";
        for (std::size_t i = 0; i != 16; ++i) hex(digest[i]);
        text_ += '/';
    }

    std::string text_;  // the names with a slash behind each, and the last number
    std::size_t names_ = 0;
};

/// The key of one event.
[[nodiscard]] inline std::string idempotency_key(const partition_key& key, std::uint64_t sequence,
                                                 const idempotency_options& o = {})
{
    return std::string(idempotency_keys(key, o)(sequence));
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_IDEMPOTENCY_KEY_HPP
