// SPDX-License-Identifier: MIT

#include "naive.hpp"

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "../engines/smtp.hpp"
#include "letter.hpp"
#include "progress_pipe.hpp"
#include "tables.hpp"

namespace outbox {

void run_naive(const options& o)
{
    using namespace std::chrono_literals;
    const progress_pipe progress(o.progress);
    engines::database db(shop_in(o.db));
    engines::statement unsent(db,
                              "SELECT id, recipient, subject FROM outbox"
                              " WHERE state <> 'sent' ORDER BY id");
    engines::statement sent(db, "UPDATE outbox SET state = 'sent' WHERE id = ?");
    engines::smtp server("127.0.0.1", std::to_string(o.port), 5s);
    std::random_device dice;  // most mail libraries create a new Message-ID each time
    for (;;) {
        std::vector<letter> all;
        for (unsent.query(); unsent.step();) all.push_back(letter_in(unsent));
        std::uint64_t done = 0;
        for (const letter& l : all) {
            progress.call(l.id);
            const auto id = fmt::format("{:08x}{:08x}@shop.example", dice(), dice());
            if (!server.send(to_mail(l, id)).ok()) continue;
            sent.run(l.id);
            ++done;
        }
        progress("pass", std::to_string(done));
        std::this_thread::sleep_for(1s);
    }
}

}  // namespace outbox
