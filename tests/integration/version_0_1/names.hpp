// SPDX-License-Identifier: MIT
//
// names: compiles the programs of this folder against version 0.1, too, which writes the fixtures.
//
// Current names are used. For version 0.1 this header maps those that have changed.

#ifndef WAYBILL_TESTS_VERSION_0_1_NAMES_HPP
#define WAYBILL_TESTS_VERSION_0_1_NAMES_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/consume.hpp>
#include <waybill/session.hpp>
#if WAYBILL_VERSION == 100
#include <waybill/core/base64_text.hpp>
#else
#include <waybill/core/detail/base64_text.hpp>
#include <waybill/lease.hpp>
#include <waybill/tracking.hpp>
#endif

namespace version_0_1 {

#if WAYBILL_VERSION == 100

struct lifecycle {
    using open = waybill::act::open;
    using process = waybill::act::process;
    using close = waybill::act::close;
    using save = waybill::act::save;
    using partition_opened = waybill::partition_opened;
    using partition_closed = waybill::partition_closed;
    using partition_saved = waybill::partition_saved;
};
using idle = waybill::act::idle;
using wait_until = waybill::act::wait;
using stop_requested = waybill::stop_asked;
using batch_outcome = waybill::batch_end;
using fault_kind = waybill::fault_class;
using dead_letter_body = waybill::letter_keeps;
using pipeline_dead_letter = waybill::step_letter;
using track_error = waybill::begin_refusal;

inline waybill::steady_time time_of(const wait_until& w)
{
    return w.until;
}
inline batch_outcome outcome_of(const waybill::batch_report& r)
{
    return r.end;
}
inline fault_kind kind_of(const waybill::fault& f)
{
    return f.how;
}
inline fault_kind kind_of(const waybill::dead_letter& d)
{
    return d.how;
}
inline waybill::wall_time dead_lettered_at(const waybill::dead_letter& d)
{
    return d.parked;
}
inline waybill::wall_time dead_lettered_at(const pipeline_dead_letter& d)
{
    return d.parked;
}
inline const auto& properties_of(const pipeline_dead_letter& d)
{
    return d.stamp;
}
inline bool state_omitted(const pipeline_dead_letter& d)
{
    return d.state_cut;
}
inline bool independent(const pipeline_dead_letter& d)
{
    return d.alone;
}
inline std::uint64_t incarnation(const waybill::attempt& a)
{
    return a.by;
}
inline std::uint64_t last_redriven_step(const pipeline_dead_letter& d)
{
    return d.sent_to;
}

using waybill::from_base64;
using waybill::when_exhausted;
using lease_call = waybill::lease_call;
using processor_config = waybill::processor_config;

inline waybill::batch_policy& dead_letters_of(waybill::batch_policy& p)
{
    return p;
}
template <class Stored>
auto opened(const lifecycle::open& a, const Stored& stored)
{
    return waybill::opened_with(a, stored);
}
inline auto processed(const lifecycle::process& a, batch_outcome outcome)
{
    return waybill::processed_with(a, outcome);
}
template <class Store>
auto load_crash_record(Store& store, const waybill::partition_key& key)
{
    return store.attempted(key);
}

#else

using lifecycle = waybill::partition_lifecycle;
using idle = waybill::idle;
using wait_until = waybill::wait_until;
using stop_requested = waybill::stop_requested;
using batch_outcome = waybill::batch_outcome;
using fault_kind = waybill::fault_kind;
using dead_letter_body = waybill::dead_letter_body;
using pipeline_dead_letter = waybill::pipeline_dead_letter;
using track_error = waybill::completion_tracker::track_error;

inline waybill::steady_time time_of(const wait_until& w)
{
    return w.time;
}
inline batch_outcome outcome_of(const waybill::batch_report& r)
{
    return r.outcome;
}
inline fault_kind kind_of(const waybill::fault& f)
{
    return f.kind;
}
inline fault_kind kind_of(const waybill::dead_letter& d)
{
    return d.kind;
}
inline waybill::wall_time dead_lettered_at(const waybill::dead_letter& d)
{
    return d.dead_lettered_at;
}
inline waybill::wall_time dead_lettered_at(const pipeline_dead_letter& d)
{
    return d.dead_lettered_at;
}
inline const auto& properties_of(const pipeline_dead_letter& d)
{
    return d.properties;
}
inline bool state_omitted(const pipeline_dead_letter& d)
{
    return d.state_omitted;
}
inline bool independent(const pipeline_dead_letter& d)
{
    return d.independent;
}
inline std::uint64_t incarnation(const waybill::crash_record& r)
{
    return r.incarnation;
}
inline std::uint64_t last_redriven_step(const pipeline_dead_letter& d)
{
    return d.last_redriven_step;
}

using waybill::detail::from_base64;
using when_exhausted = waybill::batch_policy::when_exhausted;
using lease_call = waybill::lease_manager::lease_call;
using processor_config = waybill::processor::config;

inline waybill::dead_letter_options& dead_letters_of(waybill::batch_policy& p)
{
    return p.dead_letters;
}
template <class Stored>
auto opened(const lifecycle::open& a, const Stored& stored)
{
    return lifecycle::partition_opened::of(a, stored);
}
inline auto processed(const lifecycle::process& a, batch_outcome outcome)
{
    return lifecycle::processed::of(a, outcome);
}
template <class Store>
auto load_crash_record(Store& store, const waybill::partition_key& key)
{
    return store.load_crash_record(key);
}

#endif

[[nodiscard]] inline std::string hex(std::string_view bytes)
{
    static constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (const char c : bytes) {
        const auto u = static_cast<unsigned char>(c);
        out += digits[u >> 4U];
        out += digits[u & 15U];
    }
    return out;
}

}  // namespace version_0_1

#endif  // WAYBILL_TESTS_VERSION_0_1_NAMES_HPP
