// SPDX-License-Identifier: MIT
//
// Sizes compared with the output of other encoders: vectors of golden/amqp, which messages.js
// explains.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/wire/amqp_batch.hpp>
#include <waybill/wire/amqp_encoder.hpp>
#include <waybill/wire/amqp_message.hpp>
#include <waybill/wire/amqp_size.hpp>
#include <waybill/wire/amqp_value.hpp>

namespace amqp_golden_test {
namespace {

namespace amqp = waybill::wire::amqp;

constexpr std::string_view rhea_vectors[] = {
#include <golden/amqp/rhea.inc>
};

constexpr std::string_view uamqp_vectors[] = {
#include <golden/amqp/uamqp.inc>
};

constexpr std::string_view event_hubs_vectors[] = {
#include <golden/amqp/event_hubs.inc>
};

constexpr std::string_view service_bus_vectors[] = {
#include <golden/amqp/service_bus.inc>
};

// The text before the first of these characters, or all of it. Removes both from the text.
std::string_view cut(std::string_view& text, char at)
{
    const auto end = text.find(at);
    const auto before = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    return before;
}

std::uint64_t unsigned_of(std::string_view text)
{
    return std::strtoull(std::string(text).c_str(), nullptr, 10);
}

std::int64_t signed_of(std::string_view text)
{
    return std::strtoll(std::string(text).c_str(), nullptr, 10);
}

amqp::value value_of(std::string_view word)
{
    const char letter = word.front();
    if (const auto colon = word.find(':'); colon != word.npos) {
        const auto type = cut(word, ':');
        if (type == "ubyte") return static_cast<std::uint8_t>(unsigned_of(word));
        if (type == "ushort") return static_cast<std::uint16_t>(unsigned_of(word));
        if (type == "uint") return static_cast<std::uint32_t>(unsigned_of(word));
        if (type == "ulong") return unsigned_of(word);
        if (type == "byte") return static_cast<std::int8_t>(signed_of(word));
        if (type == "short") return static_cast<std::int16_t>(signed_of(word));
        if (type == "int") return static_cast<std::int32_t>(signed_of(word));
        if (type == "long") return signed_of(word);
        REQUIRE(type == "double");
        return 1.5;
    }
    word.remove_prefix(1);
    switch (letter) {
        case 'n': return {};
        case 'T': return true;
        case 'F': return false;
        case '#':
            if (word.find('.') != word.npos) return std::strtod(std::string(word).c_str(), nullptr);
            return signed_of(word);
        case 's': return amqp::value::string(unsigned_of(word));
        case 'b': return amqp::value::binary(unsigned_of(word));
        case 'y': return amqp::value::symbol(unsigned_of(word));
        case 'U': return amqp::value::uuid();
        case 'M': return amqp::value::timestamp();
        default: FAIL("no such value: " << letter); return {};
    }
}

amqp::identifier identifier_of(std::string_view word)
{
    switch (word.front()) {
        case 's': return amqp::identifier::string(unsigned_of(word.substr(1)));
        case 'b': return amqp::identifier::binary(unsigned_of(word.substr(1)));
        case '#': return unsigned_of(word.substr(1));
        default: return amqp::identifier::uuid();
    }
}

// A message, and the maps that its views point to.
struct vector {
    std::string_view verb;
    std::uint64_t size = 0;
    amqp::message message;
    std::deque<std::vector<amqp::property>> maps;

    explicit vector(std::string_view text)
    {
        if (text.front() > '9') verb = cut(text, ' ');
        size = unsigned_of(cut(text, ' '));
        while (!text.empty()) {
            auto word = cut(text, ' ');
            const auto field = cut(word, '=');
            set(field, word);
        }
    }

    vector(const vector&) = delete;
    vector& operator=(const vector&) = delete;

private:
    amqp::entries map_of(std::string_view text)
    {
        auto& map = maps.emplace_back();
        while (!text.empty()) {
            auto entry = cut(text, ',');
            const auto name = unsigned_of(cut(entry, '='));
            map.push_back({amqp::octets(name), value_of(entry)});
        }
        return map;
    }

    void set(std::string_view field, std::string_view word)
    {
        const auto octets = [&] { return amqp::octets(unsigned_of(word.substr(1))); };
        const auto number = [&] { return static_cast<std::uint32_t>(unsigned_of(word.substr(1))); };
        const auto time = [&] { return signed_of(word.substr(1)); };
        auto& m = message;
        if (field == "body") {
            const bool is_data = word.front() >= '0' && word.front() <= '9';
            m.body =
                is_data ? amqp::content(unsigned_of(word)) : amqp::content::value(value_of(word));
        } else if (field == "durable") m.durable = word == "T";
        else if (field == "priority") m.priority = static_cast<std::uint8_t>(number());
        else if (field == "ttl") m.ttl = number();
        else if (field == "first_acquirer") m.first_acquirer = word == "T";
        else if (field == "delivery_count") m.delivery_count = number();
        else if (field == "delivery_annotations") m.delivery_annotations = map_of(word);
        else if (field == "message_annotations") m.message_annotations = map_of(word);
        else if (field == "message_id") m.message_id = identifier_of(word);
        else if (field == "user_id") m.user_id = octets();
        else if (field == "to") m.to = octets();
        else if (field == "subject") m.subject = octets();
        else if (field == "reply_to") m.reply_to = octets();
        else if (field == "correlation_id") m.correlation_id = identifier_of(word);
        else if (field == "content_type") m.content_type = octets();
        else if (field == "content_encoding") m.content_encoding = octets();
        else if (field == "absolute_expiry_time") m.absolute_expiry_time = time();
        else if (field == "creation_time") m.creation_time = time();
        else if (field == "group_id") m.group_id = octets();
        else if (field == "group_sequence") m.group_sequence = number();
        else if (field == "reply_to_group_id") m.reply_to_group_id = octets();
        else if (field == "properties") m.properties = map_of(word);
        else FAIL("no such field: " << field);
    }
};

template <class P, std::size_t N>
void messages(const std::string_view (&lines)[N])
{
    for (const auto line : lines) {
        const vector v(line);
        CAPTURE(line);
        CHECK(amqp::size<P>(v.message) == v.size);
        CHECK(amqp::size<amqp::bound>(v.message) >= v.size);
        CHECK(amqp::size<amqp::minimal>(v.message) <= v.size);
    }
}

template <class P, std::size_t N>
void batches(const amqp::batch<P>& framing, const std::string_view (&lines)[N])
{
    // The same options, with the profile for an unknown encoder.
    const amqp::batch<amqp::bound> cautious{
        .copies_properties = framing.copies_properties,
        .copies_message_annotations = framing.copies_message_annotations,
        .copies_application_properties = framing.copies_application_properties,
        .drops_empty = framing.drops_empty};
    typename amqp::batch<P>::state state;
    amqp::batch<amqp::bound>::state cautious_state;
    std::uint64_t sum = 0, highest = 0;
    for (const auto line : lines) {
        const vector v(line);
        CAPTURE(line);
        if (v.verb == "new") {
            state = {};
            cautious_state = {};
            sum = framing.envelope(v.message);
            highest = cautious.envelope(v.message);
        }
        const auto grown = sum + framing.delta(state, v.message);
        if (v.verb == "full") {
            CHECK(grown > v.size);
            continue;
        }
        CHECK(grown == v.size);
        highest += cautious.delta(cautious_state, v.message);
        CHECK(highest >= v.size);
        framing.push(state, v.message);
        cautious.push(cautious_state, v.message);
        sum = v.size;
    }
}

TEST_CASE("amqp: messages encoded by rhea have the computed sizes")
{
    static_assert(std::size(rhea_vectors) >= 500);
    messages<amqp::rhea>(rhea_vectors);
}

TEST_CASE("amqp: messages encoded by uAMQP have the computed sizes")
{
    static_assert(std::size(uamqp_vectors) >= 400);
    messages<amqp::uamqp>(uamqp_vectors);
}

TEST_CASE("amqp: Event Hubs batches have the sizes and limits of the SDK")
{
    static_assert(std::size(event_hubs_vectors) >= 300);
    batches(amqp::event_hubs_js, event_hubs_vectors);
}

TEST_CASE("amqp: Service Bus batches have the sizes and limits of the SDK")
{
    static_assert(std::size(service_bus_vectors) >= 300);
    batches(amqp::service_bus_js, service_bus_vectors);
}

}  // namespace
}  // namespace amqp_golden_test
