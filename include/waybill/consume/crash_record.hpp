// SPDX-License-Identifier: MIT
//
// crash_record: the row of a partition that finds an event that ends its process.
//
//     auto found = store.load_crash_record(key);     // process_batch calls these three
//     store.store_crash_record(tx, key, record);     // before the first event is handled
//     store.clear_crash_record(tx, key);             // with the commit of the checkpoint
//
// If an event ends the process, or its handler throws, no failure is reported. A record that is
// found belongs to a delivery that did not end, and the next delivery is planned with it:
//   1. After `deaths` deaths in a row, the suspects are halved until one event is left.
//   2. An event is a poison message only by its own deaths, delivered alone.
//   3. A delivery that ends in order without a commit restores the earlier record. If the store
//      fails, the record stays.
//   4. A record with a higher epoch belongs to a later owner and is not changed.
// The guide defines a death and lists the cases in which deaths are miscounted.

#ifndef WAYBILL_CONSUME_CRASH_RECORD_HPP
#define WAYBILL_CONSUME_CRASH_RECORD_HPP

#include <cstdint>
#include <optional>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2 {

/// The crash record of a partition: a delivery has begun, or the search for one event goes on.
struct crash_record {
    std::optional<std::uint64_t> from{};  ///< Sequence of the checkpoint before the batch.
    std::uint64_t to = 0;                 ///< Sequence of the last suspect.
    std::uint64_t suspects = 0;           ///< Number of suspects when the record was written.
    std::uint32_t deaths = 0;       ///< Deaths counted so far; 0 again when one suspect is left.
    std::uint64_t incarnation = 0;  ///< Incarnation that delivers them; 0 if none does.
    std::uint64_t epoch = 0;        ///< Epoch of the owner that wrote the record.

    friend bool operator==(const crash_record&, const crash_record&) = default;
};

namespace detail {

/// Maximum number of processes that one event of a batch ends before it is dead-lettered. It is 2 *
/// deaths + log2(events) - 1, rounded down, or `deaths` for a single event.
[[nodiscard]] constexpr std::uint64_t deaths_at_most(std::uint64_t events,
                                                     std::uint32_t deaths) noexcept
{
    const std::uint64_t each = detail::greater(deaths, 1);
    if (events < 2) return each;
    std::uint64_t max_deaths = 2 * each - 1;
    for (; events > 1; events /= 2) ++max_deaths;
    return max_deaths;
}

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_CRASH_RECORD_HPP
