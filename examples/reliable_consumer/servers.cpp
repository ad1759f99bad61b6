// SPDX-License-Identifier: MIT

#include "servers.hpp"

#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "../engines/nats_cluster.hpp"
#include "../engines/nats_server.hpp"
#include "../engines/postgres_pair.hpp"
#include "../support/program.hpp"
#include "files.hpp"
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
#include "kafka_faults.hpp"
#endif

namespace reliable_consumer {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

std::string times(std::uint64_t n)
{
    return n == 1 ? "once" : fmt::format("{} times", n);
}

/// Starts the servers, kills them in turn, and starts them again. One at a time: two nodes of three
/// are a majority, and a standby that is up to date can become the primary.
class own_servers : public server_faults {
public:
    explicit own_servers(const options& o) : cluster_(o.cluster), dice_(o.seed)
    {
        addresses at{o.log, o.store};
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
        // First, because it forks.
        if (o.log == "kafka:") {
            at.log = std::string(kafka_scheme) +
                     brokers_.emplace(stream, static_cast<std::uint32_t>(o.partitions), o.seed)
                         .address();
        }
#else
        if (o.log.starts_with("kafka:")) {
            throw support::complaint(
                "--log kafka: this program was built without librdkafka-dev; "
                "install it and build it again");
        }
#endif
        if (o.log == "nats:" && o.cluster) {
            nodes_.emplace(o.db + "/nats");
            at.log = nodes_->urls();
        } else if (o.log == "nats:") {
            node_.emplace(o.db + "/nats");
            at.log = fmt::format("nats://{}:{}", node_->at().host, node_->at().port);
        }
        if (o.store == "postgres:") {
            tables_.emplace(o.db + "/postgres", o.cluster);
            at.store = tables_->where();
        }
        write(o, at);
    }

    void step(bool may_kill) override
    {
        if (tables_) tables_->step();
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
        if (brokers_) brokers_->step(may_kill);
#endif
        const auto now = clock::now();
        if (down_ && now >= restart_at_) {
            nodes_->start_node(*std::exchange(down_, std::nullopt));
            next_kill_ = now + 1s;
        }
        if (!may_kill || now < next_kill_ || down_) return;
        // Only if all is well: a second fault at the same time may be one too many.
        next_kill_ = now + 200ms;
        if (nodes_ && !nodes_->current(stream)) return;
        switch (turn_) {
            case 0: kill_node(false); break;
            case 1: kill_node(true); break;
            default:
                if (!tables_ || tables_->fail_over()) {
                    turn_ = 0;
                    all_killed_ = true;
                }
                next_kill_ = clock::now() + 1s;
        }
    }

    bool one_is_spared() const override
    {
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
        if (brokers_ && !brokers_->failed()) return true;
#endif
        return cluster_ && !all_killed_;
    }

    std::string missing() override
    {
        if (down_) return fmt::format("node {} of NATS is down", *down_);
        if (nodes_ && !nodes_->current(stream))
            return "the stream of NATS has no leader, or a replica that is not current";
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
        if (brokers_ && !brokers_->whole()) return "a broker of Kafka is down";
#endif
        if (tables_ && cluster_ && !tables_->in_sync())
            return "the standby of PostgreSQL is not in sync";
        return {};
    }

    std::string summary() const override
    {
        std::string all;
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
        if (brokers_) all = brokers_->summary() + '\n';
#endif
        const std::uint64_t primaries = tables_ ? tables_->failovers() : 0;
        if (killed_nodes_ == 0 && primaries == 0) return all + "no server was killed";
        all += "killed with -9:";
        if (nodes_) {
            all += fmt::format(" {} of NATS, {} of them the leader of the stream;",
                               support::counted(killed_nodes_, "node"), killed_leaders_);
        }
        return all + fmt::format(" the primary of PostgreSQL {}", times(primaries));
    }

private:
    void kill_node(bool leader)
    {
        ++turn_;
        if (!nodes_) return;
        const auto leading = nodes_->node_of_leader(stream);
        if (!leading) {
            --turn_;  // later
            return;
        }
        std::size_t n = *leading;
        if (!leader) n = (n + 1 + dice_() % (nodes_->size() - 1)) % nodes_->size();
        nodes_->kill_node(n);
        ++killed_nodes_;
        if (leader) ++killed_leaders_;
        down_ = n;
        restart_at_ = clock::now() + 1s;
    }

    static void write(const options& o, const addresses& at)
    {
        const std::string path = servers_in(o);
        std::ofstream(path, std::ios::app).close();
        chmod(path.c_str(), S_IRUSR | S_IWUSR);
        support::write_file("addresses", path, at.log + '\n' + at.store + '\n');
    }

    bool cluster_;
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
    std::optional<kafka_faults> brokers_{};
#endif
    std::optional<engines::nats_server> node_{};
    std::optional<engines::nats_cluster> nodes_{};
    std::optional<engines::postgres_pair> tables_{};
    std::mt19937_64 dice_;
    int turn_ = 0;
    bool all_killed_ = false;            // each kind once
    std::optional<std::size_t> down_{};  // the node that does not run
    clock::time_point restart_at_{};
    clock::time_point next_kill_{};
    std::uint64_t killed_nodes_ = 0;
    std::uint64_t killed_leaders_ = 0;
};

addresses addresses_in(const options& o)
{
    const std::string path = servers_in(o);
    std::ifstream file(path);
    addresses at;
    if (!std::getline(file, at.log) || !std::getline(file, at.store))
        throw support::complaint(fmt::format("{}: the file has no addresses of servers", path));
    return at;
}

bool is_kafka(const addresses& at)
{
    return at.log.starts_with(kafka_scheme);
}

}  // namespace

std::unique_ptr<server_faults> start_servers(const options& o)
{
    return std::make_unique<own_servers>(o);
}

std::unique_ptr<tables> tables_at_servers(const options& o)
{
    const addresses at = addresses_in(o);
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
    if (is_kafka(at)) return tables_at_kafka(o, at);
#endif
    return tables_at_nats(o, at);
}

int work_at_servers(const options& o)
{
    const addresses at = addresses_in(o);
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
    if (is_kafka(at)) return work_at_kafka(o, at);
#endif
    return work_at_nats(o, at);
}

}  // namespace reliable_consumer
