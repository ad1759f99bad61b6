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
    calibration x = a;
    const calibration& y = b;
    const auto surer = [](const calibration& one, const calibration& other) {
        const calibration::item_estimate& i = one.items;
        const calibration::item_estimate& j = other.items;
        if (detail::overhead(i).believed() != detail::overhead(j).believed())
            return detail::overhead(j).believed();
        if (one.reports != other.reports) return one.reports > other.reports;
        if (i.header_variance < j.header_variance || j.header_variance < i.header_variance) {
            return i.header_variance < j.header_variance;
        }
        if (i.header < j.header || j.header < i.header) return i.header > j.header;
        return i.ratio > j.ratio;
    };
    if (!surer(x, y)) x.items = y.items;
    x.reports = x.reports > y.reports ? x.reports : y.reports;
    x.documented = detail::lesser(x.documented, y.documented);
    x.limit = detail::lesser(x.limit, y.limit);
    x.ceiling = x.ceiling > y.ceiling ? x.ceiling : y.ceiling;
    x.envelope = x.envelope > y.envelope ? x.envelope : y.envelope;
    x.accepted = detail::lesser(x.accepted, y.accepted);
    x.refused = detail::lesser(x.refused, y.refused);
    x.refuted_limit = detail::greater(x.refuted_limit, y.refuted_limit);
    x.consecutive_accepted = 0;
    x.probe_after = x.probe_after < y.probe_after ? x.probe_after : y.probe_after;
    return detail::calibrator(x).state();
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_MERGED_HPP
