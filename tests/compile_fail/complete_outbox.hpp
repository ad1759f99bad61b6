// SPDX-License-Identifier: MIT
//
// An outbox store, of which each test replaces one call.

#ifndef WAYBILL_TESTS_COMPLETE_OUTBOX_HPP
#define WAYBILL_TESTS_COMPLETE_OUTBOX_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <waybill/batch.hpp>
#include <waybill/queue/relay.hpp>
#include <waybill/testing/manual_environment.hpp>

struct outbox {
    struct message {
        std::string key, id, body;
    };
    struct claimed_rows {
        std::vector<message> messages;
        bool pending;
    };
    struct transaction {};
    using positions = std::vector<std::uint64_t>;
    using done = waybill::result<void>;

    done add(transaction&, const message&);
    waybill::result<claimed_rows> claim(std::uint64_t, waybill::wall_time, waybill::wall_time);
    done hold(const claimed_rows&, const positions&, waybill::wall_time);
    done mark_sent(const claimed_rows&, const positions&);
    done mark_dead(const claimed_rows&, std::uint64_t, const std::string&, bool);
};

inline constexpr auto accept = [](const auto&) { return waybill::batch_sender::accepted{}; };

#endif  // WAYBILL_TESTS_COMPLETE_OUTBOX_HPP
