// SPDX-License-Identifier: MIT
//
// The four levels of knowing sizes, each the short program that the README shows.
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/batch.hpp>
#include <waybill/wire.hpp>

namespace readme_levels {
namespace {

struct letter {
    std::string body;
    std::string id;
};

std::vector<letter> letters()
{
    std::vector<letter> made;
    for (std::size_t i = 0; i != 2'000; ++i) {
        made.push_back({std::string(i * i % 997, '.'), "letter-" + std::to_string(i)});
    }
    made[500].body = std::string(300'000, '.');
    return made;
}

struct tallied {
    std::uint64_t items = 0;
    std::uint64_t batches = 0;
    std::uint64_t elsewhere = 0;

    template <class Batch>
    void send(const Batch& batch)
    {
        ++batches;
        items += batch.size();
    }
};

// Takes a batch of at most 262,144 bytes as it counts them, headers and all.
struct counting_broker {
    struct answer {
        bool ok = false;
        std::string text;
    };
    std::uint64_t& arrived;
    std::uint64_t& refusals;

    template <class Batch>
    answer send(const Batch& batch)
    {
        std::uint64_t bytes = 40;
        for (const letter& l : batch) bytes += l.body.size() + l.id.size() + 110;
        if (bytes <= 262'144) {
            arrived += batch.size();
            return {.ok = true, .text = {}};
        }
        ++refusals;
        return {.ok = false,
                .text = "The received message (delivery-id:7, size:" + std::to_string(bytes) +
                        " bytes) exceeds the limit (262144 bytes) currently allowed on the link."};
    }
};

TEST_CASE("README: sizes known, one header for all, headers measured")
{
    std::vector<letter> inbox = letters();
    tallied sdk;
    const auto send = [&](const auto& batch) { sdk.send(batch); };
    const auto store_elsewhere = [&](const letter&) { ++sdk.elsewhere; };

    {
        const auto wire_size = [](const letter& l) { return l.body.size() + l.id.size() + 30; };
        //! [known]
        // 1. The sizes are known.
        constexpr waybill::batch_limits limits = waybill::wire::service_bus_standard();
        for (auto part : waybill::chunk_by(inbox, limits, wire_size))
            part.fits ? send(part) : store_elsewhere(*part.begin());
        //! [known]
        CHECK(sdk.items == 1'999);
        CHECK(sdk.elsewhere == 1);
    }
    {
        constexpr waybill::batch_limits limits = waybill::wire::service_bus_standard();
        sdk = {};
        //! [header]
        // 2. Bodies are known, and a header is taken for all.
        const auto body_size = [](const letter& l) { return l.body.size(); };
        for (auto part : waybill::chunk_by(inbox, limits, waybill::fixed_header(54, body_size)))
            part.fits ? send(part) : store_elsewhere(*part.begin());
        //! [header]
        CHECK(sdk.items == 1'999);
    }
    {
        constexpr waybill::batch_limits limits = waybill::wire::service_bus_standard();
        sdk = {};
        //! [measured]
        // 3. Each message is measured as the SDK's encoder will write it, envelope and wrapping too.
        namespace amqp = waybill::wire::amqp;
        const auto as_amqp = [](const letter& l) {
            return amqp::message{.body = l.body, .message_id = l.id};
        };
        const auto in_batch = waybill::framed(amqp::batch<amqp::proton>{}, as_amqp);
        for (auto part : waybill::chunk_by(inbox, limits, in_batch))
            part.fits ? send(part) : store_elsewhere(*part.begin());
        //! [measured]
        CHECK(sdk.items == 1'999);
        CHECK(sdk.elsewhere == 1);
    }
}

TEST_CASE("README: guess and learn")
{
    std::vector<letter> inbox = letters();
    std::uint64_t arrived = 0, refusals = 0;
    counting_broker sdk{arrived, refusals};
    const auto log = [](const std::string&) {};
    const waybill::steady_time now;

    namespace wire = waybill::wire;
    //! [learnt]
    using waybill::batch_sender;
    // 4. Bodies are known, the rest is learnt from what the broker says.
    batch_sender sender{{.limit = wire::service_bus_standard(), .header = 54}};
    const auto body_size = [](const letter& l) { return l.body.size(); };
    auto report = waybill::send_all(inbox, body_size, sender, now,
        [&](const auto& batch) -> waybill::send_outcome {
            const auto answer = sdk.send(batch);
            if (answer.ok) return batch_sender::accepted{};
            batch_sender::too_large no;  // a mere no teaches, too
            const auto said = wire::read_refusal(wire::dialect::azure_amqp, answer.text);
            if (said && said->of == wire::extent::request) {
                no.actual = said->actual;
                no.limit = said->limit;
            }
            return no;
        });
    for (const auto& r : report.outcomes) log(describe(r));
    waybill::calibration learnt = sender.learnt();       // for the next run to this destination
    //! [learnt]

    CHECK(arrived == 1'999);
    CHECK(report.accepted == 1'999);
    CHECK(report.not_accepted == 1);
    CHECK(refusals == report.refusals);
    CHECK(refusals <= 2);  // one teaches, one is the letter that fits nowhere
    CHECK(learnt == sender.learnt());
}

TEST_CASE("README: known sizes through the same sender, and keys")
{
    std::vector<letter> inbox = letters();
    const waybill::steady_time now;
    constexpr waybill::batch_limits limits = waybill::wire::service_bus_standard();
    const auto wire_size = [](const letter& l) { return l.body.size() + l.id.size() + 110; };
    const auto customer = [](const letter& l) { return l.id.size(); };
    std::uint64_t arrived = 0, refusals = 0;
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        if (counting_broker{arrived, refusals}.send(batch).ok)
            return waybill::batch_sender::accepted{};
        return waybill::batch_sender::too_large{};
    };

    //! [exact]
    // Known sizes, with the sender's retries; and each customer's letters in order, whatever fails.
    waybill::batch_sender exact{{.limit = limits, .exact_sizes = true, .ordered = true}};
    const auto sized = [&](const letter& l) {
        return waybill::batch_sender::queued(wire_size(l), customer(l));
    };
    auto report = waybill::send_all(inbox, sized, exact, now, transmit);
    //! [exact]

    // The key with the letter that fits nowhere stops there; the others go on.
    CHECK(refusals == 0);
    CHECK(report.accepted == arrived);
    CHECK(arrived == 10 + 90 + 400 + 1'000);  // by the digits of their numbers
    CHECK(report.not_accepted == 2'000 - arrived);
}

}  // namespace
}  // namespace readme_levels
