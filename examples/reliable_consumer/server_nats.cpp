// SPDX-License-Identifier: MIT
//
// The log in a stream of NATS JetStream.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../engines/nats_client.hpp"
#include "../engines/nats_log.hpp"
#include "server_tables.hpp"
#include "server_worker.hpp"
#include "servers.hpp"

namespace reliable_consumer {

namespace {

using namespace std::chrono_literals;

engines::nats_log log_of(const options& o, const addresses& at)
{
    return {at.log, stream, o.partitions, o.cluster ? 3 : 1};
}

class tables_with_nats : public server_tables {
public:
    tables_with_nats(const options& o, const addresses& at)
        : server_tables(o, at.store),
          log_(log_of(o, at)),
          server_(at.log, 2s),
          run_(std::random_device{}())
    {
        // A server that cannot be reached at all is an error here, and an outage later.
        (void)patiently([&] { return log_.end("0"); });
    }

    bool append(const std::vector<std::string>& lines) override
    {
        std::vector<engines::nats_log::new_event> all;
        for (std::size_t n = 0; n != lines.size(); ++n) {
            all.push_back({std::to_string(partition_of(lines[n], partitions())),
                           fmt::format("{}-{}-{}", run_, appended_, n), lines[n]});
        }
        // After a failure the same ids again: events that arrived are not stored twice.
        if (!log_.append_all(all, 3s)) return false;
        ++appended_;
        return true;
    }

    /// The largest distance in the stream: its sequence numbers are those of all partitions.
    std::optional<std::uint64_t> left() override
    {
        std::uint64_t most = 0;
        const auto compare = [&](std::uint64_t end, std::optional<std::uint64_t> done) {
            most = std::max(most, end - done.value_or(0));
        };
        if (!with_ends(log_, compare)) return {};
        return most;
    }

    std::vector<event> events(std::uint64_t partition) override
    {
        const std::string subject = fmt::format("{}.{}", stream, partition);
        return all_events(log_, partition, [&] { return count_of(subject); });
    }

private:
    /// The number of messages that the server has for a subject.
    waybill::result<std::uint64_t> count_of(const std::string& subject)
    {
        jsOptions wanted;
        jsOptions_Init(&wanted);
        wanted.Stream.Info.SubjectsFilter = subject.c_str();
        engines::nats_stream_info found;
        natsStatus s = server_.ready(2s);
        if (s == NATS_OK) {
            s = js_GetStreamInfo(engines::out(found), server_.jetstream(), stream, &wanted,
                                 nullptr);
        }
        if (s != NATS_OK)
            return waybill::unexpected(waybill::infrastructure(engines::nats_text(s)));
        std::uint64_t n = 0;
        const jsStreamStateSubjects* const all = found->State.Subjects;
        for (int i = 0; all != nullptr && i != all->Count; ++i) n += all->List[i].Msgs;
        return n;
    }

    engines::nats_log log_;
    engines::nats_client server_;
    std::uint64_t run_;
    std::uint64_t appended_ = 0;
};

}  // namespace

std::unique_ptr<tables> tables_at_nats(const options& o, const addresses& at)
{
    return std::make_unique<tables_with_nats>(o, at);
}

int work_at_nats(const options& o, const addresses& at)
{
    engines::nats_log log = log_of(o, at);
    return consume(o, log, at.store);
}

}  // namespace reliable_consumer
