// SPDX-License-Identifier: MIT
//
// Deferred messages against a model that reads all entries each time, for any calls and clocks.
// Their state is equal after it was written and read.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>

#include <waybill/core/crc32c.hpp>
#include <waybill/queue/deferred_messages.hpp>
#include <waybill/queue/deferred_messages_bytes.hpp>

namespace deferral_book_prop {
namespace {

using namespace waybill;
using tests_support::dice;

constexpr int episodes = tests_support::brief ? 300 : 4'000;

class naive {
public:
    explicit naive(const deferral_options& o) : options_(o) {}

    deferred_messages::defer_result defer(const deferred& d)
    {
        const auto i = all_.find(d.sequence);
        if (i == all_.end() && all_.size() >= options_.max_messages)
            return deferred_messages::defer_result::full;
        const bool known = i != all_.end();
        all_[d.sequence] = {d, 0, false, false, {}};
        return known ? deferred_messages::defer_result::replaced
                     : deferred_messages::defer_result::added;
    }

    std::vector<deferred_messages::taken> take(wall_time now, steady_time at, std::uint64_t most)
    {
        for (auto& [n, e] : all_) {
            if (!e.held || e.until > at) continue;
            e.held = false;
            e.again = true;
        }
        std::vector<deferred_messages::taken> out;
        while (out.size() < most) {
            entry* best = nullptr;
            for (auto& [n, e] : all_) {
                if (e.held || e.what.due > now || behind(e)) continue;
                if (!best || e.what.due < best->what.due) best = &e;
            }
            if (!best) break;
            best->held = true;
            best->until = at + options_.hold;
            best->ticket = ++tickets_;
            out.push_back({best->what, best->ticket, best->again});
        }
        return out;
    }

    event_result settled(std::uint64_t n)
    {
        return all_.erase(n) != 0 ? event_result::applied : event_result::stale;
    }

    event_result settled(std::uint64_t n, std::uint64_t ticket)
    {
        const auto i = all_.find(n);
        if (i == all_.end() || !i->second.held || i->second.ticket != ticket)
            return event_result::stale;
        return settled(n);
    }

    event_result give_back(std::uint64_t n, std::uint64_t ticket)
    {
        const auto i = all_.find(n);
        if (i == all_.end() || !i->second.held || i->second.ticket != ticket)
            return event_result::stale;
        i->second.held = false;
        i->second.again = false;
        return event_result::applied;
    }

    event_result hold_on(std::uint64_t n, std::uint64_t ticket, steady_time at)
    {
        const auto i = all_.find(n);
        if (i == all_.end() || !i->second.held || i->second.ticket != ticket)
            return event_result::stale;
        i->second.until = at + options_.hold;
        return event_result::applied;
    }

    void check(const deferred_messages& b) const
    {
        std::optional<wall_time> next;
        std::optional<steady_time> release;
        std::uint64_t held = 0;
        for (const auto& [n, e] : all_) {
            REQUIRE(b.find(n) != nullptr);
            REQUIRE(*b.find(n) == e.what);
            REQUIRE(b.is_in_hand(n) == e.held);
            if (e.held) {
                ++held;
                if (!release || e.until < *release) release = e.until;
            } else if (!behind(e) && (!next || e.what.due < *next)) {
                next = e.what.due;
            }
        }
        REQUIRE(b.size() == all_.size());
        REQUIRE(b.in_hand() == held);
        REQUIRE(b.next_due() == next);
        REQUIRE(b.next_release() == release);
    }

private:
    struct entry {
        deferred what{};
        std::uint64_t ticket = 0;
        bool held = false;
        bool again = false;  // after the end of its hold
        steady_time until{};
    };

    // True if its session has an earlier message, or one in progress.
    [[nodiscard]] bool behind(const entry& e) const
    {
        if (!options_.session_order || e.what.session.empty()) return false;
        for (const auto& [n, other] : all_) {
            if (other.what.session != e.what.session || n == e.what.sequence) continue;
            if (n < e.what.sequence || other.held) return true;
        }
        return false;
    }

    deferral_options options_;
    std::map<std::uint64_t, entry> all_;
    std::uint64_t tickets_ = 0;
};

wall_time any_wall(dice& roll)
{
    if (roll.one_in(40)) return roll.one_in(2) ? wall_time::highest() : wall_time::lowest();
    return wall_time::at(duration::seconds(roll.below(30)));
}

steady_time any_steady(dice& roll)
{
    if (roll.one_in(60)) return roll.one_in(2) ? steady_time::highest() : steady_time::lowest();
    return steady_time::at(duration::seconds(roll.below(30)));
}

deferred any_entry(dice& roll, std::uint64_t numbers)
{
    constexpr const char* sessions[] = {"", "", "a", "b", "a session with quite a long name"};
    deferred d{.sequence = roll(numbers), .due = any_wall(roll), .session = roll.any_of(sessions)};
    if (roll.one_in(4)) d.sequence += roll(3) << 48U;
    if (roll.one_in(90)) d.sequence = UINT64_MAX;
    d.attempts = static_cast<std::uint32_t>(roll.one_in(50) ? UINT32_MAX : roll(5));
    if (roll.one_in(3)) d.since = any_wall(roll);
    for (std::uint64_t n = roll(6); n > 1; --n) d.id += static_cast<char>(roll(256));
    return d;
}

std::vector<deferred_messages::taken> by_partition(const std::vector<deferred_messages::taken>& all)
{
    std::vector<deferred_messages::taken> out;
    std::vector<bool> done(all.size());
    for (std::size_t i = 0; i != all.size(); ++i) {
        for (std::size_t k = i; k != all.size(); ++k) {
            const bool same = all[k].entry.sequence >> 48U == all[i].entry.sequence >> 48U;
            if (!same || done[k]) continue;
            done[k] = true;
            out.push_back(all[k]);
        }
    }
    return out;
}

}  // namespace

TEST_CASE("deferred_messages: results equal those of a model that reads all entries")
{
    dice roll(20'240'229);
    for (int episode = 0; episode != episodes; ++episode) {
        deferral_options o{.hold = duration::seconds(1 + roll.below(12)),
                           .session_order = !roll.one_in(4)};
        if (roll.one_in(3)) o.max_messages = 1 + roll(8);
        deferred_messages tested(o);
        naive model(o);
        std::vector<deferred_messages::taken> out;
        const std::uint64_t numbers = 1 + roll(12);
        for (std::uint64_t step = 0; step != 60; ++step) {
            const std::uint64_t n = roll(numbers);
            switch (roll(9)) {
                case 8: {
                    if (out.empty()) break;
                    const deferred_messages::taken& h = out[roll(out.size())];
                    const std::uint64_t s = h.entry.sequence;
                    REQUIRE(tested.settled(s, h.ticket) == model.settled(s, h.ticket));
                    break;
                }
                case 0:
                case 1:
                case 2: {
                    const deferred d = any_entry(roll, numbers);
                    REQUIRE(tested.defer(d) == model.defer(d));
                    break;
                }
                case 3: REQUIRE(tested.settled(n) == model.settled(n)); break;
                case 4: {
                    if (out.empty()) break;
                    const deferred_messages::taken& h = out[roll(out.size())];
                    const std::uint64_t s = h.entry.sequence;
                    REQUIRE(tested.give_back(s, h.ticket) == model.give_back(s, h.ticket));
                    break;
                }
                case 5: {
                    if (out.empty()) break;
                    const deferred_messages::taken& h = out[roll(out.size())];
                    const steady_time at = any_steady(roll);
                    const std::uint64_t s = h.entry.sequence;
                    REQUIRE(tested.hold_on(s, h.ticket, at) == model.hold_on(s, h.ticket, at));
                    break;
                }
                default: {
                    const wall_time now = any_wall(roll);
                    const steady_time at = any_steady(roll);
                    const std::uint64_t most = roll(5);
                    const bool group = roll.one_in(3);
                    auto some = model.take(now, at, most);
                    if (group) some = by_partition(some);
                    const auto how = group ? deferral_options::hand_out_order::group_by_partition
                                           : deferral_options::hand_out_order::by_due;
                    REQUIRE(tested.take(now, at, most, how) == some);
                    out.insert(out.end(), some.begin(), some.end());
                    break;
                }
            }
            model.check(tested);
            if (roll.one_in(9)) {
                const deferred_messages copy = tested;  // equal to the original
                tested = copy;
            }
        }
    }
}

namespace {

/// A process with a row for each entry, which may end between any two calls to the queue or the rows.
struct process_with_rows {
    explicit process_with_rows(std::uint64_t seed) : roll(seed) {}

    /// False if the process ends before the call.
    template <class Call>
    bool makes(Call call)
    {
        if (roll.one_in(8)) return false;
        call();
        return true;
    }

    bool keep(const deferred& d)
    {
        tested.defer(d);
        return makes([&] { rows[d.sequence] = save(d); });
    }

    bool step()
    {
        if (roll.one_in(2)) {
            const deferred d{.sequence = roll(20), .due = any_wall(roll), .id = "order"};
            return keep(d) && makes([&] { at_queue.insert(d.sequence); });
        }
        for (const auto& h : tested.take(wall_time::at(duration::seconds(15)), at, 2)) {
            const std::uint64_t n = h.entry.sequence;
            if (roll.one_in(3)) {
                deferred later = h.entry;
                ++later.attempts;
                if (!keep(later)) return false;
            } else {
                if (!makes([&] { at_queue.erase(n); })) return false;
                tested.settled(n, h.ticket);
                if (!makes([&] { rows.erase(n); })) return false;
            }
        }
        return true;
    }

    void start_again()
    {
        tested = deferred_messages();
        for (const auto& [n, row] : rows) {
            const auto d = load<deferred>(row);
            REQUIRE(d.has_value());
            tested.restore(*d);
        }
    }

    dice roll;
    deferred_messages tested{};
    std::map<std::uint64_t, std::string> rows{};
    std::set<std::uint64_t> at_queue{};
    steady_time at{};
};

}  // namespace

TEST_CASE("deferred_messages: with a row for each entry, no end of the process loses a message")
{
    std::uint64_t ends = 0;
    for (std::uint64_t seed = 0; seed != 200; ++seed) {
        process_with_rows p(seed);
        for (int n = 0; n != 100; ++n) {
            if (p.step()) continue;
            ++ends;
            p.start_again();
            for (const std::uint64_t n_deferred : p.at_queue)
                REQUIRE(p.tested.find(n_deferred) != nullptr);
        }
    }
    CHECK(ends > 1'000);
}

TEST_CASE("deferred_messages: loaded equals saved; changed bytes are refused, or equal when saved")
{
    dice roll(20'260'101);
    for (int episode = 0; episode != episodes; ++episode) {
        deferred_messages tested;
        for (std::uint64_t n = roll(12); n != 0; --n) tested.defer(any_entry(roll, 1'000));
        std::string bytes = save(tested);
        const auto again = load<deferred_messages>(bytes, {});
        REQUIRE(again.has_value());
        REQUIRE(*again == tested);
        const std::vector<deferred_messages::taken> some = tested.take(any_wall(roll), {}, roll(5));
        REQUIRE((*again == tested) == some.empty());
        for (const deferred_messages::taken& h : some) {
            REQUIRE(tested.give_back(h.entry.sequence, h.ticket) == event_result::applied);
        }
        REQUIRE(*again == tested);
        for (int changes = 0; changes != 20; ++changes) {
            std::string other = bytes.substr(0, bytes.size() - 4);
            const std::size_t at = 4 + roll(other.size() - 3);
            if (roll.one_in(3)) other.insert(at, 1, static_cast<char>(roll(256)));
            else if (at != other.size() && roll.one_in(2)) other.erase(at, 1);
            else if (at != other.size()) other[at] = static_cast<char>(roll(256));
            std::uint32_t sum = crc32c(other);
            for (int n = 0; n != 4; ++n, sum >>= 8U) other += static_cast<char>(sum & 0xFFU);
            const auto read = load<deferred_messages>(other, {});
            if (read) REQUIRE(save(*read) == other);
        }
    }
}

}  // namespace deferral_book_prop
