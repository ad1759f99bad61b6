// SPDX-License-Identifier: MIT
//
// kafka_reader: reads the dead letters, and finds their events.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_READER_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_READER_HPP

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../engines/kafka_letters.hpp"
#include "../engines/kafka_offsets.hpp"
#include <waybill/consume/process_at_least_once.hpp>

namespace reliable_consumer {

/// Reads the dead-letter topic in order, with process_at_least_once.
class letter_reader {
public:
    letter_reader(const engines::kafka_settings& s, const std::string& topic)
        : topic_(topic),
          in_(s, "letters", {topic + std::string(engines::dlt::behind_topic)},
              {.assigned =
                   [this](const auto& all) {
                       for (const auto& o : all) {
                           held& h = held_[o.at];
                           h.waiting.clear();
                           h.mine = {engines::kafka_offsets::key_of(o.at, "letters"),
                                     engines::position_of(o), 0};
                       }
                   },
               .revoked = {}})
    {
    }

    void step()
    {
        for (int n = 0; n != 100; ++n) {
            auto m = in_.next(std::chrono::milliseconds(0));
            if (!m) break;
            held_[m->at()].waiting.push_back({static_cast<std::uint64_t>(m->offset()), read(*m)});
        }
        engines::kafka_offsets offsets(in_);
        nowhere letters{&wrong_};
        for (auto& [at, h] : held_) {
            if (h.waiting.empty()) continue;
            const auto r = waybill::process_at_least_once(
                offsets, letters, h.mine, h.waiting,
                [this](const letter& l, std::string_view) -> waybill::fault {
                    if (!l.from)
                        return waybill::permanent("its headers are not those of a dead letter");
                    ++found_[*l.from];
                    return {};
                },
                std::chrono::system_clock::now());
            h.mine.from = r.reached;
            std::erase_if(h.waiting, [&](const letter& l) {
                return r.reached && l.sequence <= r.reached->sequence;
            });
        }
    }

    /// The number of dead letters for each event's key.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& found() const { return found_; }
    [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

private:
    struct letter {
        std::uint64_t sequence = 0;
        std::optional<std::string> from{};
    };
    struct held {
        waybill::assignment mine{};
        std::vector<letter> waiting{};
    };
    /// Counts dead letters that cannot be read, and drops them.
    struct nowhere {
        std::uint64_t* wrong;
        waybill::result<void> put(const waybill::dead_letter&)
        {
            ++*wrong;
            return {};
        }
    };

    std::optional<std::string> read(const engines::kafka_message& m) const
    {
        namespace dlt = engines::dlt;
        const auto partition = engines::big_endian_in(m.header(dlt::partition), 4);
        const auto offset = engines::big_endian_in(m.header(dlt::offset), 8);
        const auto time = engines::big_endian_in(m.header(dlt::timestamp), 8);
        const auto why = m.header(dlt::reason);
        if (m.header(dlt::topic) != topic_ || !partition || !offset || !time || !why ||
            why->empty())
            return {};
        if (m.header(dlt::group) != "ledger" || m.header(dlt::exception) != "waybill.permanent")
            return {};
        return waybill::idempotency_key({topic_, "ledger", std::to_string(*partition)}, *offset);
    }

    std::string topic_;
    std::map<engines::kafka_partition, held> held_{};
    std::map<std::string, std::uint64_t> found_{};
    std::uint64_t wrong_ = 0;
    engines::kafka_consumer in_;
};

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_KAFKA_READER_HPP
