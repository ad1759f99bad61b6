// SPDX-License-Identifier: MIT
//
// ext/json_enum: enums as JSON strings, by their names. nlohmann's library alone would write
// numbers, whose meaning changes when an enumerator is added.

#ifndef WAYBILL_EXT_JSON_ENUM_HPP
#define WAYBILL_EXT_JSON_ENUM_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/calibration.hpp>
#include <waybill/batch/open_batch.hpp>
#include <waybill/batch/send_policy.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace waybill::inline v0_2 {

/// An enum with a function `name(e)`.
template <class E>
concept named_enum = std::is_enum_v<E> && requires(E e) {
    { name(e) } -> std::same_as<std::string_view>;
};

/// The enumerator with this name; empty if there is none.
template <named_enum E>
[[nodiscard]] constexpr std::optional<E> named(std::string_view text)
{
    constexpr std::string_view nobody = name(static_cast<E>(0xFF));
    for (std::uint8_t i = 0; i < 0xFF; ++i) {
        const std::string_view known = name(static_cast<E>(i));
        if (known == nobody) return {};  // enumerators are numbered from 0 without a gap
        if (known == text) return static_cast<E>(i);
    }
    return {};
}

/// All names of an enum, as in "none, equal or full".
template <named_enum E>
[[nodiscard]] std::string names()
{
    constexpr std::string_view nobody = name(static_cast<E>(0xFF));
    std::string list;
    for (std::uint8_t i = 0; name(static_cast<E>(i)) != nobody; ++i) {
        const bool last = name(static_cast<E>(i + 1)) == nobody;
        if (i != 0) list += last ? " or " : ", ";
        list += name(static_cast<E>(i));
    }
    return list;
}

// An overload for each enum: a template would be no better match than the library's own template.
inline void to_json(nlohmann::json& j, const add_result& e)
{
    j = name(e);
}
inline void to_json(nlohmann::json& j, const advance_outcome& e) { j = name(e); }
inline void to_json(nlohmann::json& j, const retry_outcome& e)
{
    j = name(e);
}
inline void to_json(nlohmann::json& j, const batch_outcome& e)
{
    j = name(e);
}
inline void to_json(nlohmann::json& j, const batch_close_reason& e)
{
    j = name(e);
}
inline void to_json(nlohmann::json& j, const commit_outcome& e) { j = name(e); }
inline void to_json(nlohmann::json& j, const fault_kind& e)
{
    j = name(e);
}
inline void to_json(nlohmann::json& j, const event_result& e)
{
    j = name(e);
}
inline void to_json(nlohmann::json& j, const if_all_failed& e) { j = name(e); }
inline void to_json(nlohmann::json& j, const item_outcome& e) { j = name(e); }
inline void to_json(nlohmann::json& j, const jitter& e) { j = name(e); }
inline void to_json(nlohmann::json& j, const dead_letter_body& e)
{
    j = name(e);
}
inline void to_json(nlohmann::json& j, const when_exhausted& e) { j = name(e); }
inline void to_json(nlohmann::json& j, const commit_check& e)
{
    j = name(e);
}
inline void to_json(nlohmann::json& j, const broker_reports& e)
{
    j = name(e);
}
inline void to_json(nlohmann::json& j, const when_too_large& e) { j = name(e); }
inline void to_json(nlohmann::json& j, const when_unknown& e) { j = name(e); }

// `get<E>()` is disabled: the library's own from_json would accept any number, even one without an
// enumerator. Use read_json.
template <class Json>
void from_json(const Json&, add_result&) = delete;
template <class Json>
void from_json(const Json&, advance_outcome&) = delete;
template <class Json>
void from_json(const Json&, retry_outcome&) = delete;
template <class Json>
void from_json(const Json&, batch_outcome&) = delete;
template <class Json>
void from_json(const Json&, batch_close_reason&) = delete;
template <class Json>
void from_json(const Json&, commit_outcome&) = delete;
template <class Json>
void from_json(const Json&, fault_kind&) = delete;
template <class Json>
void from_json(const Json&, event_result&) = delete;
template <class Json>
void from_json(const Json&, if_all_failed&) = delete;
template <class Json>
void from_json(const Json&, item_outcome&) = delete;
template <class Json>
void from_json(const Json&, jitter&) = delete;
template <class Json>
void from_json(const Json&, dead_letter_body&) = delete;
template <class Json>
void from_json(const Json&, when_exhausted&) = delete;
template <class Json>
void from_json(const Json&, commit_check&) = delete;
template <class Json>
void from_json(const Json&, broker_reports&) = delete;
template <class Json>
void from_json(const Json&, when_too_large&) = delete;
template <class Json>
void from_json(const Json&, when_unknown&) = delete;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_ENUM_HPP
