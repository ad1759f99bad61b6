// SPDX-License-Identifier: MIT
//
// sql: executes statements on a database. Prints each row, with | between its columns.
//
//     sql FILE STATEMENTS

#include <cstdio>

#include <sqlite3.h>

int main(int argc, char** argv)
{
    sqlite3* db = nullptr;
    const auto print = [](void*, int columns, char** values, char**) {
        for (int n = 0; n != columns; ++n)
            std::printf("%s%s", n == 0 ? "" : "|", values[n] ? values[n] : "");
        return std::puts("") < 0 ? 1 : 0;
    };
    if (argc != 3 || sqlite3_open(argv[1], &db) != SQLITE_OK) return 1;
    sqlite3_busy_timeout(db, 5'000);
    const int code = sqlite3_exec(db, argv[2], print, nullptr, nullptr);
    if (code != SQLITE_OK) std::fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    sqlite3_close(db);
    return code == SQLITE_OK ? 0 : 1;
}
