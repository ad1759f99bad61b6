// SPDX-License-Identifier: MIT
//
// letter_table: the dead letters of steps: in SQLite, in an Azure table, or in PostgreSQL.
//
//     letters_in<engines::sqlite_step_letters> letters(shop);
//     letters_in<engines::azure_table> letters(azure_place(address).value());

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_LETTER_TABLE_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_LETTER_TABLE_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../engines/azure_table.hpp"
#include "../engines/session_message.hpp"
#include <waybill/session.hpp>

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
    using letter = waybill::pipeline_dead_letter;
    using letters = std::span<const waybill::pipeline_dead_letter>;

    letter_table() = default;
    letter_table(const letter_table&) = delete;
    letter_table& operator=(const letter_table&) = delete;
    virtual ~letter_table() = default;

    /// Written again, a letter replaces itself, but for what the one that is there knows better.
    [[nodiscard]] virtual waybill::fault upsert(const letter& l) = 0;
    /// The same, by the holder of its session. PostgreSQL checks the lock in the transaction.
    [[nodiscard]] virtual waybill::fault upsert(const letter& l, const engines::session_lock&)
    {
        return upsert(l);
    }
    /// How far their sessions were sent.
    [[nodiscard]] virtual waybill::fault mark(letters all) = 0;
    [[nodiscard]] virtual waybill::fault remove(letters all) = 0;
    [[nodiscard]] virtual waybill::result<std::vector<letter>> list() = 0;
    /// The number of letters that one call removes together: all of them, or none.
    [[nodiscard]] virtual std::uint64_t removed_at_once() const noexcept = 0;
};

/// Forwards to a table of engines/.
template <class Table>
class letters_in : public letter_table {
public:
    template <class... A>
    explicit letters_in(A&&... a) : table_(std::forward<A>(a)...)
    {
    }

    using letter_table::upsert;
    waybill::fault upsert(const letter& l) override { return table_.upsert(l); }
    waybill::fault mark(letters all) override { return table_.mark(all); }
    waybill::fault remove(letters all) override { return table_.remove(all); }
    waybill::result<std::vector<letter>> list() override { return table_.list(); }
    std::uint64_t removed_at_once() const noexcept override
    {
        if constexpr (requires { Table::removed_at_once; })
            return Table::removed_at_once;
        else
            return UINT64_MAX;
    }

protected:
    Table table_;
};

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_LETTER_TABLE_HPP
