// SPDX-License-Identifier: MIT
//
// amqp_encoder: the differences between AMQP 1.0 encoders, as data.
//
//     waybill::wire::amqp::size<waybill::wire::amqp::proton>(m)
//     waybill::wire::amqp::size<waybill::wire::amqp::bound>(m)    // enough for all of them
//
// AMQP 1.0 allows several encodings of one message. A list may be list8 or list32, an empty section
// may be omitted, a default may be written. The size of a message therefore depends on the encoder.
// A profile names the encoder. It is a type with one constant `rules`, so a program can define its
// own:
//
//     struct ours { static constexpr waybill::wire::amqp::encoder rules{.short_maps = false}; };
//
// *Tested* below means that a test runs the encoder and compares its bytes with the size.
// *Documented* means that the rules were read in the source of the encoder, without a test.

#ifndef WAYBILL_WIRE_AMQP_ENCODER_HPP
#define WAYBILL_WIRE_AMQP_ENCODER_HPP

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace waybill::inline v0_2::wire::amqp {

/// Condition for writing the header or the properties section, which are lists of fields.
enum class section : std::uint8_t {
    if_written,  ///< Only if one of its fields is written.
    /// If the message has one of its fields, even if that field is omitted as a default.
    if_given,
    always,
};

[[nodiscard]] constexpr std::string_view texts_of(section) noexcept
{
    return "if_written, if_given, always";
}

/// The choice of the AMQP type of a number.
enum class numbers : std::uint8_t {
    typed,    ///< By the C++ type of the number.
    untyped,  ///< By the value only, as in JavaScript.
};

[[nodiscard]] constexpr std::string_view texts_of(numbers) noexcept
{
    return "typed, untyped";
}

/// The choices of an encoder. The defaults describe an encoder that writes all given fields, each
/// in its shortest form.
struct encoder {
    section header = section::if_given;
    section properties = section::if_given;

    bool short_lists = true;  ///< True: list8 if the list fits into it. False: always list32.
    bool short_maps = true;   ///< True: map8 if the map fits into it. False: always map32.
    bool trims_nulls = true;  ///< Omits absent fields at the end of a list.

    /// Writes the defaults of the header: durable and first-acquirer false, priority 4,
    /// delivery-count 0.
    bool writes_defaults = true;
    bool writes_zero_ttl = true;    ///< Writes a ttl of 0.
    bool writes_zero_times = true;  ///< Writes an expiry or creation time of 0.
    bool writes_empty_maps = true;  ///< Writes a given map without entries.

    /// Writes a group-sequence with each group-id, 0 if absent. Without a group-id, it writes a
    /// group-sequence only if that is not 0.
    bool sequences_groups = false;
    bool binary_or_null = false;    ///< Writes an empty binary as null.
    bool writes_null_body = false;  ///< Writes a null value if the body is absent.
    numbers number = numbers::typed;

    bool widest = false;  ///< Writes the longest form of everything; see `bound`.

    friend bool operator==(const encoder&, const encoder&) = default;
};

/// A type that names an encoder.
template <class P>
concept profile = requires {
    requires std::same_as<decltype(P::rules), const encoder>;
    requires std::bool_constant<(static_cast<void>(encoder{P::rules}), true)>::value;
};

/// The canonical encoding: omits values without meaning and writes the rest in its shortest form.
/// No encoder writes fewer bytes if it writes the whole message and each number with its C++ type.
/// Tested against all tested encoders below.
struct minimal {
    static constexpr encoder rules{.header = section::if_written,
                                   .properties = section::if_written,
                                   .writes_defaults = false,
                                   .writes_empty_maps = false};
};

/// Apache Qpid Proton, `pn_message_encode`. Tested with 0.37 in the same process:
/// tests/integration/amqp_proton.sh.
struct proton {
    static constexpr encoder rules{.header = section::always,
                                   .properties = section::always,
                                   .short_maps = false,
                                   .writes_defaults = false,
                                   .writes_zero_ttl = false,
                                   .writes_zero_times = false,
                                   .sequences_groups = true};
};

/// rhea, also part of the Azure SDKs for JavaScript. Tested with rhea 3.0.5 and with Azure's
/// event-hubs 6.0.4 and service-bus 7.9.5, which use rhea: tests/golden/amqp. JavaScript has one
/// type of number. Each number has the size that JavaScript would send, whatever its C++ type.
struct rhea {
    static constexpr encoder rules{.header = section::always,
                                   .properties = section::always,
                                   .short_lists = false,
                                   .short_maps = false,
                                   .writes_null_body = true,
                                   .number = numbers::untyped};
};

/// uAMQP for C, part of azure-sdk-for-cpp and of the older Azure SDKs for Python. Tested with uAMQP
/// 1.5.3 through Python: tests/golden/amqp. The message must contain the fields that Python adds:
/// its header always has a delivery count. uAMQP cannot write a char.
struct uamqp {
    static constexpr encoder rules{};
};

/// go-amqp, part of the Azure SDK for Go. Documented: internal/encoding/encode.go and message.go of
/// github.com/Azure/go-amqp. In Go, a header without a priority has priority 0, not 4; set it in
/// the message.
struct go_amqp {
    static constexpr encoder rules{.short_lists = false,
                                   .short_maps = false,
                                   .writes_defaults = false,
                                   .writes_zero_ttl = false,
                                   .binary_or_null = true};
};

/// Microsoft.Azure.Amqp, part of the Azure SDKs for .NET. Documented: src/Framing and src/Encoding
/// of github.com/Azure/azure-amqp. It writes all fields of a list. It also writes a section that
/// the program has only read; such reads are not counted here.
struct dotnet {
    static constexpr encoder rules{.trims_nulls = false};
};

/// An upper bound for all encoders that follow the specification. Assumptions:
///   1. Each section and each field is written once; header and properties even if absent.
///   2. An absent field is null, a default of the header, or a group-sequence or ttl of 0.
///   3. An absent map is not written. An absent body is at most a null value.
///   4. A descriptor is a number of one or eight bytes, not a symbol.
///   5. A number is written as a number of at most 64 bits, any other value with its own type.
/// Tested against all tested encoders above.
struct bound {
    static constexpr encoder rules{.header = section::always,
                                   .properties = section::always,
                                   .short_lists = false,
                                   .short_maps = false,
                                   .trims_nulls = false,
                                   .sequences_groups = true,
                                   .writes_null_body = true,
                                   .widest = true};
};

}  // namespace waybill::inline v0_2::wire::amqp

#endif  // WAYBILL_WIRE_AMQP_ENCODER_HPP
