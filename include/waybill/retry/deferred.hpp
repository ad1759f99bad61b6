// SPDX-License-Identifier: MIT
//
// deferred: a message that waits at the broker, and how those are kept.
//
// Part of deferral_book.hpp, where it is told what for.

#ifndef WAYBILL_RETRY_DEFERRED_HPP
#define WAYBILL_RETRY_DEFERRED_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/nanoseconds.hpp>

namespace waybill::inline v0_2 {

/// A message that waits at the broker.
struct deferred {
    std::uint64_t sequence = 0;  ///< The broker's number of it; who has no number cannot fetch it.
    wall_time due{};
    std::uint32_t attempts = 0;  ///< So many have failed.
    std::string session{};       ///< Empty where it belongs to none.
    std::string id{};            ///< The caller's own word for it.
    wall_time since{};           ///< When it was deferred for the first time, where that matters.

    friend bool operator==(const deferred&, const deferred&) = default;
};

/// The partition that a number of a partitioned queue names.
[[nodiscard]] constexpr std::uint16_t partition_of(std::uint64_t sequence) noexcept
{
    return static_cast<std::uint16_t>(sequence >> 48U);
}

/// An entry in somebody's hand, and the ticket that says so. A book gives no ticket twice.
struct handed {
    deferred entry{};
    std::uint64_t ticket = 0;

    friend bool operator==(const handed&, const handed&) = default;
};

/// In which order `take` lists what it hands out; it does not change what that is.
enum class handing : std::uint8_t {
    by_due,        ///< By due time.
    by_partition,  ///< Those of one partition together, that of what is due first in front.
};

[[nodiscard]] constexpr std::string_view name(handing h) noexcept
{
    switch (h) {
        case handing::by_due: return "by_due";
        case handing::by_partition: return "by_partition";
    }
    return "?";
}

/// What became of an entry.
enum class booked : std::uint8_t {
    added,
    replaced,  ///< There was one of this number; whoever had it in hand has it no more.
    full,      ///< Not taken, and nothing has changed: dead-letter it, or do not defer it.
};

[[nodiscard]] constexpr std::string_view name(booked b) noexcept
{
    switch (b) {
        case booked::added: return "added";
        case booked::replaced: return "replaced";
        case booked::full: return "full";
    }
    return "?";
}

struct deferral_options {
    std::uint64_t most = highest_size;       ///< Entries; with more of them the book is full.
    duration hold = duration::seconds(60);  ///< How long one stays in hand that nobody hears of.
    bool session_order = true;              ///< See 2. above.

    friend bool operator==(const deferral_options&, const deferral_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const deferral_options& o) noexcept
{
    if (o.most == 0) return config_error{"deferral.most", 0, "must be at least", 1};
    if (o.hold <= duration{}) {
        return config_error{"deferral.hold", detail::magnitude(o.hold),
                            "nanoseconds must be more than", 0, o.hold < duration{}};
    }
    return {};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_DEFERRED_HPP
