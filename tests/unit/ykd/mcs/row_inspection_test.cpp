// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/row_inspection.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::service;

TEST_CASE("rs R-156 the verdict says what comes next: a read, the cache, a handler, or nothing") {
    const rs::RowImage old{"u", 1, 7}, changed{"u", 2, 8};
    RowInspection all;
    CHECK_FALSE(all.is_anywhere());
    all.known.handlers = {{"autoscaler", true}, {"scheduler", false}};
    CHECK_FALSE(all.is_anywhere());
    all.row.image = changed;
    CHECK(all.is_anywhere());
    CHECK(verdict_of(all) == "cache behind");
    all.known.cached = old;
    CHECK(verdict_of(all) == "cache behind");
    all.known.is_queued = true;
    CHECK(verdict_of(all) == "queued");
    all.known = {changed, false, {}, {{"autoscaler", true, true, false, 3}, {"scheduler", false}}};
    CHECK(verdict_of(all) == "handler pending");
    const wire::Value value = value_of(all);
    CHECK(value["verdict"] == "handler pending");
    CHECK(value["cache"] == value["database"]);
    CHECK(value["cache"]["content"] == "0000000000000008");
    CHECK(value["handlers"][0] == wire::Value{{"name", "autoscaler"}, {"state", "pending"}, {"failed", 3}});
    CHECK(value["handlers"][1]["state"] == "not here");
    all.known.handlers[0].is_dead_letter = true;
    CHECK(value_of(all)["handlers"][0]["state"] == "dead letter");
    all.known.handlers[0] = {"autoscaler", true};
    CHECK(verdict_of(all) == "in sync");
    CHECK(value_of(all)["handlers"][0]["state"] == "done");
}

TEST_CASE("rs R-156 what is gone in the database, or cannot be understood there, is no row of the cache") {
    RowInspection all;
    all.known.handlers = {{"autoscaler", true, true}};
    CHECK(all.is_anywhere()); // it has not acted on the end of the row
    CHECK(verdict_of(all) == "handler pending");
    all.known.cached = rs::RowImage{"u", 1, 7};
    CHECK(verdict_of(all) == "cache behind");
    all.row.fault = "column resource: no JSON";
    CHECK(verdict_of(all) == "cache behind");
    CHECK(value_of(all)["database"] == wire::Value{{"fault", "column resource: no JSON"}});
}
