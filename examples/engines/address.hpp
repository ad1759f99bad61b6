// SPDX-License-Identifier: MIT
//
// address: the address of a server and of a queue on it, without the scheme.
//
//     engines::address_in("user:p%40ss@127.0.0.1/orders", "5672")   // and the default port
//
// %2F, %40 and %3A are the characters / @ and : inside a part, as in every URL.

#ifndef WAYBILL_EXAMPLES_ENGINES_ADDRESS_HPP
#define WAYBILL_EXAMPLES_ENGINES_ADDRESS_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "depth.hpp"
#include "number.hpp"

namespace engines {

/// Empty if a % is not followed by two hexadecimal digits, or encodes a forbidden character.
[[nodiscard]] inline std::optional<std::string> unescaped(std::string_view text)
{
    const auto digit = [](char c) {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    std::string out;
    for (std::size_t i = 0; i != text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            if (text.size() - i < 3) return {};
            const int high = digit(text[i + 1]);
            const int low = digit(text[i + 2]);
            if (high < 0 || low < 0) return {};
            c = static_cast<char>(high * 16 + low);
            i += 2;
        }
        if (static_cast<unsigned char>(c) <= ' ' || c == 127) return {};
        out += c;
    }
    return out;
}

/// USER:PASSWORD@HOST:PORT/PART/PART, without the scheme. Empty if a part is empty or malformed.
struct address {
    server at{};
    std::vector<std::string> path{};
};
[[nodiscard]] inline std::optional<address> address_in(std::string_view rest, std::string_view port)
{
    const auto cut = [](std::string_view text, std::size_t at) {
        return std::pair(text.substr(0, at), at == text.npos ? "" : text.substr(at + 1));
    };
    const std::size_t slash = rest.find('/');
    if (slash == rest.npos) return {};
    auto [where, path] = cut(rest, slash);
    address a;
    if (const std::size_t sign = where.rfind('@'); sign != where.npos) {
        const auto [who, host] = cut(where, sign);
        const auto [user, password] = cut(who, who.find(':'));
        const auto plain_user = unescaped(user);
        const auto plain_password = unescaped(password);
        if (!plain_user || !plain_password || plain_user->empty()) return {};
        a.at.user = *plain_user;
        a.at.password = *plain_password;
        where = host;
    }
    const std::size_t colon = where.rfind(':');
    const bool ported = colon != where.npos && where.find(']', colon) == where.npos;
    const std::string_view host = ported ? where.substr(0, colon) : where;
    const bool six = host.starts_with('[') && host.ends_with(']');  // an address with colons
    a.at.host = six ? host.substr(1, host.size() - 2) : host;
    a.at.port = ported ? where.substr(colon + 1) : port;
    if (a.at.host.empty() || !number_in(a.at.port)) return {};
    for (bool more = true; more;) {
        const std::size_t end = path.find('/');
        more = end != path.npos;
        const auto part = unescaped(path.substr(0, end));
        if (!part || part->empty()) return {};
        a.path.push_back(*part);
        if (more) path.remove_prefix(end + 1);
    }
    return a;
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_ADDRESS_HPP
