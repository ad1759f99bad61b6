// SPDX-License-Identifier: MIT
//
// azure_blob_checkpoints: checkpoints as blobs, in the form of Azure's own clients of Event Hubs.
//
//     engines::azure_container container(*account, "checkpoints");
//     engines::azure_blob_checkpoints checkpoints(container);
//     auto r = waybill::process_at_least_once(checkpoints, letters, mine, events, handle, now);
//
//     SOURCE/GROUP/checkpoint/PARTITION     metadata: sequencenumber, offset, epoch
//
//   1. For a key {"NAMESPACE/HUB", GROUP, PARTITION} in small letters this is the blob of
//      BlobCheckpointStore: a reader of one kind continues where a reader of the other kind ended.
//      Those clients write no epoch, which counts as 0, and compare nothing.
//   2. A commit is one request, with the ETag of the checkpoint that it replaces.
//   3. The effects are elsewhere: they and the checkpoint are not written together.
//
// Failure                                   Result
// a higher epoch in the blob                stale_epoch
// another sequence number than `from`       conflict
// other writers changed the blob 5 times    transient
// the response to a commit is lost          infrastructure: unknown
// a blob that is no checkpoint              infrastructure, with its name
// others                                    as in azure_container.hpp

#ifndef WAYBILL_EXAMPLES_ENGINES_AZURE_BLOB_CHECKPOINTS_HPP
#define WAYBILL_EXAMPLES_ENGINES_AZURE_BLOB_CHECKPOINTS_HPP

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "azure_container.hpp"
#include <waybill/consume/separate_stores.hpp>

namespace engines {

class azure_blob_checkpoints {
public:
    explicit azure_blob_checkpoints(azure_container& c) : container_(&c) {}

    [[nodiscard]] waybill::result<std::optional<waybill::checkpoint>> load(
        const waybill::partition_key& key)
    {
        const auto r = read(blob_of(key));
        if (!r) return waybill::unexpected(r.error());
        std::optional<waybill::checkpoint> found;
        if (*r) found = (*r)->at;
        return found;
    }

    [[nodiscard]] waybill::result<waybill::advance_outcome> commit(
        const waybill::partition_key& key, const std::optional<waybill::position>& from,
        const waybill::position& to, std::uint64_t epoch)
    {
        const std::string blob = blob_of(key);
        const azure_metadata row{{"sequencenumber", std::to_string(to.sequence)},
                                 {"offset", azure_value(to.offset)},
                                 {"epoch", std::to_string(epoch)}};
        for (int tries = 0; tries != 5; ++tries) {
            // The last checkpoint of this object saves a request. If it does not fit, it is read.
            auto last = known_.extract(blob);
            auto r = last ? waybill::result<std::optional<stored>>(std::move(last.mapped()))
                          : read(blob);
            if (!r) return waybill::unexpected(r.error());
            const bool stale = *r && (*r)->at.epoch > epoch;
            const bool same = *r ? from && (*r)->at.at.sequence == from->sequence : !from;
            if ((stale || !same) && last) continue;
            if (stale) return waybill::advance_outcome::stale_epoch;
            if (!same) return waybill::advance_outcome::conflict;
            const auto written =
                *r ? container_->replace(blob, row, (*r)->etag) : container_->create(blob, row);
            if (!written) return waybill::unexpected(written.error());
            if (!*written) continue;
            known_[blob] = {.at = {to, epoch}, .etag = **written};
            return waybill::advance_outcome::applied;
        }
        return waybill::unexpected(
            waybill::transient("other processes changed the blob " + blob + " 5 times"));
    }

private:
    struct stored {
        waybill::checkpoint at{};
        std::string etag{};
    };

    [[nodiscard]] static std::string blob_of(const waybill::partition_key& key)
    {
        return azure_folder(key.source, key.group) + "checkpoint/" + azure_name(key.partition);
    }

    [[nodiscard]] waybill::result<std::optional<stored>> read(const std::string& blob)
    {
        const auto found = container_->read(blob);
        if (!found) return waybill::unexpected(found.error());
        if (!*found) return std::optional<stored>();
        const azure_blob& b = **found;
        const auto sequence = b.number("sequencenumber");
        const auto offset = b.text("offset");
        const auto epoch = b.metadata.contains("epoch") ? b.number("epoch") : 0;
        if (!sequence || !offset || !epoch) {
            return waybill::unexpected(container_->infrastructure(
                "the blob " + blob + " is no checkpoint: remove it, or use another container"));
        }
        return std::optional(stored{.at = {{*sequence, *offset}, *epoch}, .etag = b.etag});
    }

    azure_container* container_;
    std::map<std::string, stored, std::less<>> known_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_AZURE_BLOB_CHECKPOINTS_HPP
