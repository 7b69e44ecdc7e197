// SPDX-License-Identifier: Apache-2.0
#include "ykd/core_gateway/translate.h"

#include <catch2/catch.hpp>

using namespace yk;

namespace {

struct Policy {
    bool self, other;
    friend bool operator==(const Policy&, const Policy&) = default;
};

/// What the core is told of the policy, for an ask and for an allocation that the RM placed.
template <class Message, class List>
Policy policy_of(List si::AllocationRequest::*list, const std::optional<si::PreemptionPolicy>& sent) {
    Message element;
    element.preemption_policy = sent;
    si::AllocationRequest message;
    (message.*list).push_back(element);
    Translator translator{[](std::string_view, const std::string&) {}};
    const AllocationRequest& request = translator.translate(message);
    const auto& made = request.asks.empty() ? request.allocations : request.asks;
    REQUIRE(made.size() == 1);
    return {made[0].allow_preempt_self, made[0].allow_preempt_other};
}

} // namespace

TEST_CASE("I-030 D-52 without a preemption policy neither is allowed; with one, what it says") {
    const auto both = [](const std::optional<si::PreemptionPolicy>& sent) {
        const Policy asked = policy_of<si::AllocationAsk>(&si::AllocationRequest::asks, sent);
        CHECK(policy_of<si::Allocation>(&si::AllocationRequest::allocations, sent) == asked);
        return asked;
    };
    CHECK(both(std::nullopt) == Policy{false, false});
    CHECK(both(si::PreemptionPolicy{}) == Policy{false, false}); // an absent key
    CHECK(both(si::PreemptionPolicy{true, false}) == Policy{true, false});
    CHECK(both(si::PreemptionPolicy{false, true}) == Policy{false, true});
}
