// SPDX-License-Identifier: MIT
//
// child: another process of this program, and what it tells.
//
//     child relay(o);                                  // o.as says what it is
//     relay.hear([](std::string_view line) { ... });   // what it has told since, without waiting
//     if (relay.ended()) ...
//     relay.kill();                                    // with -9
//
// Who starts one is its end: a child never outlives its parent, however that dies.

#ifndef WAYBILL_EXAMPLES_OUTBOX_CHILD_HPP
#define WAYBILL_EXAMPLES_OUTBOX_CHILD_HPP

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "options.hpp"

namespace outbox {

class child {
public:
    explicit child(const options& o);
    child(const child&) = delete;
    child& operator=(const child&) = delete;
    ~child();

    void hear(const std::function<void(std::string_view)>& line);

    /// Its exit code once it has ended, 128 and more for a signal.
    [[nodiscard]] std::optional<int> ended();

    /// Returns when it is gone. What it told before can still be heard.
    void kill();

private:
    void take_status(int status);

    pid_t pid_ = -1;
    int from_ = -1;
    std::string unread_{};
    std::optional<int> code_{};
};

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_CHILD_HPP
