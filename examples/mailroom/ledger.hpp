// SPDX-License-Identifier: MIT
//
// ledger: what the events are for, in the sink.
//
// Nothing here protects from events that come twice, on purpose: there is no unique key to catch
// them, and sums grow by whatever comes. Each event takes effect once because the consumer hands it
// over once, or the sink is wrong and the check at the end says so.
//
//   applied    one row an event
//   seconds    events and bytes in each second that had any
//   packages   for events of dpkg: in which state each package is, which version, how large

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

    /// All effects of an event, in several statements. Its rule: what is installed has a version.
    /// An event that breaks it is found out late, when half of its effects are written.
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
