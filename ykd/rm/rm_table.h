// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rm, RmTable: the registered RMs, each with its owner thread and the facts of its registration (I-121).

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "protocol/si/messages.h"
#include "ykd/owner/rm_thread.h"
#include "ykd/process/reload_note.h"
#include "ykd/rm/config_store.h"
#include "ykd/rm/user_directory.h"
#include "ykd/session/fair_limit.h"
#include "ykd/session/session.h"

namespace yk::service {

using ConfigurationPtr = std::shared_ptr<const config::Configuration>;

/// The data of a registration, as changed by configuration updates since.
struct RmFacts {
    std::string version;
    std::string policy_group;
    std::map<std::string, std::string> build_info;
    std::vector<std::string> capabilities; // those that the daemon knows
    std::optional<si::DetachedOptions> detached;
    std::optional<wire::Sid> owner; // the session that registered it last (I-344); none: detached
    ConfigurationPtr configuration;
    bool config_from_file = false;       // it follows its group's file: a reload reads that again
    std::string config_origin;           // for people: `file /etc/ykd/queues.yaml`, `back to 7999D0852F9C`
    std::vector<std::string> partitions; // full names
    std::uint64_t epoch = 0;
    Instant registered_at;
    std::optional<ReloadNote> last_reload; // since the registration
};

/// One RM. Owner: RmTable, and whoever has work for it. Thread: any, but for what is marked otherwise.
struct Rm {
    Rm(const std::string& rm_id, Claimant by, const OwnerOptions& options, Instant now, EventRing& ring,
       TallyBoard& tally, RmOwner::Hooks hooks)
        : id(rm_id),
          claimant(std::move(by)),
          users(std::make_shared<UserDirectory>(rm_id)),
          owner(rm_id, options, now, ring, tally, std::move(hooks)) {
        ++living_;
    }
    ~Rm() { --living_; }
    Rm(const Rm&) = delete;
    Rm& operator=(const Rm&) = delete;

    /// How many there are in the process, with those that were removed from the table and are still referenced. More
    /// than the table has for long would be a leak.
    [[nodiscard]] static std::int64_t living() { return living_.load(); }

    [[nodiscard]] RmFacts facts() const {
        const std::lock_guard lock(mutex_);
        return facts_;
    }
    void set_facts(RmFacts facts) {
        const std::lock_guard lock(mutex_);
        facts_ = std::move(facts);
    }
    template <class F>
    void change_facts(F&& change) {
        const std::lock_guard lock(mutex_);
        change(facts_);
    }
    [[nodiscard]] bool is_owned_by(const Session& session) const {
        const std::lock_guard lock(mutex_);
        return facts_.owner == session.sid;
    }
    /// The session that owns it; nullopt: it is detached, or not registered yet.
    [[nodiscard]] std::optional<wire::Sid> owner_session() const {
        const std::lock_guard lock(mutex_);
        return facts_.owner;
    }
    /// The epoch of the registration in force; 0: there was none yet.
    [[nodiscard]] std::uint64_t epoch() const {
        const std::lock_guard lock(mutex_);
        return facts_.epoch;
    }
    [[nodiscard]] bool is_detached() const {
        const std::lock_guard lock(mutex_);
        return facts_.detached.has_value();
    }

    const std::string id;
    const Claimant claimant;                    // who registered it first
    const std::shared_ptr<UserDirectory> users; // shared with the requests that wait in the mailbox
    ConfigStore config_store;                   // only the owner thread uses it
    RmThread owner;

private:
    static inline std::atomic<std::int64_t> living_{0};
    mutable std::mutex mutex_;
    RmFacts facts_;
};
using RmPtr = std::shared_ptr<Rm>;

/// All RMs by id. Owner: Daemon. Thread: any.
class RmTable {
public:
    explicit RmTable(std::size_t limit) : limit_(limit) {}

    /// The RM with this id; nullptr: it was never registered, or is not any more.
    [[nodiscard]] RmPtr find(const std::string& rm_id) const;
    /// The RM with this id, made by `make` if there is none. An error says that the limit is reached (FairLimit) and
    /// who holds the RMs, or that the daemon is stopping.
    [[nodiscard]] Result<RmPtr> find_or_make(const std::string& rm_id, const Claimant& claimant,
                                             const std::function<RmPtr()>& make);
    /// Calls `f` if there is no RM, under the lock, so that none is made meanwhile. Returns whether it was called.
    template <class F>
    bool if_empty(F&& f) const {
        const std::lock_guard lock(mutex_);
        if (!rms_.empty()) return false;
        f();
        return true;
    }
    /// From now on no RM is made.
    void close();
    /// Removes this RM, unless another has its id by now. The caller must drop its last reference on a thread that may
    /// join the owner thread.
    void remove(const RmPtr& rm);
    /// All RMs in the order of their ids.
    [[nodiscard]] std::vector<RmPtr> all() const;
    /// The transitions of RMs that were removed, together.
    [[nodiscard]] StateTransitions removed_transitions() const;

private:
    const FairLimit limit_;
    mutable std::mutex mutex_;
    std::map<std::string, RmPtr> rms_;
    StateTransitions removed_;
    bool closed_ = false;
};

/// The state of all RMs together: Failed or Recovering if one is, else Running if one runs or is suspended, else New
/// (I-200).
[[nodiscard]] si::CoreState core_state(const RmTable& rms);
/// Why an RM of the settings is New.
inline constexpr const char* kNotRegistered = "listed in the settings, and not registered";
/// Those of `listed` that are not registered: they are New (I-262).
[[nodiscard]] std::vector<std::string> new_rms(const std::set<std::string>& listed, const RmTable& rms);
/// The sessions that own an RM.
[[nodiscard]] std::set<wire::Sid> owning_sessions(const RmTable& rms);
/// Whether the last turn of every owner thread began less than `limit` ago.
[[nodiscard]] bool owners_alive(const RmTable& rms, Duration limit);

} // namespace yk::service
