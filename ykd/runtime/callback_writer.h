#pragma once
// CallbackWriter: the core's callbacks as encoded items. It encodes at once, on the owner thread, and merges
// neighbouring `new`, `released` or `updated` of one turn into one item (I-104): one costs one append to a buffer, and
// a request of many elements makes few items.
//
// Owner: RmOwner. Thread: the owner thread.

#include <string>
#include <utility>
#include <vector>

#include "libcore/scheduler/callbacks.h"
#include "protocol/si/messages.h"
#include "ykd/runtime/call_watch.h"
#include "ykd/runtime/out_item.h"

namespace yk {

/// A call to the RM that was written.
struct StartedCall {
    std::uint64_t call = 0;
    CallKind kind{};
};

class CallbackWriter final : public Callbacks {
public:
    /// What the RM announced (I-021) and whether the daemon confirms releases for it.
    struct Interest {
        bool report_ignored = false;
        bool container_state = false;
        bool resync_cache = false;
        bool confirm_releases = false;
        Duration predicate_ttl{}; // of calls to the RM (I-376)
        Duration preemption_ttl{};
    };

    void set_interest(const Interest& interest) { interest_ = interest; }
    /// The time that items made from now on carry.
    void set_time(Instant now) { now_ = now; }

    /// Everything written since the last call, in order.
    [[nodiscard]] std::vector<OutItem> take();
    [[nodiscard]] bool empty() const { return items_.empty() && open_count_ == 0; }
    /// Forgets what was written and not taken (I-124).
    void discard();
    [[nodiscard]] std::vector<StartedCall> take_calls() { return std::exchange(calls_, {}); }
    /// Releases of the core that a detached RM confirms by itself (I-387), as it would.
    [[nodiscard]] std::vector<si::AllocationRelease> take_confirmations() { return std::exchange(confirmations_, {}); }

    /// Notice {code, message, details}; `details` is one encoded map or empty.
    void notice(std::string_view code, std::string_view message, std::string_view details);
    /// UpdateConfiguration: `text` is to be stored (I-184).
    void config_to_store(std::uint64_t call, std::string_view text);
    /// GetStateDump (I-435).
    void state_wanted(std::uint64_t call);
    /// SendEvent {records, lost}; `records` are `count` encoded maps.
    void events(std::string_view records, const EventSpan& sent, const EventSpan& lost);

    void allocation_made(const NewAllocation& allocation) override;
    void allocations_released(std::span<const ReleasedAllocation> released) override;
    void asks_rejected(std::span<const RejectedAsk> rejected, bool placements) override;
    void releases_ignored(std::span<const IgnoredRelease> ignored) override;
    void applications_answered(std::span<const AcceptedApplication> accepted,
                               std::span<const RejectedApplication> rejected) override;
    void application_updated(const UpdatedApplication& updated) override;
    void nodes_answered(std::span<const AcceptedNode> accepted, std::span<const RefusedNode> rejected,
                        std::span<const RefusedNode> failed) override;
    void ask_outstanding(std::string_view application, std::string_view key, std::string_view reason) override;
    void predicates_wanted(const PredicatesCall& call) override;
    void preemption_wanted(const PreemptionCall& call) override;

private:
    void close();
    /// One more element of the list that is being merged, or of a new one.
    template <class Write>
    void merge(std::string_view kind, std::string_view list, Write write);
    OutItem& add(std::string_view kind);
    template <class... List>
    void add_lists(std::string_view kind, const List&... lists);
    OutItem& add_call(std::string_view item_kind, std::uint64_t call, CallKind kind, Duration ttl);
    template <class T, class Write>
    void add_list(std::string_view kind, std::string_view name, std::span<const T> elements, Write write);

    Interest interest_;
    Instant now_;
    std::vector<OutItem> items_;
    std::string_view open_kind_, open_list_; // the list being merged
    wire::Buffer open_;                      // its elements
    std::size_t open_count_ = 0;
    wire::Buffer cached_; // the same allocations as the RM's predicate cache has to know them (I-131)
    std::size_t cached_count_ = 0;
    std::vector<si::AllocationRelease> confirmations_;
    std::vector<StartedCall> calls_;
};

} // namespace yk
