// SPDX-License-Identifier: Apache-2.0
#include "ykd/explain/what_helps.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::service;

TEST_CASE("what would help against a reason names what it is about") {
    const auto help = [](const char* code, const char* object) {
        ExplainReason reason;
        reason.code = code;
        reason.object = object;
        return what_helps(reason);
    };
    CHECK(help("QUEUE_MAX", "root.a") == "a larger max of root.a, or the end of something that runs there");
    CHECK(help("QUEUE_MAX", "root") == "another node, or the end of something that runs in the cluster");
    CHECK(help("QUEUE_MAX_APPS", "root.{}") ==
          "a larger maxapplications of root.{}, or the end of an application there");
    CHECK(help("IMPOSSIBLE", "default") == "a node that could take it when empty, or an ask for less");
    CHECK(help("BACKOFF", "app").empty()); // it ends by itself
    CHECK(help("PLACED", "n-1").empty());
}
