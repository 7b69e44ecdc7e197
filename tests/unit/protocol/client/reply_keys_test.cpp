// SPDX-License-Identifier: Apache-2.0
#include "protocol/client/reply_keys.h"

#include <string>
#include <string_view>

#include <catch2/catch.hpp>

#include "protocol/si/kinds.h"
#include "protocol/wire/body_reader.h"

using namespace yk;

namespace {

std::string unknown_key_of(std::string_view kind, const wire::Value& reply) {
    const std::string bytes = wire::encoded_value(reply);
    const auto body = wire::scan_body(bytes);
    REQUIRE(body.ok());
    return wire::unknown_reply_key(kind, *body).value_or("");
}

} // namespace

TEST_CASE("the keys of the replies of every kind are known") {
    for (std::size_t i = 0; i < si::kKindCount; ++i) {
        const auto& kind = si::info(static_cast<si::Kind>(i));
        INFO(kind.name);
        CHECK(unknown_key_of(kind.name, {{"zz", 1}}) == "zz");
    }
}

TEST_CASE("one page of many has keys that a single page lacks") {
    CHECK(unknown_key_of("Metrics", {{"text", ""}, {"complete", false}, {"cursor", "metrics-2"}}).empty());
    CHECK(unknown_key_of("Dump", {{"asOf", 1}, {"complete", false}, {"cursor", "apps-2"}, {"data", 1}}).empty());
}
