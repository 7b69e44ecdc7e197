// SPDX-License-Identifier: Apache-2.0
#pragma once
// Player: plays one scenario against one daemon (scenario.md).

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/rm/rm_client.h"
#include "ykctl/scenario/caller.h"
#include "ykctl/scenario/compare.h"
#include "ykctl/scenario/observe.h"
#include "ykctl/scenario/rm_books.h"
#include "ykctl/scenario/scenario.h"

namespace yk::scenario {

/// One line under a FAIL.
struct StepFailure {
    std::size_t step = 0; // from 1; 0: the registration with the top-level config
    Unmet unmet;

    [[nodiscard]] std::string text() const;
};

/// Plays the steps of one scenario over one session.
///
/// Owner: play_scenario(). Thread: the caller's.
/// Invariant, between two steps: the daemon has processed everything sent, the books contain all its callbacks, and
/// every release that needs a confirmation has one.
class Player {
public:
    /// `liveness` is the time after which the daemon takes an RM that sends nothing for dead. A virtual clock is
    /// advanced by less than that at once.
    Player(const Scenario& scenario, rm::DaemonLink& link, Duration liveness);

    /// Plays all steps and returns the unmet expectations in order. An error means that the daemon was lost.
    [[nodiscard]] Result<std::vector<StepFailure>, wire::CallError> play();

    /// Unregisters the RMs of the scenario, for a daemon that keeps running.
    void unregister_all();

private:
    /// What one RM is notified of, and has to confirm.
    class Rm final : public rm::RmProgram {
    public:
        Rm(rm::DaemonLink& link, const std::string& id, si::RegisterResourceManagerResponse reply);
        rm::Handled handle(const si::StreamItem& item) override;

        RmBooks books;
        std::vector<si::AllocationRelease> to_confirm;
        bool is_served = true; // the daemon keeps a stream for it
        rm::RmClient client;
    };
    using Done = Result<void, wire::CallError>;

    Done play_step(const Step& step);
    Done call(const Step& step);
    Done registered(const std::string& id, const wire::CallResult<std::string>& answer);
    Done cycles(std::uint32_t count);
    Done wait(Duration duration);
    Done expect(const Step& step);
    Done check_once(const Step& step, std::vector<Unmet>& unmet);
    Done check_section(Observer& observer, const std::string& section, const Value& wanted, std::vector<Unmet>& unmet);

    /// Waits until everything sent has been processed and all callbacks have been handled, confirmations included.
    Done settle();
    /// The same when nothing has been sent since the last answer.
    Done handle_callbacks();
    /// Reads all callbacks and confirms releases. Returns whether something was confirmed.
    wire::CallResult<bool> drain_all();
    wire::CallResult<bool> drain(const std::string& id, Rm& rm);
    wire::CallResult<bool> confirm(const std::string& id, std::vector<si::AllocationRelease> releases);
    [[nodiscard]] std::string rm_of(const Step& step) const;
    void fail(Unmet unmet);

    const Scenario& scenario_;
    rm::DaemonLink& link_;
    Caller caller_;
    Duration liveness_;
    std::map<std::string, std::unique_ptr<Rm>> rms_; // those that the scenario registered
    std::size_t step_ = 0;
    std::vector<StepFailure> failures_;
};

} // namespace yk::scenario
