// SPDX-License-Identifier: MIT

#ifndef TWO_HPP
#define TWO_HPP

int version_seen_by_two();

#endif  // TWO_HPP
