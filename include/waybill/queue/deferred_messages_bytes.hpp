// SPDX-License-Identifier: MIT
//
// deferred_messages_bytes: deferred_messages as bytes, and from these bytes.
//
//     rows.put(entry.sequence, waybill::save(entry));          // a row for each entry
//     ...
//     auto entry = waybill::load<waybill::deferred>(row);
//     if (!entry) stop(waybill::describe(entry.error()));      // do not start without it
//     deferred.restore(*entry);
//
//     store.put(key, waybill::save(deferred));                 // or all entries as one value
//     ...
//     auto again = waybill::load<waybill::deferred_messages>(bytes, options);
//
// Guarantees
//   1. Entries are restored exactly. Holds and options are not stored: a loaded object has no entry
//      in hand and uses the options given to `load`. If there are more entries than `max_messages`,
//      all are loaded, and the object is full.
//   2. `load` returns all entries or the first error. It accepts only bytes exactly as `save`
//      writes them.
//   3. `load` allocates memory only for entries that the bytes contain.
//
// Cost: logarithmic time per entry for `load`, linear time for `save`. The bytes of an entry are
// those of an object with this entry only. The byte format, version 1,
// is in the module's guide. Bytes of version 1 stay readable.

#ifndef WAYBILL_QUEUE_DEFERRED_MESSAGES_BYTES_HPP
#define WAYBILL_QUEUE_DEFERRED_MESSAGES_BYTES_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/sealed_bytes.hpp>
#include <waybill/core/result.hpp>
#include <waybill/queue/deferred.hpp>
#include <waybill/queue/deferred_messages.hpp>
#include <waybill/queue/detail/deferral_format.hpp>

namespace waybill::inline v0_2 {

/// The entries as bytes. Linear time.
[[nodiscard]] inline std::string save(const deferred_messages& messages)
{
    detail::deferral_writer out(messages.size());
    messages.each([&](const deferred& d) { out.entry(d); });
    return static_cast<detail::deferral_writer&&>(out).finish();
}

/// One entry as bytes. Linear time in its texts.
[[nodiscard]] inline std::string save(const deferred& entry)
{
    detail::deferral_writer out(1);
    out.entry(entry);
    return static_cast<detail::deferral_writer&&>(out).finish();
}

/// The entries that `save` wrote: load<deferred_messages>(bytes, options). Returns the first error
/// of the options or the bytes.
template <std::same_as<deferred_messages> B>
[[nodiscard]] result<B, deferred_messages::load_error> load(std::string_view bytes,
                                                            const deferral_options& options)
{
    if (const std::optional<config_error> bad = validate(options)) {
        return unexpected(deferred_messages::load_error{
            .kind = deferred_messages::load_error::code::bad_options, .options = *bad});
    }
    detail::sealed_reader<detail::deferral_format> in(bytes);
    const std::uint64_t count = in.integer();
    if (count > in.left() / detail::min_entry_bytes)
        in.fail(deferred_messages::load_error::code::corrupt);
    if (in.error()) return unexpected(*in.error());

    result<B, deferred_messages::load_error> loaded = B(options);
    deferred d;
    for (std::uint64_t n = 0; n != count; ++n) {
        const std::uint64_t difference = in.integer();
        if (n != 0 && difference == 0) in.fail(deferred_messages::load_error::code::unsorted);
        if (difference > detail::highest_size - d.sequence)
            in.fail(deferred_messages::load_error::code::out_of_range);
        d.sequence += difference;
        d.due = detail::stored_time(detail::stored_nanoseconds(d.due) + in.signed_integer());
        d.since = detail::stored_time(detail::stored_nanoseconds(d.due) + in.signed_integer());
        const std::uint64_t attempts = in.integer();
        if (attempts > UINT32_MAX) in.fail(deferred_messages::load_error::code::out_of_range);
        d.attempts = static_cast<std::uint32_t>(attempts);
        d.session = in.text();
        d.id = in.text();
        if (in.error()) return unexpected(*in.error());
        loaded->restore(d);
    }
    in.end();
    if (in.error()) return unexpected(*in.error());
    return loaded;
}

/// The entry that `save` wrote: load<deferred>(bytes). Bytes with another number of entries are
/// corrupt.
template <std::same_as<deferred> B>
[[nodiscard]] result<B, deferred_messages::load_error> load(std::string_view bytes)
{
    const auto all = load<deferred_messages>(bytes, {});
    if (!all) return unexpected(all.error());
    result<B, deferred_messages::load_error> loaded = B{};
    all->each([&](const deferred& d) { *loaded = d; });
    if (all->size() == 1) return loaded;
    return unexpected(deferred_messages::load_error{.offset = detail::deferral_count_offset});
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_DEFERRED_MESSAGES_BYTES_HPP
