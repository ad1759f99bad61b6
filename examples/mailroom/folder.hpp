// SPDX-License-Identifier: MIT
//
// folder: where queue and sink are, for one mailroom at a time and for one input.

#ifndef WAYBILL_EXAMPLES_MAILROOM_FOLDER_HPP
#define WAYBILL_EXAMPLES_MAILROOM_FOLDER_HPP

#include <string>

#include "../support/locked_folder.hpp"

namespace mailroom {

/// Records which input the folder is for. Throws a complaint if it is for another one: its queue
/// and sink would be a mixture of the two.
void expect_same_input(const support::locked_folder& folder, const std::string& input);

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_FOLDER_HPP
