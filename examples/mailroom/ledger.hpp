// SPDX-License-Identifier: MIT
//
// ledger: the effects of events, in the sink.
//
// On purpose nothing here detects duplicates: there is no unique key, and each call adds to the
// sums. Each event takes effect once only because the consumer applies it once. Otherwise the check
// at the end fails.
//
//   applied    one row an event
//   seconds    events and bytes in each second that had any
//   packages   for events of dpkg: state, version and size of each package

#ifndef WAYBILL_EXAMPLES_MAILROOM_LEDGER_HPP
#define WAYBILL_EXAMPLES_MAILROOM_LEDGER_HPP

#include "../engines/sqlite.hpp"
#include "event.hpp"
#include "phases.hpp"
#include <waybill/core/fault.hpp>

namespace mailroom {

class ledger {
public:
    ledger(engines::database& db, phases& at);

    /// Writes all effects of an event, in several statements. An installed package must have a
    /// version. A violation is detected after half of the effects are written.
    [[nodiscard]] waybill::fault apply(const delivery& d);

private:
    phases& at_;
    engines::statement second_;
    engines::statement package_;
    engines::statement version_;
    engines::statement applied_;
};

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_LEDGER_HPP
