// SPDX-License-Identifier: MIT

#include <all_headers.hpp>

#include "two.hpp"

int main()
{
    // Linking is the test. Both units must also have the same version.
    return version_seen_by_two() == WAYBILL_VERSION ? 0 : 1;
}
