// SPDX-License-Identifier: MIT
//
// golden: the content of a file of tests/golden/. If a format changes on purpose, the failing test
// prints the new text.

#ifndef WAYBILL_TESTS_SUPPORT_GOLDEN_HPP
#define WAYBILL_TESTS_SUPPORT_GOLDEN_HPP

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace tests_support {

/// Returns an empty text if the file does not exist. The path is relative to this header.
inline std::string golden(std::string_view name)
{
    std::string path = __FILE__;
    path.resize(path.size() - std::string_view("support/golden.hpp").size());
    path += "golden/";
    path += name;
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_GOLDEN_HPP
