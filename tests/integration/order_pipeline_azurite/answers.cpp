// SPDX-License-Identifier: MIT
//
// The results of examples/engines/azure_table.hpp for the replies of a table service. The service
// is scripted, because no real one sends all of these replies.

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <engines/azure_table.hpp>

#include "../engines/scripted.hpp"

namespace {

using engines::azure_table;
using texts = std::vector<std::string>;
using scripted::http_response;
using scripted::http_service;

waybill::pipeline_dead_letter letter(std::uint64_t sequence)
{
    waybill::pipeline_dead_letter l;
    l.properties = {"it's", 1, 1, 2, false};
    l.sequence = sequence;
    return l;
}

/// "409 EntityAlreadyExists" in the form of the service.
std::string error(int status, const std::string& code)
{
    return http_response(
        status, R"({"odata.error":{"code":")" + code + R"(","message":{"value":"words"}}})");
}
std::string row(std::uint64_t sequence)
{
    return engines::row_of(letter(sequence)).dump();
}

/// The table of the service.
azure_table table_of(const http_service& s)
{
    return azure_table({"127.0.0.1", s.port(), "devstoreaccount1", "letters"}, 2);
}

scripted::score score;

using call = std::function<waybill::fault(azure_table&)>;

void expect(const char* what, const call& f, texts answers, std::string_view how,
            std::string_view asked)
{
    http_service s(std::move(answers));
    azure_table t = table_of(s);
    const waybill::fault fault = f(t);
    score.expect("a table", what, std::string(name(fault.kind)), how);
    score.expect("a table asked", what, s.methods(), asked);
    if (!fault.ok() && fault.text.empty()) score.expect("a table", what, "no words", "words");
}

waybill::fault upsert(azure_table& t)
{
    return t.upsert(letter(7));
}
waybill::fault write(azure_table& t)
{
    return t.write(std::vector{letter(7), letter(8)});
}
waybill::fault write_one(azure_table& t)
{
    return t.write(std::vector{letter(7)});
}
waybill::fault remove(azure_table& t)
{
    return t.remove(std::vector{letter(7), letter(8)});
}
waybill::fault list(azure_table& t)
{
    const auto all = t.list();
    return all ? waybill::fault{} : all.error();
}

struct refusal {
    int status;
    const char* code;
    std::string_view how;
};
constexpr refusal refusals[]{
    {400, "EntityTooLarge", "permanent"},
    {400, "PropertyValueTooLarge", "permanent"},
    {400, "KeyValueTooLarge", "permanent"},
    {400, "InvalidInput", "permanent"},
    {400, "InvalidHeaderValue", "infrastructure"},
    {403, "AuthenticationFailed", "infrastructure"},
    {404, "ResourceNotFound", "infrastructure"},  // the account does not exist
    {409, "TableBeingDeleted", "transient"},
    {409, "NobodyKnows", "transient"},
    {412, "UpdateConditionNotSatisfied", "transient"},
    {413, "RequestBodyTooLarge", "permanent"},
    {429, "TooManyRequests", "infrastructure"},
    {503, "ServerBusy", "infrastructure"},
    // The outcome is unknown, so the same request is repeated.
    {500, "InternalError", "infrastructure"},
    {500, "OperationTimedOut", "infrastructure"},
    {502, "", "infrastructure"},
    {503, "", "infrastructure"},
    {504, "", "infrastructure"},
    {418, "", "infrastructure"},
};

void faults()
{
    for (const refusal& r : refusals) {
        const std::string what = std::to_string(r.status) + " " + r.code;
        expect(what.c_str(), write, {error(r.status, r.code)}, r.how, "PUT");
    }
    expect("no JSON", write, {http_response(409, "<html>")}, "transient", "PUT");
    expect("no HTTP", write, {"220 smtp ready\r\n\r\n"}, "infrastructure", "PUT");
    expect("no length", write, {"HTTP/1.1 200 So\r\n\r\n"}, "infrastructure", "PUT");
    expect("broken off", write, {""}, "infrastructure", "PUT");
    expect("in the middle", write, {"HTTP/1.1 200 So\r\nContent-Length: 9\r\n\r\n{"},
           "infrastructure", "PUT");

    // A kept connection that was closed is replaced once without an error.
    const std::string done = http_response(204, "");
    expect("gone between", write, {done, "", done}, "none", "PUT PUT PUT");
    expect("gone for good", write, {done, "", ""}, "infrastructure", "PUT PUT PUT");
    expect("closed in order", write, {http_response(204, "", "Connection: close\r\n"), done},
           "none", "PUT PUT");
}

void conditions()
{
    const std::string done = http_response(204, "");
    const std::string there = error(409, "EntityAlreadyExists");
    const std::string gone = error(404, "ResourceNotFound");
    const std::string changed = error(412, "UpdateConditionNotSatisfied");
    const std::string found = http_response(200, row(7), "ETag: W/\"one\"\r\n");
    expect("new", upsert, {done}, "none", "POST");
    expect("there", upsert, {there, found, done}, "none", "POST GET PUT");
    expect("changed", upsert, {there, found, changed, there, found, done}, "none",
           "POST GET PUT POST GET PUT");
    expect("removed", upsert, {there, gone, done}, "none", "POST GET POST");
    expect("removed later", upsert, {there, found, gone, done}, "none", "POST GET PUT POST");
    texts always;
    for (int n = 0; n != 5; ++n) always.insert(always.end(), {there, found, changed});
    expect("changed always", upsert, always, "transient",
           "POST GET PUT POST GET PUT POST GET PUT POST GET PUT POST GET PUT");
    expect("no letter there", upsert, {there, http_response(200, "[]")}, "infrastructure",
           "POST GET");

    http_service s({there, found, done});
    azure_table t = table_of(s);
    score.expect("a table", "an etag", upsert(t).ok() ? "written" : "not written", "written");
    const bool matched = s.requests()[2].find("\r\nIf-Match: W/\"one\"\r\n") != std::string::npos;
    score.expect("a table", "an etag", matched ? "matched" : s.requests()[2], "matched");
    const bool path = s.requests()[2].starts_with(
        "PUT /devstoreaccount1/letters(PartitionKey=%27it%27%27s%27,"
        "RowKey=%2700000000000000000007%27) HTTP/1.1\r\n");
    score.expect("a table", "a key", path ? "a path" : s.requests()[2], "a path");

    // A missing table is created.
    const std::string none = error(404, "TableNotFound");
    expect("no table", upsert, {none, http_response(201, "{}"), done}, "none", "POST POST POST");
    expect("another client creates it", upsert, {none, error(409, "TableAlreadyExists"), done},
           "none", "POST POST POST");
    expect("must not make it", upsert, {none, error(403, "AuthorizationFailure")}, "infrastructure",
           "POST POST");
    expect("is not there", upsert, {none, done, none}, "infrastructure", "POST POST POST");
    expect("goes away", upsert, {none, error(409, "TableBeingDeleted")}, "transient", "POST POST");

    // Removing a missing letter succeeds, also under a key without zeros.
    expect("removed", remove, {done, done}, "none", "DELETE DELETE");
    expect("not there", remove, {gone, gone, gone, done}, "none", "DELETE DELETE DELETE DELETE");
    expect("half", remove, {done, error(500, "InternalError")}, "infrastructure", "DELETE DELETE");
    http_service r({done, done});
    azure_table u = table_of(r);
    const bool last_first = remove(u).ok() && r.requests()[0].find("08%27)") != std::string::npos &&
                            r.requests()[0].find("\r\nIf-Match: *\r\n") != std::string::npos;
    score.expect("a table", "removes", last_first ? "from the last" : r.requests()[0],
                 "from the last");
}

void lists()
{
    const auto page = [](const std::string& rows, const std::string& next) {
        const std::string more = next.empty() ? ""
                                              : "x-ms-continuation-NextPartitionKey: " + next +
                                                    "\r\nX-MS-CONTINUATION-NextRowKey: 1!a b\r\n";
        return http_response(200, R"({"value":[)" + rows + "]}", more);
    };
    http_service s({page(row(7), "k"), page("", "l"), page(row(8) + "," + row(9), "")});
    azure_table t = table_of(s);
    const auto all = t.list("a&b");
    const bool same = all && *all == std::vector{letter(7), letter(8), letter(9)};
    score.expect("a table", "pages", same ? "all" : "not all", "all");
    const std::string first = s.requests()[0].substr(0, s.requests()[0].find("\r\n"));
    score.expect(
        "a table", "the first page", first,
        "GET /devstoreaccount1/letters()?$top=2&$filter=PartitionKey%20eq%20%27a%26b%27 HTTP/1.1");
    const bool next = s.requests()[1].find("%27&NextPartitionKey=k&NextRowKey=1%21a%20b HTTP") !=
                      std::string::npos;
    score.expect("a table", "the next page", next ? "asked" : s.requests()[1], "asked");

    const std::string chunks =
        "HTTP/1.1 200 So\r\nTransfer-Encoding: chunked\r\n\r\n"
        "9;x=y\r\n{\"value\":\r\n3\r\n[]}\r\n0\r\nT: t\r\n\r\n";
    expect("in chunks", list, {chunks}, "none", "GET");
    expect("a chunk of no length", list,
           {"HTTP/1.1 200 So\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"}, "infrastructure", "GET");
    expect("round and round", list, {page("", "k"), page("", "k")}, "infrastructure", "GET GET");
    expect("no list", list, {http_response(200, "{}")}, "infrastructure", "GET");
    expect("torn", list, {http_response(200, "{\"value\":[")}, "infrastructure", "GET");
    for (const char* bad :
         {R"({"RowKey":"x"})", R"({"RowKey":"1","step":"x"})", R"({"RowKey":"1","last":1})", "1",
          R"({"RowKey":"1","reason":"bored"})", R"({"RowKey":"1","parked":"yesterday"})",
          R"({"RowKey":"1","text":1})", R"({"RowKey":"1","checksum":"4294967296"})",
          R"({"RowKey":"1","text":"?","text@odata.type":"Edm.Binary"})",
          R"({"RowKey":"1","text":"?","text@odata.type":1})"}) {
        expect(bad, list, {page(bad, "")}, "infrastructure", "GET");
    }
    expect("of another tool", list,
           {page(R"({"PartitionKey":"!zz!","RowKey":"17","step":3,"parked":null})", "")}, "none",
           "GET");
}

void keys()
{
    using engines::partition_key;
    using engines::session_of_partition_key;
    score.expect("a key", "plain", partition_key("order-17~1"), "order-17~1");
    score.expect("a key", "reserved", partition_key("a/b\\c#d?e%f!g\n\x7f"),
                 "a!2Fb!5Cc!23d!3Fe!25f!21g!0A!7F");
    score.expect("a key", "C1", partition_key("\xC2\x85\xC2\xA0"), "!C2!85\xC2\xA0");
    score.expect("a key", "no UTF-8", partition_key("a\xFF"), "a!FF");
    score.expect("a session", "of others", session_of_partition_key("a!b!zz!2"), "a!b!zz!2");
    std::string all;
    for (int c = 0; c != 256; ++c) {
        all += static_cast<char>(c);
        score.expect("a key", "each byte", session_of_partition_key(partition_key(all)), all);
        const std::string one(1, static_cast<char>(c));
        score.expect("a key", "one byte", session_of_partition_key(partition_key(one)), one);
    }

    // RFC 4231, cases 1, 2 and 6.
    const auto hex = [](std::string_view bytes) {
        std::string out;
        for (const char c : bytes) {
            char two[3];
            std::snprintf(two, sizeof two, "%02x",
                          static_cast<unsigned>(static_cast<unsigned char>(c)));
            out += two;
        }
        return out;
    };
    using engines::hmac_sha256;
    score.expect("HMAC", "1", hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
                 "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    score.expect("HMAC", "2", hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
                 "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    score.expect("HMAC", "6",
                 hex(hmac_sha256(std::string(131, '\xaa'),
                                 "Test Using Larger Than Block-Size Key - Hash Key First")),
                 "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    score.expect("a date", "RFC 9110", engines::http_date(784'111'777),
                 "Sun, 06 Nov 1994 08:49:37 GMT");
    for (const char* bad :
         {"", "127.0.0.1:1", "127.0.0.1:1/a", "127.0.0.1:1/a/b", "127.0.0.1:1/a/1bc", "h:x/a/bcd",
          "127.0.0.1:1/a/b-c", "127.0.0.1:1/a/bcd/e", "u:p@127.0.0.1:1/a/bcd"}) {
        score.expect("a place", bad, engines::azure_table_at(bad) ? "one" : "none", "none");
    }
    score.expect("a place", "good", engines::azure_table_at("127.0.0.1/a/bcd").value().port,
                 "10002");
}

/// The parts of a connection string, "scheme host port root account", or the error.
std::string place_of(std::string_view connection, std::string_view table = "letters")
{
    const auto p = engines::azure_table_of_connection(connection, table);
    if (!p) return p.error();
    return p->scheme + " " + p->host + " " + p->port + " " + p->root() + " " + p->account;
}

void connection_strings()
{
    struct row {
        const char* connection;
        const char* expected;
    };
    constexpr row rows[]{
        {"UseDevelopmentStorage=true", "http 127.0.0.1 10002 /devstoreaccount1 devstoreaccount1"},
        {"UseDevelopmentStorage=true;", "http 127.0.0.1 10002 /devstoreaccount1 devstoreaccount1"},
        {"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=aGk=;EndpointSuffix=core.windows."
         "net",
         "https a.table.core.windows.net 443  a"},
        {"AccountName=a;AccountKey=aGk=", "https a.table.core.windows.net 443  a"},
        {"DefaultEndpointsProtocol=http;AccountName=a;AccountKey=aGk=;EndpointSuffix=core."
         "chinacloudapi.cn",
         "http a.table.core.chinacloudapi.cn 80  a"},
        {"AccountName=a;AccountKey=aGk=;TableEndpoint=https://h:7/a/;BlobEndpoint=x",
         "https h 7 /a a"},
        {"AccountName=a;AccountKey=aGk=;TableEndpoint=http://[::1]:7", "http ::1 7  a"},
        {"AccountName=a;AccountKey=aGk=;TableEndpoint=ftp://h",
         "connection string: TableEndpoint is neither http nor https"},
        {"AccountName=a;AccountKey=aGk=;TableEndpoint=https://:7/",
         "connection string: TableEndpoint is not https://HOST:PORT/PATH"},
        {"AccountName=a;AccountKey=aGk=;DefaultEndpointsProtocol=x",
         "connection string: DefaultEndpointsProtocol is neither http nor https"},
        {"", "connection string: AccountName is missing"},
        {"AccountName=a", "connection string: AccountKey is missing"},
        {"AccountName=a;AccountKey=k", "connection string: AccountKey is not base64"},
        {"AccountName=a;AccountKey", "connection string: each part has the form NAME=VALUE"},
        {"AccountName=a;SharedAccessSignature=s",
         "connection string: SharedAccessSignature is not supported: AccountKey is needed"},
        {"UseDevelopmentStorage=true;DevelopmentStorageProxyUri=http://h",
         "connection string: DevelopmentStorageProxyUri is not supported: use TableEndpoint"},
    };
    for (const row& r : rows)
        score.expect("a connection string", r.connection, place_of(r.connection), r.expected);
    score.expect("a connection string", "a table",
                 place_of("UseDevelopmentStorage=true", "1st").substr(0, 10), "table 1st:");
    const auto p = engines::azure_table_of_connection("AccountName=a;AccountKey=aGk=", "letters");
    score.expect("a connection string", "a key", p ? p->key : p.error(), "aGk=");
    const auto tls = engines::azure_table_at("https://h/a/bcd");
    score.expect("a place", "https", tls ? tls->scheme + tls->root() : "none", "https/a");
    score.expect("a place", "ftp", engines::azure_table_at("ftp://h/a/bcd") ? "one" : "none",
                 "none");

    // An account in the host name is not in the path.
    http_service s({http_response(204, "")});
    auto at = *p;
    at.scheme = "http";
    at.host = "127.0.0.1";
    at.port = s.port();
    azure_table t(at);
    score.expect("a table", "of an account", std::string(name(write_one(t).kind)), "none");
    score.expect("a table", "of an account", s.requests()[0].substr(0, 26),
                 "PUT /letters(PartitionKey=");
}

}  // namespace

int main()
{
    connection_strings();
    faults();
    conditions();
    lists();
    keys();
    std::printf("answers of a table: %d asked, %d wrong\n", score.asked(), score.wrong());
    return score.wrong() == 0 ? 0 : 1;
}
