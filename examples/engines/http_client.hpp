// SPDX-License-Identifier: MIT
//
// http_client: HTTP/1.1 requests by libcurl, over one connection that is kept between requests.
//
//     engines::http_client http("https://127.0.0.1:10002", {.ca_file = "ca.pem"});
//     engines::http_answer a = http.ask("GET", "/path?query", {{"Accept", "text/plain"}}, "");
//     a.status          // 200
//     a.header("etag")  // names in small letters
//
//  1. A response is returned with any status. A request without a response throws `http_error`.
//  2. `http_error::sent` is false if the request has certainly not arrived. True: unknown.
//  3. A request is sent once. A `repeatable` one is sent a second time if a kept connection breaks.
//  4. `patience` limits the whole call. A response has at most 64 MiB and 200 headers, and a header
//     at most 64 KiB.
//  5. Certificates and host names of https:// are checked. CA certificates are in `ca_file`, or in
//     the file of the variable CURL_CA_BUNDLE or SSL_CERT_FILE, or the system's.
//  6. No redirect is followed. A proxy of the environment is used, but not for this machine.
//
//     failure                         CURLcode                                      sent   arrived
//     no address, no connection       COULDNT_RESOLVE_HOST, COULDNT_CONNECT         false  no
//     certificate, TLS handshake      PEER_FAILED_VERIFICATION, SSL_CONNECT_ERROR   false  no
//     CA file, URL, proxy             SSL_CACERT_BADFILE, URL_MALFORMAT, PROXY      false  no
//     timeout before the request      OPERATION_TIMEDOUT                            false  no
//     timeout after it                OPERATION_TIMEDOUT                            true   unknown
//     the connection broke            GOT_NOTHING, SEND_ERROR, RECV_ERROR,          true   unknown
//                                     PARTIAL_FILE, ABORTED_BY_CALLBACK
//     no HTTP, over a limit           UNSUPPORTED_PROTOCOL, WEIRD_SERVER_REPLY,     true   unknown
//                                     WRITE_ERROR, OK without a length
//
// The column `sent` is not a function of CURLcode: after a kept connection has broken, the second
// connection may fail with COULDNT_CONNECT. CURLOPT_PREREQFUNCTION (libcurl 7.80) counts requests.

#ifndef WAYBILL_EXAMPLES_ENGINES_HTTP_CLIENT_HPP
#define WAYBILL_EXAMPLES_ENGINES_HTTP_CLIENT_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <curl/curl.h>

namespace engines {

struct http_error : std::runtime_error {
    http_error(const std::string& text, bool was_sent) : std::runtime_error(text), sent(was_sent) {}

    bool sent;  ///< False: the request has certainly not arrived.
};

struct http_answer {
    std::uint64_t status = 0;
    std::map<std::string, std::string, std::less<>> headers{};
    std::string body{};

    [[nodiscard]] bool ok() const noexcept { return status / 100 == 2; }
    [[nodiscard]] std::string header(std::string_view name) const
    {
        const auto found = headers.find(name);
        return found == headers.end() ? std::string() : found->second;
    }
};

using http_headers = std::vector<std::pair<std::string_view, std::string>>;

struct http_options {
    std::string ca_file{};   ///< PEM. Empty: that of the environment, or of the system.
    std::string user{};      ///< For Basic, or the key id of `aws_sigv4`. Empty: no credentials.
    std::string password{};  ///< For Basic, or the secret key of `aws_sigv4`.
    std::string
        aws_sigv4{};  ///< "aws:amz:REGION:SERVICE" signs each request, as CURLOPT_AWS_SIGV4.
    std::chrono::milliseconds patience{10'000};
    bool repeatable = false;  ///< A request may be executed twice.
};

/// "http://[::1]:80" of "http", "::1" and "80".
[[nodiscard]] inline std::string http_origin(std::string_view scheme, std::string_view host,
                                             std::string_view port)
{
    const bool six = host.find(':') != host.npos;
    std::string origin(scheme);
    origin.append("://").append(six ? "[" : "").append(host).append(six ? "]" : "");
    return origin.append(":").append(port);
}

class http_client {
public:
    /// `origin` is http://HOST:PORT or https://HOST:PORT.
    explicit http_client(std::string origin, http_options o = {})
        : origin_(std::move(origin)), options_(std::move(o)), handle_(made())
    {
    }

    /// `target` is the path with its query, as it goes into the request.
    [[nodiscard]] http_answer ask(std::string_view method, std::string_view target,
                                  const http_headers& headers, std::string_view body)
    {
        exchange e{.repeatable = options_.repeatable};
        const std::string url = origin_ + std::string(target);
        const list lines = lines_of(headers);
        const std::string verb(method);
        curl_easy_reset(handle_.get());  // keeps the connection
        set_up_connection();
        set(CURLOPT_URL, url.c_str());
        set(CURLOPT_PATH_AS_IS, 1L);
        set(CURLOPT_HTTPHEADER, lines.get());
        if (!body.empty()) {
            set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
            set(CURLOPT_POSTFIELDS, body.data());
        }
        set(CURLOPT_CUSTOMREQUEST, verb.c_str());
        set(CURLOPT_PREREQFUNCTION, &before_request);
        set(CURLOPT_PREREQDATA, &e);
        set(CURLOPT_HEADERFUNCTION, &take_header);
        set(CURLOPT_HEADERDATA, &e);
        set(CURLOPT_WRITEFUNCTION, &take_body);
        set(CURLOPT_WRITEDATA, &e);
        char words[CURL_ERROR_SIZE] = "";
        set(CURLOPT_ERRORBUFFER, words);
        const CURLcode code = curl_easy_perform(handle_.get());
        set(CURLOPT_ERRORBUFFER, nullptr);
        if (code != CURLE_OK) throw http_error(text_of(code, words, e), e.requests != 0);
        long status = 0;
        curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
        e.answer.status = static_cast<std::uint64_t>(status);
        if (!has_end(e.answer)) {
            throw http_error(place() + ": a response without a length may be incomplete", true);
        }
        return std::move(e.answer);
    }

private:
    static constexpr std::size_t most_bytes = std::size_t{64} * 1'048'576;
    static constexpr std::size_t most_in_line = 65'536;
    static constexpr int most_headers = 200;

    struct clean_up {
        void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
        void operator()(curl_slist* lines) const noexcept { curl_slist_free_all(lines); }
    };
    using list = std::unique_ptr<curl_slist, clean_up>;

    /// One call of `ask`. libcurl itself repeats a request if a kept connection ends without a
    /// response.
    struct exchange {
        bool repeatable = false;
        int requests = 0;
        int headers = 0;
        const char* over = nullptr;  ///< The limit that was exceeded.
        http_answer answer{};
    };

    [[nodiscard]] static CURL* made()
    {
        static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
        CURL* const handle = ready == CURLE_OK ? curl_easy_init() : nullptr;
        if (handle == nullptr) throw http_error("libcurl cannot be initialised", false);
        return handle;
    }

    template <class T>
    void set(CURLoption option, T value)
    {
        const CURLcode code = curl_easy_setopt(handle_.get(), option, value);
        if (code == CURLE_OK) return;
        throw http_error("libcurl refuses its option " + std::to_string(option) + ": " +
                             curl_easy_strerror(code),
                         false);
    }

    void set_up_connection()
    {
        const long patience =
            std::chrono::duration_cast<std::chrono::duration<long, std::milli>>(options_.patience)
                .count();
        set(CURLOPT_NOSIGNAL, 1L);
        set(CURLOPT_TIMEOUT_MS, patience);
        set(CURLOPT_CONNECTTIMEOUT_MS, patience);
        set(CURLOPT_EXPECT_100_TIMEOUT_MS, 1L);
        set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
        set(CURLOPT_SSL_VERIFYPEER, 1L);
        set(CURLOPT_SSL_VERIFYHOST, 2L);
        if (const std::string file = ca_file(); !file.empty()) set(CURLOPT_CAINFO, file.c_str());
        if (is_this_machine()) set(CURLOPT_PROXY, "");
        if (options_.user.empty()) return;
        set(CURLOPT_USERNAME, options_.user.c_str());
        set(CURLOPT_PASSWORD, options_.password.c_str());
        if (options_.aws_sigv4.empty()) set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
        else set(CURLOPT_AWS_SIGV4, options_.aws_sigv4.c_str());
    }

    [[nodiscard]] std::string ca_file() const
    {
        if (!options_.ca_file.empty()) return options_.ca_file;
        for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
            const char* const file = std::getenv(name);
            if (file != nullptr && *file != '\0') return file;
        }
        return {};
    }

    [[nodiscard]] bool is_this_machine() const
    {
        const std::string at = place();
        return at.starts_with("127.") || at.starts_with("localhost:") || at.starts_with("[::1]");
    }

    [[nodiscard]] list lines_of(const http_headers& headers) const
    {
        list lines;
        const auto add = [&](const std::string& line) {
            curl_slist* const longer = curl_slist_append(lines.get(), line.c_str());
            if (longer == nullptr) throw std::bad_alloc();
            static_cast<void>(lines.release());
            lines.reset(longer);
        };
        for (const auto& [name, value] : headers) add(std::string(name) + ": " + value);
        // A large body does not wait for 100 Continue. libcurl 7.88 would sign the empty line.
        if (options_.aws_sigv4.empty()) add("Expect:");
        return lines;
    }

    static int before_request(void* to, char*, char*, int, int) noexcept
    {
        auto& e = *static_cast<exchange*>(to);
        if (e.requests == (e.repeatable ? 2 : 1)) return CURL_PREREQFUNC_ABORT;
        ++e.requests;
        return CURL_PREREQFUNC_OK;
    }

    static std::size_t take_header(char* from, std::size_t, std::size_t n, void* to) noexcept
    {
        auto& e = *static_cast<exchange*>(to);
        std::string_view line(from, n);
        if (line.starts_with("HTTP/")) {  // also after 100 Continue
            e.answer.headers.clear();
            e.headers = 0;
            return n;
        }
        if (++e.headers > most_headers) e.over = "more than 200 headers";
        if (n > most_in_line) e.over = "a header of more than 64 KiB";
        if (e.over != nullptr) return 0;
        while (line.ends_with('\r') || line.ends_with('\n')) line.remove_suffix(1);
        const std::size_t colon = line.find(':');
        if (colon == line.npos) return n;
        std::string name(line.substr(0, colon));
        for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        const std::size_t value = line.find_first_not_of(" \t", colon + 1);
        e.answer.headers[name] = value == line.npos ? std::string_view() : line.substr(value);
        return n;
    }

    static std::size_t take_body(char* from, std::size_t, std::size_t n, void* to) noexcept
    {
        auto& e = *static_cast<exchange*>(to);
        if (e.answer.body.size() + n > most_bytes) e.over = "a response of more than 64 MiB";
        if (e.over != nullptr) return 0;
        e.answer.body.append(from, n);
        return n;
    }

    /// False if only the end of the connection ends a response: then it may be incomplete.
    [[nodiscard]] static bool has_end(const http_answer& a)
    {
        return a.status == 204 || a.status == 304 || a.headers.contains("content-length") ||
               a.headers.contains("transfer-encoding");
    }

    /// HOST:PORT
    [[nodiscard]] std::string place() const { return origin_.substr(origin_.find("://") + 3); }

    [[nodiscard]] std::string text_of(CURLcode code, const char* words, const exchange& e) const
    {
        const std::string text = *words != '\0' ? words : curl_easy_strerror(code);
        std::string all = place() + ": ";
        long number = 0;
        curl_easy_getinfo(handle_.get(), CURLINFO_OS_ERRNO, &number);
        switch (code) {
            case CURLE_COULDNT_CONNECT:
                return all + (number != 0 ? std::strerror(static_cast<int>(number)) : text);
            case CURLE_PEER_FAILED_VERIFICATION:
                return all + "the server's certificate is refused: " + text +
                       ". Set CURL_CA_BUNDLE to a file with the certificate of its CA.";
            case CURLE_SSL_CACERT_BADFILE:
                return all + "the file of CA certificates " + ca_file() + " cannot be read";
            case CURLE_OPERATION_TIMEDOUT:
                return all + (e.requests != 0 ? "no response within " : "no connection within ") +
                       std::to_string(options_.patience.count()) + " ms";
            case CURLE_ABORTED_BY_CALLBACK:
                return all + "the connection broke after the request was sent";
            case CURLE_WRITE_ERROR: return all + (e.over != nullptr ? e.over : text);
            default: return all + text;
        }
    }

    std::string origin_;
    http_options options_;
    std::unique_ptr<CURL, clean_up> handle_;
};

/// Everything but letters, digits and -._~ as %XX, as a part of a path or a query.
[[nodiscard]] inline std::string url_part(std::string_view text)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    constexpr std::string_view plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    std::string out;
    for (const char c : text) {
        if (plain.find(c) != plain.npos) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += digits[byte >> 4U];
        out += digits[byte & 15U];
    }
    return out;
}

/// The same for a path of several parts: each / stays.
[[nodiscard]] inline std::string url_path(std::string_view text)
{
    const std::size_t slash = text.find('/');
    if (slash == text.npos) return url_part(text);
    return url_part(text.substr(0, slash)) + "/" + url_path(text.substr(slash + 1));
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_HTTP_CLIENT_HPP
