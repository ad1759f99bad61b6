// SPDX-License-Identifier: MIT

#include "shop.hpp"

#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../support/lines.hpp"
#include "../support/program.hpp"
#include "tables.hpp"

namespace outbox {

namespace {

using nlohmann::json;

std::string text_field(const json& object, const char* field)
{
    const auto found = object.find(field);
    if (found == object.end() || !found->is_string()) return {};
    return found->get<std::string>();
}

/// A text for a header: one line of printable characters, with a maximum length.
std::string plain_text(std::string_view text)
{
    constexpr std::size_t most = 200;
    std::string s(text.substr(0, most));
    for (char& c : s) {
        if (c < ' ' || c > '~') c = '?';
    }
    return s;
}

/// The mailbox of a customer has the name of the package: characters that are valid in an address,
/// at most 64 (RFC 5321, 4.5.3.1.1).
std::string mailbox_of(std::string_view item)
{
    constexpr std::size_t most = 64;
    std::string s(item.substr(0, most));
    for (char& c : s) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '+') c = '_';
    }
    return s + "@customers.example";
}

}  // namespace

std::vector<order> orders_in(const std::string& path)
{
    std::vector<order> all;
    support::line_source file(path);
    bool too_long = false;
    for (std::string line; file.next(line, too_long);) {
        if (too_long) continue;
        const json event = json::parse(line, nullptr, false);
        if (!event.is_object() || text_field(event, "event") != "installed") continue;
        const std::string package = text_field(event, "package");
        if (package.empty()) continue;
        all.push_back({plain_text(package), plain_text(text_field(event, "at"))});
    }
    return all;
}

shop::shop(const std::string& db, const std::vector<order>& all) : db_(shop_in(db)), all_(&all)
{
    make_shop_tables(db_);
    db_.exec("DELETE FROM closed");
    expect_the_same();
}

void shop::expect_the_same()
{
    engines::statement rows(db_, "SELECT id, item, at FROM orders ORDER BY id");
    for (rows.query(); rows.step(); ++taken_) {
        const bool known = rows.size(0) == taken_ + 1 && taken_ < all_->size();
        const order there{std::string(rows.text(1)), std::string(rows.text(2))};
        if (known && there == (*all_)[taken_]) continue;
        throw support::complaint(fmt::format(
            "order {} in the folder is not that of the input: name another folder", rows.size(0)));
    }
}

void shop::take_next()
{
    const order& o = (*all_)[taken_];
    const std::uint64_t id = taken_ + 1;
    const std::string to = mailbox_of(o.item);
    const std::string subject = fmt::format("Your order {}: {}", id, o.item);
    db_.exec("BEGIN IMMEDIATE");
    engines::statement(db_, "INSERT INTO orders VALUES (?, ?, ?)").run(id, o.item, o.at);
    engines::statement(db_, "INSERT INTO outbox (id, recipient, subject) VALUES (?, ?, ?)")
        .run(id, to, subject);
    db_.exec("COMMIT");
    ++taken_;
}

void shop::close()
{
    db_.exec("INSERT OR IGNORE INTO closed VALUES (1)");
}

}  // namespace outbox
