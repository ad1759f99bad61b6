// SPDX-License-Identifier: MIT
//
// The outcomes of the AMQP adapter for delivery outcomes and for conditions. A condition arrives
// with a rejected delivery, with a link that is closed during a delivery, or with one that is
// closed at once.

#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include <engines/proton_amqp.hpp>

#include "scripted.hpp"

namespace {

using waybill::wire::find;

static_assert([] {
    for (const engines::error_code& row : engines::amqp_own) {
        if (find(waybill::wire::azure_amqp_errors, row.code) == row.means) return false;
    }
    return true;
}());

enum class where { outcome, under_way, at_once };

struct row {
    where at{};
    const char* name = "";  ///< Of the outcome, or of the condition with which it is rejected.
    const char* text = "";
    std::string_view expected{};
};

constexpr const char* azure =
    "The message (id:1, size:99 bytes) is larger than is currently allowed (77 bytes).";
constexpr const char* elsewhere = "no more than 77 bytes, and these are 99";

constexpr row rows[]{
    {where::outcome, "accepted", "", "accepted"},
    {where::outcome, "released", "", "failed, transient"},
    {where::outcome, "modified", "", "failed, transient"},
    {where::outcome, "", "", "failed, permanent"},
    {where::outcome, "amqp:link:message-size-exceeded", azure, "refused 99 of 77"},
    {where::outcome, "amqp:link:message-size-exceeded", elsewhere, "refused 51 of 512"},
    {where::outcome, "com.microsoft:server-busy", "", "throttled"},
    {where::outcome, "amqp:resource-limit-exceeded", "", "failed, transient"},
    {where::outcome, "amqp:decode-error", "", "failed, permanent"},
    {where::outcome, "amqp:not-allowed", "", "failed, cancelled"},
    {where::outcome, "amqp:not-allowed", "The service received a batch message with no data in it.",
     "refused 51 of 512"},
    {where::outcome, "amqp:not-implemented", "", "failed, cancelled"},
    {where::outcome, "amqp:unauthorized-access", "", "failed, cancelled"},
    {where::outcome, "com.microsoft:producer-epoch-stolen", "", "failed, ownership_lost"},
    {where::outcome, "amqp:internal-error", "", "unknown"},
    {where::outcome, "nobody:knows", "", "unknown"},
    // "Too large" refers to the only transfer in flight. The other conditions may refer to
    // anything.
    {where::under_way, "amqp:link:message-size-exceeded", azure, "refused 99 of 77"},
    {where::under_way, "amqp:link:stolen", "", "failed, ownership_lost"},
    {where::under_way, "com.microsoft:server-busy", "", "unknown"},
    {where::under_way, "amqp:not-found", "", "unknown"},
    {where::under_way, "amqp:unauthorized-access", "", "unknown"},
    {where::under_way, "amqp:decode-error", "", "unknown"},
    {where::under_way, "amqp:link:detach-forced", "", "unknown"},
    {where::under_way, "", "", "unknown"},
    // Nothing has been sent: a final refusal, or a temporary one.
    {where::at_once, "amqp:not-found", "", "failed, cancelled"},
    {where::at_once, "amqp:unauthorized-access", "", "failed, cancelled"},
    {where::at_once, "amqp:invalid-field", "", "failed, cancelled"},
    {where::at_once, "amqp:link:stolen", "", "failed, ownership_lost"},
    {where::at_once, "com.microsoft:server-busy", "", "throttled"},
    {where::at_once, "amqp:link:detach-forced", "", "failed, infrastructure"},
    {where::at_once, "amqp:internal-error", "", "failed, infrastructure"},
    {where::at_once, "nobody:knows", "", "failed, infrastructure"},
};

void set(pn_condition_t* c, const row& r)
{
    if (*r.name == '\0') return;
    pn_condition_set_name(c, r.name);
    pn_condition_set_description(c, r.text);
}

void close_link(pn_link_t* link, const row& r)
{
    set(pn_link_condition(link), r);
    pn_link_close(link);
}

void attach(pn_link_t* link, const row& r)
{
    if (r.at == where::at_once) {
        pn_link_open(link);  // without a target, as the standard requires
        close_link(link, r);
        return;
    }
    pn_terminus_copy(pn_link_target(link), pn_link_remote_target(link));
    pn_link_set_max_message_size(link, 512);
    pn_link_open(link);
    pn_link_flow(link, 10);
}

std::uint64_t outcome_named(std::string_view name)
{
    if (name == "accepted") return PN_ACCEPTED;
    if (name == "released") return PN_RELEASED;
    return name == "modified" ? PN_MODIFIED : PN_REJECTED;
}

void answer(pn_delivery_t* d, const row& r)
{
    if (pn_delivery_partial(d)) return;
    if (r.at == where::under_way) {
        close_link(pn_delivery_link(d), r);
        return;
    }
    const std::uint64_t outcome = outcome_named(r.name);
    if (outcome == PN_REJECTED) set(pn_disposition_condition(pn_delivery_local(d)), r);
    pn_delivery_update(d, outcome);
    pn_delivery_settle(d);
}

void note(pn_event_t* e, const row& r)
{
    switch (pn_event_type(e)) {
        case PN_CONNECTION_REMOTE_OPEN: pn_connection_open(pn_event_connection(e)); break;
        case PN_SESSION_REMOTE_OPEN: pn_session_open(pn_event_session(e)); break;
        case PN_LINK_REMOTE_OPEN: attach(pn_event_link(e), r); break;
        case PN_DELIVERY: answer(pn_event_delivery(e), r); break;
        default: break;
    }
}

void serve(int fd, const row& r)
{
    pn_connection_driver_t d{};
    pn_connection_driver_init(&d, nullptr, nullptr);
    pn_transport_set_server(d.transport);
    pn_transport_require_auth(d.transport, false);
    pn_sasl_allowed_mechs(pn_sasl(d.transport), "ANONYMOUS");
    for (;;) {
        while (pn_event_t* const e = pn_connection_driver_next_event(&d)) note(e, r);
        const pn_bytes_t out = pn_connection_driver_write_buffer(&d);
        if (out.size != 0) {
            scripted::say(fd, {out.start, out.size});
            pn_connection_driver_write_done(&d, out.size);
            continue;
        }
        if (pn_connection_driver_has_event(&d)) continue;
        const pn_rwbytes_t in = pn_connection_driver_read_buffer(&d);
        const ssize_t n = in.size == 0 ? 0 : ::recv(fd, in.start, in.size, 0);
        if (n <= 0) break;
        pn_connection_driver_read_done(&d, static_cast<std::size_t>(n));
    }
    pn_connection_driver_destroy(&d);
}

constexpr std::string_view bodies[]{"{\"a\":1}", "{\"b\":22}"};

}  // namespace

int main()
{
    scripted::score s;
    for (const row& r : rows) {
        const scripted::peer p([&](int fd) { serve(fd, r); });
        std::string became;
        {
            engines::proton_amqp queue({.host = "127.0.0.1", .port = p.port(), .queue = "mails"});
            became = scripted::in_words(queue.send(bodies));
        }
        s.expect("AMQP", r.name, became, r.expected);
    }
    std::printf("%d answers of AMQP, %d taken otherwise\n", s.asked(), s.wrong());
    return s.wrong() == 0 && s.asked() > 20 ? 0 : 1;
}
