// SPDX-License-Identifier: MIT
//
// child: another process of this program, and its progress reports.
//
//     child relay(o);                                  // o.as is its role
//     relay.hear([](std::string_view line) { ... });   // the new lines, without waiting
//     if (relay.ended()) ...
//     relay.kill();                                    // with -9
//
// A child never outlives its parent, even if the parent is killed.

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

    /// Kills it and waits for its end. Its earlier lines can still be read.
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
