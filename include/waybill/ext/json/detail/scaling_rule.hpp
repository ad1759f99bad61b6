// SPDX-License-Identifier: MIT
//
// ext/json/detail/scaling_rule: reads and writes the rules of a scaling policy.

#ifndef WAYBILL_EXT_JSON_DETAIL_SCALING_RULE_HPP
#define WAYBILL_EXT_JSON_DETAIL_SCALING_RULE_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/text.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/ext/json/detail/enum_text.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/read.hpp>
#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/condition.hpp>
#include <waybill/scaling/evidence.hpp>
#include <waybill/scaling/reading.hpp>
#include <waybill/scaling/threshold.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// Maximum nesting depth of rules.
inline constexpr std::size_t max_rule_depth = 64;
/// Maximum number of rules in a policy.
inline constexpr std::size_t max_rules = 1'000;
/// Maximum number of entries in a list.
inline constexpr std::size_t max_listed = 1'000;

using waybill::detail::json_value;

/// A target of `read_value` whose value is read by a function: `f(place)`.
template <class F>
struct field_reader {
    F f;
};
template <class F>
field_reader(F) -> field_reader<F>;

template <json_value Json, class F>
void read_value(const json_place<Json>& at, field_reader<F>& into)
{
    into.f(at);
}

template <json_value Json>
[[nodiscard]] json_place<Json> place_of(const json_place<Json>& at, std::size_t n)
{
    return {at.value[n], waybill::detail::path_to(at.path, std::to_string(n)), at.error};
}

/// Reads an array of at most `max_listed` elements, each with `one(place, element)`.
template <json_value Json, class T, class F>
void read_list(const json_place<Json>& at, std::vector<T>& into, F one)
{
    if (!at.value.is_array() || at.value.size() > max_listed) {
        return at.fail("an array of at most " + std::to_string(max_listed));
    }
    into.clear();
    for (std::size_t n = 0; n != at.value.size() && !at.error; ++n) {
        one(place_of(at, n), into.emplace_back());
    }
}

/// Index of the one name that the object has as a field. Empty if there is none; an error that
/// begins with `expected` if there are two.
template <json_value Json, std::size_t N>
[[nodiscard]] std::optional<std::size_t> only_field(const json_place<Json>& at,
                                                    const std::string_view (&field_names)[N],
                                                    const char* expected)
{
    std::optional<std::size_t> found;
    for (std::size_t n = 0; n != N; ++n) {
        if (!at.value.is_object() || !at.value.contains(field_names[n])) continue;
        if (found) {
            at.fail(std::string(expected) + ", and \"" + std::string(field_names[*found]) +
                    "\" and \"" + std::string(field_names[n]) + "\" are two");
        }
        found = n;
    }
    return found;
}

/// The statistic of an object. If there is none, the error lists all statistics, followed by
/// `alternatives`.
template <json_value Json>
[[nodiscard]] std::optional<statistic> statistic_in(const json_place<Json>& at,
                                                    std::string_view alternatives = {})
{
    std::string_view field_names[statistics];
    for (std::size_t n = 0; n != statistics; ++n) field_names[n] = name(static_cast<statistic>(n));
    const auto found = only_field(at, field_names, "one statistic");
    if (found) return static_cast<statistic>(*found);
    if (at.error || !at.value.is_object()) {
        at.fail("an object");
        return {};
    }
    const std::string expected =
        waybill::detail::names<statistic>() + " of a metric" + std::string(alternatives);
    // An unknown field is probably a misspelt statistic.
    for (auto i = at.value.begin(); i != at.value.end(); ++i) {
        constexpr std::string_view other_fields[]{
            "above",   "at_least",   "below",    "at_most", "min_points",
            "max_age", "if_missing", "averaged", "each",    "tolerance"};
        bool known = false;
        for (const std::string_view other : other_fields) known = known || other == i.key();
        if (known) continue;
        json_place{i.value(), waybill::detail::path_to(at.path, i.key()), at.error}.fail(
            expected, json_error::code::unknown_field);
        return {};
    }
    at.fail(expected, json_error::code::missing);
    return {};
}

/// Reads the rules of one policy.
template <json_value Json>
class rule_reader {
public:
    void read(const json_place<Json>& at, rule& into, std::size_t depth = 1)
    {
        if (at.error) return;
        if (depth > max_rule_depth) {
            return at.fail("rules at most " + std::to_string(max_rule_depth) + " deep");
        }
        if (rules_left_ == 0) {
            return at.fail("at most " + std::to_string(max_rules) + " rules in a policy");
        }
        --rules_left_;
        constexpr std::string_view field_names[]{"all", "any", "of", "not"};
        const auto field_index = only_field(at, field_names, "one of all, any, of and not");
        if (!field_index) return read_comparison(at, into);
        std::vector<rule> parts;
        std::uint64_t wanted = 0;
        field_reader read_parts{[&](const json_place<Json>& place) {
            read_list(place, parts,
                      [&](const json_place<Json>& one, rule& r) { read(one, r, depth + 1); });
        }};
        field_reader read_only_part{
            [&](const json_place<Json>& place) { read(place, parts.emplace_back(), depth + 1); }};
        constexpr rule::kind kinds[]{rule::kind::all, rule::kind::any, rule::kind::at_least,
                                     rule::kind::opposite};
        const rule::kind kind = kinds[*field_index];
        json_fields fields(at);
        if (kind == rule::kind::at_least) fields.required("at_least", wanted);
        if (kind == rule::kind::opposite) fields.optional("not", read_only_part);
        else fields.optional(field_names[*field_index], read_parts);
        fields.done();
        if (!at.error) into = rule(kind, std::move(parts), wanted);
    }

private:
    static void read_comparison(const json_place<Json>& at, rule& into)
    {
        const std::optional<statistic> measured_statistic =
            statistic_in(at, ", or all, any, not, or at_least with of");
        if (!measured_statistic) return;
        constexpr relation relations[]{relation::above, relation::at_least, relation::below,
                                       relation::at_most};
        std::string_view field_names[std::size(relations)];
        for (std::size_t n = 0; n != std::size(relations); ++n) {
            field_names[n] = word_of(relations[n]);
        }
        const auto relation_index = only_field(at, field_names, "one threshold");
        comparison c{.what = *measured_statistic};
        json_fields fields(at);
        fields.required(name(*measured_statistic), c.metric)
            .optional("min_points", c.min_points)
            .optional("max_age", c.max_age)
            .optional("if_missing", c.missing)
            .optional("averaged", c.averaged);
        if (relation_index) {
            c.how = relations[*relation_index];
            fields.required(field_names[*relation_index], c.limit);
        }
        fields.done();  // reports a misspelt relation as an unknown field
        if (!relation_index) {
            at.fail("a threshold under above, at_least, below or at_most",
                    json_error::code::missing);
        }
        if (!at.error) into = rule(std::move(c));
    }

    std::size_t rules_left_ = max_rules;
};

/// Writes rules that can be read again. `error` is the first part that cannot be written.
template <json_value Json>
class rule_writer {
public:
    using json = Json;

    std::optional<json_error> error;

    void fail(std::string path, std::string expected, std::string found)
    {
        if (error) return;
        error =
            json_error{json_error::code::wrong, waybill::detail::shortened_path(std::move(path)),
                       std::move(expected), std::move(found)};
    }

    [[nodiscard]] json number(const std::string& path, double x)
    {
        if (!waybill::detail::is_finite(x)) fail(path, "a finite number", short_number(x));
        return x;
    }

    [[nodiscard]] json text(const std::string& path, const std::string& s)
    {
        if (is_utf8(s)) return s;
        fail(path, "a text in UTF-8", waybill::detail::shown(json(s)));
        return {};
    }

    [[nodiscard]] json write(const std::string& path, const threshold& t)
    {
        if (t.what() == threshold::kind::constant) return number(path, t.value());
        json j = json::object();
        if (t.what() == threshold::kind::per_instance) {
            j["per_instance"] = number(inside(path, "per_instance"), t.value());
        } else if (t.what() == threshold::kind::table) {
            json steps = json::array();
            for (const threshold_step& s : t.table()) {
                steps.push_back(json::array({s.instances, number(path, s.value)}));
            }
            check_list_size(inside(path, "by_instances"), steps.size());
            j["by_instances"] = std::move(steps);
        } else {
            fail(path, "a threshold that can be stored", "a function");
        }
        return j;
    }

    [[nodiscard]] json write(const std::string& path, const rule& r, std::size_t depth = 1)
    {
        if (depth > max_rule_depth) {
            fail(path, "rules at most " + std::to_string(max_rule_depth) + " deep", "more");
            return {};
        }
        if (rules_left_ == 0) {
            fail(path, "at most " + std::to_string(max_rules) + " rules in a policy", "more");
            return {};
        }
        --rules_left_;
        if (r.what() == rule::kind::compare) return write_comparison(path, r.compared());
        const std::string word(word_of(r.what()));
        const std::string place = inside(path, word);
        json j = json::object();
        if (r.what() == rule::kind::opposite) {
            if (r.parts().size() == 1) j[word] = write(place, r.parts()[0], depth + 1);
            else fail(place, "one rule", std::to_string(r.parts().size()));
            return j;
        }
        if (r.what() == rule::kind::at_least) j["at_least"] = r.wanted();
        check_list_size(place, r.parts().size());
        json parts = json::array();
        for (std::size_t n = 0; n != r.parts().size() && !error; ++n) {
            parts.push_back(write(numbered(place, n), r.parts()[n], depth + 1));
        }
        j[word] = std::move(parts);
        return j;
    }

    void check_list_size(const std::string& path, std::size_t n)
    {
        if (n > max_listed) {
            fail(path, "an array of at most " + std::to_string(max_listed), std::to_string(n));
        }
    }

private:
    [[nodiscard]] json write_comparison(const std::string& path, const comparison& c)
    {
        const std::string statistic_name(name(c.what));
        const std::string relation_name(word_of(c.how));
        json j = {{statistic_name, text(inside(path, statistic_name), c.metric)},
                  {relation_name, write(inside(path, relation_name), c.limit)}};
        if (c.min_points) j["min_points"] = *c.min_points;
        if (c.max_age) j["max_age"] = *c.max_age;
        if (c.missing != when_missing::unknown) j["if_missing"] = c.missing;
        if (c.averaged) j["averaged"] = true;
        return j;
    }

    std::size_t rules_left_ = max_rules;
};

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_SCALING_RULE_HPP
