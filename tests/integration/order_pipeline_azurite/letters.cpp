// SPDX-License-Identifier: MIT
//
// Letters in an Azure table, by examples/engines/azure_table.hpp:
//
//     letters PLACE write >expected      writes them, and prints the rows for another client
//     letters PLACE again                reads them, writes them again, and removes some
//     letters PLACE count                prints the number of letters
//     letters PLACE kill PID N           kills a process when only N letters are left

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <engines/azure_table.hpp>
#include <nlohmann/json.hpp>
#include <sys/types.h>

namespace {

using letter_list = std::vector<waybill::pipeline_dead_letter>;

int failures = 0;

void check(bool holds, const char* what)
{
    if (holds) return;
    ++failures;
    std::fprintf(stderr, "%s\n", what);
}
void check(const waybill::fault& f, const char* what)
{
    if (!f.ok()) std::fprintf(stderr, "%s\n", f.text.c_str());
    check(f.ok(), what);
}

waybill::pipeline_dead_letter letter(const std::string& session, std::uint64_t sequence,
                                     std::string body = "{\"line\":1}")
{
    waybill::pipeline_dead_letter l;
    l.properties = {session, 3, 2, 5, true};
    l.origin = {"order-1", sequence / 2, 7, 8};
    l.sequence = sequence;
    l.message_id = session + "/3";
    l.reason = waybill::dead_letter_reason::contradiction;
    l.cause = sequence;
    l.resume_at = 2;
    l.last_redriven_step = 4;
    l.text = "no \"template\" for 'it'";
    l.tries = 9;
    l.enqueued = *waybill::parse_wall_time("2026-02-28T23:59:59.9999999Z");
    l.dead_lettered_at = *waybill::parse_wall_time("2026-03-01T00:00:00.123456789Z");
    l.kept = waybill::dead_letter_body::body;
    l.size = body.size();
    l.checksum = waybill::crc32c(body);
    l.body = std::move(body);
    l.state = "waybill/1 json\n{\"a\":\"\xC3\xBC\"}";
    l.origin.state = std::string("\0\xFF\x80", 3);
    l.origin.message_id = "m1";
    return l;
}

std::string many(std::size_t n, std::string_view text)
{
    std::string all;
    while (all.size() < n) all += text;
    all.resize(n);
    return all;
}

const std::string too_large = many(655'361, "\xC3\xBC");

/// A letter whose body and state exceed the limits of an entity.
waybill::pipeline_dead_letter letter_beyond()
{
    waybill::pipeline_dead_letter l = letter("large", 1, too_large);
    l.state = many(32'769, "state");
    return l;
}

/// The same letter as it is stored.
waybill::pipeline_dead_letter large_letter()
{
    waybill::pipeline_dead_letter l = letter_beyond();
    l.kept = waybill::dead_letter_body::summary;
    l.body.resize(256);
    l.state.clear();
    l.state_omitted = true;
    return l;
}

constexpr std::size_t of_a = 7;    // the first letters are of session a
constexpr std::size_t names = 11;  // after them, up to here: sessions with difficult names

letter_list all_letters()
{
    letter_list all;
    // Without padding these sort as 10, 100, 11, 9. The last ones exceed Edm.Int64.
    for (const std::uint64_t n :
         {9ULL, 10ULL, 11ULL, 100ULL, (7ULL << 48U) + 1, 1ULL << 63U, ~0ULL}) {
        all.push_back(letter("a", n));
    }
    const std::string every(
        "\x01 it's / a \\ b # c ? d % e ! f !2F & g + h \x7f \xC2\x85 \xC3\xBC \xE2\x82\xAC "
        "\xF0\x9F\x93\xAE");
    all.push_back(letter(every, 1));
    all.push_back(letter("b'); ('", 1));
    all.push_back(letter("c \xC2\x85 \xC3\xBC", 1));
    all.push_back(letter(many(512, "z"), 1));
    // Each body is at a limit of a property or an entity.
    std::uint64_t n = 0;
    const auto with = [&](std::string body) {
        all.push_back(letter("bodies", ++n, std::move(body)));
    };
    with("");
    with("\"quotes\" and \\ and \t and \xC3\xBC\xE2\x82\xAC\xF0\x9F\x93\xAE\r\n");
    with(std::string("\0\xFF\x80 no text", 11));
    with(many(32'768, "text "));
    with(many(32'769, "text "));
    with(many(65'536, "\xF0\x9F\x93\xAE"));  // 32,768 characters of UTF-16
    with(many(65'540, "\xF0\x9F\x93\xAE"));
    with(many(65'536, std::string_view("\0\xFE", 2)));
    with(many(65'537, std::string_view("\0\xFE", 2)));
    with(many(655'360, "the most "));
    waybill::pipeline_dead_letter full =
        letter("full", 1, many(655'360, std::string_view("\0\xFE", 2)));
    full.text = many(8'192, "\"");
    full.state = many(32'768, "\"");
    full.origin.state = many(32'768, std::string_view("\0\xFE", 2));
    all.push_back(full);
    waybill::pipeline_dead_letter odd = letter("odd", 1);
    odd.text = std::string("\xFF is no text");
    odd.message_id = std::string("\0", 1);
    odd.enqueued = waybill::wall_time::at(waybill::duration::nanoseconds(-1));
    odd.dead_lettered_at = waybill::wall_time::highest();
    odd.kept = waybill::dead_letter_body::pointer;
    odd.body.clear();
    odd.independent = true;
    odd.properties.last = false;
    all.push_back(odd);
    return all;
}

std::string hex(std::string_view bytes)
{
    std::string out;
    for (const char c : bytes) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(c));
        out += two;
    }
    return out;
}

/// The format of read.mjs. Texts are in hex, so that both outputs are equal for any bytes.
void print(const waybill::pipeline_dead_letter& l)
{
    nlohmann::ordered_json j;
    j["session"] = hex(l.properties.session);
    j["sequence"] = std::to_string(l.sequence);
    j["step"] = std::to_string(l.properties.step);
    j["first"] = std::to_string(l.properties.first);
    j["total"] = std::to_string(l.properties.total);
    j["last"] = l.properties.last;
    j["origin"] = hex(l.origin.session);
    j["origin_sequence"] = std::to_string(l.origin.sequence);
    j["generation"] = std::to_string(l.origin.generation);
    j["origin_tries"] = std::to_string(l.origin.tries);
    j["message_id"] = hex(l.message_id);
    j["reason"] = name(l.reason);
    j["cause"] = std::to_string(l.cause);
    j["resume_at"] = std::to_string(l.resume_at);
    j["alone"] = l.independent;
    j["sent_to"] = std::to_string(l.last_redriven_step);
    j["text"] = hex(l.text);
    j["tries"] = std::to_string(l.tries);
    j["enqueued"] = std::to_string(l.enqueued.since_epoch().count());
    j["parked"] = std::to_string(l.dead_lettered_at.since_epoch().count());
    j["kept"] = name(l.kept);
    j["body"] = hex(l.body);
    j["size"] = std::to_string(l.size);
    j["checksum"] = std::to_string(l.checksum);
    j["state"] = hex(l.state);
    j["origin_state"] = hex(l.origin.state);
    j["origin_message"] = hex(l.origin.message_id);
    j["state_cut"] = l.state_omitted;
    std::printf("%s\n", j.dump().c_str());
}

bool same_letters(letter_list a, letter_list b)
{
    const auto less = [](const waybill::pipeline_dead_letter& x,
                         const waybill::pipeline_dead_letter& y) {
        if (x.properties.session != y.properties.session)
            return x.properties.session < y.properties.session;
        return x.sequence < y.sequence;
    };
    std::sort(a.begin(), a.end(), less);
    std::sort(b.begin(), b.end(), less);
    return a == b;
}

void write_all(engines::azure_table& letters)
{
    check(letters.list() && letters.list()->empty(), "there is nothing, not even a table");
    letter_list all = all_letters();
    for (std::size_t n = all.size(); n-- != 0;) {
        if (n % 2 == 0) check(letters.upsert(all[n]), "upserted");
        else check(letters.write({&all[n], 1}), "written");
    }
    // Larger than an entity: the stored letter has a mark and the beginning of the body.
    check(letters.upsert(letter_beyond()), "one that is too large is written");
    all.push_back(large_letter());
    const waybill::fault f = letters.upsert(letter(many(513, "z"), 1));
    check(f.kind == waybill::fault_kind::permanent,
          "a session that no key holds is refused for good");
    for (const waybill::pipeline_dead_letter& l : all) print(l);
}

void again(engines::azure_table& letters, engines::azure_table& other)
{
    letter_list all = all_letters();
    all.push_back(large_letter());
    const auto found = letters.list();
    check(found && same_letters(*found, all), "the rows read equal the rows written, page by page");
    const auto of = [](engines::azure_table& t, std::string_view session) {
        const auto some = t.list(session);
        check(some ? waybill::fault{} : some.error(), "listed");
        return some ? *some : letter_list{};
    };
    const auto second = [&](engines::azure_table& t) {
        const letter_list some = of(t, "a");
        return some.size() < 2 ? waybill::pipeline_dead_letter{} : some[1];
    };
    check(of(letters, "a") == letter_list(all.begin(), all.begin() + of_a),
          "step 9 before 10, and 100 after 11");
    for (std::size_t n = of_a; n != names; ++n) {
        check(of(letters, all[n].properties.session) == letter_list{all[n]},
              "any characters in a session's name");
    }

    waybill::pipeline_dead_letter later = all[1];
    later.text = "written again";
    check(other.upsert(later), "written again");
    check(second(letters) == later, "it replaces itself");
    later.last_redriven_step = 0;
    check(letters.upsert(later), "and again");
    check(second(other).last_redriven_step == 4, "upsert keeps last_redriven_step");
    later.reason = waybill::dead_letter_reason::broker;
    check(letters.upsert(later), "by the broker");
    check(second(other).reason == waybill::dead_letter_reason::contradiction,
          "upsert keeps the reason of a pipeline");
    check(letters.write({&later, 1}), "write");
    check(second(other) == later, "write replaces all fields");
    const std::uint64_t before = later.last_redriven_step;
    later.last_redriven_step = before + 2;
    later.properties.total = 6;
    check(other.mark({&later, 1}), "marked");
    check(second(letters) == later, "how far it was sent");
    waybill::pipeline_dead_letter less = later;
    less.last_redriven_step = before + 1;
    check(letters.mark({&less, 1}), "mark with a lower step");
    check(second(other) == later, "mark does not lower the step");
    const waybill::pipeline_dead_letter never = letter("never", 1);
    check(letters.mark({&never, 1}), "one that is not there");
    check(of(letters, "never").empty(), "is not written");

    letter_list gone(all.begin() + of_a, all.begin() + names);
    gone.push_back(letter("never", 1));
    check(letters.remove(gone), "removed, and one that is not there as well");
    check(letters.remove(gone), "twice");
    for (const waybill::pipeline_dead_letter& l : gone)
        check(of(letters, l.properties.session).empty(), "they are gone");
    check(of(letters, "a").size() == of_a, "and the others are not");
}

}  // namespace

int main(int, char** argv)
{
    const auto place = engines::azure_table_at(argv[1]);
    if (!place) return 2;
    engines::azure_table letters(*place, 3);
    engines::azure_table other(*place);
    if (std::string_view(argv[2]) == "count") {
        const auto all = other.list();
        if (all) std::printf("%zu\n", all->size());
        return all ? 0 : 1;
    }
    if (std::string_view(argv[2]) == "kill") {
        const auto most = engines::number_in(argv[4]);
        const auto pid = static_cast<pid_t>(engines::number_in(argv[3]).value_or(0));
        while (pid > 1 && ::kill(pid, 0) == 0) {
            const auto all = other.list();
            if (all && all->size() <= most) return ::kill(pid, SIGKILL);
        }
        return 1;
    }
    if (std::string_view(argv[2]) == "write") write_all(letters);
    else again(letters, other);

    // The wrong key, and an unreachable service.
    auto wrong = *place;
    wrong.key[0] = 'A';
    check(engines::azure_table(wrong).upsert(letter("a", 1)).kind ==
              waybill::fault_kind::infrastructure,
          "a wrong key is an infrastructure fault");
    wrong = *place;
    wrong.port = "1";
    check(engines::azure_table(wrong).list().error().kind == waybill::fault_kind::infrastructure,
          "an unreachable service is an infrastructure fault");
    std::fprintf(stderr, "letters in a table: %d rules broken\n", failures);
    return failures == 0 ? 0 : 1;
}
