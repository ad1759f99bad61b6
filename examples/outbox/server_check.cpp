// SPDX-License-Identifier: MIT
//
// The independent check of server_mode. It uses neither the outbox nor the publisher: it reads the
// table of orders, and each message of the stream by its sequence number.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nats/nats.h>

#include "../engines/nats_client.hpp"
#include "../engines/postgres.hpp"
#include "../support/program.hpp"
#include "server_mode.hpp"

namespace outbox::servers {

namespace {

using namespace std::chrono_literals;

struct message {
    std::string subject{};
    std::string id{};
    std::string body{};
    std::chrono::nanoseconds at{};  ///< The time of the server.
};

class stream_reader {
public:
    explicit stream_reader(const std::string& urls) : client_(urls, 2s) {}

    /// All messages in the order of the stream.
    [[nodiscard]] std::vector<message> all()
    {
        engines::nats_stream_info info;
        repeat("stream info", [&] {
            return js_GetStreamInfo(engines::out(info), client_.jetstream(), stream, nullptr,
                                    nullptr);
        });
        std::vector<message> found;
        for (std::uint64_t n = info->State.FirstSeq; n != 0 && n <= info->State.LastSeq; ++n) {
            if (auto m = at(n)) found.push_back(*std::move(m));
        }
        if (found.size() != info->State.Msgs) {
            throw support::complaint(
                fmt::format("the stream {} has {} messages, but {} can be read", stream,
                            info->State.Msgs, found.size()));
        }
        return found;
    }

private:
    /// Nothing if there is no message with this number.
    [[nodiscard]] std::optional<message> at(std::uint64_t sequence)
    {
        engines::nats_message m;
        const natsStatus s = repeat("message", [&] {
            return js_GetMsg(engines::out(m), client_.jetstream(), stream, sequence, nullptr,
                             nullptr);
        });
        if (s == NATS_NOT_FOUND) return {};
        const char* id = nullptr;
        if (natsMsgHeader_Get(m.get(), "Nats-Msg-Id", &id) != NATS_OK) id = "";
        return message{
            natsMsg_GetSubject(m.get()),
            id,
            {natsMsg_GetData(m.get()), static_cast<std::size_t>(natsMsg_GetDataLength(m.get()))},
            std::chrono::nanoseconds(natsMsg_GetTime(m.get()))};
    }

    /// A stream without a leader gets one within seconds.
    template <class F>
    natsStatus repeat(std::string_view call, F f)
    {
        const auto deadline = std::chrono::steady_clock::now() + patience;
        for (;;) {
            natsStatus s = client_.ready(2s);
            if (s == NATS_OK) s = f();
            if (s == NATS_OK || s == NATS_NOT_FOUND) return s;
            if (std::chrono::steady_clock::now() > deadline) {
                throw support::complaint(
                    fmt::format("NATS, stream {}: {} failed for {} minutes ({})", stream, call,
                                patience.count(), engines::nats_text(s)));
            }
            std::this_thread::sleep_for(100ms);
        }
    }

    engines::nats_client client_;
};

/// The content of the tables.
struct stored_order {
    std::string customer{};
    order content{};
};
struct stored_rows {
    std::map<std::uint64_t, stored_order> orders{};
    std::uint64_t unsent = 0;
    std::vector<std::string> dead{};  ///< The reasons.
};

stored_rows rows_of(const std::string& table)
{
    stored_rows found;
    engines::postgres db(table);
    db.outside([&] {
        found = {};
        const engines::rows all = db.exec("SELECT id, customer, item, at FROM orders");
        for (int n = 0; n != all.size(); ++n) {
            found.orders[all.number<std::uint64_t>(n, 0)] = {
                std::string(all.text(n, 1)),
                {std::string(all.text(n, 2)), std::string(all.text(n, 3))}};
        }
        // A row that is marked as sent is removed.
        found.unsent =
            db.exec("SELECT count(*) FROM outbox WHERE dead IS NULL").number<std::uint64_t>(0, 0);
        const engines::rows dead =
            db.exec("SELECT convert_from(dead, 'UTF8') FROM outbox WHERE dead IS NOT NULL");
        for (int n = 0; n != dead.size(); ++n) found.dead.emplace_back(dead.text(n, 0));
    });
    return found;
}

/// The arrivals of the messages of one order.
struct arrivals {
    std::chrono::nanoseconds first{};
    bool again = false;  ///< Within the duplicate window.
};

class inspection {
public:
    explicit inspection(const stored_rows& rows) : rows_(rows)
    {
        for (const auto& [id, o] : rows_.orders) by_message_[message_id(id)] = id;
    }

    void take(const message& m, findings& f)
    {
        const auto known = by_message_.find(m.id);
        if (known == by_message_.end()) {
            ++unknown_;
            return;
        }
        const std::uint64_t id = known->second;
        const stored_order& o = rows_.orders.at(id);
        if (m.subject != fmt::format("{}.{}", stream, o.customer) ||
            m.body != body_of(id, o.content))
            ++different_;
        const auto [found, is_first] = arrived_.try_emplace(id, arrivals{m.at});
        if (is_first) {
            std::uint64_t& last = last_[o.customer];
            if (id < last) ++out_of_order_;
            last = std::max(last, id);
        } else if (m.at - found->second.first < duplicate_window) {
            found->second.again = true;
        } else {
            ++f.late;
        }
    }

    void finish(findings& f) const
    {
        const auto count = [&](std::uint64_t n, std::string_view what) {
            if (n != 0) f.wrong.push_back(fmt::format("{} {}", support::grouped(n), what));
        };
        count(static_cast<std::uint64_t>(std::count_if(
                  arrived_.begin(), arrived_.end(), [](const auto& a) { return a.second.again; })),
              "orders have several messages within the duplicate window");
        count(rows_.orders.size() - arrived_.size(), "orders have no message");
        count(unknown_, "messages have no committed order");
        count(different_, "messages differ from their order");
        count(out_of_order_, "messages arrived after a later one of their customer");
        count(rows_.unsent, "rows of the outbox are not marked as sent");
        for (const std::string& reason : rows_.dead)
            f.wrong.push_back(fmt::format("a row of the outbox is dead: {}", reason));
    }

private:
    const stored_rows& rows_;
    std::map<std::string, std::uint64_t> by_message_{};
    std::map<std::uint64_t, arrivals> arrived_{};
    std::map<std::string, std::uint64_t> last_{};  ///< The highest order of each customer.
    std::uint64_t unknown_ = 0;
    std::uint64_t different_ = 0;
    std::uint64_t out_of_order_ = 0;
};

/// The orders in the table against the input.
void compare(const stored_rows& rows, const std::vector<order>& orders, findings& f)
{
    std::uint64_t lost = 0;
    std::uint64_t undone = 0;
    for (std::uint64_t id = 1; id <= orders.size(); ++id) {
        const bool stored = rows.orders.contains(id);
        if (is_rolled_back(id)) ++f.rolled_back;
        if (is_rolled_back(id) && stored) ++undone;
        if (!is_rolled_back(id) && !stored) ++lost;
    }
    if (lost != 0) f.wrong.push_back(fmt::format("{} orders are lost", support::grouped(lost)));
    if (undone != 0) {
        f.wrong.push_back(fmt::format("{} orders are stored although they were rolled back",
                                      support::grouped(undone)));
    }
    if (rows.orders.size() + f.rolled_back > orders.size() + undone && lost == 0)
        f.wrong.emplace_back("the table has orders that are not in the input");
}

}  // namespace

findings check(const addresses& at, const std::vector<order>& orders)
{
    findings f;
    const stored_rows rows = rows_of(at.table);
    std::set<std::string> customers;
    for (const auto& [id, o] : rows.orders) customers.insert(o.customer);
    f.committed = rows.orders.size();
    f.customers = customers.size();
    compare(rows, orders, f);
    inspection all(rows);
    const std::vector<message> messages = stream_reader(at.to).all();
    f.messages = messages.size();
    for (const message& m : messages) all.take(m, f);
    all.finish(f);
    return f;
}

}  // namespace outbox::servers
