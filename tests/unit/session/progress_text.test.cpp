// SPDX-License-Identifier: MIT
//
// Progress as lines: one form in each direction, for any numbers and texts.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/session/detail/progress_text.hpp>

namespace progress_text_test {
namespace {

using namespace waybill;

static_assert(detail::dead_letter_reason_in("failed") == dead_letter_reason::failed);
static_assert(detail::dead_letter_reason_in("broker") == dead_letter_reason::broker);
static_assert(!detail::dead_letter_reason_in("") && !detail::dead_letter_reason_in("?") &&
              !detail::dead_letter_reason_in("Failed"));

constexpr wall_time noon = wall_time::at(duration::seconds(1'709'208'000));

session_progress failed_with(std::string text)
{
    session_progress p;
    p.failed =
        session_progress::failure{3, 17, dead_letter_reason::exhausted, 5, std::move(text), noon};
    return p;
}

const std::string failed_line = "failed 3 17 exhausted 5 2024-02-29T12:00:00Z ";

detail::progress_lines how(std::string_view lines)
{
    return detail::read_progress_lines(lines).outcome;
}
std::uint64_t line(std::string_view lines)
{
    return detail::read_progress_lines(lines).line;
}

}  // namespace

TEST_CASE("progress_text: one line for each value that is not zero, in a fixed order")
{
    CHECK(detail::write_progress({}).empty());
    CHECK(detail::write_progress({.done = 2, .total = 5}) == "done 2\ntotal 5\n");
    const session_progress all{.done = 1,
                               .total = 2,
                               .dead_lettered = 3,
                               .tries = 4,
                               .begun = noon,
                               .changed = noon + duration::milliseconds(1)};
    CHECK(detail::write_progress(all) ==
          "done 1\ntotal 2\nparked 3\ntries 4\nbegun 2024-02-29T12:00:00Z\n"
          "changed 2024-02-29T12:00:00.001Z\n");
    CHECK(detail::read_progress_lines(detail::write_progress(all)) ==
          detail::read_progress{.progress = all});
    CHECK(detail::write_progress(failed_with("no printer")) == failed_line + "no printer\n");
    CHECK(detail::write_progress(failed_with("")) == failed_line + "\n");
}

TEST_CASE("progress_text: `first` follows the failure")
{
    session_progress p = failed_with("no printer");
    p.done = 5;
    p.first = 4;
    CHECK(detail::write_progress(p) == "done 5\n" + failed_line + "no printer\nfirst 4\n");
    CHECK(detail::read_progress_lines(detail::write_progress(p) + "speed 3\n") ==
          detail::read_progress{.progress = p, .later = "speed 3\n"});
    CHECK(how("done 5\nfirst 0\n") == detail::progress_lines::corrupt);
    CHECK(how("first 4\ndone 5\n") == detail::progress_lines::corrupt);
    CHECK(how("done 5\nspeed 3\nfirst 4\n") == detail::progress_lines::corrupt);
}

TEST_CASE("progress_text: the number of a message without a step number is the last line")
{
    session_progress p{.done = 5};
    p.arrived = 6;
    p.arrived_sequence = 17;
    CHECK(detail::write_progress(p) == "done 5\narrived 6 17\n");
    CHECK(detail::read_progress_lines(detail::write_progress(p) + "speed 3\n") ==
          detail::read_progress{.progress = p, .later = "speed 3\n"});
    for (const char* const line : {"arrived 6\n", "arrived 6 17 1\n", "arrived 0 17\n",
                                   "arrived 6 x\n", "arrived 6 17\nfirst 2\n"})
        CHECK(how(line) == detail::progress_lines::corrupt);
}

TEST_CASE(
    "progress_text: any bytes in the text of a failure stay in one line and are read unchanged")
{
    CHECK(detail::write_progress(failed_with("a\nb\\c\r\x7F")) ==
          failed_line + "a\\nb\\\\c\\x0d\\x7f\n");
    for (int high = 0; high != 256; ++high) {
        for (const std::string around : {"", "\\", "n", "x41", "\n", "\xC3"}) {
            const session_progress p = failed_with(around + static_cast<char>(high) + around);
            const std::string lines = detail::write_progress(p);
            CHECK(lines.find('\n') == lines.size() - 1);
            CHECK(lines.size() == failed_line.size() + 1 + detail::escaped_size(p.failed->text));
            CHECK(detail::read_progress_lines(lines) == detail::read_progress{.progress = p});
        }
    }
}

TEST_CASE("progress_text: a failure's text is cut to any size, between characters and escapes")
{
    const std::string text = "a\n\xE2\x82\xAC\x01\\\xF0\x9F\x98\x80z";
    for (std::uint64_t most = 0; most != 40; ++most) {
        const std::string lines = detail::write_progress(failed_with(text), most);
        CHECK(lines.size() - failed_line.size() - 1 <= most);
        const detail::read_progress back = detail::read_progress_lines(lines);
        REQUIRE(back.outcome == detail::progress_lines::ok);
        const std::string& cut = back.progress.failed->text;
        CHECK(text.starts_with(cut));
        CHECK(utf8_prefix(text, cut.size()).size() == cut.size());
        if (cut.size() == text.size()) continue;
        // One character more would not have fit.
        std::size_t more = cut.size() + 1;
        while (utf8_prefix(text, more).size() != more) ++more;
        CHECK(detail::escaped_size(text.substr(0, more)) > most);
    }
    CHECK(detail::write_progress(failed_with(text), 20) ==
          detail::write_progress(failed_with(text)));
}

TEST_CASE("progress_text: malformed lines are refused, with the number of the line")
{
    const std::string good =
        "done 2\ntotal 5\ntries 1\nbegun 2024-02-29T12:00:00Z\n" + failed_line + "text\n";
    REQUIRE(how(good) == detail::progress_lines::ok);
    for (const char* lines : {
             "done 0\n",
             "done 02\n",
             "done +2\n",
             "done -2\n",
             "done 2 \n",
             "done  2\n",
             "done\n",
             "done \n",
             "done 2\r\n",
             "done 2,5\n",
             "done 0x2\n",
             "done 2 3\n",
             "done 18446744073709551616\n",
             "done 99999999999999999999\n",
             "done 2\ndone 2\n",
             "total 5\ndone 2\n",
             "done 2",
             "begun 1970-01-01T00:00:00Z\n",
             "begun 2024-02-29T12:00:00.0Z\n",
             "begun 2024-02-29T12:00:00.10Z\n",
             "begun 2023-02-29T12:00:00Z\n",
             "begun 2024-02-29T12:00:00\n",
             "begun 2024-02-29 12:00:00Z\n",
             "begun now\n",
             "begun 2262-04-11T23:47:16.854775808Z\n",
             "failed\n",
             "failed 3\n",
             "failed 3 17\n",
             "failed 3 17 exhausted\n",
             "failed 3 17 exhausted 5\n",
             "failed 3 17 exhausted 5 2024-02-29T12:00:00Z\n",
             "failed 3 17  5 2024-02-29T12:00:00Z \n",
             "failed x 17 gap 5 2024-02-29T12:00:00Z \n",
             "failed 3 17 gap 5 later \n",
             "failed 3 17 gap 5 2024-02-29T12:00:00Z \\\n",
             "failed 3 17 gap 5 2024-02-29T12:00:00Z \\t\n",
             "failed 3 17 gap 5 2024-02-29T12:00:00Z \\x\n",
             "failed 3 17 gap 5 2024-02-29T12:00:00Z \\x41\n",
             "failed 3 17 gap 5 2024-02-29T12:00:00Z \\x0D\n",
             "failed 3 17 gap 5 2024-02-29T12:00:00Z \\xzz\n",
             "failed 3 17 gap 5 2024-02-29T12:00:00Z \x01\n",
             "speed 3\ndone 2\n",
             "speed 3",
             "\n",
             "done 2\n\n",
             "speed 3\n\nspeed 4\n",
         }) {
        CAPTURE(lines);
        const detail::read_progress r = detail::read_progress_lines(lines);
        CHECK(r.outcome == detail::progress_lines::corrupt);
        CHECK(r.progress == session_progress{});
        CHECK(r.later.empty());
        CHECK(r.line != 0);
    }
    CHECK(line("done 2\ntotal 5\ntries x\n") == 3);
    CHECK(line("done 2\ntotal 05\ntries 1\n") == 2);
    CHECK(line("done 2\nparked 3\ntotal 5\n") == 2);
    CHECK(line("done 2\nspeed 3\ntotal 5\n") == 2);

    // An unknown reason is that of a later version, if the rest of the line is valid.
    CHECK(how("failed 3 17 meteor 5 2024-02-29T12:00:00Z x\n") == detail::progress_lines::newer);
    CHECK(how("failed 3 17 meteor five 2024-02-29T12:00:00Z x\n") ==
          detail::progress_lines::corrupt);
}

TEST_CASE("progress_text: lines of a later version are kept in `later`")
{
    const detail::read_progress r =
        detail::read_progress_lines("done 2\nspeed 3\n x\nfailure of it\n");
    CHECK(r.outcome == detail::progress_lines::ok);
    CHECK(r.progress == session_progress{.done = 2});
    CHECK(r.later == "speed 3\n x\nfailure of it\n");
    CHECK(detail::read_progress_lines("x\n").later == "x\n");
}

TEST_CASE("progress_text: the longest lines have max_progress_lines_bytes")
{
    session_progress p{.done = detail::highest_size,
                       .total = detail::highest_size,
                       .dead_lettered = detail::highest_size,
                       .tries = detail::highest_size,
                       .begun = wall_time::highest(),
                       .changed = wall_time::lowest(),
                       .first = detail::highest_size};
    std::uint64_t most = 0;
    for (std::uint8_t n = 0; name(static_cast<dead_letter_reason>(n)) != "?"; ++n) {
        p.failed = session_progress::failure{detail::highest_size,
                                             detail::highest_size,
                                             static_cast<dead_letter_reason>(n),
                                             detail::highest_size,
                                             "",
                                             wall_time::highest()};
        most = detail::greater(most, detail::write_progress(p).size());
        session_progress without_numbers = p;
        without_numbers.first = without_numbers.tries = 0;
        without_numbers.arrived = without_numbers.arrived_sequence = detail::highest_size;
        most = detail::greater(most, detail::write_progress(without_numbers).size());
        CHECK(detail::read_progress_lines(detail::write_progress(p)) ==
              detail::read_progress{.progress = p});
    }
    CHECK(most == detail::max_progress_lines_bytes);
}

}  // namespace progress_text_test
