// SPDX-License-Identifier: MIT
//
// A letter of version 1 stays readable: golden/session has one with all fields, and one with the
// fewest.

#include <string>

#include <doctest/doctest.h>
#include <support/golden.hpp>

#include <waybill/ext/json/session.hpp>
#include <waybill/session.hpp>

namespace letter_golden_test {
namespace {

using namespace waybill;

pipeline_dead_letter least()
{
    pipeline_dead_letter l;
    l.properties = {"order-17", 3, 1, 5, false};
    l.sequence = 42;
    l.text = "no template";
    l.tries = 1;
    l.body = "{}";
    l.size = 2;
    l.checksum = 99;
    return l;
}

pipeline_dead_letter whole()
{
    pipeline_dead_letter l = least();
    l.properties = {"order-17~1", 4, 3, 5, true};
    l.origin = {"order-17", 12, 1, 4, "waybill/1 text", "order-17/4"};
    l.message_id = "order-17/00000000000000000012~1";
    l.reason = dead_letter_reason::exhausted;
    l.cause = 42;
    l.resume_at = 4;
    l.independent = true;
    l.last_redriven_step = 4;
    l.enqueued = wall_time::at(duration::seconds(1'709'208'000));
    l.dead_lettered_at = wall_time::at(duration::milliseconds(1'709'208'000'123));
    l.kept = dead_letter_body::summary;
    l.body = std::string("\0\xFF", 2);
    l.state = "{\"paid\":true}";
    l.state_omitted = true;
    return l;
}

TEST_CASE("stored dead letters of version 1 are read, and written the same")
{
    const auto is_stored = [](const std::string& name, const pipeline_dead_letter& letter) {
        CAPTURE(name);
        const std::string stored = tests_support::golden("session/letter_" + name + "_1.json");
        const auto read = parse_json<pipeline_dead_letter>(stored);
        REQUIRE_MESSAGE(read.has_value(), describe(read.error()));
        CHECK(*read == letter);
        CHECK(nlohmann::json(letter).dump(1) + "\n" == stored);
    };
    is_stored("least", least());
    is_stored("whole", whole());
}

}  // namespace
}  // namespace letter_golden_test
