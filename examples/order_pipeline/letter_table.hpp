// SPDX-License-Identifier: MIT
//
// letter_table: where the parked steps are: in the shop's database, or in an Azure table.
//
//     letter_table letters(shop, "");                                       // sqlite_step_letters
//     letter_table letters(shop, "azure-table://127.0.0.1:10002/devstoreaccount1/letters");

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_LETTER_TABLE_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_LETTER_TABLE_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../engines/sqlite_step_letters.hpp"
#include "../engines/azure_table.hpp"

namespace order_pipeline {

/// azure-table://HOST:PORT/ACCOUNT/TABLE, of an emulator's account.
[[nodiscard]] inline std::optional<engines::azure_table_place> azure_place(std::string_view address)
{
    constexpr std::string_view scheme = "azure-table://";
    if (!address.starts_with(scheme)) return {};
    auto place = engines::azure_table_at(address.substr(scheme.size()));
    if (place && place->account != engines::development_account) return {};
    return place;
}

/// The address with all that may be left out of it; empty where there is none.
[[nodiscard]] inline std::string full_address(std::string_view address)
{
    const auto p = azure_place(address);
    if (!p) return {};
    return "azure-table://" + p->host + ":" + p->port + "/" + p->account + "/" + p->table;
}

class letter_table {
public:
    using letters = std::span<const waybill::pipeline_dead_letter>;

    /// Requires: `address` is empty or has a place.
    letter_table(engines::database& shop, const std::string& address) : local_(shop)
    {
        if (!address.empty()) remote_.emplace(azure_place(address).value());
    }

    /// Written again, a letter replaces itself, but for what the one that is there knows better.
    [[nodiscard]] waybill::fault upsert(const waybill::pipeline_dead_letter& l)
    {
        return remote_ ? remote_->upsert(l) : local_.upsert(l);
    }
    /// How far their sessions were sent.
    [[nodiscard]] waybill::fault mark(letters all)
    {
        return remote_ ? remote_->mark(all) : local_.mark(all);
    }
    [[nodiscard]] waybill::fault remove(letters all)
    {
        return remote_ ? remote_->remove(all) : local_.remove(all);
    }
    [[nodiscard]] waybill::result<std::vector<waybill::pipeline_dead_letter>> list()
    {
        return remote_ ? remote_->list() : local_.list();
    }

    /// Of so many letters all are removed, or none.
    [[nodiscard]] std::uint64_t removed_at_once() const noexcept
    {
        return remote_ ? engines::azure_table::removed_at_once : UINT64_MAX;
    }

private:
    engines::sqlite_step_letters local_;
    std::optional<engines::azure_table> remote_{};
};

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_LETTER_TABLE_HPP
