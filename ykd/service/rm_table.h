#pragma once
// The registered RMs: each with its owner thread and the facts of its registration (I-121).

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "protocol/si/messages.h"
#include "ykd/runtime/rm_owner.h"
#include "ykd/service/config_store.h"
#include "ykd/service/places.h"
#include "ykd/service/session.h"
#include "ykd/service/user_directory.h"

namespace yk::service {

using ConfigurationPtr = std::shared_ptr<const config::Configuration>;

/// How a reload ended.
struct ReloadNote {
    Instant at;          // real time
    std::string refusal; // empty: it was good
};

/// What a registration said, and what a configuration update changed of it.
struct RmFacts {
    std::string version;
    std::string policy_group;
    std::map<std::string, std::string> build_info;
    std::vector<std::string> capabilities; // understood ones
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

struct Rm {
    Rm(const std::string& rm_id, PlaceTaker by, const OwnerOptions& options, Instant now, EventRing& ring,
       TallyBoard& tally, RmOwner::Hooks hooks)
        : id(rm_id),
          taker(std::move(by)),
          users(std::make_shared<UserDirectory>(rm_id)),
          owner(rm_id, options, now, ring, tally, std::move(hooks)) {
        ++living_;
    }
    ~Rm() { --living_; }
    Rm(const Rm&) = delete;
    Rm& operator=(const Rm&) = delete;

    /// Of the process, also those that have left and are still held by somebody: in the long run not more than the
    /// table has.
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
    /// None: it is detached, or not registered yet.
    [[nodiscard]] std::optional<wire::Sid> owner_session() const {
        const std::lock_guard lock(mutex_);
        return facts_.owner;
    }
    /// Of the registration in force; 0: none yet.
    [[nodiscard]] std::uint64_t epoch() const {
        const std::lock_guard lock(mutex_);
        return facts_.epoch;
    }
    [[nodiscard]] bool is_detached() const {
        const std::lock_guard lock(mutex_);
        return facts_.detached.has_value();
    }

    const std::string id;
    const PlaceTaker taker;                     // who registered it first
    const std::shared_ptr<UserDirectory> users; // shared with the requests that wait in the mailbox
    ConfigStore config_store;                   // the owner thread's
    RmOwner owner;

private:
    static inline std::atomic<std::int64_t> living_{0};
    mutable std::mutex mutex_;
    RmFacts facts_;
};
using RmPtr = std::shared_ptr<Rm>;

/// Thread: any.
class RmTable {
public:
    /// Each RM has a thread; more than this are refused.
    static constexpr std::size_t kMaxRms = 64;

    /// nullptr: never registered, or not any more.
    [[nodiscard]] RmPtr find(const std::string& rm_id) const;
    /// The RM, made by `make` if it is new. An error: there is no place for one (Places), and who has them.
    [[nodiscard]] Result<RmPtr> find_or_make(const std::string& rm_id, const PlaceTaker& taker,
                                             const std::function<RmPtr()>& make);
    /// Calls `f` if there is no RM, and none is made meanwhile.
    template <class F>
    bool if_empty(F&& f) const {
        const std::lock_guard lock(mutex_);
        if (!rms_.empty()) return false;
        f();
        return true;
    }
    /// No more are made.
    void close();
    /// Takes it out, if it is still this one. The caller lets go of it where its thread may be joined.
    void remove(const RmPtr& rm);
    /// By id.
    [[nodiscard]] std::vector<RmPtr> all() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, RmPtr> rms_;
    bool closed_ = false;
};

} // namespace yk::service
