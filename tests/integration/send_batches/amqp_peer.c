/* SPDX-License-Identifier: MIT
 *
 * amqp_peer: the receiving end of AMQP 1.0, with a limit that it holds to the byte.
 *
 *     amqp_peer OUT LIMIT close|reject [BUSY [LOSE]]
 *
 * It prints the port that it listens on. It tells its limit as max-message-size, and what is larger
 * by one byte is refused with amqp:link:message-size-exceeded: by closing the link, or by rejecting
 * the message. Every BUSY-th transfer is turned away with com.microsoft:server-busy; 0 is none. The
 * LOSE-th is taken, but the connection is closed instead of an answer. What it accepts it writes to
 * OUT, the body of each message and a newline: of a transfer with several data sections the message
 * in each of them.
 */
#include <proton/condition.h>
#include <proton/connection.h>
#include <proton/delivery.h>
#include <proton/link.h>
#include <proton/listener.h>
#include <proton/message.h>
#include <proton/netaddr.h>
#include <proton/proactor.h>
#include <proton/sasl.h>
#include <proton/session.h>
#include <proton/terminus.h>
#include <proton/transport.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE* out;
static size_t limit;
static int closing;
static unsigned long busy, lose, transfers;

static char* transfer; /* the one that is coming in */
static size_t size, room;

static void write_body(const char* bytes, size_t n)
{
    pn_message_t* m = pn_message();
    if (pn_message_decode(m, bytes, n) == 0) {
        pn_data_t* body = pn_message_body(m);
        pn_data_rewind(body);
        if (pn_data_next(body)) {
            pn_bytes_t b = pn_data_get_binary(body);
            fwrite(b.start, 1, b.size, out);
        }
    } else {
        fputs("?", out);
    }
    fputc('\n', out);
    pn_message_free(m);
}

/* The data section at `p`, if one is there; answers what is behind it. */
static const char* section(const char* p, const char* end, const char** data, size_t* n)
{
    const unsigned char* u = (const unsigned char*)p;
    size_t head = 0;
    if (end - p < 5 || u[0] != 0 || u[1] != 0x53 || u[2] != 0x75) return NULL;
    if (u[3] == 0xA0) {
        *n = u[4];
        head = 5;
    } else if (u[3] == 0xB0 && end - p >= 8) {
        *n = (size_t)u[4] << 24 | (size_t)u[5] << 16 | (size_t)u[6] << 8 | u[7];
        head = 8;
    }
    if (head == 0 || *n > (size_t)(end - p) - head) return NULL;
    *data = p + head;
    return p + head + *n;
}

static void take(void)
{
    const char* at = transfer;
    const char* end = transfer + size;
    const char* data;
    size_t n;
    /* A message by itself begins with a header; a batch has nothing but data sections. */
    if (section(at, end, &data, &n) == NULL) {
        write_body(transfer, size);
    } else {
        while ((at = section(at, end, &data, &n)) != NULL) write_body(data, n);
    }
    fflush(out);
}

static void refuse(pn_delivery_t* d, const char* name, const char* why, int close)
{
    pn_link_t* link = pn_delivery_link(d);
    pn_condition_t* c =
        close ? pn_link_condition(link) : pn_disposition_condition(pn_delivery_local(d));
    pn_condition_set_name(c, name);
    pn_condition_set_description(c, why);
    if (!close) pn_delivery_update(d, PN_REJECTED);
    pn_delivery_settle(d);
    if (close) pn_link_close(link);
}

static void received(pn_delivery_t* d)
{
    pn_link_t* link = pn_delivery_link(d);
    if (!pn_link_is_receiver(link) || !pn_delivery_readable(d)) return;
    for (;;) {
        size_t pending = pn_delivery_pending(d);
        ssize_t n;
        if (room < size + pending) {
            room = 2 * (size + pending);
            transfer = realloc(transfer, room);
            if (transfer == NULL) exit(1);
        }
        if (pending == 0) break;
        n = pn_link_recv(link, transfer + size, pending);
        if (n <= 0) break;
        size += (size_t)n;
    }
    if (pn_delivery_partial(d)) return;
    ++transfers;
    if (size > limit) {
        char why[80];
        snprintf(why, sizeof why, "%lu bytes where %lu are allowed", (unsigned long)size,
                 (unsigned long)limit);
        refuse(d, "amqp:link:message-size-exceeded", why, closing);
    } else if (busy != 0 && transfers % busy == 0) {
        refuse(d, "com.microsoft:server-busy", "come back later", 0);
    } else {
        take();
        if (transfers == lose) {
            pn_connection_t* c = pn_session_connection(pn_link_session(link));
            pn_condition_set_name(pn_connection_condition(c), "amqp:connection:forced");
            pn_connection_close(c);
            return;
        }
        pn_delivery_update(d, PN_ACCEPTED);
        pn_delivery_settle(d);
    }
    size = 0;
    pn_link_flow(link, 10 - pn_link_credit(link));
}

static void handle(pn_event_t* e)
{
    switch (pn_event_type(e)) {
        case PN_LISTENER_OPEN: {
            char port[PN_MAX_ADDR];
            const pn_netaddr_t* at = pn_listener_addr(pn_event_listener(e));
            pn_netaddr_host_port(at, NULL, 0, port, sizeof port);
            printf("%s\n", port);
            fflush(stdout);
            break;
        }
        case PN_LISTENER_ACCEPT: {
            pn_transport_t* t = pn_transport();
            pn_transport_set_server(t);
            pn_transport_require_auth(t, false);
            pn_sasl_allowed_mechs(pn_sasl(t), "ANONYMOUS");
            pn_listener_accept2(pn_event_listener(e), NULL, t);
            break;
        }
        case PN_CONNECTION_REMOTE_OPEN: pn_connection_open(pn_event_connection(e)); break;
        case PN_SESSION_REMOTE_OPEN: pn_session_open(pn_event_session(e)); break;
        case PN_LINK_REMOTE_OPEN: {
            pn_link_t* link = pn_event_link(e);
            const char* name = pn_terminus_get_address(pn_link_remote_target(link));
            if (name != NULL && strcmp(name, "nowhere") == 0) {
                pn_link_open(link); /* without a target, as the standard has it */
                pn_condition_format(pn_link_condition(link), "amqp:not-found", "no queue %s", name);
                pn_link_close(link);
                break;
            }
            pn_terminus_copy(pn_link_target(link), pn_link_remote_target(link));
            pn_link_set_max_message_size(link, limit);
            pn_link_open(link);
            size = 0;
            pn_link_flow(link, 10);
            break;
        }
        case PN_DELIVERY: received(pn_event_delivery(e)); break;
        case PN_LINK_REMOTE_CLOSE: pn_link_close(pn_event_link(e)); break;
        case PN_SESSION_REMOTE_CLOSE: pn_session_close(pn_event_session(e)); break;
        case PN_CONNECTION_REMOTE_CLOSE: pn_connection_close(pn_event_connection(e)); break;
        default: break;
    }
}

int main(int argc, char** argv)
{
    pn_proactor_t* proactor;
    if (argc < 4 || (out = fopen(argv[1], "wb")) == NULL) return 2;
    limit = strtoul(argv[2], NULL, 10);
    closing = strcmp(argv[3], "close") == 0;
    busy = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    lose = argc > 5 ? strtoul(argv[5], NULL, 10) : 0;
    proactor = pn_proactor();
    pn_proactor_listen(proactor, pn_listener(), "127.0.0.1:0", 16);
    for (;;) {
        pn_event_batch_t* events = pn_proactor_wait(proactor);
        pn_event_t* e;
        while ((e = pn_event_batch_next(events)) != NULL) handle(e);
        pn_proactor_done(proactor, events);
    }
}
