// SPDX-License-Identifier: MIT

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/wire/amqp_batch.hpp>
#include <waybill/wire/amqp_encoder.hpp>
#include <waybill/wire/amqp_message.hpp>
#include <waybill/wire/amqp_size.hpp>
#include <waybill/wire/amqp_value.hpp>

namespace amqp_test {
namespace {

using namespace std::string_view_literals;
using waybill::detail::highest_size;
using waybill::wire::amqp::batch;
using waybill::wire::amqp::bound;
using waybill::wire::amqp::content;
using waybill::wire::amqp::dotnet;
using waybill::wire::amqp::encoder;
using waybill::wire::amqp::entries;
using waybill::wire::amqp::go_amqp;
using waybill::wire::amqp::identifier;
using waybill::wire::amqp::message;
using waybill::wire::amqp::minimal;
using waybill::wire::amqp::octets;
using waybill::wire::amqp::profile;
using waybill::wire::amqp::property;
using waybill::wire::amqp::proton;
using waybill::wire::amqp::rhea;
using waybill::wire::amqp::size;
using waybill::wire::amqp::uamqp;
using waybill::wire::amqp::value;

constexpr std::uint64_t four_gib = std::uint64_t{1} << 32;

template <class P>
constexpr std::uint64_t of(const value& v)
{
    return size<P>(v);
}

// Every form of every type, by the specification.
static_assert(of<minimal>({}) == 1);
static_assert(of<minimal>(nullptr) == 1);
static_assert(of<minimal>(true) == 1 && of<minimal>(false) == 1);
static_assert(of<minimal>(std::uint8_t{0}) == 2 && of<minimal>(std::int8_t{-1}) == 2);
static_assert(of<minimal>(std::uint16_t{0}) == 3 && of<minimal>(std::int16_t{0}) == 3);
static_assert(of<minimal>(0u) == 1 && of<minimal>(1u) == 2 && of<minimal>(255u) == 2);
static_assert(of<minimal>(256u) == 5);
static_assert(of<minimal>(std::uint64_t{0}) == 1 && of<minimal>(std::uint64_t{255}) == 2);
static_assert(of<minimal>(std::uint64_t{256}) == 9);
static_assert(of<minimal>(0) == 2 && of<minimal>(127) == 2 && of<minimal>(-128) == 2);
static_assert(of<minimal>(128) == 5 && of<minimal>(-129) == 5);
static_assert(of<minimal>(std::int64_t{127}) == 2 && of<minimal>(std::int64_t{128}) == 9);
static_assert(of<minimal>(std::int64_t{-128}) == 2 && of<minimal>(std::int64_t{-129}) == 9);
static_assert(of<minimal>(5.0) == 9 && of<minimal>(5.0f) == 5);
static_assert(of<minimal>(U'x') == 5);
static_assert(of<minimal>(value::timestamp()) == 9 && of<minimal>(value::uuid()) == 17);
static_assert(of<minimal>("") == 2 && of<minimal>("abc") == 5 && of<minimal>("abc"sv) == 5);
static_assert(of<minimal>(value::string(254)) == 256 && of<minimal>(value::string(255)) == 257);
static_assert(of<minimal>(value::string(256)) == 261);
static_assert(of<minimal>(value::symbol(255)) == 257 && of<minimal>(value::symbol(256)) == 261);
static_assert(of<minimal>(value::binary(255)) == 257 && of<minimal>(value::binary(256)) == 261);
static_assert(of<minimal>(value::encoded(42)) == 42);
static_assert(value(std::array<std::byte, 3>{}) == value::binary(3), "no text is binary");
static_assert(value(u8"äb"sv) == value::binary(3), "octets, not letters");
static_assert(value("ab") == value::string(2) && value("ab") == value::symbol("ab"));

// A character is not treated as a number, and a pointer not as a bool.
static_assert(!std::is_constructible_v<value, char> && !std::is_constructible_v<value, wchar_t>);
static_assert(!std::is_constructible_v<value, int*>);
static_assert(!std::is_constructible_v<value, long double>);

// JavaScript has one type of number, so the value decides.
static_assert(of<rhea>(0) == 2 && of<rhea>(0u) == 2 && of<rhea>(0.0) == 2 && of<rhea>(-0.0) == 2);
static_assert(of<rhea>(255) == 2 && of<rhea>(256) == 5 && of<rhea>(255.0) == 2);
static_assert(of<rhea>(0xFFFF'FFFF) == 5 && of<rhea>(four_gib) == 9 && of<rhea>(4294967295.0) == 5);
static_assert(of<rhea>(-128) == 2 && of<rhea>(-129) == 5 && of<rhea>(-129.0) == 5);
static_assert(of<rhea>(-2147483646) == 5 && of<rhea>(-2147483647) == 9);
static_assert(of<rhea>(std::numeric_limits<std::int64_t>::min()) == 9);
static_assert(of<rhea>(highest_size) == 9);
static_assert(of<rhea>(1.5) == 9 && of<rhea>(1.5f) == 9 && of<rhea>(1e300) == 9);
static_assert(of<rhea>(std::numeric_limits<double>::infinity()) == 9);
static_assert(of<rhea>(std::numeric_limits<double>::quiet_NaN()) == 1);
static_assert(of<rhea>(std::uint16_t{7}) == 2 && of<rhea>(std::int8_t{-7}) == 2);

static_assert(of<go_amqp>(value::binary(0)) == 1 && of<go_amqp>("") == 2);
static_assert(of<bound>(true) == 2 && of<bound>(0) == 9 && of<bound>(1.5f) == 9);
static_assert(of<bound>("") == 5 && of<bound>({}) == 1 && of<bound>(value::encoded(3)) == 3);

// The empty message, with all encoders.
static_assert(size<minimal>(message{}) == 0);
static_assert(size<proton>(message{}) == 8);
static_assert(size<rhea>(message{}) == 12);
static_assert(size<uamqp>(message{}) == 0);
static_assert(size<go_amqp>(message{}) == 0);
static_assert(size<dotnet>(message{}) == 0);
static_assert(size<bound>(message{}) == (10 + 9 + 16) + (10 + 9 + 12 + 5) + 11);

// The sizes of Proton 0.37, rhea 3.0.5 and uAMQP 1.5.3, in this order.
constexpr bool wrote(const message& m, std::uint64_t by_proton, std::uint64_t by_rhea,
                     std::uint64_t by_uamqp)
{
    return size<proton>(m) == by_proton && size<rhea>(m) == by_rhea && size<uamqp>(m) == by_uamqp &&
           size<bound>(m) >= by_proton && size<bound>(m) >= by_rhea && size<bound>(m) >= by_uamqp &&
           size<minimal>(m) <= by_proton && size<minimal>(m) <= by_rhea &&
           size<minimal>(m) <= by_uamqp;
}
constexpr auto id36 = identifier::string(36);
static_assert(wrote({.body = 0}, 13, 13, 5));
static_assert(wrote({.body = 1}, 14, 14, 6));
static_assert(wrote({.body = 255}, 268, 268, 260));
static_assert(wrote({.body = 256}, 272, 272, 264));
static_assert(wrote({.body = 1024}, 1040, 1040, 1032));
static_assert(wrote({.body = 65'536}, 65'552, 65'552, 65'544));
static_assert(wrote({.body = 0, .message_id = id36}, 53, 59, 49));
static_assert(wrote({.body = 0, .content_type = "application/json"}, 39, 45, 35));
static_assert(wrote({.body = 0, .group_id = "12345678"}, 13 + 23, 13 + 28, 5 + 26),
              "Proton adds a group-sequence by itself");
static_assert(wrote({.body = 0, .group_id = "12345678", .group_sequence = 0}, 13 + 23, 13 + 29,
                    5 + 27));
static_assert(wrote({.body = 0, .to = "12345", .subject = "12345"}, 13 + 18, 13 + 24, 5 + 22));
static_assert(wrote({.body = 0, .correlation_id = id36}, 13 + 45, 13 + 51, 5 + 49));
static_assert(wrote({.body = 0, .creation_time = 1'700'000'000'000}, 13 + 20, 13 + 26, 5 + 24));
static_assert(wrote({.body = 0, .durable = true}, 13 + 3, 13 + 9, 5 + 7));
static_assert(wrote({.body = 0, .durable = true, .delivery_count = 0}, 13 + 3, 13 + 13, 5 + 11));
static_assert(wrote({.body = 0, .priority = std::uint8_t{7}}, 13 + 5, 13 + 11, 5 + 9));
static_assert(wrote({.body = 0, .ttl = 60'000u}, 13 + 9, 13 + 15, 5 + 13));
static_assert(wrote({.body = 0, .ttl = 100u}, 13 + 6, 13 + 12, 5 + 10));

constexpr property key[] = {{"x-opt-partition-key", "12345678"}};
static_assert(wrote({.body = 0, .message_annotations = key}, 13 + 43, 13 + 43, 5 + 37));

template <std::size_t N>
constexpr std::array<property, N> many = [] {
    std::array<property, N> all;
    for (auto& each : all) each = {"kNNN", "v"};
    return all;
}();
static_assert(wrote({.body = 0, .properties = many<10>}, 13 + 102, 13 + 102, 5 + 96));
static_assert(wrote({.body = 0, .properties = many<28>}, 13 + 264, 13 + 264, 5 + 258));
static_assert(wrote({.body = 0, .properties = many<29>}, 13 + 273, 13 + 273, 5 + 273));
static_assert(wrote({.body = 0, .properties = many<200>}, 13 + 1812, 13 + 1812, 5 + 1812));

constexpr std::uint64_t one(const value& v)  // by Proton, of a property called k
{
    const property p[] = {{"k", v}};
    return size<proton>({.body = 0, .properties = p}) - 13;
}
static_assert(one("v") == 18 && one(value::string(255)) == 272 && one(value::string(256)) == 276);
static_assert(one(5) == 17 && one(128) == 20);
static_assert(one(std::int64_t{5}) == 17 && one(std::int64_t{1} << 40) == 24);
static_assert(one(true) == 16 && one(1.5) == 24 && one(value::timestamp()) == 24);
static_assert(one(value::binary(16)) == 33 && one(value::uuid()) == 32);

constexpr property five[] = {{"tenant", "blue"},
                             {"tries", 3},
                             {"late", false},
                             {"ratio", 1.5},
                             {"big", std::int64_t{1} << 40}};
constexpr std::uint64_t typical(std::uint64_t body)
{
    return size<proton>({.body = body,
                         .message_id = id36,
                         .content_type = "application/json",
                         .group_id = "session-17",
                         .properties = five});
}
static_assert(typical(256) == typical(255) + 4, "a body of 256 needs three more");

// The properties that tracing adds, as in amqp_size.hpp.
constexpr property tracing[] = {{"traceparent", value::string(55)},
                                {"Diagnostic-Id", value::string(55)}};
static_assert(size<proton>({.properties = tracing}) == 8 + 12 + 70 + 72);
static_assert(size<proton>({.properties = std::span(tracing).first(1)}) == 8 + 12 + 70);

// A list of 254 bytes is the last one in list8, and a map, too, for any content.
constexpr std::uint64_t with_id(std::uint64_t n)
{
    return size<minimal>({.message_id = identifier::string(n)});
}
static_assert(with_id(251) == 3 + 3 + 253);
static_assert(with_id(252) == 3 + 3 + 254);
static_assert(with_id(253) == 3 + 9 + 255);
static_assert(with_id(254) == 3 + 9 + 256);
static_assert(with_id(255) == 3 + 9 + 257);
static_assert(with_id(256) == 3 + 9 + 261);
static_assert(size<minimal>({.to = octets(255)}) == 3 + 9 + 2 + 257);
static_assert(size<minimal>({.to = octets(256)}) == 3 + 9 + 2 + 261);

constexpr std::uint64_t with_map(std::uint64_t n)
{
    const property p[] = {{"k", value::string(n)}};
    return size<uamqp>({.properties = p});
}
static_assert(with_map(249) == 3 + 3 + 254);
static_assert(with_map(250) == 3 + 9 + 255);

// 127 entries are 254 things, the last number that fits into a byte; without octets they can do so.
template <std::size_t N>
constexpr std::array<property, N> tiny = [] {
    std::array<property, N> all;
    for (auto& each : all) each = {octets(0), value::encoded(0)};
    return all;
}();
static_assert(size<minimal>({.properties = std::span(tiny<127>)}) == 3 + 3 + 254);
static_assert(waybill::wire::amqp::detail::compound(true, 254, 254) == 257);
static_assert(waybill::wire::amqp::detail::compound(true, 255, 254) == 257);
static_assert(waybill::wire::amqp::detail::compound(true, 256, 254) == 263);
static_assert(waybill::wire::amqp::detail::compound(true, 255, 255) == 264);
static_assert(waybill::wire::amqp::detail::compound(false, 1, 1) == 10);

// Inner nulls count. Nulls at the end count only if an encoder writes them.
static_assert(size<minimal>({.reply_to_group_id = ""}) == 3 + 3 + 12 + 2);
static_assert(size<minimal>({.message_id = ""}) == 3 + 3 + 2);
static_assert(size<dotnet>({.message_id = ""}) == 3 + 3 + 2 + 12);
static_assert(size<dotnet>({.durable = true}) == 3 + 3 + 1 + 4);
static_assert(size<go_amqp>({.message_id = ""}) == 3 + 9 + 2);

// Empty and absent are different.
static_assert(!octets{}.given() && octets("").given() && octets("").size() == 0);
static_assert(!identifier{}.given() && identifier("").given());
static_assert(size<minimal>({.body = 0}) == 5 && size<minimal>(message{}) == 0);
static_assert(size<go_amqp>({.body = 0}) == 4, "go writes a null");
static_assert(size<go_amqp>({.user_id = octets(0)}) == 4, "and an empty list");
static_assert(size<rhea>({.properties = std::span<const property>{}}) == 12 + 12);
static_assert(size<uamqp>({.properties = std::span<const property>{}}) == 6);
static_assert(size<minimal>({.properties = std::span<const property>{}}) == 0);

// Defaults: some encoders write them, some omit them, Go omits a list without fields.
constexpr message defaults{.durable = false,
                           .priority = std::uint8_t{4},
                           .ttl = 0u,
                           .first_acquirer = false,
                           .delivery_count = 0u};
static_assert(size<uamqp>(defaults) == 3 + 3 + 6 && size<rhea>(defaults) == 12 - 1 + 9 + 6);
static_assert(size<go_amqp>(defaults) == 4 && size<proton>(defaults) == 8);
static_assert(size<minimal>(defaults) == 3 + 3 + 3, "a ttl of 0 is no default");
static_assert(size<proton>({.absolute_expiry_time = 0, .creation_time = 0}) == 8);
static_assert(size<uamqp>({.absolute_expiry_time = 0, .creation_time = 0}) == 3 + 3 + 8 + 18);

// Identifiers.
static_assert(size<minimal>({.message_id = 0u}) == 3 + 3 + 1);
static_assert(size<minimal>({.message_id = 255u}) == 3 + 3 + 2);
static_assert(size<rhea>({.message_id = 256u}) == 12 - 1 + 9 + 9, "always a ulong");
static_assert(size<minimal>({.message_id = identifier::uuid()}) == 3 + 3 + 17);
static_assert(size<minimal>({.message_id = identifier::binary(16)}) == 3 + 3 + 18);
static_assert(size<minimal>({.correlation_id = "id"}) == 3 + 3 + 5 + 4);
static_assert(identifier(std::optional<std::string_view>{}) == identifier{});
static_assert(identifier(std::optional{"id"sv}) == identifier("id"));
static_assert(octets(std::optional<std::string_view>{}) == octets{});
static_assert(octets(std::optional{"id"sv}) == octets("id"));

// Other bodies.
static_assert(size<rhea>({.body = content::value("abc")}) == 8 + 3 + 5);
static_assert(size<rhea>({.body = content::value({})}) == 12);
static_assert(content("abc") == content(3) && content(std::array<std::uint8_t, 3>{}) == content(3));
static_assert(content{} != content(0));

// A body that cannot be encoded fits nowhere, and nothing overflows.
static_assert(size<minimal>({.body = four_gib - 1}) == four_gib + 7);
static_assert(size<minimal>({.body = four_gib}) == highest_size);
static_assert(size<minimal>({.body = -1}) == highest_size, "a length that is an error");
static_assert(size<proton>({.body = highest_size}) == highest_size);
static_assert(size<bound>({.body = highest_size}) == highest_size);
static_assert(size<proton>({.group_id = octets(four_gib)}) == highest_size);
static_assert(size<proton>({.group_id = octets(highest_size)}) == highest_size);
static_assert(size<proton>({.message_id = identifier::string(four_gib), .to = octets(four_gib)}) ==
              highest_size);
static_assert(size<proton>({.to = octets(four_gib - 1)}) == highest_size, "no list can hold it");
static_assert(size<proton>({.to = octets(four_gib - 11)}) == highest_size);
static_assert(size<proton>({.to = octets(four_gib - 12)}) == 4 + 3 + 9 + 2 + 5 + four_gib - 12);
constexpr property huge[] = {{"k", value::string(four_gib)},
                             {octets(highest_size), 1},
                             {"e", value::encoded(highest_size)},
                             {"e", value::encoded(-1)}};
static_assert(size<proton>({.properties = huge}) == highest_size);
static_assert(size<bound>({.message_annotations = huge, .properties = huge}) == highest_size);

// A user's own encoder.
struct ours {
    static constexpr encoder rules{.short_maps = false};
};
struct no_encoder {
    static constexpr int rules = 1;
};
static_assert(profile<ours> && profile<proton> && profile<bound>);
static_assert(!profile<no_encoder> && !profile<int>);
static_assert(size<ours>({.properties = many<10>}) == 102);

// A batch: an envelope, and each message as a data section.
using waybill::wire::amqp::wrapped;
static_assert(wrapped<minimal>(255) == 260 && wrapped<minimal>(256) == 264);
static_assert(wrapped<minimal>(four_gib) == highest_size);
static_assert(wrapped<bound>(0) == 15);

template <class P>
constexpr std::uint64_t whole(const batch<P>& framing, std::span<const message> all)
{
    typename batch<P>::state so_far;
    std::uint64_t sum = framing.envelope(all.front());
    for (const message& m : all) {
        sum += framing.delta(so_far, m);
        framing.push(so_far, m);
    }
    return sum;
}
constexpr message three[] = {{.body = 100, .message_id = id36, .group_id = "s"},
                             {.body = 300},
                             {.body = 3, .message_annotations = key}};
constexpr std::uint64_t wrapped_three = wrapped<rhea>(size<rhea>(three[0])) +
                                        wrapped<rhea>(size<rhea>(three[1])) +
                                        wrapped<rhea>(size<rhea>(three[2]));
static_assert(whole(batch<rhea>{}, three) == 8 + wrapped_three);
static_assert(whole(batch<rhea>{.copies_message_id = true}, three) ==
              size<rhea>({.message_id = id36}) - 4 + wrapped_three);
static_assert(whole(batch<rhea>{.copies_group_id = true}, three) ==
              size<rhea>({.group_id = "s"}) - 4 + wrapped_three);
static_assert(whole(batch<rhea>{.copies_properties = true}, three) ==
              size<rhea>({.message_id = id36, .group_id = "s"}) - 4 + wrapped_three);
static_assert(whole(batch<rhea>{.carries = {.message_annotations = key}}, three) ==
              8 + 43 + wrapped_three);
static_assert(batch<rhea>{.copies_message_annotations = true}.envelope(three[2]) == 8 + 43);
static_assert(batch<rhea>{.copies_application_properties = true}.envelope(
                  {.properties = many<10>}) == 8 + 102);
static_assert(batch<rhea>{.carries = {.body = 7}}.envelope({}) == 8, "an envelope has no body");

// A single message may be sent without the batch. The second one then pays for both.
using waybill::wire::amqp::single_message;
constexpr batch<rhea> bare{.copies_properties = true, .single = single_message::unwrapped};
constexpr batch<rhea> never_bare{.copies_properties = true};
static_assert(whole(bare, std::span(three).first(1)) == size<rhea>(three[0]));
static_assert(whole(bare, std::span(three).first(2)) ==
              whole(never_bare, std::span(three).first(2)));
static_assert(whole(bare, three) == whole(never_bare, three));
static_assert(bare.delta({}, {.body = four_gib}) == highest_size);

// Values that JavaScript treats as false are dropped.
constexpr batch<rhea> dropping{.copies_properties = true, .drops_empty = true};
static_assert(dropping.envelope({.message_id = "", .to = "", .group_sequence = 0}) == 8);
static_assert(dropping.envelope({.message_id = 0u, .correlation_id = ""}) == 8);
static_assert(dropping.envelope({.message_id = identifier::binary(0)}) == 7 + 9 + 2);
static_assert(dropping.envelope({.creation_time = 0}) == 7 + 9 + 9 + 9);

static_assert(batch<rhea>::state{} == batch<rhea>::state{});
static_assert(waybill::wire::amqp::service_bus_dotnet.envelope(three[0]) == 0);

TEST_CASE("amqp: size accepts strings, literals, vectors and optionals")
{
    const std::string id = "order-4711";
    const char* const type = "text/plain";
    const std::vector<std::byte> body(300);
    const std::vector<property> props{{id, id}, {"n", 1}};
    std::optional<std::string> session;
    const auto measured = [&] {
        return size<proton>({.body = body.size(),
                             .message_id = id,
                             .content_type = type,
                             .group_id = session,
                             .properties = props});
    };
    const auto without = measured();
    session = "blue";
    CHECK(measured() == without + 3 + 6 + 1);
    CHECK(size<minimal>({.body = body}) == size<minimal>({.body = 300}));
    CHECK(entries(props).size() == 2);
}

TEST_CASE("amqp: chunk_by cuts messages into batches that fit to the byte")
{
    static_assert(waybill::framing<batch<rhea>, message>);
    const std::vector<message> all(10, {.body = 1000});
    const auto each = wrapped<rhea>(size<rhea>(all[0]));
    const auto bytes = 8 + 3 * each;
    std::uint64_t chunks = 0;
    for (const auto part : waybill::chunk_by(all, {.bytes = bytes}, batch<rhea>{})) {
        CHECK(part.fits);
        CHECK(part.bytes == (chunks == 3 ? 8 + each : bytes));
        ++chunks;
    }
    CHECK(chunks == 4);

    // A message that is too large for its own batch, but not without a batch.
    const auto own = size<rhea>(all[0]);
    const auto alone = waybill::front_chunk(all.begin(), all.end(), {.bytes = own},
                                            batch<rhea>{.single = single_message::unwrapped});
    CHECK(alone.fits);
    CHECK(alone.count == 1);
    CHECK_FALSE(waybill::front_chunk(all.begin(), all.end(), {.bytes = own}, batch<rhea>{}).fits);

    const auto plain = waybill::front_chunk(all.begin(), all.end(), {.bytes = 2 * own},
                                            waybill::wire::amqp::sized<rhea>);
    CHECK(plain.count == 2);
}

#if SIZE_MAX > UINT32_MAX  // with 32 bits there is no such view
TEST_CASE("amqp: texts of 4 GiB and more have the highest size and are not read")
{
    const std::string_view wild("x", four_gib);
    CHECK(size<rhea>({.body = wild}) == highest_size);
    CHECK(size<rhea>({.message_id = wild}) == highest_size);
    const property p[] = {{wild, wild}};
    CHECK(size<uamqp>({.properties = p}) == highest_size);
    CHECK(waybill::wire::amqp::sized<uamqp>(message{.subject = wild}) == highest_size);
}
#endif

}  // namespace
}  // namespace amqp_test
