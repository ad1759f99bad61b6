// expect: fenced_store: the leases must have epoch(tx, key), and it must return
// SPDX-License-Identifier: MIT

#include <waybill/lease/fenced_store.hpp>

#include "complete_store.hpp"

struct leases {
    std::uint64_t epoch(complete_store::transaction&, const waybill::partition_key&);
};

auto fenced(complete_store& s, leases& l)
{
    return waybill::fenced_store(s, l);
}
