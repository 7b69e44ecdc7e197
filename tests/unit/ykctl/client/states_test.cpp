// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/states.h"

#include <catch2/catch.hpp>

using namespace yk::cli;
using yk::wire::Value;

namespace {

Value recovering(int state) {
    return {{"rmID", "rm-1"},
            {"state", state},
            {"recovery",
             {{"id", "r1"},
              {"attempt", 1},
              {"nodes", 120},
              {"applications", 3},
              {"allocations", 1},
              {"asks", 0},
              {"expectedNodes", 500},
              {"expectedAllocations", 1},
              {"quarantined", 2},
              {"sinceMs", 4000}}}};
}

std::string table(const std::vector<Value>& rms) {
    return list_text(rms, rm_layout(), Format::Table, {});
}

} // namespace

TEST_CASE("I-212 how far a recovery is, while the RM is Recovering or Failed") {
    CHECK(recovery_progress(recovering(2)) == "120 of 500 nodes, 3 applications, 1 of 1 allocation, 0 asks, 2 "
                                              "objects quarantined, begun 4s ago (recovery r1, attempt 1)");
    Value first = recovering(3);
    first["recovery"] = {{"id", "r2"}, {"attempt", 0}};
    CHECK(recovery_progress(first) == "0 nodes, 0 applications, 0 allocations, 0 asks, begun 0ms ago (recovery r2)");
    for (const int state : {0, 1, 4, 5, 6, -1}) CHECK(recovery_progress(recovering(state)).empty());
    CHECK(recovery_progress({{"state", 2}}).empty());
}

TEST_CASE("I-212 I-213 a bar for what is there of what was announced, and how long the recovery may still last") {
    Value rm = recovering(2);
    Value& recovery = rm["recovery"]; // more applications than announced fill the bar no further
    recovery.update(
        {{"expectedNodes", 240}, {"expectedApplications", 2}, {"leftMs", 590'000}, {"idleLeftMs", 110'000}});
    CHECK(recovery_bar(rm) == "[##########----------] 50 %, failed in 1m50s without an update, in 9m50s at the latest");
    recovery["nodes"] = 240;
    CHECK(recovery_bar(rm).find("[####################] 100 %") == 0);
    for (const char* kind : {"expectedNodes", "expectedApplications", "expectedAllocations"}) recovery.erase(kind);
    CHECK(recovery_bar(rm) == "failed in 1m50s without an update, in 9m50s at the latest"); // nothing was announced
    for (const int state : {0, 1, 3, 4, 5}) {
        rm["state"] = state;
        CHECK(recovery_bar(rm).empty());
    }
}

TEST_CASE("the table of RMs shows recoveries while there are any") {
    const Value running{{"rmID", "rm-2"}, {"state", 1}};
    CHECK(table({running}).find("RECOVERY") == std::string::npos);
    CHECK(table({recovering(2)}).find("120 of 500 nodes") != std::string::npos);
    CHECK(table({running, recovering(2)}).find("RECOVERY") != std::string::npos);
    CHECK(table({recovering(1)}).find("RECOVERY") == std::string::npos);
}
