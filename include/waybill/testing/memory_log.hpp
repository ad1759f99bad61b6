// SPDX-License-Identifier: MIT
//
// memory_log: a partitioned log in memory, for tests of applications.
//
// It conforms to log_conformance.hpp.
//
//     waybill::testing::memory_log log({"0", "1"});
//     log.append("0", "an order");                     // sequence 1
//     log.append("0", {.sequence = 7, .body = "another"});
//     auto r = waybill::run_partitions(log, store, leases, handle, policy, env);
//
//     std::vector<std::vector<order>> orders = ...;    // the partitions "0", "1" ...
//     waybill::testing::memory_log log(orders);
//
// `Event` is any type with a `sequence`. Reads are logarithmic in the events of a partition, and
// linear in the returned ones.

#ifndef WAYBILL_TESTING_MEMORY_LOG_HPP
#define WAYBILL_TESTING_MEMORY_LOG_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/consume/event.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/lease/event_log.hpp>

namespace waybill::inline v0_2::testing {

/// An event of a `memory_log`.
struct memory_event {
    std::uint64_t sequence = 0;
    std::string body{};

    friend bool operator==(const memory_event&, const memory_event&) = default;
};

namespace detail {

/// The event of a container of containers of events.
template <class Partitions>
using nested_event =
    std::remove_cvref_t<decltype(*std::begin(*std::begin(std::declval<const Partitions&>())))>;

}  // namespace detail

template <class Event = memory_event>
class memory_log {
public:
    explicit memory_log(const std::vector<std::string>& partitions)
    {
        for (const std::string& name : partitions) partitions_.push_back({name, {}, {}});
    }

    /// The partitions "0", "1" ... with the events of a container of containers, copied. The
    /// sequences of each partition must ascend.
    template <class Partitions>
        requires std::same_as<detail::nested_event<Partitions>, Event>
    explicit memory_log(const Partitions& partitions)
    {
        for (const auto& events : partitions) {
            const std::string name = std::to_string(partitions_.size());
            partitions_.push_back({name, {}, {}});
            for (const Event& e : events) append(name, e);
        }
    }

    /// Appends an event. Its sequence must exceed that of the last event.
    void append(const std::string& partition, Event e)
    {
        part& p = *find(partition);
        p.end = position_of(e);
        p.events.push_back(std::move(e));
    }

    /// Appends an event with the next sequence number; the first one is 1.
    void append(const std::string& partition, std::string body)
        requires std::same_as<Event, memory_event>
    {
        const part& p = *find(partition);
        append(partition, Event{p.end ? p.end->sequence + 1 : 1, std::move(body)});
    }

    /// Removes the events up to `sequence`, as logs do with old events.
    void truncate(const std::string& partition, std::uint64_t sequence)
    {
        part& p = *find(partition);
        const auto first_left = static_cast<std::ptrdiff_t>(index_after(p, sequence));
        p.events.erase(p.events.begin(), p.events.begin() + first_left);
    }

    /// `read` returns at most this number of events, like a log that returns only buffered events.
    void limit_reads(std::uint64_t max_count) noexcept { max_read_ = max_count; }

    [[nodiscard]] result<std::vector<std::string>> partitions() const
    {
        std::vector<std::string> names;
        for (const part& p : partitions_) names.push_back(p.name);
        return names;
    }

    [[nodiscard]] result<std::vector<Event>> read(const std::string& partition,
                                                  const std::optional<position>& after,
                                                  std::uint64_t max_count) const
    {
        const part* p = find(partition);
        if (!p) return unexpected(permanent("no partition " + partition));
        const std::size_t first = after ? index_after(*p, after->sequence) : 0;
        const std::uint64_t limit = max_count < max_read_ ? max_count : max_read_;
        const std::size_t left = p->events.size() - first;
        const std::size_t count = left < limit ? left : static_cast<std::size_t>(limit);
        const auto begin = p->events.begin() + static_cast<std::ptrdiff_t>(first);
        return std::vector<Event>(begin, begin + static_cast<std::ptrdiff_t>(count));
    }

    /// The position of the last event, also after it was removed.
    [[nodiscard]] result<std::optional<position>> end(const std::string& partition) const
    {
        const part* p = find(partition);
        if (!p) return unexpected(permanent("no partition " + partition));
        return p->end;
    }

private:
    struct part {
        std::string name;
        std::vector<Event> events;
        std::optional<position> end;
    };

    [[nodiscard]] const part* find(const std::string& partition) const
    {
        for (const part& p : partitions_) {
            if (p.name == partition) return &p;
        }
        return nullptr;
    }
    /// A partition that does not exist yet is added.
    [[nodiscard]] part* find(const std::string& partition)
    {
        for (part& p : partitions_) {
            if (p.name == partition) return &p;
        }
        return &partitions_.emplace_back(part{partition, {}, {}});
    }

    /// The index of the first event after `sequence`.
    [[nodiscard]] static std::size_t index_after(const part& p, std::uint64_t sequence)
    {
        std::size_t low = 0;
        std::size_t high = p.events.size();
        while (low != high) {
            const std::size_t middle = low + (high - low) / 2;
            if (static_cast<std::uint64_t>(p.events[middle].sequence) <= sequence) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    std::vector<part> partitions_;
    std::uint64_t max_read_ = ~std::uint64_t{0};
};

template <class Partitions>
    requires sequenced<detail::nested_event<Partitions>>
memory_log(const Partitions&) -> memory_log<detail::nested_event<Partitions>>;

static_assert(event_log<memory_log<>>);

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_MEMORY_LOG_HPP
