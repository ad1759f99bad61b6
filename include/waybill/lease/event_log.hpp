// SPDX-License-Identifier: MIT
//
// event_log: the calls of a partitioned log that `run_partitions` needs.
//
//     partitions()                       the names of all partitions, each once
//     read(partition, after, max_count)  at most `max_count` events after the position `after`, in
//                                        ascending order; from the first one if it is empty
//     end(partition)                     optional: the position of the last event; empty if there
//                                        is none, or if it is not known
//
// Rules for a log (testing/log_conformance.hpp tests them)
//   1. Sequence numbers ascend and may have gaps. `read` does not end at a gap.
//   2. An event at the position `after` is not returned, even if it is the last one.
//   3. If the log has removed the events after `after`, `read` continues with the first event that
//      is left. A log that cannot do that returns an error.
//   4. `read` may return fewer events than there are. No events means: none for now.
//   5. A log that cannot be reached returns an error, not an empty result.

#ifndef WAYBILL_LEASE_EVENT_LOG_HPP
#define WAYBILL_LEASE_EVENT_LOG_HPP

#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <waybill/consume/event.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/result.hpp>

namespace waybill::inline v0_2 {

namespace detail {

/// The result of `read`: a container of events, or a fault.
template <class R>
concept read_events = std::same_as<R, result<typename R::value_type>> &&
                      requires(const typename R::value_type& events) {
                          { *std::begin(events) } -> sequenced;
                          std::end(events);
                      };

/// A log that knows the position of its last event.
template <class L>
concept log_with_end = requires(L& log, const std::string& partition) {
    { log.end(partition) } -> std::same_as<result<std::optional<position>>>;
};

}  // namespace detail

template <class L>
concept event_log = requires(L& log, const std::string& partition,
                             const std::optional<position>& after, std::uint64_t max_count) {
    { log.partitions() } -> std::same_as<result<std::vector<std::string>>>;
    { log.read(partition, after, max_count) } -> detail::read_events;
};

namespace detail {

/// Does not compile for a log without a required call; the error names the call.
template <class L>
struct checked_event_log {
    static constexpr bool ok = event_log<L>;
    static constexpr bool lists = requires(L& log) {
        { log.partitions() } -> std::same_as<result<std::vector<std::string>>>;
    };
    static constexpr bool reads =
        requires(L& log, const std::string& partition, const std::optional<position>& after) {
            { log.read(partition, after, std::uint64_t{}) } -> read_events;
        };
    static constexpr bool has_end =
        requires(L& log, const std::string& partition) { log.end(partition); };

    static_assert(lists,
                  "event log: partitions() must exist and return "
                  "result<std::vector<std::string>>");
    static_assert(reads,
                  "event log: read(partition, after, max_count) must exist and return a "
                  "result of a container of events, which have a `sequence`");
    static_assert(!has_end || log_with_end<L>,
                  "event log: end(partition) must return result<std::optional<position>>");
};

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_EVENT_LOG_HPP
