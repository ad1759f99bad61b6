// SPDX-License-Identifier: MIT
//
// complete_store: has each call of each store concept of consume. A test derives from it and hides
// one call.

#ifndef WAYBILL_COMPILE_FAIL_COMPLETE_STORE_HPP
#define WAYBILL_COMPILE_FAIL_COMPLETE_STORE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <waybill/consume/separate_stores.hpp>
#include <waybill/consume/stores.hpp>

struct complete_store {
    struct transaction {
        waybill::result<waybill::commit_outcome> commit();
        void rollback() noexcept;
    };

    using key = waybill::partition_key;
    using outcome = waybill::result<waybill::advance_outcome>;

    waybill::result<transaction> begin();
    waybill::result<std::optional<waybill::checkpoint>> load(const key&);
    outcome advance(transaction&, const key&, const std::optional<waybill::position>&,
                    const waybill::position&, std::uint64_t epoch);
    outcome reset(transaction&, const key&, const waybill::position&, std::uint64_t epoch);
    waybill::result<void> put(transaction&, const waybill::dead_letter&);
    waybill::result<std::optional<waybill::dead_letter>> find(const key&, std::uint64_t);
    waybill::result<bool> remove(transaction&, const key&, std::uint64_t);
    waybill::result<std::vector<waybill::dead_letter>> list(
        const key&, const std::optional<std::uint64_t>& after, std::uint64_t most);
    waybill::result<std::optional<waybill::crash_record>> load_crash_record(const key&);
    waybill::result<void> store_crash_record(transaction&, const key&,
                                             const waybill::crash_record&);
    waybill::result<void> clear_crash_record(transaction&, const key&);
};

struct complete_offsets {
    waybill::result<std::optional<waybill::checkpoint>> load(const waybill::partition_key&);
    waybill::result<waybill::advance_outcome> commit(const waybill::partition_key&,
                                                     const std::optional<waybill::position>&,
                                                     const waybill::position&, std::uint64_t epoch);
};

struct complete_letters {
    waybill::result<void> put(const waybill::dead_letter&);
};

struct event {
    std::uint64_t sequence = 0;
    std::string body{};
};

#endif  // WAYBILL_COMPILE_FAIL_COMPLETE_STORE_HPP
