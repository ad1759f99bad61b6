// SPDX-License-Identifier: MIT

#include "server_mode.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "../engines/nats_client.hpp"
#include "../engines/nats_cluster.hpp"
#include "../engines/nats_publisher.hpp"
#include "../engines/nats_server.hpp"
#include "../engines/postgres.hpp"
#include "../engines/postgres_outbox.hpp"
#include "../engines/postgres_pair.hpp"
#include "../support/cleanup.hpp"
#include "../support/locked_folder.hpp"
#include "../support/program.hpp"

namespace outbox::servers {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

std::string file_of_addresses(const std::string& db)
{
    return db + "/servers";
}

/// Starts the servers that have no address. With --cluster it kills the leader of the stream and
/// the primary in turn, and starts the node again. The standby becomes the primary.
class own_servers {
public:
    explicit own_servers(const options& o) : at_{o.table, o.to}, cluster_(o.cluster), dice_(o.seed)
    {
        if (o.to == "nats:" && o.cluster) {
            nodes_.emplace(o.db + "/nats");
            at_.to = nodes_->urls();
        } else if (o.to == "nats:") {
            node_.emplace(o.db + "/nats");
            at_.to = fmt::format("nats://{}:{}", node_->at().host, node_->at().port);
        }
        if (o.table == "postgres:") {
            tables_.emplace(o.db + "/postgres", o.cluster);
            at_.table = tables_->where();
        }
        const std::string path = file_of_addresses(o.db);
        std::ofstream(path, std::ios::app).close();
        chmod(path.c_str(), S_IRUSR | S_IWUSR);
        support::write_file("addresses", path, at_.table + '\n' + at_.to + '\n');
    }

    [[nodiscard]] const addresses& at() const noexcept { return at_; }

    /// To be called often.
    void step(bool may_kill)
    {
        if (tables_) tables_->step();
        const auto now = clock::now();
        if (down_ && now >= restart_at_) nodes_->start_node(*std::exchange(down_, std::nullopt));
        if (!may_kill || !cluster_ || now < next_kill_) return;
        next_kill_ = now + 100ms;
        const bool killed = next_is_leader_ ? kill_leader() : kill_primary();
        if (!killed) return;
        next_is_leader_ = !next_is_leader_;
        next_kill_ = clock::now() + std::chrono::milliseconds(1'000 + dice_() % 2'000);
    }

    /// True if all servers run, and all replicas are up to date.
    [[nodiscard]] bool whole()
    {
        if (down_ || (nodes_ && !nodes_->current(stream))) return false;
        return !tables_ || !cluster_ || tables_->in_sync();
    }

    /// True if a server that is to be killed has not been killed yet.
    [[nodiscard]] bool one_is_spared() const
    {
        return cluster_ && ((nodes_ && leaders_ == 0) || (tables_ && tables_->failovers() == 0));
    }

    [[nodiscard]] std::uint64_t leaders() const noexcept { return leaders_; }
    [[nodiscard]] std::uint64_t primaries() const { return tables_ ? tables_->failovers() : 0; }

private:
    /// False if no node can be killed yet. A second kill waits until the first node has caught up.
    bool kill_leader()
    {
        if (!nodes_) return true;
        if (down_ || !nodes_->current(stream)) return false;
        const auto leader = nodes_->node_of_leader(stream);
        if (!leader) return false;
        nodes_->kill_node(*leader);
        ++leaders_;
        down_ = leader;
        restart_at_ = clock::now() + 1s;
        return true;
    }
    bool kill_primary() { return !tables_ || tables_->fail_over(); }

    addresses at_;
    bool cluster_;
    std::optional<engines::nats_server> node_{};
    std::optional<engines::nats_cluster> nodes_{};
    std::optional<engines::postgres_pair> tables_{};
    std::mt19937_64 dice_;
    bool next_is_leader_ = true;
    std::optional<std::size_t> down_{};  // the node that does not run
    clock::time_point restart_at_{};
    clock::time_point next_kill_{};
    std::uint64_t leaders_ = 0;
};

/// The tables, and the progress of the processes.
class progress {
public:
    explicit progress(const addresses& at) : db_(at.table) {}

    /// Creates the tables and the stream. Throws if they belong to another input, or to no input.
    void begin(const options& o, const std::vector<order>& orders)
    {
        const addresses servers = addresses_in(o.db);
        engines::nats_publisher broker(servers.to, stream, o.cluster ? 3 : 1, duplicate_window);
        // An own server is awaited, an address may be wrong.
        const auto until = clock::now() + (o.to == "nats:" ? clock::duration(patience) : 10s);
        waybill::fault f = broker.open();
        while (!f.ok() && clock::now() < until) {
            std::this_thread::sleep_for(100ms);
            f = broker.open();
        }
        if (!f.ok()) throw support::complaint(f.text);
        db_.outside([&] {
            db_.exec(
                "CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY,"
                " customer text NOT NULL, item text NOT NULL, at text NOT NULL)");
        });
        engines::postgres_outbox rows(db_);
        auto tx = rows.begin();
        if (!tx) throw support::complaint(tx.error().text);
        tx->rollback();
        const engines::rows all = db_.exec("SELECT id, item, at FROM orders");
        if (all.empty() && !is_empty(servers.to)) {
            throw support::complaint(fmt::format(
                "the stream {} has messages, but there are no orders; remove the stream, "
                "or name the database of its orders",
                stream));
        }
        for (int n = 0; n != all.size(); ++n) {
            const auto id = all.number<std::uint64_t>(n, 0);
            const order stored{std::string(all.text(n, 1)), std::string(all.text(n, 2))};
            if (id >= 1 && id <= orders.size() && stored == orders[id - 1]) continue;
            throw support::complaint(
                "the table orders is of another input; name another database or folder");
        }
    }

    /// The rows that are not sent; nothing if the server does not reply.
    [[nodiscard]] std::optional<std::uint64_t> unsent() { return number(unsent_); }
    /// Changes with each order and each sent row.
    [[nodiscard]] std::optional<std::uint64_t> last_order() { return number(last_order_); }

private:
    [[nodiscard]] static bool is_empty(const std::string& urls)
    {
        engines::nats_client client(urls, 5s);
        engines::nats_stream_info info;
        natsStatus s = client.ready(1s);
        if (s == NATS_OK) {
            s = js_GetStreamInfo(engines::out(info), client.jetstream(), stream, nullptr, nullptr);
        }
        if (s != NATS_OK)
            throw support::complaint(
                fmt::format("NATS, stream {}: {}", stream, engines::nats_text(s)));
        return info->State.Msgs == 0;
    }

    [[nodiscard]] std::optional<std::uint64_t> number(engines::prepared& query)
    {
        try {
            return db_.outside([&] { return query.run().number<std::uint64_t>(0, 0); });
        } catch (const engines::postgres_error&) {
            return {};
        }
    }

    engines::postgres db_;
    engines::prepared unsent_{db_, "SELECT count(*) FROM outbox WHERE dead IS NULL"};
    engines::prepared last_order_{db_, "SELECT coalesce(max(id), 0) FROM orders"};
};

struct casualties {
    std::uint64_t relays = 0;
    std::uint64_t publishing = 0;  ///< Of these while they waited for acknowledgements.
    std::uint64_t shops = 0;
    double seconds = 0;
};

/// The shop and the relays. A process that was killed is started again.
class processes {
public:
    explicit processes(const options& o) : o_(o), page_(o.db)
    {
        for (std::uint64_t n = 0; n != 1 + relays; ++n) start(n);
    }
    processes(const processes&) = delete;
    processes& operator=(const processes&) = delete;
    ~processes()
    {
        for (const process& p : all_) {
            if (p.pid > 0) kill(p.pid, SIGKILL);
        }
        int status = 0;
        for (const process& p : all_) {
            if (p.pid > 0) support::wait_for(p.pid, &status);
        }
    }

    [[nodiscard]] bool shop_has_ended() const { return all_[0].pid < 0; }

    /// Kills a relay that publishes or, if `anyhow`, any relay. False if there was none.
    bool kill_relay(std::mt19937_64& dice, bool anyhow)
    {
        std::vector<std::size_t> from;
        for (std::size_t n = 1; n != all_.size(); ++n) {
            if (!all_[n].killed && (anyhow || page_.of(n).at == phase::publishing))
                from.push_back(n);
        }
        if (from.empty()) return false;
        kill_one(from[dice() % from.size()]);
        return true;
    }
    void kill_shop()
    {
        if (!shop_has_ended() && !all_[0].killed) kill_one(0);
    }

    /// Counts the processes that have ended, and starts them again.
    void look(casualties& c)
    {
        for (std::size_t n = 0; n != all_.size(); ++n) {
            process& p = all_[n];
            int status = 0;
            if (p.pid < 0 || support::wait_for(p.pid, &status, WNOHANG) != p.pid) continue;
            p.pid = -1;
            const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
            if (n == 0 && well) continue;
            if (!p.killed) {
                throw support::complaint(
                    fmt::format("{} has ended; {}", name_of(n), page_.of(n).reported()));
            }
            if (n == 0) ++c.shops;
            else ++c.relays;
            if (n != 0 && page_.of(n).at == phase::publishing) ++c.publishing;
            start(n);
        }
    }

    /// The last faults that the processes have reported.
    [[nodiscard]] std::string reported() const
    {
        std::string text;
        for (std::size_t n = 0; n != all_.size(); ++n) {
            const std::string fault = page_.of(n).reported();
            if (!fault.empty()) text += fmt::format("; {}: {}", name_of(n), fault);
        }
        return text;
    }

    /// Ends the relays, which release their claims.
    void dismiss()
    {
        for (std::size_t n = 1; n != all_.size(); ++n) kill(all_[n].pid, SIGTERM);
        const auto until = clock::now() + patience;
        for (std::size_t n = 1; n != all_.size(); ++n) {
            int status = 0;
            while (support::wait_for(all_[n].pid, &status, WNOHANG) == 0) {
                if (clock::now() > until) {
                    throw support::complaint(
                        fmt::format("{} has not ended {} minutes after SIGTERM{}", name_of(n),
                                    patience.count(), reported()));
                }
                std::this_thread::sleep_for(1ms);
            }
            all_[n].pid = -1;
            if (all_[n].killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) continue;
            throw support::complaint(fmt::format("{} has failed", name_of(n)));
        }
    }

private:
    struct process {
        pid_t pid = -1;
        bool killed = false;
    };

    [[nodiscard]] static std::string name_of(std::size_t n)
    {
        return n == 0 ? "the shop" : fmt::format("relay {}", n);
    }

    void start(std::size_t n)
    {
        std::vector<std::string> words{"outbox", "--servers", "--db", o_.db, "--as"};
        if (n == 0) {
            words.insert(words.end(),
                         {"shop", "--input", o_.input, "--pace", std::to_string(o_.pace)});
        } else {
            words.insert(words.end(), {"relay", "--worker", std::to_string(n)});
        }
        if (o_.cluster) words.emplace_back("--cluster");
        page_.of(n).clear();
        all_[n] = {support::start_process(std::move(words), {.blocks_sigterm = n != 0}), false};
    }

    void kill_one(std::size_t n)
    {
        kill(all_[n].pid, SIGKILL);
        all_[n].killed = true;
    }

    const options& o_;
    phases page_;
    std::vector<process> all_ = std::vector<process>(1 + relays);
};

class supervisor {
public:
    supervisor(const options& o, own_servers& servers, progress& tables)
        : o_(o), servers_(servers), tables_(tables), group_(o), dice_(o.seed)
    {
    }

    casualties run()
    {
        auto next_look = begun_;
        for (bool done = false; !done;) {
            group_.look(c_);
            servers_.step(past(300ms) && !kills_are_over());
            if (past(300ms) && !past(kill_for())) kill_processes();
            if (const auto now = clock::now(); now >= next_look) {
                next_look = now + 100ms;
                done = look();
            }
            std::this_thread::sleep_for(1ms);
        }
        c_.seconds = std::chrono::duration<double>(clock::now() - begun_).count();
        group_.dismiss();
        return c_;
    }

private:
    [[nodiscard]] bool past(clock::duration d) const { return clock::now() - begun_ >= d; }
    [[nodiscard]] std::chrono::seconds kill_for() const
    {
        return std::chrono::seconds(o_.kill_for);
    }

    /// On a slow machine the standby may be in sync only after the time for kills. So each kind of
    /// server is awaited, but not for ever.
    [[nodiscard]] bool kills_are_over() const
    {
        if (!past(kill_for())) return false;
        return !o_.kill || !servers_.one_is_spared() || past(kill_for() + patience);
    }

    void kill_processes()
    {
        const auto now = clock::now();
        if (now >= next_shop_) {
            group_.kill_shop();
            next_shop_ = now + std::chrono::milliseconds(1'000 + dice_() % 2'000);
        }
        // A relay that publishes is awaited for 300 ms.
        if (now >= next_relay_ && group_.kill_relay(dice_, now >= next_relay_ + 300ms))
            next_relay_ = now + std::chrono::milliseconds(200 + dice_() % 1'000);
    }

    /// True if all is done. Throws if nothing has changed for minutes.
    [[nodiscard]] bool look()
    {
        const auto unsent = tables_.unsent();
        const auto last = tables_.last_order();
        const bool over = kills_are_over();
        if (group_.shop_has_ended() && over && unsent == std::uint64_t{0} && servers_.whole())
            return true;
        if (unsent && last) nothing_.look(*unsent + (*last << 32U));
        else nothing_.look(0);
        if (!over) nothing_ = {};
        if (nothing_.stood() < patience) return false;
        throw support::complaint(
            fmt::format("nothing has changed for {} minutes, and {} rows are not sent{}",
                        patience.count(), unsent.value_or(0), group_.reported()));
    }

    const options& o_;
    own_servers& servers_;
    progress& tables_;
    processes group_;
    std::mt19937_64 dice_;
    clock::time_point begun_ = clock::now();
    clock::time_point next_relay_{};
    clock::time_point next_shop_ = begun_ + 1s;
    support::standstill nothing_{};
    casualties c_{};
};

std::uint64_t sent_again(const std::string& db)
{
    repetitions counts(db);
    std::uint64_t n = 0;
    for (std::uint64_t r = 1; r <= relays; ++r) n += counts.of(r).at;
    return n;
}

void print(const casualties& c, const findings& f, std::uint64_t again, const own_servers& servers)
{
    const auto row = [](std::string_view what, std::uint64_t n) {
        fmt::print("  {:<44}{:>8}\n", what, support::grouped(n));
    };
    row("orders committed", f.committed);
    row("orders rolled back", f.rolled_back);
    row("messages in the stream", f.messages);
    row("  of these again, after the duplicate window", f.late);
    row("repetitions that the server discarded", again);
    row("relays killed with -9", c.relays);
    row("  of these while they published", c.publishing);
    row("shops killed with -9", c.shops);
    row("leaders of the stream killed with -9", servers.leaders());
    row("primaries killed with -9", servers.primaries());
    fmt::print("  {:<44}{:>8.1f}\n", "seconds", c.seconds);
}

int verdict(const findings& f)
{
    for (const std::string& w : f.wrong) support::say(fmt::format("outbox: {}\n", w));
    if (!f.wrong.empty()) {
        fmt::print("{}", support::verdict_of(f.wrong));
        return 1;
    }
    if (f.late != 0) {
        fmt::print(
            "{} sent again after the duplicate window of 2 minutes: readers must discard them\n",
            f.late == 1 ? "1 message was" : support::grouped(f.late) + " messages were");
    }
    fmt::print(
        "checked: each committed order has exactly one message within the duplicate window of 2\n"
        "minutes, in the order of its customer; no order that was rolled back has one, and all "
        "rows\n"
        "are marked as sent\n");
    return 0;
}

}  // namespace

addresses addresses_in(const std::string& db)
{
    const std::string path = file_of_addresses(db);
    std::ifstream file(path);
    addresses at;
    if (!std::getline(file, at.table) || !std::getline(file, at.to))
        throw support::complaint(fmt::format("{}: no addresses of servers", path));
    return at;
}

int run(options o, const std::vector<order>& orders)
{
    const support::locked_folder folder(o.db, "outbox");
    o.db = folder.path();
    folder.belongs_to(o.input);
    // PostgreSQL may run as another user, which needs access to its folder.
    if (folder.temporary()) chmod(o.db.c_str(), S_IRWXU | S_IXGRP | S_IXOTH);
    // The orders take as long as the kills.
    o.pace = o.kill_for * 1'000'000 / orders.size();
    own_servers servers(o);
    progress tables(servers.at());
    tables.begin(o, orders);
    for (std::uint64_t r = 1; r <= relays; ++r) repetitions(o.db).of(r).at = 0;
    const casualties c = supervisor(o, servers, tables).run();
    const findings f = check(servers.at(), orders);
    print(c, f, sent_again(o.db), servers);
    return verdict(f);
}

}  // namespace outbox::servers
