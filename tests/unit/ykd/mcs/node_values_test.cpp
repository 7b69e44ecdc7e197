// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/node_values.h"

#include <catch2/catch.hpp>

#include <functional>

#include "libcore/mcs/replicas/node_changes.h"
#include "protocol/si/errors.h"

using namespace yk;
using namespace yk::service;

namespace {

si::McsWriteRequest request(const std::function<void(si::McsBody&)>& change, std::string id = "n1") {
    si::McsBody body;
    change(body);
    return {"create", "node", std::move(id), 0, std::move(body)};
}

void four_cores(si::McsBody& body) {
    body.resource = si::Resources{{"vcore", 4000}};
}

/// `E_INVALID path`, or good.
std::string verdict(const Result<mcs::Node>& made) {
    if (made.ok()) return "good";
    return std::string{si::name(static_cast<si::ErrorCode>(made.error().code))} + ' ' + made.error().where;
}

mcs::Node made_of(const std::function<void(si::McsBody&)>& change) {
    auto made = node_of(request(change));
    REQUIRE(made.ok());
    return std::move(made).value();
}

} // namespace

TEST_CASE("rs R-125 a node has a name that a key may have, and some capacity that is not negative") {
    CHECK(verdict(node_of(request(four_cores))) == "good");
    CHECK(verdict(node_of(request(four_cores, ""))) == "E_MISSING_FIELD id");
    CHECK(verdict(node_of(request(four_cores, std::string(200, 'n')))) == "good");
    CHECK(verdict(node_of(request(four_cores, std::string(201, 'n')))) == "E_INVALID id");
    CHECK(verdict(node_of(request([](si::McsBody&) {}))) == "E_MISSING_FIELD body.resource");
    CHECK(verdict(node_of(request([](si::McsBody& body) { body.resource = si::Resources{}; }))) ==
          "E_MISSING_FIELD body.resource");
    CHECK(verdict(node_of(request([](si::McsBody& body) {
              body.resource = si::Resources{{"vcore", -1}};
          }))) == "E_INVALID body.resource");
}

TEST_CASE("rs R-125 the attributes of a node have a limit") {
    const auto with = [](std::size_t bytes) {
        return node_of(request([bytes](si::McsBody& body) {
            four_cores(body);
            body.tags = si::StringMap{{"rack", std::string(bytes - 4, 'r')}};
        }));
    };
    CHECK(verdict(with(16 << 10)) == "good");
    CHECK(verdict(with((16 << 10) + 1)) == "E_LIMIT body.tags");
}

TEST_CASE("rs R-125 a change replaces what it names, and nothing else") {
    const mcs::Node before = made_of([](si::McsBody& body) {
        four_cores(body);
        body.tags = si::StringMap{{"rack", "1"}, {"zone", "a"}};
        body.partition = "gpu";
    });
    CHECK(mcs::partition_of(before) == "gpu");
    const auto larger = changed_node(before, request([](si::McsBody& body) {
                                         body.resource = si::Resources{{"gpu", 2}};
                                     }));
    REQUIRE(larger.ok());
    CHECK(larger->capacity == mcs::Amounts{{"gpu", 2}});
    CHECK(larger->attributes == before.attributes);
    const auto moved = changed_node(before, request([](si::McsBody& body) {
                                        body.tags = si::StringMap{{"rack", "2"}};
                                    }));
    REQUIRE(moved.ok());
    CHECK(moved->attributes.at("rack") == "2");
    CHECK(moved->attributes.count("zone") == 0);
    CHECK(mcs::partition_of(*moved) == "gpu");
    CHECK(moved->capacity == before.capacity);
}

TEST_CASE("rs R-125 a node goes to another partition when a change names it") {
    const auto moved = changed_node(made_of(four_cores), request([](si::McsBody& body) { body.partition = "gpu"; }));
    REQUIRE(moved.ok());
    CHECK(mcs::partition_of(*moved) == "gpu");
}

TEST_CASE("rs R-157 a local node stays one, and a change that names another kind is refused") {
    const mcs::Node local = made_of([](si::McsBody& body) {
        four_cores(body);
        body.tags = si::StringMap{{"kind", "local"}, {"rack", "1"}};
    });
    const auto with = [&local](const si::StringMap& tags) {
        return changed_node(local, request([&tags](si::McsBody& body) { body.tags = tags; }));
    };
    const auto refused = with({{"kind", "foo"}});
    CHECK(verdict(refused) == "E_INVALID body.tags.kind");
    CHECK(refused.error().message.find("the kind of a node stays, and this one is local") == 0);
    CHECK(verdict(with({{"kind", "local"}})) == "good");
    const auto without = with({{"rack", "2"}});
    REQUIRE(without.ok());
    CHECK(without->attributes == mcs::Texts{{"kind", "local"}, {"rack", "2"}});
    const auto free = changed_node(made_of(four_cores), request([](si::McsBody& body) {
                                       body.tags = si::StringMap{{"kind", "foo"}};
                                   }));
    CHECK(verdict(free) == "good"); // an attribute as any other
}

TEST_CASE("rs R-157 a node as a value says whether the core has it, and else why not") {
    mcs::Node row = made_of(four_cores);
    const wire::Value good = value_of(row, true, "");
    CHECK(good["registered"] == true);
    CHECK_FALSE(good.contains("refusal"));
    CHECK(good["partition"] == "default");
    CHECK(good["capacity"]["vcore"] == 4000);
    CHECK(value_of(row, false, "no such partition")["refusal"] == "no such partition");
}
