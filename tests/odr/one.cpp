// SPDX-License-Identifier: MIT

#include <all_headers.hpp>

#include "two.hpp"

int main()
{
    // Linking is the test; that both saw one version is worth a look.
    return version_seen_by_two() == WAYBILL_VERSION ? 0 : 1;
}
