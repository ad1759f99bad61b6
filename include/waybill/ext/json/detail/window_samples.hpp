// SPDX-License-Identifier: MIT
//
// window_samples: the samples of a window as JSON, written and read.

#ifndef WAYBILL_EXT_JSON_DETAIL_WINDOW_SAMPLES_HPP
#define WAYBILL_EXT_JSON_DETAIL_WINDOW_SAMPLES_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/core/config_error.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/ext/json/core.hpp>
#include <waybill/window/snapshot_error.hpp>
#include <waybill/window/window_options.hpp>
#include <waybill/window/window_snapshot.hpp>

namespace waybill::inline v0_2::detail {

/// Format version of the written JSON.
inline constexpr std::uint64_t window_version = 1;

/// The widest number type of the kind of V: nlohmann's library writes it as a number, even if V is
/// a character type.
template <class V>
using widest =
    std::conditional_t<std::floating_point<V>, double,
                       std::conditional_t<std::signed_integral<V>, std::int64_t, std::uint64_t>>;

/// Reads a whole number in the range of V.
template <json_value Json, std::integral V>
void read_sample_value(const json_place<Json>& at, V& into)
{
    constexpr V lowest = std::numeric_limits<V>::lowest();
    constexpr V highest = (std::numeric_limits<V>::max)();
    if (const auto n = whole_number(at.value)) {
        if (*n <= static_cast<std::uint64_t>(highest)) {
            into = static_cast<V>(*n);
            return;
        }
    } else if (const auto* i =
                   at.value.template get_ptr<const typename Json::number_integer_t*>()) {
        if (std::signed_integral<V> && *i >= static_cast<std::int64_t>(lowest)) {
            into = static_cast<V>(*i);
            return;
        }
    }
    at.fail("a whole number of " + std::to_string(static_cast<widest<V>>(lowest)) + " to " +
            std::to_string(static_cast<widest<V>>(highest)));
}

template <json_value Json, std::floating_point V>
void read_sample_value(const json_place<Json>& at, V& into)
{
    double x = 0;
    read_value(at, x);
    constexpr double max_value = static_cast<double>((std::numeric_limits<V>::max)());
    if (x <= max_value && x >= -max_value) into = static_cast<V>(x);
    else at.fail("a number of at most " + std::to_string(sizeof(V) * 8) + " bits");
}

template <json_value Json, class Sample>
void read_sample(const json_place<Json>& at, bool weighted, Sample& into)
{
    const std::size_t size = weighted ? 3 : 2;
    if (!at.value.is_array() || at.value.size() != size) {
        return at.fail(weighted ? "[time, value, weight]" : "[time, value]");
    }
    const auto element = [&](std::size_t n) {
        return json_place{at.value[n], path_to(at.path, std::to_string(n)), at.error};
    };
    read_value(element(0), into.at);
    read_sample_value(element(1), into.value);
    if constexpr (requires { into.weight; }) {
        const json_place place = element(2);
        read_value(place, into.weight);
        if (into.weight == 0) place.fail("a weight of at least 1");
    }
}

/// A target of `read_value`: samples in the order of their times. The window is advanced to
/// `clock`, if any, before they are inserted.
template <class W>
struct samples_into {
    W& window;
    std::optional<wall_time> clock{};
};

template <json_value Json, class W>
void read_value(const json_place<Json>& at, samples_into<W>& into)
{
    if (!at.value.is_array()) return at.fail("an array of samples");
    if (into.clock) into.window.advance(*into.clock);
    wall_time previous_time = wall_time::lowest();
    for (std::size_t n = 0; n != at.value.size() && !at.error; ++n) {
        const json_place place{at.value[n], path_to(at.path, std::to_string(n)), at.error};
        typename W::sample_type s{};
        read_sample(place, W::weighted, s);
        if (!at.error && s.at < previous_time) {
            json_place{place.value[0], place.path + "/0", at.error}.fail(
                "a time of at least " + to_text(previous_time) + ", the previous sample");
        }
        previous_time = s.at;
        if (!at.error) into.window.insert(s);
    }
}

template <json_value Json, class W>
void write_window(Json& j, const W& w)
{
    Json samples = Json::array();
    for (std::uint64_t n = 0; n != w.size(); ++n) {
        const auto value = static_cast<widest<typename W::value_type>>(w[n].value);
        Json sample_json = {w[n].at, value};
        if constexpr (W::weighted) sample_json.push_back(w[n].weight);
        samples.push_back(std::move(sample_json));
    }
    j = {{"version", window_version}, {"samples", std::move(samples)}};
    if (const std::optional<wall_time> clock = w.clock()) j["clock"] = *clock;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_WINDOW_SAMPLES_HPP
