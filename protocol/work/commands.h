// SPDX-License-Identifier: Apache-2.0
#pragma once
// Commands: the commands that this process runs, each in a process group of its own, from their start to their end.
//
// start() begins one; end() asks its group to end and, after a grace, ends it; step() says which have ended, and how.
// When a command has ended, whatever its group still has is ended too. What left the group (setsid, setpgid) is reached
// only where each command has a cgroup (cgroups()). When this process is gone, however that came, a guard ends all
// groups; when that is gone with it, the next one with the same record does.
//
// Owner: the loop that runs commands. Thread: one, but any. Nothing here waits but for the start of a process: the
// caller waits for descriptor() until due(), and calls step(). Invariants:
//   A  a group is signalled only while its leader is there, running or as a zombie: its number is nobody else's
//   B  a command begins only after the guard and the record have it

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/posix/descriptor.h"
#include "protocol/work/cgroups.h"
#include "protocol/work/guard.h"
#include "protocol/work/launch.h"
#include "protocol/work/output.h"
#include "protocol/work/record.h"

namespace yk::work {

using TimePoint = std::chrono::steady_clock::time_point;

struct Command {
    std::string text;                                      // for /bin/sh -c
    std::vector<std::string> environment;                  // NAME=value, all of it
    std::string input{};                                   // what it reads; empty: nothing
    std::unique_ptr<Output> output{};                      // takes what it writes; nullptr: nobody does
    std::optional<Identity> identity{};                    // absent: that of this process
    std::string directory{};                               // where it begins; empty: where this process is
    bool drops_rights = false;                             // see Launch
    Limits limits{};                                       // enforced where cgroups can
    std::optional<std::chrono::milliseconds> time_limit{}; // then it is ended
};

/// How a command ended.
struct Ended {
    std::uint64_t id = 0;
    int code = 0;             // if no signal ended it
    int signal = 0;           // 0: none did
    bool out_of_time = false; // it was ended because of its time limit
    [[nodiscard]] bool is_success() const { return code == 0 && signal == 0 && !out_of_time; }
};

/// `exit code 3`, `signal 15 (Terminated)`.
[[nodiscard]] std::string text(const Ended& ended);

// Whether a command can have this text, and this environment. An error says what is wrong with it.
[[nodiscard]] Result<void> check_command_text(const std::string& text);
[[nodiscard]] Result<void> check_environment(const std::vector<std::string>& environment);

class Commands {
public:
    struct Options {
        std::chrono::milliseconds grace{10'000}; // between SIGTERM and SIGKILL
        std::size_t most = 1000;                 // that run at once
        bool may_be_root = false;                // whether commands may run as root if this process does
        std::string record{};                    // the file of Record; empty: none is kept
        bool uses_cgroups = true;
    };
    static constexpr std::size_t kLongestText = 64U << 10U;         // bytes of a command
    static constexpr std::size_t kLargestEnvironment = 256U << 10U; // bytes of all variables

    /// Ends what an earlier process with the same record left.
    [[nodiscard]] static Result<std::unique_ptr<Commands>> make(Options options);
    /// Ends all of them at once.
    ~Commands();
    Commands(const Commands&) = delete;
    Commands& operator=(const Commands&) = delete;

    /// How many processes of an earlier one were ended.
    [[nodiscard]] std::size_t left_over() const { return left_over_; }
    /// nullptr: commands have no cgroups; no_cgroups() says why.
    [[nodiscard]] const Cgroups* cgroups() const { return cgroups_ ? &*cgroups_ : nullptr; }
    [[nodiscard]] const std::string& no_cgroups() const { return no_cgroups_; }
    [[nodiscard]] std::size_t size() const { return running_.size(); }
    [[nodiscard]] pid_t guard() const { return guard_.pid(); }

    /// Starts one. Returns the number by which it is known here.
    [[nodiscard]] Result<std::uint64_t> start(Command command, TimePoint now);
    /// Asks it to end, and ends it after the grace. Does nothing if it has ended or was asked already.
    void end(std::uint64_t id, TimePoint now);
    /// Takes what they wrote, ends what is to end by now, and returns what has ended.
    [[nodiscard]] std::vector<Ended> step(TimePoint now);
    /// Readable when step() has something to do.
    [[nodiscard]] int descriptor() const { return events_.get(); }
    /// When step() has something to do even if nothing happens; nullopt: never.
    [[nodiscard]] std::optional<TimePoint> due() const;

private:
    struct Running {
        pid_t pid = 0;
        Descriptor process; // a pidfd
        Descriptor pipe;    // what it writes; none once that is at its end
        std::unique_ptr<Output> output;
        std::string cgroup;
        std::optional<TimePoint> kill_at; // it was asked to end
        std::optional<TimePoint> limit;   // of its time
        bool killed = false;
        bool out_of_time = false;
    };
    using Entry = std::map<std::uint64_t, Running>::value_type;

    Commands(Options options, Guard guard) : options_(std::move(options)), guard_(std::move(guard)) {}
    void raise_file_limit();
    void take(Cgroups cgroups);
    [[nodiscard]] Result<void> check(const Command& command) const;
    [[nodiscard]] Result<std::string> make_cgroup(const Limits& limits);
    [[nodiscard]] Result<void> launch(std::uint64_t id, const Command& command, Running& made);
    [[nodiscard]] Result<void> watch(std::uint64_t id, const Running& made);
    void read(Running& command, std::size_t most);
    void kill(Running& command);
    [[nodiscard]] std::optional<Ended> look(std::uint64_t id, Running& command);
    void look_at_time(Running& command, TimePoint now);
    void drop_cgroup(const std::string& name);
    void remove_cgroups();

    const Options options_;
    Guard guard_;
    std::optional<Record> record_;
    std::optional<Cgroups> cgroups_;
    std::string no_cgroups_;
    std::vector<std::string> cgroups_to_remove_; // in which something has yet to end
    Descriptor events_;                          // epoll
    std::optional<rlimit> files_; // the limit of open files that commands have: what it was before it was raised
    std::map<std::uint64_t, Running> running_;
    std::uint64_t last_id_ = 0;
    std::size_t left_over_ = 0;
};

} // namespace yk::work
