// SPDX-License-Identifier: MIT
//
// The outcomes of the replies of SQS in the adapter: first by the adapter's own list, then by the
// library's tables. The service is scripted, because a real one cannot be installed.

#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include <engines/number.hpp>
#include <engines/sqs.hpp>

#include "scripted.hpp"

namespace {

using engines::error_code;
using scripted::in_words;
using scripted::read_until;
using scripted::say;
using waybill::wire::find;

// A row of an adapter that equals a row of the library's table is not needed.
template <class... Tables>
constexpr bool differs(std::span<const error_code> own, const Tables&... tables)
{
    for (const error_code& row : own) {
        if (((find(tables, row.code) == row.means) || ...)) return false;
    }
    return true;
}
static_assert(differs(engines::sqs_own, waybill::wire::sqs_errors,
                      waybill::wire::aws_common_errors));
static_assert(differs(engines::sqs_entry_own, waybill::wire::sqs_errors,
                      waybill::wire::aws_common_errors));

constexpr std::array<std::string_view, 2> bodies{"{\"a\":1}", "{\"b\":22}"};

struct row {
    std::string_view said{};
    std::string_view expected{};
};

// Replies to a whole SendMessageBatch: the code, a space, the message.
constexpr row sqs_rows[]{
    {"BatchRequestTooLong Batch requests cannot be longer than 9 bytes. You have sent 15 bytes.",
     "refused 15 of 9"},
    {"AWS.SimpleQueueService.BatchRequestTooLong Batch requests cannot be longer than 9 bytes. You "
     "have sent 16 bytes.",
     "refused 16 of 9"},
    // Numbers in other sentences are ignored, and so is an incomplete sentence.
    {"BatchRequestTooLong You have sent 99 items, and no batch is longer than 9 bytes.",
     "refused 15 of ?"},
    {"BatchRequestTooLong Batch requests cannot be longer than 9 bytes. You have se",
     "refused 15 of ?"},
    {"BatchRequestTooLong Batch requests cannot be longer than 15 bytes. You have sent 9 bytes.",
     "refused 15 of ?"},
    {"TooManyEntriesInBatchRequest Maximum number of entries per request are 10. You have sent 11.",
     "refused ? of ?"},
    {"InvalidParameterValue One or more parameters are invalid. Reason: Message must be shorter "
     "than 7 bytes.",
     "refused ? of ?"},
    {"InvalidParameterValue The request includes a parameter that is not valid for this queue type",
     "failed, permanent"},
    {"InvalidMessageContents a form feed", "failed, permanent"},
    {"ThrottlingException Rate exceeded", "throttled"},
    {"RequestThrottled slower", "throttled"},
    {"ServiceUnavailable later", "failed, transient"},
    {"QueueDoesNotExist where?", "failed, cancelled"},
    {"AWS.SimpleQueueService.NonExistentQueue where?", "failed, cancelled"},
    {"AccessDeniedException who?", "failed, cancelled"},
    {"MissingParameter MessageGroupId", "failed, cancelled"},
    {"InternalError what?", "unknown"},
    {"InternalFailure what?", "unknown"},
    {"batchRequestTooLong 1 2", "unknown"},
    {"NobodyKnows what?", "unknown"},
};

// The code of the second entry, its message, and the party at fault.
constexpr row sqs_entries[]{
    {"InternalError service", "partial 1 transient"},
    {"InternalFailure service", "partial 1 transient"},
    {"InvalidMessageContents sender", "partial 1 permanent"},
    {"InvalidParameterValue sender", "partial 1 permanent"},
    {"InvalidParameterValue Message must be shorter than 7 bytes. sender", "partial 1 too large"},
    {"KmsAccessDenied sender", "partial 1 cancelled"},
    {"KMS.ThrottlingException sender", "partial 1 throttled"},
    {"NobodyKnows sender", "partial 1 permanent"},
    {"NobodyKnows service", "partial 1 transient"},
};

std::string by_http(int status, const nlohmann::json& body)
{
    const std::string text = body.dump();
    return "HTTP/1.1 " + std::to_string(status) +
           " So\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
}

std::string ask_sqs(const std::string& reply)
{
    const scripted::peer p([&](int fd) {
        if (read_until(fd, "/q\"}")) say(fd, reply);
    });
    engines::sqs queue({.endpoint = "http://127.0.0.1:" + p.port(), .path = "q"}, "run");
    return in_words(queue.send(bodies, 0));
}

bool numbers()
{
    using engines::number_in;
    return number_in("65535") == 65'535U && number_in("0") == 0U && !number_in("") &&
           !number_in("12 ") && !number_in(" 12") && !number_in("-1") && !number_in("1e3") &&
           !number_in("18446744073709551616") && number_in("a: 7\n", "a: ", "\n") == 7U &&
           !number_in("a: 7", "a: ", "\n") && !number_in("a: 7.5\n", "a: ", "\n") &&
           !number_in("b: 7\n", "a: ", "\n");
}

}  // namespace

int main()
{
    scripted::score s;
    for (const row& r : sqs_rows) {
        const std::size_t space = r.said.find(' ');
        const std::string reply =
            by_http(400, {{"__type", "com.amazonaws.sqs#" + std::string(r.said.substr(0, space))},
                          {"message", r.said.substr(space + 1)}});
        s.expect("SQS", r.said, ask_sqs(reply), r.expected);
    }
    for (const row& r : sqs_entries) {
        const std::size_t space = r.said.find(' ');
        const std::string reply =
            by_http(200, {{"Successful", {{{"Id", "0"}}}},
                          {"Failed",
                           {{{"Id", "1"},
                             {"Code", r.said.substr(0, space)},
                             {"Message", r.said.substr(space + 1)},
                             {"SenderFault", r.said.ends_with(" sender")}}}}});
        s.expect("an entry of SQS", r.said, ask_sqs(reply), r.expected);
    }
    s.expect("numbers", "", numbers() ? "read" : "not read", "read");
    std::printf("%d answers, %d taken otherwise\n", s.asked(), s.wrong());
    return s.wrong() == 0 && s.asked() > 25 ? 0 : 1;
}
