// SPDX-License-Identifier: Apache-2.0
#pragma once
// LeaseManager: acquires the leases of this process's services, renews them, and knows whether they may still write.
//
// The database decides who leads, at every write (rs R-141). What is decided here is when to ask it, and when to stop
// without an answer: a process that cannot reach the database stops by its own steady clock before another one can have
// taken the lease (rs R-142). A lease that seems to run far too long, since somebody set the clock back, is taken when
// its holder has not renewed it for as long as a lease lasts (rs R-143).
//
// It waits for nothing and knows no clock: whoever drives it takes IoCalls, runs them and has them finished, as with
// StateManager; best on a thread that nothing else keeps busy.
//
// Owner: the program. Thread: one: the first that asks for work, which debug builds check.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/owner_thread.h"
#include "libcore/mcs/lease_port.h"
#include "libcore/resource_state/backoff.h"
#include "libcore/resource_state/event_handler.h"
#include "libcore/resource_state/io_call.h"

namespace yk::mcs {

struct LeaseSettings {
    Duration ttl = std::chrono::seconds{15}; // as the port writes it
    Duration renew = std::chrono::seconds{5};
    Duration poll = std::chrono::milliseconds{500}; // at most; while another one leads, and after an error
    Duration tolerance = std::chrono::seconds{5};   // by which a lease may seem too long
};

class LeaseManager {
public:
    /// This process leads (again) as the service, does not know whether it still does (`is_valid` false), or (nullopt)
    /// has lost the lease; as StateManager::set_lease() takes it.
    using OnChange = std::function<void(std::string_view name, const std::optional<rs::Lease>& lease, Instant now)>;

    /// `names`: those of the leases. What calls give and take is that of `port`, which outlives them.
    LeaseManager(LeasePort& port, const LeaseSettings& settings, const std::vector<std::string>& names,
                 std::uint64_t seed, OnChange on_change);

    /// The next call of the port; nullptr: none now. At most one for each lease is under way.
    [[nodiscard]] std::unique_ptr<rs::IoCall> next_call(Instant now);
    /// Announces what has run out.
    void turn(Instant now);
    /// When there may be something to do; nullopt: never any more, unless a call is finished.
    [[nodiscard]] std::optional<Instant> next_due() const;
    /// Somebody has released a lease: all that are waited for are asked for at once.
    void wake();
    /// What the service's writes and handlers may go by now. nullopt: it does not lead.
    [[nodiscard]] std::optional<rs::Lease> lease(std::string_view name, Instant now) const;
    /// Another process may have the lease: it is released, and not asked for during `pause`.
    void give_up(std::string_view name, Duration pause, Instant now);
    /// Why the table cannot be written, once that is so for longer than one call of each lease; empty: it can.
    [[nodiscard]] const std::string& fault() const {
        owner_thread_.assert_here();
        return fault_;
    }

    /// From now on no lease is acquired, and the next calls release those that are there, so that a standby takes over
    /// at once: each loss is announced after its release, however long what is done then takes.
    /// REQUIRES: no write of the services is under way any more.
    void release();
    [[nodiscard]] bool is_released() const;

private:
    struct Entry {
        std::string name;
        Instant next; // call
        bool is_calling = false;
        std::optional<std::uint64_t> epoch; // of this process; nullopt: it waits
        Instant renewed;                    // when the last call that succeeded began
        bool is_valid = false;              // as announced
        bool is_to_be_lost = false;         // announced when the table has its release
        std::optional<Duration> given_up;   // it is to be released, and not asked for so long
        Instant not_before;                 // it is asked for
        LeaseRow seen;                      // of somebody else
        Instant seen_since;                 // it has not changed
    };
    struct Acquired {
        std::optional<std::uint64_t> epoch;
        std::optional<LeaseRow> row; // what is there instead
    };
    using AcquireAnswer = Result<Acquired, rs::StoreError>;

    [[nodiscard]] std::unique_ptr<rs::IoCall> acquire_call(Entry& entry, Instant began);
    [[nodiscard]] std::unique_ptr<rs::IoCall> renew_call(Entry& entry, Instant began);
    [[nodiscard]] std::unique_ptr<rs::IoCall> release_call(Entry& entry);
    [[nodiscard]] bool is_leaving(const Entry& entry) const { return is_releasing_ || entry.given_up; }
    void acquired(Entry& entry, const AcquireAnswer& answer, Instant began, Instant now);
    void renewed(Entry& entry, const Result<bool, rs::StoreError>& answer, Instant began, Instant now);
    void lead(Entry& entry, Instant began, Instant now);
    void lose(Entry& entry, Instant now);
    void answered(const rs::StoreError* error);
    void note(Entry& entry, const LeaseRow& row, Instant now) const;
    [[nodiscard]] bool is_frozen(const Entry& entry, Instant now) const;
    [[nodiscard]] Instant ends(const Entry& entry) const { return entry.renewed + settings_.ttl / 3 * 2; }
    void pause(Entry& entry, Instant now) { entry.next = now + chance_.between(settings_.poll / 2, settings_.poll); }

    [[no_unique_address]] OwnerThread owner_thread_;
    LeasePort& port_;
    const LeaseSettings settings_;
    rs::Chance chance_;
    const OnChange on_change_;
    std::vector<Entry> entries_; // their addresses stay
    bool is_releasing_ = false;
    std::size_t failures_ = 0; // in a row, of all leases
    std::string fault_;
};

} // namespace yk::mcs
