// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/history_keeper.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::service;

TEST_CASE("I-700 samples oldest first, only so many, values as text") {
    HistoryKeeper history(2);
    history.keep(Instant{1}, HistoryKeeper::Sample{{"[rm]default", {1, 2}}});
    history.keep(Instant{2}, HistoryKeeper::Sample{{"[rm]default", {3, 4}}, {"[rm]gpu", {10, 20}}});
    history.keep(Instant{3}, HistoryKeeper::Sample{{"[rm]default", {5, 6}}});
    const auto dump = history.dump({});
    REQUIRE(dump["apps"].size() == 2);
    CHECK(dump["apps"][0] == wire::Value{{"timestamp", 2}, {"totalApplications", "13"}});
    CHECK(dump["containers"][1] == wire::Value{{"timestamp", 3}, {"totalContainers", "6"}});
}

TEST_CASE("I-702 a sample that could not be taken is -1") {
    HistoryKeeper history(2);
    history.keep(Instant{1}, std::nullopt);
    CHECK(history.dump({})["apps"][0]["totalApplications"] == "-1");
    CHECK(history.dump("[rm]default")["containers"][0]["totalContainers"] == "-1");
    CHECK_FALSE(HistoryKeeper(0).enabled());
}

TEST_CASE("I-703 one partition by its full name, else the sum") {
    HistoryKeeper history(5);
    history.keep(Instant{2}, HistoryKeeper::Sample{{"[rm]default", {3, 4}}, {"[rm]gpu", {10, 20}}});
    CHECK(history.dump("[rm]gpu")["apps"][0]["totalApplications"] == "10");
    CHECK(history.dump("[rm]default")["containers"][0]["totalContainers"] == "4");
}
