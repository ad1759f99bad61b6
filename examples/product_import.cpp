// SPDX-License-Identifier: MIT
//
// product_import: the lines of a price list, one step each. No step needs another one. Lines that
// cannot be read are dead-lettered, and the rest continues. The repaired lines are redriven.

#include <charconv>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "support/session_steps.hpp"

namespace {

/// What an import remembers.
struct tally {
    int products = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(tally, products)

std::map<std::string, int> prices;
bool commas_are_known = false;

/// "nails;250"
waybill::fault import_line(tally& t, const support::step& s)
{
    std::string line(s.body);
    const auto comma = line.find(',');
    if (comma != line.npos && commas_are_known) line.erase(comma, 1);
    const auto semicolon = line.find(';');
    int price = 0;
    const char* end = line.data() + line.size();
    const auto read = std::from_chars(line.data() + semicolon + 1, end, price);
    if (semicolon == line.npos || read.ptr != end) {
        return waybill::permanent("\"" + line + "\" has no price");
    }
    prices[line.substr(0, semicolon)] = price;
    ++t.products;
    return {};
}

}  // namespace

int main()
{
    support::session_steps<tally> list(
        {.mode = waybill::pipeline_policy::pipeline_mode::independent});
    list.send("import-1", std::vector<std::string>{"nails;250", "screws;3,10", "glue;480",
                                                   "paint;12,00", "tape;190"});
    list.run(import_line);
    std::cout << prices.size() << " of 5 products, and parked:\n";
    for (const auto& letter : list.parked()) std::cout << "  " << describe(letter) << '\n';

    commas_are_known = true;
    for (const std::string& session : list.bring_back()) std::cout << session << '\n';
    list.run(import_line);
    for (const auto& [name, price] : prices) std::cout << "  " << name << ' ' << price << '\n';
    return prices.size() == 5 && list.parked().empty() ? 0 : 1;
}
