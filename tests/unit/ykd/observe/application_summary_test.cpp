// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/application_summary.h"

#include <catch2/catch.hpp>

#include "protocol/wire/value.h"

using namespace yk;
using namespace yk::service;

namespace {

ApplicationView ended() {
    ApplicationView view;
    view.id = "app-1";
    view.user = "kim";
    view.queue = "root.a";
    view.state = "Completed";
    view.submitted = Instant{1'000'000'000};
    view.started = Instant{2'000'000'000};
    view.finished = Instant{3'500'000'000};
    view.used_seconds = {{"m5", {{"memory", 20}, {"vcore", 10}}}, {"UNKNOWN", {{"vcore", 1}}}};
    return view;
}

} // namespace

TEST_CASE("I-721 the summary line has every field, times in ms, usage sorted") {
    CHECK(summary_line(ended(), "rm:1") ==
          "YK_APP_SUMMARY: ApplicationID=app-1 SubmissionTime=1000 StartTime=2000 FinishTime=3500 User=kim "
          "Queue=root.a State=Completed RmID=rm:1 "
          "ResourceUsage=TrackedResource{UNKNOWN:vcore=1,m5:memory=20,m5:vcore=10} "
          "PreemptedResource=TrackedResource{} PlaceholderResource=TrackedResource{}");
}

TEST_CASE("I-721 the summary as JSON") {
    const auto json = wire::Value::parse(summary_json(ended(), "rm:1"));
    CHECK(json["FinishTime"] == 3500);
    CHECK(json["ResourceUsage"]["m5"]["memory"] == 20);
    CHECK(json["PreemptedResource"].empty());
}
