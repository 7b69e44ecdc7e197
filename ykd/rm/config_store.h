// SPDX-License-Identifier: Apache-2.0
#pragma once
// ConfigStore: has an RM store a configuration that somebody else sets for it, before that is applied (I-184).
//
// Owner: Rm. Thread: the owner thread of the RM. Invariant: while an answer of the RM is awaited, no other
// configuration of it is stored or applied; those that come meanwhile wait in their order.

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ykd/owner/rm_owner.h"

namespace yk::service {

class ConfigStore {
public:
    using Step = std::function<void(RmOwner&)>;
    /// Called with the reason why it was not stored; nullopt: it was.
    using Done = std::function<void(RmOwner&, const std::optional<std::string>& refusal)>;

    /// Runs `step` now, or when the storing under way has ended.
    void in_turn(RmOwner& owner, Step step);
    /// Has the RM store `text`; `done` is called when it has answered, or its time limit is over. REQUIRES: called by a
    /// step or a `done`, and no storing is under way.
    void store(RmOwner& owner, std::string_view text, Done done);

private:
    void run_waiting(RmOwner& owner);

    bool storing_ = false; // an answer is awaited
    std::deque<Step> waiting_;
};

} // namespace yk::service
