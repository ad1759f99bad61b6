// SPDX-License-Identifier: MIT
//
// waybill.hpp: all of waybill that needs only the standard library.
//
// A program that needs one module includes only the module header, for example waybill/retry.hpp.
// This header does not include testing/, which is for tests, and ext/, whose headers each need a
// package.

#ifndef WAYBILL_WAYBILL_HPP
#define WAYBILL_WAYBILL_HPP

#include <waybill/batch.hpp>
#include <waybill/consume.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/base64_text.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/broker_sequence.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/crc32c.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/sha256.hpp>
#include <waybill/core/text.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_source.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/lease.hpp>
#include <waybill/queue.hpp>
#include <waybill/retry.hpp>
#include <waybill/scaling.hpp>
#include <waybill/session.hpp>
#include <waybill/tracking.hpp>
#include <waybill/version.hpp>
#include <waybill/window.hpp>
#include <waybill/wire.hpp>

#endif  // WAYBILL_WAYBILL_HPP
