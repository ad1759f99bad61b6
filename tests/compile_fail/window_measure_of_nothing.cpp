// expect: constraint
// SPDX-License-Identifier: MIT
//
// A measure must be constructible from a sample.

#include <waybill/window/sliding_window.hpp>

struct how_many {
    using value_type = int;
    unsigned points = 0;
    static how_many identity() { return {}; }
    static how_many combine(how_many a, how_many b) { return {a.points + b.points}; }
};

waybill::sliding_window<how_many> window;
