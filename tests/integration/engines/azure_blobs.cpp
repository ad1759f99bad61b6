// SPDX-License-Identifier: MIT
//
// Leases and checkpoints in blobs (examples/engines/azure_blob_leases.hpp, azure_blob_checkpoints.hpp).
// The last argument is a connection string, or the variable STORAGE has it.
//
//     azure_blobs rules               the rules of both stores, with races between two threads
//     azure_blobs answers             the results for a service's responses, from a scripted service
//     azure_blobs commit N OFFSET     commits sequence number N of partition 3 after what is stored
//     azure_blobs load                prints that checkpoint: sequence number, offset, epoch
//     azure_blobs host DB OWNER       run_partitions over DB, until SIGTERM
//     azure_blobs read FILE           reads 400 numbers with process_at_least_once, and appends each
//                                     to FILE

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <engines/azure_blob_checkpoints.hpp>
#include <engines/azure_blob_leases.hpp>
#include <engines/sqlite_log.hpp>
#include <engines/sqlite_store.hpp>
#include <support/environment.hpp>

#include "scripted.hpp"
#include <waybill/consume.hpp>
#include <waybill/consume/describe.hpp>
#include <waybill/ext/exceptions.hpp>
#include <waybill/lease.hpp>
#include <waybill/lease/describe.hpp>
#include <waybill/testing/lease_conformance.hpp>

namespace {

using waybill::advance_outcome;
using waybill::position;
using namespace std::chrono_literals;

int failures = 0;

void check(bool holds, const std::string& what)
{
    if (holds) return;
    ++failures;
    std::printf("broken: %s\n", what.c_str());
}

engines::azure_account account()
{
    const char* const text = std::getenv("STORAGE");
    const auto a = engines::azure_account_of_connection(text ? text : "", engines::azure_blobs);
    if (!a) {
        std::printf("STORAGE: %s\n", a.error().c_str());
        std::exit(2);
    }
    return *a;
}

/// Leases with a connection of their own.
class own_leases {
public:
    explicit own_leases(std::string container)
        : name_(std::move(container)),
          container_(std::make_unique<engines::azure_container>(account(), name_)),
          leases_(*container_)
    {
    }
    auto list(const std::string& source, const std::string& group)
    {
        return leases_.list(source, group);
    }
    auto claim(const waybill::lease_claim& c) { return leases_.claim(c); }
    auto heartbeat(const waybill::owner_heartbeat& p) { return leases_.heartbeat(p); }
    auto leave(const waybill::owner_heartbeat& p) { return leases_.leave(p); }

    [[nodiscard]] const std::string& name() const { return name_; }
    engines::azure_container& container() { return *container_; }

private:
    std::string name_;
    std::unique_ptr<engines::azure_container> container_;
    engines::azure_blob_leases leases_;
};

void race(const std::function<void()>& f, const std::function<void()>& g)
{
    std::thread t(f);
    g();
    t.join();
}

std::string new_container()
{
    static int count = 0;
    return "rules-" + std::to_string(++count);
}

void lease_rules()
{
    const auto report = waybill::testing::lease_conformance(
        [] { return own_leases(new_container()); },
        [](own_leases& s) { return own_leases(s.name()); }, [](auto f, auto g) { race(f, g); },
        [](own_leases& s, const waybill::partition_key& key) {
            const std::string blob = engines::azure_folder(key.source, key.group) + "lease/p/" +
                                     engines::azure_name(key.partition);
            const auto b = s.container().read(blob);
            check(b && *b && *s.container().remove(blob, (**b).etag), "the row can be deleted");
        });
    for (const auto& rule : report.broken) check(false, rule);
    for (const auto& rule : report.untested) check(false, "untested: " + rule);

    engines::azure_account nowhere = account();
    nowhere.port = "1";
    engines::azure_container closed(nowhere, "nowhere");
    engines::azure_blob_leases unreachable(closed);
    const auto outage = waybill::testing::lease_outage_conformance(unreachable);
    for (const auto& rule : outage.broken) check(false, rule);

    // A blob of a stranger is an error with its name, and no lease is lost from the list unnoticed.
    own_leases s(new_container());
    check(s.container().create("orders/billing/lease/p/7", {{"epoch", "1"}}).has_value(), "create");
    const auto all = s.list("orders", "billing");
    check(!all && all.error().text.find("orders/billing/lease/p/7") != std::string::npos,
          "a row without a version is an error");

    // More rows than a page of the service has, and of other groups.
    own_leases many(new_container());
    const std::vector<std::string> groups{"billing", "billing2", "bill", "billing/lease/p"};
    for (const std::string& group : groups) {
        for (int n = 0; n != 7; ++n) {
            const waybill::lease_claim c{
                .key = {"orders", group, std::to_string(n)}, .owner = {"a", 1}, .epoch = 1};
            const auto r = many.claim(c);
            check(r && r->outcome == waybill::lease_claim::result::claim_outcome::won,
                  "first claim");
        }
    }
    for (const std::string& group : groups) {
        const auto found = many.list("orders", group);
        check(found && found->leases.size() == 7, "7 leases of " + group);
    }
}

void checkpoint_rules()
{
    const std::string name = new_container();
    engines::azure_container first(account(), name);
    engines::azure_container second(account(), name);
    engines::azure_blob_checkpoints a(first);
    engines::azure_blob_checkpoints b(second);
    const waybill::partition_key key{"shop.servicebus.windows.net/orders", "$default", "3"};
    const auto expect = [](const auto& r, advance_outcome o, const std::string& what) {
        check(r && *r == o, what + ": " + (r ? std::string(waybill::name(*r)) : r.error().text));
    };
    const auto at = [](std::uint64_t n) { return std::optional(position{n, {}}); };

    check(a.load(key) && !*a.load(key), "a new key has no checkpoint");
    expect(a.commit(key, at(1), {2, "x"}, 1), advance_outcome::conflict,
           "from a missing checkpoint");
    expect(a.commit(key, {}, {2, "20"}, 1), advance_outcome::applied, "the first commit");
    expect(a.commit(key, {}, {2, "20"}, 1), advance_outcome::conflict, "the first commit again");
    expect(a.commit(key, at(2), {5, "50"}, 1), advance_outcome::applied, "the second commit");
    const waybill::checkpoint stored{{5, "50"}, 1};
    check(b.load(key) && *b.load(key) == stored, "another process loads it");
    expect(b.commit(key, at(2), {6, "60"}, 1), advance_outcome::conflict, "from an old checkpoint");
    expect(b.commit(key, at(5), {6, "60"}, 2), advance_outcome::applied, "a higher epoch");
    // The first object has the old row in its memory.
    expect(a.commit(key, at(5), {7, "70"}, 1), advance_outcome::stale_epoch, "a lower epoch");
    expect(a.commit(key, at(6), {7, "70"}, 2), advance_outcome::applied, "the same epoch");
    expect(b.commit(key, at(7), {8, "80"}, 2), advance_outcome::applied, "after another process");

    // Keys, offsets and numbers of any kind. 128 bytes are the longest that all stores accept.
    std::vector<waybill::partition_key> keys;
    for (const std::string& part :
         {std::string(), std::string("a/b"), std::string("a//b"), std::string("/"),
          std::string("."), std::string(".."), std::string("a."), std::string("~"),
          std::string("A"), std::string("a"), std::string("\0", 1), std::string("\xff\xfe"),
          std::string("%2F"), std::string("\xc3\xa9"), std::string(128, 'x'),
          std::string(128, '\xff')}) {
        keys.push_back({part, "g", "p"});
        keys.push_back({"s", part, "p"});
        keys.push_back({"s", "g", part});
        keys.push_back({part, part, part});
    }
    std::uint64_t n = 0;
    for (const auto& k : keys) {
        std::string offset;
        for (int c = 0; c != static_cast<int>(n % 300); ++c) offset += static_cast<char>(c);
        ++n;
        expect(a.commit(k, {}, {~std::uint64_t{0} - n, offset}, ~std::uint64_t{0}),
               advance_outcome::applied, "a key " + std::to_string(n));
    }
    n = 0;
    for (const auto& k : keys) {
        std::string offset;
        for (int c = 0; c != static_cast<int>(n % 300); ++c) offset += static_cast<char>(c);
        ++n;
        const waybill::checkpoint expected{{~std::uint64_t{0} - n, offset}, ~std::uint64_t{0}};
        const auto found = b.load(k);
        check(found && *found == expected, "key " + std::to_string(n) + " has its checkpoint");
    }
    const std::string longest(1'024, 'o');
    expect(a.commit({"s", "g", "long"}, {}, {1, longest}, 1), advance_outcome::applied,
           "1,024 bytes");
    check(b.load({"s", "g", "long"}) && (*b.load({"s", "g", "long"}))->at.offset == longest,
          "an offset of 1,024 bytes");
    const auto refused = a.commit({"s", "g", std::string(1'024, 'x')}, {}, {1, {}}, 1);
    check(!refused && refused.error().text.find("limit is 1024") != std::string::npos,
          "a name over the limit is refused with the limit");

    // Of two commits from the same checkpoint, one is applied.
    for (std::uint64_t round = 0; round != 20; ++round) {
        const auto from = round == 0 ? std::nullopt : at(round);
        const waybill::partition_key one{"race", "g", "0"};
        std::optional<waybill::result<advance_outcome>> left;
        std::optional<waybill::result<advance_outcome>> right;
        race([&] { left = a.commit(one, from, {round + 1, "a"}, 1); },
             [&] { right = b.commit(one, from, {round + 1, "b"}, 1); });
        const auto won = [](const auto& r) {
            return r->has_value() && **r == advance_outcome::applied;
        };
        const auto lost = [](const auto& r) {
            return r->has_value() && **r == advance_outcome::conflict;
        };
        check((won(left) && lost(right)) || (lost(left) && won(right)),
              "one of two commits is applied");
    }
}

// --- a scripted service ------------------------------------------------------------------------------

std::string response(int status, const std::string& code, const std::string& headers = {},
                     const std::string& body = {})
{
    const std::string name = code.empty() ? code : "x-ms-error-code: " + code + "\r\n";
    return scripted::http_response(status, body, name + headers);
}

/// `f` calls a container, and returns the result in words.
void answer(const std::string& what, std::vector<std::string> responses, const std::string& result,
            const std::string& methods,
            const std::function<std::string(engines::azure_container&)>& f)
{
    const scripted::http_service s(std::move(responses));
    engines::azure_container c({.host = "127.0.0.1", .port = s.port()}, "rows");
    const std::string found = f(c);
    check(found == result, what + ": " + found + " instead of " + result);
    check(s.methods() == methods, what + ": " + s.methods() + " instead of " + methods);
}

template <class R>
std::string words_of(const R& r)
{
    if (!r)
        return std::string(name(r.error().kind)) + (r.error().text.empty() ? " without text" : "");
    return *r ? "done" : "changed";
}

int answers()
{
    const std::string tag = "ETag: \"0x1\"\r\n";
    const auto create = [](engines::azure_container& c) {
        return words_of(c.create("a", {{"v", "1"}}));
    };
    const auto replace = [](engines::azure_container& c) {
        return words_of(c.replace("a", {}, "0x1"));
    };
    const auto remove = [](engines::azure_container& c) { return words_of(c.remove("a", "0x1")); };
    const auto read = [](engines::azure_container& c) { return words_of(c.read("a")); };
    const auto list = [](engines::azure_container& c) -> std::string {
        const auto all = c.list("a");
        return all ? std::to_string(all->size()) : std::string(name(all.error().kind));
    };
    answer("create", {response(201, "", tag)}, "done", "PUT", create);
    answer("create, there is one", {response(409, "BlobAlreadyExists")}, "changed", "PUT", create);
    answer("create, 412", {response(412, "ConditionNotMet")}, "changed", "PUT", create);
    answer("create, no container",
           {response(404, "ContainerNotFound"), response(201, ""), response(201, "", tag)}, "done",
           "PUT PUT PUT", create);
    answer("create, another process creates the container",
           {response(404, "ContainerNotFound"), response(409, "ContainerAlreadyExists"),
            response(201, "", tag)},
           "done", "PUT PUT PUT", create);
    answer("create, the container is being deleted",
           {response(404, "ContainerNotFound"), response(409, "ContainerBeingDeleted")},
           "transient", "PUT PUT", create);
    answer("create, busy", {response(503, "ServerBusy")}, "infrastructure", "PUT", create);
    answer("create, 503 of a proxy", {response(503, "")}, "infrastructure", "PUT", create);
    answer("create, 500", {response(500, "InternalError")}, "infrastructure", "PUT", create);
    answer("create, wrong key", {response(403, "AuthenticationFailed")}, "infrastructure", "PUT",
           create);
    answer("create, too much", {response(400, "MetadataTooLarge")}, "permanent", "PUT", create);
    answer("create, no response", {""}, "infrastructure", "PUT", create);
    answer("replace", {response(200, "", tag)}, "done", "PUT", replace);
    answer("replace, changed", {response(412, "ConditionNotMet")}, "changed", "PUT", replace);
    answer("replace, removed", {response(404, "BlobNotFound")}, "changed", "PUT", replace);
    answer("replace, leased by another program", {response(412, "LeaseIdMissing")},
           "infrastructure", "PUT", replace);
    answer("replace, no response", {""}, "infrastructure", "PUT", replace);
    answer("remove", {response(202, "")}, "done", "DELETE", remove);
    answer("remove, changed", {response(412, "ConditionNotMet")}, "changed", "DELETE", remove);
    answer("remove, removed", {response(404, "BlobNotFound")}, "changed", "DELETE", remove);
    answer("read", {response(200, "", tag)}, "done", "GET", read);
    answer("read, none", {response(404, "BlobNotFound")}, "changed", "GET", read);
    answer("read, refused", {response(403, "AuthorizationFailure")}, "infrastructure", "GET", read);
    const auto page = [](const std::string& blobs, const std::string& next) {
        return response(200, "", "",
                        "<EnumerationResults><Blobs>" + blobs + "</Blobs><NextMarker>" + next +
                            "</NextMarker></EnumerationResults>");
    };
    const std::string blob =
        "<Blob><Name>a</Name><Properties><Etag>0x1</Etag></Properties><Metadata/></Blob>";
    answer("list", {page("", "")}, "0", "GET", list);
    answer("list, two pages", {page(blob + blob, "m"), page(blob, "")}, "3", "GET GET", list);
    answer("list, the same page for ever", {page(blob, "m"), page(blob, "m")}, "infrastructure",
           "GET GET", list);
    answer("list, no ETag", {page("<Blob><Name>a</Name></Blob>", "")}, "infrastructure", "GET",
           list);
    answer("list, no XML", {response(200, "", "", "{}")}, "infrastructure", "GET", list);
    answer("list, cut", {response(200, "", "", "<EnumerationResults><Blobs>")}, "infrastructure",
           "GET", list);
    answer("list, refused", {response(403, "AuthenticationFailed")}, "infrastructure", "GET", list);
    return failures;
}

// --- processes ---------------------------------------------------------------------------------------

volatile std::sig_atomic_t terminated = 0;

struct host_environment : support::standard_environment {
    bool stop_requested() const { return terminated != 0; }
    void sleep_until(waybill::steady_time t)
    {
        while (!stop_requested() && now() < t) std::this_thread::sleep_for(5ms);
    }
};

int host(const char* database, const char* owner)
{
    std::signal(SIGTERM, [](int) { terminated = 1; });
    engines::database db(database);
    engines::statement insert(db, "INSERT INTO invoice VALUES (?, ?, ?)");
    engines::sqlite_log log(db, 6);
    engines::sqlite_store store(db);
    engines::azure_container container(account(), "hosts");
    engines::azure_blob_leases leases(container);
    host_environment env;
    const auto handle = [&](auto&, const auto& order, const auto& key) -> waybill::fault {
        insert.run(key.partition, order.sequence, std::string_view(owner));
        std::this_thread::sleep_for(2ms);
        return {};
    };
    const auto report =
        waybill::run_partitions(log, store, leases, waybill::catching(handle, engines::classify),
                                {.group = "billing",
                                 .owner = owner,
                                 .max_events = 10,
                                 .leases = {.interval = 1s, .expiry = 8s},
                                 .lifecycle = {.poll = 50ms}},
                                env);
    std::puts(waybill::describe(report).c_str());
    return report.released ? 0 : 1;
}

const waybill::partition_key hub{"shop.servicebus.windows.net/orders", "$default", "3"};

struct no_letters {
    waybill::result<void> put(const waybill::dead_letter&)
    {
        return waybill::unexpected(waybill::permanent("no event of this test fails"));
    }
};

/// The events are the numbers from 1 to 400.
int read(const char* file)
{
    engines::azure_container container(account(), "reader");
    engines::azure_blob_checkpoints checkpoints(container);
    no_letters letters;
    support::standard_environment env;
    struct number {
        std::uint64_t sequence = 0;
    };
    for (;;) {
        const auto at = checkpoints.load(hub);
        if (!at) return std::printf("%s\n", at.error().text.c_str()), 1;
        const std::uint64_t last = *at ? (*at)->at.sequence : 0;
        if (last == 400) return 0;
        std::vector<number> events;
        for (std::uint64_t n = last + 1; n <= 400 && events.size() != 20; ++n)
            events.push_back({n});
        const auto handle = [&](const number& n, const auto&) -> waybill::fault {
            std::ofstream(file, std::ios::app) << n.sequence << std::endl;
            std::this_thread::sleep_for(1ms);
            return {};
        };
        const waybill::assignment mine{hub, *at ? std::optional((*at)->at) : std::nullopt, 1};
        const auto r =
            waybill::process_at_least_once(checkpoints, letters, mine, events, handle, env);
        if (r.outcome != waybill::batch_outcome::committed)
            return std::printf("%s\n", waybill::describe(r).c_str()), 1;
    }
}

int commit(const char* sequence, const char* offset)
{
    engines::azure_container container(account(), "hub");
    engines::azure_blob_checkpoints checkpoints(container);
    const auto at = checkpoints.load(hub);
    if (!at) return std::printf("%s\n", at.error().text.c_str()), 1;
    const auto from = *at ? std::optional((*at)->at) : std::nullopt;
    const std::uint64_t epoch = *at ? (*at)->epoch + 1 : 1;
    const auto r =
        checkpoints.commit(hub, from, {std::strtoull(sequence, nullptr, 10), offset}, epoch);
    if (!r) return std::printf("%s\n", r.error().text.c_str()), 1;
    return *r == advance_outcome::applied ? 0 : 1;
}

int load()
{
    engines::azure_container container(account(), "hub");
    engines::azure_blob_checkpoints checkpoints(container);
    const auto at = checkpoints.load(hub);
    if (!at) return std::printf("%s\n", at.error().text.c_str()), 1;
    if (!*at) return std::puts("none"), 0;
    std::printf("%llu %s %llu\n", static_cast<unsigned long long>((*at)->at.sequence),
                (*at)->at.offset.c_str(), static_cast<unsigned long long>((*at)->epoch));
    return 0;
}

}  // namespace

int main(int count, char** argv)
{
    const std::string_view mode = count > 1 ? argv[1] : "";
    if (mode == "rules") {
        lease_rules();
        checkpoint_rules();
        return failures == 0 ? 0 : 1;
    }
    if (mode == "answers") return answers() == 0 ? 0 : 1;
    if (mode == "commit" && count == 4) return commit(argv[2], argv[3]);
    if (mode == "load") return load();
    if (mode == "host" && count == 4) return host(argv[2], argv[3]);
    if (mode == "read" && count == 3) return read(argv[2]);
    return 2;
}
