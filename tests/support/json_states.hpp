// SPDX-License-Identifier: MIT
//
// Codecs and sealed states of JSON for tests.

#ifndef WAYBILL_TESTS_SUPPORT_JSON_STATES_HPP
#define WAYBILL_TESTS_SUPPORT_JSON_STATES_HPP

#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/ext/json/session.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/envelope.hpp>

namespace tests_support {

template <class T>
waybill::state_codec<T> make(const waybill::state_codec_options& o = {})
{
    const auto c = waybill::state_codec<T>::make(o);
    REQUIRE_MESSAGE(c.has_value(), describe(c.error()));
    return *c;
}

inline std::string sealed(std::string_view body, waybill::schema_version v = {1, 0})
{
    return waybill::detail::seal_state(waybill::state_format::json, v, body);
}

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_JSON_STATES_HPP
