// SPDX-License-Identifier: MIT

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <support/static_check.hpp>

#include <waybill/wire/kafka.hpp>

namespace kafka_test {

namespace kafka = waybill::wire::kafka;
using kafka::bound;
using kafka::header;
using kafka::record;
using kafka::size;
using waybill::detail::highest_size;

// A text of any length, without memory for it: a read would be found.
constexpr std::string_view of(std::size_t n)
{
    return {"", n};
}

constexpr std::uint64_t value_only(std::size_t n, std::uint64_t offset = 0, std::int64_t time = 0)
{
    return size({.value = of(n)}, offset, time);
}

// Seven bytes over the value at first: length, attributes, time, offset, key, value, headers. The
// lengths of the value and of the record take a byte more where they no longer fit.
static_assert(value_only(0) == 7);
static_assert(value_only(57) == 64, "the record has 63 bytes after its length");
static_assert(value_only(58) == 66);
static_assert(value_only(63) == 71 && value_only(64) == 73 && value_only(200) == 209);
static_assert(value_only(8'184) == 8'193 && value_only(8'185) == 8'195, "8,191 to 8,192");
static_assert(value_only(8'191) == 8'201 && value_only(8'192) == 8'203);
static_assert(value_only(1'000'000) == 1'000'011);
static_assert(value_only(16'383) == 16'394 && value_only(16'384) == 16'395);
static_assert(value_only((1U << 20U) - 1) == (1U << 20U) - 1 + 4 + 3 + 5);

// An absent key is one byte, and so is an empty one.
static_assert(size({}, 0, 0) == 7);
static_assert(size({.key = "", .value = ""}, 0, 0) == 7);
static_assert(size({.key = "k", .value = of(100)}, 0, 0) == 110);
static_assert(size({.key = of(64)}, 0, 0) == 64 + 2 + 6 + 1);

// The position: 64 records later, or 64 ms earlier or later, takes one more byte.
static_assert(value_only(0, 63) == 7 && value_only(0, 64) == 8);
static_assert(value_only(0, 8'191) == 8 && value_only(0, 8'192) == 9);
static_assert(value_only(0, 0, 63) == 7 && value_only(0, 0, 64) == 8);
static_assert(value_only(0, 0, -64) == 7 && value_only(0, 0, -65) == 8);
static_assert(value_only(0, 0, std::numeric_limits<std::int64_t>::lowest()) == 16);
static_assert(value_only(0, 0x7FFF'FFFF) == 11);

// Headers: their number, and each with two lengths. An absent value is as long as an empty one.
constexpr header one[] = {{"h", "v"}};
constexpr header absent[] = {{"h", {}}};
constexpr header empty[] = {{"", ""}};
constexpr header trace[] = {{"traceparent", of(55)}};
static_assert(size({.key = "k", .value = of(100), .headers = one}, 0, 0) == 114);
static_assert(size({.headers = absent}, 0, 0) == 10);
static_assert(size({.headers = empty}, 0, 0) == 9);
static_assert(size({.headers = trace}, 0, 0) == 7 + 1 + 11 + 1 + 55 + 1, "the record passes 63");
constexpr std::array<header, 64> many{};
static_assert(size({.headers = many}, 0, 0) == 2 + 1 + 1 + 1 + 1 + 1 + 2 + 64 * 2);

// Sizes that the format cannot express.
constexpr std::size_t gib = std::size_t{1} << 30U;
static_assert(value_only(2 * gib - 100) == 2 * gib - 100 + 5 + 4 + 1 + 5);
static_assert(value_only(2 * gib - 11) == 2 * gib - 1 + 5, "the largest value of the length field");
static_assert(value_only(2 * gib - 10) == highest_size);
static_assert(value_only(2 * gib) == highest_size);
static_assert(value_only(~std::size_t{0} / 2) == highest_size);
static_assert(size({.key = of(gib), .value = of(gib)}, 0, 0) == highest_size);
static_assert(value_only(0, 0x8000'0000) == highest_size);
static_assert(value_only(0, highest_size) == highest_size);
#if SIZE_MAX > UINT32_MAX  // with 32 bits there is no such view
static_assert(value_only(4 * gib) == highest_size);
constexpr header huge[] = {{of(4 * gib), ""}, {"", of(4 * gib)}};
static_assert(size({.headers = huge}, 0, 0) == highest_size);
static_assert(bound({.headers = huge}) == highest_size);
#endif
constexpr std::size_t most = ~std::size_t{0} / 2;
constexpr header absurd[] = {{of(most), ""}, {of(most), ""}};
static_assert(size({.headers = absurd}, 0, 0) == highest_size, "nothing wraps");
static_assert(size({.key = of(most), .value = of(most)}, 0, 0) == highest_size);
static_assert(size({.key = of(most), .value = of(most), .headers = absurd}, 0, 0) == highest_size);
static_assert(bound({.key = of(2 * gib)}) == highest_size);

// The bound is reached only by positions at both ends.
static_assert(bound({.value = of(100)}) == 21 + 1 + 2 + 100 + 1);
static_assert(bound({}) == 24);

constexpr std::uint64_t batch(const std::vector<record>& records)
{
    const kafka::record_batch framing;
    kafka::record_batch::state state;
    std::uint64_t sum = 0;
    for (const record& r : records) {
        if (state == kafka::record_batch::state{}) sum = framing.envelope(r);
        sum += framing.delta(state, r);
        framing.push(state, r);
    }
    return sum;
}

STATIC_CHECK(batch(std::vector<record>(1, {.value = of(200)})) == 270);
STATIC_CHECK(batch(std::vector<record>(2, {.value = of(200)})) == 479);
STATIC_CHECK(batch(std::vector<record>(100, {.value = of(200)})) == 20'997);
STATIC_CHECK(batch(std::vector<record>(1000, {.value = of(200)})) == 209'997);

// The first record is the base of the times. The next record may be earlier.
constexpr std::int64_t now = 1'700'000'000'000;
STATIC_CHECK(batch({{.timestamp = now}}) == 61 + 7);
STATIC_CHECK(batch({{.timestamp = now}, {.timestamp = now + 64}}) == 61 + 7 + 8);
STATIC_CHECK(batch({{.timestamp = now}, {.timestamp = now - 65}}) == 61 + 7 + 8);
STATIC_CHECK(batch({{.timestamp = now}, {.timestamp = now + 64}, {.timestamp = now + 120}}) ==
             61 + 7 + 8 + 8);
STATIC_CHECK(batch({{.timestamp = now}, {.timestamp = 0}}) == 61 + 7 + 7 + 5);
// From one end of time to the other wraps, to one before the first.
STATIC_CHECK(batch({{.timestamp = std::numeric_limits<std::int64_t>::lowest()},
                    {.timestamp = std::numeric_limits<std::int64_t>::max()}}) == 61 + 7 + 7);

// A number as the format writes it, seven bits a byte.
std::uint64_t written(std::int64_t n)
{
    std::uint64_t bytes = 1;
    for (auto rest = waybill::wire::zigzag(n); rest > 127; rest >>= 7U) ++bytes;
    return bytes;
}

std::uint64_t written_text(std::size_t n)
{
    return written(static_cast<std::int64_t>(n)) + n;
}

TEST_CASE("kafka: the record size equals the written size at every boundary of a varint length")
{
    constexpr std::size_t lengths[] = {0, 63, 64, 8'191, 8'192, 1'048'575, 1'048'576};
    constexpr std::int64_t places[] = {0, 63, 64, 65, 8'191, 8'192, 8'193, 1'048'576, 0x7FFF'FFFF};
    std::uint64_t wrong = 0;
    const auto compare = [&](const record& r, std::uint64_t fields) {
        for (const std::int64_t offset : places) {
            for (const std::int64_t place : places) {
                for (const std::int64_t time : {place, -place}) {
                    const std::uint64_t body = 1 + written(time) + written(offset) + fields;
                    const auto whole = written(static_cast<std::int64_t>(body)) + body;
                    if (size(r, static_cast<std::uint64_t>(offset), time) != whole) ++wrong;
                }
            }
        }
        if (bound(r) != fields + 21) ++wrong;
    };
    for (const std::size_t key : lengths) {
        for (const std::size_t value : lengths) {
            const std::uint64_t pair = written_text(key) + written_text(value);
            compare({.key = of(key), .value = of(value)}, pair + 1);
            const header both[] = {{"id", {}}, {of(key), of(value)}};
            compare({.headers = both}, 3 + 3 + 1 + pair);
        }
    }
    const std::vector<header> all(8'193, {"k", "v"});
    constexpr std::size_t counts[] = {1, 63, 64, 2'000, 2'100, 8'191, 8'192, 8'193};
    for (const std::size_t count : counts) {
        const std::uint64_t fields = 2 + written(static_cast<std::int64_t>(count)) + 4 * count;
        compare({.headers = {all.data(), count}}, fields);
    }
    CHECK(wrong == 0);
}

TEST_CASE("kafka: the record size equals the written size for values of 0 to 8,999 bytes")
{
    std::uint64_t wrong = 0;
    const header long_one[] = {{"name", of(4'000)}, {"name", of(4'000)}};
    for (std::size_t n = 0; n != 9'000; ++n) {
        const std::uint64_t plain = 1 + 1 + 1 + 1 + written_text(n) + 1;
        const std::uint64_t headed = plain + 2 * (written_text(4) + written_text(4'000));
        if (value_only(n) != written(static_cast<std::int64_t>(plain)) + plain) ++wrong;
        if (size({.value = of(n), .headers = long_one}, 0, 0) !=
            written(static_cast<std::int64_t>(headed)) + headed) {
            ++wrong;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("kafka: a header count of 2^31 has the highest size, and no header is read")
{
    const std::size_t count = std::size_t{1} << 31U;
    const std::span<const header> all(&one[0], count);
    CHECK(size({.headers = all}, 0, 0) == highest_size);
    CHECK(bound({.headers = all}) == highest_size);
}

TEST_CASE("kafka: record_batch::delta does not change the state")
{
    const kafka::record_batch framing;
    kafka::record_batch::state state;
    framing.push(state, {.timestamp = now});
    const auto before = state;
    CHECK(framing.delta(state, {.timestamp = now + 100'000}) == 9);
    CHECK(state == before);
    framing.push(state, {});
    CHECK(state != before);
    CHECK(state.count == 2);
    CHECK(state.first == now);
}

}  // namespace kafka_test
