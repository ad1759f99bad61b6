// SPDX-License-Identifier: MIT
//
// depth_sqs: the depth of a queue of Amazon SQS, by its JSON protocol.
//
//     engines::sqs_depth queue({.endpoint = "https://sqs.eu-west-1.amazonaws.com:443",
//                               .path = "123456789012/orders", .region = "eu-west-1",
//                               .key_id = "...", .secret = "..."});
//     engines::depth_reading r = queue.read();
//
//  1. Messages whose delay has not passed are not counted: no worker can receive them.
//  2. The numbers are approximate. They are right about a minute after the last change.
//  3. There is no age: the service has it as a metric of CloudWatch only.
//  4. Certificates are checked as http_client.hpp describes.
//
//     response                                       meaning
//     200 with both numbers                          the depth
//     200 without                                    unknown
//     another status, no response                    unknown, with the service's code and text

#ifndef WAYBILL_EXAMPLES_ENGINES_DEPTH_SQS_HPP
#define WAYBILL_EXAMPLES_ENGINES_DEPTH_SQS_HPP

#include <string>
#include <utility>

#include "depth.hpp"
#include "sqs.hpp"
#include <waybill/core/result.hpp>

namespace engines {

class sqs_depth {
public:
    explicit sqs_depth(sqs_place at) : at_(std::move(at)) {}

    [[nodiscard]] std::string name() const { return at_.path.substr(at_.path.rfind('/') + 1); }

    [[nodiscard]] depth_reading read() const
    {
        try {
            sqs queue(at_, {});
            const auto n = queue.attributes(
                {"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"});
            if (!n[0] || !n[1]) return unknown("the response has no number of messages");
            return depth{.ready = *n[0], .in_flight = *n[1]};
        } catch (const http_error& e) {
            return unknown(e.what());
        }
    }

private:
    [[nodiscard]] waybill::unexpected<std::string> unknown(const std::string& why) const
    {
        return waybill::unexpected("SQS, queue " + name() + ": " + why);
    }

    sqs_place at_;
};

static_assert(depth_source<sqs_depth>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_DEPTH_SQS_HPP
