// SPDX-License-Identifier: Apache-2.0
#include "ykd/session/session.h"

#include <catch2/catch.hpp>

#include "ykd/process/line_limit.h"

using namespace yk;
using namespace yk::service;

namespace {

using PeerPtr = std::shared_ptr<const wire::Peer>;

/// A table, and connections that are open while they are here.
struct House {
    explicit House(std::size_t limit) : table(limit, std::chrono::minutes{5}) {}

    PeerPtr connect() {
        auto peer = std::make_shared<wire::Peer>();
        peer->connection = ++connections;
        return peer;
    }
    Result<SessionPtr> enter(const std::string& who, si::Role role, const PeerPtr& over) {
        return table.create({who, si::Role::Admin, "*"}, role, 16, over, [this] { return owners; });
    }
    /// How many of `count` get in, each over a connection that stays open.
    int crowd(const std::string& who, int count, si::Role role = si::Role::Observer) {
        int in = 0;
        for (int i = 0; i < count; ++i) {
            open.push_back(connect());
            in += enter(who, role, open.back()).ok() ? 1 : 0;
        }
        return in;
    }

    SessionTable table;
    std::set<wire::Sid> owners;
    std::uint32_t connections = 0;
    std::vector<PeerPtr> open;
};

} // namespace

TEST_CASE("A8 nobody has more than half of the sessions, and some are kept for admins") {
    House house(64);
    CHECK(house.crowd("uid 1", 100) == 32);
    CHECK(house.crowd("uid 2", 100) == 28);
    CHECK(house.crowd("uid 3", 1) == 0);
    const auto refused = house.enter("uid 1", si::Role::Observer, house.connect());
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message == "uid 1 has 32 of 64 sessions, more than half are not given to one identity");
    CHECK(house.enter("uid 3", si::Role::Rm, house.connect()).error().message ==
          "60 sessions are in use, 4 more are kept for admins: uid 1 has 32, uid 2 has 28");
    CHECK(house.crowd("uid 0", 5, si::Role::Admin) == 4);
    CHECK(house.enter("uid 0", si::Role::Admin, house.connect()).error().message ==
          "64 sessions are in use, which is the limit: uid 1 has 32, uid 2 has 28, uid 0 has 4");
}

TEST_CASE("A8 small tables: the last place is an admin's, a single one anybody's") {
    House two(2);
    CHECK(two.crowd("uid 1", 2) == 1);
    CHECK(two.crowd("uid 0", 2, si::Role::Admin) == 1);
    House one(1);
    CHECK(one.crowd("uid 1", 2) == 1);
}

TEST_CASE("A8 sessions of clients that are gone do not count as living, and make room at once") {
    House house(8);
    PeerPtr gone = house.connect();
    const auto owner = house.enter("uid 1", si::Role::Rm, gone);
    const auto orphan = house.enter("uid 1", si::Role::Observer, gone);
    REQUIRE(owner.ok());
    REQUIRE(orphan.ok());
    house.owners = {(*owner)->sid};
    CHECK(house.crowd("uid 2", 4) == 4);
    CHECK(house.table.count().connected == 6);
    gone.reset();
    CHECK(house.table.count().connected == 4);
    CHECK(house.table.count().kept == 2);
    CHECK(house.crowd("uid 3", 3) == 2); // one that was free, one of the two
    CHECK(house.table.find((*owner)->sid) != nullptr);
    CHECK(house.table.find((*orphan)->sid) == nullptr);
}

TEST_CASE("A8 a session is there as long as one of its connections is") {
    House house(8);
    PeerPtr first = house.connect(), second = house.connect();
    const auto session = house.enter("uid 1", si::Role::Observer, first);
    REQUIRE(session.ok());
    (*session)->used_over(second);
    (*session)->used_over(first);
    second.reset();
    CHECK((*session)->is_connected());
    first.reset();
    CHECK_FALSE((*session)->is_connected());
    second = house.connect();
    (*session)->used_over(second); // its client is back
    CHECK((*session)->is_connected());
}

TEST_CASE("A7 an address writes five lines a minute") {
    LineLimit limit;
    for (int i = 0; i < 4; ++i) CHECK(limit.suffix("10.0.0.1") == "");
    CHECK(limit.suffix("10.0.0.1") == "; more of this address are not logged for a minute");
    for (int i = 0; i < 100; ++i) CHECK_FALSE(limit.suffix("10.0.0.1"));
    CHECK(limit.suffix("10.0.0.2") == "");
}

TEST_CASE("A7 a minute counter forgets what is older, and counts no further than it must") {
    MinuteCounter counter;
    const auto start = SteadyClock::now();
    CHECK(counter.note("a", start) == 1);
    CHECK(counter.note("a", start + std::chrono::seconds{30}) == 2);
    CHECK(counter.note("a", start + std::chrono::seconds{61}) == 2);
    CHECK(counter.count("a", start + std::chrono::seconds{200}) == 0);
    for (int i = 0; i < 100; ++i) counter.note("b", start);
    CHECK(counter.count("b", start) == LastMinute::kMost);
    for (std::size_t i = 0; i < 2 * MinuteCounter::kKeys; ++i)
        counter.note(std::to_string(i), start + std::chrono::seconds{100});
    CHECK(counter.count("b", start + std::chrono::seconds{100}) == 0);
}
