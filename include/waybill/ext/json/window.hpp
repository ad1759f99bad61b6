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
#include <waybill/ext/json/core.hpp>
#include <waybill/ext/json/detail/window_samples.hpp>
#include <waybill/window/snapshot_error.hpp>
#include <waybill/window/window_options.hpp>
#include <waybill/window/window_snapshot.hpp>

namespace waybill::inline v0_2 {

template <detail::json_value Json>
void to_json(Json& j, const snapshot_error& e)
{
    j = {{"kind", e.kind}, {"offset", e.offset}};
    if (e.kind == snapshot_error::code::bad_options) j["options"] = describe(e.options);
}

/// Reads a window with the options of `into`. The samples of `into` are replaced.
template <detail::json_value Json, detail::storable_window W>
void read_value(const json_place<Json>& at, W& into)
{
    W fresh(into.options());
    wall_time clock;
    json_fields fields(at);
    fields.version(detail::window_version).optional("clock", clock);
    detail::samples_into<W> samples{fresh};
    if (at.value.is_object() && at.value.contains("clock")) samples.clock = clock;
    fields.required("samples", samples).done();
    if (!at.error) into = std::move(fresh);
}

/// Reads a window with these options. If `validate` refuses the options, the path of the error is
/// "options".
template <detail::storable_window W, detail::json_value Json = nlohmann::json>
[[nodiscard]] result<W, json_error> read_json_with(const Json& value, const window_options& options)
{
    if (const std::optional<config_error> bad = validate(options)) {
        return unexpected(
            json_error{json_error::code::wrong, "options", "valid options", describe(*bad)});
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
