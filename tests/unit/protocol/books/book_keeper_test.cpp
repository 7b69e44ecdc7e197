// SPDX-License-Identifier: Apache-2.0
#include "protocol/books/book_keeper.h"

#include <future>

#include <catch2/catch.hpp>

#include "tests/support/books_folder.h"

namespace yk::testing {

using books::BookKeeper;
using books::ElementList;
using books::Outcome;

namespace {

std::unique_ptr<BookKeeper> keeper_of(const BooksFolder& folder) {
    auto keeper = BookKeeper::start(folder.open(), [](const std::string&) {});
    return std::move(keeper).value();
}

template <class Request>
void note(BookKeeper& keeper, Request request) {
    keeper.note(std::make_shared<const Request>(std::move(request)), 77);
}

si::NodeRequest node(const std::string& id, std::int64_t vcore, si::NodeAction action = si::NodeAction::Create) {
    si::NodeRequest request;
    request.nodes.emplace_back();
    request.nodes[0].node_id = id;
    request.nodes[0].action = action;
    request.nodes[0].schedulable_resource = si::Resources{{"vcore", vcore}};
    return request;
}

si::ApplicationRequest application(const std::string& id) {
    si::ApplicationRequest request;
    request.add.emplace_back();
    request.add[0].application_id = id;
    return request;
}

si::AllocationRequest ask(const std::string& key, std::int64_t vcore) {
    si::AllocationRequest request;
    request.asks.emplace_back();
    request.asks[0].allocation_key = key;
    request.asks[0].application_id = "app";
    request.asks[0].resource_ask = si::Resources{{"vcore", vcore}};
    return request;
}

/// What would be replayed, as text.
std::string replayed(BookKeeper& keeper) {
    keeper.end_turn();
    std::string text;
    const auto size = [](const std::optional<si::Resources>& resources) {
        return resources && !resources->empty() ? ":" + std::to_string(resources->front().second) : std::string{};
    };
    books::ReplaySink sink;
    sink.applications = [&](const si::ApplicationRequest& request) {
        for (const auto& each : request.add) {
            text += "app " + each.application_id;
            for (const auto& [key, value] : each.tags) text += " " + key + "=" + value;
            text += "; ";
        }
    };
    sink.nodes = [&](const si::NodeRequest& request) {
        for (const auto& each : request.nodes)
            text += std::string{si::text(each.action)} + " " + each.node_id + size(each.schedulable_resource) + "; ";
    };
    sink.allocations = [&](const si::AllocationRequest& request) {
        for (const auto& each : request.asks) {
            text += each.allocation_key + size(each.resource_ask) + (each.node_id.empty() ? "" : "@" + each.node_id);
            for (const auto& [key, value] : each.tags) text += " " + key + "=" + value;
            text += "; ";
        }
    };
    const auto claim = keeper.replay("rm", sink);
    REQUIRE(claim.ok());
    return text;
}

} // namespace

TEST_CASE("I-265 I-225 what was noted is replayed by the next keeper, with the time at which it came") {
    const BooksFolder folder;
    {
        const auto keeper = keeper_of(folder);
        note(*keeper, node("n", 10));
        note(*keeper, application("app"));
        keeper->note({Outcome::What::ApplicationAccepted, "[rm]default", "app"});
        note(*keeper, ask("placed", 1));
        note(*keeper, ask("waits", 2));
        keeper->note({Outcome::What::Placed, "[rm]default", "app", "placed", "n"});
        keeper->end_turn();
        std::promise<bool> kept;
        keeper->when_kept([&](bool yes) { kept.set_value(yes); });
        CHECK(kept.get_future().get());
    }
    CHECK(replayed(*keeper_of(folder)) == "app app yunikorn.apache.org/creationTime=77; CREATE n:10; "
                                          "placed:1@n creationTime=77; waits:2 creationTime=77; ");
}

TEST_CASE("I-265 what was refused is as it was before") {
    const BooksFolder folder;
    const auto keeper = keeper_of(folder);
    note(*keeper, node("n", 10));
    note(*keeper, node("n", 99)); // it exists
    keeper->note_refused(ElementList::Nodes, 0);
    note(*keeper, node("n", 20, si::NodeAction::Update));
    keeper->note_refused(ElementList::Nodes, 0);
    note(*keeper, application("app"));
    keeper->note({Outcome::What::ApplicationAccepted, "default", "app"});
    note(*keeper, application("app"));
    keeper->note_refused(ElementList::Applications, 0);
    note(*keeper, ask("a", 1));
    note(*keeper, ask("a", 2));
    keeper->note_refused(ElementList::Asks, 0);
    note(*keeper, ask("b", 3));
    keeper->note_refused(ElementList::Asks, 0);
    CHECK(replayed(*keeper) == "app app yunikorn.apache.org/creationTime=77; CREATE n:10; a:1 creationTime=77; ");
    note(*keeper, node("n", 20, si::NodeAction::Update));
    note(*keeper, node("n", 0, si::NodeAction::Drain));
    note(*keeper, ask("a", 4));
    CHECK(replayed(*keeper) == "app app yunikorn.apache.org/creationTime=77; CREATE_DRAIN n:20; a:4 creationTime=77; ");
}

TEST_CASE("I-265 a replay has what its own turn noted, and what it leads to may end turns") {
    const BooksFolder folder;
    const auto keeper = keeper_of(folder);
    note(*keeper, application("app"));
    note(*keeper, node("n", 10));
    std::size_t applications = 0, nodes = 0;
    books::ReplaySink sink;
    sink.applications = [&](const si::ApplicationRequest& request) {
        applications += request.add.size();
        keeper->end_turn();
    };
    sink.nodes = [&](const si::NodeRequest& request) {
        nodes += request.nodes.size();
        keeper->end_turn();
    };
    REQUIRE(keeper->replay("rm", sink).ok());
    CHECK(applications == 1);
    CHECK(nodes == 1);
}

TEST_CASE("I-265 a change that is refused after something else was placed leaves the ask as it was") {
    const BooksFolder folder;
    const auto keeper = keeper_of(folder);
    note(*keeper, application("app"));
    note(*keeper, ask("a", 1));
    si::AllocationRequest both = ask("b", 2);
    both.asks.push_back(ask("a", 9).asks[0]);
    note(*keeper, both);
    keeper->note({Outcome::What::Placed, "default", "app", "b", "n"});
    keeper->note_refused(ElementList::Asks, 1);
    CHECK(replayed(*keeper).find("b:2@n creationTime=77; a:1 creationTime=77; ") != std::string::npos);
}

TEST_CASE("I-226 I-265 asks that come before their application are kept, and go if it never comes") {
    const BooksFolder folder;
    auto keeper = keeper_of(folder);
    note(*keeper, ask("early", 1));
    note(*keeper, ask("refused", 2));
    keeper->note({Outcome::What::Rejected, "default", "app", "refused"}); // as the recovery ends
    CHECK(replayed(*keeper) == "early:1 creationTime=77; ");
    keeper.reset();
    keeper = keeper_of(folder);
    note(*keeper, application("app"));
    CHECK(replayed(*keeper) == "app app yunikorn.apache.org/creationTime=77; early:1 creationTime=77; ");
    si::ApplicationRequest gone;
    gone.remove.push_back({"app", ""});
    note(*keeper, gone);
    CHECK(replayed(*keeper).empty());
}

TEST_CASE("I-265 what is refused counts for the request that was noted last in the turn, if there is one") {
    const BooksFolder folder;
    const auto keeper = keeper_of(folder);
    note(*keeper, application("app"));
    keeper->end_turn();
    keeper->note_refused(ElementList::Applications, 0); // of nothing
    keeper->note_setting("name", "value");
    keeper->note_refused(ElementList::Applications, 0);
    note(*keeper, ask("a", 1));
    note(*keeper, ask("b", 1));
    keeper->note_refused(ElementList::Asks, 0);
    keeper->note_refused(ElementList::Asks, 7); // it has no such element
    CHECK(replayed(*keeper) == "app app yunikorn.apache.org/creationTime=77; a:1 creationTime=77; ");
}

TEST_CASE("I-267 at its limit of waiting entries a keeper is full, until they are written") {
    const BooksFolder folder;
    constexpr std::uint64_t kMost = 10;
    auto started = BookKeeper::start(
        folder.open(), [](const std::string&) {}, kMost);
    REQUIRE(started.ok());
    BookKeeper& keeper = **started;
    std::promise<void> blocks, goes_on;
    keeper.note_setting("a", "b"); // or nobody has to wait, and it is called by this thread
    keeper.end_turn();
    keeper.when_kept([&](bool) { // on the keeper's thread, as a slow disk
        blocks.set_value();
        goes_on.get_future().wait();
    });
    blocks.get_future().wait();
    CHECK_FALSE(keeper.is_full());
    for (std::uint64_t i = 1; i < kMost; ++i) note(keeper, node("n" + std::to_string(i), 1));
    CHECK_FALSE(keeper.is_full());
    keeper.end_turn();
    CHECK_FALSE(keeper.is_full()); // one less than the limit
    note(keeper, node("last", 1));
    CHECK_FALSE(keeper.is_full()); // it is not handed over yet
    keeper.end_turn();
    CHECK(keeper.is_full());
    std::promise<bool> kept;
    keeper.when_kept([&](bool yes) { kept.set_value(yes); });
    goes_on.set_value();
    CHECK(kept.get_future().get());
    CHECK_FALSE(keeper.is_full());
    CHECK(replayed(keeper).find("CREATE last:1") != std::string::npos); // nothing was lost at the limit
}

TEST_CASE("I-265 I-033 an allocation that the core wants stopped is in the books until the RM has stopped it") {
    const BooksFolder folder;
    const auto keeper = keeper_of(folder);
    note(*keeper, node("n", 10));
    note(*keeper, application("app"));
    note(*keeper, ask("a", 1));
    keeper->note({Outcome::What::Placed, "default", "app", "a", "n"});
    Outcome wanted{Outcome::What::Released, "default", "app", "a"};
    wanted.pending = true;
    keeper->note(wanted);
    CHECK(replayed(*keeper).find("a:1@n") != std::string::npos);
    si::AllocationRequest confirmation;
    confirmation.releases.allocations_to_release.push_back(
        {"default", "app", "a", si::TerminationType::PreemptedByScheduler, ""});
    note(*keeper, confirmation);
    CHECK(replayed(*keeper).find("a:1") == std::string::npos);
    note(*keeper, ask("b", 1));
    wanted.key = "b";
    keeper->note(wanted); // a pending placeholder that timed out
    CHECK(replayed(*keeper).find("b:1") == std::string::npos);
}

} // namespace yk::testing
