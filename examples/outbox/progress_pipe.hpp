// SPDX-License-Identifier: MIT
//
// progress_pipe: a process reports its progress in lines: one word for the kind, then the details.
//
//     progress_pipe progress(o.progress);
//     progress("sent", "order 17");
//     progress.call(17);              // before a mail is passed to the server, with the time
//
// A line is written by one call, so it arrives complete even if the writer is killed afterwards.

#ifndef WAYBILL_EXAMPLES_OUTBOX_PROGRESS_PIPE_HPP
#define WAYBILL_EXAMPLES_OUTBOX_PROGRESS_PIPE_HPP

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace outbox {

class progress_pipe {
public:
    explicit progress_pipe(std::uint64_t to) : to_(static_cast<int>(to)) {}

    void operator()(std::string_view word, std::string_view text) const
    {
        const std::string line = fmt::format("{} {}\n", word, text);
        if (write(to_, line.data(), line.size()) < 0) _exit(1);  // the reader has ended
    }

    void call(std::uint64_t id) const
    {
        const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
        (*this)("call", fmt::format("{} {}", now.count(), id));
    }

private:
    int to_;
};

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_PROGRESS_PIPE_HPP
