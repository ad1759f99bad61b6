// SPDX-License-Identifier: MIT
//
// azure_table: the parked steps of sessions in an Azure table, by its HTTP protocol.
//
//     engines::azure_table letters(*engines::azure_table_at(
//         "127.0.0.1:10002/devstoreaccount1/letters"));
//     letters.upsert(waybill::make_pipeline_dead_letter(message, a, pipe.reason(), pipe.progress(), wall()));
//     std::vector<waybill::pipeline_dead_letter> all = *letters.list();      // what a redrive is planned of
//     letters.remove(std::span(all).first(5));
//
// The same calls as of sqlite_step_letters; azure_table_row.hpp says what a row looks like. Nothing
// is encrypted: this is for an emulator on the same machine. The table is made when it is missed.
//
// Each letter is a request. Several are written from the first to the last, and removed from the
// last to the first, as a redrive needs it: `removed_at_once` is 1. All requests may be repeated,
// so what broke off in the middle is done again as a whole.

#ifndef WAYBILL_EXAMPLES_ENGINES_AZURE_TABLE_HPP
#define WAYBILL_EXAMPLES_ENGINES_AZURE_TABLE_HPP

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "address.hpp"
#include "azure_table_row.hpp"
#include "http_client.hpp"
#include "shared_key.hpp"
#include <waybill/session.hpp>
#include <waybill/wire/error_codes_http.hpp>

namespace engines {

/// What goes before waybill::wire::http_errors: the service's own codes, and two statuses that
/// HTTP leaves to the service. Those are about a row that somebody else has written in between.
inline constexpr waybill::wire::error_code azure_table_own[]{
    {"ServerBusy", waybill::wire::answer::throttled},  // with 503, before anything is taken
    {"TableBeingDeleted", waybill::wire::answer::transient},
    {"EntityTooLarge", waybill::wire::answer::too_large},
    {"PropertyValueTooLarge", waybill::wire::answer::too_large},
    {"KeyValueTooLarge", waybill::wire::answer::too_large},
    // Dates, versions and headers are the same for all letters.
    {"InvalidHeaderValue", waybill::wire::answer::infrastructure},
    {"InvalidAuthenticationInfo", waybill::wire::answer::infrastructure},
    {"", waybill::wire::answer::transient, 409},
    {"", waybill::wire::answer::transient, 412},
};

/// Where a table is.
struct azure_table_place {
    std::string host{};
    std::string port{};
    std::string account{};
    std::string table{};
    std::string key{development_key};
};

/// HOST:PORT/ACCOUNT/TABLE behind the scheme. Nothing if that is not what it is, or the name is
/// none that a table can have.
[[nodiscard]] inline std::optional<azure_table_place> azure_table_at(std::string_view rest)
{
    const auto a = address_in(rest, "10002");
    if (!a || a->path.size() != 2 || !a->at.user.empty()) return {};
    const std::string& table = a->path[1];
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    bool good = table.size() >= 3 && table.size() <= 63 && letter(table[0]);
    for (const char c : table) good = good && (letter(c) || (c >= '0' && c <= '9'));
    if (!good) return {};
    return azure_table_place{a->at.host, a->at.port, a->path[0], table};
}

class azure_table {
public:
    static constexpr std::uint64_t removed_at_once = 1;

    /// Reads so many rows at a time, at most 1,000.
    explicit azure_table(azure_table_place at, std::uint64_t page = 1'000)
        : at_(std::move(at)), page_(page), http_(at_.host, at_.port)
    {
    }

    /// Written again, a letter replaces itself, but for what the one that is there knows better. A
    /// row that changes between reading and writing is read again.
    [[nodiscard]] waybill::fault upsert(const waybill::pipeline_dead_letter& letter)
    {
        return safely([&]() -> waybill::fault {
            for (int tries = 0; tries != 5; ++tries) {
                reply r = ask("POST", "/" + at_.table, {}, row_of(letter));
                if (r.code != "EntityAlreadyExists") return fault_of(r);
                r = ask("GET", path_of(letter));
                if (r.code == "ResourceNotFound") continue;
                if (!r.ok()) return fault_of(r);
                const waybill::pipeline_dead_letter merged =
                    waybill::pipeline_dead_letter::merged(letter_in(r.body), letter);
                r = ask("PUT", path_of(letter), {}, row_of(merged), r.etag);
                const bool changed = r.status == 412 || r.code == "ResourceNotFound";
                if (!changed) return fault_of(r);
            }
            return waybill::transient("others write the same letter all the time");
        });
    }

    /// How far their sessions were sent: only where they are there, and never less than before.
    [[nodiscard]] waybill::fault mark(std::span<const waybill::pipeline_dead_letter> letters)
    {
        return safely([&]() -> waybill::fault {
            for (const waybill::pipeline_dead_letter& l : letters) {
                // Other tools write their keys without zeros.
                waybill::fault f = mark(l, waybill::row_key::of(l.sequence));
                if (f.ok()) f = mark(l, std::to_string(l.sequence));
                if (!f.ok()) return f;
            }
            return {};
        });
    }

    /// As they are, whatever is there.
    [[nodiscard]] waybill::fault write(std::span<const waybill::pipeline_dead_letter> letters)
    {
        return safely([&]() -> waybill::fault {
            for (const waybill::pipeline_dead_letter& l : letters) {
                const reply r = ask("PUT", path_of(l), {}, row_of(l));
                if (!r.ok()) return fault_of(r);
            }
            return {};
        });
    }

    /// One that is not there is removed.
    [[nodiscard]] waybill::fault remove(std::span<const waybill::pipeline_dead_letter> letters)
    {
        return safely([&]() -> waybill::fault {
            for (std::size_t n = letters.size(); n-- != 0;) {
                const waybill::pipeline_dead_letter& l = letters[n];
                reply r = ask("DELETE", path_of(l), {}, {}, "*");
                // Other tools write their keys without zeros.
                if (r.code == "ResourceNotFound") {
                    r = ask("DELETE", path_of(l, std::to_string(l.sequence)), {}, {}, "*");
                }
                if (!r.ok() && r.code != "ResourceNotFound") return fault_of(r);
            }
            return {};
        });
    }

    /// All, in the order of their keys,
    [[nodiscard]] waybill::result<std::vector<waybill::pipeline_dead_letter>> list()
    {
        return found("");
    }
    /// and those of a session.
    [[nodiscard]] waybill::result<std::vector<waybill::pipeline_dead_letter>> list(
        std::string_view session)
    {
        return found("&$filter=" +
                     url_part("PartitionKey eq " + quoted(partition_key(session))));
    }

private:
    struct reply {
        std::uint64_t status = 0;
        std::string code{};  // in the service's words, where it is an error
        std::string text{};
        std::string etag{};
        std::string next{};  // what asks for the rest of a list
        nlohmann::json body{};

        [[nodiscard]] bool ok() const noexcept { return status / 100 == 2; }
    };

    /// A row that is not there is marked.
    [[nodiscard]] waybill::fault mark(const waybill::pipeline_dead_letter& l,
                                      const std::string& row_key)
    {
        const std::string path = path_of(l, row_key);
        for (int tries = 0; tries != 5; ++tries) {
            reply r = ask("GET", path);
            if (r.code == "ResourceNotFound") return {};
            if (!r.ok()) return fault_of(r);
            nlohmann::json row =
                row_of(waybill::pipeline_dead_letter::with_mark(letter_in(r.body), l));
            row["RowKey"] = row_key;
            r = ask("PUT", path, {}, row, r.etag);
            if (r.code == "ResourceNotFound") return {};
            if (r.status != 412) return fault_of(r);
        }
        return waybill::transient("others write the same letter all the time");
    }

    [[nodiscard]] waybill::result<std::vector<waybill::pipeline_dead_letter>> found(
        std::string_view filter)
    {
        std::vector<waybill::pipeline_dead_letter> all;
        const waybill::fault f = safely([&]() -> waybill::fault {
            std::string next;
            std::set<std::string> asked;
            do {
                const std::string page = "?$top=" + std::to_string(page_) + std::string(filter);
                const reply r = ask("GET", "/" + at_.table + "()", page + next);
                if (!r.ok()) return fault_of(r);
                const auto rows = r.body.find("value");
                if (rows == r.body.end() || !rows->is_array()) {
                    return waybill::infrastructure("the answer is no list of rows");
                }
                for (const nlohmann::json& row : *rows) all.push_back(letter_in(row));
                if (!r.next.empty() && !asked.insert(r.next).second) {
                    return waybill::infrastructure("a list of rows goes round");
                }
                next = r.next;
            } while (!next.empty());
            return {};
        });
        if (!f.ok()) return waybill::unexpected(f);
        return all;
    }

    /// What f answers, or why it could not.
    template <class F>
    [[nodiscard]] waybill::fault safely(F&& f)
    {
        try {
            return f();
        } catch (const socket_error& e) {
            return waybill::infrastructure("the table of letters: " + std::string(e.what()));
        } catch (const malformed_row& e) {
            return waybill::infrastructure("a row is no letter: " + std::string(e.what()));
        } catch (const nlohmann::json::exception& e) {
            return waybill::infrastructure("a row is no letter: " + std::string(e.what()));
        }
    }

    /// A table that is not there is made, and asked again.
    [[nodiscard]] reply ask(std::string_view method, const std::string& path,
                            const std::string& query = {}, const nlohmann::json& row = {},
                            const std::string& if_match = {})
    {
        reply r = ask_once(method, path, query, row, if_match);
        if (r.code != "TableNotFound") return r;
        const reply made = ask_once("POST", "/Tables", {}, named(at_.table), {});
        if (!made.ok() && made.code != "TableAlreadyExists") return made;
        return ask_once(method, path, query, row, if_match);
    }

    [[nodiscard]] reply ask_once(std::string_view method, const std::string& path,
                                 const std::string& query, const nlohmann::json& row,
                                 const std::string& if_match)
    {
        const std::string whole = "/" + at_.account + path;
        const std::string date = http_date(std::time(nullptr));
        http_headers headers{
            {"x-ms-date", date},
            {"x-ms-version", "2019-02-02"},
            {"Authorization", shared_key_lite(at_.account, at_.key, date, whole)},
            {"Accept", "application/json;odata=minimalmetadata"},
            {"DataServiceVersion", "3.0"},
        };
        if (!if_match.empty()) headers.emplace_back("If-Match", if_match);
        if (method == "POST") headers.emplace_back("Prefer", "return-no-content");
        std::string body;
        if (!row.is_null()) {
            headers.emplace_back("Content-Type", "application/json");
            // In ASCII: an emulator that reads a request by pieces breaks characters between them.
            body = row.dump(-1, ' ', true);
        }
        const http_answer a = http_.ask(method, whole + query, headers, body);
        return read(a);
    }

    [[nodiscard]] static reply read(const http_answer& a)
    {
        reply r{.status = a.status, .code = a.header("x-ms-error-code"), .etag = a.header("etag")};
        if (!a.body.empty()) r.body = nlohmann::json::parse(a.body, nullptr, false);
        const auto next = [&](std::string_view key, std::string_view header) {
            const std::string value = a.header(header);
            if (!value.empty()) r.next.append("&").append(key).append("=").append(url_part(value));
        };
        next("NextPartitionKey", "x-ms-continuation-nextpartitionkey");
        next("NextRowKey", "x-ms-continuation-nextrowkey");
        if (r.ok()) return r;
        const auto at = [](const nlohmann::json& j, const char* name) {
            const auto found = j.find(name);
            return found == j.end() ? nlohmann::json() : *found;
        };
        const nlohmann::json error = at(r.body, "odata.error");
        const nlohmann::json code = at(error, "code");
        const nlohmann::json words = at(at(error, "message"), "value");
        if (r.code.empty() && code.is_string()) r.code = code.get<std::string>();
        if (words.is_string()) r.text = words.get<std::string>();
        return r;
    }

    [[nodiscard]] static waybill::fault fault_of(const reply& r)
    {
        using waybill::wire::find;
        if (r.ok()) return {};
        const std::span<const waybill::wire::error_code> own(azure_table_own);
        auto a = r.code.empty() ? std::nullopt : find(own, std::string_view(r.code));
        const auto status = static_cast<std::int64_t>(r.status);
        if (!a) a = find(own, waybill::wire::http_errors, status);
        const auto how =
            waybill::wire::fault_of(a.value_or(waybill::wire::answer::outcome_unknown));
        return {how, "the table of letters: " + std::to_string(r.status) + " " + r.code +
                         (r.text.empty() ? "" : ": " + r.text.substr(0, 500))};
    }

    [[nodiscard]] static nlohmann::json named(const std::string& table)
    {
        nlohmann::json t;
        t["TableName"] = table;
        return t;
    }
    /// As OData has it, where ' ends a text.
    [[nodiscard]] static std::string quoted(std::string_view text)
    {
        std::string out = "'";
        for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
        return out + "'";
    }
    [[nodiscard]] std::string path_of(const waybill::pipeline_dead_letter& l,
                                      std::string_view row_key) const
    {
        const std::string session = url_part(quoted(partition_key(l.properties.session)));
        return "/" + at_.table + "(PartitionKey=" + session + ",RowKey=" +
               url_part(quoted(row_key)) + ")";
    }
    [[nodiscard]] std::string path_of(const waybill::pipeline_dead_letter& l) const
    {
        return path_of(l, waybill::row_key::of(l.sequence));
    }

    azure_table_place at_;
    std::uint64_t page_;
    http_client http_;
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_AZURE_TABLE_HPP
