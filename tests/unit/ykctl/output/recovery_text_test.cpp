// SPDX-License-Identifier: Apache-2.0
#include "ykctl/output/recovery_text.h"

#include <catch2/catch.hpp>

using namespace yk::cli;
using yk::wire::Value;

namespace {

Value pair_of(int expected, int actual) {
    return {{"expected", expected}, {"actual", actual}};
}

Value report(const char* result) {
    return {{"rmID", "rm-1"},
            {"id", "r1"},
            {"attempt", 2},
            {"result", result},
            {"counts", {{"nodes", pair_of(3, 3)}, {"applications", pair_of(1, 1)}, {"allocations", pair_of(12, 10)}}},
            {"digestMatch", {{"nodes", true}, {"applications", true}, {"allocations", false}}},
            {"incompleteNodes", Value::array()},
            {"quarantine", Value::array()},
            {"quarantineTotal", 0},
            {"unusedTombstones", 0},
            {"durationMs", 4000},
            {"truncated", false}};
}

} // namespace

TEST_CASE("I-237 a report as a sentence") {
    Value good = report("running");
    good["counts"]["allocations"] = pair_of(12, 12);
    good["counts"]["asks"] = pair_of(1, 1);
    good["digestMatch"]["allocations"] = true;
    CHECK(recovery_sentence(good) == "recovery r1 of rm-1, attempt 2: running after 4s; 3 of 3 nodes, 1 of 1 "
                                     "application, 12 of 12 allocations, 1 of 1 ask");
    Value bad = report("retry");
    bad["incompleteNodes"] = {{{"nodeID", "n"}}};
    bad["quarantineTotal"] = 2;
    bad["unusedTombstones"] = 1;
    bad["faults"] = {"check 3: x"};
    CHECK(recovery_sentence(bad) ==
          "recovery r1 of rm-1, attempt 2: retry after 4s; 3 of 3 nodes, 1 of 1 application, 10 of 12 allocations "
          "(another digest); 1 incomplete node; 2 objects quarantined; 1 release of what was never reported; check 3: "
          "x");
    Value late = report("failed");
    late["attempt"] = 0;
    CHECK(recovery_sentence(late).rfind("recovery r1 of rm-1: failed after 4s; ", 0) == 0);
    CHECK(recovery_sentence({{"rmID", "a\x1b"}}).find('\x1b') == std::string::npos);
}

TEST_CASE("I-237 a report that is well has nothing but its table") {
    Value good = report("running");
    good["counts"]["allocations"] = pair_of(12, 12);
    good["counts"]["asks"] = pair_of(0, 0);
    good["digestMatch"]["allocations"] = true;
    CHECK(recovery_report_text(good, {}) == "recovery r1 of rm-1, attempt 2: running after 4s\n\n"
                                            "KIND          EXPECTED  THERE  DIGEST\n"
                                            "nodes                3      3  equal\n"
                                            "applications         1      1  equal\n"
                                            "allocations         12     12  equal\n"
                                            "asks                 0      0  -\n");
}

TEST_CASE("I-237 a report that is not well says what is wrong and what there is to do") {
    Value bad = report("retry");
    bad["incompleteNodes"] = {{{"nodeID", "n1"},
                               {"partitionName", "[rm-1]default"},
                               {"missing", {{"memory", 1073741824}}},
                               {"expectedAllocations", 3},
                               {"actualAllocations", 2}}};
    bad["quarantine"] = {{{"kind", "allocations"},
                          {"partitionName", "[rm-1]default"},
                          {"nodeID", "n1"},
                          {"applicationID", "a"},
                          {"allocationKey", "k"},
                          {"reason", "APP_UNKNOWN"},
                          {"since", 1'700'000'000'000'000'000}},
                         {{"kind", "nodes"}, {"nodeID", "n9"}, {"reason", "NEGATIVE"}}};
    bad["quarantineTotal"] = 1001;
    bad["truncated"] = true;
    bad["unusedTombstones"] = 2;
    bad["faults"] = {"check 3: x"};
    CHECK(recovery_report_text(bad, {}) ==
          "recovery r1 of rm-1, attempt 2: retry after 4s\n\n"
          "KIND          EXPECTED  THERE  DIGEST\n"
          "nodes                3      3  equal\n"
          "applications         1      1  equal\n"
          "allocations         12     10  differs\n\n"
          "INCOMPLETE NODE  PARTITION  ALLOCATIONS  MISSING  SURPLUS\n"
          "n1               default    2 of 3       1Gi      -\n\n"
          "QUARANTINED           PARTITION  REASON       SINCE\n"
          "allocation a/k on n1  default    APP_UNKNOWN  2023-11-14T22:13:20.000000Z\n"
          "node n9               -          NEGATIVE     -\n\n"
          "the lists are cut: 1001 objects quarantined in all\n"
          "2 releases of what was never reported\n"
          "fault: check 3: x\n\n"
          "send what is missing, release what is surplus (ykctl recovery list KIND rm-1), then\n"
          "  ykctl recovery done rm-1 --id r1 --attempt 3\n");
}

TEST_CASE("I-254 a recovery that failed names the ways out") {
    CHECK(recovery_report_text(report("failed"), {}).find("ykctl recovery resolve retry|reset|accept|abort rm-1\n") !=
          std::string::npos);
}
