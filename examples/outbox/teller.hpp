// SPDX-License-Identifier: MIT
//
// teller: how a process says what it does, a line at a time: a word for what it is, and the rest.
//
//     teller tell(o.tell);
//     tell("sent", "order 17");
//     tell.call(17);              // before a mail is handed to the server, with the time
//
// A line is written at once and whole, so that it is there though its writer is killed behind it.

#ifndef WAYBILL_EXAMPLES_OUTBOX_TELLER_HPP
#define WAYBILL_EXAMPLES_OUTBOX_TELLER_HPP

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

namespace outbox {

class teller {
public:
    explicit teller(std::uint64_t to) : to_(static_cast<int>(to)) {}

    void operator()(std::string_view word, std::string_view text) const
    {
        const std::string line = fmt::format("{} {}\n", word, text);
        if (write(to_, line.data(), line.size()) < 0) _exit(1);  // nobody wants to know any more
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

#endif  // WAYBILL_EXAMPLES_OUTBOX_TELLER_HPP
