// SPDX-License-Identifier: MIT
//
// azure_blob_leases: leases of partitions as blobs, as a waybill lease store.
//
//     engines::azure_container container(*account, "leases");
//     engines::azure_blob_leases leases(container);
//     auto r = waybill::run_partitions(log, store, leases, handle, {...}, env);
//
//     SOURCE/GROUP/lease/p/PARTITION             metadata: version, epoch, owner, incarnation
//     SOURCE/GROUP/lease/o/OWNER~INCARNATION     metadata: version
//
//   1. A claim is a write with the ETag of the row that was read. Of two concurrent claims the
//      service refuses one.
//   2. Versions are random numbers of 64 bits. A row that was removed and written again has another.
//   3. An owner renews each of its leases with a request. One heartbeat cannot renew them all,
//      because a claim cannot depend on two blobs. A round of an owner with N partitions is N + 2
//      requests, and one more for each 5,000 rows.
//   4. The service's own leases on blobs are not used; their longest time is 60 s.
//   5. `epoch` is missing: a transaction elsewhere cannot read a blob. So a commit is fenced by the
//      epoch that the last owner has committed (fenced_store.hpp).
//
// Failure                                   Result
// another version in the row                the claim is lost
// the response to a claim is lost           infrastructure. It is not sent again: it could take its
//                                           own claim for that of another owner
// a blob that is no row                     infrastructure, with its name
// others                                    as in azure_container.hpp

#ifndef WAYBILL_EXAMPLES_ENGINES_AZURE_BLOB_LEASES_HPP
#define WAYBILL_EXAMPLES_ENGINES_AZURE_BLOB_LEASES_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "azure_container.hpp"
#include "number.hpp"
#include <waybill/lease/lease.hpp>

namespace engines {

class azure_blob_leases {
public:
    explicit azure_blob_leases(azure_container& c) : container_(&c) {}

    [[nodiscard]] waybill::result<waybill::lease_table> list(const std::string& source,
                                                             const std::string& group)
    {
        const std::string folder = folder_of(source, group);
        const auto blobs = container_->list(folder);
        if (!blobs) return waybill::unexpected(blobs.error());
        known_.erase(known_.lower_bound(folder), known_.lower_bound(folder + "\x7f"));
        waybill::lease_table all;
        for (const azure_blob& b : *blobs) {
            const std::string_view name = std::string_view(b.name).substr(folder.size());
            bool good = false;
            if (name.starts_with("p/")) {
                waybill::lease l{.key = {source, group, {}}};
                good = lease_in(b, name.substr(2), l);
                if (good) known_[b.name] = {l.version, b.etag};
                if (good) all.leases.push_back(std::move(l));
            } else if (name.starts_with("o/")) {
                waybill::owner_heartbeat p{.source = source, .group = group};
                good = owner_in(b, name.substr(2), p);
                if (good) all.owners.push_back(std::move(p));
            }
            if (!good) return waybill::unexpected(no_row(b.name));
        }
        return all;
    }

    [[nodiscard]] waybill::result<waybill::lease_claim::result> claim(const waybill::lease_claim& c)
    {
        using result = waybill::lease_claim::result;
        const std::string blob =
            folder_of(c.key.source, c.key.group) + "p/" + azure_name(c.key.partition);
        std::string etag;
        if (c.expected) {
            const auto found = etag_of(blob, *c.expected);
            if (!found) return waybill::unexpected(found.error());
            if (!*found) return result{};
            etag = **found;
        }
        known_.erase(blob);
        const std::uint64_t version = new_version();
        azure_metadata row{{"version", std::to_string(version)},
                           {"epoch", std::to_string(c.epoch)}};
        if (!c.owner.none()) {
            row["owner"] = azure_value(c.owner.name);
            row["incarnation"] = std::to_string(c.owner.incarnation);
        }
        const auto written =
            c.expected ? container_->replace(blob, row, etag) : container_->create(blob, row);
        if (!written) return waybill::unexpected(written.error());
        if (!*written) return result{};
        known_[blob] = {version, **written};
        return result{result::claim_outcome::won, c.epoch, version};
    }

    [[nodiscard]] waybill::result<void> heartbeat(const waybill::owner_heartbeat& p)
    {
        const std::string blob = blob_of(p);
        const azure_metadata row{{"version", std::to_string(p.version)}};
        // Only this owner writes the row, so one try is enough unless it was removed just now.
        for (int tries = 0; tries != 3; ++tries) {
            const auto found = container_->read(blob);
            if (!found) return waybill::unexpected(found.error());
            const auto written = *found ? container_->replace(blob, row, (*found)->etag)
                                        : container_->create(blob, row);
            if (!written) return waybill::unexpected(written.error());
            if (*written) return {};
        }
        return waybill::unexpected(waybill::transient("another process writes the blob " + blob));
    }

    [[nodiscard]] waybill::result<void> leave(const waybill::owner_heartbeat& p)
    {
        const std::string blob = blob_of(p);
        const auto found = container_->read(blob);
        if (!found) return waybill::unexpected(found.error());
        if (!*found || (*found)->number("version") != p.version) return {};
        const auto removed = container_->remove(blob, (*found)->etag);
        if (!removed) return waybill::unexpected(removed.error());
        return {};
    }

private:
    struct known {
        std::uint64_t version = 0;
        std::string etag{};
    };

    [[nodiscard]] static std::string folder_of(const std::string& source, const std::string& group)
    {
        return azure_folder(source, group) + "lease/";
    }
    [[nodiscard]] static std::string blob_of(const waybill::owner_heartbeat& p)
    {
        return folder_of(p.source, p.group) + "o/" + azure_name(p.owner.name) + "~" +
               std::to_string(p.owner.incarnation);
    }

    [[nodiscard]] static bool lease_in(const azure_blob& b, std::string_view partition,
                                       waybill::lease& l)
    {
        const auto name = from_azure_name(partition);
        const auto version = b.number("version");
        const auto epoch = b.number("epoch");
        const bool owned = b.metadata.contains("owner");
        const auto owner = owned ? b.text("owner") : std::string();
        const auto incarnation = owned ? b.number("incarnation") : 0;
        if (!name || !version || !epoch || !owner || !incarnation) return false;
        l.key.partition = *name;
        l.version = *version;
        l.epoch = *epoch;
        l.owner = {*owner, *incarnation};
        return true;
    }

    [[nodiscard]] static bool owner_in(const azure_blob& b, std::string_view name,
                                       waybill::owner_heartbeat& p)
    {
        const std::size_t sign = name.rfind('~');
        if (sign == name.npos) return false;
        const auto owner = from_azure_name(name.substr(0, sign));
        const auto incarnation = number_in(name.substr(sign + 1));
        const auto version = b.number("version");
        if (!owner || !incarnation || !version) return false;
        p.owner = {*owner, *incarnation};
        p.version = *version;
        return true;
    }

    /// The ETag of the row if it has this version, otherwise empty. The row is read if this object
    /// has not read or written it with this version.
    [[nodiscard]] waybill::result<std::optional<std::string>> etag_of(const std::string& blob,
                                                                      std::uint64_t version)
    {
        const auto at = known_.find(blob);
        if (at != known_.end() && at->second.version == version)
            return std::optional(at->second.etag);
        const auto found = container_->read(blob);
        if (!found) return waybill::unexpected(found.error());
        if (!*found) return std::optional<std::string>();
        const auto stored = (*found)->number("version");
        if (!stored) return waybill::unexpected(no_row(blob));
        if (*stored != version) return std::optional<std::string>();
        return std::optional((*found)->etag);
    }

    [[nodiscard]] waybill::fault no_row(const std::string& blob) const
    {
        return container_->infrastructure("the blob " + blob +
                                          " is no lease: remove it, or use another container");
    }

    [[nodiscard]] static std::uint64_t new_version()
    {
        std::random_device bits;
        return (std::uint64_t{bits()} << 32U) | bits();
    }

    azure_container* container_;
    std::map<std::string, known, std::less<>> known_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_AZURE_BLOB_LEASES_HPP
