// SPDX-License-Identifier: MIT
//
// azure_container: empty blobs with metadata in a container of Azure Storage, as conditional rows.
//
//     auto account = engines::azure_account_of_connection(connection, engines::azure_blobs);
//     engines::azure_container c(*account, "checkpoints");
//     auto etag = c.create("orders/billing/lease/0", {{"owner", "host-7"}});  // empty: it exists
//     auto next = c.replace("orders/billing/lease/0", {{"owner", ""}}, **etag);  // empty: changed
//
//  1. A write succeeds only if the blob does not exist, or has a given ETag. So of two concurrent
//     writers one gets the other result.
//  2. A write is sent once. If its response is lost, the result is infrastructure: unknown.
//  3. A missing container is created.
//  4. `replace` changes the metadata only, so an account with soft delete keeps no copy. An account
//     with versions keeps one of each write, and charges for it: do not use such an account.
//
//     status, code                                   result
//     2xx                                            done
//     412, BlobAlreadyExists, BlobNotFound           an empty value: another writer was first
//     in azure_blob_own, wire::http_errors           the fault of that row
//     ContainerNotFound                              the container is created, the request repeated
//     another status                                 infrastructure (outcome unknown)
//     no response (http_error); a malformed list     infrastructure

#ifndef WAYBILL_EXAMPLES_ENGINES_AZURE_CONTAINER_HPP
#define WAYBILL_EXAMPLES_ENGINES_AZURE_CONTAINER_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pugixml.hpp>

#include "azure_account.hpp"
#include "http_client.hpp"
#include "number.hpp"
#include "shared_key.hpp"
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/wire/error_codes_http.hpp>

namespace engines {

/// Rows that precede waybill::wire::http_errors: the service's own codes.
inline constexpr waybill::wire::error_code azure_blob_own[]{
    {"ServerBusy", waybill::wire::answer::throttled},  // with 503, before the request is processed
    {"ContainerBeingDeleted", waybill::wire::answer::transient},
    {"MetadataTooLarge", waybill::wire::answer::too_large},
    // A lease of the service itself, or a blob of another kind: a stranger uses the name.
    {"LeaseIdMissing", waybill::wire::answer::infrastructure},
    {"InvalidBlobType", waybill::wire::answer::infrastructure},
    // Date, version and headers do not depend on the row.
    {"InvalidHeaderValue", waybill::wire::answer::infrastructure},
    {"InvalidAuthenticationInfo", waybill::wire::answer::infrastructure},
    {"", waybill::wire::answer::transient, 409},
};

/// 3 to 63 small letters, digits and single hyphens, with a letter or digit at both ends.
[[nodiscard]] inline bool is_azure_container_name(std::string_view name)
{
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    bool good = name.size() >= 3 && name.size() <= 63 && plain(name.front()) && plain(name.back());
    for (const char c : name) good = good && (plain(c) || c == '-');
    return good && name.find("--") == name.npos;
}

/// ~ and the base64 of a text, with - and _ and without padding.
[[nodiscard]] inline std::string azure_base64(std::string_view text)
{
    std::string coded = "~" + padded_base64(text);
    while (coded.ends_with('=')) coded.pop_back();
    std::replace(coded.begin(), coded.end(), '+', '-');
    std::replace(coded.begin(), coded.end(), '/', '_');
    return coded;
}
/// Empty if the text has another form.
[[nodiscard]] inline std::optional<std::string> from_azure_base64(std::string_view text)
{
    if (!text.starts_with('~')) return {};
    std::string coded(text.substr(1));
    std::replace(coded.begin(), coded.end(), '-', '+');
    std::replace(coded.begin(), coded.end(), '_', '/');
    coded.append((4 - coded.size() % 4) % 4, '=');
    const auto decoded = coded.empty() ? std::string() : from_padded_base64(coded);
    return decoded && azure_base64(*decoded) == text ? decoded : std::nullopt;
}

/// A part of a blob's name: the text itself if it has only the characters A-Z a-z 0-9 . _ - $ and
/// no dot at its end; otherwise azure_base64.
[[nodiscard]] inline std::string azure_name(std::string_view text)
{
    bool plain = !text.empty() && !text.ends_with('.');
    for (const char c : text) {
        plain = plain && ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == '$');
    }
    return plain ? std::string(text) : azure_base64(text);
}
/// Empty if the text is no azure_name.
[[nodiscard]] inline std::optional<std::string> from_azure_name(std::string_view name)
{
    const auto text = name.starts_with('~') ? from_azure_base64(name) : std::string(name);
    return text && azure_name(*text) == name ? text : std::nullopt;
}

/// A value of a blob's metadata: the text itself if it consists of visible ASCII characters, of
/// which the first is not ~; otherwise azure_base64.
[[nodiscard]] inline std::string azure_value(std::string_view text)
{
    bool plain = !text.empty() && !text.starts_with('~');
    for (const char c : text) plain = plain && c > ' ' && c <= '~';
    return plain ? std::string(text) : azure_base64(text);
}
/// Empty if the text begins with ~ and is no azure_base64.
[[nodiscard]] inline std::optional<std::string> from_azure_value(std::string_view value)
{
    return value.starts_with('~') ? from_azure_base64(value) : std::string(value);
}

/// The folder of a group: its source, of which each / separates folders, and the group. The source
/// of an event hub is NAMESPACE/HUB.
[[nodiscard]] inline std::string azure_folder(std::string_view source, std::string_view group)
{
    std::string folder;
    for (std::string_view rest = source; !rest.empty();) {
        const std::size_t slash = rest.find('/');
        folder += azure_name(rest.substr(0, slash));
        if (slash == rest.npos) break;
        folder += '/';
        rest.remove_prefix(slash + 1);
    }
    // A source with another part is one folder.
    if (folder != source || source.empty() || source.ends_with('/')) folder = azure_base64(source);
    return folder + "/" + azure_name(group) + "/";
}

using azure_metadata = std::map<std::string, std::string, std::less<>>;

struct azure_blob {
    std::string name{};
    std::string etag{};  ///< Without quotation marks.
    azure_metadata metadata{};

    /// The text of an azure_value. Empty if there is none.
    [[nodiscard]] std::optional<std::string> text(std::string_view field) const
    {
        const auto found = metadata.find(field);
        return found == metadata.end() ? std::nullopt : from_azure_value(found->second);
    }
    /// Empty if there is no such number.
    [[nodiscard]] std::optional<std::uint64_t> number(std::string_view field) const
    {
        const auto found = metadata.find(field);
        return found == metadata.end() ? std::nullopt : number_in(found->second);
    }
};

class azure_container {
public:
    static constexpr std::size_t longest_name = 1'024;

    explicit azure_container(azure_account account, std::string name)
        : account_(std::move(account)),
          name_(std::move(name)),
          http_(http_origin(account_.scheme, account_.host, account_.port),
                {.ca_file = account_.ca_file})
    {
    }

    /// All blobs whose names begin with `prefix`, in the order of their names: a request for 5,000.
    [[nodiscard]] waybill::result<std::vector<azure_blob>> list(const std::string& prefix)
    {
        std::vector<azure_blob> all;
        const waybill::fault f = safely([&]() -> waybill::fault {
            std::set<std::string> asked;
            std::string marker;
            do {
                query q{{"comp", "list"},
                        {"include", "metadata"},
                        {"prefix", prefix},
                        {"restype", "container"}};
                if (!marker.empty()) q["marker"] = marker;
                const http_answer a = ask("GET", "", q, {});
                if (!a.ok()) return fault_of(a);
                const std::optional<std::string> next = blobs_in(a.body, all);
                if (!next) return infrastructure("the list of blobs is malformed");
                marker = *next;
                if (!marker.empty() && !asked.insert(marker).second)
                    return infrastructure("the service repeats a page of the list of blobs");
            } while (!marker.empty());
            return {};
        });
        if (!f.ok()) return waybill::unexpected(f);
        return all;
    }

    /// A blob with its metadata. Empty if there is none.
    [[nodiscard]] waybill::result<std::optional<azure_blob>> read(const std::string& blob)
    {
        std::optional<azure_blob> found;
        const waybill::fault f = safely([&]() -> waybill::fault {
            const http_answer a = ask("GET", blob, {}, {});
            if (a.header("x-ms-error-code") == "BlobNotFound") return {};
            if (!a.ok()) return fault_of(a);
            found = azure_blob{.name = blob, .etag = etag_of(a)};
            for (const auto& [header, value] : a.headers) {
                if (header.starts_with(meta)) found->metadata[header.substr(meta.size())] = value;
            }
            return {};
        });
        if (!f.ok()) return waybill::unexpected(f);
        return found;
    }

    /// Creates a blob. The result is its ETag, or empty if it exists.
    [[nodiscard]] waybill::result<std::optional<std::string>> create(const std::string& blob,
                                                                     const azure_metadata& m)
    {
        return write(blob, {}, m, {{"if-none-match", "*"}, {"x-ms-blob-type", "BlockBlob"}});
    }
    /// Replaces the metadata of the blob with this ETag. The result is its new ETag, or empty if it
    /// has another one, or does not exist.
    [[nodiscard]] waybill::result<std::optional<std::string>> replace(const std::string& blob,
                                                                      const azure_metadata& m,
                                                                      const std::string& etag)
    {
        return write(blob, {{"comp", "metadata"}}, m, {{"if-match", "\"" + etag + "\""}});
    }

    /// Removes the blob with this ETag. False if it has another one, or does not exist.
    [[nodiscard]] waybill::result<bool> remove(const std::string& blob, const std::string& etag)
    {
        bool removed = false;
        const waybill::fault f = safely([&]() -> waybill::fault {
            const http_answer a = ask("DELETE", blob, {}, {{"if-match", "\"" + etag + "\""}});
            removed = a.ok();
            return a.ok() || lost(a) ? waybill::fault{} : fault_of(a);
        });
        if (!f.ok()) return waybill::unexpected(f);
        return removed;
    }

    /// The fault of this container with this text.
    [[nodiscard]] waybill::fault infrastructure(const std::string& text) const
    {
        return waybill::infrastructure("the container " + name_ + ": " + text);
    }

private:
    static constexpr std::string_view meta = "x-ms-meta-";
    using query = std::map<std::string, std::string, std::less<>>;
    using header_map = std::map<std::string, std::string, std::less<>>;

    [[nodiscard]] waybill::result<std::optional<std::string>> write(const std::string& blob,
                                                                    const query& q,
                                                                    const azure_metadata& m,
                                                                    header_map headers)
    {
        std::optional<std::string> etag;
        const waybill::fault f = safely([&]() -> waybill::fault {
            if (blob.size() > longest_name) {
                return waybill::permanent("the name of a blob has " + std::to_string(blob.size()) +
                                          " bytes, the limit is " + std::to_string(longest_name) +
                                          ": " + blob.substr(0, 100) + "...");
            }
            for (const auto& [field, value] : m) headers[std::string(meta) + field] = value;
            const http_answer a = ask("PUT", blob, q, headers);
            if (lost(a)) return {};
            if (!a.ok()) return fault_of(a);
            etag = etag_of(a);
            return {};
        });
        if (!f.ok()) return waybill::unexpected(f);
        return etag;
    }

    /// Whether the condition of a write did not hold.
    [[nodiscard]] static bool lost(const http_answer& a)
    {
        const std::string code = a.header("x-ms-error-code");
        return (a.status == 412 && code != "LeaseIdMissing") || code == "BlobAlreadyExists" ||
               code == "BlobNotFound";
    }

    [[nodiscard]] static std::string etag_of(const http_answer& a)
    {
        std::string etag = a.header("etag");
        if (etag.starts_with('"') && etag.ends_with('"') && etag.size() > 1)
            etag = etag.substr(1, etag.size() - 2);
        return etag;
    }

    /// Adds the blobs of a page. The result is the marker of the next page.
    [[nodiscard]] static std::optional<std::string> blobs_in(const std::string& xml,
                                                             std::vector<azure_blob>& all)
    {
        pugi::xml_document page;
        if (!page.load_buffer(xml.data(), xml.size())) return {};
        const pugi::xml_node root = page.child("EnumerationResults");
        if (!root || !root.child("Blobs")) return {};
        for (const pugi::xml_node& b : root.child("Blobs").children("Blob")) {
            azure_blob found{.name = b.child_value("Name"),
                             .etag = b.child("Properties").child_value("Etag")};
            if (found.name.empty() || found.etag.empty()) return {};
            for (const pugi::xml_node& m : b.child("Metadata").children())
                found.metadata[m.name()] = m.child_value();
            all.push_back(std::move(found));
        }
        return root.child_value("NextMarker");
    }

    /// The fault of f. Exceptions become infrastructure.
    template <class F>
    [[nodiscard]] waybill::fault safely(F&& f) const
    {
        try {
            return f();
        } catch (const http_error& e) {
            return infrastructure(e.what());
        }
    }

    /// A missing container is created, and the request repeated.
    [[nodiscard]] http_answer ask(std::string_view method, const std::string& blob, const query& q,
                                  const header_map& headers)
    {
        http_answer a = ask_once(method, blob, q, headers);
        if (a.header("x-ms-error-code") != "ContainerNotFound") return a;
        const http_answer made = ask_once("PUT", "", {{"restype", "container"}}, {});
        if (!made.ok() && made.header("x-ms-error-code") != "ContainerAlreadyExists") return made;
        return ask_once(method, blob, q, headers);
    }

    [[nodiscard]] http_answer ask_once(std::string_view method, const std::string& blob,
                                       const query& q, header_map headers)
    {
        headers["x-ms-date"] = http_date(std::time(nullptr));
        headers["x-ms-version"] = "2019-12-12";
        std::string path = account_.root() + "/" + name_;
        if (!blob.empty()) path += "/" + url_path(blob);
        std::string whole = path;
        char sign = '?';
        for (const auto& [field, value] : q) {
            whole += sign + field + "=" + url_part(value);
            sign = '&';
        }
        http_headers all{{"Authorization", authorization(method, path, q, headers)}};
        for (const auto& [field, value] : headers) all.emplace_back(field, value);
        if (method == "PUT") all.emplace_back("Content-Length", "0");
        return http_.ask(method, whole, all, "");
    }

    /// The text to sign: the method, eleven standard headers of which only the conditions are in
    /// use, the headers of the service in order, the path and the query in order.
    [[nodiscard]] std::string authorization(std::string_view method, const std::string& path,
                                            const query& q, const header_map& headers) const
    {
        const auto value = [&](std::string_view field) {
            const auto found = headers.find(field);
            return found == headers.end() ? std::string() : found->second;
        };
        std::string text(method);
        text += "\n\n\n\n\n\n\n\n" + value("if-match") + "\n" + value("if-none-match") + "\n\n\n";
        for (const auto& [field, content] : headers) {
            if (field.starts_with("x-ms-")) text += field + ":" + content + "\n";
        }
        text += "/" + account_.name + path;
        for (const auto& [field, content] : q) text += "\n" + field + ":" + content;
        return shared_key(account_.name, account_.key, text);
    }

    [[nodiscard]] waybill::fault fault_of(const http_answer& a) const
    {
        using waybill::wire::find;
        const std::string code = a.header("x-ms-error-code");
        const std::span<const waybill::wire::error_code> own(azure_blob_own);
        auto row = code.empty() ? std::nullopt : find(own, std::string_view(code));
        const auto status = static_cast<std::int64_t>(a.status);
        if (!row) row = find(own, waybill::wire::http_errors, status);
        const auto how =
            waybill::wire::fault_of(row.value_or(waybill::wire::answer::outcome_unknown));
        return {how, "the container " + name_ + ": " + std::to_string(a.status) + " " + code};
    }

    azure_account account_;
    std::string name_;
    http_client http_;
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_AZURE_CONTAINER_HPP
