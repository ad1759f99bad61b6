// SPDX-License-Identifier: MIT
//
// postgres_own: stores on a server that only the test uses, each in its own schema.

#ifndef WAYBILL_TESTS_POSTGRES_OWN_HPP
#define WAYBILL_TESTS_POSTGRES_OWN_HPP

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <engines/postgres_store.hpp>
#include <unistd.h>

#include "forwarding.hpp"

namespace postgres_test {

inline std::string where;

/// The address of a schema, with the maximum wait for a lock.
[[nodiscard]] inline std::string address_of(const std::string& schema, const std::string& patience)
{
    return where + " options='-c search_path=" + schema + " -c lock_timeout=" + patience + "'";
}

[[nodiscard]] inline std::string fresh_schema()
{
    static int made = 0;
    const std::string name = "s" + std::to_string(getpid()) + "_" + std::to_string(++made);
    engines::postgres db(where);
    db.connect();
    db.exec(("CREATE SCHEMA " + name).c_str());
    return name;
}

/// A store with its connection.
class store_at : public engines_test::forwarding<engines::postgres, engines::postgres_store> {
public:
    explicit store_at(const std::string& schema, const std::string& patience = "5s",
                      engines::isolation i = engines::isolation::read_committed)
        : forwarding(std::make_unique<engines::postgres>(address_of(schema, patience)), i),
          schema_(schema)
    {
    }

    [[nodiscard]] const std::string& schema() const { return schema_; }

private:
    std::string schema_;
};

[[nodiscard]] inline waybill::partition_key key_of(const std::string& partition)
{
    return {"orders", "billing", partition};
}

/// Prints a rule that does not hold. Returns 1 for it, else 0.
[[nodiscard]] inline int expect(bool holds, const char* what)
{
    if (!holds) std::printf("wrong: %s\n", what);
    return holds ? 0 : 1;
}

}  // namespace postgres_test

#endif  // WAYBILL_TESTS_POSTGRES_OWN_HPP
