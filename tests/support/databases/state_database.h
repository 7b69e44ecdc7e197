// SPDX-License-Identifier: Apache-2.0
#pragma once
// StateDatabase: a database of mcs for the time of a test, on each of the databases that the product can use: what is
// promised of one holds for all.
//
//     TEST_CASE("...") {
//         StateDatabase database{YK_EACH_DATABASE};

#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "libcore/resource_state/ports/change_log.h"
#include "protocol/databases/mcs_group.h"
#include "protocol/databases/mcs_store.h"
#include "tests/support/databases/mcs_rows.h"
#ifdef YK_WITH_PG
#include "protocol/databases/postgres/postgres_store.h"
#endif

/// Runs the test case once for each database that is here.
#define YK_EACH_DATABASE GENERATE(from_range(yk::testing::engines()))

namespace yk::testing {

enum class Engine { Sqlite, Postgres };

/// Those that can be tested here. Why one cannot is said once.
[[nodiscard]] std::vector<Engine> engines();

/// A database by the way to it; each of these has a new one.
class DatabasePlace {
public:
    virtual ~DatabasePlace() = default;
    [[nodiscard]] virtual std::unique_ptr<rs::SqlConnection> open() const = 0;
    /// A log with a connection of its own, which is asked anew with every poll.
    [[nodiscard]] virtual std::unique_ptr<rs::ChangeLog> open_log() const = 0;
    [[nodiscard]] virtual Result<void, rs::StoreError> make_tables(rs::SqlConnection& connection) const = 0;
    /// Removes all events.
    virtual void purge_log(rs::SqlConnection& connection) const = 0;
    /// What it is opened by: a file, or what libpq takes.
    [[nodiscard]] virtual std::string path() const = 0;
};
[[nodiscard]] std::unique_ptr<DatabasePlace> new_place(Engine engine, bool has_tables = true);

struct StateDatabase : McsRows {
    explicit StateDatabase(Engine on);
    StateDatabase(const StateDatabase&) = delete;
    StateDatabase& operator=(const StateDatabase&) = delete;

    [[nodiscard]] std::unique_ptr<rs::SqlConnection> open() const { return place->open(); }
    /// The rows of a kind.
    template <rs::Resource T>
    [[nodiscard]] std::unique_ptr<rs::ResourceStore<T>> store(rs::SqlConnection& through) const {
#ifdef YK_WITH_PG
        if (engine == Engine::Postgres) return std::make_unique<mcs::PostgresStore<T>>(through);
#endif
        return std::make_unique<mcs::McsStore<T>>(through);
    }

    /// Somebody with a shell.
    void type(const std::string& sql) const;
    [[nodiscard]] bool is_refused(const std::string& sql) const {
        return !connection->run(sql).ok();
    }
    [[nodiscard]] std::string text(const std::string& sql) const;
    [[nodiscard]] std::int64_t count(const std::string& from) const;
    /// The first column of all rows, as `a,b`.
    [[nodiscard]] std::string list(const std::string& sql) const;
    /// The change log from its beginning, as `op kind id`.
    [[nodiscard]] std::string events() const;
    /// The columns by which it is ordered.
    [[nodiscard]] const char* log_order() const {
        return engine == Engine::Postgres ? "xid, seq" : "seq";
    }

    const Engine engine;
    const std::unique_ptr<DatabasePlace> place = new_place(engine);
    std::unique_ptr<rs::SqlConnection> connection = place->open();
    std::unique_ptr<mcs::WriteGroup> group; // of the process "me", by `connection`
};

} // namespace yk::testing
