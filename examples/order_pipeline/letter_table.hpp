// SPDX-License-Identifier: MIT
//
// letter_table: the dead letters of steps: in SQLite, in an Azure table, or in PostgreSQL.
//
//     letters_in<engines::sqlite_step_letters> letters(shop);
//     std::unique_ptr<letter_table> letters = azure_letters(address);

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_LETTER_TABLE_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_LETTER_TABLE_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../engines/session_message.hpp"
#include <waybill/session.hpp>

namespace order_pipeline {

class letter_table {
public:
    using letter = waybill::pipeline_dead_letter;
    using letters = std::span<const waybill::pipeline_dead_letter>;

    letter_table() = default;
    letter_table(const letter_table&) = delete;
    letter_table& operator=(const letter_table&) = delete;
    virtual ~letter_table() = default;

    /// Inserts the dead letter, or replaces the stored one by `pipeline_dead_letter::merged`.
    [[nodiscard]] virtual waybill::fault upsert(const letter& l) = 0;
    /// The same, by the holder of its session. PostgreSQL checks the lock in the transaction.
    [[nodiscard]] virtual waybill::fault upsert(const letter& l, const engines::session_lock&)
    {
        return upsert(l);
    }
    /// Records the last redriven step of stored dead letters.
    [[nodiscard]] virtual waybill::fault mark(letters all) = 0;
    [[nodiscard]] virtual waybill::fault remove(letters all) = 0;
    [[nodiscard]] virtual waybill::result<std::vector<letter>> list() = 0;
    /// The number of letters that one call removes together: all of them, or none.
    [[nodiscard]] virtual std::uint64_t removed_at_once() const noexcept = 0;
};

/// The error in --dead-letters, if any. Valid forms:
///
///     azure-table://HOST:PORT/devstoreaccount1/TABLE          an emulator
///     azure-table:https://HOST:PORT/devstoreaccount1/TABLE    the same with TLS
///     azure-table:TABLE             of the account in the variable AZURE_STORAGE_CONNECTION_STRING
[[nodiscard]] std::optional<std::string> azure_flaw(const std::string& address);

/// The address with its default port, without a key; empty if `address` is empty.
[[nodiscard]] std::string full_address(const std::string& address);

/// The table at a valid address.
[[nodiscard]] std::unique_ptr<letter_table> azure_letters(const std::string& address);

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
        if constexpr (requires { Table::removed_at_once; }) return Table::removed_at_once;
        else return UINT64_MAX;
    }

protected:
    Table table_;
};

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_LETTER_TABLE_HPP
