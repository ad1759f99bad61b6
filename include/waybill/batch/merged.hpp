// SPDX-License-Identifier: MIT
//
// merged: combines the knowledge of two workers about one destination.
//
//     store(merged(load(), sender.learnt()));    // other workers may have stored theirs meanwhile

#ifndef WAYBILL_BATCH_MERGED_HPP
#define WAYBILL_BATCH_MERGED_HPP

#include <waybill/batch/calibration.hpp>
#include <waybill/batch/detail/calibrator.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2 {

/// Keeps the less doubtful estimate for items and the lower limit. The higher limit remains the
/// target of probes. The order of the arguments does not matter. The result of two equal
/// calibrations is equal to them. O(1).
[[nodiscard]] constexpr calibration merged(const calibration& a, const calibration& b) noexcept
{
    if (a == b) return a;
    const auto less_doubtful = [](const calibration& one, const calibration& other) {
        const calibration::item_estimate& i = one.items;
        const calibration::item_estimate& j = other.items;
        // An estimate that observed sizes have changed is preferred to an estimate that counts as
        // exact.
        if (detail::overhead(i).counts_as_exact() != detail::overhead(j).counts_as_exact())
            return detail::overhead(j).counts_as_exact();
        if (one.reports != other.reports) return one.reports > other.reports;
        if (i.header_variance < j.header_variance || j.header_variance < i.header_variance) {
            return i.header_variance < j.header_variance;
        }
        if (i.header < j.header || j.header < i.header) return i.header > j.header;
        if (i.ratio < j.ratio || j.ratio < i.ratio) return i.ratio > j.ratio;
        // The remaining fields decide only that both orders of the arguments have one result.
        const double rest_of_i[] = {i.ratio_variance, i.covariance, i.noise, i.drift, i.error};
        const double rest_of_j[] = {j.ratio_variance, j.covariance, j.noise, j.drift, j.error};
        for (int n = 0; n != 5; ++n) {
            if (rest_of_i[n] < rest_of_j[n] || rest_of_j[n] < rest_of_i[n])
                return rest_of_i[n] < rest_of_j[n];
        }
        return i.seen < j.seen;
    };
    calibration both = a;
    if (!less_doubtful(a, b)) both.items = b.items;
    both.reports = a.reports > b.reports ? a.reports : b.reports;
    both.documented = detail::lesser(a.documented, b.documented);
    both.limit = detail::lesser(a.limit, b.limit);
    both.ceiling = detail::greater(a.ceiling, b.ceiling);
    both.envelope = detail::greater(a.envelope, b.envelope);
    both.accepted = detail::lesser(a.accepted, b.accepted);
    both.refused = detail::lesser(a.refused, b.refused);
    both.refuted_limit = detail::greater(a.refuted_limit, b.refuted_limit);
    both.consecutive_accepted = 0;
    both.probe_after = a.probe_after < b.probe_after ? a.probe_after : b.probe_after;
    return detail::calibrator(both).state();  // corrects fields that contradict each other
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_MERGED_HPP
