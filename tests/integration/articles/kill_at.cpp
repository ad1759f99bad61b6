// SPDX-License-Identifier: MIT
//
// kill_at: ends a program with SIGKILL at one of its calls of SQLite, before or after the call.
// It is linked with -Wl,--wrap=sqlite3_step,--wrap=sqlite3_exec to the program.
//
//     KILL_AT=7 program        before the 7th call; with KILL_AFTER=7 after it
//     TERM_AT=90 program       sends SIGTERM to itself before the 90th call

#include <csignal>
#include <cstdlib>

#include <sqlite3.h>

extern "C" {

int __real_sqlite3_step(sqlite3_stmt* s);
int __real_sqlite3_exec(sqlite3* db, const char* sql, int (*f)(void*, int, char**, char**), void* x,
                        char** error);

static void call(const char* name, long number, int signal = SIGKILL)
{
    const char* const at = std::getenv(name);
    if (at && std::atol(at) == number) std::raise(signal);
}
static long calls = 0;

int __wrap_sqlite3_step(sqlite3_stmt* s)
{
    const long number = ++calls;
    call("TERM_AT", number, SIGTERM);
    call("KILL_AT", number);
    const int r = __real_sqlite3_step(s);
    call("KILL_AFTER", number);
    return r;
}

int __wrap_sqlite3_exec(sqlite3* db, const char* sql, int (*f)(void*, int, char**, char**), void* x,
                        char** error)
{
    const long number = ++calls;
    call("TERM_AT", number, SIGTERM);
    call("KILL_AT", number);
    const int r = __real_sqlite3_exec(db, sql, f, x, error);
    call("KILL_AFTER", number);
    return r;
}
}
