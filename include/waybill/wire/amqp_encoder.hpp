// SPDX-License-Identifier: MIT
//
// amqp_encoder: how the encoders of AMQP 1.0 differ, as data.
//
// The specification leaves an encoder the choice: a list may be written as list8 or as list32, an
// empty section may be left out, a default may be spelled out. So one message has as many sizes as
// there are encoders, and a size function has to know which one is meant. A profile names it:
//
//     waybill::wire::amqp::size<waybill::wire::amqp::proton>(m)
//     waybill::wire::amqp::size<waybill::wire::amqp::bound>(m)    // enough for all of them
//
// A profile is a type with one constant of rules, so anybody can write his own:
//
//     struct ours { static constexpr waybill::wire::amqp::encoder rules{.short_maps = false}; };
//
// *Proved* means that a test runs the encoder itself and compares its bytes with the size;
// *documented* means that the rules were read in its source and nothing was run.

#ifndef WAYBILL_WIRE_AMQP_ENCODER_HPP
#define WAYBILL_WIRE_AMQP_ENCODER_HPP

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace waybill::inline v0_2::wire::amqp {

/// When the header or the properties, which are lists of fields, are written.
enum class section : std::uint8_t {
    if_written,  ///< If a field of it is written.
    if_given,    ///< If a field of it is given, be it one that is left out as a default.
    always,
};

/// How numbers choose their AMQP type.
enum class numbers : std::uint8_t {
    typed,  ///< By the type that they have in C++.
    plain,  ///< By their value alone, as in JavaScript.
};

/// What an encoder does where it may choose. The defaults are those of an encoder that writes what
/// it is given, each thing in its shortest form.
struct encoder {
    section header = section::if_given;
    section properties = section::if_given;

    bool short_lists = true;  ///< list8 where it is enough, otherwise always list32.
    bool short_maps = true;   ///< map8 where it is enough, otherwise always map32.
    bool trims_nulls = true;  ///< Leaves out absent fields at the end of a list.

    bool writes_defaults = true;    ///< durable and first-acquirer false, priority 4, count 0.
    bool writes_zero_ttl = true;    ///< A ttl of 0.
    bool writes_zero_times = true;  ///< An expiry or creation time of 0.
    bool writes_empty_maps = true;  ///< A map that is given without entries.

    bool sequences_groups = false;  ///< Writes a group-sequence of 0 with a group-id.
    bool binary_or_null = false;    ///< Writes an empty binary as null.
    bool writes_null_body = false;  ///< Writes a null value where there is no body.
    numbers number = numbers::typed;

    bool widest = false;  ///< The longest form of everything; see `bound`.

    friend bool operator==(const encoder&, const encoder&) = default;
};

/// A type that names an encoder.
template <class P>
concept profile = requires {
    requires std::same_as<decltype(P::rules), const encoder>;
    requires std::bool_constant<(static_cast<void>(encoder{P::rules}), true)>::value;
};

/// The canonical encoding: what means nothing is left out, and the rest has its shortest form. No
/// encoder writes fewer bytes that writes all of the message, and each number as the type that it
/// has. Proved against all encoders below that are proved.
struct minimal {
    static constexpr encoder rules{.header = section::if_written,
                                   .properties = section::if_written,
                                   .writes_defaults = false,
                                   .writes_empty_maps = false};
};

/// Apache Qpid Proton, `pn_message_encode`. Proved with 0.37 in one process:
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

/// rhea, and so the Azure SDKs for JavaScript. Proved with rhea 3.0.5 and, on top of it, Azure's
/// event-hubs 6.0.4 and service-bus 7.9.5: tests/golden/amqp. JavaScript has one type of number:
/// whatever C++ type a number has here, it is taken as JavaScript would send it.
struct rhea {
    static constexpr encoder rules{.header = section::always,
                                   .properties = section::always,
                                   .short_lists = false,
                                   .short_maps = false,
                                   .writes_null_body = true,
                                   .number = numbers::plain};
};

/// uAMQP for C, which is inside azure-sdk-for-cpp and the older Azure SDKs for Python. Proved with
/// uAMQP 1.5.3 through Python: tests/golden/amqp. What Python adds by itself has to be given here:
/// its header always carries a delivery count. A char is more than uAMQP can write.
struct uamqp {
    static constexpr encoder rules{};
};

/// go-amqp, which is inside the Azure SDK for Go. Documented: internal/encoding/encode.go and
/// message.go of github.com/Azure/go-amqp. In Go a header without a priority has 0, not 4; give it.
struct go_amqp {
    static constexpr encoder rules{.short_lists = false,
                                   .short_maps = false,
                                   .writes_defaults = false,
                                   .writes_zero_ttl = false,
                                   .binary_or_null = true};
};

/// Microsoft.Azure.Amqp, which is inside the Azure SDKs for .NET. Documented: src/Framing and
/// src/Encoding of github.com/Azure/azure-amqp. It writes all fields of a list, and a section that
/// was only looked at, too; what was looked at is not known here.
struct dotnet {
    static constexpr encoder rules{.trims_nulls = false};
};

/// At least what any encoder writes, however it chooses among the forms of the specification. It
/// assumes that
///   1. each section and each field is written once, header and properties even where absent;
///   2. an absent field is null, a default of the header, or a group-sequence or ttl of 0;
///   3. an absent map is not written, an absent body is at most a null value;
///   4. descriptors are numbers, of one byte or eight, and not symbols;
///   5. a number is written as one of at most 64 bits, everything else as the type that it has.
/// Proved against all encoders above that are proved.
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
