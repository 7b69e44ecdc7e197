// SPDX-License-Identifier: Apache-2.0
#pragma once
// InstancePair: two instances of the Autoscaler that share a database and a table of leases. They are stopped, killed
// and cut off from the table, their logs lose and double events, their writes come late, as a seed wants it; whatever
// happens, of each epoch of the lease one instance writes, and in the end both know the rows and every Deployment has
// its scale.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/mcs/lease_manager.h"
#include "tests/support/mcs/autoscaler_world.h"
#include "tests/support/mcs/memory_leases.h"

namespace yk::testing {

/// What is in the database.
struct SharedRows {
    SharedRows() { leases.rows = {{std::string{mcs::kAutoscalerService}, {}}}; }
    MemoryDatabase database;
    MemoryStore<mcs::Deployment> deployments{database};
    MemoryStore<mcs::DeploymentScale> scales{database};
    MemoryStore<mcs::DeploymentSchedule> schedules{database};
    MemoryWrites writes{database, deployments, scales};
    MemoryLeaseTable leases;
    KeptTexts texts;
    std::map<std::uint64_t, std::string> writer_of_epoch;
    std::uint64_t fenced = 0;
    std::string fault; // what was wrong meanwhile; empty: nothing
};

/// One life of an instance of the Autoscaler. Owner: InstancePair.
class AutoscalerInstance {
public:
    AutoscalerInstance(SharedRows& rows, const std::string& name, std::uint64_t seed, Instant now)
        : name_(name),
          rows_(rows),
          log_(rows.database, seed % 2 == 0, seed),
          manager_(log_, notices_, settings(), seed),
          deployments_(manager_.add(rows.deployments)),
          scales_(manager_.add(rows.scales)),
          schedules_(manager_.add(rows.schedules)),
          autoscaler_({deployments_.cache(), scales_.cache(), schedules_.cache(), metrics_, rows.texts, queue_,
                       [this](std::string_view id, Instant at) { manager_.enqueue(mcs::kScaleKind, id, at); }}),
          on_deployment_(autoscaler_, deployments_),
          on_scale_(autoscaler_, scales_),
          reconciler_(autoscaler_, deployments_.cache(), scales_.cache()),
          port_(rows.leases, name),
          leases_(port_, {}, {std::string{mcs::kAutoscalerService}}, seed,
                  [this](std::string_view service, const std::optional<rs::Lease>& lease, Instant at) {
                      manager_.set_lease(service, lease, at);
                  }) {
        deployments_.add_handler(on_deployment_, mcs::options_of(mcs::kAutoscalerService), now);
        scales_.add_handler(on_scale_, mcs::options_of(mcs::kAutoscalerService), now);
        manager_.add(reconciler_, mcs::reconciler_options());
        manager_.start(now);
    }

    /// One bit of what there is to do; false: nothing.
    bool step(Instant now) {
        leases_.turn(now);
        if (const auto call = leases_.next_call(now)) {
            call->run();
            call->finish(now);
        }
        return rs::drive(manager_, now) || take_write();
    }
    /// The writes that it has handed out reach the database only now.
    void write_all(Instant now) {
        while (take_write()) continue;
        for (; !writes_.empty(); writes_.pop_front()) {
            mcs::WriteCall& call = *writes_.front();
            call.answer(carry_out(call.request()));
            call.finish(now);
        }
    }
    void spoil_log(const FaultyChangeLog::Faults& faults) { log_.faults = faults; }
    /// The table of leases cannot be reached.
    void cut(bool is_cut) { port_.is_away = is_cut; }
    /// What the caches have otherwise than the rows; empty: nothing.
    [[nodiscard]] std::string difference() const {
        for (const auto& [id, row] : rows_.deployments.rows())
            if (const auto cached = deployments_.cache().get(id); !cached || rs::image_of(*cached) != rs::image_of(row))
                return name_ + " does not know " + id;
        for (const auto& [id, row] : rows_.scales.rows())
            if (const auto cached = scales_.cache().get(id); !cached || rs::image_of(*cached) != rs::image_of(row))
                return name_ + " does not know the scale of " + id;
        if (deployments_.cache().size() != rows_.deployments.rows().size()) return name_ + " knows more Deployments";
        if (scales_.cache().size() != rows_.scales.rows().size()) return name_ + " knows more scales";
        return {};
    }
    [[nodiscard]] std::uint64_t repairs() const {
        return deployments_.reconciler().counters().repairs + scales_.reconciler().counters().repairs;
    }

private:
    [[nodiscard]] static rs::Settings settings() {
        rs::Settings settings;
        settings.resync.period = std::chrono::minutes{2};
        return settings;
    }
    bool take_write() {
        auto call = queue_.next();
        if (!call) return false;
        writes_.push_back(std::move(call));
        return true;
    }
    /// As the database does: the lease is looked at in the transaction of the write.
    [[nodiscard]] mcs::WriteOutcome carry_out(const mcs::WriteRequest& request) {
        const MemoryLeaseTable::Row& row = rows_.leases.rows.at(std::string{mcs::kAutoscalerService});
        const std::uint64_t epoch = request.writer.lease_epoch;
        if (row.holder != name_ || row.epoch != epoch) {
            ++rows_.fenced;
            return mcs::Fenced{"another instance leads"};
        }
        if (rows_.writer_of_epoch.try_emplace(epoch, name_).first->second != name_)
            rows_.fault = "two instances wrote in epoch " + std::to_string(epoch);
        rows_.writes.lease_epoch = epoch;
        return rows_.writes.carry_out(request);
    }

    const std::string name_;
    SharedRows& rows_;
    FaultyChangeLog log_;
    KeptNotices notices_;
    mcs::MetricBoard metrics_;
    mcs::WriteQueue queue_;
    std::deque<std::unique_ptr<mcs::WriteCall>> writes_; // under way
    rs::StateManager manager_;
    rs::ResourceInformer<mcs::Deployment>& deployments_;
    rs::ResourceInformer<mcs::DeploymentScale>& scales_;
    rs::ResourceInformer<mcs::DeploymentSchedule>& schedules_;
    mcs::Autoscaler autoscaler_;
    mcs::DeploymentHandler on_deployment_;
    mcs::DeploymentScaleHandler on_scale_;
    mcs::AutoscalerReconciler reconciler_;
    MemoryLeases port_;
    mcs::LeaseManager leases_;
};

/// Owner and thread: whoever plays it, once.
class InstancePair {
public:
    /// `has_faults`: else there are only changes of Deployments, and nothing may be repaired.
    InstancePair(std::uint64_t seed, bool has_faults) : chance_(seed), has_faults_(has_faults) {
        for (std::size_t each = 0; each < members_.size(); ++each) begin(each);
    }
    /// What is wrong in the end, or was meanwhile; empty: nothing.
    [[nodiscard]] std::string play() {
        for (int step = 0; step < 60; ++step) {
            if (below(3) == 0) change();
            if (has_faults_) befall();
            pass(std::chrono::milliseconds{100 + below(3000)});
        }
        return outcome();
    }
    [[nodiscard]] std::uint64_t repairs() const {
        return members_[0].member->repairs() + members_[1].member->repairs();
    }
    /// Of the lease, in which something was written.
    [[nodiscard]] std::size_t epochs() const { return rows_.writer_of_epoch.size(); }
    /// Writes that were refused, since another instance had the lease by then.
    [[nodiscard]] std::uint64_t fenced() const { return rows_.fenced; }

private:
    struct Side {
        std::unique_ptr<AutoscalerInstance> member;
        Instant stopped_until; // as by SIGSTOP
        bool is_slow = false;  // its writes stay under way
    };

    /// Nothing befalls anybody any more: two periods, and what is wrong then.
    [[nodiscard]] std::string outcome() {
        for (Side& each : members_) {
            each.stopped_until = {};
            each.member->spoil_log({});
            each.member->cut(false);
            each.is_slow = false;
        }
        rows_.database.store_fault = nullptr;
        pass(std::chrono::minutes{5});
        if (!rows_.fault.empty()) return rows_.fault;
        for (const Side& each : members_)
            if (std::string difference = each.member->difference(); !difference.empty()) return difference;
        for (const auto& [id, row] : rows_.deployments.rows()) {
            const auto scale = rows_.scales.rows().find(id);
            if (scale == rows_.scales.rows().end() || scale->second.owner.uid != row.meta.uid)
                return id + " has no scale";
            if (scale->second.desired != *row.replicas) return id + " has another number";
        }
        for (const auto& [id, row] : rows_.scales.rows())
            if (!rows_.deployments.rows().contains(id)) return id + " is an orphan";
        if (!has_faults_ && repairs() != 0) return "rows were repaired, though nothing failed";
        if (!has_faults_ && epochs() != 1) return std::to_string(epochs()) + " epochs, though nothing failed";
        return {};
    }
    [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return chance_.next() % bound; }
    void begin(std::size_t which) {
        members_.at(which).member.reset();
        members_.at(which) = {
            std::make_unique<AutoscalerInstance>(rows_, which == 0 ? "one" : "two", chance_.next(), now_), Instant{},
            false};
    }
    void pass(Duration time) {
        constexpr Duration kTick = std::chrono::milliseconds{100};
        for (const Instant end = now_ + time; now_ < end; now_ = now_ + kTick, rows_.leases.wall += kTick)
            for (Side& each : members_) {
                if (now_ < each.stopped_until) continue;
                while (each.member->step(now_)) continue;
                if (!each.is_slow) each.member->write_all(now_);
            }
    }
    void change() {
        const std::string id = "web-" + std::to_string(below(4));
        const auto number = static_cast<std::int64_t>(below(9));
        if (!rows_.deployments.rows().contains(id)) {
            mcs::Deployment row = deployment(id, 0, 10, number);
            row.delete_mode = mcs::DeleteMode::Owners;
            return rows_.deployments.create(row);
        }
        if (below(3) == 0) return rows_.deployments.drop(id);
        rows_.deployments.change(id, [&](mcs::Deployment& row) { row.replicas = number; });
    }
    void befall() {
        const std::size_t which = below(2);
        Side& side = members_.at(which);
        switch (below(8)) {
        case 0: side.stopped_until = now_ + std::chrono::seconds{below(40)}; return;
        case 1:
            if (below(3) == 0) begin(which);
            return;
        case 2: side.member->cut(below(2) == 0); return;
        case 3: side.is_slow = !side.is_slow; return;
        case 4: side.member->spoil_log({100, 100, 100, 0, 20}); return;
        case 5: side.member->spoil_log({}); return;
        case 6: rows_.leases.wall += std::chrono::seconds{below(2) == 0 ? 20 : -20}; return;
        default:
            rows_.database.store_fault = [this](std::string_view) -> std::optional<rs::StoreError> {
                if (below(20) != 0) return std::nullopt;
                return rs::StoreError{rs::StoreFault::Down, "as the seed wants it"};
            };
        }
    }

    rs::Chance chance_;
    const bool has_faults_;
    SharedRows rows_;
    Instant now_{1'000'000'000'000};
    std::array<Side, 2> members_;
};

} // namespace yk::testing
