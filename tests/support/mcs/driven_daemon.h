// SPDX-License-Identifier: Apache-2.0
#pragma once
// DrivenDaemon: a whole daemon with MCS on a file of SQLite or a database of PostgreSQL and its own core, on one thread
// and in simulated time; what is to be so of database, caches and core. Nothing here uses assertions of a test program,
// since a process that will be killed may run it.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "libcore/base/check.h"
#include "libcore/reports/snapshot.h"
#include "protocol/databases/mcs_leases.h"
#include "protocol/databases/sqlite_connection.h"
#include "tests/support/comes_true.h"
#include "tests/support/mcs/driven_loops.h"
#include "ykd/daemon/daemon.h"
#ifdef YK_WITH_PG
#include "protocol/databases/postgres/postgres_connection.h"
#endif

namespace yk::testing {

class DrivenDaemon {
public:
    /// `folder`: what is left of an earlier life, if there was one. `postgres`: the address (postgresql://...) of a
    /// database of its own; empty: it has a file of SQLite in the folder.
    DrivenDaemon(const std::string& folder, std::uint64_t life, const std::string& postgres = {})
        : folder_(folder), postgres_(postgres), loops_(life) {
        service::DaemonSettings settings;
        settings.log_level = "fatal";
        settings.state_directory = folder;
        settings.max_memory = std::uint64_t{1} << 40U; // as if there was enough
        settings.default_config_file = folder + "/queues.yaml";
        settings.mcs.enabled = true;
        if (!postgres.empty()) {
            settings.mcs.db.url = postgres;
            settings.mcs.db.notifies = false; // it would wake a thread that is not there: the log is asked instead
            end_earlier_life();
        }
        write_queues();
        daemon_ = std::make_unique<service::Daemon>(settings, "test");
        const auto started = daemon_->start();
        YK_CHECK(started.ok(), "a daemon starts, whatever an earlier one left");
    }

    /// Until it holds; false: it does not within two minutes of simulated time.
    bool comes(const std::function<bool()>& condition) {
        loops_.wake();
        return loops_.run_until(condition, loops_.now() + std::chrono::minutes{2});
    }
    void run_for(Simulator::Clock::duration time) { loops_.run_for(time); }
    /// Somebody sets the machine's clock.
    void set_clock(std::chrono::nanoseconds ahead) { loops_.wall_ahead = ahead; }
    /// Calls on the thread of MCS; false: its database is not open.
    bool with(const std::function<void(service::McsApplication&, Instant)>& call) {
        std::optional<bool> is_open;
        daemon_->parts().mcs.post([&](service::McsApplication* application, Instant now) {
            is_open = application != nullptr;
            if (application != nullptr) call(*application, now);
        });
        return comes([&] { return is_open.has_value(); }) && *is_open;
    }
    /// Whether caches are filled, and the core takes what MCS asks for.
    bool starts() {
        return comes([&] { return daemon_->parts().mcs.state().phase == service::McsThread::State::Phase::Open; }) &&
               settles([&] {
                   bool is_running = false;
                   return with([&](service::McsApplication& application, Instant) {
                              is_running = application.manager().is_running() &&
                                           application.scheduling().scheduler().core().state() == mcs::RmState::Running;
                          }) &&
                          is_running;
               });
    }
    /// As comes(), for what is expensive to look at.
    bool settles(const std::function<bool()>& condition) {
        for (int looks = 0; looks < 1200; ++looks) {
            if (condition()) return true;
            run_for(std::chrono::milliseconds{100});
        }
        return false;
    }

    // --- what users do ----------------------------------------------------------------------------
    [[nodiscard]] mcs::WriteOutcome write(const mcs::WriteCommand& command) {
        std::optional<mcs::WriteOutcome> outcome;
        with([&](service::McsApplication& application, Instant) {
            application.write(command, [&](const mcs::WriteOutcome& came) { outcome = came; });
        });
        comes([&] { return outcome.has_value(); });
        return outcome.value_or(mcs::Transient{"no answer"});
    }
    [[nodiscard]] bool add_node(const std::string& id) {
        mcs::Node row;
        row.meta.id = id;
        row.capacity = {{"vcore", 10}};
        return is_written(write(mcs::InsertNode{row}));
    }
    [[nodiscard]] bool create(const std::string& id, std::int64_t replicas, mcs::DeleteMode mode) {
        mcs::Deployment row;
        row.meta.id = row.name = id;
        row.queue = "root.a";
        row.user = "ann";
        row.resource = {{"vcore", 1}};
        row.max_replicas = 100;
        row.replicas = replicas;
        row.delete_mode = mode;
        return is_written(write(mcs::InsertDeployment{row, false}));
    }
    [[nodiscard]] bool scale(const std::string& id, std::int64_t replicas) {
        const auto row = deployment(id);
        if (!row) return false;
        mcs::Deployment changed = *row;
        changed.replicas = replicas;
        return is_written(write(mcs::UpdateDeployment{changed, {row->meta.uid, row->meta.version}}));
    }
    [[nodiscard]] bool drop(const std::string& id) {
        const auto row = deployment(id);
        return row && is_written(write(mcs::DeleteDeployment{id, {row->meta.uid, 0}, std::nullopt}));
    }
    [[nodiscard]] rs::Ptr<mcs::Deployment> deployment(const std::string& id) {
        rs::Ptr<mcs::Deployment> row;
        with([&](service::McsApplication& application, Instant) { row = application.find(id); });
        return row;
    }

    // --- what there is ----------------------------------------------------------------------------
    /// The Deployments in the database, as `id:replicas`.
    [[nodiscard]] std::string wanted() { return list("SELECT id || ':' || replicas FROM deployment ORDER BY id"); }
    /// What is not as the rows of Deployments want it, in the rows of the services, the caches or the core; empty: all
    /// is.
    [[nodiscard]] std::string difference() {
        std::string found = difference_of_rows();
        if (found.empty()) found = difference_of_caches();
        return found.empty() ? difference_of_core() : found;
    }

private:
    [[nodiscard]] static bool is_written(const mcs::WriteOutcome& outcome) {
        return std::holds_alternative<mcs::Written>(outcome);
    }
    void write_queues() const {
        std::ofstream{folder_ + "/queues.yaml"} << "partitions: [{name: default, placementrules: [{name: provided, "
                                                   "create: false}], queues: [{name: root, submitacl: '*', queues: "
                                                   "[{name: a}]}]}]\n";
    }
    /// Of a process that was killed the server of PostgreSQL still has the sessions, for a moment, and the leases until
    /// they run out, by a clock that is not simulated here. (With SQLite whoever is alone frees them.)
    void end_earlier_life() {
        YK_CHECK(comes_true([&] {
                     return list("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                 " AND pid <> pg_backend_pid()") == "0";
                 }),
                 "the server notices that a process has ended");
        if (list("SELECT count(*) FROM pg_tables WHERE tablename = 'lease'") != "0")
            YK_CHECK(mcs::release_all(shell()).ok(), "leases can be freed");
    }
    /// A connection of its own, as that of somebody with a shell.
    [[nodiscard]] rs::SqlConnection& shell() {
        if (!shell_) shell_ = open_shell();
        return *shell_;
    }
    [[nodiscard]] std::unique_ptr<rs::SqlConnection> open_shell() const {
#ifdef YK_WITH_PG
        if (!postgres_.empty()) {
            auto opened = rs::PostgresConnection::open({postgres_});
            YK_CHECK(opened.ok(), "the database can be opened");
            return std::move(opened).value();
        }
#endif
        auto opened = rs::SqliteConnection::open(folder_ + "/mcs.db");
        YK_CHECK(opened.ok(), "the database can be opened");
        return std::move(opened).value();
    }
    /// The first column of all rows, one after the other.
    [[nodiscard]] std::string list(const std::string& sql) {
        rs::SqlStatement rows = shell().statement(sql);
        std::string all;
        while (true) {
            const auto has_row = rows.step();
            YK_CHECK(has_row.ok(), "the database can be read");
            if (!*has_row) return all;
            all += (all.empty() ? "" : ",") + rows.text(0);
        }
    }
    /// One query per promise; each lists what breaks it.
    [[nodiscard]] std::string difference_of_rows() {
        static const std::vector<std::pair<const char*, const char*>> kPromises{
            {"without a scale of its own",
             "SELECT id FROM deployment d WHERE NOT EXISTS (SELECT 1 FROM deployment_scale s WHERE s.id = d.id AND "
             "s.owner_uid = d.uid AND s.desired = d.replicas)"},
            {"without a schedule that has all",
             "SELECT id FROM deployment d WHERE NOT EXISTS (SELECT 1 FROM deployment_schedule s WHERE s.id = d.id AND "
             "s.owner_uid = d.uid AND s.desired = d.replicas AND s.placed = d.replicas AND s.pending = 0 AND "
             "s.state = 'Scheduled')"},
            {"scales that are orphans", "SELECT id FROM deployment_scale s WHERE NOT EXISTS (SELECT 1 FROM deployment "
                                        "d WHERE d.uid = s.owner_uid)"},
            {"schedules that are orphans", "SELECT id FROM deployment_schedule s WHERE NOT EXISTS (SELECT 1 FROM "
                                           "deployment d WHERE d.uid = s.owner_uid)"},
            {"placements of no schedule",
             "SELECT schedule_id FROM placement WHERE schedule_id NOT IN (SELECT id FROM deployment_schedule)"},
            {"with another number of placements",
             "SELECT id FROM deployment_schedule s WHERE placed <> (SELECT count(DISTINCT allocation_key) FROM "
             "placement "
             "p WHERE p.schedule_id = s.id AND p.state = 'Placed' AND p.node_id IS NOT NULL) OR placed <> (SELECT "
             "count(*) FROM placement p WHERE p.schedule_id = s.id)"},
            {"changes that no event announced", "SELECT id FROM deployment d WHERE NOT EXISTS (SELECT 1 FROM "
                                                "change_log c WHERE c.kind = 1 AND c.id = d.id "
                                                "AND c.uid = d.uid AND c.version = d.version)"}};
        for (const auto& [what, sql] : kPromises)
            if (const std::string found = list(sql); !found.empty()) return fmt::format("{}: {}", what, found);
        return {};
    }
    template <class T>
    [[nodiscard]] static std::string text_of(const rs::ResourceCache<T>& cache) {
        std::set<std::string> ids;
        cache.for_each([&](const rs::Ptr<T>& each) {
            ids.insert(fmt::format("{}/{}/{}", each->meta.id, each->meta.uid, each->meta.version));
        });
        return fmt::format("{}", fmt::join(ids, ","));
    }
    [[nodiscard]] std::string difference_of_caches() {
        std::map<std::string, std::string> caches;
        with([&](service::McsApplication& application, Instant) {
            caches = {{"deployment", text_of(application.deployments())},
                      {"deployment_scale", text_of(application.scales())},
                      {"deployment_schedule", text_of(application.schedules())},
                      {"node", text_of(application.nodes())}};
        });
        if (caches.empty()) return "there are no caches";
        for (const auto& [table, cached] : caches) {
            const std::string rows = list("SELECT id || '/' || uid || '/' || version FROM " + table + " ORDER BY id");
            if (rows != cached) return fmt::format("the cache of {} has {}, and there is {}", table, cached, rows);
        }
        return {};
    }
    /// Exactly the placements of the rows, on the same nodes, and no ask.
    [[nodiscard]] std::string difference_of_core() {
        const std::string rows =
            list("SELECT allocation_key || '@' || node_id FROM placement WHERE state = 'Placed' ORDER BY 1");
        const std::string applications =
            list("SELECT application_id FROM deployment_schedule WHERE placed > 0 ORDER BY 1");
        std::set<std::string> placed, running;
        std::string waiting;
        bool is_answered = false;
        const service::RmPtr rm = daemon_->parts().rms.find("mcs");
        if (!rm) return "MCS is not registered";
        rm->owner.control(
            [&](RmOwner& owner) {
                is_answered = true;
                const PartitionState* const state = owner.read("default");
                if (state == nullptr) return;
                for (const ApplicationView& app : application_views(*state, ApplicationList::Active, true)) {
                    if (!app.allocations.empty()) running.insert(app.id);
                    for (const AllocationView& each : app.allocations) placed.insert(each.key + '@' + each.node);
                    for (const AskView& each : app.asks) waiting += ' ' + each.key;
                }
            },
            [&] { is_answered = true; });
        comes([&] { return is_answered; });
        if (!waiting.empty()) return "asked for and not placed:" + waiting;
        if (fmt::format("{}", fmt::join(placed, ",")) != rows)
            return fmt::format("the core has {}, and the rows {}", fmt::join(placed, ","), rows);
        if (fmt::format("{}", fmt::join(running, ",")) != applications)
            return fmt::format("the core has {}, and the rows {}", fmt::join(running, ","), applications);
        return {};
    }

    const std::string folder_, postgres_;
    DrivenLoops loops_;
    std::unique_ptr<service::Daemon> daemon_;
    std::unique_ptr<rs::SqlConnection> shell_; // nullptr: nobody has asked the database yet
};

} // namespace yk::testing
