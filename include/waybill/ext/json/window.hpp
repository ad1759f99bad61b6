// SPDX-License-Identifier: MIT
//
// ext/json/window: the samples of a window as JSON, read and written.
//
//     {"version": 1, "clock": "2024-02-29T12:10:00Z",
//      "samples": [["2024-02-29T12:01:00Z", 120], ["2024-02-29T12:02:00Z", 135]]}
//
//     nlohmann::json j = backlog;
//     auto again = waybill::parse_json_with<backlog_window>(j.dump(), {.span = 10min});
//     if (!again) die(waybill::describe(again.error()));
//     // "/samples/1/1: expected a whole number of -128 to 127, found 135"
//
// A sample is [time, value], or [time, value, weight] if the window has weights. "clock" is the
// latest time that was passed to the window, if any. As in window_snapshot.hpp, options are not
// stored: the caller passes them, and they must pass `validate`. Neither losses nor the samples
// that `max_points` removed are stored. `read_json` also reads a window, with default options: it
// keeps all samples.

#ifndef WAYBILL_EXT_JSON_WINDOW_HPP
#define WAYBILL_EXT_JSON_WINDOW_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include <waybill/core/config_error.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/ext/json/core.hpp>
#include <waybill/window/snapshot_error.hpp>
#include <waybill/window/window_options.hpp>
#include <waybill/window/window_snapshot.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// Format version of the written JSON.
inline constexpr std::uint64_t window_version = 1;

}  // namespace detail

template <detail::json_value Json>
void to_json(Json& j, const snapshot_error& e)
{
    j = {{"problem", e.kind}, {"offset", e.offset}};
    if (e.kind == snapshot_error::code::bad_options) j["options"] = describe(e.options);
}

namespace detail {

/// The widest type of its kind, so that nlohmann's library writes a char as a number.
template <class V>
using widest = std::conditional_t<std::floating_point<V>, double,
                                  std::conditional_t<std::signed_integral<V>, std::int64_t,
                                                     std::uint64_t>>;

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
    constexpr double most = static_cast<double>((std::numeric_limits<V>::max)());
    if (x <= most && x >= -most) into = static_cast<V>(x);
    else at.fail("a number of at most " + std::to_string(sizeof(V) * 8) + " bits");
}

template <json_value Json, class Sample>
void read_sample(const json_place<Json>& at, bool weighted, Sample& into)
{
    const std::size_t size = weighted ? 3 : 2;
    if (!at.value.is_array() || at.value.size() != size) {
        return at.fail(weighted ? "[time, value, weight]" : "[time, value]");
    }
    const auto place_of = [&](std::size_t n) {
        return json_place{at.value[n], path_to(at.path, std::to_string(n)), at.error};
    };
    read_value(place_of(0), into.at);
    read_sample_value(place_of(1), into.value);
    if constexpr (requires { into.weight; }) {
        const json_place place = place_of(2);
        read_value(place, into.weight);
        if (into.weight == 0) place.fail("a weight of at least 1");
    }
}

/// Reads samples, in the order of their times, into `window`, after advancing it to `clock`.
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
    wall_time last = wall_time::lowest();
    for (std::size_t n = 0; n != at.value.size() && !at.error; ++n) {
        const json_place place{at.value[n], path_to(at.path, std::to_string(n)), at.error};
        typename W::sample_type s{};
        read_sample(place, W::weighted, s);
        if (!at.error && s.at < last) {
            json_place{place.value[0], place.path + "/0", at.error}.fail(
                "a time not before that of the sample in front");
        }
        last = s.at;
        if (!at.error) into.window.insert(s);
    }
}

template <json_value Json, class W>
void write_window(Json& j, const W& w)
{
    Json samples = Json::array();
    for (std::uint64_t n = 0; n != w.size(); ++n) {
        const auto value = static_cast<widest<typename W::value_type>>(w[n].value);
        Json one = {w[n].at, value};
        if constexpr (W::weighted) one.push_back(w[n].weight);
        samples.push_back(std::move(one));
    }
    j = {{"version", window_version}, {"samples", std::move(samples)}};
    if (const std::optional<wall_time> clock = w.clock()) j["clock"] = *clock;
}

}  // namespace detail

/// Reads a window with the options of `into`. The samples of `into` are replaced.
template <detail::json_value Json, detail::storable_window W>
void read_value(const json_place<Json>& at, W& into)
{
    W fresh(into.options());
    wall_time clock;
    json_fields fields(at);
    fields.version(detail::window_version).may("clock", clock);
    detail::samples_into<W> samples{fresh};
    if (at.value.is_object() && at.value.contains("clock")) samples.clock = clock;
    fields.must("samples", samples).done();
    if (!at.error) into = std::move(fresh);
}

/// Reads a window with these options. If `validate` refuses the options, the path of the error is
/// "options".
template <detail::storable_window W, detail::json_value Json = nlohmann::json>
[[nodiscard]] result<W, json_error> read_json_with(const Json& value, const window_options& options)
{
    if (const std::optional<config_error> bad = validate(options)) {
        return unexpected(json_error{json_error::code::wrong, "options",
                                     "those that a window can be kept with", describe(*bad)});
    }
    W read(options);
    std::optional<json_error> error;
    read_value(json_place<Json>{value, {}, error}, read);
    if (error) return unexpected(std::move(*error));
    return read;
}

/// Parses `text` (within the default json_limits) and reads a window with these options.
template <detail::storable_window W, detail::json_value Json = nlohmann::json>
[[nodiscard]] result<W, json_error> parse_json_with(std::string_view text,
                                                 const window_options& options)
{
    result<Json, json_error> parsed = parse_json_text<Json>(text);
    if (!parsed) return unexpected(std::move(parsed.error()));
    return read_json_with<W>(*parsed, options);
}

}  // namespace waybill::inline v0_2

/// Writes a window as an object. Without it nlohmann's library would write an array of samples.
template <waybill::detail::storable_window W>
struct nlohmann::adl_serializer<W> {
    template <class Json>
    static void to_json(Json& j, const W& w)
    {
        waybill::detail::write_window(j, w);
    }
    template <class Json>
    static void from_json(const Json&, W&) = delete;
};

#endif  // WAYBILL_EXT_JSON_WINDOW_HPP
