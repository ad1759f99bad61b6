// SPDX-License-Identifier: MIT
//
// postgres_node: the data folder of one PostgreSQL server and the process that works in it.
//
//     const auto programs = engines::find_postgres("");
//     engines::postgres_node node(programs, "/var/tmp/demo", 0);    // data in /var/tmp/demo/node-0
//     node.start_program({"initdb", "-D", node.fresh(), ...}, {}, node.fresh());
//     node.start_server();
//     node.kill_all();                                              // children included
//
// 1. One process at a time: the server, or initdb or pg_basebackup, which fill a new folder.
// 2. Each process ends with the thread that started it (PR_SET_PDEATHSIG, SIGKILL).
// 3. The process and its children hold a lock on NAME.lock. A free lock proves that all of them
//    have ended, also after a crash of the supervisor. No process starts without this proof.
//    Children that still run 5 s after it get SIGKILL.
// 4. As root, the programs run as the user postgres; PostgreSQL refuses to run as root.
//
// Failures are `server_error`. Linux only. An object belongs to one thread, and a folder to one
// object at a time; postgres_pair has a lock for that.

#ifndef WAYBILL_EXAMPLES_ENGINES_POSTGRES_NODE_HPP
#define WAYBILL_EXAMPLES_ENGINES_POSTGRES_NODE_HPP

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "server_error.hpp"

namespace engines {

/// The programs of one release of PostgreSQL, and the user that runs them.
struct postgres_programs {
    std::string folder{};
    uid_t user = 0;
    gid_t group = 0;
};

/// The release with this major number, as PG_VERSION in a data folder has it; the latest one if
/// there is none. Throws server_error without PostgreSQL, or as root without a user postgres.
[[nodiscard]] inline postgres_programs find_postgres(const std::string& version)
{
    postgres_programs found{.folder = {}, .user = geteuid(), .group = getegid()};
    int latest = -1;
    for (const char* const pattern : {"/usr/local/pgsql/bin/postgres", "/usr/pgsql-*/bin/postgres",
                                      "/usr/lib/postgresql/*/bin/postgres"}) {
        glob_t all{};
        if (glob(pattern, 0, nullptr, &all) == 0) {
            for (std::size_t i = 0; i != all.gl_pathc; ++i) {
                const std::string program = all.gl_pathv[i];
                const std::string bin = program.substr(0, program.rfind('/'));
                if (access((bin + "/initdb").c_str(), X_OK) != 0 ||
                    access((bin + "/pg_basebackup").c_str(), X_OK) != 0) {
                    continue;
                }
                const std::size_t digits = bin.find_first_of("0123456789");
                const std::string number =
                    digits == bin.npos ? "0" : bin.substr(digits, bin.rfind('/') - digits);
                // The requested release has the highest rank.
                const int rank = number == version ? 1'000'000 : std::atoi(number.c_str());
                if (rank <= latest) continue;
                latest = rank;
                found.folder = bin;
            }
        }
        globfree(&all);
    }
    if (found.folder.empty()) {
        throw server_error(
            "there is no PostgreSQL on this machine: install the packages postgresql and "
            "postgresql-client");
    }
    if (found.user == 0) {
        const passwd* const entry = getpwnam("postgres");
        if (!entry) throw server_error("PostgreSQL does not run as root: add a user postgres");
        found.user = entry->pw_uid;
        found.group = entry->pw_gid;
    }
    return found;
}

/// A file descriptor that is closed with its object.
class descriptor {
public:
    descriptor() = default;
    explicit descriptor(int fd) noexcept : fd_(fd) {}
    descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept
    {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~descriptor()
    {
        if (fd_ >= 0) close(fd_);
    }
    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int fd_ = -1;
};

class postgres_node {
public:
    using clock = std::chrono::steady_clock;

    postgres_node(const postgres_programs& programs, const std::string& folder, int number)
        : programs_(programs),
          name_("node_" + std::to_string(number)),
          data_(folder + "/node-" + std::to_string(number))
    {
        // The process of a killed supervisor has got its SIGKILL; its children may still end.
        wait_until_unused();
        forget_server(data_);
        const descriptor log(
            open(log_path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        if (log.get() < 0) throw failed("open " + log_path());
    }
    postgres_node(const postgres_node&) = delete;
    postgres_node& operator=(const postgres_node&) = delete;
    ~postgres_node()
    {
        try {
            kill_all();
        } catch (const server_error&) {
            // A child process needs longer to end than the wait; the lock still shows that.
        }
    }

    /// As synchronous_standby_names knows it: "node_0".
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::string& data() const noexcept { return data_; }
    /// The folder that initdb or pg_basebackup fills.
    [[nodiscard]] std::string fresh() const { return data_ + ".new"; }
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] bool exists(const char* file) const
    {
        return access((data_ + "/" + file).c_str(), F_OK) == 0;
    }
    /// Empty if there is no such file.
    [[nodiscard]] std::string content(const char* file) const { return read(data_ + "/" + file); }

    [[nodiscard]] static std::string read(const std::string& path)
    {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }

    /// Replaces a file, for the user of the servers only. After a crash of the system it has the
    /// old or the new content.
    void write(const std::string& path, std::string_view text) const
    {
        const std::string fresh_path = path + ".tmp";
        unlink(fresh_path.c_str());
        const descriptor out(
            open(fresh_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (out.get() < 0) throw failed("make " + fresh_path);
        while (!text.empty()) {
            const ssize_t n = ::write(out.get(), text.data(), text.size());
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) throw failed("write " + fresh_path);
            text.remove_prefix(static_cast<std::size_t>(n));
        }
        if (geteuid() == 0 && fchown(out.get(), programs_.user, programs_.group) != 0) {
            throw failed("give " + fresh_path + " to the user postgres");
        }
        if (fsync(out.get()) != 0) throw failed("write " + fresh_path);
        rename(fresh_path, path);
    }

    /// An empty folder `fresh()` for the user of the servers.
    void make_fresh() const
    {
        remove(fresh());
        if (mkdir(fresh().c_str(), 0700) != 0) throw failed("make " + fresh());
        if (geteuid() == 0 && chown(fresh().c_str(), programs_.user, programs_.group) != 0) {
            throw failed("give " + fresh() + " to the user postgres");
        }
    }
    /// Replaces the data by the fresh ones. After a crash in between, there is no data folder.
    void take_fresh() const
    {
        remove(data_);
        rename(fresh(), data_);
    }

    /// Starts initdb or pg_basebackup. `environment` has lines NAME=value.
    void start_program(std::vector<std::string> words, std::vector<std::string> environment,
                       const std::string& in)
    {
        words[0] = programs_.folder + "/" + words[0];
        start(std::move(words), std::move(environment), in);
    }
    void start_server()
    {
        kill_all();
        start({programs_.folder + "/postgres", "-D", data_}, {}, data_);
    }

    /// False once the process has ended. Does not wait.
    [[nodiscard]] bool running() noexcept
    {
        if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) != 0) pid_ = -1;
        return pid_ > 0;
    }
    /// Whether the last process ended with 0.
    [[nodiscard]] bool succeeded() const noexcept
    {
        return pid_ < 0 && WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
    }
    void signal(int number) noexcept
    {
        if (running()) kill(pid_, number);
    }

    /// SIGKILL for the process and its children. All of them have ended afterwards.
    void kill_all()
    {
        if (running()) {
            // A stopped process starts no children, and a killed child keeps its number.
            kill(pid_, SIGSTOP);
            const std::string task = std::to_string(pid_);
            std::istringstream children(read("/proc/" + task + "/task/" + task + "/children"));
            for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
            kill(pid_, SIGKILL);
            while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
            }
            pid_ = -1;
        }
        wait_until_unused();
        forget_server(data_);
    }
    /// An orderly end, with SIGINT; SIGKILL after the patience.
    void stop(std::chrono::milliseconds patience)
    {
        signal(SIGINT);
        for (const auto deadline = clock::now() + patience; running() && clock::now() < deadline;) {
            std::this_thread::sleep_for(moment);
        }
        kill_all();
    }

    /// ": " and the last error in the log of this process, or its last line.
    [[nodiscard]] std::string last_error() const
    {
        std::string text = read(log_path());
        text.erase(0, std::min(log_size_, text.size()));
        std::istringstream lines(text);
        std::string last;
        bool has_error = false;
        for (std::string line; std::getline(lines, line);) {
            bool error = false;
            for (const char* const word : {"FATAL:", "PANIC:", "ERROR:", "error:", "could not"}) {
                error = error || line.find(word) != line.npos;
            }
            // A client that was refused is not a failure of the server.
            const bool refused = line.find("FATAL:  the database system is") != line.npos;
            if (line.empty() || refused || (has_error && !error)) continue;
            has_error = error;
            last = line;
        }
        const int code = pid_ < 0 && WIFEXITED(status_) ? WEXITSTATUS(status_) : 0;
        if (code == no_folder) {
            last =
                "the user of the servers cannot enter " + data_ +
                ": use a folder below /var/tmp, or allow it with chmod o+x for each folder above";
        }
        if (code == no_user) last = "the user postgres cannot be set";
        if (code == still_locked) last = "another process works in " + data_;
        if (code == no_program) last = "a program in " + programs_.folder + " cannot be started";
        return last.empty() ? last : ": " + last;
    }
    /// Whether the server ended since another program has its port.
    [[nodiscard]] bool port_taken() const
    {
        return read(log_path()).find("could not bind", log_size_) != std::string::npos;
    }

    void remove(const std::string& path) const
    {
        forget_server(path);
        std::error_code e;
        std::filesystem::remove_all(path, e);
        if (e) throw server_error("cannot remove " + path + ": " + e.message());
    }

private:
    static constexpr std::chrono::milliseconds moment{2};
    static constexpr std::chrono::seconds patience_for_children{60};
    static constexpr std::chrono::seconds patience_for_orphans{5};
    // Exit codes of a child process before exec; PostgreSQL ends with 0 to 3.
    static constexpr int no_folder = 124;
    static constexpr int no_user = 125;
    static constexpr int still_locked = 126;
    static constexpr int no_program = 127;

    struct plan {
        std::vector<char*> words{};
        std::vector<char*> environment{};
        const char* in = nullptr;
        const char* log = nullptr;
        const char* lock = nullptr;
        postgres_programs user{};
        pid_t parent = 0;
    };

    [[nodiscard]] std::string log_path() const { return data_ + ".log"; }
    [[nodiscard]] std::string lock_path() const { return data_ + ".lock"; }
    [[nodiscard]] static server_error failed(const std::string& action)
    {
        return server_error("cannot " + action + ": " + std::strerror(errno));
    }

    static void rename(const std::string& from, const std::string& to)
    {
        if (std::rename(from.c_str(), to.c_str()) != 0) throw failed("rename " + from);
        const std::string folder = to.substr(0, to.rfind('/'));
        const descriptor entries(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (entries.get() < 0 || fsync(entries.get()) != 0) throw failed("write " + folder);
    }

    /// Removes the pid file of a server that has ended, and the shared memory that the file names.
    /// The server would refuse to start if another process had its number meanwhile.
    static void forget_server(const std::string& data)
    {
        const std::string path = data + "/postmaster.pid";
        std::istringstream lines(read(path));
        std::string line;
        for (int n = 0; n != 6; ++n) std::getline(lines, line);
        long key = 0;
        int id = 0;
        shmid_ds state{};
        if (lines >> key >> id && shmget(static_cast<key_t>(key), 0, 0) == id &&
            shmctl(id, IPC_STAT, &state) == 0 && state.shm_nattch == 0) {
            shmctl(id, IPC_RMID, nullptr);
        }
        unlink(path.c_str());
    }

    /// Waits until no process works in the folder. Its main process has ended or has got SIGKILL
    /// before. The children should end by themselves, but PostgreSQL has waits that do not notice
    /// the end of the main process (PGSemaphoreLock), so they get SIGKILL after a while.
    void wait_until_unused() const
    {
        const descriptor lock(open(lock_path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        if (lock.get() < 0) throw failed("open " + lock_path());
        const auto begun = clock::now();
        auto look = begun + patience_for_orphans;
        while (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
            if (clock::now() > begun + patience_for_children) {
                std::string list;
                for (const pid_t pid : processes()) {
                    list += list.empty() ? " (" : ", ";
                    list += std::to_string(pid) + " " + words_of(pid);
                }
                throw server_error("a process of an earlier server still works in " + data_ +
                                   (list.empty() ? list : list + ")") +
                                   ": wait for its end, or end it");
            }
            if (clock::now() > look) {
                for (const pid_t pid : processes()) kill(pid, SIGKILL);
                look += patience_for_orphans;
            }
            std::this_thread::sleep_for(moment);
        }
    }

    /// The processes that hold the lock on NAME.lock. A file that is only open does not count.
    [[nodiscard]] std::vector<pid_t> processes() const
    {
        namespace fs = std::filesystem;
        std::vector<pid_t> found;
        struct stat lock{};
        if (stat(lock_path().c_str(), &lock) != 0) return found;
        std::error_code e;
        for (fs::directory_iterator process("/proc", e), end; !e && process != end;
             process.increment(e)) {
            const pid_t pid = std::atoi(process->path().filename().c_str());
            std::error_code gone;  // the process has ended meanwhile
            for (fs::directory_iterator file(process->path() / "fd", gone);
                 pid > 0 && pid != getpid() && !gone && file != end; file.increment(gone)) {
                struct stat each{};
                if (stat(file->path().c_str(), &each) != 0 || each.st_dev != lock.st_dev ||
                    each.st_ino != lock.st_ino) {
                    continue;
                }
                const std::string number = file->path().filename();
                if (read(process->path() / "fdinfo" / number).find("FLOCK") == std::string::npos) {
                    continue;
                }
                found.push_back(pid);
                break;
            }
        }
        return found;
    }
    /// The command of a process, as `ps` shows it.
    [[nodiscard]] static std::string words_of(pid_t pid)
    {
        std::string words = read("/proc/" + std::to_string(pid) + "/cmdline");
        std::replace(words.begin(), words.end(), '\0', ' ');
        words.erase(words.find_last_not_of(' ') + 1);
        return words;
    }

    void start(std::vector<std::string> words, std::vector<std::string> environment,
               const std::string& in)
    {
        environment.emplace_back("LC_ALL=C");
        for (char** each = environ; *each; ++each) {
            const std::string_view line = *each;
            if (!line.starts_with("PG") && !line.starts_with("LC_")) environment.emplace_back(line);
        }
        const std::string log = log_path();
        const std::string lock = lock_path();
        plan p{.words = {},
               .environment = {},
               .in = in.c_str(),
               .log = log.c_str(),
               .lock = lock.c_str(),
               .user = programs_,
               .parent = getpid()};
        for (std::string& word : words) p.words.push_back(word.data());
        for (std::string& line : environment) p.environment.push_back(line.data());
        p.words.push_back(nullptr);
        p.environment.push_back(nullptr);
        std::error_code e;
        const auto size = std::filesystem::file_size(log, e);
        log_size_ = e ? 0 : static_cast<std::size_t>(size);
        status_ = -1;
        pid_ = fork();
        if (pid_ == 0) become(p);
        if (pid_ < 0) throw failed("start a process");
    }

    /// The child process, with calls only that are allowed after fork in a program with threads.
    [[noreturn]] static void become(const plan& p)
    {
        // Ctrl-C is for the supervisor, which needs the server until its own end.
        setpgid(0, 0);
        for (const int number : {SIGCHLD, SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
            ::signal(number, SIG_DFL);
        }
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, nullptr);
        const int lock = fcntl(open(p.lock, O_RDWR), F_DUPFD, 3);
        // A thread that forks at this moment may hold a copy of the supervisor's descriptor.
        for (int tries = 0; flock(lock, LOCK_EX | LOCK_NB) != 0; ++tries) {
            if (tries == 1'000) _exit(still_locked);
            const timespec time{.tv_sec = 0, .tv_nsec = 1'000'000};
            nanosleep(&time, nullptr);
        }
        const int nothing = open("/dev/null", O_RDWR);
        const int log = open(p.log, O_WRONLY | O_APPEND);
        dup2(nothing, 0);
        dup2(log, 1);
        dup2(log, 2);
        for (int fd = 3; fd != most_descriptors; ++fd) {
            if (fd != lock) close(fd);
        }
        if (geteuid() == 0 && (setgroups(1, &p.user.group) != 0 || setgid(p.user.group) != 0 ||
                               setuid(p.user.user) != 0)) {
            _exit(no_user);
        }
        // A change of the user clears it, so it comes afterwards.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != p.parent) _exit(no_program);
        umask(077);
        if (chdir(p.in) != 0) _exit(no_folder);
        execve(p.words[0], p.words.data(), p.environment.data());
        _exit(no_program);
    }

    static constexpr int most_descriptors = 4'096;

    postgres_programs programs_;
    std::string name_;
    std::string data_;
    pid_t pid_ = -1;
    int status_ = -1;
    std::size_t log_size_ = 0;
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_POSTGRES_NODE_HPP
