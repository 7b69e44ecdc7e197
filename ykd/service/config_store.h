#pragma once
// ConfigStore: has an RM store the configurations that others give it, before they are applied (I-184).
//
// Owner: Rm. Thread: the RM's owner thread. Invariant: while the RM has not answered, no other configuration of it is
// stored or applied; those that come meanwhile wait in their order.

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ykd/runtime/rm_owner.h"

namespace yk::service {

class ConfigStore {
public:
    using Step = std::function<void(RmOwner&)>;
    /// With why it was not stored, or nothing.
    using Done = std::function<void(RmOwner&, const std::optional<std::string>& refusal)>;

    /// Runs `step` now, or when what is being stored has ended.
    void in_turn(RmOwner& owner, Step step);
    /// REQUIRES: called by a step.
    void store(RmOwner& owner, std::string_view text, Done done);

private:
    void run_waiting(RmOwner& owner);

    bool storing_ = false;
    std::deque<Step> waiting_;
};

} // namespace yk::service
