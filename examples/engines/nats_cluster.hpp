// SPDX-License-Identifier: MIT
//
// nats_cluster: nats-server processes with JetStream that form one cluster on 127.0.0.1, for tests
// and demonstrations of node failures.
//
//     engines::nats_cluster cluster(folder);                     // three nodes, kept data
//     engines::nats_log log(cluster.urls(), "ORDERS", 8, 3);     // three replicas
//     if (const auto leader = cluster.node_of_leader("ORDERS")) {
//         cluster.kill_node(*leader);                            // SIGKILL
//         cluster.start_node(*leader);
//     }
//     while (!cluster.current("ORDERS")) sleep();                // before the next kill
//
//   1. The folder has the data of node-N in node-N/ and its log in node-N.log. A later object with
//      the same folder and number of nodes continues with the data, on other ports.
//   2. The system kills the nodes when the thread that started them ends. So the constructor and
//      `start_node` are called by a thread that lives at least as long as the object.
//   3. The constructor throws server_error if the program is missing, if the folder is in use, or
//      if there is no JetStream leader after 60 s. `start_node` throws it if the system creates no
//      process. The other calls do not throw, also while no node runs.
//   4. The destructor ends the nodes with SIGTERM, so that they write their data.
//
// An election begins 4 s to 9 s after the loss of a leader, and also after the start with kept data
// (constants of nats-server 2.9). It is repeated if no node gets enough votes.

#ifndef WAYBILL_EXAMPLES_ENGINES_NATS_CLUSTER_HPP
#define WAYBILL_EXAMPLES_ENGINES_NATS_CLUSTER_HPP

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nats/nats.h>
#include <sys/types.h>

#include "nats_client.hpp"
#include "number.hpp"
#include "server_process.hpp"

namespace engines {

class nats_cluster {
public:
    /// `nodes` is at least 2; JetStream works while more than half of them run.
    explicit nats_cluster(const std::string& folder, std::size_t nodes = 3)
        : folder_(folder), lock_(folder, "nats_cluster")
    {
        if (nodes < 2) throw server_error("a cluster has at least 2 nodes");
        const std::vector<std::uint16_t> ports = free_ports(2 * nodes);
        for (std::size_t n = 0; n != nodes; ++n)
            nodes_.push_back({ports[2 * n], ports[2 * n + 1], {}, {}});
        for (std::size_t n = 0; n != nodes; ++n) run(n);
        client_.emplace(urls(), request_wait);
        wait_for_leader();
    }
    nats_cluster(const nats_cluster&) = delete;
    nats_cluster& operator=(const nats_cluster&) = delete;
    ~nats_cluster()
    {
        client_.reset();
        // All at once: a node that is asked to end hands its leadership to the others first.
        for (node& n : nodes_) {
            if (!n.process.ended()) ::kill(n.process.pid(), SIGTERM);
        }
    }

    /// "nats://127.0.0.1:21000,nats://127.0.0.1:21002,..."
    [[nodiscard]] std::string urls() const
    {
        std::string list;
        for (std::size_t n = 0; n != nodes_.size(); ++n) list += (n == 0 ? "" : ",") + url(n);
        return list;
    }
    /// The address of one node.
    [[nodiscard]] std::string url(std::size_t n) const
    {
        return "nats://127.0.0.1:" + std::to_string(nodes_.at(n).client_port);
    }

    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

    /// SIGKILL; returns after the end of the process.
    void kill_node(std::size_t n) { nodes_.at(n).process.kill(); }

    /// Starts the process if it does not run. Does not wait until the node is ready.
    void start_node(std::size_t n)
    {
        if (!alive(n)) run(n);
    }

    /// Valid while the process runs.
    [[nodiscard]] pid_t pid(std::size_t n) const { return nodes_.at(n).process.pid(); }

    [[nodiscard]] bool alive(std::size_t n) { return !nodes_.at(n).process.ended(); }

    /// The node that leads the stream. Empty if there is no leader, or no reply within 1 s.
    [[nodiscard]] std::optional<std::size_t> node_of_leader(const std::string& stream)
    {
        nats_stream_info info = info_of(stream);
        return info ? leader_of(*info) : std::nullopt;
    }

    /// True if the stream has a leader, and all other replicas are online and have applied all that
    /// the leader has.
    [[nodiscard]] bool current(const std::string& stream)
    {
        nats_stream_info info = info_of(stream);
        if (!info || !leader_of(*info)) return false;
        const jsClusterInfo& c = *info->Cluster;
        if (c.ReplicasLen + 1 != info->Config->Replicas) return false;
        return std::all_of(c.Replicas, c.Replicas + c.ReplicasLen,
                           [&](const jsPeerInfo* r) { return current(*r); });
    }

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds patience{60};
    static constexpr std::chrono::milliseconds request_wait{500};
    static constexpr std::chrono::milliseconds reconnection{500};

    struct node {
        std::uint16_t client_port = 0;
        std::uint16_t route_port = 0;
        server_process process{};
        clock::time_point started{};
    };

    [[nodiscard]] std::optional<std::size_t> index_of(std::string_view name) const
    {
        constexpr std::string_view prefix = "node-";
        if (!name.starts_with(prefix)) return {};
        const auto n = number_in(name.substr(prefix.size()));
        if (!n || *n >= nodes_.size()) return {};
        return static_cast<std::size_t>(*n);
    }

    [[nodiscard]] std::optional<std::size_t> leader_of(const jsStreamInfo& info) const
    {
        if (info.Cluster == nullptr || info.Cluster->Leader == nullptr) return {};
        return index_of(info.Cluster->Leader);
    }

    /// A leader reports a replica as current until it notices that the node has ended. So there
    /// must have been a contact since the start of the process.
    [[nodiscard]] bool current(const jsPeerInfo& replica)
    {
        const auto n = index_of(replica.Name);
        if (!n || !alive(*n)) return false;
        const auto runs = clock::now() - nodes_[*n].started;
        return replica.Current && !replica.Offline &&
               std::chrono::nanoseconds(replica.Active) < runs;
    }

    [[nodiscard]] static std::string name(std::size_t n) { return "node-" + std::to_string(n); }

    void run(std::size_t n)
    {
        std::string routes;
        for (const node& other : nodes_) routes += (routes.empty() ? "" : ",") + route(other);
        const std::string path = folder_ + '/' + name(n);
        nodes_[n].started = clock::now();
        nodes_[n].process.start(
            {"nats-server", "-a", "127.0.0.1", "-p", std::to_string(nodes_[n].client_port), "-n",
             name(n), "-js", "-sd", path, "--cluster_name", "waybill", "--cluster",
             route(nodes_[n]), "--routes", routes, "-l", path + ".log"},
            SIGKILL, lock_.descriptor());
    }
    [[nodiscard]] static std::string route(const node& n)
    {
        return "nats://127.0.0.1:" + std::to_string(n.route_port);
    }

    /// The account info comes from the leader of the JetStream meta group.
    void wait_for_leader()
    {
        std::string problem = "no reply";
        for (const auto deadline = clock::now() + patience; clock::now() < deadline;) {
            for (std::size_t n = 0; n != nodes_.size(); ++n) {
                server_process& p = nodes_[n].process;
                const std::string log = folder_ + '/' + name(n) + ".log";
                if (p.ended()) throw server_error(p.reason() + last_line(log));
            }
            natsStatus s = client_->ready(reconnection);
            nats_account_info info;
            if (s == NATS_OK)
                s = js_GetAccountInfo(out(info), client_->jetstream(), nullptr, nullptr);
            if (s == NATS_OK) return;
            problem = nats_text(s);
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
        throw server_error("the cluster in " + folder_ + " has no JetStream leader: " + problem);
    }

    /// Empty if there is no reply.
    [[nodiscard]] nats_stream_info info_of(const std::string& stream)
    {
        nats_stream_info info;
        if (client_->ready(reconnection) != NATS_OK) return info;
        const natsStatus s =
            js_GetStreamInfo(out(info), client_->jetstream(), stream.c_str(), nullptr, nullptr);
        if (s != NATS_OK) info.reset();
        return info;
    }

    std::string folder_;
    folder_lock lock_;
    std::vector<node> nodes_{};
    std::optional<nats_client> client_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NATS_CLUSTER_HPP
