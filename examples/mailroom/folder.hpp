// SPDX-License-Identifier: MIT
//
// folder: the folder of queue and sink, for one process at a time and one input.

#ifndef WAYBILL_EXAMPLES_MAILROOM_FOLDER_HPP
#define WAYBILL_EXAMPLES_MAILROOM_FOLDER_HPP

#include <string>

#include "../support/locked_folder.hpp"

namespace mailroom {

/// Records the input of the folder. Throws a complaint if the folder has another one, as queue and
/// sink would mix the two.
void expect_same_input(const support::locked_folder& folder, const std::string& input);

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_FOLDER_HPP
