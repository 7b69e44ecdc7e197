// SPDX-License-Identifier: Apache-2.0
#pragma once
// Follower: what the daemon has to keep caches in step with a database (McsConnections, StateManager, McsWriter,
// McsHousekeeping), driven by one thread as McsThread and McsApplication drive it, with a handler that does nothing in
// place of the services.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/resource_state/state_manager.h"
#include "protocol/databases/housekeeping/mcs_housekeeping.h"
#include "tests/bench/resource_state/bench_database.h"
#include "tests/bench/resource_state/change_writer.h"
#include "ykd/mcs/bell.h"
#include "ykd/mcs/mcs_application.h"

namespace yk::bench {

/// How often each notice came.
class CountedNotices final : public rs::NoticeSink {
public:
    void notice(const rs::Notice& notice) override { ++counts_[notice.what]; }
    [[nodiscard]] std::uint64_t count(rs::NoticeKind what) const {
        const auto found = counts_.find(what);
        return found == counts_.end() ? 0 : found->second;
    }

private:
    std::map<rs::NoticeKind, std::uint64_t> counts_;
};

/// Reads as the store behind it, unless that is to be away.
class SwitchedStore final : public rs::ResourceStore<mcs::Deployment> {
public:
    explicit SwitchedStore(rs::ResourceStore<mcs::Deployment>& store) : store_(store) {}
    [[nodiscard]] Result<rs::Rows<mcs::Deployment>, rs::StoreError>
    read_many(std::span<const std::string> ids) override {
        if (is_away) return rs::StoreError{rs::StoreFault::Down, "switched off"};
        ++reads;
        auto read = store_.read_many(ids);
        if (keeps_rows && read.ok()) keep(read->found);
        return read;
    }
    [[nodiscard]] Result<rs::Page<mcs::Deployment>, rs::StoreError> read_page(std::string_view after,
                                                                              std::size_t limit) override {
        if (is_away) return rs::StoreError{rs::StoreFault::Down, "switched off"};
        ++reads;
        auto read = store_.read_page(after, limit);
        if (keeps_rows && read.ok()) keep(read->found);
        return read;
    }

    bool is_away = false;
    std::uint64_t reads = 0; // calls of the database
    bool keeps_rows = false;
    std::vector<rs::Ptr<mcs::Deployment>> rows; // that were read, if it keeps them

private:
    void keep(const std::vector<rs::Found<mcs::Deployment>>& found) {
        for (const auto& each : found)
            if (const auto* const row = std::get_if<rs::Ptr<mcs::Deployment>>(&each)) rows.push_back(*row);
    }
    using Done = Result<void, rs::StoreError>;
    [[nodiscard]] static Done refuse() { return rs::StoreError{rs::StoreFault::Fatal, "it only reads"}; }
    Done do_insert(const rs::WriterIdentity&, const mcs::Deployment&) override { return refuse(); }
    Done do_update(const rs::WriterIdentity&, const mcs::Deployment&, const rs::Expect&) override { return refuse(); }
    Done do_erase(const rs::WriterIdentity&, std::string_view, const rs::Expect&) override { return refuse(); }

    rs::ResourceStore<mcs::Deployment>& store_;
};

/// Called for every change, and does nothing but say so.
class IdleHandler final : public rs::ResourceEventHandler<mcs::Deployment> {
public:
    [[nodiscard]] std::string_view name() const override { return "idle"; }
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext&, const rs::Ptr<mcs::Deployment>&) override {
        return rs::HandlerResult::ok();
    }
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext&, const rs::Ptr<mcs::Deployment>& before,
                                              const rs::Ptr<mcs::Deployment>& current) override {
        if (on_handled && before != current) on_handled(*current); // a full read's call may bring a change, too
        return rs::HandlerResult::ok();
    }
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext&, const rs::Ptr<mcs::Deployment>&) override {
        return rs::HandlerResult::ok();
    }

    std::function<void(const mcs::Deployment&)> on_handled; // after the call
};

struct FollowerOptions {
    rs::Settings settings;
    bool has_children = false; // scales, schedules and nodes, too
    bool has_handler = true;
};

/// Owner: whoever measures. Thread: its owner's.
class Follower {
public:
    [[nodiscard]] static Result<std::unique_ptr<Follower>> open(const BenchDatabase& database,
                                                                const FollowerOptions& options);
    Follower(const Follower&) = delete;
    Follower& operator=(const Follower&) = delete;

    // --- work -----------------------------------------------------------------------------------
    /// Does one bit; false: there is nothing before something happens.
    bool step();
    /// Steps, and waits where there is nothing, until `is_done`. Error: not within the limit.
    [[nodiscard]] Result<void> run_until(const std::function<bool()>& is_done, Duration limit);
    /// Until something may be to do, but not longer than to `latest`.
    void wait(Instant latest);
    /// The caches have what the database has.
    [[nodiscard]] Result<void> start();

    // --- what there is --------------------------------------------------------------------------
    [[nodiscard]] rs::StateManager& manager() { return manager_; }
    [[nodiscard]] rs::ResourceInformer<mcs::Deployment>& deployments() { return deployments_; }
    [[nodiscard]] const rs::ResourceCache<mcs::Deployment>& cache() const { return deployments_.cache(); }
    /// REQUIRES: has_children.
    [[nodiscard]] const rs::ResourceCache<mcs::DeploymentScale>& scales() const { return scales_->cache(); }
    [[nodiscard]] const rs::ResourceCache<mcs::DeploymentSchedule>& schedules() const { return schedules_->cache(); }
    /// No write is under way, and no row is to be read that this process has written.
    [[nodiscard]] bool is_quiet();
    [[nodiscard]] SwitchedStore& store() { return store_; }
    [[nodiscard]] IdleHandler& handler() { return handler_; }
    /// Writes by this process; the first call begins its thread.
    [[nodiscard]] ChangeWriter& writer();
    /// The longest step since the last call, seconds.
    [[nodiscard]] double take_longest_step() { return std::exchange(longest_step_, 0); }

    std::function<void(const mcs::Deployment&)> on_cached; // each row that was read and is in the cache now

    /// What R-163 asks: the cache of each kind is equal to its rows, read anew, and nothing was repaired; else what is
    /// wrong.
    [[nodiscard]] Result<void> check(const BenchDatabase& database);

private:
    Follower(service::McsConnections connections, const FollowerOptions& options);
    bool take_answered(Instant now);
    void note_cached();
    [[nodiscard]] Result<void> check_caches(const BenchDatabase& database) const;

    service::McsConnections connections_;
    mcs::McsHousekeeping house_;
    CountedNotices notices_;
    rs::StateManager manager_;
    SwitchedStore store_;
    rs::ResourceInformer<mcs::Deployment>& deployments_;
    rs::ResourceInformer<mcs::DeploymentScale>* scales_ = nullptr;
    rs::ResourceInformer<mcs::DeploymentSchedule>* schedules_ = nullptr;
    rs::ResourceInformer<mcs::Node>* nodes_ = nullptr;
    IdleHandler handler_;
    double longest_step_ = 0;

    service::Bell bell_;
    std::unique_ptr<ChangeWriter> writer_; // the last one: its thread ends first
};

} // namespace yk::bench
