// SPDX-License-Identifier: MIT

#include "reprocessing.hpp"

#include <string>

#include "../engines/sqlite_store.hpp"
#include "../support/environment.hpp"
#include "../support/program.hpp"
#include "event_log.hpp"
#include "files.hpp"
#include "ledger.hpp"
#include <waybill/consume.hpp>
#include <waybill/ext/exceptions.hpp>

namespace reliable_consumer {

waybill::dead_letter::run_report reprocess(const options& o)
{
    engines::database sink(sink_in(o));
    repair(sink);
    engines::sqlite_store store(sink);
    ledger effects(sink);
    support::standard_environment env;
    const auto handle = waybill::catching(
        [&](auto&, const waybill::dead_letter& d) {
            const auto partition = support::number_in(d.key.partition);
            return effects.apply(partition.value_or(0), event{d.at.sequence, d.body});
        },
        engines::classify);
    return waybill::reprocess_all(store, handle, env);
}

}  // namespace reliable_consumer
