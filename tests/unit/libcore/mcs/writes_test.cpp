// SPDX-License-Identifier: Apache-2.0
// Writes as values: whose they are, how they are handed out and taken over; and what counts as the content of a row.
#include <catch2/catch.hpp>

#include "libcore/mcs/write_call.h"

namespace yk::mcs {

TEST_CASE("rs R-002 each command has one service that may give it, and names its row") {
    DeploymentScale scale;
    scale.meta.id = "d-1";
    const WriteCommand insert = InsertScale{scale}, erase = DeleteDeployment{"d-2", {}, {}};
    const WriteCommand placements = ChangePlacements{"d-3", "u", {}, {}};
    CHECK(owner_of(insert) == "autoscaler");
    CHECK(owner_of(erase) == "api");
    CHECK(owner_of(placements) == "scheduler");
    CHECK(owner_of(UpdateNode{}) == "api");
    CHECK(kind_of(insert) == kScaleKind);
    CHECK(kind_of(placements) == kScheduleKind);
    CHECK(id_of(insert) == "d-1");
    CHECK(id_of(erase) == "d-2");
    CHECK(id_of(placements) == "d-3");
}

TEST_CASE("a write is handed out in order, answered, and its outcome taken over") {
    WriteQueue queue;
    std::string taken;
    const auto take = [&taken](const WriteOutcome& outcome, Instant now) {
        taken += std::to_string(now.ns) + message_of(outcome) + ';';
    };
    queue.add({"api", 0}, DeleteNode{"n-1", {}}, take);
    queue.add({"api", 0}, DeleteNode{"n-2", {}}, take);
    const auto first = queue.next(), second = queue.next();
    CHECK(queue.next() == nullptr);
    CHECK(id_of(first->request().command) == "n-1");
    CHECK(id_of(second->request().command) == "n-2");
    first->answer(Fenced{"another one leads"});
    second->answer(Written{});
    CHECK(taken.empty());
    first->finish({7});
    second->finish({8});
    CHECK(taken == "7another one leads;8;");
}

TEST_CASE("an error of a store is the outcome of the same name, and a database that is away is Transient") {
    using rs::StoreFault;
    CHECK(std::holds_alternative<Transient>(outcome_of({StoreFault::Down, "x"})));
    CHECK(std::holds_alternative<Transient>(outcome_of({StoreFault::Transient, "x"})));
    CHECK(std::holds_alternative<Conflict>(outcome_of({StoreFault::Conflict, "x"})));
    CHECK(std::holds_alternative<Fenced>(outcome_of({StoreFault::Fenced, "x"})));
    CHECK(std::holds_alternative<NotOwner>(outcome_of({StoreFault::NotOwner, "x"})));
    CHECK(std::holds_alternative<Fatal>(outcome_of({StoreFault::Fatal, "x"})));
}

TEST_CASE("rs R-083 the content of a row is everything but its version and its times") {
    Deployment row;
    row.resource = {{"memory", 1}, {"vcore", 2}};
    const auto hash = [](const Deployment& each) { return rs::ResourceTraits<Deployment>::content_hash(each); };
    Deployment other = row;
    other.meta.version = 9;
    other.times.updated_ms = 5;
    CHECK(hash(other) == hash(row));
    other.resource = {{"memory", 2}, {"vcore", 1}};
    CHECK(hash(other) != hash(row));
    other = row;
    other.replicas = 0;
    CHECK(hash(other) != hash(row));
    other = row;
    other.name = "ab";
    row.partition = "ab" + *row.partition;
    CHECK(hash(other) != hash(row));
}

TEST_CASE("states have the names that the database knows") {
    for (const char* name :
         {"New", "Submitted", "Accepted", "Scheduling", "Scheduled", "Degraded", "Rejected", "Removing"})
        CHECK(name_of(schedule_state_of(name).value()) == name);
    CHECK_FALSE(schedule_state_of("new").has_value());
    CHECK(name_of(placement_state_of("Releasing").value()) == "Releasing");
    CHECK_FALSE(placement_state_of("").has_value());
}

} // namespace yk::mcs
