// SPDX-License-Identifier: MIT
//
// amqp_message: the fields of an AMQP 1.0 message that affect its encoded size.
//
//     const waybill::wire::amqp::property props[] = {{"tenant", "blue"}, {"tries", 3}};
//     const waybill::wire::amqp::message m{.body = text.size(), .ttl = 60'000, .message_id = id,
//                                          .content_type = "application/json",
//                                          .group_id = session, .properties = props};
//
// An aggregate with the body first and then the fields in the order of the specification. A field
// without an initialiser is absent. The message contains lengths, not views. Exception: a map is a
// span, and its array must exist as long as the message is measured.

#ifndef WAYBILL_WIRE_AMQP_MESSAGE_HPP
#define WAYBILL_WIRE_AMQP_MESSAGE_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/amqp_value.hpp>

namespace waybill::inline v0_2::wire::amqp {

/// One entry of a map: an application property, or an annotation, whose name is a symbol. A string
/// and a symbol of equal length have the same size.
struct property {
    octets name{};
    amqp::value value{};

    friend bool operator==(const property&, const property&) = default;
};

/// A map: a view of an array of properties. Absent by default. A map without entries is empty, not
/// absent; some encoders write it.
class entries {
public:
    constexpr entries() noexcept = default;
    constexpr entries(std::nullopt_t) noexcept {}

    template <class R>
        requires(std::convertible_to<R, std::span<const property>> &&
                 !std::same_as<std::remove_cvref_t<R>, entries>)
    constexpr entries(R&& properties) noexcept : all_(static_cast<R&&>(properties)), given_(true)
    {
    }

    [[nodiscard]] constexpr bool given() const noexcept { return given_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return all_.empty(); }
    [[nodiscard]] constexpr std::uint64_t size() const noexcept { return all_.size(); }
    [[nodiscard]] constexpr auto begin() const noexcept { return all_.begin(); }
    [[nodiscard]] constexpr auto end() const noexcept { return all_.end(); }

private:
    std::span<const property> all_{};
    bool given_ = false;
};

/// The body: none, a data section, or a section with one value. From a number: that many octets of
/// data. From text or another object with a length: data of that length.
class content {
public:
    enum class kind : std::uint8_t { none, data, value };
    [[nodiscard]] friend constexpr std::string_view texts_of(kind) noexcept
    {
        return "none, data, value";
    }

    constexpr content() noexcept = default;

    template <detail::number N>
    constexpr content(N octets_of_data) noexcept
        : kind_(kind::data), value_(amqp::value::binary(octets_of_data))
    {
    }

    template <class S>
        requires detail::text<S> || detail::blob<S>
    constexpr content(const S& data) noexcept : content(detail::length(data))
    {
    }

    /// A body of one AMQP value instead of data.
    [[nodiscard]] static constexpr content value(const amqp::value& v) noexcept
    {
        content result;
        result.kind_ = kind::value;
        result.value_ = v;
        return result;
    }

    [[nodiscard]] constexpr kind what() const noexcept { return kind_; }
    [[nodiscard]] constexpr const amqp::value& as_value() const noexcept { return value_; }

    friend bool operator==(const content&, const content&) = default;

private:
    kind kind_ = kind::none;
    amqp::value value_{};
};

/// A message to be measured. Times are in milliseconds since 1970. There is no footer.
struct message {
    content body{};

    // header
    std::optional<bool> durable{};
    std::optional<std::uint8_t> priority{};
    std::optional<std::uint32_t> ttl{};  ///< Milliseconds.
    std::optional<bool> first_acquirer{};
    std::optional<std::uint32_t> delivery_count{};

    entries delivery_annotations{};
    entries message_annotations{};

    // properties
    identifier message_id{};
    octets user_id{};
    octets to{};
    octets subject{};
    octets reply_to{};
    identifier correlation_id{};
    octets content_type{};
    octets content_encoding{};
    std::optional<std::int64_t> absolute_expiry_time{};
    std::optional<std::int64_t> creation_time{};
    octets group_id{};
    std::optional<std::uint32_t> group_sequence{};
    octets reply_to_group_id{};

    entries properties{};  ///< application-properties
};

}  // namespace waybill::inline v0_2::wire::amqp

#endif  // WAYBILL_WIRE_AMQP_MESSAGE_HPP
