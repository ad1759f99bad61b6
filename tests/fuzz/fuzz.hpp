// SPDX-License-Identifier: MIT
//
// fuzz: the parts of a program in this folder.
//
//     extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
//     std::vector<std::string> fuzz_seeds();       // good inputs to begin with, all kinds of them
//
// With main.cpp it is a test: a fixed number of inputs, made from the seeds by fixed random
// numbers, the same on every compiler. With -fsanitize=fuzzer it is a fuzzer that runs until it is
// stopped.
//
// `must` checks a rule. If the rule does not hold, it prints the rule and aborts.

#ifndef WAYBILL_TESTS_FUZZ_FUZZ_HPP
#define WAYBILL_TESTS_FUZZ_FUZZ_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

std::vector<std::string> fuzz_seeds();

namespace fuzz {

inline void must(bool holds, const char* what)
{
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
}

/// The input as text. An empty one may have a null address.
inline std::string_view text_of(const std::uint8_t* data, std::size_t size)
{
    if (size == 0) return {};
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace fuzz

#endif  // WAYBILL_TESTS_FUZZ_FUZZ_HPP
