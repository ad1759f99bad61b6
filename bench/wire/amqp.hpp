// SPDX-License-Identifier: MIT
//
// amqp: AMQP 1.0, compared with pn_message_encode. A message has an id of 36 characters, a content
// type, a session, five properties and a body of 1 KB on average.

#ifndef WAYBILL_BENCH_WIRE_AMQP_HPP
#define WAYBILL_BENCH_WIRE_AMQP_HPP

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <proton/codec.h>
#include <proton/message.h>

#include "ways.hpp"
#include <waybill/wire/amqp_encoder.hpp>
#include <waybill/wire/amqp_message.hpp>
#include <waybill/wire/amqp_size.hpp>
#include <waybill/wire/amqp_value.hpp>

namespace wire_bench::amqp_part {

namespace amqp = waybill::wire::amqp;

struct letter {
    std::string id;
    std::string session;
    std::string tenant;
    std::string trace;
    std::int32_t tries = 0;
    std::int64_t order = 0;
    bool late = false;
    std::string body;
};

inline constexpr char content_type[] = "application/json";

inline std::vector<letter> letters()
{
    std::mt19937 random(17);
    const auto text = [&](std::size_t least, std::size_t most) {
        return std::string(least + random() % (most - least + 1), 'x');
    };
    std::vector<letter> all;
    for (std::size_t i = 0; i != cached; ++i) {
        all.push_back({text(36, 36), text(6, 14), text(3, 20), text(55, 55),
                       static_cast<std::int32_t>(random() % 200),
                       static_cast<std::int64_t>(random()), random() % 2 == 0, text(200, 1848)});
    }
    return all;
}

inline void name_and_value(amqp::property (&to)[5], const letter& l)
{
    to[0] = {"tenant", l.tenant};
    to[1] = {"traceparent", l.trace};
    to[2] = {"tries", l.tries};
    to[3] = {"order", l.order};
    to[4] = {"late", l.late};
}

inline amqp::message view(const letter& l, const amqp::property (&properties)[5])
{
    return {.body = l.body.size(),
            .message_id = l.id,
            .content_type = content_type,
            .group_id = l.session,
            .properties = properties};
}

inline void put(pn_data_t* to, const char* name, const std::string& text)
{
    pn_data_put_string(to, pn_bytes(std::char_traits<char>::length(name), name));
    pn_data_put_string(to, pn_bytes(text.size(), text.data()));
}

inline void fill(pn_message_t* m, const letter& l)
{
    pn_message_clear(m);
    pn_atom_t id{};
    id.type = PN_STRING;
    id.u.as_bytes = pn_bytes(l.id.size(), l.id.data());
    pn_message_set_id(m, id);
    pn_message_set_content_type(m, content_type);
    pn_message_set_group_id(m, l.session.c_str());
    pn_data_t* p = pn_message_properties(m);
    pn_data_put_map(p);
    pn_data_enter(p);
    put(p, "tenant", l.tenant);
    put(p, "traceparent", l.trace);
    pn_data_put_string(p, pn_bytes(5, "tries"));
    pn_data_put_int(p, l.tries);
    pn_data_put_string(p, pn_bytes(5, "order"));
    pn_data_put_long(p, l.order);
    pn_data_put_string(p, pn_bytes(4, "late"));
    pn_data_put_bool(p, l.late);
    pn_data_exit(p);
    pn_message_set_inferred(m, true);
    pn_data_put_binary(pn_message_body(m), pn_bytes(l.body.size(), l.body.data()));
}

inline std::uint64_t encoded(pn_message_t* m)
{
    static char buffer[8192];
    std::size_t n = sizeof buffer;
    return pn_message_encode(m, buffer, &n) == 0 ? n : 0;
}

struct mail {
    struct properties {
        amqp::property all[5];
    };

    std::vector<letter> letters = amqp_part::letters();
    std::vector<properties> props = std::vector<properties>(cached);
    std::vector<amqp::message> views;
    std::vector<pn_message_t*> filled;

    mail()
    {
        for (std::size_t i = 0; i != cached; ++i) {
            name_and_value(props[i].all, letters[i]);
            views.push_back(view(letters[i], props[i].all));
            filled.push_back(pn_message());
            fill(filled.back(), letters[i]);
        }
    }
    ~mail()
    {
        for (pn_message_t* m : filled) pn_message_free(m);
    }
    mail(const mail&) = delete;
    mail& operator=(const mail&) = delete;
};

template <class P>
[[gnu::noinline]] std::uint64_t sizes(const mail& m)
{
    std::uint64_t sum = 0;
    for (const auto& each : m.views) sum += amqp::size<P>(each);
    return sum;
}

[[gnu::noinline]] static std::uint64_t built_sizes(const mail& m)
{
    std::uint64_t sum = 0;
    for (const auto& each : m.letters) {
        amqp::property properties[5];
        name_and_value(properties, each);
        sum += amqp::size<amqp::proton>(view(each, properties));
    }
    return sum;
}

[[gnu::noinline]] static std::uint64_t lengths(const mail& m)
{
    std::uint64_t sum = 0;
    for (const auto& each : m.views) {
        sum += each.body.as_value().length() + each.message_id.as_value().length() +
               each.content_type.size() + each.group_id.size();
        for (const auto& p : each.properties) sum += p.name.size() + p.value.length();
    }
    return sum;
}

[[gnu::noinline]] static std::uint64_t all_encoded(const mail& m)
{
    std::uint64_t sum = 0;
    for (pn_message_t* each : m.filled) sum += encoded(each);
    return sum;
}

[[gnu::noinline]] static std::uint64_t all_filled_and_encoded(const mail& m)
{
    std::uint64_t sum = 0;
    pn_message_t* one = pn_message();
    for (const auto& each : m.letters) {
        fill(one, each);
        sum += encoded(one);
    }
    pn_message_free(one);
    return sum;
}

inline void add_all(bench::runner& all, const mail& m)
{
    add(all, "amqp", cached, "lengths", [&m] { return lengths(m); });
    add(all, "amqp", cached, "size", [&m] { return sizes<amqp::proton>(m); });
    add(all, "amqp", cached, "size of bound", [&m] { return sizes<amqp::bound>(m); });
    add(all, "amqp", cached, "size of rhea", [&m] { return sizes<amqp::rhea>(m); });
    add(all, "amqp", cached, "build and size", [&m] { return built_sizes(m); });
    add(all, "amqp", cached, "pn_message_encode", [&m] { return all_encoded(m); });
    add(all, "amqp", cached, "fill and encode", [&m] { return all_filled_and_encoded(m); });
}

/// True if the sizes of all ways equal those of pn_message_encode.
inline bool equal_all(const mail& m)
{
    const std::uint64_t theirs = all_encoded(m);
    return equal("amqp/size", sizes<amqp::proton>(m), theirs) &&
           equal("amqp/build and size", built_sizes(m), theirs) &&
           equal("amqp/fill and encode", all_filled_and_encoded(m), theirs);
}

}  // namespace wire_bench::amqp_part

#endif  // WAYBILL_BENCH_WIRE_AMQP_HPP
