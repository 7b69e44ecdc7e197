// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a core notifies its resource manager of, in plain words: one line for each call of its callbacks, and `, `
// between what one call names. The codes and types have their names of docs/protocol.md; a partition is named unless it
// is [rm]default.
//
//   allocated app/k on n-0                          allocated placeholder app/p on n-0
//   released app/k: STOPPED_BY_RM, app/l: STOPPED_BY_RM
//   application app is Running                      application app of [rm]gpu is Failing
//   accepted application app in root.a, rejected application app-2: P_PLACEMENT
//   accepted node n-0, rejected node n-1: P_NODE_EXISTS, failed to UPDATE node n-2: P_NODE_UNKNOWN
//   rejected ask app/k: P_NO_RESOURCE               rejected allocation app/k: P_NODE_UNKNOWN
//   ignored release of app/k: P_UNKNOWN_ALLOCATION  outstanding ask app/k
//   call 1: app/k on n-0, n-1?                      call 2: reserve n-0 for app/k?
//   call 3: app/k on n-0 if 1 or more of v, w go?   (a call is what the resource manager has to answer)

#include <string>
#include <utility>
#include <vector>

#include "libcore/ports/callbacks.h"

namespace yk::testing {

using Lines = std::vector<std::string>;

struct Notice {
    std::string text;
    std::string details; // wording for people, times, and what else an allocation has

    [[nodiscard]] std::string in_full() const { return details.empty() ? text : text + " # " + details; }
};

/// Keeps what a core says until it is taken.
class Notices final : public Callbacks {
public:
    [[nodiscard]] std::vector<Notice> take() { return std::exchange(list_, {}); }

    void allocation_made(const NewAllocation& made) noexcept override;
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
    std::vector<Notice> list_;
};

} // namespace yk::testing
