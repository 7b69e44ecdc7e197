// SPDX-License-Identifier: Apache-2.0
// Random Deployments, policies and metrics, with everything going wrong that can: what each write has to fulfil, and
// what there is once nothing changes any more.
#include <catch2/catch.hpp>

#include <map>

#include "libcore/resource_state/backoff.h"
#include "tests/support/mcs/autoscaler_world.h"

namespace yk::testing {

using namespace mcs;
using namespace std::chrono_literals;

namespace {

constexpr int kIds = 5;

class RandomWorld : public AutoscalerWorld {
public:
    explicit RandomWorld(std::uint64_t seed) : AutoscalerWorld({}, seed), chance_(seed) {
        ScalingPolicy held = load_policy();
        held.down = default_down();
        held.up = default_up();
        ScalingPolicy weekly;
        weekly.schedule = {{ScheduleEntry::kEveryDay, 0, 6}};
        texts.policies = {{"load", load_policy()}, {"held", held}, {"weekly", weekly}};
        writes.fault = [this](const WriteRequest& request) { return spoil(request); };
        add_periodic();
        start();
    }

    void step() {
        static constexpr std::array kSteps{&RandomWorld::create,     &RandomWorld::alter,      &RandomWorld::alter,
                                           &RandomWorld::remove,     &RandomWorld::measure,    &RandomWorld::measure,
                                           &RandomWorld::place,      &RandomWorld::edit_scale, &RandomWorld::lose_scale,
                                           &RandomWorld::call_again, &RandomWorld::let_pass,   &RandomWorld::let_pass,
                                           &RandomWorld::take_over,  &RandomWorld::hold};
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
            const DeploymentScale* const own = scale(id);
            if (own == nullptr || own->owner.uid != row.meta.uid) return id + " has no scale";
            if (own->observed_generation != row.meta.generation) return id + " is behind";
            if (!is_allowed(row, own->desired)) return id + " has a number that it may not have";
            const ReplicaBounds bounds = bounds_of(row);
            const bool is_given = row.replicas && !row.is_paused && *row.replicas != 0;
            if (is_given && own->desired != std::clamp(*row.replicas, bounds.min, bounds.max))
                return id + " has another number than the given one";
        }
        for (const auto& [id, row] : scale_rows.rows())
            if (!row.owner.uid.empty() && !deployment_rows.rows().contains(id)) return id + " is an orphan";
        return {};
    }
    std::uint64_t writes_seen = 0, faults_seen = 0;

private:
    [[nodiscard]] std::size_t below(std::size_t bound) { return chance_.next() % bound; }
    [[nodiscard]] std::string any_id() { return "web-" + std::to_string(below(kIds)); }
    [[nodiscard]] static bool is_allowed(const Deployment& row, std::int64_t desired) {
        if (row.is_paused || (row.replicas == 0 && desired == 0)) return true;
        return desired >= row.min_replicas && desired <= row.max_replicas;
    }

    // --- what happens ---------------------------------------------------------------------------
    void randomise(Deployment& row) {
        static const std::array<std::string, 5> kPolicies{"{}", "load", "held", "weekly", "unheard-of"};
        row.min_replicas = static_cast<std::int64_t>(below(4));
        row.max_replicas = row.min_replicas + static_cast<std::int64_t>(below(8));
        row.replicas.reset();
        if (below(3) == 0) row.replicas = static_cast<std::int64_t>(below(12));
        row.policy = kPolicies.at(below(kPolicies.size()));
        row.is_paused = below(6) == 0;
        row.delete_mode = static_cast<DeleteMode>(below(3));
    }
    void create() {
        Deployment row = deployment(any_id(), 0, 0);
        if (deployment_rows.rows().contains(row.meta.id)) return;
        randomise(row);
        deployment_rows.create(row);
        remember(row.meta.id);
    }
    void alter() {
        const std::string id = any_id();
        if (!deployment_rows.rows().contains(id)) return create();
        change(id, [this](Deployment& row) { randomise(row); });
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
        const DeploymentScale* const row = scale(id);
        if (row == nullptr) return;
        DeploymentSchedule made;
        made.meta.id = id;
        made.owner = row->owner;
        made.placed = row->desired;
        if (schedule_rows.rows().contains(id)) schedule_rows.drop(id);
        schedule_rows.create(made);
    }
    void edit_scale() {
        const std::string id = any_id();
        if (scale(id) == nullptr) return;
        scale_rows.change(id, [this](DeploymentScale& row) {
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
            const auto object = std::make_shared<const Deployment>(row);
            const rs::Ptr<Deployment> current = deployments.cache().get(row.meta.id);
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
        manager.set_lease(kAutoscalerService, std::nullopt, now);
        if (below(2) == 0) pass(std::chrono::seconds{below(30)});
        lead(++writes.lease_epoch);
    }
    void hold() { holds_writes = is_broken_ && below(2) == 0; }

    // --- what has to be so ----------------------------------------------------------------------
    /// Every generation of every life, by uid and generation.
    void remember(const std::string& id) {
        const Deployment& row = deployment_rows.rows().at(id);
        lives_.insert_or_assign({row.meta.uid, row.meta.generation}, row);
    }
    std::optional<WriteOutcome> spoil(const WriteRequest& request) {
        check(request);
        if (!is_broken_ || below(4) != 0) return std::nullopt;
        ++faults_seen;
        if (below(2) == 0) return Transient{"not now"};
        return Conflict{Conflict::What::RowChanged, "so it seems", 0};
    }
    void check(const WriteRequest& request) {
        ++writes_seen;
        if (const auto* const insert = std::get_if<InsertScale>(&request.command)) check_number(insert->row);
        const auto* const update = std::get_if<UpdateScale>(&request.command);
        if (update == nullptr) return;
        check_number(update->row);
        const DeploymentScale* const present = scale(update->row.meta.id);
        if (present == nullptr || present->meta.uid != update->expect.uid ||
            present->meta.version != update->expect.version)
            return; // it will be refused
        check_difference(update->row, *present);
    }
    void check_number(const DeploymentScale& row) {
        const auto decided = lives_.find({row.owner.uid, row.observed_generation});
        REQUIRE(decided != lives_.end());
        INFO(row.meta.id << " wants " << row.desired << " because of " << row.reason);
        CHECK(is_allowed(decided->second, row.desired));
    }
    /// No write without a change; one of the history alone is no sooner than a minute after the last write.
    void check_difference(const DeploymentScale& row, const DeploymentScale& present) {
        Instant& last = last_update_[row.meta.uid];
        const auto conditions = [this](const DeploymentScale& each) {
            const auto status = texts.status_of(each.status, now);
            return status.ok() ? status.value().conditions : ScaleConditions{};
        };
        const bool is_other = row.desired != present.desired || row.reason != present.reason ||
                              row.observed_generation != present.observed_generation ||
                              conditions(row) != conditions(present);
        INFO(row.meta.id);
        CHECK((is_other || now - last >= 1min));
        if (!is_broken_) last = now; // else it may fail
    }

    rs::Chance chance_;
    bool is_broken_ = false;
    std::map<std::pair<std::string, std::int64_t>, Deployment> lives_;
    std::map<std::string, Instant> last_update_;
};

} // namespace

TEST_CASE("rs R-109, rs R-147 numbers are within bounds, no write is without a change, and all converges after the "
          "last event") {
    std::uint64_t writes = 0, faults = 0, losses = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        INFO("seed " << seed);
        RandomWorld world(seed);
        for (int step = 0; step < 60; ++step) world.step();
        world.break_things();
        for (int step = 0; step < 60; ++step) world.step();
        world.mend();
        world.pass(25min); // two full reads, and the windows have passed
        REQUIRE(world.difference().empty());
        static_cast<void>(world.take_writes());
        world.pass(5min);
        CHECK(world.take_writes().empty());
        CHECK(world.manager.status()[0].handlers[0].dead_letters == 0);
        CHECK(world.queue.size() == 0);
        writes += world.writes_seen;
        faults += world.faults_seen;
        losses += world.log.losses;
    }
    CHECK(writes > 400); // the worlds were not empty
    CHECK(faults > 50);
    CHECK(losses > 30);
}

namespace {

/// The same events with each call of a handler made once, or twice.
struct Repeated : AutoscalerWorld {
    explicit Repeated(bool calls_twice) : AutoscalerWorld(without_resync()), calls_twice_(calls_twice) {
        texts.policies["load"] = load_policy();
        start();
    }
    void settle_all() {
        pass(1s);
        if (!calls_twice_) return;
        const rs::EventContext context{rs::Cause::Live, false, 1, {1, true}, now, 0};
        for (const auto& row : deployments.cache().list([](const Deployment&) { return true; })) {
            static_cast<void>(on_deployment.on_add(context, row));
            settle();
            static_cast<void>(on_deployment.on_update(context, row, row));
            settle();
        }
        for (const auto& row : scales.cache().list([](const DeploymentScale&) { return true; })) {
            static_cast<void>(on_scale.on_add(context, row));
            settle();
            static_cast<void>(on_scale.on_update(context, row, row));
            settle();
        }
        for (const auto& row : gone_) {
            static_cast<void>(on_deployment.on_delete(context, row));
            settle();
        }
        for (const auto& row : gone_scales_) {
            static_cast<void>(on_scale.on_delete(context, row));
            settle();
        }
    }
    void remove(const std::string& id) {
        gone_.push_back(deployments.cache().get(id));
        gone_scales_.push_back(scales.cache().get(id));
        drop(id);
    }
    /// Everything that was written, one line for each row.
    [[nodiscard]] std::vector<std::string> rows() {
        std::vector<std::string> lines;
        for (const auto& [id, row] : scale_rows.rows())
            lines.push_back(id + " v" + std::to_string(row.meta.version) + " of " + row.owner.uid + ": " +
                            std::to_string(row.desired) + " " + row.reason + " " +
                            std::to_string(row.observed_generation));
        return lines;
    }

private:
    bool calls_twice_;
    std::vector<rs::Ptr<Deployment>> gone_;
    std::vector<rs::Ptr<DeploymentScale>> gone_scales_;
};

std::vector<std::string> play(bool calls_twice) {
    Repeated world(calls_twice);
    const auto create = [&](const std::string& id, std::optional<std::int64_t> replicas, DeleteMode mode) {
        Deployment row = deployment(id, 1, 20, replicas);
        row.policy = "load";
        row.delete_mode = mode;
        world.deployment_rows.create(row);
        world.settle_all();
    };
    create("a", 3, DeleteMode::Owners);
    create("b", {}, DeleteMode::Cascade);
    create("c", {}, DeleteMode::Orphan);
    create("d", 5, DeleteMode::Owners);
    world.load("b", 7);
    world.load("c", 9);
    for (const char* const id : {"b", "c", "d"}) world.change(id, [](Deployment& row) { row.max_replicas = 8; });
    world.settle_all();
    for (const char* const id : {"a", "c"}) world.remove(id);
    world.settle_all();
    create("a", 4, DeleteMode::Owners);
    world.scale_rows.drop("d");
    world.settle_all();
    world.scale_rows.change("b", [](DeploymentScale& row) { row.desired = 2; });
    world.settle_all();
    return world.rows();
}

} // namespace

TEST_CASE("rs R-084 every call of a handler may come twice, also one that is long past") {
    const auto once = play(false);
    REQUIRE(once.size() == 4);
    CHECK(play(true) == once);
}

} // namespace yk::testing
