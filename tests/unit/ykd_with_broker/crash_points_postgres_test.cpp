// SPDX-License-Identifier: Apache-2.0
// As crash_points_test.cpp, with a database of PostgreSQL, where a life takes longer: at some 30 fault points, spread
// evenly. It is not beside that one, since the thread sanitizer, with which those tests run, goes without PostgreSQL.
#ifdef YK_WITH_PG
#include <catch2/catch.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tests/support/databases/postgres_database.h"
#include "tests/support/mcs/crash_points.h"

using namespace yk;
using namespace yk::testing;

namespace {

/// A folder, and a database on the private server.
class KeptInPostgres final : public Kept {
public:
    /// `of`: a database that nobody uses, as which it begins.
    explicit KeptInPostgres(const std::string& of = "template0") {
        static int number = 0;
        name_ = "crash" + std::to_string(++number);
        PrivatePostgres::get()->type("CREATE DATABASE " + name_ + " TEMPLATE " + of);
        constexpr std::string_view kBegin = "host=";
        const std::string of_server = PrivatePostgres::get()->url(name_); // a daemon takes no `host=FOLDER user=...`
        REQUIRE(of_server.starts_with(kBegin));
        address_ = "postgresql://yk@/" + name_ +
                   "?host=" + of_server.substr(kBegin.size(), of_server.find(' ') - kBegin.size());
    }
    ~KeptInPostgres() override {
        const auto session = rs::PostgresSession::open({PrivatePostgres::get()->url("postgres")});
        if (session.ok()) static_cast<void>((*session)->query("DROP DATABASE " + name_ + " WITH (FORCE)"));
    }
    KeptInPostgres(const KeptInPostgres&) = delete;
    KeptInPostgres& operator=(const KeptInPostgres&) = delete;

    [[nodiscard]] std::string postgres() const override { return address_; }
    [[nodiscard]] std::unique_ptr<Kept> copy() const override {
        auto made = std::make_unique<KeptInPostgres>(name_);
        copy_folder_to(*made);
        return made;
    }

private:
    std::string name_, address_;
};

} // namespace

/// The points are those of SQLite, and the server's part differs: it undoes what a process left open, some time after
/// the process has ended.
TEST_CASE("rs R-148, F-10, F-11, F-12, F-08 on PostgreSQL, too, the next process finds nothing twice or lost") {
    if (!kHasFaultPoints || !has_postgres()) return; // the reason was given
    constexpr std::uint64_t kKills = 30;
    const KeptInPostgres prepared;
    prepare(prepared);
    SharedLeft left;
    count_points(prepared, left);
    const std::uint64_t reached = left->reached;
    // Not the last point: a run that has to wait for the server may come to a few less than another one.
    for (std::uint64_t kill = 1; kill <= kKills; ++kill) crash_and_look(prepared, kill * reached / (kKills + 1), left);
}
#endif
