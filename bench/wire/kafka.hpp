// SPDX-License-Identifier: MIT
//
// kafka: records with and without headers, a thousand in cache and a million beyond it, in batches
// of a thousand that last five seconds.
//
// librdkafka's encoder is part of its connection and cannot be called for itself, so one by hand
// stands for it: it does write each record, into a buffer that it uses again. Texts are pieces of
// one page, which is kind to it: a million records with texts of their own would be a gigabyte.

#ifndef WAYBILL_BENCH_WIRE_KAFKA_HPP
#define WAYBILL_BENCH_WIRE_KAFKA_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ways.hpp"

#include <waybill/wire/kafka.hpp>

namespace wire_bench::kafka_part {

namespace kafka = waybill::wire::kafka;

inline constexpr std::size_t a_batch = 1'000;

struct records {
    std::vector<char> page = std::vector<char>(4'096, 'x');
    std::vector<kafka::header> headers;
    std::vector<kafka::record> all;

    records(std::size_t count, bool with_headers)
    {
        std::mt19937 dice(17);
        const auto text = [&](std::size_t least, std::size_t most) {
            const std::size_t size = least + dice() % (most - least + 1);
            return std::string_view(page.data() + dice() % (page.size() - size), size);
        };
        std::int64_t at = 1'700'000'000'000;
        headers.reserve(with_headers ? 3 * count : 0);
        for (std::size_t i = 0; i != count; ++i) {
            const std::size_t first = headers.size();
            if (with_headers) {
                headers.push_back({text(6, 14), text(36, 36)});
                headers.push_back({text(11, 11), text(55, 55)});
                if (dice() % 2 == 0) headers.push_back({text(4, 20), text(0, 90)});
            }
            at += static_cast<std::int64_t>(dice() % 11);
            all.push_back({.key = text(10, 36),
                           .value = text(50, 1'500),
                           .timestamp = at,
                           .headers = {headers.data() + first, headers.size() - first}});
        }
    }
    records(const records&) = delete;
    records& operator=(const records&) = delete;
};

[[gnu::noinline]] static std::uint64_t lengths(const records& r)
{
    std::uint64_t sum = 0;
    for (const auto& each : r.all) {
        if (each.key) sum += each.key->size();
        if (each.value) sum += each.value->size();
        for (const auto& h : each.headers) {
            sum += h.key.size();
            if (h.value) sum += h.value->size();
        }
    }
    return sum;
}

/// The sum of what `way` gives for each record, for how many come before it in its batch, and for
/// the milliseconds since the first one.
template <class Way>
std::uint64_t in_batches(const records& r, Way way)
{
    std::uint64_t sum = 0;
    for (auto first = r.all.begin(); first != r.all.end(); first += a_batch) {
        for (std::size_t i = 0; i != a_batch; ++i) {
            const kafka::record& each = first[static_cast<std::ptrdiff_t>(i)];
            sum += way(each, i, each.timestamp - first->timestamp);
        }
    }
    return sum;
}

[[gnu::noinline]] static std::uint64_t sizes(const records& r)
{
    return in_batches(r, [](const kafka::record& each, std::uint64_t offset, std::int64_t time) {
        return kafka::size(each, offset, time);
    });
}

[[gnu::noinline]] static std::uint64_t framed_sizes(const records& r)
{
    const kafka::record_batch framing;
    std::uint64_t sum = 0;
    for (auto first = r.all.begin(); first != r.all.end(); first += a_batch) {
        kafka::record_batch::state state;
        for (auto at = first; at != first + a_batch; ++at) {
            sum += framing.delta(state, *at);
            framing.push(state, *at);
        }
    }
    return sum;
}

[[gnu::noinline]] static std::uint64_t bounds(const records& r)
{
    std::uint64_t sum = 0;
    for (const auto& each : r.all) sum += kafka::bound(each);
    return sum;
}

/// Writes a record into its buffer. Room for the length is left in front, as is usual where nobody
/// knows it before.
class encoder {
public:
    std::uint64_t write(const kafka::record& r, std::uint64_t offset, std::int64_t time)
    {
        to_ = buffer_ + 5;
        *to_++ = 0;  // attributes
        number(time);
        number(static_cast<std::int64_t>(offset));
        text(r.key);
        text(r.value);
        number(static_cast<std::int64_t>(r.headers.size()));
        for (const auto& h : r.headers) {
            text(h.key);
            text(h.value);
        }
        const auto body = to_ - buffer_ - 5;
        to_ = buffer_;
        number(body);
        return static_cast<std::uint64_t>(to_ - buffer_ + body);
    }

private:
    void number(std::int64_t n)
    {
        auto rest = (static_cast<std::uint64_t>(n) << 1U) ^ static_cast<std::uint64_t>(n >> 63);
        for (; rest > 127; rest >>= 7U) *to_++ = static_cast<char>(rest | 128U);
        *to_++ = static_cast<char>(rest);
    }
    void text(const std::optional<std::string_view>& s)
    {
        if (!s) return number(-1);
        number(static_cast<std::int64_t>(s->size()));
        std::memcpy(to_, s->data(), s->size());
        to_ += s->size();
    }

    char buffer_[8'192];
    char* to_ = buffer_;
};

[[gnu::noinline]] static std::uint64_t encoded(const records& r)
{
    static encoder to;
    return in_batches(r, [](const kafka::record& each, std::uint64_t offset, std::int64_t time) {
        const std::uint64_t n = to.write(each, offset, time);
        benchmark::ClobberMemory();
        return n;
    });
}

inline bool add_all(const std::string& name, const records& r)
{
    const std::size_t count = r.all.size();
    add(name, count, "lengths", [&r] { return lengths(r); });
    add(name, count, "size", [&r] { return sizes(r); });
    add(name, count, "size by framing", [&r] { return framed_sizes(r); });
    add(name, count, "bound", [&r] { return bounds(r); });
    add(name, count, "encode by hand", [&r] { return encoded(r); });
    const std::uint64_t theirs = encoded(r);
    return equal(name + "/size", sizes(r), theirs) &&
           equal(name + "/size by framing", framed_sizes(r), theirs);
}

}  // namespace wire_bench::kafka_part

#endif  // WAYBILL_BENCH_WIRE_KAFKA_HPP
