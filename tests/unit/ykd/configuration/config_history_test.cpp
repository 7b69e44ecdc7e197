// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/config_history.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::service;

namespace {

AcceptedConfig accepted(const std::string& checksum, std::size_t bytes = 3) {
    return {Instant{1}, checksum, "test", std::make_shared<const std::string>(bytes, 'x')};
}

} // namespace

TEST_CASE("B-12 the configurations of an RM, oldest first, none twice in a row") {
    ConfigHistory history;
    history.keep("rm", accepted("AA11"));
    history.keep("rm", accepted("AA11"));
    history.keep("rm", accepted("BB22"));
    history.keep("rm", accepted("AA11"));
    history.keep("other", accepted("CC33"));
    REQUIRE(history.of("rm").size() == 3);
    CHECK(history.of("rm").front().checksum == "AA11");
    CHECK(history.of("nobody").empty());
    history.forget("rm");
    CHECK(history.of("rm").empty());
    CHECK(history.of("other").size() == 1);
}

TEST_CASE("B-12 a former configuration is found by how its checksum begins") {
    ConfigHistory history;
    history.keep("rm", accepted("AA11"));
    history.keep("rm", accepted("BB22"));
    CHECK(history.find("rm", "aa")->checksum == "AA11");
    CHECK(history.find("rm", "BB22")->checksum == "BB22");
    CHECK_FALSE(history.find("rm", "BB223"));
    CHECK_FALSE(history.find("rm", "c"));
}

TEST_CASE("B-12 only so many, and so many bytes, are kept; the newest two always") {
    ConfigHistory history;
    for (std::size_t i = 0; i < ConfigHistory::kEntries + 5; ++i) history.keep("rm", accepted(std::to_string(i)));
    CHECK(history.of("rm").size() == ConfigHistory::kEntries);
    CHECK(history.of("rm").back().checksum == std::to_string(ConfigHistory::kEntries + 4));
    history.keep("rm", accepted("big1", ConfigHistory::kMaxBytes));
    history.keep("rm", accepted("big2", ConfigHistory::kMaxBytes));
    REQUIRE(history.of("rm").size() == 2);
    CHECK(history.of("rm").front().checksum == "big1");
}
