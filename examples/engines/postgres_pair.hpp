// SPDX-License-Identifier: MIT
//
// postgres_pair: a PostgreSQL primary with a synchronous standby on 127.0.0.1, for an example.
//
//     engines::postgres_pair pair("/var/tmp/demo");      // continues with the data in the folder
//     engines::postgres db(pair.where());                // always the primary
//     while (work()) pair.step();                        // rebuilds the standby, and keeps it
//     if (pair.fail_over()) ...                          // kill -9 of the primary, then promotion
//
// 1. No confirmed commit is lost by failovers, nor by kill -9 of the supervisor at any moment,
//    unless a client sets synchronous_commit to less than on, or cancels a commit that waits.
// 2. Both servers end with the thread that made the object. All calls are made by that thread.
// 3. `where()` stays valid for the life of the object. Each new object chooses new ports.
// 4. If the primary ends by itself, `step` fails over, or restarts it if the pair is not in sync.
//
// Why no confirmed commit is lost. While the standby is off or being copied, commits wait for the
// primary only, and failovers are refused. They are allowed after the standby has confirmed a
// commit that began when all commits already waited for it. The log is sent in order: the standby
// then has all earlier commits, and each later one waits for its disk. Failovers are refused again
// before synchronous_standby_names is emptied. A new run repeats this proof before its first
// failover.
//
// `primary` in the folder has the number of the primary and of the era, which grows with each
// failover. A promotion is: kill all processes of the old primary, write the file, promote. A data
// folder is a fit standby if it was copied in this era; any other one is copied anew.
//
// The log is kept with wal_keep_size, not with a replication slot. A slot keeps the log without a
// limit while the standby is off, and each new primary would need one. A standby that has fallen
// too far back is copied anew. Clients log in with a password (file `password`, 0600): any user of
// the machine can connect to 127.0.0.1, and a superuser of the database can start programs.
//
// Failures are `server_error`, with the last error in the server's log (node-0.log, node-1.log).
// Needs PostgreSQL 14 or later, and Linux.

#ifndef WAYBILL_EXAMPLES_ENGINES_POSTGRES_PAIR_HPP
#define WAYBILL_EXAMPLES_ENGINES_POSTGRES_PAIR_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "postgres.hpp"
#include "postgres_node.hpp"
#include "server_error.hpp"

namespace engines {

class postgres_pair {
public:
    /// Creates the folder and its data if they are missing, and waits until the primary accepts
    /// commits. The standby is started by `step`.
    explicit postgres_pair(const std::string& folder, bool with_standby = true)
        : with_standby_(with_standby)
    {
        make_folder(folder);
        lock();
        read_primary();
        const std::string data = folder_ + "/node-" + std::to_string(primary_);
        std::string version = postgres_node::read(data + "/PG_VERSION");
        while (version.ends_with('\n')) version.pop_back();
        const postgres_programs programs = find_postgres(version);
        for (int n = 0; n != 2; ++n) {
            nodes_[n] = std::make_unique<postgres_node>(programs, folder_, n);
        }
        set_up();
        // A port can be taken between the choice and the start.
        for (int tries = 1;; ++tries) {
            choose_ports();
            try {
                start_primary();
                break;
            } catch (const server_error&) {
                if (tries == 5 || !node().port_taken()) throw;
            }
        }
    }
    postgres_pair(const postgres_pair&) = delete;
    postgres_pair& operator=(const postgres_pair&) = delete;
    /// Stops both servers. The standby is the last, so that it gets the end of the log.
    ~postgres_pair()
    {
        db_.reset();
        for (const int n : {primary_, 1 - primary_}) {
            try {
                nodes_[n]->stop(n == primary_ || stage_ != stage::copying ? patience_to_stop
                                                                          : moment);
            } catch (const server_error&) {
                // The destructor of the node repeats it.
            }
        }
    }

    /// For clients: both nodes, of which libpq takes the primary.
    [[nodiscard]] const std::string& where() const noexcept { return where_; }
    /// 0 or 1.
    [[nodiscard]] int primary() const noexcept { return primary_; }
    /// Promotions by this object, including those by `step`.
    [[nodiscard]] std::uint64_t failovers() const noexcept { return failovers_; }

    /// Whether each confirmed commit is on the disks of both nodes, and the standby is connected.
    [[nodiscard]] bool in_sync()
    {
        if (stage_ != stage::synchronous || !node().running() || !other().running()) return false;
        try {
            return standby_state().synchronous;
        } catch (const postgres_error&) {
            return false;
        }
    }

    /// Kills the primary with SIGKILL and promotes the standby, which takes about 0.2 seconds.
    /// Returns false, without a change, if the pair is not in sync.
    bool fail_over()
    {
        if (!in_sync()) return false;
        promote_other();
        return true;
    }

    /// To be called often, in the best case every 50 ms. Starts the standby, copies it from the
    /// primary if necessary, and switches on synchronous replication. Blocks for milliseconds; up
    /// to some seconds if a server has ended.
    void step()
    {
        if (!node().running()) {
            if (stage_ == stage::synchronous) {
                promote_other();
            } else {
                stop_other();
                start_primary();
            }
            return;
        }
        if (!with_standby_ || clock::now() < next_step_) return;
        switch (stage_) {
            case stage::absent: start_other(); break;
            case stage::copying: finish_copy(); break;
            case stage::joining: join(); break;
            case stage::synchronous: watch(); break;
        }
    }

private:
    using clock = std::chrono::steady_clock;
    enum class stage {
        absent,       ///< No process of the other node runs.
        copying,      ///< pg_basebackup runs.
        joining,      ///< The standby runs, and commits do not wait for it.
        synchronous,  ///< Each commit waits for the standby.
    };
    struct standby {
        bool streaming = false;
        bool synchronous = false;
    };
    static constexpr std::chrono::milliseconds moment{5};
    static constexpr std::chrono::milliseconds pause_between_looks{100};
    static constexpr std::chrono::milliseconds pause_after_failure{1'000};
    static constexpr std::chrono::milliseconds patience_to_stop{10'000};
    static constexpr std::chrono::seconds patience_to_start{120};
    static constexpr std::chrono::seconds patience_to_join{20};
    static constexpr std::chrono::seconds patience_to_switch{3};
    static constexpr int most_failures = 4;

    [[nodiscard]] postgres_node& node() noexcept { return *nodes_[primary_]; }
    [[nodiscard]] postgres_node& other() noexcept { return *nodes_[1 - primary_]; }

    // ---- the folder

    void make_folder(const std::string& folder)
    {
        std::error_code e;
        std::filesystem::create_directories(folder, e);
        if (!e) folder_ = std::filesystem::canonical(folder, e).string();
        if (e) throw server_error("the folder " + folder + " cannot be made: " + e.message());
    }

    void lock()
    {
        const std::string path = folder_ + "/lock";
        lock_ = descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        if (lock_.get() < 0)
            throw server_error("the file " + path + " cannot be opened: " + std::strerror(errno));
        // A killed supervisor may be about to end.
        for (const auto deadline = clock::now() + std::chrono::seconds(5);;) {
            if (flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return;
            if (clock::now() > deadline) {
                throw server_error("another program uses the folder " + folder_ +
                                   ": wait for its end, or name another folder");
            }
            std::this_thread::sleep_for(moment);
        }
    }

    [[nodiscard]] bool has(const std::string& name) const
    {
        return access((folder_ + "/" + name).c_str(), F_OK) == 0;
    }

    /// Without the file nothing was ever started in the folder.
    void read_primary()
    {
        if (!has("primary")) {
            if (has("node-0") || has("node-1")) {
                throw server_error("the file primary is missing in " + folder_ +
                                   ": restore it, or remove the folder with all data");
            }
            return;
        }
        std::istringstream in(postgres_node::read(folder_ + "/primary"));
        if (!(in >> primary_ >> era_) || primary_ < 0 || primary_ > 1) {
            throw server_error("the file primary in " + folder_ +
                               " does not have a node, 0 or 1, and an era");
        }
    }

    /// A primary is started only after the file names it.
    void write_primary(int number, std::uint64_t era)
    {
        primary_ = number;
        era_ = era;
        written_ = false;
        node().write(folder_ + "/primary",
                     std::to_string(number) + " " + std::to_string(era) + "\n");
        written_ = true;
    }

    /// Makes the data of the first primary, and removes what a killed supervisor has left over. The
    /// era is 0 until the data are complete.
    void set_up()
    {
        for (const auto& n : nodes_) n->remove(n->fresh());
        if (!has("password")) {
            if (era_ != 0) {
                throw server_error("the file password is missing in " + folder_ +
                                   ": restore it, or remove the folder with all data");
            }
            std::random_device dice;
            for (int n = 0; n != 32; ++n) password_ += "0123456789abcdef"[dice() % 16];
            node().write(folder_ + "/password", password_);
        }
        password_ = postgres_node::read(folder_ + "/password");
        if (era_ == 0) {
            write_primary(0, 0);
            if (!has("node-0")) initialise();
            write_primary(0, 1);
        } else if (!has("node-" + std::to_string(primary_))) {
            throw server_error("the data of the primary are missing: " + node().data());
        }
    }

    void initialise()
    {
        node().make_fresh();
        node().start_program(
            {"initdb", "-D", node().fresh(), "-U", "waybill", "-A", "scram-sha-256",
             "--pwfile=" + folder_ + "/password", "-E", "UTF8", "--no-locale"},
            {}, node().fresh());
        while (node().running()) std::this_thread::sleep_for(moment);
        if (!node().succeeded()) throw server_error("initdb has failed" + node().last_error());
        node().take_fresh();
    }

    // ---- addresses and settings

    /// Ports below those that the system assigns, so that a port stays free while its node is off.
    void choose_ports()
    {
        std::random_device dice;
        ports_[0] = ports_[1] = 0;
        for (int found = 0, tries = 0; found != 2; ++tries) {
            if (tries == 1'000) throw server_error("there is no free port on 127.0.0.1");
            const int port = 20'000 + static_cast<int>(dice() % 12'000);
            const descriptor s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
            sockaddr_in at{};
            at.sin_family = AF_INET;
            at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            at.sin_port = htons(static_cast<std::uint16_t>(port));
            if (port == ports_[0] ||
                ::bind(s.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) != 0) {
                continue;
            }
            ports_[found++] = port;
        }
        const std::string a = std::to_string(ports_[0]);
        const std::string b = std::to_string(ports_[1]);
        where_ = with_standby_ ? "host=127.0.0.1,127.0.0.1 port=" + a + "," + b +
                                     " target_session_attrs=read-write"
                               : "host=127.0.0.1 port=" + std::to_string(ports_[primary_]);
        where_ += " user=waybill dbname=postgres password=" + password_ +
                  " sslmode=disable gssencmode=disable";
    }

    [[nodiscard]] std::string address(int number) const
    {
        return "host=127.0.0.1 port=" + std::to_string(ports_[number]) +
               " user=waybill dbname=postgres password=" + password_ +
               " sslmode=disable gssencmode=disable";
    }

    /// hot_standby is off: no client reads old data from the standby by mistake. A crash of one
    /// process ends the whole server, so that `step` has one case for all failures.
    void write_settings(int number, const std::string& primary_address)
    {
        std::ostringstream out;
        out << "# Written at each start.\n"
               "listen_addresses = '127.0.0.1'\n"
               "unix_socket_directories = ''\n"
               "port = "
            << ports_[number]
            << "\nmax_connections = 100\n"
               "shared_buffers = 32MB\n"
               "dynamic_shared_memory_type = mmap\n"  // in the folder, and removed with it
               "fsync = on\n"
               "full_page_writes = on\n"
               "synchronous_commit = on\n"
               "restart_after_crash = off\n"
               "hot_standby = off\n"
               "wal_level = replica\n"
               "wal_keep_size = 128MB\n"
               "max_wal_size = 256MB\n"
               "max_wal_senders = 6\n"
               "max_replication_slots = 4\n"
               "wal_sender_timeout = 10s\n"
               "wal_receiver_timeout = 10s\n"
               "wal_receiver_status_interval = 1s\n"
               "wal_retrieve_retry_interval = 50ms\n"
               "timezone = 'UTC'\n"
               "primary_conninfo = '"
            << primary_address << "'\ninclude 'sync.conf'\n";
        const postgres_node& n = *nodes_[number];
        n.write(n.data() + "/sync.conf", "synchronous_standby_names = ''\n");
        n.write(n.data() + "/postgresql.conf", out.str());
    }

    /// Sets the standby that commits wait for. Effective soon after the call.
    void set_synchronous(const std::string& name)
    {
        node().write(node().data() + "/sync.conf", "synchronous_standby_names = '" + name + "'\n");
        node().signal(SIGHUP);
    }

    // ---- the primary

    void start_primary()
    {
        db_.reset();
        if (!written_) write_primary(primary_, era_);
        write_settings(primary_, "");
        node().start_server();
        wait_for_primary();
    }

    /// Until it accepts commits. A standby is promoted.
    void wait_for_primary()
    {
        db_ = std::make_unique<postgres>(address(primary_) + " connect_timeout=5");
        for (const auto deadline = clock::now() + patience_to_start;;) {
            if (!node().running()) {
                throw server_error("the server of " + node().data() + " on port " +
                                   std::to_string(ports_[primary_]) + " has ended" +
                                   node().last_error());
            }
            // The file is removed by a server that starts, and by the promotion.
            if (node().exists("standby.signal") && node().exists("postmaster.pid")) {
                if (!node().exists("promote")) node().write(node().data() + "/promote", "");
                node().signal(SIGUSR1);
            }
            try {
                db_->connect();
                return;
            } catch (const postgres_error& e) {
                if (clock::now() > deadline) {
                    throw server_error("the server of " + node().data() +
                                       " does not accept connections: " + e.what());
                }
            }
            std::this_thread::sleep_for(moment);
        }
    }

    /// The standby has each confirmed commit. The order is the rule in the head comment.
    void promote_other()
    {
        stage_ = stage::absent;
        db_.reset();
        node().kill_all();
        write_primary(1 - primary_, era_ + 1);
        ++failovers_;
        failures_ = 0;
        if (node().running()) {
            wait_for_primary();
        } else {
            start_primary();
        }
    }

    // ---- the other node

    [[nodiscard]] bool is_fit()
    {
        return other().exists("standby.signal") &&
               other().content("standby_of_era") == std::to_string(era_);
    }

    void stop_other()
    {
        stage_ = stage::absent;
        other().kill_all();
    }

    void start_other()
    {
        if (!is_fit()) return copy();
        write_settings(1 - primary_, address(primary_) + " application_name=" + other().name());
        other().start_server();
        stage_ = stage::joining;
        join_deadline_ = clock::now() + patience_to_join;
    }

    void copy()
    {
        other().make_fresh();
        other().start_program({"pg_basebackup", "-D", other().fresh(), "-X", "stream", "-c", "fast",
                               "-w", "-d", address(primary_)},
                              {}, other().fresh());
        stage_ = stage::copying;
    }

    void finish_copy()
    {
        if (other().running()) return;
        if (!other().succeeded()) return failed("pg_basebackup has failed");
        other().write(other().fresh() + "/standby.signal", "");
        other().write(other().fresh() + "/standby_of_era", std::to_string(era_));
        other().take_fresh();
        start_other();
    }

    /// A standby that does not join is copied anew, after a pause. Throws after several failures.
    void failed(const std::string& what)
    {
        const std::string text = what + other().last_error();
        stop_other();
        next_step_ = clock::now() + pause_after_failure;
        if (has("node-" + std::to_string(1 - primary_))) {
            other().write(other().data() + "/standby_of_era", "0");
        }
        if (++failures_ % most_failures == 0) throw server_error(text);
    }

    [[nodiscard]] standby standby_state()
    {
        const rows r = db_->outside([&] {
            return db_->exec(("SELECT state = 'streaming', sync_state = 'sync'"
                              " FROM pg_stat_replication WHERE application_name = '" +
                              other().name() + "'")
                                 .c_str());
        });
        standby s;
        // The connection that a restarted standby had before may still be listed.
        for (int n = 0; n != r.size(); ++n) {
            const bool streaming = r.text(n, 0) == "t";
            s.streaming = s.streaming || streaming;
            s.synchronous = s.synchronous || (streaming && r.text(n, 1) == "t");
        }
        return s;
    }

    void join()
    {
        if (!other().running()) return failed("the standby has ended");
        bool joined = false;
        try {
            joined = standby_state().streaming && switch_on();
        } catch (const postgres_error&) {
            // The next step finds out whether the primary still runs.
        }
        if (joined) {
            stage_ = stage::synchronous;
            failures_ = 0;
        } else if (clock::now() > join_deadline_) {
            failed("the standby does not follow");
        }
    }

    void watch()
    {
        next_step_ = clock::now() + pause_between_looks;
        if (in_sync()) return;
        if (!node().running()) return;  // The next step fails over.
        // The stage changes first, because it allows failovers.
        stage_ = stage::joining;
        set_synchronous("");
        join_deadline_ = clock::now() + patience_to_join;
        if (!other().running()) start_again();
    }

    /// A standby that has ended is still fit, and its next end is a failure.
    void start_again()
    {
        stage_ = stage::absent;
        start_other();
    }

    /// Returns true if each commit from now on waits for the standby, which has all earlier ones.
    ///
    /// The state in pg_stat_replication does not prove that: server processes read the new settings
    /// one after the other, and commits are confirmed without the standby until the checkpointer
    /// has read them. So commits wait at first for a standby that does not exist. As soon as one is
    /// seen waiting, all later ones wait. Then the standby is named, and one more commit has to be
    /// confirmed.
    [[nodiscard]] bool switch_on()
    {
        try {
            postgres witness(address(primary_) + " connect_timeout=5");
            witness.connect();
            const auto deadline = clock::now() + patience_to_switch;
            // A commit that does not wait: the empty name that was set last is no longer pending.
            begin_commit(witness);
            if (!committed(witness, deadline)) return false;
            set_synchronous("waybill_none");
            if (wait_until_commits_wait(witness, deadline)) {
                set_synchronous(other().name());
                // The first commit, then one that began when all commits already waited.
                if (confirmed_by_standby(witness, deadline)) {
                    begin_commit(witness);
                    if (confirmed_by_standby(witness, deadline)) return true;
                }
            }
        } catch (const postgres_error&) {
            // As after a timeout: commits must not wait for a standby that may be gone.
        }
        set_synchronous("");
        next_step_ = clock::now() + pause_between_looks;
        return false;
    }

    static void begin_commit(postgres& on)
    {
        const char* const sql = "SELECT pg_logical_emit_message(true, 'waybill', '')";
        if (PQsendQuery(on.handle(), sql) != 1) throw on.failure(nullptr);
    }

    /// Waits until the commit that was begun is confirmed, or the deadline.
    [[nodiscard]] static bool committed(postgres& on, clock::time_point deadline)
    {
        while (PQisBusy(on.handle()) != 0) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
            if (left.count() <= 0) return false;
            pollfd p{.fd = PQsocket(on.handle()), .events = POLLIN, .revents = 0};
            ::poll(&p, 1, static_cast<int>(left.count()));
            if (PQconsumeInput(on.handle()) != 1) throw on.failure(nullptr);
        }
        bool ok = true;
        while (PGresult* const r = PQgetResult(on.handle())) ok = rows(r).ok() && ok;
        return ok;
    }

    /// Waiting commits are released by the next report of the standby. Without new entries in the
    /// log it reports once in a second, so commits are added that do not wait.
    [[nodiscard]] bool confirmed_by_standby(postgres& witness, clock::time_point deadline)
    {
        while (clock::now() < deadline) {
            if (committed(witness, clock::now() + moment)) return true;
            db_->exec(
                "BEGIN; SET LOCAL synchronous_commit = local;"
                " SELECT pg_logical_emit_message(true, 'waybill', ''); COMMIT");
        }
        return false;
    }

    [[nodiscard]] bool wait_until_commits_wait(postgres& witness, clock::time_point deadline)
    {
        const std::string sql =
            "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            " AND pid = " +
            std::to_string(PQbackendPID(witness.handle()));
        begin_commit(witness);
        while (clock::now() < deadline) {
            if (!db_->exec(sql.c_str()).empty()) return true;
            if (committed(witness, clock::now() + std::chrono::milliseconds(2))) {
                begin_commit(witness);
            }
        }
        return false;
    }

    std::string folder_{};
    bool with_standby_;
    descriptor lock_{};
    std::string password_{};
    std::unique_ptr<postgres_node> nodes_[2]{};
    int ports_[2]{};
    std::string where_{};
    std::unique_ptr<postgres> db_{};
    int primary_ = 0;
    std::uint64_t era_ = 0;
    bool written_ = true;
    std::uint64_t failovers_ = 0;
    stage stage_ = stage::absent;
    clock::time_point next_step_{};
    clock::time_point join_deadline_{};
    int failures_ = 0;
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_POSTGRES_PAIR_HPP
