// SPDX-License-Identifier: MIT
//
// kafka_marker: appends the marker of a committed transaction to a partition of a mock cluster,
// which writes none itself. Consumers do not see a marker, but it has an offset.
//
//     integration::append_marker(cluster.address(), "orders", 0);

#ifndef WAYBILL_TESTS_INTEGRATION_ENGINES_KAFKA_MARKER_HPP
#define WAYBILL_TESTS_INTEGRATION_ENGINES_KAFKA_MARKER_HPP

#include <cstdint>
#include <stdexcept>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace integration {

/// Integers in the byte order of the protocol.
class kafka_bytes {
public:
    template <class T>
    kafka_bytes& add(T value)
    {
        for (int n = static_cast<int>(sizeof value) - 1; n >= 0; --n)
            all_ += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * n));
        return *this;
    }
    kafka_bytes& text(const std::string& s)
    {
        add(static_cast<std::int16_t>(s.size()));
        all_ += s;
        return *this;
    }
    kafka_bytes& sized(const kafka_bytes& b)
    {
        add(static_cast<std::int32_t>(b.all_.size()));
        all_ += b.all_;
        return *this;
    }
    kafka_bytes& append(const kafka_bytes& b)
    {
        all_ += b.all_;
        return *this;
    }
    [[nodiscard]] const std::string& bytes() const { return all_; }

private:
    std::string all_{};
};

/// A batch of one control record, which commits.
inline kafka_bytes marker_batch()
{
    kafka_bytes record;
    record.add(std::int8_t{0}).add(std::int8_t{0}).add(std::int8_t{0});    // no delta
    record.add(std::int8_t{8}).add(std::int16_t{0}).add(std::int16_t{1});  // the key: a commit
    record.add(std::int8_t{12}).add(std::int16_t{0}).add(std::int32_t{0});
    record.add(std::int8_t{0});
    constexpr std::int16_t transactional = 0x10;
    constexpr std::int16_t control = 0x20;
    kafka_bytes rest;                                                    // all after the length
    rest.add(std::int32_t{0}).add(std::int8_t{2}).add(std::int32_t{0});  // consumers skip the CRC
    rest.add(static_cast<std::int16_t>(transactional | control)).add(std::int32_t{0});
    rest.add(std::int64_t{0}).add(std::int64_t{0});
    rest.add(std::int64_t{1}).add(std::int16_t{0}).add(std::int32_t{-1}).add(std::int32_t{1});
    rest.add(static_cast<std::int8_t>(2 * record.bytes().size())).append(record);
    kafka_bytes batch;
    batch.add(std::int64_t{0}).sized(rest);
    return batch;
}

/// `broker` is "127.0.0.1:port" of the leader.
inline void append_marker(const std::string& broker, const std::string& topic,
                          std::int32_t partition)
{
    kafka_bytes request;
    request.add(std::int16_t{0}).add(std::int16_t{3}).add(std::int32_t{1}).text("marker");
    request.add(std::int16_t{-1}).add(std::int16_t{-1}).add(std::int32_t{10'000});
    request.add(std::int32_t{1}).text(topic).add(std::int32_t{1}).add(partition);
    request.sized(marker_batch());
    kafka_bytes all;
    all.sized(request);

    const int s = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons(static_cast<std::uint16_t>(std::stoi(broker.substr(broker.find(':') + 1))));
    char response[64];
    const bool is_sent = ::connect(s, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0 &&
                         ::send(s, all.bytes().data(), all.bytes().size(), 0) ==
                             static_cast<ssize_t>(all.bytes().size()) &&
                         ::recv(s, response, sizeof response, 0) > 0;
    ::close(s);
    if (!is_sent) throw std::runtime_error("the mock does not take a marker");
}

}  // namespace integration

#endif  // WAYBILL_TESTS_INTEGRATION_ENGINES_KAFKA_MARKER_HPP
