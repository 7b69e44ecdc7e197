// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <set>

#include "protocol/si/enums.h"
#include "protocol/si/errors.h"
#include "protocol/si/kinds.h"

using namespace yk::si;

TEST_CASE("4.11 codes have their names, and only three are retryable") {
    CHECK(name(ErrorCode::Decode) == "E_DECODE");
    CHECK(name(ErrorCode::SeqGap) == "E_SEQ_GAP");
    CHECK(name(ErrorCode::Internal) == "E_INTERNAL");
    CHECK(name(ElementCode::AppExists) == "P_APP_EXISTS");
    CHECK(name(ElementCode::ExistingAllocation) == "P_EXISTING_ALLOCATION");
    std::set<std::uint32_t> retryable;
    std::size_t known = 0;
    for (std::uint32_t code = 0; code < 2000; ++code) {
        const auto found = find_error_code(code);
        if (!found) continue;
        ++known;
        CHECK(static_cast<std::uint32_t>(*found) == code);
        if (is_retryable(*found)) retryable.insert(code);
    }
    CHECK(known == 32);
    CHECK(retryable == std::set<std::uint32_t>{400, 401, 402});
}

TEST_CASE("I-032 I-045 3.1 enums and their texts") {
    CHECK(text(TerminationType::PlaceholderReplaced) == "PLACEHOLDER_REPLACED");
    CHECK(find_termination_type("STOPPED_BY_RM") == TerminationType::StoppedByRm);
    CHECK_FALSE(find_termination_type("stopped"));
    CHECK(text(NodeAction::Drain) == "DRAIN");
    CHECK(text(NodeAction::Decommission) == "DECOMISSION");
    CHECK(find_node_action("DRAIN_NODE") == NodeAction::Drain);
    CHECK(find_node_action("DRAIN_TO_SCHEDULABLE") == NodeAction::Schedulable);
    CHECK(find_node_action("CREATE_DRAIN") == NodeAction::CreateDrain);
    CHECK(text(CoreState::Suspended) == "Suspended");
    CHECK(find_core_state("Lost") == CoreState::Lost);
    CHECK(text(EventType::UserGroup) == "USERGROUP");
    CHECK(text(EventType::Rm) == "RM");
    CHECK(text(EventChange::Remove) == "REMOVE");
    CHECK(text(ContainerState::Reserved) == "RESERVED");
}

TEST_CASE("4.6 every kind is found by its name, and the table stands in the order of the enum") {
    for (int i = 0; i <= static_cast<int>(Kind::Shutdown); ++i) {
        const auto kind = static_cast<Kind>(i);
        CHECK(info(kind).kind == kind);
        CHECK(find_kind(info(kind).name) == kind);
    }
    CHECK_FALSE(find_kind("hello"));
    CHECK_FALSE(find_kind(""));
    CHECK(info(Kind::UpdateNode).mutating);
    CHECK_FALSE(info(Kind::Poll).mutating);
    CHECK(info(Kind::Step).role == Role::Admin);
    CHECK(find_role("rm") == Role::Rm);
    CHECK_FALSE(find_role("root"));
    CHECK(text(Role::Observer) == "observer");
}
