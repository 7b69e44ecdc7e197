// SPDX-License-Identifier: Apache-2.0
#pragma once
// FakeCore: answers the requests of the Scheduler as a scheduler core does: places what fits on the first node that has
// room, refuses what a test says, and checks what no resource manager may ask.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/check.h"
#include "libcore/mcs/replicas/core_requests.h"
#include "libcore/mcs/scheduler/recovery_sums.h"

namespace yk::testing {

class FakeCore {
public:
    struct Allocation {
        std::string application_id;
        std::int64_t vcore = 0;
        std::string node_id; // empty: an ask
        friend bool operator==(const Allocation&, const Allocation&) = default;
    };
    struct Machine {
        std::int64_t capacity = 0;
        bool is_schedulable = true;
    };

    /// Carries out what waits.
    void take(mcs::CoreRequests& requests) {
        while (!requests.is_empty()) {
            const mcs::CoreRequest request = requests.take();
            std::visit([this](const auto& each) { put(each); }, request);
        }
        if (!requests.take_list_wish()) return;
        ++lists;
        mcs::ApplicationsListed list;
        for (const auto& [id, application] : applications) list.held.push_back({application.partition, id});
        notices.push_back(std::move(list));
    }
    /// Places what fits.
    void schedule() {
        for (auto& [key, each] : allocations) {
            if (!each.node_id.empty()) continue;
            for (const auto& [id, machine] : nodes) {
                if (!machine.is_schedulable || used(id) + each.vcore > machine.capacity) continue;
                each.node_id = id;
                notices.push_back(mcs::ReplicaPlaced{each.application_id, key, id});
                break;
            }
        }
    }
    /// As a preemption does.
    void evict(const std::string& key) { drop(key, true); }
    /// The application fails, or somebody removes it.
    void end_application(const std::string& id) {
        if (!applications.contains(id)) return;
        drop_application(id);
        notices.push_back(mcs::ApplicationEnded{id, "it failed"});
    }
    /// Somebody else removes it, as its resource manager would: its asks go without a word.
    void remove_application(const std::string& id) {
        std::erase_if(allocations, [&](const auto& each) {
            const bool is_ask = each.second.application_id == id && each.second.node_id.empty();
            if (is_ask) used_keys_.erase(each.first);
            return is_ask;
        });
        drop_application(id);
    }
    /// It has lost everything, and is another one.
    void restart() {
        applications.clear();
        allocations.clear();
        nodes.clear();
        notices.clear();
        set_aside_.clear();
        used_keys_.clear();
    }
    [[nodiscard]] std::size_t placed(const std::string& application_id) const {
        return static_cast<std::size_t>(std::count_if(allocations.begin(), allocations.end(), [&](const auto& each) {
            return each.second.application_id == application_id && !each.second.node_id.empty();
        }));
    }
    [[nodiscard]] mcs::MakeRecoverySums make_sums() {
        return [] { return std::make_unique<Sums>(); };
    }

    std::map<std::string, mcs::AddApplication> applications;
    std::map<std::string, Allocation> allocations; // by key
    std::map<std::string, Machine> nodes;
    std::deque<mcs::CoreNotice> notices;
    std::set<std::string> refused_queues;
    std::int64_t most_vcore = 1'000'000; // of an ask; others are refused
    std::size_t lists = 0;               // of its applications, that somebody wanted
    std::size_t removed_applications = 0;

private:
    class Sums final : public mcs::RecoverySums {
    public:
        void add(const mcs::Node&) override { ++claim_.nodes.count; }
        void add_application(std::string_view, std::string_view) override { ++claim_.applications.count; }
        void add(const mcs::AskReplica&, std::string_view) override { ++claim_.allocations.count; }
        [[nodiscard]] mcs::EndRecovery result(std::uint32_t attempt) const override {
            mcs::EndRecovery made = claim_;
            made.attempt = attempt;
            return made;
        }

    private:
        mcs::EndRecovery claim_;
    };

    void put(const mcs::AddApplication& request) {
        if (!applications.contains(request.application_id) && refused_queues.contains(request.queue)) {
            notices.push_back(mcs::ApplicationRejected{request.application_id, "no queue " + request.queue});
            return;
        }
        applications.emplace(request.application_id, request);
        notices.push_back(mcs::ApplicationAccepted{request.application_id});
    }
    void put(const mcs::RemoveApplication& request) {
        if (applications.contains(request.application_id)) ++removed_applications;
        drop_application(request.application_id);
    }
    void put(const mcs::AskReplica& request) {
        const std::string& key = request.allocation_key;
        if (!applications.contains(request.application_id)) {
            notices.push_back(mcs::ReplicaRejected{request.application_id, key, "no such application", true});
            return;
        }
        if (request.resource.at("vcore") > most_vcore) {
            notices.push_back(mcs::ReplicaRejected{request.application_id, key, "too large"});
            return;
        }
        if (allocations.contains(key)) return;
        YK_CHECK(used_keys_.insert(key).second, "an allocation key is used once");
        allocations.emplace(key, Allocation{request.application_id, request.resource.at("vcore"), {}});
    }
    void put(const mcs::ReleaseReplica& request) {
        std::erase_if(set_aside_, [&](const auto& each) { return each.allocation_key == request.allocation_key; });
        drop(request.allocation_key, false);
    }
    void put(const mcs::ChangeNode& request) {
        using Action = mcs::NodeAction;
        switch (request.action) {
        case Action::Create:
        case Action::CreateDrain:
            YK_CHECK(!nodes.contains(request.node_id), "a node is created once");
            nodes[request.node_id] = {request.content->capacity.at("vcore"), request.action == Action::Create};
            notices.push_back(mcs::NodeAccepted{request.node_id});
            for (const mcs::AskReplica& each : request.placed) restore(each, request.node_id);
            return;
        case Action::Update: nodes.at(request.node_id).capacity = request.content->capacity.at("vcore"); return;
        case Action::Drain: nodes.at(request.node_id).is_schedulable = false; return;
        case Action::Schedulable: nodes.at(request.node_id).is_schedulable = true; return;
        case Action::Decommission: break;
        }
        YK_CHECK(nodes.erase(request.node_id) == 1, "only a node that is there can go");
        std::vector<std::string> keys;
        for (const auto& [key, each] : allocations)
            if (each.node_id == request.node_id) keys.push_back(key);
        for (const std::string& key : keys) drop(key, true);
    }
    void put(const mcs::EndRecovery& request) {
        using Result = mcs::RecoveryAnswered::Result;
        const auto running = std::count_if(allocations.begin(), allocations.end(),
                                           [](const auto& each) { return !each.second.node_id.empty(); });
        const bool is_same = request.nodes.count == nodes.size() && request.applications.count == applications.size() &&
                             request.allocations.count == static_cast<std::uint64_t>(running);
        const bool is_good = is_same && set_aside_.empty();
        mcs::RecoveryAnswered answer{is_good ? Result::Running : Result::Retry, is_good ? "" : "something is missing",
                                     set_aside_};
        if (!is_good && request.attempt >= 5) answer.result = Result::Failed;
        notices.push_back(std::move(answer));
    }

    void restore(const mcs::AskReplica& placed, const std::string& node_id) {
        if (!applications.contains(placed.application_id)) {
            set_aside_.push_back({placed.partition, placed.application_id, placed.allocation_key, node_id});
            return;
        }
        used_keys_.insert(placed.allocation_key);
        allocations[placed.allocation_key] = {placed.application_id, placed.resource.at("vcore"), node_id};
        notices.push_back(mcs::ReplicaPlaced{placed.application_id, placed.allocation_key, node_id});
    }
    void drop(const std::string& key, bool always_notifies) {
        const auto found = allocations.find(key);
        if (found == allocations.end()) return;
        const bool was_placed = !found->second.node_id.empty(); // the release of a mere ask is not confirmed
        if (was_placed || always_notifies)
            notices.push_back(mcs::ReplicaGone{found->second.application_id, key, "gone"});
        allocations.erase(found);
    }
    void drop_application(const std::string& id) {
        applications.erase(id);
        std::vector<std::string> keys;
        for (const auto& [key, each] : allocations)
            if (each.application_id == id) keys.push_back(key);
        for (const std::string& key : keys) drop(key, true);
    }
    [[nodiscard]] std::int64_t used(const std::string& node_id) const {
        std::int64_t sum = 0;
        for (const auto& each : allocations)
            if (each.second.node_id == node_id) sum += each.second.vcore;
        return sum;
    }

    std::set<std::string> used_keys_;
    std::vector<mcs::RecoveryAnswered::SetAside> set_aside_;
};

} // namespace yk::testing
