// SPDX-License-Identifier: MIT
//
// amqp_argument: the types that the AMQP classes accept as text, bytes and numbers.

#ifndef WAYBILL_WIRE_DETAIL_AMQP_ARGUMENT_HPP
#define WAYBILL_WIRE_DETAIL_AMQP_ARGUMENT_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::wire::amqp::detail {

template <class S>
concept text = std::convertible_to<const S&, std::string_view> &&
               !std::same_as<std::remove_cvref_t<S>, std::nullptr_t>;

// Octets that are not text: a vector or span of std::byte or std::uint8_t, a u8string_view.
template <class S>
concept blob = !text<S> && requires(const S& s) {
    { s.size() } -> waybill::detail::countable;
    requires sizeof(*s.data()) == 1;
};

template <class N>
concept character = std::same_as<N, char> || std::same_as<N, wchar_t> || std::same_as<N, char8_t> ||
                    std::same_as<N, char16_t> || std::same_as<N, char32_t>;

template <class N>
concept number =
    waybill::detail::countable<N> && !character<N> && sizeof(N) <= sizeof(std::uint64_t);

template <text S>
[[nodiscard]] constexpr std::uint64_t length(const S& s) noexcept
{
    return static_cast<std::string_view>(s).size();
}

template <blob S>
[[nodiscard]] constexpr std::uint64_t length(const S& s) noexcept
{
    return waybill::detail::as_size(s.size());
}

}  // namespace waybill::inline v0_2::wire::amqp::detail

#endif  // WAYBILL_WIRE_DETAIL_AMQP_ARGUMENT_HPP
