// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/ext/json/batch.hpp>
#include <waybill/ext/json/consume.hpp>
#include <waybill/ext/json/wire.hpp>

namespace json_write_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;
using nlohmann::json;

template <class T>
std::string written(const T& value)
{
    return json(value).dump();
}

TEST_CASE("reports")
{
    send_report r{.taken = 3, .sends = 2, .refusals = 1, .unaccepted_bytes = 7};
    r.add({{0, 2}, item_outcome::accepted});
    r.add({{2, 1}, item_outcome::too_large, fault_kind::none, 120, 100});
    CHECK(written(r) ==
          R"({"accepted":2,"maybe_twice":0,"not_accepted":1,"outcomes":[{"count":2,"first":0,)"
          R"("outcome":"accepted"},{"bytes":120,"count":1,"first":2,"limit":100,)"
          R"("outcome":"too_large"}],"overtook":0,"refusals":1,"sends":2,"stopped":false,)"
          R"("taken":3,"unaccepted_bytes":7})");
    r.waiting = steady_time::at(5s);
    CHECK(json(r)["waiting_until_steady_ns"] == 5'000'000'000);
    CHECK(written(
              item_report{{1, 1}, item_outcome::failed, fault_kind::transient, 0, 0, 0, "busy"}) ==
          R"({"count":1,"first":1,"kind":"transient","outcome":"failed","text":"busy"})");
    CHECK(written(item_report{.items = {4, 1}, .overtook = true}) ==
          R"({"count":1,"first":4,"outcome":"accepted","overtook":true})");

    CHECK(written(batch_report{
              .outcome = batch_outcome::committed, .reached = position{18, "x"}, .handled = 9}) ==
          R"({"dead_lettered":0,"handled":9,"outcome":"committed","reached":{"offset":"x",)"
          R"("sequence":18},"repeated":0,"skipped":0})");
    CHECK(written(batch_report{.outcome = batch_outcome::redeliver,
                               .reason = infrastructure("disk full")}) ==
          R"({"dead_lettered":0,"handled":0,"outcome":"redeliver",)"
          R"("reason":{"kind":"infrastructure","text":"disk full"},"repeated":0,"skipped":0})");
    CHECK(
        written(assignment{{"a", "b", "c"}, position{1, ""}, 2}) ==
        R"({"epoch":2,"from":{"offset":"","sequence":1},"key":{"group":"b","partition":"c","source":"a"}})");
    CHECK(written(assignment{}) == R"({"epoch":0,"key":{"group":"","partition":"","source":""}})");
}

TEST_CASE("errors")
{
    CHECK(written(permanent("no")) == R"({"kind":"permanent","text":"no"})");
    CHECK(written(json_error::code::newer) == R"("newer")");
    CHECK(written(fault{}) == R"({"kind":"none"})");
    CHECK(written(*validate(batch_limits{.bytes = 1, .envelope = 2})) ==
          R"({"bound":1,"field":"limits.envelope","rule":"must be less than bytes","value":2})");
    CHECK(
        written(read_json<batch_limits>(json{{"bites", 1}}).error()) ==
        R"({"expected":"one of the fields bytes, items, single, envelope, answers_per_entry","found":"1",)"
        R"("kind":"unknown_field","path":"/bites"})");
}

TEST_CASE("actions")
{
    batch_sender s{{.limit = {.bytes = 100}}};
    s.on(batch_sender::queued{30}, {});
    s.on(batch_sender::flushed{}, {});
    CHECK(
        written(s.next({})) ==
        R"({"act":"send","attempt":0,"bytes":30,"closed":"end","items":[{"count":1,"first":0}]})");
    s.on(batch_sender::accepted{0, {}}, {});
    CHECK(written(s.next({})) == R"({"act":"report","count":1,"first":0,"outcome":"accepted"})");
    CHECK(written(wait_until{steady_time::at(1ns)}) == R"({"act":"wait_until",)"
                                                       R"("until_steady_ns":1})");
    CHECK(written(idle{}) == R"({"act":"idle"})");
    CHECK(written(decide({}, 9, fault_kind::transient, 0, {})) ==
          R"({"act":"give_up","reason":"transient"})");
    CHECK(written(retry_action(retry_now{})) == R"({"act":"retry_now"})");
    CHECK(written(retry_loop({}, {}).next({})) == R"({"act":"call"})");
    CHECK(written(retry_loop::done{}) == R"({"act":"done"})");
    CHECK(written(call_report{
              .outcome = retry_loop::retry_outcome::succeeded, .tries = 2, .elapsed = 3s}) ==
          R"({"elapsed":"3s","outcome":"succeeded","tries":2})");
    CHECK(written(
              call_report{.reason = transient("no"), .tries = 1, .waiting = steady_time::at(1s)}) ==
          R"({"elapsed":"0s","outcome":"open","reason":{"kind":"transient","text":"no"},)"
          R"("tries":1,"waiting_until_steady_ns":1000000000})");

    CHECK(written(batch_machine(1, {}, {5, ""}, 1).next()) == R"({"act":"begin"})");
    CHECK(written(batch_machine::load_crash_record{}) == R"({"act":"load_crash_record"})");
    CHECK(written(batch_machine::shorten{1}) == R"({"act":"shorten","events":1})");
    CHECK(written(batch_machine::store_crash_record{crash_record{10, 14, 4, 1, 7, 3}}) ==
          R"({"act":"store_crash_record","deaths":1,"epoch":3,"from":10,"incarnation":7,)"
          R"("suspects":4,"to":14})");
    CHECK(written(batch_machine::clear_crash_record{}) == R"({"act":"clear_crash_record"})");
    CHECK(written(batch_machine::decide_all_failed{2}) == R"({"act":"decide_all_failed",)"
                                                          R"("failed":2})");
    CHECK(written(batch_machine::savepoint{}) == R"({"act":"savepoint"})");
    CHECK(written(batch_machine::handle{3}) == R"({"act":"handle","event":3})");
    CHECK(written(batch_machine::release_savepoint{}) == R"({"act":"release_savepoint"})");
    CHECK(written(batch_machine::rollback_to_savepoint{}) == R"({"act":"rollback_to_savepoint"})");
    CHECK(written(batch_machine::write_dead_letter{3, fault_kind::permanent, 2}) ==
          R"({"act":"write_dead_letter","event":3,"kind":"permanent","tries":2})");
    CHECK(written(batch_machine::advance{}) == R"({"act":"advance"})");
    CHECK(written(batch_machine::commit{}) == R"({"act":"commit"})");
    CHECK(written(batch_machine::rollback{}) == R"({"act":"rollback"})");
    CHECK(written(batch_machine::check_commit{}) == R"({"act":"check_commit"})");
}

TEST_CASE("batches are written by their numbers, without their items")
{
    struct item {
        std::uint64_t bytes = 0;
        bool operator==(const item&) const = default;
    };
    const batch_limits l{.bytes = 10, .envelope = 1};
    const std::vector<item> all{{4}, {11}};
    CHECK(written(*first_too_large(all, l, &item::bytes)) ==
          R"({"bytes":12,"envelope":1,"index":1,"item_bytes":11,"limit":10})");
    CHECK(written(*first_too_large(all, {.single = 3}, &item::bytes)) ==
          R"({"bytes":4,"envelope":0,"index":0,"item_bytes":4,"limit":3,"single":true})");
    CHECK(written(batch_limits::oversized_item{.bytes = detail::highest_size,
                                               .item_bytes = detail::highest_size}) ==
          R"({"bytes":"unlimited","envelope":0,"index":0,"item_bytes":"unlimited","limit":0})");

    CHECK(written(front_chunk(all.begin(), all.end(), l, &item::bytes)) ==
          R"({"bytes":5,"closed":"bytes","count":1,"fits":true})");
    CHECK(written(owned_chunks(all, l, &item::bytes)[1]) ==
          R"({"bytes":12,"closed":"bytes","count":1,"fits":false})");
    const std::vector<std::uint64_t> sizes{2, 3, 20};
    CHECK(written(owned_chunks(sizes, l)) ==
          R"([{"bytes":6,"closed":"bytes","count":2,"fits":true},)"
          R"({"bytes":21,"closed":"bytes","count":1,"fits":false}])");
    CHECK(written(pack(sizes, l)) ==
          R"({"batches":[{"bytes":6,"closed":"end","items":[0,1]}],"too_large":[2]})");
    CHECK(written(closed_batch<item>{
              {{4}, {5}}, 9, batch_close_reason::deadline, steady_time::at(5ns)}) ==
          R"({"bytes":9,"closed":"deadline","count":2,"opened_steady_ns":5})");
    CHECK(written(keyed_batch<std::string, item>{"k", {{4}}, 4, batch_close_reason::key, {}}) ==
          R"({"bytes":4,"closed":"key","count":1,"key":"k","opened_steady_ns":0})");
    CHECK(json(keyed_batch<std::string_view, item>{
              "\xff", {}, 0, batch_close_reason::end, {}})["key_base64"] == "/w==");
    CHECK(json(keyed_batch<int, item>{7, {}, 0, batch_close_reason::end, {}})["key"] == 7);
    CHECK(json(keyed_batch<partition_key, item>{
              {"a", "b", "c"}, {}, 0, batch_close_reason::end, {}})["key"]["partition"] == "c");
    CHECK_FALSE(json(keyed_batch<item, item>{}).contains("key"));
}

TEST_CASE("limits, error codes and refusals of services")
{
    const json nats = wire::nats_default();
    CHECK(nats["name"] == "nats_default");
    CHECK(nats["evidence"] == "measured");
    CHECK(nats["as_of"] == "2026-11");
    CHECK(nats["source"] == "https://docs.nats.io/reference/config/max_payload");
    CHECK(nats["note"] == wire::nats_default().note);
    CHECK(nats.size() == 6);
    CHECK(read_json<batch_limits>(nats["highest"]) ==
          result<batch_limits, json_error>(wire::nats_default().highest));
    CHECK(json(wire::services).size() == wire::services.size());

    const wire::error_code mine[] = {{"Busy", wire::answer::throttled},
                                     {"Gone", wire::answer::permanent, -1}};
    CHECK(
        written(wire::error_table{"mine", mine, "2026-11", "a page"}) ==
        R"({"as_of":"2026-11","codes":[{"code":"Busy","means":"throttled"},)"
        R"({"code":"Gone","means":"permanent","number":-1}],"service":"mine","source":"a page"})");
    CHECK(written(wire::refusal_numbers{300, {}, wire::extent::item}) ==
          R"({"actual":300,"of":"item"})");
    CHECK(written(wire::refusal_numbers{{}, 256}) == R"({"limit":256,"of":"request"})");
    CHECK(written(wire::dialect::grpc) == R"("grpc")");
    CHECK(detail::named<wire::answer>("too_many") == wire::answer::too_many);
}

// Only read_json reads enums: nlohmann's own function would accept any number.
template <class Json, class T>
concept gets = requires(const Json& j) { j.template get<T>(); };
static_assert(gets<json, int>);
static_assert(!gets<json, backoff::jitter>);
static_assert(!gets<nlohmann::ordered_json, backoff::jitter>);

TEST_CASE("enums are written by name, and names are read back")
{
    CHECK(written(batch_close_reason::deadline) == R"("deadline")");
    CHECK(written(add_result::full) == R"("full")");
    CHECK(written(event_result::invalid) == R"("invalid")");
    CHECK(written(commit_outcome::unknown) == R"("unknown")");
    CHECK(written(advance_outcome::conflict) == R"("conflict")");
    CHECK(written(batch_outcome::ownership_lost) == R"("ownership_lost")");
    CHECK(written(item_outcome::unsent) == R"("unsent")");
    CHECK(written(retry_loop::retry_outcome::budget) == R"("budget")");
    CHECK(detail::named<retry_loop::retry_outcome>("not_retriable") ==
          retry_loop::retry_outcome::not_retriable);
    CHECK(nlohmann::ordered_json(retry_loop::retry_outcome::budget).dump() == R"("budget")");
    CHECK(written(std::vector{backoff::jitter::full, backoff::jitter::none}) ==
          R"(["full","none"])");
    CHECK(detail::named<fault_kind>("ownership_lost") == fault_kind::ownership_lost);
    CHECK(detail::named<batch_policy::when_exhausted>("dead_letter") ==
          batch_policy::when_exhausted::dead_letter);
    CHECK_FALSE(detail::named<backoff::jitter>("?"));
    CHECK_FALSE(detail::named<batch_close_reason>("unknown"));
    CHECK_FALSE(detail::named<backoff::jitter>(""));
    CHECK(detail::names<backoff::jitter>() == "none, equal, full, decorrelated or around");
    CHECK(detail::names<send_policy::when_unknown>() == "repeat or hand_back");
}

TEST_CASE("text that is not UTF-8 is written as base64")
{
    const std::string wild("\xff\x00\x80", 3);
    dead_letter d{.key = {wild, "b", "c"}, .at = {1, wild}, .reason = wild, .body = wild};
    const json j = d;
    CHECK_NOTHROW(static_cast<void>(j.dump()));
    CHECK(j["body_base64"] == "/wCA");
    CHECK_FALSE(j.contains("body"));
    CHECK(j["key"]["source_base64"] == "/wCA");
    CHECK(written(permanent(wild)) == R"({"kind":"permanent","text_base64":"/wCA"})");
    CHECK(read_json<dead_letter>(j) == result<dead_letter, json_error>(d));
}

TEST_CASE("is_utf8 accepts exactly the text that the JSON library writes")
{
    const auto writable = [](const std::string& s) {
        try {
            return !json(s).dump().empty();
        } catch (const json::exception&) {
            return false;
        }
    };
    const int edges[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0,
                         0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
                         0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF, 0x41};
    std::size_t valid = 0;
    std::size_t different = 0;
    const auto look = [&](const std::string& s) {
        const bool ours = is_utf8(s);
        if (ours) ++valid;
        if (ours != writable(s)) ++different;
    };
    for (const int a : edges) {
        const std::string one(1, static_cast<char>(a));
        look(one);
        for (const int b : edges) {
            const std::string two = one + static_cast<char>(b);
            look(two);
            if (a < 0xE0) continue;
            for (const int c : edges) {
                const std::string three = two + static_cast<char>(c);
                look(three);
                if (a < 0xF0) continue;
                for (const int e : edges) look(three + static_cast<char>(e));
            }
        }
    }
    CHECK(different == 0);
    CHECK(valid > 200);
}

TEST_CASE("base64 round-trips, and non-canonical text is refused")
{
    CHECK(detail::base64("") == "");
    CHECK(detail::base64("f") == "Zg==");
    CHECK(detail::base64("fo") == "Zm8=");
    CHECK(detail::base64("foo") == "Zm9v");
    CHECK(detail::base64("foob") == "Zm9vYg==");
    std::string all;
    for (int i = 0; i < 256; ++i) {
        all += static_cast<char>(i);
        CHECK(detail::bytes_in_base64(detail::base64(all)) == all);
    }
    for (const std::string_view bad : {"Z", "Zg", "Zg=", "Zg===", "====", "=Zg=", "Zh==", "Zm9=",
                                       "Z=g=", "Zg==Zg==", "Zm9v\n", "Zm 9", "Zm-_"}) {
        CAPTURE(bad);
        CHECK_FALSE(detail::bytes_in_base64(bad));
    }
}

}  // namespace
}  // namespace json_write_test
