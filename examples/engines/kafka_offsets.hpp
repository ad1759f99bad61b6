// SPDX-License-Identifier: MIT
//
// kafka_offsets: the committed offsets of a group as checkpoints.
//
//     engines::kafka_offsets offsets(consumer);
//     auto r = waybill::process_at_least_once(offsets, letters, mine, events, handle, now);
//
//   1. A commit is refused if the group has given the partition to another member. The group's
//      generation decides this; `from` is not compared.
//   2. A checkpoint has the sequence number of the last finished event, and Kafka the offset of the
//      next one. There are no epochs: each assignment has epoch 0.
//
// Fault of the commit        Result
// ownership_lost             stale_epoch
// any other                  the same fault; after `infrastructure` the commit is unknown

#ifndef WAYBILL_EXAMPLES_ENGINES_KAFKA_OFFSETS_HPP
#define WAYBILL_EXAMPLES_ENGINES_KAFKA_OFFSETS_HPP

#include <charconv>
#include <cstdint>
#include <optional>

#include "kafka_consumer.hpp"
#include <waybill/consume/separate_stores.hpp>

namespace engines {

/// A checkpoint contains the last finished event, Kafka the next one to be read.
[[nodiscard]] inline std::optional<waybill::position> position_of(const kafka_offset& o)
{
    const std::optional<std::uint64_t> last = o.last_done();
    if (!last) return {};
    return waybill::position{*last, {}};
}

class kafka_offsets {
public:
    explicit kafka_offsets(kafka_consumer& c) : consumer_(&c) {}

    [[nodiscard]] static waybill::partition_key key_of(const kafka_partition& p,
                                                       const std::string& group)
    {
        return {p.topic, group, std::to_string(p.number)};
    }

    [[nodiscard]] waybill::result<std::optional<waybill::checkpoint>> load(
        const waybill::partition_key& key)
    {
        const auto all = consumer_->committed({partition_of(key)});
        if (!all) return waybill::unexpected(all.error());
        std::optional<waybill::checkpoint> found;
        if (const auto at = position_of(all->front())) found = waybill::checkpoint{*at, 0};
        return found;
    }

    [[nodiscard]] waybill::result<waybill::advance_outcome> commit(
        const waybill::partition_key& key, const std::optional<waybill::position>&,
        const waybill::position& to, std::uint64_t)
    {
        const auto next = static_cast<std::int64_t>(to.sequence + 1);
        const auto answer = consumer_->commit({{partition_of(key), next, {}}});
        if (answer) return waybill::advance_outcome::applied;
        if (answer.error().kind != waybill::fault_kind::ownership_lost) {
            return waybill::unexpected(answer.error());
        }
        return waybill::advance_outcome::stale_epoch;
    }

private:
    static kafka_partition partition_of(const waybill::partition_key& key)
    {
        kafka_partition p{key.source, 0};
        const char* const end = key.partition.data() + key.partition.size();
        std::from_chars(key.partition.data(), end, p.number);
        return p;
    }

    kafka_consumer* consumer_;
};

static_assert(waybill::checkpoint_writer<kafka_offsets>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_KAFKA_OFFSETS_HPP
