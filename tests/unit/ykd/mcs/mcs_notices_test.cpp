// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/mcs_notices.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "tests/unit/ykd/mcs/mcs_instance.h"

namespace yk::service {

TEST_CASE("rs R-155 what goes and comes all the time fills neither the log nor the events") {
    const testing::Folder folder;
    testing::Instance one{folder, "one"};
    std::vector<std::string> said;
    McsNotices notices{one.made->observed().house, one.degraded,
                       [&said](std::string_view text) { said.emplace_back(text); }, true};
    for (int each = 0; each < 100; ++each) notices.say("transport", each % 2 == 0 ? "the relay cannot" : "well again");
    REQUIRE(said.size() == 5);
    CHECK(said.front() == "transport: the relay cannot");
    CHECK(said.back() == "transport: the relay cannot; more of this kind is left out for a minute");
    notices.say("lease relay", "held");
    CHECK(said.back() == "lease relay: held");
    CHECK(notices.note("leases", "the disk is full"));
    CHECK_FALSE(notices.note("leases", "the disk is still full")); // no news
    CHECK_FALSE(notices.note("leases", ""));
    CHECK(notices.note("leases", "the disk is full"));
}

TEST_CASE("rs R-154 a database is away as long as its rows or its log are, with the cause of now") {
    const testing::Folder folder;
    testing::Instance one{folder, "one"};
    McsNotices notices{one.made->observed().house, one.degraded, [](std::string_view /*text*/) {}, false};
    const auto is_degraded = [&one](std::string_view why) {
        const auto texts = one.degraded.list();
        return std::any_of(texts.begin(), texts.end(),
                           [&](const std::string& each) { return each.find(why) != std::string::npos; });
    };
    notices.notice({rs::NoticeKind::LogDown, {}, {}, {}, "no such database"});
    notices.notice({rs::NoticeKind::StoreDown, {}, {}, {}, "it was ended"});
    CHECK(is_degraded("it was ended"));
    notices.notice({rs::NoticeKind::StoreUp, {}, {}, {}, {}});
    CHECK(is_degraded("no such database"));
    notices.notice({rs::NoticeKind::LogDown, {}, {}, {}, "wrong database"});
    CHECK(is_degraded("wrong database"));
    notices.notice({rs::NoticeKind::LogUp, {}, {}, {}, {}});
    CHECK_FALSE(is_degraded("MCS, database"));
}

} // namespace yk::service
