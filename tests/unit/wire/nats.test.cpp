// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/wire/nats.hpp>

namespace nats_test {

namespace nats = waybill::wire::nats;
using nats::frame_size;
using nats::header_size;
using nats::header_style;
using nats::payload_size;
using waybill::detail::highest_size;

constexpr std::string_view of(std::size_t n)
{
    return {"", n};
}

// Measured against a server: "K: V" takes 18 bytes, and 65,518 of body are left of 65,536.
constexpr nats::header one[] = {{"K", "V"}};
constexpr nats::header two[] = {{"K", "V"}, {"K", ""}};
static_assert(header_size({}) == 0);
static_assert(header_size(one) == 18);
static_assert(header_size(one, header_style::compact) == 17);
static_assert(header_size(two) == 18 + 5);
static_assert(payload_size({.headers = one, .body = of(65'518)}) == 65'536);
static_assert(payload_size({.body = of(65'536)}) == 65'536);
static_assert(payload_size({.headers = one, .body = of(10)}, header_style::compact) == 27);

// The frame: "PUB a 0\r\n\r\n", and a digit more at 10, 100, ...
static_assert(frame_size({.subject = "a"}) == 11);
static_assert(frame_size({.subject = "a", .body = of(9)}) == 20);
static_assert(frame_size({.subject = "a", .body = of(10)}) == 22);
static_assert(frame_size({.subject = "a", .reply = "bc"}) == 14);
static_assert(frame_size({.subject = "a", .reply = ""}) == 12, "present and empty: two spaces");
// "HPUB a 18 18\r\n" and 18 bytes and "\r\n"
static_assert(frame_size({.subject = "a", .headers = one}) == 14 + 18 + 2);
static_assert(frame_size({.subject = "a", .headers = one, .body = of(82)}) == 15 + 100 + 2);
static_assert(frame_size({.subject = "a", .headers = one}, header_style::compact) == 14 + 17 + 2);

// No overflow.
#if SIZE_MAX > UINT32_MAX  // with 32 bits there is no such view
constexpr std::size_t gib4 = std::size_t{1} << 32U;
constexpr nats::header large[] = {{of(gib4), of(gib4)}};
constexpr nats::header absurd[] = {{of(~std::size_t{0} / 2), of(~std::size_t{0} / 2)},
                                   {of(~std::size_t{0} / 2), of(~std::size_t{0} / 2)}};
static_assert(header_size(large) == 2 * gib4 + 16);
static_assert(payload_size({.headers = large, .body = of(gib4)}) == 3 * gib4 + 16);
static_assert(header_size(absurd) == highest_size);
static_assert(payload_size({.headers = absurd, .body = "x"}) == highest_size);
static_assert(frame_size({.subject = "a", .headers = absurd}) == highest_size);
#endif

TEST_CASE("nats: frame_size returns the same size at run time")
{
    nats::message m{.subject = "orders", .reply = {}, .headers = one, .body = "12345"};
    constexpr std::string_view frame = "HPUB orders 18 23\r\nNATS/1.0\r\nK: V\r\n\r\n12345\r\n";
    CHECK(frame_size(m) == frame.size());
}

}  // namespace nats_test
