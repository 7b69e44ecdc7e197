// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/rm_books.h"

#include <catch2/catch.hpp>

#include <string>

namespace yk::scenario {
namespace {

Value json(const std::string& text) {
    return Value::parse(text);
}

Value placed(const std::string& key, const std::string& application = "app", const std::string& node = "n") {
    return {{"new", {{{"allocationKey", key}, {"applicationID", application}, {"nodeID", node}}}}};
}

TEST_CASE("scenario.md books: allocations told as new are held") {
    RmBooks books;
    CHECK(books.apply("UpdateAllocation", placed("a", "app-1", "n-1")).empty());
    books.apply("UpdateAllocation", placed("b", "app-1", "n-2"));
    books.apply("UpdateAllocation", placed("c", "app-2", "n-2"));
    CHECK(books.observed("allocations") == 3);
    CHECK(books.observed("allocationNodes") == json(R"({"a":"n-1","b":"n-2","c":"n-2"})"));
    CHECK(books.observed("allocationsOf") == json(R"({"app-1":2,"app-2":1})"));
    CHECK(books.observed("allocationsOn") == json(R"({"n-1":1,"n-2":2})"));
}

TEST_CASE("scenario.md books: by allocation key") {
    RmBooks books;
    books.apply("UpdateAllocation", placed("a", "app", "n-1"));
    books.apply("UpdateAllocation", placed("a", "app", "n-2"));
    CHECK(books.observed("allocationNodes") == json(R"({"a":"n-2"})"));
}

TEST_CASE("scenario.md books: an allocation leaves when the core tells of its release, and the type stays") {
    RmBooks books;
    books.apply("UpdateAllocation", placed("a"));
    books.apply("UpdateAllocation", json(R"({"released":[{"allocationKey":"a","terminationType":1}]})"));
    CHECK(books.observed("allocations") == 0);
    CHECK(books.observed("released") == json(R"({"a":"STOPPED_BY_RM"})"));
    books.apply("UpdateAllocation", placed("a"));
    CHECK(books.observed("allocations") == 1);
    CHECK(books.observed("released") == json(R"({"a":"STOPPED_BY_RM"})"));
    books.apply("UpdateAllocation", json(R"({"released":[{"allocationKey":"a","terminationType":2}]})"));
    CHECK(books.observed("released") == json(R"({"a":"TIMEOUT"})"));
}

TEST_CASE("I-104 of one message new comes before released") {
    RmBooks books;
    Value body = placed("a");
    body["released"] = json(R"([{"allocationKey":"a","terminationType":1}])");
    books.apply("UpdateAllocation", body);
    CHECK(books.observed("allocations") == 0);
}

TEST_CASE("scenario.md rm: the three types that need a confirmation, with the same type") {
    RmBooks books;
    const auto confirm = books.apply(
        "UpdateAllocation",
        json(
            R"({"released":[{"partitionName":"[rm:1]default","applicationID":"app","allocationKey":"a","terminationType":1},
                             {"partitionName":"[rm:1]default","applicationID":"app","allocationKey":"b","terminationType":2,"message":"m"},
                             {"partitionName":"[rm:1]default","applicationID":"app","allocationKey":"c","terminationType":3},
                             {"partitionName":"[rm:1]default","applicationID":"app","allocationKey":"d","terminationType":4},
                             {"applicationID":"app","allocationKey":"e","terminationType":9}]})"));
    REQUIRE(confirm.size() == 3);
    using Type = si::TerminationType;
    CHECK(confirm[0] == si::AllocationRelease{"[rm:1]default", "app", "b", Type::Timeout, {}, false});
    CHECK(confirm[1].termination_type == Type::PreemptedByScheduler);
    CHECK(confirm[2].termination_type == Type::PlaceholderReplaced);
    CHECK(books.observed("released")["e"] == "UNKNOWN");
}

TEST_CASE("scenario.md books: an allocation leaves when the RM sends its release") {
    RmBooks books;
    for (const char* key : {"a", "b", "c"}) books.apply("UpdateAllocation", placed(key, "app-1"));
    books.apply("UpdateAllocation", placed("d", "app-2"));
    books.release_sent(json(R"({"applicationID":"app-1","allocationKey":"a"})"));
    CHECK(books.observed("allocations") == 3);
    books.release_sent(json(R"({"applicationID":"app-2","allocationKey":"b"})"));
    CHECK(books.observed("allocations") == 3);
    books.release_sent(json(R"({"applicationID":"app-1","allocationKey":""})"));
    CHECK(books.observed("allocationNodes") == json(R"({"d":"n"})"));
    CHECK(books.observed("released") == Value::object());
}

TEST_CASE("scenario.md books: accepted and rejected ids only grow") {
    RmBooks books;
    books.apply("UpdateApplication",
                json(R"({"accepted":[{"applicationID":"a"}],"rejected":[{"applicationID":"b"}]})"));
    books.apply("UpdateApplication", json(R"({"rejected":[{"applicationID":"a"}],"updated":[{"applicationID":"c"}]})"));
    books.apply("UpdateNode",
                json(R"({"accepted":[{"nodeID":"n"}],"rejected":[{"nodeID":"n"}],"failed":[{"nodeID":"m"}]})"));
    books.apply("UpdateAllocation",
                json(R"({"rejected":[{"allocationKey":"k"}],"rejectedAllocations":[{"allocationKey":"l"}]})"));
    CHECK(books.observed("acceptedApplications") == json(R"(["a"])"));
    CHECK(books.observed("rejectedApplications") == json(R"(["a","b"])"));
    CHECK(books.observed("acceptedNodes") == json(R"(["n"])"));
    CHECK(books.observed("rejectedNodes") == json(R"(["n"])"));
    CHECK(books.observed("rejectedAsks") == json(R"(["k","l"])"));
}

TEST_CASE("callbacks of odd shape do not hurt") {
    RmBooks books;
    for (const char* body : {"null", "[]", R"({"new":{}})", R"({"new":[1,null,{"allocationKey":5}]})",
                             R"({"released":[{"terminationType":"x"}]})", R"({"accepted":"all"})"})
        for (const char* kind : {"UpdateAllocation", "UpdateApplication", "UpdateNode", "Notice"})
            CHECK(books.apply(kind, json(body)).empty());
}

} // namespace
} // namespace yk::scenario
