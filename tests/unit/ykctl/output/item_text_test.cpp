// SPDX-License-Identifier: Apache-2.0
#include "ykctl/output/item_text.h"

#include <catch2/catch.hpp>

using namespace yk::cli;
using yk::wire::Value;

TEST_CASE("callback items: one line per element, codes and types by name") {
    const Value item{
        {"n", 7},
        {"kind", "UpdateAllocation"},
        {"at", 1'700'000'000'000'000'000},
        {"body",
         {{"new",
           {{{"applicationID", "app"},
             {"allocationKey", "k1"},
             {"nodeID", "n1"},
             {"queueName", "root.a"},
             {"resourcePerAlloc", {{"vcore", 2000}}}}}},
          {"rejected", {{{"applicationID", "app"}, {"allocationKey", "k2"}, {"reason", "no"}, {"code", 1010}}}},
          {"released",
           {{{"applicationID", "app"}, {"allocationKey", "k3"}, {"terminationType", 3}, {"message", "m"}}}}}}};
    CHECK(item_line(item) == "     7 2023-11-14T22:13:20.000000Z UpdateAllocation\n"
                             "    new        app/k1 on n1 in root.a  2 vcore\n"
                             "    rejected   app/k2: no (P_APP_UNKNOWN)\n"
                             "    released   app/k3 PREEMPTED_BY_SCHEDULER m\n");
}

TEST_CASE("I-237 the report of a recovery is one sentence") {
    const Value item{{"n", 1},
                     {"kind", "RecoveryReport"},
                     {"body",
                      {{"rmID", "rm"},
                       {"id", "r1"},
                       {"attempt", 1},
                       {"result", "running"},
                       {"counts", {{"nodes", {{"expected", 1}, {"actual", 1}}}}},
                       {"durationMs", 250}}}};
    CHECK(item_line(item) ==
          "     1 - RecoveryReport\n    recovery r1 of rm, attempt 1: running after 250ms; 1 of 1 node\n");
}

TEST_CASE("I-269 an update that comes back is shown by its lists") {
    const Value item{{"n", 1},
                     {"kind", "Request"},
                     {"body",
                      {{"answers", 1},
                       {"kind", "UpdateAllocation"},
                       {"impersonated", true},
                       {"body",
                        {{"asks", {{{"allocationKey", "a"}}, {{"allocationKey", "b"}}}},
                         {"releases", {{"allocationsToRelease", {{{"allocationKey", "c"}}}}}}}}}}};
    CHECK(item_line(item) ==
          "     1 - Request\n    UpdateAllocation by another session: asks 2, allocationsToRelease 1\n");
}

TEST_CASE("callback items of another kind show their body") {
    CHECK(item_line({{"n", 1}, {"kind", "Notice"}, {"body", {{"code", "STATE"}}}}) ==
          "     1 - Notice\n    {\"code\":\"STATE\"}\n");
}

TEST_CASE("event records: types, changes and details by name, unknown ones by number") {
    CHECK(event_line({{"eventID", 3},
                      {"type", 2},
                      {"objectID", "app"},
                      {"referenceID", "k1"},
                      {"eventChangeType", 2},
                      {"eventChangeDetail", 200},
                      {"resource", {{"vcore", 500}}}}) == "     3 - APP       ADD    APP_ALLOC app k1  0.5 vcore\n");
    CHECK(event_line({{"eventID", 3}, {"type", 77}, {"eventChangeDetail", 999}, {"message", "x"}}) ==
          "     3 - 77        NONE   999 - -  x\n");
}

TEST_CASE("event records: RM and partition when there are several") {
    const Value record{
        {"eventID", 3}, {"type", 4}, {"objectID", "root"}, {"rmID", "one"}, {"partitionName", "[one]gpu"}};
    CHECK(event_line(record) == "     3 - QUEUE     NONE   DETAILS_NONE root -\n");
    CHECK(event_line(record, {5, 0}) == "     3 - one   QUEUE     NONE   DETAILS_NONE root -\n");
    CHECK(event_line(record, {3, 7}) == "     3 - one gpu     QUEUE     NONE   DETAILS_NONE root -\n");
    CHECK(event_line({{"eventID", 3}}, {1, 1}) == "     3 - - - UNSET     NONE   DETAILS_NONE - -\n");
}
