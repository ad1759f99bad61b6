// SPDX-License-Identifier: MIT
//
// Accesses of a result that its comment forbids, each by its number. A hardened standard library
// ends each of them by a signal. Number 0 is the accesses that are permitted.

#include <cstdlib>
#include <string>
#include <utility>

#include <waybill/core/result.hpp>

int main(int, char** arguments)
{
    using waybill::result;
    const int access = std::atoi(arguments[1]);
    const bool valid = access == 0;
    result<std::string> text = waybill::permanent("no text");
    if (valid) text = std::string("text");
    result<int, char> number = 7;
    if (valid) number = waybill::unexpected('e');
    result<void> done;
    if (valid) done = waybill::permanent("not done");
    std::size_t sum = 0;
    if (valid || access == 1) sum += (*text).size();
    if (valid || access == 2) sum += text->size();
    if (valid || access == 3) sum += (*std::as_const(text)).size();
    if (valid || access == 4) sum += std::string(*std::move(text)).size();
    if (valid || access == 5) sum += static_cast<unsigned char>(number.error());
    if (valid || access == 6) sum += done.error().text.size();
    return sum == 4 * 4 + 'e' + 8 ? 0 : 1;
}
