// SPDX-License-Identifier: Apache-2.0
#pragma once
// DeploymentWatch: which Deployments changed last, in the order of the changes, for whoever wants to hear of each one
// (rs R-160). A Deployment counts as changed when its row does, its scale or its schedule. How it looked at the moment
// of a change is not remembered: whoever asks is shown the newest state.
//
// Owner: McsApplication. Thread: its owner's. Cost: O(1) for a change; a bounded number of them is kept.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/mcs/deployment.h"
#include "libcore/mcs/deployment_scale.h"
#include "libcore/mcs/deployment_schedule.h"
#include "libcore/resource_state/resource_informer.h"

namespace yk::service {

enum class ChangeWhat : std::uint8_t { Added, Modified, Deleted };
[[nodiscard]] std::string_view name_of(ChangeWhat what); // added, modified, deleted

/// A change of a Deployment, which is named as it was then.
struct DeploymentChange {
    ChangeWhat what = ChangeWhat::Modified;
    std::string id, name, uid;
    Shared<std::string> partition;
};

/// Reports what changes in the cache of a kind. REQUIRES: HandlerOptions::wants_initial is false, as what the cache is
/// filled with at the start is no change.
template <rs::Resource T>
class ChangeRecorder final : public rs::ResourceEventHandler<T> {
public:
    using Note = std::function<void(ChangeWhat what, const T& object)>;
    explicit ChangeRecorder(Note note) : note_(std::move(note)) {}

    [[nodiscard]] std::string_view name() const override { return "watch"; }
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& /*context*/, const rs::Ptr<T>& object) override {
        note_(ChangeWhat::Added, *object);
        return rs::HandlerResult::ok();
    }
    /// A full read that found no difference calls it, too, with the same object twice.
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext& /*context*/, const rs::Ptr<T>& old,
                                              const rs::Ptr<T>& current) override {
        if (old != current) note_(ChangeWhat::Modified, *current);
        return rs::HandlerResult::ok();
    }
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& /*context*/, const rs::Ptr<T>& last) override {
        note_(ChangeWhat::Deleted, *last);
        return rs::HandlerResult::ok();
    }

private:
    const Note note_;
};

class DeploymentWatch {
public:
    using Deployments = rs::ResourceInformer<mcs::Deployment>;
    using Scales = rs::ResourceInformer<mcs::DeploymentScale>;
    using Schedules = rs::ResourceInformer<mcs::DeploymentSchedule>;
    /// What follows on a cursor.
    struct Page {
        bool is_resync = false; // what follows is not known any more: everything has to be listed, and then `cursor`
        std::vector<DeploymentChange> changes; // one for each Deployment that changed: what came of all its changes
        std::string cursor;                    // of the next page
        bool has_more = false;                 // there is a next page already
    };
    /// Somebody who waits.
    struct Waiter {
        std::function<void(Instant now)> call; // once
        std::function<bool()> is_gone;         // nobody would hear of it
    };

    /// `life`: names this run of the daemon, whose cursors mean nothing to another one.
    explicit DeploymentWatch(std::string life, std::size_t most_kept = kMostKept);
    DeploymentWatch(const DeploymentWatch&) = delete;
    DeploymentWatch& operator=(const DeploymentWatch&) = delete;

    /// From now on it hears of changes. REQUIRES: it outlives the informers' calls.
    void attach(Deployments& deployments, Scales& scales, Schedules& schedules, Instant now);

    /// What came of at most `most` changes behind the cursor, of the Deployment with this id or name if one is given;
    /// none of an empty cursor, which begins now. Cost: a few thousand changes are looked at, then the page ends, full
    /// or not.
    [[nodiscard]] Page read(const std::string& cursor, std::size_t most, std::string_view of = {}) const;
    /// Calls `waiter` as soon as there may be something behind the cursor, at `until`, or at the end. False: as many
    /// wait as may.
    [[nodiscard]] bool wait(const std::string& cursor, Instant until, Waiter waiter);

    /// Calls those who have waited for it; false: nobody has.
    bool turn(Instant now);
    [[nodiscard]] std::optional<Instant> next_due() const;
    /// Calls all who wait.
    void stop(Instant now);

private:
    static constexpr std::size_t kMostKept = 100'000;
    static constexpr std::size_t kMostLookedAt = 2000; // for a page
    static constexpr std::size_t kMostWaiting = 4096;

    struct Waiting {
        std::uint64_t after = 0; // the number of the last change that it knows
        Instant until;
        Waiter waiter;
    };

    void note(ChangeWhat what, const mcs::Deployment& deployment);
    /// A child has changed: the Deployment that it belongs to is shown otherwise.
    void note_child(const mcs::Owner& owner);
    /// The number in a cursor; nullopt: not all changes behind it are known.
    [[nodiscard]] std::optional<std::uint64_t> number_of(const std::string& cursor) const;
    [[nodiscard]] std::string cursor_at(std::uint64_t number) const;

    const std::string life_;
    const std::size_t most_kept_;
    const rs::ResourceCache<mcs::Deployment>* deployments_ = nullptr;
    ChangeRecorder<mcs::Deployment> on_deployment_;
    ChangeRecorder<mcs::DeploymentScale> on_scale_;
    ChangeRecorder<mcs::DeploymentSchedule> on_schedule_;
    std::deque<DeploymentChange> changes_; // the last ones
    std::uint64_t last_ = 0;               // how many there were ever
    std::list<Waiting> waiting_;
};

} // namespace yk::service
