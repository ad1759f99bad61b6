// expect: fenced_store: the store must be a checkpoint_store, with begin(), load(key) and advance(
// SPDX-License-Identifier: MIT

#include <waybill/lease/fenced_store.hpp>

#include "complete_store.hpp"

struct store : complete_store {
    void advance() = delete;
};

struct leases {
    waybill::result<std::optional<std::uint64_t>> epoch(store::transaction&,
                                                        const waybill::partition_key&);
};

auto fenced(store& s, leases& l)
{
    return waybill::fenced_store(s, l);
}
