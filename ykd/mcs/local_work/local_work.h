// SPDX-License-Identifier: Apache-2.0
#pragma once
// LocalWork: the commands of replicas that are placed on nodes of kind `local`. Which ones run follows the rows of
// schedules, as the database has them: a replica that is placed there has its command running, and one that is given up
// is ended before the core hears of it. A command that ends and is not to be started again gives its place back, and
// the Scheduler has the replica placed anew.
//
// Owner: McsScheduling. Thread: that of MCS, for everything here; the commands run on the worker's. Invariants:
//   A  a command begins only after its placement was written, and only while this process leads
//   B  a replica's place is free in the core only after its command has ended, unless the core or its registration went
//   C  the next life of a replica is asked for when the command of the one before has ended

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/mcs/deployment_schedule.h"
#include "libcore/mcs/node.h"
#include "libcore/mcs/replicas/core_requests.h"
#include "libcore/mcs/replicas/schedule_status.h"
#include "libcore/resource_state/event_handler.h"
#include "libcore/resource_state/resource_cache.h"
#include "protocol/work/worker.h"
#include "ykd/mcs/core_link/command_gate.h"
#include "ykd/process/daemon_settings.h"

namespace yk::service {

/// Begins the thread that runs commands, and ends what an earlier daemon left. `on_news` is called on that thread when
/// LocalWork::turn() has something to do.
[[nodiscard]] Result<std::shared_ptr<work::Worker>> start_local_worker(const LocalWorkSettings& settings,
                                                                       const std::string& rm_id,
                                                                       const std::string& state_directory,
                                                                       std::function<void()> on_news);

/// The folder with the output of commands, and the file in it of one.
[[nodiscard]] std::string output_folder(const std::string& state_directory);
[[nodiscard]] std::string output_name(const std::string& partition, const std::string& application_id,
                                      const std::string& allocation_key);

class LocalWork final : public rs::ResourceEventHandler<mcs::DeploymentSchedule>, public CommandGate {
public:
    /// All but the functions must outlive it.
    struct Parts {
        const LocalWorkSettings& settings;
        const rs::ResourceCache<mcs::Node>& nodes;
        mcs::CoreRequests& requests;
        std::shared_ptr<work::Worker> worker;
        std::function<void(std::function<void()>)> ask_names; // has it called where the name service may be waited for
        std::function<void(std::function<void()>)> post;      // has it called on the thread of MCS; any thread
        std::function<void(si::AllocationRelease)> confirm;   // what was held; to be sent to the core
    };
    explicit LocalWork(Parts parts) : parts_(std::move(parts)) {}

    // --- rows -----------------------------------------------------------------------------------
    [[nodiscard]] std::string_view name() const override { return "local-work"; }
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& context,
                                           const rs::Ptr<mcs::DeploymentSchedule>& row) override;
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext& context,
                                              const rs::Ptr<mcs::DeploymentSchedule>& old,
                                              const rs::Ptr<mcs::DeploymentSchedule>& row) override;
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& context,
                                              const rs::Ptr<mcs::DeploymentSchedule>& last) override;

    // --- the core -------------------------------------------------------------------------------
    [[nodiscard]] bool holds(const mcs::CoreRequest& request) override;
    [[nodiscard]] bool holds(const si::AllocationRelease& release) override;
    void forget() override;

    // --- work -----------------------------------------------------------------------------------
    /// Takes what has become of commands; false: there was nothing.
    bool turn(Instant now);
    [[nodiscard]] std::optional<Instant> next_due() const;
    /// Another instance leads: all commands end.
    void stand_down();
    /// All commands are asked to end, and none begins any more.
    void stop();
    /// Waits for their end, for as long as they have (mcs.local.grace), and a moment.
    void wait_for_end();

    // --- for whoever looks at it ----------------------------------------------------------------
    struct State {
        std::string phase; // `waiting`, `running`, `restarting`, `ending`, `over`, `refused`
        std::uint32_t restarts = 0;
        std::string why; // of the last end, or of the refusal
    };
    /// What has become of the commands of these placements of an application, in their order; nullopt: they have none.
    /// While many are being started it may be what was last known. Where this instance leads, one that is placed and
    /// not looked at yet is waiting.
    [[nodiscard]] std::vector<std::optional<State>> states_of(const mcs::DeploymentSchedule& row, bool leads);
    struct Sums {
        std::size_t all = 0; // commands of replicas that are wanted
        std::size_t running = 0;
    };
    /// Of the commands of each of these schedules, by their ids; none of one that has none. As above.
    [[nodiscard]] std::map<std::string, Sums> sums_of(const std::vector<std::string>& schedules);
    /// How many replicas are to have a command that runs.
    [[nodiscard]] std::size_t size() const { return commands_.size(); }
    [[nodiscard]] std::size_t running() const { return parts_.worker->running(); }

private:
    using Key = std::pair<std::string, std::string>; // of an application and an allocation
    /// What the core is asked for when commands have ended, in this order. Behind the removal of an application is what
    /// was to be asked for it since, so that nothing of the next one comes before the end of this one.
    struct Held {
        std::vector<mcs::CoreRequest> requests;
        std::size_t waits_for = 0;
    };
    struct Question {
        si::Allocation allocation;
        std::string submitter;
    };
    enum class Phase : std::uint8_t {
        Asking,  // as whom it may run
        Refused, // nothing runs for it
        Handed,  // the worker has it
        Ending,
        Over,    // it has ended, and its place is to be given back
        Released // the core is asked to let it go, or about to be; nothing runs
    };
    struct Command {
        std::string row; // the schedule's id
        std::string partition;
        Phase phase = Phase::Asking;
        Instant since{};                          // Handed: when it was handed over
        std::string why;                          // Refused
        bool is_wanted = true;                    // its row has it
        std::shared_ptr<const Question> question; // as whom it may run; Refused: asked again after a while
        std::vector<std::shared_ptr<Held>> held;
        std::optional<si::AllocationRelease> confirmation;
        std::optional<State> seen; // what the worker said last; nullopt: nothing of it
    };
    using Commands = std::map<Key, Command>;
    /// Asks the worker what has become of these, unless it is busy.
    void look_at(const std::vector<Commands::iterator>& commands);

    void follow(const mcs::DeploymentSchedule& row, Instant now);
    void begin(const mcs::DeploymentSchedule& row, const mcs::Placement& placement, const mcs::ScheduleStatus& status,
               Instant now);
    void ask(const Key& key, Command& command);
    void account_found(const std::string& submitter, const Result<work::Account>& account);
    void hand_over(const Key& key, Command& command, const Result<work::Account>& account);
    void refuse(Command& command, const Key& key, const std::string& why);
    void end(Commands::iterator command);
    void end_or_drop(Commands::iterator command);
    void drop(Commands::iterator command);
    void hold(Commands::iterator command, const std::shared_ptr<Held>& held);
    void hold_next_life(const mcs::AskReplica& ask, const std::shared_ptr<Held>& held);
    void take_end(const Key& key, Instant now);
    void give_back(Commands::iterator command);
    void hand_back(Held& held);
    void forget_held();
    [[nodiscard]] bool is_local(const std::string& node_id) const;
    [[nodiscard]] bool is_here(const mcs::Placement& placement) const; // placed on a local node

    const Parts parts_;
    Commands commands_;
    std::map<std::string, std::set<Key>, std::less<>> by_row_;
    std::multimap<Instant, Key> over_; // when places are given back, and refused ones looked at again
    std::size_t held_ = 0;             // that wait for commands
    std::map<std::string, std::shared_ptr<Held>, std::less<>> removals_; // of applications
    std::vector<mcs::CoreRequest> ends_; // of recoveries, which claim what is there when nothing is held any more
    std::map<std::string, std::string, std::less<>> refused_; // by row: what was logged last
    std::map<std::string, std::set<Key>, std::less<>> asked_; // by submitter: whose commands wait for the answer
    Instant now_{};                                           // of the last turn
};

} // namespace yk::service
