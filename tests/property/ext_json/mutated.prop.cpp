// SPDX-License-Identifier: MIT
//
// Random changes of a valid document. Reading it returns an error, or exactly the values of the
// document.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/ext/json/batch.hpp>
#include <waybill/ext/json/consume.hpp>
#include <waybill/ext/json/lease.hpp>
#include <waybill/ext/json/queue.hpp>

namespace json_mutated_test {
namespace {

using namespace waybill;
using nlohmann::json;

std::string any_bytes()
{
    return *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
}

std::uint64_t any_size()
{
    return *rc::gen::oneOf(rc::gen::arbitrary<std::uint64_t>(),
                           rc::gen::inRange<std::uint64_t>(0, 5), rc::gen::just(unlimited),
                           rc::gen::just(unlimited - 1));
}

duration any_duration()
{
    const auto ns = *rc::gen::arbitrary<std::int64_t>();
    return duration::nanoseconds(ns >> *rc::gen::inRange(0, 63));
}

template <class E>
E any_of()
{
    std::uint8_t count = 0;
    while (detail::named<E>(name(static_cast<E>(count)))) ++count;
    return static_cast<E>(*rc::gen::inRange<int>(0, count));
}

send_policy any_policy()
{
    send_policy p;
    p.limit = {any_size(), any_size(), any_size(), any_size()};
    p.item_overhead = any_size();
    p.exact_sizes = *rc::gen::arbitrary<bool>();
    p.in_flight = *rc::gen::arbitrary<std::uint32_t>();
    p.ordered = *rc::gen::arbitrary<bool>();
    p.one_key = *rc::gen::arbitrary<bool>();
    p.on_too_large = any_of<send_policy::when_too_large>();
    p.budget = {*rc::gen::arbitrary<std::uint32_t>(), *rc::gen::arbitrary<std::uint32_t>()};
    p.linger = any_duration();
    p.on_unknown = any_of<send_policy::when_unknown>();
    p.retry.max_attempts = *rc::gen::arbitrary<std::uint32_t>();
    p.retry.immediate = *rc::gen::arbitrary<std::uint32_t>();
    p.retry.pauses = {any_duration(), any_duration(), *rc::gen::arbitrary<double>(),
                      any_of<backoff::jitter>()};
    return p;
}

dead_letter any_letter()
{
    return {{any_bytes(), any_bytes(), any_bytes()},
            {*rc::gen::arbitrary<std::uint64_t>(), any_bytes()},
            any_of<fault_kind>(),
            any_bytes(),
            any_bytes(),
            *rc::gen::arbitrary<std::uint32_t>(),
            wall_time::at(any_duration()),
            wall_time::at(any_duration())};
}

template <class T>
void comes_back(const T& value)
{
    const auto read = parse_json<T>(json(value).dump());
    RC_ASSERT(read.has_value());
    RC_ASSERT(*read == value);
}

/// Replaces or removes one value somewhere in `j`, or adds one next to it.
void disturb(json& j)
{
    json* at = &j;
    while (at->is_structured() && !at->empty() && *rc::gen::inRange(0, 4) != 0) {
        const auto n = *rc::gen::inRange<std::size_t>(0, at->size());
        at = &std::next(at->begin(), static_cast<std::ptrdiff_t>(n)).value();
    }
    const json others[] = {nullptr,
                           true,
                           -1,
                           0,
                           1,
                           2,
                           1.5,
                           -0.0,
                           1e300,
                           INT64_MIN,
                           UINT64_MAX,
                           UINT64_MAX - 1,
                           4'294'967'296,
                           "",
                           "unlimited",
                           "forever",
                           "1.5s",
                           "full",
                           "\xff",
                           "1970-01-01T00:00:00.5Z",
                           "Zg==",
                           json::array(),
                           json::object(),
                           json::binary({1})};
    const auto which = *rc::gen::inRange<std::size_t>(0, std::size(others) + 2);
    if (which < std::size(others)) *at = others[which];
    else if (at->is_object() && !at->empty() && which == std::size(others)) at->erase(at->begin());
    else if (at->is_object()) (*at)["new"] = 1;
}

/// The read value agrees with the document. Exceptions: the defaults of missing fields, and values
/// with two spellings.
void is_within(const json& part, const json& whole)
{
    if (!part.is_object()) {
        const bool same = part == whole || (part == unlimited && whole == "unlimited");
        RC_ASSERT(same);
        return;
    }
    constexpr std::string_view encoded = "_base64";
    for (auto i = part.begin(); i != part.end(); ++i) {
        std::string plain = i.key();
        if (!whole.contains(plain) && plain.ends_with(encoded)) {  // base64 was not necessary
            plain.resize(plain.size() - encoded.size());
            RC_ASSERT(whole[plain] == *detail::bytes_in_base64(i.value().get<std::string>()));
            continue;
        }
        RC_ASSERT(whole.contains(plain));
        is_within(i.value(), whole[plain]);
    }
}

template <class T>
void never_wrong(json j)
{
    const int times = *rc::gen::inRange(1, 4);
    for (int i = 0; i < times; ++i) disturb(j);
    const auto read = read_json<T>(j);
    if (!read) {
        RC_ASSERT(!read.error().expected.empty());
        RC_ASSERT(!json(read.error()).dump().empty());
        return;
    }
    const json again = *read;
    RC_ASSERT(*read_json<T>(again) == *read);
    is_within(j, again);
}

TEST_CASE("json: any policy, dead letter, checkpoint and calibration is read unchanged")
{
    CHECK(rc::check([] { comes_back(any_policy()); }));
    CHECK(rc::check([] { comes_back(any_letter()); }));
    CHECK(rc::check([] {
        comes_back(checkpoint{{*rc::gen::arbitrary<std::uint64_t>(), any_bytes()},
                              *rc::gen::arbitrary<std::uint64_t>()});
    }));
    CHECK(rc::check([] {
        const detail::calibrator known(
            calibration{.documented = any_size(),
                        .limit = any_size(),
                        .ceiling = any_size(),
                        .envelope = any_size(),
                        .items = {.ratio = *rc::gen::arbitrary<double>(),
                                  .header = *rc::gen::arbitrary<double>(),
                                  .header_variance = *rc::gen::arbitrary<double>(),
                                  .noise = *rc::gen::arbitrary<double>()},
                        .accepted = any_size(),
                        .refused = any_size(),
                        .consecutive_accepted = *rc::gen::arbitrary<std::uint32_t>(),
                        .probe_after = *rc::gen::arbitrary<std::uint32_t>(),
                        .reports = any_of<calibration::broker_reports>()});
        comes_back(known.state());
    }));
}

TEST_CASE("json: a document with wrong values is an error, or contains the value that was read")
{
    CHECK(rc::check([] { never_wrong<send_policy>(any_policy()); }));
    CHECK(rc::check([] { never_wrong<dead_letter>(any_letter()); }));
    CHECK(rc::check([] { never_wrong<checkpoint>(checkpoint{{1, "o"}, 2}); }));
    CHECK(rc::check([] { never_wrong<calibration>(calibration()); }));
}

TEST_CASE("json: a changed text is an error, or is read like its parsed document")
{
    CHECK(rc::check([] {
        std::string text = json(any_letter()).dump();
        const int times = *rc::gen::inRange(1, 6);
        for (int i = 0; i < times && !text.empty(); ++i) {
            const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
            switch (*rc::gen::inRange(0, 4)) {
                case 0: text[at] = *rc::gen::arbitrary<char>(); break;
                case 1: text.erase(at, *rc::gen::inRange<std::size_t>(1, 9)); break;
                case 2:
                    text.insert(
                        at, 1,
                        *rc::gen::element('"', '{', '}', '[', ',', ':', '\\', '0', '-', 'e'));
                    break;
                default:
                    text.insert(at, text.substr(at, *rc::gen::inRange<std::size_t>(1, 30)));
                    break;
            }
        }
        const json parsed = json::parse(text, nullptr, false);
        const auto read = parse_json<dead_letter>(text);
        if (parsed.is_discarded()) {
            RC_ASSERT(!read.has_value());
            RC_ASSERT(read.error().kind == json_error::code::syntax);
        } else if (read) {
            RC_ASSERT(*read_json<dead_letter>(parsed) == *read);
            RC_ASSERT(parse_json<dead_letter>(json(*read).dump()) == read);
        } else {
            RC_ASSERT(!read.error().expected.empty());
        }
    }));
}

}  // namespace
}  // namespace json_mutated_test
