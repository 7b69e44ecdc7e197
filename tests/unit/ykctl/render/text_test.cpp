// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/text.h"

#include <catch2/catch.hpp>

using namespace yk::cli;
using namespace std::chrono_literals;
using yk::wire::Value;

TEST_CASE("quantities: memory in binary units, vcore in cores, the rest as they are") {
    CHECK(quantity_text("memory", 0) == "0");
    CHECK(quantity_text("memory", 1023) == "1023");
    CHECK(quantity_text("memory", 64LL << 30) == "64Gi");
    CHECK(quantity_text("memory", 1536LL << 20) == "1.5Gi");
    CHECK(quantity_text("memory", (14LL << 40) / 10) == "1.4Ti");
    CHECK(quantity_text("memory", INT64_MAX) == "8Ei");
    CHECK(quantity_text("memory", -(2LL << 30)) == "-2Gi");
    CHECK(quantity_text("vcore", 16000) == "16");
    CHECK(quantity_text("vcore", 500) == "0.5");
    CHECK(quantity_text("vcore", 1) == "0.001");
    CHECK(quantity_text("vcore", -1500) == "-1.5");
    CHECK(quantity_text("gpu", 4000) == "4000");
}

TEST_CASE("resources: memory and vcore first, a dash for none") {
    CHECK(resource_text(Value{{"vcore", 16000}, {"gpu", 4}, {"memory", 64LL << 30}}) == "64Gi 16 vcore 4 gpu");
    CHECK(resource_text(Value::object()) == "-");
    CHECK(resource_text(Value()) == "-");
    CHECK(named_resource_text(Value{{"vcore", 500}, {"memory", 1024}}) == "memory 1Ki, vcore 0.5");
}

TEST_CASE("durations: the two largest units") {
    CHECK(duration_text(0ms) == "0ms");
    CHECK(duration_text(850ms) == "850ms");
    CHECK(duration_text(1999ms) == "1s");
    CHECK(duration_text(252s) == "4m12s");
    CHECK(duration_text(60s) == "1m");
    CHECK(duration_text(3h + 5min + 7s) == "3h5m");
    CHECK(duration_text(52h) == "2d4h");
    CHECK(duration_text(-1s) == "-");
}

TEST_CASE("times: RFC 3339 in UTC with the digits they need") {
    CHECK(time_text(0) == "-");
    CHECK(time_text(1'700'000'000'000'000'000) == "2023-11-14T22:13:20.000000Z");
    CHECK(time_text(1'700'000'000'250'000'000) == "2023-11-14T22:13:20.250000Z");
    CHECK(time_text(1'700'000'000'000'000'001) == "2023-11-14T22:13:20.000000Z");
    CHECK(time_text(-1) == "1969-12-31T23:59:59.999999Z");
}

TEST_CASE("what a daemon says cannot steer the terminal") {
    CHECK(printable("a\x1b[31mb\nc\x7f") == "a?[31mb?c?");
    CHECK(printable("C1 \xc2\x9b is a CSI") == "C1 ? is a CSI");
    CHECK(printable("größe") == "größe");
}

TEST_CASE("width counts characters, not bytes") {
    CHECK(display_width("└─ größe") == 8);
}
