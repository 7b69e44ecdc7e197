// SPDX-License-Identifier: Apache-2.0
#include "ykctl/output/reason_text.h"

#include <catch2/catch.hpp>

using namespace yk::cli;
using yk::wire::Value;

namespace {

std::string text(const char* reason, const char* nodes = "null") {
    return reason_text(Value::parse(reason), Value::parse(nodes));
}

} // namespace

TEST_CASE("reasons: limits in the units of tables, only what does not fit") {
    CHECK(text(R"({"code":"QUEUE_MAX","text":"max memory 8589934592","need":{"memory":4294967296,"vcore":500},
                   "used":{"memory":6442450944,"vcore":100},"limit":{"memory":8589934592,"vcore":10000}})") ==
          "max memory 8Gi, used 6Gi, each ask needs 4Gi");
    CHECK(text(R"({"code":"QUEUE_STOPPED","text":"the queue is stopped"})") == "the queue is stopped");
}

TEST_CASE("B14 reasons: the maximum of root is what the cluster has") {
    CHECK(
        text(
            R"({"code":"QUEUE_MAX","object":"root","need":{"vcore":2000},"used":{"vcore":7000},"limit":{"vcore":8000}})") ==
        "the cluster has vcore 8, used 7, each ask needs 2");
}

TEST_CASE("B14 what is left of a guarantee is never below nothing") {
    const auto left = [](const char* remaining) { return left_text(Value::parse(remaining)); };
    CHECK(left(R"({"memory":-1073741824,"vcore":-9950000})") == "nothing, 1Gi 9950 vcore above it");
    CHECK(left(R"({"memory":-1073741824,"vcore":2000})") == "2 vcore, 1Gi above it");
    CHECK(left(R"({"vcore":2000,"memory":0})") == "2 vcore");
    CHECK(left("null") == "no guarantee applies");
    CHECK(left(R"({"vcore":-9223372036854775808})").find("-") == std::string::npos);
}

TEST_CASE("reasons: a required node says what it has, and that of its own answer") {
    CHECK(text(R"({"code":"REQUIRED_NODE","text":"nearest n-1 with memory=8589934592",
                   "need":{"memory":17179869184,"vcore":1000},
                   "nodes":{"nodes":1,"lacking":{"memory":1},"best":"n-1",
                            "bestAvailable":{"memory":8589934592,"vcore":5000}}})") ==
          "free 8Gi 5 vcore, the ask needs 16Gi 1 vcore; short of memory");
    CHECK(text(R"({"code":"REQUIRED_NODE","text":"t","need":{"vcore":1000}})",
               R"({"nodes":1,"reserved":1,"bestAvailable":{"vcore":5000}})") ==
          "free 5 vcore, the ask needs 1 vcore; kept for another ask");
    CHECK(text(R"({"code":"REQUIRED_NODE","text":"the required node does not exist"})", R"({"nodes":0})") ==
          "the required node does not exist");
}

TEST_CASE("reasons: no node has room") {
    CHECK(text(R"({"code":"NODE_FIT","text":"nearest n-1 with memory=198642237440"})",
               R"({"nodes":3,"fitting":0,"lacking":{"memory":2},"unschedulable":1,"best":"n-1",
                   "bestAvailable":{"memory":198642237440}})") ==
          "0 of 3 nodes could host an ask now (nearest: n-1, free 185Gi); 2 lack memory, 1 drained");
}

TEST_CASE("reasons: without numbers the daemon's own words") {
    CHECK(text(R"({"code":"NODE_FIT","text":"no node is large enough"})", "{}") == "no node is large enough");
}

TEST_CASE("reasons: placeholders that do not add up, in units") {
    CHECK(text(R"({"code":"GANG","text":"memory=1","used":{"memory":1073741824},"limit":{"memory":2147483648}})") ==
          "its placeholders add up to 1Gi, it announced 2Gi: only with exactly that sum placed it runs without a real "
          "allocation");
    CHECK(text(R"({"code":"GANG","text":"waits to take the place"})") == "waits to take the place");
}

TEST_CASE("reasons: who comes first, with what they are sorted by") {
    CHECK(text(R"({"code":"SORT","text":"t","sort":{"policy":"fair","ahead":4,
                   "first":[{"applicationID":"a","share":0.412},{"applicationID":"b","share":0.5,"priority":5}],
                   "own":{"applicationID":"c","share":0.66}}})") ==
          "4 apps are ahead (fair): a 0.41; b 0.50, priority 5; and 2 more; this one 0.66");
    CHECK(text(R"({"code":"SORT","text":"t","sort":{"policy":"fifo","byPriority":true,"ahead":1,
                   "first":[{"applicationID":"a","submitted":1700000000000000000,"priority":0}],
                   "own":{"applicationID":"c","submitted":1700000001000000000}}})") ==
          "1 app is ahead (fifo, by priority first): a of 2023-11-14T22:13:20.000000Z; this one of "
          "2023-11-14T22:13:21.000000Z");
    CHECK(text(R"({"code":"SORT","text":"t","sort":{"policy":"fair","ahead":1,
                   "first":[{"applicationID":"a","used":{"vcore":500}}],"own":{"used":{"vcore":1000}}}})") ==
          "1 app is ahead (fair): a uses 0.5 vcore; this one uses 1 vcore");
}
