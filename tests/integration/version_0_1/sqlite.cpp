// SPDX-License-Identifier: MIT
//
//     sqlite restore FILE DATABASE     runs the SQL of the file in a new database
//     sqlite rows DATABASE SELECT      prints the rows, values separated by |

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <sqlite3.h>

namespace {

int print(void*, int columns, char** values, char**)
{
    for (int i = 0; i != columns; ++i)
        std::printf("%s%c", values[i] ? values[i] : "NULL", i + 1 == columns ? '\n' : '|');
    return 0;
}

}  // namespace

int main(int count, char** argv)
{
    if (count != 4) return 2;
    const bool restore = std::string_view(argv[1]) == "restore";
    std::string text = argv[3];
    if (restore) {
        std::ifstream file(argv[2]);
        text.assign(std::istreambuf_iterator<char>(file), {});
    }
    sqlite3* db = nullptr;
    const char* const path = restore ? argv[3] : argv[2];
    if (sqlite3_open(path, &db) || sqlite3_exec(db, text.c_str(), print, nullptr, nullptr)) {
        std::fprintf(stderr, "%s: %s\n", argv[2], sqlite3_errmsg(db));
        return 1;
    }
    return sqlite3_close(db);
}
