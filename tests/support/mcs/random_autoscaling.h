// SPDX-License-Identifier: Apache-2.0
#pragma once
// RandomAutoscaling: an Autoscaler with random Deployments, policies and metrics, with everything going wrong that can,
// as a seed wants it: what each write has to fulfil (rs R-109), and what there has to be once nothing changes any more.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "libcore/resource_state/backoff.h"
#include "tests/support/mcs/autoscaler_world.h"

namespace yk::testing {

/// Owner and thread: whoever plays it, once.
class RandomAutoscaling : public AutoscalerWorld {
public:
    explicit RandomAutoscaling(std::uint64_t seed) : AutoscalerWorld({}, seed), chance_(seed) {
        mcs::ScalingPolicy held = load_policy();
        held.down = mcs::default_down();
        held.up = mcs::default_up();
        mcs::ScalingPolicy weekly;
        weekly.schedule = {{mcs::ScheduleEntry::kEveryDay, 0, 6}};
        texts.policies = {{"load", load_policy()}, {"held", held}, {"weekly", weekly}};
        writes.fault = [this](const mcs::WriteRequest& request) { return spoil(request); };
        add_periodic();
        start();
    }

    /// What is wrong in the end, or was meanwhile; empty: nothing.
    [[nodiscard]] std::string play() {
        for (int each = 0; each < 60; ++each) step();
        break_things();
        for (int each = 0; each < 60; ++each) step();
        mend();
        pass(std::chrono::minutes{25}); // two full reads, and the windows have passed
        note(difference());
        static_cast<void>(take_writes());
        pass(std::chrono::minutes{5});
        if (!take_writes().empty()) note("something is written, though nothing changes any more");
        if (manager.status()[0].handlers[0].dead_letters != 0) note("a call of a handler was given up");
        if (queue.size() != 0) note("a write waits for ever");
        return fault_;
    }
    std::uint64_t writes_seen = 0, faults_seen = 0;

private:
    static constexpr int kIds = 5;

    void step() {
        static constexpr std::array kSteps{
            &RandomAutoscaling::create,     &RandomAutoscaling::alter,      &RandomAutoscaling::alter,
            &RandomAutoscaling::remove,     &RandomAutoscaling::measure,    &RandomAutoscaling::measure,
            &RandomAutoscaling::place,      &RandomAutoscaling::edit_scale, &RandomAutoscaling::lose_scale,
            &RandomAutoscaling::call_again, &RandomAutoscaling::let_pass,   &RandomAutoscaling::let_pass,
            &RandomAutoscaling::take_over,  &RandomAutoscaling::hold};
        (this->*kSteps[below(kSteps.size())])();
    }
    void break_things() {
        log.faults = {100, 100, 100, 20, 20};
        database.store_fault = [this](std::string_view) -> std::optional<rs::StoreError> {
            if (below(20) != 0) return std::nullopt;
            return rs::StoreError{below(2) == 0 ? rs::StoreFault::Down : rs::StoreFault::Transient, "not now"};
        };
        is_broken_ = true;
    }
    void mend() {
        log.faults = {};
        database.store_fault = nullptr;
        is_broken_ = holds_writes = false;
    }

    /// What is wrong in the database, once nothing changes any more; empty: nothing.
    [[nodiscard]] std::string difference() {
        for (const auto& [id, row] : deployment_rows.rows()) {
            const mcs::DeploymentScale* const own = scale(id);
            if (own == nullptr || own->owner.uid != row.meta.uid) return id + " has no scale";
            if (own->observed_generation != row.meta.generation) return id + " is behind";
            if (!is_allowed(row, own->desired)) return id + " has a number that it may not have";
            const mcs::ReplicaBounds bounds = mcs::bounds_of(row);
            const bool is_given = row.replicas && !row.is_paused && *row.replicas != 0;
            if (is_given && own->desired != std::clamp(*row.replicas, bounds.min, bounds.max))
                return id + " has another number than the given one";
        }
        for (const auto& [id, row] : scale_rows.rows())
            if (!row.owner.uid.empty() && !deployment_rows.rows().contains(id)) return id + " is an orphan";
        return {};
    }

    /// Notes what is wrong, if it is the first; empty: nothing is.
    void note(std::string fault) {
        if (fault_.empty()) fault_ = std::move(fault);
    }
    [[nodiscard]] std::size_t below(std::size_t bound) { return chance_.next() % bound; }
    [[nodiscard]] std::string any_id() { return "web-" + std::to_string(below(kIds)); }
    [[nodiscard]] static bool is_allowed(const mcs::Deployment& row, std::int64_t desired) {
        if (row.is_paused || (row.replicas == 0 && desired == 0)) return true;
        return desired >= row.min_replicas && desired <= row.max_replicas;
    }

    // --- what happens ---------------------------------------------------------------------------
    void randomise(mcs::Deployment& row) {
        static const std::array<std::string, 5> kPolicies{"{}", "load", "held", "weekly", "unheard-of"};
        row.min_replicas = static_cast<std::int64_t>(below(4));
        row.max_replicas = row.min_replicas + static_cast<std::int64_t>(below(8));
        row.replicas.reset();
        if (below(3) == 0) row.replicas = static_cast<std::int64_t>(below(12));
        row.policy = kPolicies.at(below(kPolicies.size()));
        row.is_paused = below(6) == 0;
        row.delete_mode = static_cast<mcs::DeleteMode>(below(3));
    }
    void create() {
        mcs::Deployment row = deployment(any_id(), 0, 0);
        if (deployment_rows.rows().contains(row.meta.id)) return;
        randomise(row);
        deployment_rows.create(row);
        remember(row.meta.id);
    }
    void alter() {
        const std::string id = any_id();
        if (!deployment_rows.rows().contains(id)) return create();
        change(id, [this](mcs::Deployment& row) { randomise(row); });
        remember(id);
    }
    void remove() {
        const std::string id = any_id();
        if (deployment_rows.rows().contains(id)) drop(id);
    }
    void measure() {
        const std::string id = any_id();
        const auto found = deployment_rows.rows().find(id);
        if (found == deployment_rows.rows().end()) return;
        if (found->second.policy == "load" || found->second.policy == "held")
            load(id, static_cast<std::int64_t>(below(15)));
    }
    void place() {
        const std::string id = any_id();
        const mcs::DeploymentScale* const row = scale(id);
        if (row == nullptr) return;
        mcs::DeploymentSchedule made;
        made.meta.id = id;
        made.owner = row->owner;
        made.placed = row->desired;
        if (schedule_rows.rows().contains(id)) schedule_rows.drop(id);
        schedule_rows.create(made);
    }
    void edit_scale() {
        const std::string id = any_id();
        if (scale(id) == nullptr) return;
        scale_rows.change(id, [this](mcs::DeploymentScale& row) {
            row.desired = static_cast<std::int64_t>(below(20));
            if (below(2) == 0) row.status = "damaged";
        });
    }
    void lose_scale() {
        const std::string id = any_id();
        if (scale(id) != nullptr) scale_rows.drop(id);
    }
    /// A handler's call once more, or one that is long past.
    void call_again() {
        const rs::EventContext context{rs::Cause::Live, false, 1, {writes.lease_epoch, true}, now, 0};
        for (const auto& [life, row] : lives_) {
            const auto object = std::make_shared<const mcs::Deployment>(row);
            const rs::Ptr<mcs::Deployment> current = deployments.cache().get(row.meta.id);
            if (below(2) == 0) static_cast<void>(on_deployment.on_add(context, object));
            if (current && current->meta.uid == row.meta.uid) continue; // it has not gone
            if (below(2) == 0) static_cast<void>(on_deployment.on_delete(context, object));
        }
        for (int at = 0; at < kIds; ++at)
            if (const auto object = scales.cache().get("web-" + std::to_string(at)))
                static_cast<void>(on_scale.on_update(context, object, object));
        settle();
    }
    void let_pass() { pass(std::chrono::seconds{below(60)}); }
    void take_over() {
        manager.set_lease(mcs::kAutoscalerService, std::nullopt, now);
        if (below(2) == 0) pass(std::chrono::seconds{below(30)});
        lead(++writes.lease_epoch);
    }
    void hold() { holds_writes = is_broken_ && below(2) == 0; }

    // --- what has to be so ----------------------------------------------------------------------
    /// Every generation of every life, by uid and generation.
    void remember(const std::string& id) {
        const mcs::Deployment& row = deployment_rows.rows().at(id);
        lives_.insert_or_assign({row.meta.uid, row.meta.generation}, row);
    }
    std::optional<mcs::WriteOutcome> spoil(const mcs::WriteRequest& request) {
        check(request);
        if (!is_broken_ || below(4) != 0) return std::nullopt;
        ++faults_seen;
        if (below(2) == 0) return mcs::Transient{"not now"};
        return mcs::Conflict{mcs::Conflict::What::RowChanged, "so it seems", 0};
    }
    void check(const mcs::WriteRequest& request) {
        ++writes_seen;
        if (const auto* const insert = std::get_if<mcs::InsertScale>(&request.command)) check_number(insert->row);
        const auto* const update = std::get_if<mcs::UpdateScale>(&request.command);
        if (update == nullptr) return;
        check_number(update->row);
        const mcs::DeploymentScale* const present = scale(update->row.meta.id);
        if (present == nullptr || present->meta.uid != update->expect.uid ||
            present->meta.version != update->expect.version)
            return; // it will be refused
        check_difference(update->row, *present);
    }
    void check_number(const mcs::DeploymentScale& row) {
        const auto decided = lives_.find({row.owner.uid, row.observed_generation});
        if (decided == lives_.end()) return note(row.meta.id + " has a scale of a Deployment that never was");
        if (!is_allowed(decided->second, row.desired))
            note(row.meta.id + " is to have " + std::to_string(row.desired) + " because of " + row.reason);
    }
    /// No write without a change; one of the history alone is no sooner than a minute after the last write.
    void check_difference(const mcs::DeploymentScale& row, const mcs::DeploymentScale& present) {
        Instant& last = last_update_[row.meta.uid];
        const auto conditions = [this](const mcs::DeploymentScale& each) {
            const auto status = texts.status_of(each.status, now);
            return status.ok() ? status.value().conditions : mcs::ScaleConditions{};
        };
        const bool is_other = row.desired != present.desired || row.reason != present.reason ||
                              row.observed_generation != present.observed_generation ||
                              conditions(row) != conditions(present);
        if (!is_other && now - last < std::chrono::minutes{1}) note(row.meta.id + " is written without a change");
        if (!is_broken_) last = now; // else it may fail
    }

    rs::Chance chance_;
    std::string fault_; // the first one; empty: none
    bool is_broken_ = false;
    std::map<std::pair<std::string, std::int64_t>, mcs::Deployment> lives_;
    std::map<std::string, Instant> last_update_;
};

} // namespace yk::testing
