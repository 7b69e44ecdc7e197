// SPDX-License-Identifier: Apache-2.0
#include "ykd/session/peer_groups.h"

#include <catch2/catch.hpp>

#include <unistd.h>

#include <algorithm>

using namespace yk;
using namespace yk::service;

namespace {

using Ids = std::vector<gid_t>;

struct System {
    int asked = 0;
    std::optional<Ids> answer = Ids{6, 7};
    std::vector<std::function<void()>> later;
    PeerGroups groups{[this](std::function<void()> ask) { later.push_back(std::move(ask)); },
                      [this](uid_t, gid_t) {
                          ++asked;
                          return answer;
                      }};

    void work() {
        for (const auto& ask : std::exchange(later, {})) ask();
    }
    Ids of(uid_t uid, int seconds) {
        return groups.of(uid, 6, SteadyClock::time_point{} + std::chrono::hours{1} + std::chrono::seconds{seconds});
    }
};

} // namespace

TEST_CASE("A8 a user waits for the name service once; what is old is looked up anew behind his back") {
    System system;
    CHECK(system.of(5, 0) == Ids{6, 7});
    CHECK(system.of(5, 59) == Ids{6, 7});
    CHECK(system.later.empty());
    system.answer = Ids{6};
    CHECK(system.of(5, 60) == Ids{6, 7});
    CHECK(system.of(5, 61) == Ids{6, 7});
    CHECK(system.later.size() == 1); // one look is enough
    CHECK(system.asked == 1);
    system.work();
    CHECK(system.of(5, 62) == Ids{6});
    CHECK(system.asked == 2);
    static_cast<void>(system.of(4, 62));
    CHECK(system.asked == 3); // another user
}

TEST_CASE("A8 when the name service cannot tell, what was known stays, and it is asked again soon") {
    System system;
    system.answer.reset();
    CHECK(system.of(5, 0) == Ids{6});
    CHECK(system.of(5, 4) == Ids{6});
    CHECK(system.later.empty());
    system.answer = Ids{6, 7};
    static_cast<void>(system.of(5, 5));
    system.work();
    CHECK(system.of(5, 6) == Ids{6, 7});
    system.answer.reset();
    static_cast<void>(system.of(5, 70));
    system.work();
    CHECK(system.of(5, 71) == Ids{6, 7});
}

TEST_CASE("A8 after a reload groups are looked up anew") {
    System system;
    static_cast<void>(system.of(5, 0));
    system.groups.doubt();
    static_cast<void>(system.of(5, 1));
    CHECK(system.later.size() == 1);
}

TEST_CASE("I-343 the system tells the groups of a user, the primary one too, also of one it does not know") {
    const auto own = system_groups_of(::geteuid(), ::getegid());
    REQUIRE(own);
    CHECK(std::find(own->begin(), own->end(), ::getegid()) != own->end());
    CHECK(system_groups_of(4'000'000'000U, 12) == Ids{12});
}

TEST_CASE("A8 so many users are remembered; with one more all are looked up anew") {
    System system;
    const int most = static_cast<int>(PeerGroups::kMostUsers);
    for (int uid = 0; uid < most; ++uid) static_cast<void>(system.of(static_cast<uid_t>(uid), 0));
    CHECK(system.asked == most);
    static_cast<void>(system.of(0, 1));
    CHECK(system.asked == most);
    static_cast<void>(system.of(static_cast<uid_t>(most), 1));
    CHECK(system.asked == most + 1);
    static_cast<void>(system.of(static_cast<uid_t>(most), 2));
    CHECK(system.asked == most + 1);
    static_cast<void>(system.of(0, 2));
    CHECK(system.asked == most + 2);
}
