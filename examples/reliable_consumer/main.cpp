// SPDX-License-Identifier: MIT
//
// reliable_consumer: each event takes effect once, whoever is killed on the way.
//
//     the loop of a worker        worker.cpp       leases, checkpoints, process_batch
//     what an event does          ledger.cpp
//     who kills the workers       supervisor.cpp
//     who believes nobody         verify.cpp
//     the same for Kafka          kafka.cpp        at least once, a watermark, a dead-letter topic

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "../support/program.hpp"
#include "options.hpp"
#include "supervisor.hpp"
#include "verify.hpp"
#include "worker.hpp"
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
#include "kafka.hpp"
#endif

namespace {

using namespace reliable_consumer;
using support::counted;
using support::grouped;

/// A folder of its own, which is removed at the end.
class temporary_folder {
public:
    temporary_folder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "reliable_consumer.XXXXXX").string();
        if (!mkdtemp(name.data())) throw support::complaint("no temporary folder can be made");
        path_ = name;
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

void print(const options& o, const casualties& c, const findings& f)
{
    fmt::print("partition     events   position    applied  dead  owners\n");
    partition_row all;
    for (std::size_t p = 0; p != f.partitions.size(); ++p) {
        const partition_row& r = f.partitions[p];
        fmt::print("{:>9} {:>10} {:>10} {:>10} {:>5} {:>7}\n", p, grouped(r.events), grouped(r.position),
                   grouped(r.applied), r.dead, r.owners);
        all.events += r.events;
        all.applied += r.applied;
        all.dead += r.dead;
        all.owners += r.owners;
    }
    fmt::print("{:>9} {:>10} {:>10} {:>10} {:>5} {:>7}\n", "all", grouped(all.events), "",
               grouped(all.applied), all.dead, all.owners);
    fmt::print("{} in {:.1f} s", counted(o.workers, "worker"), c.seconds);
    if (c.kills != 0) fmt::print("; {} with -9, {} of them in the middle of a batch", counted(c.kills, "kill"), c.in_a_batch);
    if (c.by_poison != 0) fmt::print("; {} by an event that ends its process", counted(c.by_poison, "death"));
    fmt::print("\n");
}

int run(options o)
{
    std::optional<temporary_folder> temporary;
    if (o.db.empty()) o.db = temporary.emplace().path();
    std::filesystem::create_directories(o.db);
    const casualties c = supervise(o);
    const findings f = verify(o);
    print(o, c, f);
    for (const std::string& w : f.wrong) support::say(fmt::format("reliable_consumer: {}\n", w));
    const bool right = f.wrong.empty() && f.lost == 0 && f.doubled == 0 && f.out_of_order == 0;
    if (right) {
        fmt::print("checked: each event took effect exactly once, in the order of its partition, or is a dead\n"
                   "letter with its reason; all partitions were given back\n");
    } else {
        fmt::print("WRONG: {} lost, {} doubled, {} out of order\n", f.lost, f.doubled, f.out_of_order);
    }
    return right ? 0 : 1;
}

int do_as_told(int argc, char** argv)
{
    const auto asked = options_in(argc, argv);
    if (const auto* end = std::get_if<ending>(&asked)) {
        if (end->code == 0) fmt::print("{}\n", end->text);
        else support::say(end->text + "\n");
        return end->code;
    }
    const options& o = std::get<options>(asked);
    if (o.worker) return work(o);
    if (o.kafka.empty()) return run(o);
#ifdef WAYBILL_RELIABLE_CONSUMER_KAFKA
    return run_kafka(o);
#else
    support::say("reliable_consumer: it was built without librdkafka-dev, and cannot speak to Kafka\n");
    return 2;
#endif
}

}  // namespace

int main(int argc, char** argv)
{
    support::keep_standard_streams();
    try {
        const int code = do_as_told(argc, argv);
        if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
        support::say("reliable_consumer: what there is to say cannot be written to the standard output\n");
    } catch (const std::exception& e) {
        support::say(fmt::format("reliable_consumer: {}\n", e.what()));
    }
    return 1;
}
