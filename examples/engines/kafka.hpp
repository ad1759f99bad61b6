// SPDX-License-Identifier: MIT
//
// kafka: settings, errors and a mock cluster, for the adapters on librdkafka's C interface.
//
//     engines::kafka_mock cluster(3);                       // brokers in this process
//     cluster.topic("orders", 4);
//     engines::kafka_settings s{{"bootstrap.servers", cluster.address()}};
//
// librdkafka repeats requests that can succeed later. `fault_of` maps the other codes:
//
// Code                                              Fault
// ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, _ASSIGNMENT_LOST
//                                                   ownership_lost: another member has it
// MSG_SIZE_TOO_LARGE, RECORD_LIST_TOO_LARGE, INVALID_MSG, INVALID_RECORD, OFFSET_METADATA_TOO_LARGE
//                                                   permanent
// any other                                         infrastructure
//
// Throws kafka_error if a client cannot be created or used any more, for example after an invalid
// setting.

#ifndef WAYBILL_EXAMPLES_ENGINES_KAFKA_HPP
#define WAYBILL_EXAMPLES_ENGINES_KAFKA_HPP

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <waybill/core/fault.hpp>

namespace engines {

struct kafka_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The fault of a commit or a produce request. Codes below zero are librdkafka's own.
[[nodiscard]] inline waybill::fault fault_of(rd_kafka_resp_err_t code)
{
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    const std::string text = std::string(rd_kafka_err2name(code)) + ": " + rd_kafka_err2str(code);
    switch (code) {
        // The group has removed this member: other members have its partitions.
        case RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION:
        case RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID:
        case RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID:
        case RD_KAFKA_RESP_ERR__ASSIGNMENT_LOST: return waybill::ownership_lost(text);
        case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
        case RD_KAFKA_RESP_ERR_INVALID_MSG:
        case RD_KAFKA_RESP_ERR_INVALID_RECORD:
        case RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE: return waybill::permanent(text);
        default: return waybill::infrastructure(text);
    }
}

/// Options of librdkafka by their names, the later of two of one name.
class kafka_settings {
public:
    kafka_settings(std::initializer_list<std::pair<const std::string, std::string>> all) : all_(all)
    {
    }

    kafka_settings& set(const std::string& name, std::string value)
    {
        all_.insert_or_assign(name, std::move(value));
        return *this;
    }

    /// Sets an option that is not set yet.
    kafka_settings& set_default(const std::string& name, std::string value)
    {
        all_.try_emplace(name, std::move(value));
        return *this;
    }

    /// A configuration that rd_kafka_new takes over.
    [[nodiscard]] rd_kafka_conf_t* made() const
    {
        std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)> conf(
            rd_kafka_conf_new(), &rd_kafka_conf_destroy);
        for (const auto& [name, value] : all_) {
            char why[512];
            if (rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), why, sizeof why) !=
                RD_KAFKA_CONF_OK) {
                throw kafka_error(why);
            }
        }
        // Errors are reported as errors only, and not on stderr, too.
        rd_kafka_conf_set_log_cb(conf.get(), nullptr);
        return conf.release();
    }

private:
    std::map<std::string, std::string> all_;
};

[[nodiscard]] inline rd_kafka_t* new_kafka(rd_kafka_type_t type, rd_kafka_conf_t* conf)
{
    char why[512];
    rd_kafka_t* const k = rd_kafka_new(type, conf, why, sizeof why);
    if (k) return k;
    rd_kafka_conf_destroy(conf);
    throw kafka_error(why);
}

struct kafka_partition {
    std::string topic{};
    std::int32_t number = 0;

    friend auto operator<=>(const kafka_partition&, const kafka_partition&) = default;
};

/// A group's commit for a partition: the next offset to be read, and a text. The text must be
/// UTF-8, with at most 4,096 bytes by default.
struct kafka_offset {
    kafka_partition at{};
    std::optional<std::int64_t> next{};
    std::string metadata{};

    /// The offset before `next`.
    [[nodiscard]] std::optional<std::uint64_t> last_done() const noexcept
    {
        if (!next || *next <= 0) return {};
        return static_cast<std::uint64_t>(*next - 1);
    }

    friend bool operator==(const kafka_offset&, const kafka_offset&) = default;
};

/// A list of partitions of librdkafka.
class kafka_list {
public:
    kafka_list()
        : list_(rd_kafka_topic_partition_list_new(8), &rd_kafka_topic_partition_list_destroy)
    {
    }

    rd_kafka_topic_partition_t& add(const std::string& topic, std::int32_t partition)
    {
        return *rd_kafka_topic_partition_list_add(list_.get(), topic.c_str(), partition);
    }
    void add(const kafka_offset& o)
    {
        rd_kafka_topic_partition_t& p = add(o.at.topic, o.at.number);
        p.offset = o.next.value_or(RD_KAFKA_OFFSET_INVALID);
        if (o.metadata.empty()) return;
        p.metadata = rd_kafka_mem_malloc(nullptr, o.metadata.size());
        o.metadata.copy(static_cast<char*>(p.metadata), o.metadata.size());
        p.metadata_size = o.metadata.size();
    }
    [[nodiscard]] rd_kafka_topic_partition_list_t* get() const noexcept { return list_.get(); }

    [[nodiscard]] static std::vector<kafka_offset> read(const rd_kafka_topic_partition_list_t* from)
    {
        std::vector<kafka_offset> all;
        for (int i = 0; i != from->cnt; ++i) {
            const rd_kafka_topic_partition_t& p = from->elems[i];
            kafka_offset& o = all.emplace_back(kafka_offset{{p.topic, p.partition}, {}, {}});
            if (p.offset >= 0) o.next = p.offset;
            if (p.metadata)
                o.metadata.assign(static_cast<const char*>(p.metadata), p.metadata_size);
        }
        return all;
    }

private:
    std::unique_ptr<rd_kafka_topic_partition_list_t,
                    decltype(&rd_kafka_topic_partition_list_destroy)>
        list_;
};

/// A record as it was consumed.
class kafka_message {
public:
    explicit kafka_message(rd_kafka_message_t* m) : m_(m, &rd_kafka_message_destroy) {}

    [[nodiscard]] kafka_partition at() const
    {
        return {rd_kafka_topic_name(m_->rkt), m_->partition};
    }
    [[nodiscard]] std::int64_t offset() const noexcept { return m_->offset; }
    [[nodiscard]] std::string_view body() const noexcept { return view(m_->payload, m_->len); }
    /// An absent key differs from an empty one: without a key a record is sent to any partition.
    [[nodiscard]] std::optional<std::string_view> key() const noexcept
    {
        if (!m_->key) return {};
        return view(m_->key, m_->key_len);
    }
    /// Milliseconds since 1970, set by the producer or the log; -1 for none.
    [[nodiscard]] std::int64_t timestamp() const noexcept
    {
        return rd_kafka_message_timestamp(m_.get(), nullptr);
    }
    [[nodiscard]] rd_kafka_timestamp_type_t timestamp_type() const noexcept
    {
        rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
        static_cast<void>(rd_kafka_message_timestamp(m_.get(), &type));
        return type;
    }
    /// The last header of that name.
    [[nodiscard]] std::optional<std::string_view> header(const char* name) const
    {
        rd_kafka_headers_t* all = nullptr;
        const void* value = nullptr;
        std::size_t size = 0;
        if (rd_kafka_message_headers(m_.get(), &all) != RD_KAFKA_RESP_ERR_NO_ERROR ||
            rd_kafka_header_get_last(all, name, &value, &size) != RD_KAFKA_RESP_ERR_NO_ERROR) {
            return {};
        }
        return view(value, size);
    }
    /// All headers, in order.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> headers() const
    {
        std::vector<std::pair<std::string, std::string>> found;
        rd_kafka_headers_t* all = nullptr;
        const char* name = nullptr;
        const void* value = nullptr;
        std::size_t size = 0;
        if (rd_kafka_message_headers(m_.get(), &all) != RD_KAFKA_RESP_ERR_NO_ERROR) return found;
        while (rd_kafka_header_get_all(all, found.size(), &name, &value, &size) ==
               RD_KAFKA_RESP_ERR_NO_ERROR) {
            found.emplace_back(name, view(value, size));
        }
        return found;
    }

private:
    static std::string_view view(const void* bytes, std::size_t size) noexcept
    {
        return {bytes ? static_cast<const char*>(bytes) : "", size};
    }

    std::unique_ptr<rd_kafka_message_t, decltype(&rd_kafka_message_destroy)> m_;
};

/// Brokers in this process, on loopback. Their data end with the object.
class kafka_mock {
public:
    explicit kafka_mock(int brokers)
        : host_(new_kafka(RD_KAFKA_PRODUCER, kafka_settings({}).made()), &rd_kafka_destroy),
          cluster_(rd_kafka_mock_cluster_new(host_.get(), brokers), &rd_kafka_mock_cluster_destroy)
    {
        if (!cluster_) throw kafka_error("the mock cluster cannot be made");
    }

    void topic(const std::string& name, int partitions)
    {
        const auto e = rd_kafka_mock_topic_create(cluster_.get(), name.c_str(), partitions, 1);
        if (e != RD_KAFKA_RESP_ERR_NO_ERROR) throw kafka_error(name + ": " + rd_kafka_err2str(e));
    }
    /// Sets the replies to the next requests of this kind, a number of the protocol.
    void refuse(std::int16_t request, const std::vector<rd_kafka_resp_err_t>& answers)
    {
        rd_kafka_mock_push_request_errors_array(cluster_.get(), request, answers.size(),
                                                answers.data());
    }
    /// A broker that is down closes its connections and accepts none. Brokers are numbered from 1.
    void set_down(std::int32_t broker) { rd_kafka_mock_broker_set_down(cluster_.get(), broker); }
    void set_up(std::int32_t broker) { rd_kafka_mock_broker_set_up(cluster_.get(), broker); }
    /// Each response of the broker is delayed by this time.
    void set_delay(std::int32_t broker, int milliseconds)
    {
        rd_kafka_mock_broker_set_rtt(cluster_.get(), broker, milliseconds);
    }
    void set_leader(const kafka_partition& p, std::int32_t broker)
    {
        rd_kafka_mock_partition_set_leader(cluster_.get(), p.topic.c_str(), p.number, broker);
    }
    [[nodiscard]] std::string address() const
    {
        return rd_kafka_mock_cluster_bootstraps(cluster_.get());
    }

private:
    std::unique_ptr<rd_kafka_t, decltype(&rd_kafka_destroy)> host_;
    std::unique_ptr<rd_kafka_mock_cluster_t, decltype(&rd_kafka_mock_cluster_destroy)> cluster_;
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_KAFKA_HPP
