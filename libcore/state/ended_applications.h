// SPDX-License-Identifier: Apache-2.0
#pragma once
// EndedApplications: applications that completed, failed or were rejected, kept for people for a while (S-580 to S-584,
// I-735). Their names count for the RM's budget; when it is used up, the oldest are forgotten first.
//
// Owner: PartitionState. Thread: the partition's owner.
// Invariants:
//  A  both lists are in the order of the serials, which only grow
//  B  of the rejected ones with one id only the latest is there

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "libcore/model/application_state.h"
#include "libcore/model/queue_tree.h"
#include "libcore/ports/budget.h"
#include "libcore/ports/metrics_view.h"
#include "libcore/ports/settings.h"
#include "libcore/ports/view.h"

namespace yk {

struct EndedApplication {
    std::uint64_t serial = 0; // also the token of its timer
    ApplicationView view;
    ApplicationState state{};
};

/// What the budget counts for its names.
[[nodiscard]] std::uint64_t bytes_of(const EndedApplication& ended);

class EndedApplications {
public:
    using Rejected = std::map<std::uint64_t, EndedApplication>; // by serial
    using Counts = std::map<std::string, EndedCounts, std::less<>>;

    EndedApplications(BudgetMeter& meter, const Settings& settings, const QueueTree& queues)
        : meter_(meter), settings_(settings), queues_(queues) {}
    EndedApplications(const EndedApplications&) = delete;
    EndedApplications& operator=(const EndedApplications&) = delete;

    /// Adds one that completed or failed.
    void keep(EndedApplication ended);
    /// Adds one that was rejected; it replaces an earlier one with the same id.
    void keep_rejected(EndedApplication rejected);
    /// In both lists; nullptr: it was forgotten.
    [[nodiscard]] EndedApplication* find(std::uint64_t serial);
    [[nodiscard]] const EndedApplication* find(std::uint64_t serial) const {
        return const_cast<EndedApplications*>(this)->find(serial);
    }
    /// Forgets the oldest of both lists; false: they are empty.
    bool forget_oldest();
    /// Forgets those in state Expired (S-583).
    void purge_expired();
    /// How many applications of a queue ended, ever (I-510). A queue that is made again goes on counting. Of
    /// removed queues counts are kept for as many as ended applications are, and for 1,024 at least.
    [[nodiscard]] EndedCounts& counts_of(const std::string& queue);

    [[nodiscard]] const std::deque<EndedApplication>& completed() const noexcept { return completed_; }
    [[nodiscard]] const Rejected& rejected() const noexcept { return rejected_; }
    /// The latest with that id; nullptr: there is none.
    [[nodiscard]] const EndedApplication* find_completed(std::string_view id) const;
    [[nodiscard]] const EndedApplication* find_rejected(std::string_view id) const;
    [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

private:
    [[nodiscard]] bool is_too_much(std::size_t kept) const;
    void forget_completed();
    Rejected::iterator forget(Rejected::iterator rejected);

    BudgetMeter& meter_;
    const Settings& settings_;
    const QueueTree& queues_;
    std::deque<EndedApplication> completed_;
    Rejected rejected_;
    std::unordered_map<std::string, std::uint64_t> rejected_ids_;
    Counts counts_; // by path of the queue, also of a removed one
};

} // namespace yk
