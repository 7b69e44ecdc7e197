// SPDX-License-Identifier: Apache-2.0
#pragma once
// AllocationWork: what a resource manager does because of allocations that come and go: it runs the command of each,
// starts it again as its policy says, and runs hooks. What follows for the daemon, releases and confirmations, is
// fetched by whoever talks to it.
//
// Owner: the loop that runs commands. Thread: one. Invariants:
//   A  an allocation that is known is not begun again, however often it is announced
//   B  of one allocation one hook runs at a time, in order: those of its allocation before those of its release
//   C  a release is confirmed, and the next allocation of the same key begun, only when the command has ended and all
//      hooks of the release were run
// Costs about a kilobyte and its tags for each allocation; how many there are is limited by the daemon (rmMaxAsks).

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocol/si/messages.h"
#include "protocol/work/allocation_command.h"
#include "protocol/work/commands.h"

namespace yk::work {

/// As whom the command of an allocation runs, and what comes with that: no capability, and no way to gain one.
struct Account {
    std::optional<Identity> identity{};     // absent: that of this process
    std::vector<std::string> environment{}; // NAME=value, in place of the base environment
    std::string directory{};                // where it begins; empty: where this process is
};

/// An allocation or a release, with the JSON text that hooks read.
template <class Message>
struct Announced {
    Message message;
    std::string json;
    std::shared_ptr<const Account> account{}; // nullptr: as this process
};

/// Which allocation is meant.
struct AllocationName {
    std::string partition{};
    std::string application_id{};
    std::string allocation_key{};
};

/// What has become of the command of an allocation.
struct WorkState {
    enum class Phase : std::uint8_t { Waiting, Running, Resting, Ending, Over };
    Phase phase = Phase::Waiting;
    TimePoint since{}; // Running: when it was started; Resting: when it is started again
    std::uint32_t restarts = 0;
    std::string why{}; // how it ended last, or why it was not started; empty: it did not end
};
/// `waiting`, `running`, `restarting`, `ending`, `over`.
[[nodiscard]] std::string_view text(WorkState::Phase phase) noexcept;

class AllocationWork {
public:
    struct Options {
        std::string rm_id;
        bool executes = false; // tags `command` are obeyed
        Restart restart = Restart::Never;
        bool held = false; // commands begin only after let_go()
        std::size_t most_commands = 1000;
        std::vector<std::string> on_allocation{}, on_release{};
        std::chrono::milliseconds hook_timeout{30'000};
        std::vector<std::string> base_environment{};
        /// Where the output of a command or hook goes.
        std::function<Result<std::unique_ptr<Output>>(const si::Allocation&)> output{};
    };
    static constexpr std::size_t kHooksAtOnce = 16;
    // Of commands, in one call of step(): each is a fork, and one in a home that hangs takes seconds.
    static constexpr std::size_t kStartsAtOnce = 16;
    static constexpr std::chrono::milliseconds kStartsFor{50}; // begins another one
    static constexpr std::size_t kMostHooks = 100'000;         // that wait; more are not run, and that is said
    static constexpr std::size_t kMostHookBytes = std::size_t{64} << 20U; // of what they would read

    /// `commands` has capacity for `most_commands` and kHooksAtOnce, and outlives this.
    AllocationWork(Commands& commands, Options options)
        : commands_(commands), options_(std::move(options)), held_(options_.held) {}

    // What is announced starts nothing yet: that is for step().
    /// The core has placed it, or restored it.
    void placed(Announced<si::Allocation> allocation);
    /// The RM had it before this process began: its command is started, its hooks have been run.
    void had(si::Allocation allocation);
    /// All that was announced before this process began is known now: what of it is still there begins.
    void let_go();
    /// It is to be stopped, or gone. `confirms`: the core waits for the release to come back.
    void released(Announced<si::AllocationRelease> release, bool confirms, TimePoint now);
    /// The RM reported it again, and the core did not take it. What is not known here is left alone.
    void refused(Announced<si::AllocationRelease> release, TimePoint now);
    /// The core has none of the allocations any more.
    using JsonOf = std::function<std::string(const si::AllocationRelease&)>;
    void lost(const std::string& why, const JsonOf& json_of, TimePoint now);
    /// Ends all commands, and starts none any more. Hooks that wait are still run.
    void stop(TimePoint now);

    void step(TimePoint now);
    /// When step() has something to do even if no command ends.
    [[nodiscard]] std::optional<TimePoint> due() const;
    /// Whether nothing runs, nor is to begin with the next step, and no hook waits.
    [[nodiscard]] bool is_idle() const;

    /// What is to be sent to the daemon: at most so many, in order.
    [[nodiscard]] std::vector<si::AllocationRelease> take_releases(std::size_t most);
    /// They could not be sent.
    void put_back(std::vector<si::AllocationRelease> releases);
    [[nodiscard]] bool has_releases() const { return !releases_.empty(); }
    /// What a person should know, in order.
    [[nodiscard]] std::vector<std::string> take_notes();
    [[nodiscard]] bool has_notes() const { return !notes_.empty(); }
    /// nullopt: nothing is started for it.
    [[nodiscard]] std::optional<WorkState> state_of(const AllocationName& name) const;

private:
    enum class Phase : std::uint8_t { Idle, Waiting, Running, Resting, Over };
    struct Hook {
        bool of_release = false;
        std::size_t number = 0; // which of the options
        std::shared_ptr<const std::string> json;
        Variables more{};
    };
    struct Entry {
        si::Allocation allocation;
        std::shared_ptr<const Account> account{};
        Phase phase = Phase::Idle;
        std::uint64_t command = 0; // Running
        std::uint64_t turn = 0;    // Waiting, Resting: where
        RestartPolicy policy{};
        std::uint32_t restarts = 0;
        std::chrono::milliseconds back_off{0};
        TimePoint since{}; // Running: when it was started
        std::string why{}; // how it ended last
        bool gone = false;
        std::optional<si::AllocationRelease> release{}; // gone: hooks are to read it
        std::string release_json{};
        bool confirms = false;
        std::deque<Hook> hooks{};
        std::uint64_t hook = 0;      // that runs
        std::uint64_t hook_turn = 0; // where it waits
        std::optional<Announced<si::Allocation>> next{};
    };
    using Name = std::string; // partition, application and key
    using Entries = std::map<Name, Entry>;

    void begin(const Name& name, Entry& entry);
    void start(const Name& name, Entry& entry, TimePoint now);
    [[nodiscard]] Result<Command> command_for(Entry& entry);
    void ended(const Name& name, Entry& entry, const Ended* how, const std::string& why, TimePoint now);
    void rest(const Name& name, Entry& entry, TimePoint now);
    void wait_for_more(const Name& name, Entry& entry, const std::string& why, TimePoint now);
    void over(Entry& entry, const std::string& why);
    void send_release(const Entry& entry);
    [[nodiscard]] bool is_being_released(const Name& name) const;
    [[nodiscard]] bool has_hooks() const { return !options_.on_allocation.empty() || !options_.on_release.empty(); }
    void leave_line(Entry& entry);
    void settle(const Name& name);
    void add_hooks(const Name& name, Entry& entry, bool of_release, const std::string& json, const Variables& more);
    void start_hook(const Name& name, Entry& entry, TimePoint now);
    [[nodiscard]] Command command_for(const Entry& entry, const Hook& hook, std::string& fault) const;
    void hook_ended(const Name& name, Entry& entry, const std::string& how);
    void take_ended(const Ended& how, TimePoint now);
    void start_what_may(TimePoint now);
    [[nodiscard]] bool may_run_hook() const { return !hooks_waiting_.empty() && running_hooks_ < kHooksAtOnce; }
    void note(std::string text);

    Commands& commands_;
    const Options options_;
    Entries entries_;
    std::map<std::uint64_t, std::pair<Name, bool>> running_; // by command; whether it is a hook
    std::size_t running_hooks_ = 0;
    std::map<std::uint64_t, Name> waiting_;                       // by turn: those that may be started when one ends
    std::map<std::pair<TimePoint, std::uint64_t>, Name> resting_; // by when they are started again
    std::map<std::uint64_t, Name> hooks_waiting_;                 // by turn: entries with a hook to run
    std::size_t hook_count_ = 0, hook_bytes_ = 0;                 // that wait
    TimePoint hooks_from_{};                                      // none is run before: the machine lacked something
    std::uint64_t last_turn_ = 0;
    bool held_ = false;
    bool has_more_ = false;   // to be started at the next step
    bool hooks_rest_ = false; // it was said why
    bool stopping_ = false;
    bool said_that_no_tag_ = false;
    std::deque<si::AllocationRelease> releases_;
    std::deque<std::string> notes_;
    std::uint64_t notes_dropped_ = 0;
};

} // namespace yk::work
