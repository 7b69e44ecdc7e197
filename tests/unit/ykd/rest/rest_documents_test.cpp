// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/rest_documents.h"

#include <catch2/catch.hpp>

#include "ykd/rest/exchange/rest_answers.h"

using namespace yk::service;
using yk::wire::Value;

TEST_CASE("JSON is as Go writes it") {
    CHECK(json_text({{"a", "<b> & \xE2\x80\xA8\xE2\x80\xA9 \xC3\xA4"}}) == R"({"a":"\u003cb\u003e \u0026 \u2028\u2029 )"
                                                                           "\xC3\xA4\"}");
    CHECK(json_text("\xFF") == "\"\xEF\xBF\xBD\""); // what is no UTF-8 is replaced
    CHECK(json_text(9'000'000'000'000'000'000) == "9000000000000000000");
}

TEST_CASE("a refusal says the same twice") {
    const HttpAnswer answer = error_answer(404, "Queue not found");
    CHECK(answer.status == 404);
    CHECK(answer.content_type == "application/json; charset=UTF-8");
    CHECK(answer.body == R"({"status_code":404,"message":"Queue not found","description":"Queue not found"})"
                         "\n");
    CHECK(error_answer(yk::si::ErrorCode::Busy, "later").status == 503);
    CHECK(error_answer(yk::si::ErrorCode::Auth, "who?").status == 401);
    CHECK(error_answer(yk::si::ErrorCode::Internal, "oh").status == 500);
}

TEST_CASE("an event leaves out what is empty, and wraps amounts") {
    const Value event = rest_event({{"eventID", 0},
                                    {"type", 3},
                                    {"objectID", "n"},
                                    {"message", ""},
                                    {"timestampNano", 5},
                                    {"eventChangeType", 0},
                                    {"referenceID", ""},
                                    {"resource", {{"memory", 10}, {"gpu", 0}}}});
    CHECK(event == Value({{"type", 3},
                          {"objectID", "n"},
                          {"timestampNano", 5},
                          {"resource", {{"resources", {{"memory", {{"value", 10}}}, {"gpu", Value::object()}}}}}}));
    CHECK(rest_event({{"type", 2}})["resource"] == Value::object());
}

TEST_CASE("the health has the original's words, and our own checks beside them") {
    const Value health = rest_health(
        {{"Healthy", false},
         {"HealthChecks",
          {{{"Name", "Scheduling errors"}, {"Succeeded", false}, {"DiagnosisMessage", "3 scheduling errors"}},
           {{"Name", "Failed nodes"}, {"Succeeded", true}, {"DiagnosisMessage", ""}},
           {{"Name", "Negative resources (nodes)"}, {"Succeeded", false}, {"DiagnosisMessage", "n1"}},
           {{"Name", "Main loop"}, {"Succeeded", true}, {"DiagnosisMessage", ""}}}}});
    const Value& checks = health["HealthChecks"];
    REQUIRE(checks.size() == 3);
    CHECK(checks[0]["DiagnosisMessage"] == "There were 3 scheduling errors logged in the metrics");
    CHECK(checks[1]["DiagnosisMessage"] == "There were 0 failed nodes logged in the metrics");
    CHECK(checks[2]["Name"] == "Negative resources");
    CHECK(checks[2]["DiagnosisMessage"] == "Nodes with negative resources: [n1]");
    CHECK(health["FurtherChecks"][0]["Name"] == "Main loop");
    CHECK(health["Healthy"] == false);
}

TEST_CASE("reservations are shown per node, of each partition") {
    const auto ratios = [](const char* ours) {
        const Value health{
            {"HealthChecks", {{{"Name", "Reservation check"}, {"Succeeded", true}, {"DiagnosisMessage", ours}}}}};
        return rest_health(health)["HealthChecks"][0]["DiagnosisMessage"].get<std::string>();
    };
    CHECK(ratios("") == "Reservation/node nr ratio: []");
    CHECK(ratios("[r]p: 3 on 4 nodes; [r]on 2 on: 0 on 0 nodes") == "Reservation/node nr ratio: [0.750000 0.000000]");
}

TEST_CASE("an application waits for the reasons that the original names, and is in no queue if no rule placed it") {
    const Value shown = rest_application(
        {{"queueName", "root.asked"},
         {"rejectedMessage", "failed to place application a: no"},
         {"requests",
          {{{"allocationLog",
             {{{"message", "no victim on the required node"}, {"count", 2}}, {{"message", "Not enough queue quota"}}}}},
           {{"allocationKey", "k"}}}}});
    CHECK(shown["queueName"] == "");
    const Value& log = shown["requests"][0]["allocationLog"];
    CHECK(log[0]["message"] == "No fit on required node, preemption does not help");
    CHECK(log[0]["count"] == 2);
    CHECK(log[1]["message"] == "Not enough queue quota");
    CHECK(rest_application({{"queueName", "root.a"}, {"rejectedMessage", "x"}})["queueName"] == "root.a");
}

TEST_CASE("empty buckets of a utilisation have their name only") {
    const Value shown =
        rest_utilization({{"utilizations",
                           {{{"type", "vcore"},
                             {"utilization",
                              {{{"bucketName", "0-10%"}, {"numOfNodes", 0}, {"nodeNames", Value::array()}},
                               {{"bucketName", "10-20%"}, {"numOfNodes", 1}, {"nodeNames", {"n"}}}}}}}}});
    const Value& buckets = shown["utilizations"][0]["utilization"];
    CHECK(buckets[0] == Value({{"bucketName", "0-10%"}}));
    CHECK(buckets[1]["numOfNodes"] == 1);
}
