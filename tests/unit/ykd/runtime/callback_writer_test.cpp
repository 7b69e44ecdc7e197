// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/callback_writer.h"

#include <catch2/catch.hpp>

#include "protocol/si/messages.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"
#include "ykd/runtime/outbound_stream.h"

using namespace yk;

namespace {

template <class T>
T decode(const OutItem& item) {
    const std::string bytes = std::string(item.head_view()) + item.body.str();
    auto decoded = wire::decode<T>(wire::scan_body(bytes).value());
    REQUIRE(decoded.ok());
    return *decoded;
}

struct Sized {
    ResourceNames names;
    Resource amounts;
    Sized() { amounts.set(names.intern("vcore"), 7); }
    [[nodiscard]] NewAllocation allocation(std::string_view key) const {
        NewAllocation made;
        made.partition = "[rm]default";
        made.application = "app";
        made.key = key;
        made.node = "n1";
        made.queue = "root.a";
        made.resource = {&amounts, &names};
        made.tags = std::span<const Tag>(&kTag, 1);
        made.priority = -3;
        return made;
    }
    static constexpr Tag kTag{"k", "v"};
};

} // namespace

TEST_CASE("I-104 neighbouring allocations become one message, in order; I-031 with every field") {
    Sized sized;
    CallbackWriter writer;
    writer.allocation_made(sized.allocation("a"));
    writer.allocation_made(sized.allocation("b"));
    const auto items = writer.take();
    REQUIRE(items.size() == 1);
    const auto message = decode<si::AllocationResponse>(items[0]);
    REQUIRE(message.made.size() == 2);
    CHECK(message.made[1].allocation_key == "b");
    const si::Allocation& first = message.made[0];
    CHECK(first.allocation_key == "a");
    CHECK(first.partition_name == "[rm]default");
    CHECK(first.queue_name == "root.a");
    CHECK(first.node_id == "n1");
    CHECK(first.priority == -3);
    CHECK(first.resource_per_alloc == si::Resources{{"vcore", 7}});
    CHECK(first.allocation_tags == si::StringMap{{"k", "v"}});
    CHECK(first.preemption_policy.has_value());
    CHECK(writer.empty());
}

TEST_CASE("I-104 a release between two allocations keeps its place") {
    Sized sized;
    CallbackWriter writer;
    writer.allocation_made(sized.allocation("a"));
    const ReleasedAllocation released{"[rm]default", "app", "a", TerminationType::StoppedByRm, "gone"};
    writer.allocations_released(std::span(&released, 1));
    writer.allocation_made(sized.allocation("b"));
    const auto items = writer.take();
    REQUIRE(items.size() == 3);
    CHECK(decode<si::AllocationResponse>(items[0]).made.size() == 1);
    CHECK(decode<si::AllocationResponse>(items[1]).released[0].termination_type == si::TerminationType::StoppedByRm);
    CHECK(decode<si::AllocationResponse>(items[2]).made[0].allocation_key == "b");
}

TEST_CASE("I-269 a request comes before what answers it, with how many items that are") {
    Sized sized;
    CallbackWriter writer;
    writer.allocation_made(sized.allocation("before"));
    si::NodeRequest request;
    request.nodes.emplace_back();
    request.nodes[0].node_id = "n1";
    writer.request("UpdateNode", true, wire::encoded(request));
    const AcceptedNode node{"n1", "[rm]default"};
    writer.nodes_answered(std::span(&node, 1), {}, {});
    writer.notice("HELLO", "no answer", {});
    writer.allocation_made(sized.allocation("a"));
    writer.allocation_made(sized.allocation("b"));
    writer.request_answered();
    writer.allocation_made(sized.allocation("after"));
    const auto items = writer.take();
    REQUIRE(items.size() == 6);
    CHECK(decode<si::AllocationResponse>(items[0]).made.size() == 1);
    CHECK(items[1].kind == "Request");
    const std::string bytes = std::string(items[1].head_view()) + items[1].body.str();
    const wire::Value body = wire::decode_value(wire::scan_body(bytes).value());
    CHECK(body["answers"] == 2);
    CHECK(body["kind"] == "UpdateNode");
    CHECK(body["impersonated"] == true);
    CHECK(body["body"]["nodes"][0]["nodeID"] == "n1");
    CHECK(decode<si::AllocationResponse>(items[4]).made.size() == 2);
    CHECK(decode<si::AllocationResponse>(items[5]).made[0].allocation_key == "after");
}

TEST_CASE("I-269 what is refused of an echoed request says which element it was, and of others it does not") {
    CallbackWriter writer;
    const std::vector<RejectedAsk> asks{{"p", "app", "a", "no", ElementCode::NoResource, 3},
                                        {"p", "app", "b", "set aside before", ElementCode::NoResource}};
    const std::vector<RejectedApplication> applications{{"p", "app", "no", ElementCode::AppExists, 0}};
    const std::vector<RefusedNode> rejected{{"p", "n2", "known", ElementCode::NodeExists, NodeAction::Create, 1}};
    const std::vector<RefusedNode> failed{{"p", "n3", "unknown", ElementCode::NodeUnknown, NodeAction::Drain, 2}};
    for (const bool echoes : {true, false}) {
        if (echoes) writer.request("UpdateAllocation", false, wire::encoded(si::AllocationRequest{}));
        writer.asks_rejected(asks, false);
        writer.asks_rejected(asks, true);
        writer.applications_answered({}, applications);
        writer.nodes_answered({}, rejected, failed);
        if (echoes) writer.request_answered();
        auto items = writer.take();
        if (echoes) items.erase(items.begin());
        REQUIRE(items.size() == 4);
        const auto element = [&](std::uint32_t number) { return echoes ? std::optional{number} : std::nullopt; };
        CHECK(decode<si::AllocationResponse>(items[0]).rejected[0].element == element(3));
        CHECK(decode<si::AllocationResponse>(items[0]).rejected[1].element == std::nullopt);
        CHECK(decode<si::AllocationResponse>(items[1]).rejected_allocations[0].element == element(3));
        CHECK(decode<si::ApplicationResponse>(items[2]).rejected[0].element == element(0));
        CHECK(decode<si::NodeResponse>(items[3]).rejected[0].element == element(1));
        CHECK(decode<si::NodeResponse>(items[3]).failed[0].element == element(2));
    }
}

TEST_CASE("an item holds at most a thousand allocations") {
    Sized sized;
    CallbackWriter writer;
    for (int i = 0; i < 2001; ++i) writer.allocation_made(sized.allocation("a"));
    const auto items = writer.take();
    REQUIRE(items.size() == 3);
    CHECK(decode<si::AllocationResponse>(items[0]).made.size() == 1000);
    CHECK(decode<si::AllocationResponse>(items[2]).made.size() == 1);
}

TEST_CASE("I-364 an item is closed before it would pass its bound") {
    constexpr std::size_t kBound = 512U << 10;
    Sized sized;
    CallbackWriter writer;
    CallbackWriter::Interest interest;
    interest.resync_cache = true;
    writer.set_interest(interest);
    const std::string large(455'000, 'x'), larger(2'000'000, 'y');
    for (const std::string* text : {&large, &larger, &large}) {
        const Tag tag{"k", *text};
        NewAllocation made = sized.allocation(text == &larger ? "larger" : "large");
        made.tags = std::span<const Tag>(&tag, 1);
        writer.allocation_made(made);
        writer.allocation_made(sized.allocation("small"));
    }
    std::vector<std::string> keys;
    for (const OutItem& item : writer.take()) {
        const std::string bytes = std::string(item.head_view()) + item.body.str();
        const wire::Value body = wire::decode_value(wire::scan_body(bytes).value());
        REQUIRE(body.size() == 1);
        keys.push_back(body.begin().key());
        for (const auto& one : body.front()) keys.back() += " " + one["allocationKey"].get<std::string>();
        CHECK((bytes.size() <= kBound + 100 || keys.back() == "new larger"));
    }
    CHECK(keys == std::vector<std::string>{"assumedAllocations large small", "new large small",
                                           "assumedAllocations larger", "new larger",
                                           "assumedAllocations small large small", "new small large small"});
}

TEST_CASE("I-104 neighbouring releases and neighbouring states become few messages, in order") {
    CallbackWriter writer;
    CallbackWriter::Interest interest;
    interest.resync_cache = true;
    writer.set_interest(interest);
    std::vector<std::string> keys;
    for (int i = 0; i < 1500; ++i) keys.push_back("k" + std::to_string(i));
    for (const std::string& key : keys) {
        const ReleasedAllocation released{"p", "app", key, TerminationType::StoppedByRm, ""};
        writer.allocations_released(std::span(&released, 1)); // as the echoes of a request are told
    }
    for (const std::string_view state : {"Completing", "Completed"})
        writer.application_updated({"p", "app", state, {}, ""});
    const auto items = writer.take();
    REQUIRE(items.size() == 5);
    std::size_t at = 0;
    for (const std::size_t i : {0U, 2U})
        for (const auto& one : decode<si::AllocationResponse>(items[i]).released)
            CHECK(one.allocation_key == keys.at(at++));
    CHECK(at == keys.size());
    CHECK(items[1].kind == si::item::kReSyncSchedulerCache);
    CHECK(items[3].kind == si::item::kReSyncSchedulerCache);
    const auto reported = decode<si::ApplicationResponse>(items[4]).updated;
    REQUIRE(reported.size() == 2);
    CHECK(reported[0].state == "Completing");
    CHECK(reported[1].state == "Completed");
}

TEST_CASE("counted loss: a batch of events that is dropped loses what it said was lost, too") {
    CallbackWriter writer;
    OutboundStream stream(StreamLimits{2, 1U << 20});
    stream.open(1, std::nullopt);
    writer.notice("STATE", "one", {}); // half full
    writer.events("", {0, 0, 0}, {10, 1, 10});
    CHECK(stream.append(writer.take()) != Pressure::Broken);
    const EventSpan lost = stream.take_lost();
    CHECK(lost.records == 10);
    CHECK(lost.first_id == 1);
    CHECK(lost.last_id == 10);
}

TEST_CASE("I-010 what an RM did not announce is not sent") {
    CallbackWriter writer;
    const IgnoredRelease ignored{"p", "app", "key", "no such thing", ElementCode::UnknownAllocation};
    writer.releases_ignored(std::span(&ignored, 1));
    writer.ask_outstanding("app", "key", "waiting for cluster resources");
    CHECK(writer.empty());
    CallbackWriter::Interest interest;
    interest.report_ignored = interest.container_state = true;
    writer.set_interest(interest);
    writer.releases_ignored(std::span(&ignored, 1));
    writer.ask_outstanding("app", "key", "waiting for cluster resources");
    const auto items = writer.take();
    REQUIRE(items.size() == 2);
    CHECK(decode<si::AllocationResponse>(items[0]).ignored_releases[0].reason == "no such thing");
    const std::string bytes = std::string(items[0].head_view()) + items[0].body.str();
    const auto reported = wire::decode_value(wire::scan_body(bytes).value());
    CHECK(reported["ignoredReleases"][0]["code"] == 1040); // P_UNKNOWN_ALLOCATION (I-163)
    CHECK(items[1].kind == si::item::kUpdateContainerSchedulingState);
    CHECK(items[1].item_class == ItemClass::LatestWins);
}

TEST_CASE("I-131 I-053 an RM with a cache is told of placements before, and of releases after") {
    Sized sized;
    CallbackWriter writer;
    CallbackWriter::Interest interest;
    interest.resync_cache = true;
    writer.set_interest(interest);
    writer.allocation_made(sized.allocation("a"));
    writer.allocation_made(sized.allocation("b"));
    const std::vector<ReleasedAllocation> released{{"p", "app", "a", TerminationType::StoppedByRm, ""},
                                                   {"p", "app", "b", TerminationType::PreemptedByScheduler, ""}};
    writer.allocations_released(released);
    const auto items = writer.take();
    REQUIRE(items.size() == 4);
    const auto value = [](const OutItem& item) {
        const std::string bytes = std::string(item.head_view()) + item.body.str();
        return wire::decode_value(wire::scan_body(bytes).value());
    };
    using wire::Value;
    CHECK(items[0].kind == si::item::kReSyncSchedulerCache);
    CHECK(value(items[0]) == Value{{"assumedAllocations", Value::array({{{"allocationKey", "a"}, {"nodeID", "n1"}},
                                                                        {{"allocationKey", "b"}, {"nodeID", "n1"}}})}});
    CHECK(decode<si::AllocationResponse>(items[1]).made.size() == 2);
    CHECK(decode<si::AllocationResponse>(items[2]).released.size() == 2);
    CHECK(items[3].kind == si::item::kReSyncSchedulerCache);
    CHECK(value(items[3]) == Value{{"forgetAllocations", Value::array({{{"allocationKey", "a"}}})}});
}

TEST_CASE("I-165 accepted and rejected applications are one callback; many are several") {
    CallbackWriter writer;
    const std::vector<AcceptedApplication> accepted(2, {"p", "a", "root.a"});
    const std::vector<RejectedApplication> rejected(1, {"p", "b", "no", ElementCode::AppExists});
    writer.applications_answered(accepted, rejected);
    auto items = writer.take();
    REQUIRE(items.size() == 1);
    const auto both = decode<si::ApplicationResponse>(items[0]);
    CHECK(both.accepted.size() == 2);
    CHECK(both.rejected[0].code == 1011);
    writer.applications_answered(std::vector<AcceptedApplication>(40'000, {"p", "application", "root.a"}), {});
    items = writer.take();
    CHECK(items.size() > 1);
    std::size_t count = 0;
    for (const OutItem& item : items) count += decode<si::ApplicationResponse>(item).accepted.size();
    CHECK(count == 40'000);
}

TEST_CASE("I-046 nodes: accepted, rejected, failed") {
    CallbackWriter writer;
    const std::vector<AcceptedNode> accepted{{"p", "n1"}};
    const std::vector<RefusedNode> rejected{{"p", "n2", "known", ElementCode::NodeExists, NodeAction::Create}};
    const std::vector<RefusedNode> failed{{"p", "n3", "unknown", ElementCode::NodeUnknown, NodeAction::Drain}};
    writer.nodes_answered(accepted, rejected, failed);
    const auto items = writer.take();
    REQUIRE(items.size() == 1);
    const auto message = decode<si::NodeResponse>(items[0]);
    CHECK(message.accepted[0].node_id == "n1");
    CHECK(message.rejected[0].reason == "known");
    CHECK(message.failed[0].action == si::NodeAction::Drain);
    writer.nodes_answered({}, {}, {});
    CHECK(writer.empty());
}

TEST_CASE("I-364 what is answered together is limited in bytes") {
    CallbackWriter writer;
    const std::string reason(4096, 'r');
    const std::vector<AcceptedNode> accepted{{"p", "n1"}};
    const std::vector<RefusedNode> rejected(900, {"p", "n2", reason, ElementCode::NodeExists, NodeAction::Create});
    const std::vector<RefusedNode> failed(90, {"p", "n3", reason, ElementCode::NodeUnknown, NodeAction::Drain});
    writer.nodes_answered(accepted, rejected, failed);
    std::size_t reported[3] = {};
    for (const OutItem& item : writer.take()) {
        CHECK(item.body_bytes() < 600'000);
        const auto message = decode<si::NodeResponse>(item);
        reported[0] += message.accepted.size();
        reported[1] += message.rejected.size();
        reported[2] += message.failed.size();
    }
    CHECK(reported[0] == 1);
    CHECK(reported[1] == 900);
    CHECK(reported[2] == 90);
}

TEST_CASE("I-387 releases that need a confirmation are noted for detached RMs") {
    CallbackWriter writer;
    const std::vector<ReleasedAllocation> released{{"p", "app", "a", TerminationType::Timeout, ""},
                                                   {"p", "app", "b", TerminationType::StoppedByRm, ""}};
    writer.allocations_released(released);
    CHECK(writer.take_confirmations().empty());
    CallbackWriter::Interest interest;
    interest.confirm_releases = true;
    writer.set_interest(interest);
    writer.allocations_released(released);
    const auto pending = writer.take_confirmations();
    REQUIRE(pending.size() == 1);
    CHECK(pending[0].allocation_key == "a");
    CHECK(pending[0].termination_type == si::TerminationType::Timeout);
}
