// SPDX-License-Identifier: Apache-2.0
#pragma once
// CallbackWriter: turns the core's callbacks into encoded items. It encodes at once, on the owner thread, and merges
// neighbouring `new`, `released` or `updated` of one turn into one item (I-104): a callback costs one append to a
// buffer, and a request of a thousand elements makes one item, not a thousand.
//
// Owner: RmOwner. Thread: the owner thread of the RM, which owner_thread() checks when it is bound.

#include <string>
#include <utility>
#include <vector>

#include "libcore/base/owner_thread.h"
#include "libcore/ports/callbacks.h"
#include "protocol/si/messages.h"
#include "ykd/runtime/call_watch.h"
#include "ykd/runtime/out_item.h"

namespace yk {

/// A call to the RM that was written as an item.
struct StartedCall {
    std::uint64_t call = 0;
    CallKind kind{};
};

class CallbackWriter final : public Callbacks {
public:
    /// Which optional callbacks the RM announced that it understands (I-021).
    struct Interest {
        bool report_ignored = false;
        bool container_state = false;
        bool resync_cache = false;
        bool confirm_releases = false; // detached: the daemon confirms releases for it (I-387)
        bool echo_requests = false;    // its own updates, and those of others in its name, as items (I-269)
        Duration predicate_ttl{};      // time limits of calls to the RM (I-376)
        Duration preemption_ttl{};
    };

    void set_interest(const Interest& interest) {
        thread_.assert_here();
        interest_ = interest;
    }
    /// Sets the time that items made from now on carry.
    void set_time(Instant now) {
        thread_.assert_here();
        now_ = now;
    }

    /// Takes everything written since the last call, in order.
    [[nodiscard]] std::vector<OutItem> take();
    [[nodiscard]] bool empty() const {
        thread_.assert_here();
        return items_.empty() && open_count_ == 0;
    }
    /// Forgets what was written and not taken (I-124).
    void discard();
    /// Takes the calls written since the last call.
    [[nodiscard]] std::vector<StartedCall> take_calls() {
        thread_.assert_here();
        return std::exchange(calls_, {});
    }
    /// Takes the confirmations of the core's releases that the daemon sends in the name of a detached RM (I-387).
    [[nodiscard]] std::vector<si::AllocationRelease> take_confirmations() {
        thread_.assert_here();
        return std::exchange(confirmations_, {});
    }
    /// For the owner thread to bind.
    [[nodiscard]] OwnerThread& owner_thread() { return thread_; }

    /// Writes Request: the core gets an update next, `body` is that message, encoded.
    void request(std::string_view kind, bool impersonated, std::string_view body);
    /// The core has answered the update of request(): what was written since is what came of it.
    void request_answered();
    /// Writes Notice {code, message, details}; `details` is one encoded map or empty.
    void notice(std::string_view code, std::string_view message, std::string_view details);
    /// Writes RecoveryReport; `report` is the encoded message (I-237).
    void recovery_report(std::string_view report);
    /// Writes UpdateConfiguration: the RM is to store `text` (I-184).
    void config_to_store(std::uint64_t call, std::string_view text);
    /// Writes GetStateDump: the RM is to send its state (I-435).
    void state_wanted(std::uint64_t call);
    /// Writes SendEvent {records, lost}; `records` are sent.records encoded maps.
    void events(std::string_view records, const EventSpan& sent, const EventSpan& lost);

    void allocation_made(const NewAllocation& allocation) noexcept override;
    void allocations_released(std::span<const ReleasedAllocation> released) noexcept override;
    void asks_rejected(std::span<const RejectedAsk> rejected, bool placements) noexcept override;
    void releases_ignored(std::span<const IgnoredRelease> ignored) noexcept override;
    void applications_answered(std::span<const AcceptedApplication> accepted,
                               std::span<const RejectedApplication> rejected) noexcept override;
    void application_updated(const UpdatedApplication& updated) noexcept override;
    void nodes_answered(std::span<const AcceptedNode> accepted, std::span<const RefusedNode> rejected,
                        std::span<const RefusedNode> failed) noexcept override;
    void ask_outstanding(std::string_view application, std::string_view key, std::string_view reason) noexcept override;
    void predicates_wanted(const PredicatesCall& call) noexcept override;
    void preemption_wanted(const PreemptionCall& call) noexcept override;

private:
    /// Ends the list being merged and makes it an item.
    void close();
    /// Adds one element, which `write(packer)` packs, to the list being merged, or begins a new list with it.
    template <class Write>
    void merge(std::string_view kind, std::string_view list, Write write);
    /// A new item, whose body the caller packs; valid until the next one.
    OutItem& add(std::string_view kind);
    template <class... List>
    void add_lists(std::string_view kind, const List&... lists);
    OutItem& add_call(std::string_view item_kind, std::uint64_t call, CallKind kind, Duration ttl);
    template <class T, class Write>
    void add_list(std::string_view kind, std::string_view name, std::span<const T> elements, Write write);

    static constexpr std::size_t kNoRequest = static_cast<std::size_t>(-1);
    /// Whether what is written is answers to a Request.
    [[nodiscard]] bool echoes() const { return request_ != kNoRequest; }

    [[no_unique_address]] OwnerThread thread_;
    Interest interest_;
    Instant now_;
    std::vector<OutItem> items_;
    std::size_t request_ = kNoRequest;       // where in items_ the Request is that is being answered
    std::string_view open_kind_, open_list_; // item kind and name of the list being merged
    wire::Buffer open_;                      // its encoded elements
    std::size_t open_count_ = 0;
    wire::Buffer cached_; // the allocations of that list for the RM's predicate cache (I-131)
    std::size_t cached_count_ = 0;
    std::vector<si::AllocationRelease> confirmations_;
    std::vector<StartedCall> calls_;
};

} // namespace yk
