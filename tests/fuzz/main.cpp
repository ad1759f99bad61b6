// SPDX-License-Identifier: MIT
//
// A fuzzer without coverage: every seed, beginnings of it and bit flips of it. Then a fixed number
// of inputs from seeds with some bytes changed, omitted, repeated, or taken from another seed. It
// is the same on every compiler.
//
// Arguments are files that are run alone, to reproduce a finding of a fuzzer.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fuzz/fuzz.hpp>
#include <support/brief.hpp>
#include <support/dice.hpp>

namespace {

void run(std::string_view input)
{
    // A copy of exactly this size, so that a sanitizer finds reads beyond the end.
    const std::vector<std::uint8_t> bytes(input.begin(), input.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::string changed(const std::vector<std::string>& seeds, tests_support::dice& roll)
{
    std::string s = seeds[roll(seeds.size())];
    for (std::uint64_t changes = 1 + roll(6); changes != 0; --changes) {
        const std::size_t at = roll(s.size() + 1);
        const std::size_t length = roll(roll.one_in(4) ? 40 : 4);
        switch (roll(8)) {
            case 0: s.resize(at); break;
            case 1: s.erase(at, length); break;
            case 2: s.insert(at, s.substr(roll(s.size() + 1), length)); break;
            case 3: {
                const std::string& other = seeds[roll(seeds.size())];
                s = s.substr(0, at) + other.substr(roll(other.size() + 1));
                break;
            }
            case 4: s.insert(at, length, static_cast<char>(roll(256))); break;
            default: {
                if (at == s.size()) break;
                constexpr char odd[] = {'\0', '\x01', '\x7F', '\x80', '\xFF', '"', '[', '{', '9',
                                        '-',  'e',    'Z',    ',',    ' ',    ':', ']', '}', '.'};
                const auto bit = static_cast<unsigned char>(1U << roll(8));
                const auto turned = static_cast<unsigned char>(s[at]) ^ bit;
                s[at] = roll.one_in(2) ? roll.any_of(odd) : static_cast<char>(turned);
                break;
            }
        }
    }
    return s;
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc > 1) {
        for (int n = 1; n != argc; ++n) {
            std::ifstream in(argv[n], std::ios::binary);
            run(std::string(std::istreambuf_iterator<char>(in), {}));
        }
        return 0;
    }
    const std::vector<std::string> seeds = fuzz_seeds();
    std::uint64_t inputs = 0;
    for (const std::string& seed : seeds) {
        const std::size_t step = seed.size() / (tests_support::brief ? 50 : 400) + 1;
        for (std::size_t n = 0; n <= seed.size(); n += step) {
            run(std::string_view(seed).substr(0, n));
        }
        for (std::size_t n = 0; n < seed.size(); n += step) {
            std::string turned = seed;
            turned[n] = static_cast<char>(static_cast<unsigned char>(turned[n]) ^ (1U << n % 8));
            run(turned);
        }
        run(seed);
        inputs += 2 * (seed.size() / step + 1);
    }
    tests_support::dice roll(20'261'122);
    const std::uint64_t most = tests_support::brief ? 5'000 : 100'000;
    for (std::uint64_t n = 0; n != most; ++n) run(changed(seeds, roll));
    std::printf("%llu inputs\n", static_cast<unsigned long long>(inputs + most));
    return 0;
}
