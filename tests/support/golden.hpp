// SPDX-License-Identifier: MIT
//
// golden: what stands in a file of tests/golden/. Where a form changes on purpose, the test that
// fails shows the new text.

#ifndef WAYBILL_TESTS_SUPPORT_GOLDEN_HPP
#define WAYBILL_TESTS_SUPPORT_GOLDEN_HPP

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace tests_support {

/// Empty if there is no such file. It is looked for beside this header.
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
