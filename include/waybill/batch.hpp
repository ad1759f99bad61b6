// SPDX-License-Identifier: MIT
//
// The module batch: sends messages in as few requests as possible.
//
// If all sizes are known, `chunk_by` cuts a sequence into batches, lazily. `open_batch` collects
// items that arrive one by one. If sizes are partly unknown, `send_all` drives a `batch_sender`
// over any send function; `batch_sender` is the state machine for the caller's own loop.

// Index, written by tests/api --write:
//
//   batch/add_result.hpp
//     enum add_result { added, full, too_large }
//
//   batch/batch_close_reason.hpp
//     enum batch_close_reason { bytes, items, key, deadline, end }
//
//   batch/batch_sender.hpp
//     class batch_sender
//
//   batch/bin_packer.hpp
//     class bin_packer
//     struct packed_bins
//     packed_bins pack(const Items& items, const batch_limits& l, F size, std::uint64_t bins)
//
//   batch/calibration.hpp
//     struct calibration
//
//   batch/chunk.hpp
//     struct chunk
//
//   batch/chunk_by.hpp
//     chunk<I> front_chunk(I first, S last, const batch_limits& l, const F& size)
//     auto chunk_by(I first, S last, const batch_limits& l, F size)
//     auto chunk_by(Items& items, const batch_limits& l, F size)
//
//   batch/framing.hpp
//     concept framing
//     auto fixed_overhead(std::uint64_t overhead, F body)
//     struct framed
//     struct reserve
//     auto with_reserve(F f, reserve r)
//
//   batch/keyed_batches.hpp
//     struct keyed_batch
//     class keyed_batches
//
//   batch/merged.hpp
//     calibration merged(const calibration& a, const calibration& b)
//
//   batch/open_batch.hpp
//     struct closed_batch
//     class open_batch
//
//   batch/open_limits.hpp
//     struct open_limits
//
//   batch/owned_chunks.hpp
//     struct owned_chunk
//     auto owned_chunks(I first, S last, const batch_limits& l, F size)
//     auto owned_chunks(first, last, l, size)
//     auto owned_chunks(From&& from, const batch_limits& l, F size)
//
//   batch/resend_buffer.hpp
//     class resend_buffer
//
//   batch/send_all.hpp
//     send_report send_all(first, last, size, s, send, env, replace)
//     send_report send_all(items, size, s, send, env, replace)
//     send_report send_all(box, size, s, send, env, replace)
//     auto send_all(I first, S last, const F&, batch_sender&, Send&&, Environment&&, Replace&&)
//     auto send_all(Items& items, const F&, batch_sender&, Send&&, Environment&&, Replace&&)
//
//   batch/send_policy.hpp
//     struct send_policy
//
//   batch/send_report.hpp
//     struct item_report
//     struct send_report
//
//   batch/sending.hpp
//     struct item_range
//     enum item_outcome { accepted, too_large, failed, in_doubt, unsent, blocked_by_key }
//     struct batch_sender_types
//     using send_outcome
//
//   batch/too_large.hpp
//     std::optional<batch_limits::oversized_item> first_too_large(first, last, l, size)
//     auto first_too_large(const Items& items, const batch_limits& l, F size)

#ifndef WAYBILL_BATCH_HPP
#define WAYBILL_BATCH_HPP

#include <waybill/batch/add_result.hpp>
#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/bin_packer.hpp>
#include <waybill/batch/calibration.hpp>
#include <waybill/batch/chunk.hpp>
#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/keyed_batches.hpp>
#include <waybill/batch/merged.hpp>
#include <waybill/batch/open_batch.hpp>
#include <waybill/batch/open_limits.hpp>
#include <waybill/batch/owned_chunks.hpp>
#include <waybill/batch/resend_buffer.hpp>
#include <waybill/batch/send_all.hpp>
#include <waybill/batch/send_policy.hpp>
#include <waybill/batch/send_report.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/batch/too_large.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_BATCH_HPP
