// SPDX-License-Identifier: MIT
//
// amqp_link: one sending link of AMQP 1.0. Qpid Proton encodes the protocol; a socket of the
// calling thread moves the bytes.
//
//     engines::amqp_link link({.host = "127.0.0.1", .port = "5672", .queue = "mails"}, 10s);
//     pn_delivery_t* d = link.put(transfer, engines::amqp_link::format::batch);
//     std::string code = link.outcome_from(d);     // "accepted", or the name of a condition
//
//   1. No call lasts longer than the given time.
//   2. After an exception the link is closed, and a transfer without an outcome is unknown.
//
// Throws socket_error if the connection breaks, the peer closes it, or the time is over. The codes
// are those of proton_amqp.hpp.

#ifndef WAYBILL_EXAMPLES_ENGINES_AMQP_LINK_HPP
#define WAYBILL_EXAMPLES_ENGINES_AMQP_LINK_HPP

#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include <proton/condition.h>
#include <proton/connection.h>
#include <proton/connection_driver.h>
#include <proton/delivery.h>
#include <proton/disposition.h>
#include <proton/link.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/terminus.h>
#include <proton/transport.h>

#include "socket.hpp"

namespace engines {

struct amqp_address {
    std::string host{};
    std::string port{};
    std::string queue{};
    std::string user{};  ///< Empty: ANONYMOUS.
    std::string password{};
};

class amqp_link {
public:
    using clock = socket::clock;
    enum class format { message, batch };

    /// Opens connection, session and link. `why` gets the reason if the peer refuses or closes.
    amqp_link(const amqp_address& at, clock::duration patience, std::string& why)
        : why_(why), patience_(patience), socket_(at.host, at.port, patience)
    {
        why_.clear();
        pn_connection_t* const c = driver_.d.connection;
        pn_connection_set_container(c, "waybill");
        pn_connection_set_hostname(c, at.host.c_str());
        if (!at.user.empty()) pn_connection_set_user(c, at.user.c_str());
        if (!at.password.empty()) pn_connection_set_password(c, at.password.c_str());
        pn_sasl_t* const sasl = pn_sasl(driver_.d.transport);
        pn_sasl_allowed_mechs(sasl, at.user.empty() ? "ANONYMOUS" : "PLAIN");
        pn_sasl_set_allow_insecure_mechs(sasl, !at.user.empty());
        pn_connection_open(c);
        pn_session_t* const session = pn_session(c);
        pn_session_open(session);
        link_ = pn_sender(session, "batches");
        pn_terminus_set_address(pn_link_target(link_), at.queue.c_str());
        pn_link_open(link_);
        const auto deadline = clock::now() + patience_;
        // A peer that has no such queue attaches without a target, and then detaches.
        while (is_open() && !attached()) turn(deadline);
        if (!is_open()) throw socket_error(why_);
    }

    [[nodiscard]] bool is_open() const { return why_.empty(); }

    /// The peer's max-message-size; 0 means no limit.
    [[nodiscard]] std::uint64_t largest() const { return pn_link_remote_max_message_size(link_); }

    /// Passes a transfer to Proton once the peer gives credit. The tag of a batch is four bytes
    /// longer than necessary; see stamp().
    pn_delivery_t* put(std::string_view all, format f)
    {
        const auto deadline = clock::now() + patience_;
        while (pn_link_credit(link_) <= 0) {
            if (!is_open()) throw socket_error(why_);
            turn(deadline);
        }
        const std::string number = std::to_string(1'000'000'000U + tags_++ % 1'000'000'000U);
        const std::string tag = (f == format::batch ? "B---" : "M---") + number;
        pn_delivery_t* const d = pn_delivery(link_, pn_dtag(tag.data(), tag.size()));
        pn_link_send(link_, all.data(), all.size());
        pn_link_advance(link_);
        return d;
    }

    /// Waits for the outcome of a delivery or the end of the link. Returns the outcome's name, or
    /// its condition, ": " and the peer's text.
    std::string outcome_from(pn_delivery_t* d)
    {
        const auto deadline = clock::now() + patience_;
        while (!has_outcome(d)) {
            if (!is_open()) return why_;
            turn(deadline);
        }
        switch (pn_delivery_remote_state(d)) {
            case PN_ACCEPTED: return "accepted";
            case PN_RELEASED: return "released";
            case PN_MODIFIED: return "modified";
            default: return words(pn_disposition_condition(pn_delivery_remote(d)), "rejected");
        }
    }

    [[nodiscard]] static bool has_outcome(pn_delivery_t* d)
    {
        return pn_delivery_remote_state(d) > PN_RECEIVED;
    }

private:
    struct driver {
        pn_connection_driver_t d{};
        driver()
        {
            if (pn_connection_driver_init(&d, nullptr, nullptr) != 0) throw std::bad_alloc();
        }
        driver(const driver&) = delete;
        driver& operator=(const driver&) = delete;
        ~driver() { pn_connection_driver_destroy(&d); }
    };

    [[nodiscard]] bool attached() const
    {
        return (pn_link_state(link_) & PN_REMOTE_ACTIVE) != 0 &&
               pn_terminus_get_type(pn_link_remote_target(link_)) != PN_UNSPECIFIED;
    }

    /// One round: handles events, writes output and reads input.
    void turn(clock::time_point deadline)
    {
        pn_connection_driver_t* const d = &driver_.d;
        while (pn_event_t* const e = pn_connection_driver_next_event(d)) note(e);
        write(deadline);
        if (!is_open() || pn_connection_driver_has_event(d)) return;
        const pn_rwbytes_t room = pn_connection_driver_read_buffer(d);
        if (room.size == 0) throw socket_error("the peer has closed the connection");
        const std::size_t n = socket_.read_some(room.start, room.size, deadline);
        if (n == 0) pn_connection_driver_read_close(d);
        else pn_connection_driver_read_done(d, n);
    }

    void note(pn_event_t* e)
    {
        pn_condition_t* why = nullptr;
        switch (pn_event_type(e)) {
            case PN_LINK_REMOTE_CLOSE:
            case PN_LINK_REMOTE_DETACH: why = pn_link_remote_condition(pn_event_link(e)); break;
            case PN_SESSION_REMOTE_CLOSE:
                why = pn_session_remote_condition(pn_event_session(e));
                break;
            case PN_CONNECTION_REMOTE_CLOSE:
                why = pn_connection_remote_condition(pn_event_connection(e));
                break;
            case PN_TRANSPORT_ERROR:
            case PN_TRANSPORT_TAIL_CLOSED:
                why = pn_transport_condition(pn_event_transport(e));
                break;
            default: return;
        }
        if (why_.empty()) why_ = words(why, "closed without a reason");
    }

    /// "amqp:link:message-size-exceeded: 70000 bytes where 65536 are allowed"
    [[nodiscard]] static std::string words(pn_condition_t* c, const char* otherwise)
    {
        if (!c || !pn_condition_is_set(c)) return otherwise;
        std::string w = pn_condition_get_name(c);
        if (const char* const more = pn_condition_get_description(c)) w += std::string(": ") + more;
        return w;
    }

    void write(clock::time_point deadline)
    {
        for (;;) {
            const pn_bytes_t b = pn_connection_driver_write_buffer(&driver_.d);
            if (b.size == 0) return;
            out_.append(b.start, b.size);
            pn_connection_driver_write_done(&driver_.d, b.size);
            const std::size_t whole = stamp();
            std::string_view ready = std::string_view(out_).substr(0, whole);
            while (!ready.empty()) ready.remove_prefix(socket_.write_some(ready, deadline));
            out_.erase(0, whole);
        }
    }

    /// Sets the message-format of batches, for which Proton has no call: it writes 0, which takes
    /// one byte; 0x80013700 takes five. The four spare bytes of the tag are removed, so that no
    /// length changes. Returns the number of bytes in complete frames.
    std::size_t stamp()
    {
        std::size_t at = 0;
        while (out_.size() - at >= 8) {
            const bool header = out_.compare(at, 4, "AMQP") == 0;  // a protocol header, not a frame
            std::size_t size = header ? 8 : 0;
            for (std::size_t i = 0; !header && i != 4; ++i) {
                size = size << 8U | static_cast<unsigned char>(out_[at + i]);
            }
            if (out_.size() - at < size) break;
            if (!header) stamp_frame(out_.data() + at, size);
            at += size;
        }
        return at;
    }

    static void stamp_frame(char* frame, std::size_t size)
    {
        constexpr std::string_view transfer("\0\x53\x14", 3);
        constexpr std::string_view tag(
            "\xA0\x0E"
            "B---",
            6);  // 14 bytes; the last 10 are unique
        constexpr std::string_view format("\x70\x80\x01\x37\0", 5);
        // The tag is the third field, after two small numbers.
        const std::string_view fields(frame, size < 48 ? size : 48);
        const std::size_t found = fields.find(tag);
        if (fields.find(transfer) != 8 || found == fields.npos) return;
        char* const p = frame + found;
        if (p[16] != '\x43') return;  // message-format 0
        p[1] = '\x0A';
        std::memmove(p + 2, p + 6, 10);
        std::memcpy(p + 12, format.data(), format.size());
    }

    std::string& why_;  // the reason of a closed link; empty while it is open
    clock::duration patience_;
    socket socket_;
    driver driver_{};
    pn_link_t* link_ = nullptr;
    std::uint64_t tags_ = 0;
    std::string out_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_AMQP_LINK_HPP
