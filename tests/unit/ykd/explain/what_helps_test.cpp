// SPDX-License-Identifier: Apache-2.0
#include "ykd/explain/what_helps.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::service;

TEST_CASE("what would help against a reason names what it is about") {
    const auto help = [](const char* code, const char* object, std::int64_t nodes = 3) {
        ExplainReason reason;
        reason.code = code;
        reason.object = object;
        return what_helps(reason, nodes);
    };
    CHECK(help("QUEUE_MAX", "root.a") == "a larger max of root.a, or the end of something that runs there");
    CHECK(help("QUEUE_MAX", "root") == "another node, or the end of something that runs in the cluster");
    CHECK(help("QUEUE_MAX_APPS", "root.{}") ==
          "a larger maxapplications of root.{}, or the end of an application there");
    CHECK(help("IMPOSSIBLE", "default") == "a larger node, where it may run; or an ask for less");
    CHECK(help("IMPOSSIBLE", "default", 0) == "a node");
    CHECK(help("SORT", "root.a") == "the end of what comes first");
    CHECK(help("BACKOFF", "app").empty()); // it ends by itself
    CHECK(help("PLACED", "n-1").empty());
}

TEST_CASE("what runs is not in the way of an ask that alone is more than the limit") {
    ExplainReason reason;
    reason.code = "QUEUE_MAX";
    reason.object = "root.a";
    reason.need = {{"memory", 64}, {"vcore", 1}};
    reason.limit = {{"memory", 48}};
    CHECK(what_helps(reason, 3) == "a larger max of root.a");
    reason.object = "root";
    CHECK(what_helps(reason, 3) == "another node");
    reason.need = {{"memory", 48}};
    CHECK(what_helps(reason, 3) == "another node, or the end of something that runs in the cluster");
}
