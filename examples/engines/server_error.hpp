// SPDX-License-Identifier: MIT
//
// server_error: a server that an example starts for itself cannot start, or has ended.
//
//     try { engines::nats_server own(folder); } catch (const engines::server_error& e) { ... }
//
// The text names the failed step and has the last line of the server's log.

#ifndef WAYBILL_EXAMPLES_ENGINES_SERVER_ERROR_HPP
#define WAYBILL_EXAMPLES_ENGINES_SERVER_ERROR_HPP

#include <stdexcept>

namespace engines {

struct server_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SERVER_ERROR_HPP
