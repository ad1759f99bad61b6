// SPDX-License-Identifier: MIT
//
// The module batch: sends messages in as few requests as possible.
//
// If all sizes are known, `chunk_by` cuts a sequence into batches, lazily. `open_batch` collects
// items that arrive one by one. If sizes are partly unknown, `send_all` drives a `batch_sender`
// over any send function; `batch_sender` is the state machine for the caller's own loop.

#ifndef WAYBILL_BATCH_HPP
#define WAYBILL_BATCH_HPP

#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/bin_packer.hpp>
#include <waybill/batch/calibration.hpp>
#include <waybill/batch/calibration_state.hpp>
#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/keyed_batches.hpp>
#include <waybill/batch/merged.hpp>
#include <waybill/batch/open_batch.hpp>
#include <waybill/batch/owned_chunks.hpp>
#include <waybill/batch/resend_buffer.hpp>
#include <waybill/batch/send_all.hpp>
#include <waybill/batch/send_policy.hpp>
#include <waybill/batch/send_report.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/batch/side_by_side.hpp>
#include <waybill/batch/tally.hpp>
#include <waybill/batch/too_large.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_BATCH_HPP
