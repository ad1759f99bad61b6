// SPDX-License-Identifier: MIT
//
// kafka: records with and without headers: a thousand in the cache, and a million outside of it. A
// batch has a thousand records of five seconds.
//
// The peer is an encoder by hand, because that of librdkafka is part of its connection and cannot be
// called alone. It writes each record into the same buffer. The texts are views of one page, because
// different texts for a million records would take a gigabyte. So the encoder reads from the cache.

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

inline constexpr std::size_t batch_size = 1'000;

struct records {
    std::vector<char> page = std::vector<char>(4'096, 'x');
    std::vector<kafka::header> headers;
    std::vector<kafka::record> all;

    records(std::size_t count, bool with_headers)
    {
        std::mt19937 random(17);
        const auto text = [&](std::size_t least, std::size_t most) {
            const std::size_t size = least + random() % (most - least + 1);
            return std::string_view(page.data() + random() % (page.size() - size), size);
        };
        std::int64_t at = 1'700'000'000'000;
        headers.reserve(with_headers ? 3 * count : 0);
        for (std::size_t i = 0; i != count; ++i) {
            const std::size_t first = headers.size();
            if (with_headers) {
                headers.push_back({text(6, 14), text(36, 36)});
                headers.push_back({text(11, 11), text(55, 55)});
                if (random() % 2 == 0) headers.push_back({text(4, 20), text(0, 90)});
            }
            at += static_cast<std::int64_t>(random() % 11);
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

/// The sum of way(record, offset, time) over all records. The offset is the number of earlier
/// records in the batch, and the time is in milliseconds since its first record.
template <class Way>
std::uint64_t in_batches(const records& r, Way way)
{
    std::uint64_t sum = 0;
    for (auto first = r.all.begin(); first != r.all.end(); first += batch_size) {
        for (std::size_t i = 0; i != batch_size; ++i) {
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
    for (auto first = r.all.begin(); first != r.all.end(); first += batch_size) {
        kafka::record_batch::state state;
        for (auto at = first; at != first + batch_size; ++at) {
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

/// Writes a record into its buffer. It leaves room for the length, which is not known before the
/// end.
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

inline void add_all(bench::runner& all, const std::string& name, const records& r)
{
    const std::size_t count = r.all.size();
    add(all, name, count, "lengths", [&r] { return lengths(r); });
    add(all, name, count, "size", [&r] { return sizes(r); });
    add(all, name, count, "size by framing", [&r] { return framed_sizes(r); });
    add(all, name, count, "bound", [&r] { return bounds(r); });
    add(all, name, count, "encode by hand", [&r] { return encoded(r); });
}

/// True if the sizes of all ways equal those of the encoder.
inline bool equal_all(const std::string& name, const records& r)
{
    const std::uint64_t theirs = encoded(r);
    return equal(name + "/size", sizes(r), theirs) &&
           equal(name + "/size by framing", framed_sizes(r), theirs);
}

}  // namespace wire_bench::kafka_part

#endif  // WAYBILL_BENCH_WIRE_KAFKA_HPP
