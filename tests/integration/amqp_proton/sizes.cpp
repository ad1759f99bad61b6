// SPDX-License-Identifier: MIT
//
// The size by the profile `proton` equals that of pn_message_encode, for random messages with all
// fields, edges favoured. `bound` is never less, and `minimal` never more.
//
//     sizes [messages [seed]]

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <proton/codec.h>
#include <proton/message.h>

#include <waybill/wire/amqp_encoder.hpp>
#include <waybill/wire/amqp_message.hpp>
#include <waybill/wire/amqp_size.hpp>
#include <waybill/wire/amqp_value.hpp>

namespace {

namespace amqp = waybill::wire::amqp;

std::uint64_t state;

std::uint64_t any()  // splitmix64
{
    std::uint64_t z = (state += 0x9E37'79B9'7F4A'7C15u);
    z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9u;
    z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EBu;
    return z ^ (z >> 31);
}

std::uint64_t below(std::uint64_t n)
{
    return any() % n;
}

bool once_in(std::uint64_t n)
{
    return below(n) == 0;
}

template <std::size_t N>
std::uint64_t one_of(const std::uint64_t (&all)[N])
{
    return all[below(N)];
}

// Any string of up to this length is the end of one long string.
constexpr std::size_t longest = 70'000;
const std::string characters(longest, 'x');

const char* text(std::uint64_t n)
{
    return characters.c_str() + (longest - n);
}

pn_bytes_t bytes(std::uint64_t n)
{
    return pn_bytes(n, text(n));
}

std::uint64_t length()
{
    switch (below(16)) {
        case 0: return one_of({0, 1, 2, 127, 128, 253, 254, 255, 256, 257, 258});
        case 1: return 200 + below(80);
        case 2: return once_in(64) ? one_of({65'534, 65'535, 65'536, 65'537}) : below(600);
        default: return below(40);
    }
}

std::uint64_t number()
{
    switch (below(4)) {
        case 0:
            return one_of({0, 1, 127, 128, 255, 256, 32'767, 32'768, 65'535, 65'536, 0x7FFF'FFFF,
                           0x8000'0000, 0xFFFF'FFFF, 0x1'0000'0000});
        case 1: return below(300);
        case 2: return 0 - below(300);
        default: return any() >> below(64);
    }
}

template <class T>
T as()
{
    return static_cast<T>(number());
}

amqp::value put_value(pn_data_t* to)
{
    switch (below(20)) {
        case 0: pn_data_put_null(to); return {};
        case 1: {
            const bool b = once_in(2);
            pn_data_put_bool(to, b);
            return b;
        }
        case 2: {
            const auto n = as<std::uint8_t>();
            pn_data_put_ubyte(to, n);
            return n;
        }
        case 3: {
            const auto n = as<std::int8_t>();
            pn_data_put_byte(to, n);
            return n;
        }
        case 4: {
            const auto n = as<std::uint16_t>();
            pn_data_put_ushort(to, n);
            return n;
        }
        case 5: {
            const auto n = as<std::int16_t>();
            pn_data_put_short(to, n);
            return n;
        }
        case 6: {
            const auto n = as<std::uint32_t>();
            pn_data_put_uint(to, n);
            return n;
        }
        case 7: {
            const auto n = as<std::int32_t>();
            pn_data_put_int(to, n);
            return n;
        }
        case 8: {
            const auto n = as<std::uint64_t>();
            pn_data_put_ulong(to, n);
            return n;
        }
        case 9: {
            const auto n = as<std::int64_t>();
            pn_data_put_long(to, n);
            return n;
        }
        case 10: {
            const auto f = static_cast<float>(as<std::int32_t>());
            pn_data_put_float(to, f);
            return f;
        }
        case 11: {
            const auto d = static_cast<double>(as<std::int64_t>()) / 2;
            pn_data_put_double(to, d);
            return d;
        }
        case 12: pn_data_put_char(to, 'x'); return U'x';
        case 13: pn_data_put_timestamp(to, as<std::int64_t>()); return amqp::value::timestamp();
        case 14: pn_data_put_uuid(to, pn_uuid_t{}); return amqp::value::uuid();
        case 15: {
            const auto n = length();
            pn_data_put_binary(to, bytes(n));
            return amqp::value::binary(n);
        }
        case 16: {
            const auto n = length();
            pn_data_put_symbol(to, bytes(n));
            return amqp::value::symbol(n);
        }
        default: {
            const auto n = length();
            pn_data_put_string(to, bytes(n));
            return amqp::value::string(n);
        }
    }
}

std::uint64_t how_many()
{
    switch (below(64)) {
        case 0: return one_of({27, 28, 29, 126, 127, 128, 129, 200});
        case 1: return below(60);
        default: return below(5);
    }
}

amqp::entries put_map(pn_data_t* to, std::vector<amqp::property>& store, bool has_symbols)
{
    store.clear();
    if (!once_in(3)) return {};
    pn_data_put_map(to);
    pn_data_enter(to);
    for (std::uint64_t n = how_many(); n != 0; --n) {
        const auto name = once_in(8) ? length() : below(16);
        if (has_symbols) pn_data_put_symbol(to, bytes(name));
        else pn_data_put_string(to, bytes(name));
        store.push_back({amqp::octets(name), put_value(to)});
    }
    pn_data_exit(to);
    return store;
}

pn_atom_t atom(amqp::identifier& id)
{
    pn_atom_t a{};
    a.type = PN_NULL;
    switch (below(8)) {
        case 0:
        case 1:
        case 2: {
            const auto n = length();
            a.type = PN_STRING;
            a.u.as_bytes = bytes(n);
            id = amqp::identifier::string(n);
            break;
        }
        case 3:
            a.type = PN_ULONG;
            a.u.as_ulong = number();
            id = a.u.as_ulong;
            break;
        case 4:
            a.type = PN_UUID;
            id = amqp::identifier::uuid();
            break;
        case 5: {
            const auto n = length();
            a.type = PN_BINARY;
            a.u.as_bytes = bytes(n);
            id = amqp::identifier::binary(n);
            break;
        }
        default: break;
    }
    return a;
}

void put_text(amqp::octets& to, pn_message_t* m, int (*set)(pn_message_t*, const char*))
{
    if (!once_in(3)) return;
    const auto n = length();
    to = amqp::octets(n);
    set(m, text(n));
}

struct stores {
    std::vector<amqp::property> delivery, annotations, properties;
};

amqp::message fill(pn_message_t* m, stores& s)
{
    amqp::message out;
    pn_message_clear(m);
    if (once_in(3)) pn_message_set_durable(m, *(out.durable = once_in(2)));
    if (once_in(3)) {
        out.priority = static_cast<std::uint8_t>(below(10));
        pn_message_set_priority(m, *out.priority);
    }
    if (once_in(3)) pn_message_set_ttl(m, *(out.ttl = as<std::uint32_t>()));
    if (once_in(5)) pn_message_set_first_acquirer(m, *(out.first_acquirer = once_in(2)));
    if (once_in(5)) pn_message_set_delivery_count(m, *(out.delivery_count = as<std::uint32_t>()));

    if (once_in(4)) {
        out.delivery_annotations = put_map(pn_message_instructions(m), s.delivery, true);
    }
    out.message_annotations = put_map(pn_message_annotations(m), s.annotations, true);

    pn_message_set_id(m, atom(out.message_id));
    if (once_in(6)) {
        const auto n = length();
        out.user_id = amqp::octets(n);
        pn_message_set_user_id(m, bytes(n));
    }
    put_text(out.to, m, pn_message_set_address);
    put_text(out.subject, m, pn_message_set_subject);
    put_text(out.reply_to, m, pn_message_set_reply_to);
    if (once_in(3)) pn_message_set_correlation_id(m, atom(out.correlation_id));
    put_text(out.content_type, m, pn_message_set_content_type);
    put_text(out.content_encoding, m, pn_message_set_content_encoding);
    if (once_in(4)) {
        pn_message_set_expiry_time(m, *(out.absolute_expiry_time = as<std::int64_t>()));
    }
    if (once_in(4)) pn_message_set_creation_time(m, *(out.creation_time = as<std::int64_t>()));
    put_text(out.group_id, m, pn_message_set_group_id);
    if (once_in(4)) pn_message_set_group_sequence(m, *(out.group_sequence = as<std::uint32_t>()));
    put_text(out.reply_to_group_id, m, pn_message_set_reply_to_group_id);

    out.properties = put_map(pn_message_properties(m), s.properties, false);

    switch (below(8)) {
        case 0: break;
        case 1:
            pn_message_set_inferred(m, false);
            out.body = amqp::content::value(put_value(pn_message_body(m)));
            break;
        default: {
            const auto n = length();
            pn_message_set_inferred(m, true);
            pn_data_put_binary(pn_message_body(m), bytes(n));
            out.body = n;
            break;
        }
    }
    return out;
}

// Proton cannot distinguish a 0 from an absent field, and omits both.
amqp::message without_zeros(amqp::message m)
{
    if (m.ttl == 0u) m.ttl.reset();
    if (m.absolute_expiry_time == 0) m.absolute_expiry_time.reset();
    if (m.creation_time == 0) m.creation_time.reset();
    if (m.group_sequence == 0u) m.group_sequence.reset();
    return m;
}

}  // namespace

int main(int count, char** arguments)
{
    const std::uint64_t messages = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1'000'000;
    const std::uint64_t seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
    state = seed;

    pn_message_t* m = pn_message();
    std::vector<char> buffer(1 << 16);
    stores s;
    std::uint64_t wrong = 0, bytes_written = 0, over_minimal = 0, over_bound = 0;
    std::array<std::uint64_t, 5> near_the_step{};  // a list of 252 to 256 bytes
    for (std::uint64_t i = 0; i != messages; ++i) {
        const std::uint64_t before = state;
        const amqp::message view = fill(m, s);
        std::size_t n = buffer.size();
        int code = pn_message_encode(m, buffer.data(), &n);
        while (code == PN_OVERFLOW) {
            buffer.resize(2 * buffer.size());
            n = buffer.size();
            code = pn_message_encode(m, buffer.data(), &n);
        }
        if (code != 0) {
            std::fprintf(stderr, "message %llu: proton returns error %d\n",
                         static_cast<unsigned long long>(i), code);
            return 1;
        }
        const auto exact = amqp::size<amqp::proton>(view);
        const auto highest = amqp::size<amqp::bound>(view);
        const auto lowest = amqp::size<amqp::minimal>(without_zeros(view));
        bytes_written += n;
        over_minimal += n - lowest;
        over_bound += highest - n;
        const auto list = amqp::detail::properties_size<amqp::proton>(view);
        if (list >= 258 && list <= 268) {
            const auto fields = list <= 260 ? list - 6 : list - 12;
            if (fields >= 252 && fields <= 256) ++near_the_step[fields - 252];
        }
        if (exact != n || highest < n || lowest > n) {
            if (++wrong > 10) break;
            std::fprintf(
                stderr,
                "message %llu (state %llu): proton %zu, size %llu, bound %llu, "
                "minimal %llu\n",
                static_cast<unsigned long long>(i), static_cast<unsigned long long>(before), n,
                static_cast<unsigned long long>(exact), static_cast<unsigned long long>(highest),
                static_cast<unsigned long long>(lowest));
        }
    }
    pn_message_free(m);
    if (wrong != 0) {
        std::fprintf(stderr, "seed %llu: sizes differ\n", static_cast<unsigned long long>(seed));
        return 1;
    }
    if (messages >= 1'000'000) {
        for (const auto hits : near_the_step) {
            if (hits == 0) {
                std::fprintf(stderr, "the step from list8 to list32 was not met\n");
                return 1;
            }
        }
    }
    const auto mean = [messages](std::uint64_t sum) {
        return static_cast<double>(sum) / static_cast<double>(messages == 0 ? 1 : messages);
    };
    std::printf(
        "%llu messages, seed %llu: all equal; %.0f bytes each, minimal %.1f less, "
        "bound %.1f more; lists of 252 to 256 bytes: %llu %llu %llu %llu %llu\n",
        static_cast<unsigned long long>(messages), static_cast<unsigned long long>(seed),
        mean(bytes_written), mean(over_minimal), mean(over_bound),
        static_cast<unsigned long long>(near_the_step[0]),
        static_cast<unsigned long long>(near_the_step[1]),
        static_cast<unsigned long long>(near_the_step[2]),
        static_cast<unsigned long long>(near_the_step[3]),
        static_cast<unsigned long long>(near_the_step[4]));
    return 0;
}
