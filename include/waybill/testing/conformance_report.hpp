// SPDX-License-Identifier: MIT
//
// conformance_report: the result of a conformance suite, the limits that a store declares, and the
// values that stand for an omitted argument of a suite.

#ifndef WAYBILL_TESTING_CONFORMANCE_REPORT_HPP
#define WAYBILL_TESTING_CONFORMANCE_REPORT_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <waybill/consume/position.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2::testing {

/// The result of a conformance suite. A store conforms if `broken` is empty. The rules in
/// `untested` were not tried, because the caller omitted an argument that they need. The store may
/// break them.
struct [[nodiscard]] conformance_report {
    std::vector<std::string> broken{};    ///< Rules that do not hold, each once.
    std::vector<std::string> untested{};  ///< Rules not tried, each once: "rule (needs ...)".

    friend bool operator==(const conformance_report&, const conformance_report&) = default;
};

/// The limits of a store or its service. A value within the limits must be stored unchanged. The
/// call with another value must store it unchanged, or return an error with a text. Sizes are bytes.
struct store_limits {
    std::uint64_t shortest_body = 0;
    std::uint64_t longest_body = ~std::uint64_t{0};
    std::uint64_t longest_key = ~std::uint64_t{0};
    std::uint64_t longest_id = ~std::uint64_t{0};
    std::uint64_t longest_reason = ~std::uint64_t{0};
    /// False if bodies and reasons are UTF-8 without control characters.
    bool any_bytes = true;
    duration longest_lock = duration::highest();
    duration longest_defer = duration::highest();

    friend bool operator==(const store_limits&, const store_limits&) = default;
};

/// Stands for the function that returns the stored reasons. Their rules are reported as untested.
struct no_reasons {
    template <class S>
    std::vector<std::string> operator()(S&) const
    {
        return {};
    }
};

/// Stands for a missing second connection. The rules that need one are reported as untested.
struct no_second {
    template <class S>
    S& operator()(S& s) const noexcept
    {
        return s;
    }
};

/// Calls both functions one after the other. The rules of races are reported as untested.
struct no_race {
    template <class F, class G>
    void operator()(F f, G g) const
    {
        f();
        g();
    }
};

/// Deletes no row. The rules of deleted rows are reported as untested.
struct no_erase {
    template <class S>
    void operator()(S&, const partition_key&) const noexcept
    {
    }
};

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_CONFORMANCE_REPORT_HPP
