// SPDX-License-Identifier: MIT

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/testing/memory_pipeline_dead_letters.hpp>
#include <waybill/testing/pipeline_dead_letter_conformance.hpp>

namespace pipeline_dead_letter_conformance_test {
namespace {

using waybill::fault;
using waybill::pipeline_dead_letter;
using waybill::testing::memory_pipeline_dead_letters;
using waybill::testing::pipeline_dead_letter_conformance;
using letters = std::span<const pipeline_dead_letter>;

// A table that is subtly wrong.
enum class wrong : std::uint8_t {
    nothing,
    upsert_replaces,             // without `merged`
    upsert_lets_broker_replace,  // a dead letter of the broker replaces one of a pipeline
    upsert_inserts_only,         // a second write changes nothing
    mark_inserts,
    mark_lowers,
    mark_writes_all,  // the whole dead letter
    mark_only_first,  // of several
    mark_forgets_total,
    remove_by_sequence,  // of any session
    remove_by_session,   // of any sequence
    remove_fails_if_missing,
    remove_stops_if_missing,
    remove_ignores,
    list_first_page,
    list_fails_if_empty,
    session_ignores_case,
    sequence_of_32_bits,
    text_ends_at_nul,
    times_in_milliseconds,
    text_cut_at_200,
    body_cut_at_65535,
    marks_50,
    removes_50,
    upsert_twice_fails,
    second_connection_caches,
};

struct rows {
    std::map<std::pair<std::string, std::uint64_t>, pipeline_dead_letter> all;
};

class table {
public:
    table(wrong w, rows& r) : wrong_(w), rows_(&r.all) {}

    waybill::result<std::vector<pipeline_dead_letter>> list()
    {
        std::vector<pipeline_dead_letter> found;
        for (const auto& [key, l] : wrong_ == wrong::second_connection_caches ? cached() : *rows_) {
            if (wrong_ == wrong::list_first_page && found.size() == 1'000) break;
            found.push_back(l);
        }
        if (wrong_ == wrong::list_fails_if_empty && found.empty())
            return waybill::unexpected(waybill::infrastructure("not found"));
        return found;
    }
    fault upsert(const pipeline_dead_letter& written)
    {
        pipeline_dead_letter l = written;
        if (wrong_ == wrong::text_ends_at_nul) l.body = l.body.c_str();
        if (wrong_ == wrong::text_cut_at_200) l.text = l.text.substr(0, 200);
        if (wrong_ == wrong::body_cut_at_65535) l.body = l.body.substr(0, 65'535);
        if (wrong_ == wrong::times_in_milliseconds) {
            const std::int64_t ns = l.enqueued.since_epoch().count();
            l.enqueued = waybill::wall_time::at(waybill::duration::milliseconds(ns / 1'000'000));
        }
        const auto [row, inserted] = rows_->try_emplace(key_of(l), l);
        const bool of_broker = l.reason == waybill::dead_letter_reason::broker;
        if (!inserted && wrong_ == wrong::upsert_twice_fails && row->second == l && ++same_ > 1)
            return waybill::permanent("the row exists");
        if (inserted || wrong_ == wrong::upsert_inserts_only) return {};
        if (wrong_ == wrong::upsert_replaces) row->second = l;
        else if (wrong_ == wrong::upsert_lets_broker_replace && of_broker) row->second = l;
        else row->second = pipeline_dead_letter::merged(row->second, l);
        return {};
    }
    fault mark(letters all)
    {
        if (wrong_ == wrong::marks_50 && all.size() > 50) all = all.first(50);
        for (const pipeline_dead_letter& l : all) {
            const auto row = rows_->find(key_of(l));
            if (row == rows_->end()) {
                if (wrong_ == wrong::mark_inserts) rows_->emplace(key_of(l), l);
                continue;
            }
            pipeline_dead_letter& stored = row->second;
            const std::uint64_t total = stored.properties.total;
            if (wrong_ == wrong::mark_lowers) stored.last_redriven_step = 0;
            if (wrong_ == wrong::mark_writes_all &&
                l.last_redriven_step >= stored.last_redriven_step)
                stored = l;
            stored = pipeline_dead_letter::with_mark(stored, l);
            if (wrong_ == wrong::mark_forgets_total) stored.properties.total = total;
            if (wrong_ == wrong::mark_only_first) break;
        }
        return {};
    }
    fault remove(letters all)
    {
        if (wrong_ == wrong::removes_50 && all.size() > 50) all = all.first(50);
        for (const pipeline_dead_letter& l : all) {
            if (wrong_ == wrong::remove_ignores) continue;
            const bool missing = !rows_->contains(key_of(l));
            if (missing && wrong_ == wrong::remove_fails_if_missing)
                return waybill::permanent("not found");
            if (missing && wrong_ == wrong::remove_stops_if_missing) return {};
            const auto key = key_of(l);
            if (wrong_ == wrong::remove_by_sequence)
                std::erase_if(*rows_, [&](const auto& r) { return r.first.second == key.second; });
            else if (wrong_ == wrong::remove_by_session)
                std::erase_if(*rows_, [&](const auto& r) { return r.first.first == key.first; });
            else rows_->erase(key);
        }
        return {};
    }

private:
    std::pair<std::string, std::uint64_t> key_of(const pipeline_dead_letter& l) const
    {
        std::string session = l.properties.session;
        if (wrong_ == wrong::session_ignores_case) {
            for (char& c : session) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        }
        const bool short_number = wrong_ == wrong::sequence_of_32_bits;
        return {session, short_number ? static_cast<std::uint32_t>(l.sequence) : l.sequence};
    }
    const std::map<std::pair<std::string, std::uint64_t>, pipeline_dead_letter>& cached()
    {
        if (!has_cache_) cache_ = *rows_;
        has_cache_ = !cache_.empty();
        return cache_;
    }

    wrong wrong_;
    std::map<std::pair<std::string, std::uint64_t>, pipeline_dead_letter>* rows_;
    std::map<std::pair<std::string, std::uint64_t>, pipeline_dead_letter> cache_;
    bool has_cache_ = false;
    int same_ = 0;
};

waybill::testing::conformance_report report_of(wrong w)
{
    rows r;
    const auto make = [&] {
        r.all.clear();
        return table(w, r);
    };
    if (w != wrong::nothing && w != wrong::second_connection_caches)
        return pipeline_dead_letter_conformance(make);
    return pipeline_dead_letter_conformance(make, [&](table&) { return table(w, r); });
}

TEST_CASE("pipeline_dead_letter_conformance: correct tables conform")
{
    const auto report = report_of(wrong::nothing);
    CHECK(report.broken == std::vector<std::string>{});
    CHECK(report.untested.empty());
    const auto memory =
        pipeline_dead_letter_conformance([] { return memory_pipeline_dead_letters(); });
    CHECK(memory.broken == std::vector<std::string>{});
    CHECK(memory.untested.size() == 2);
}

TEST_CASE("pipeline_dead_letter_conformance: each faulty table is detected")
{
    for (int w = 1; w <= static_cast<int>(wrong::second_connection_caches); ++w) {
        CAPTURE(w);
        CHECK(!report_of(static_cast<wrong>(w)).broken.empty());
    }
}

TEST_CASE("pipeline_dead_letter_conformance: names the promise that a table breaks")
{
    const auto broken = [](wrong w) { return report_of(w).broken.front(); };
    const std::string changed =
        "upsert: bodies and states of all bytes and of 0, 1, 255, 256, 4,097 and 70,000 bytes, and "
        "texts of up to 4,097 bytes, are stored unchanged";
    CHECK(broken(wrong::text_cut_at_200) == changed);
    CHECK(broken(wrong::body_cut_at_65535) == changed);
    CHECK(broken(wrong::marks_50) == "mark: marks any number of dead letters");
    CHECK(broken(wrong::removes_50) == "remove: removes any number of dead letters");
    CHECK(broken(wrong::upsert_twice_fails) ==
          "upsert: succeeds if the table can be reached; if each call is made twice");
}

struct unreachable {
    waybill::fault_kind kind = waybill::fault_kind::infrastructure;
    bool lists = false;
    waybill::result<std::vector<pipeline_dead_letter>> list()
    {
        if (lists) return std::vector<pipeline_dead_letter>();
        return waybill::unexpected(fault{kind, "down"});
    }
    fault upsert(const pipeline_dead_letter&) { return {kind, "down"}; }
    fault mark(letters) { return {kind, "down"}; }
    fault remove(letters) { return {kind, "down"}; }
};

TEST_CASE("pipeline_dead_letter_outage_conformance: an outage is an error that permits a retry")
{
    using waybill::testing::pipeline_dead_letter_outage_conformance;
    unreachable down;
    CHECK(pipeline_dead_letter_outage_conformance(down).broken.empty());
    unreachable empty{.lists = true};
    CHECK(pipeline_dead_letter_outage_conformance(empty).broken.size() == 1);
    unreachable permanent{.kind = waybill::fault_kind::permanent};
    CHECK(pipeline_dead_letter_outage_conformance(permanent).broken.size() == 4);
    unreachable silent{
        .kind = waybill::fault_kind::none};  // in the result of list it is infrastructure
    CHECK(pipeline_dead_letter_outage_conformance(silent).broken.size() == 3);
}

}  // namespace
}  // namespace pipeline_dead_letter_conformance_test
