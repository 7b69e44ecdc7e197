// SPDX-License-Identifier: Apache-2.0
#pragma once
// CoreListing: lists the applications that the core has of the RM of MCS, page by page, as any tool does by
// RecoveryList (rs R-104). It changes nothing there, and nobody waits for it. Its session lasts as long as a list.
//
// Owner: CoreLink. Thread: that of MCS. Cost: a page at a time; for each the core looks at all its applications.

#include <functional>
#include <string>

#include "libcore/base/time.h"
#include "libcore/mcs/replicas/core_requests.h"
#include "ykd/mcs/core_link/core_session.h"

namespace yk::service {

class CoreListing {
public:
    /// Called by turn(), for each list that came as a whole.
    using Take = std::function<void(const mcs::ApplicationsListed& list, Instant now)>;

    CoreListing(CoreConnection::Parts parts, std::string rm_id, std::uint64_t seed, Take take)
        : rm_id_(std::move(rm_id)), session_(std::move(parts), seed), take_(std::move(take)) {}
    CoreListing(const CoreListing&) = delete;
    CoreListing& operator=(const CoreListing&) = delete;

    /// From its beginning, unless one is under way.
    void begin() { is_wanted_ = true; }
    /// No more of it is wanted.
    void end();
    /// Takes an answer and asks for the next page. Returns whether there was any.
    bool turn(Instant now);
    /// When turn() has something to do, unless an answer comes; nullopt: nothing.
    [[nodiscard]] std::optional<Instant> next_due() const;

private:
    void ask();
    void take(const CoreSession::Answer& answer, Instant now);

    const std::string rm_id_;
    CoreSession session_;
    const Take take_;
    bool is_wanted_ = false;       // a page, the first one or the next
    std::string cursor_;           // behind the last page; empty: the list begins
    mcs::ApplicationsListed list_; // its pages so far
    std::string refusal_;          // of the last one; empty: it came
};

} // namespace yk::service
