#pragma once
// The replay's side of the protocol: a detached RM that sends a trace and reads what has been told to it.

#include <cstdint>
#include <string>
#include <vector>

#include "ykctl/replay/trace.h"
#include "ykctl/scenario/caller.h"

namespace yk::replay {

using wire::Value;

/// What the daemon told, in order.
struct Told {
    enum class Kind { Placed, Released, AskRejected };
    Kind kind = Kind::Placed;
    std::string pod;
    std::int64_t at_ns = 0; // daemon's clock
    std::string reason;
};

/// Why a pod is pending.
struct Why {
    bool is_waiting = false; // it can be placed: the scheduler has not come to it yet
    std::string reason;      // a reason identifier of ecosystem.md 6.1
    std::string text;
};

/// Owner: the replay. Thread: its own.
class Session {
public:
    Session(scenario::Caller caller, std::string rm_id) : caller_(std::move(caller)), rm_id_(std::move(rm_id)) {}

    template <class T>
    using Answer = wire::CallResult<T>;
    using Done = Result<void, wire::CallError>;

    /// Whether an RM of this name is registered that no replay left behind.
    Answer<bool> is_taken();
    /// Registers with one leaf queue below root per qos. `items`: callbacks that must stay readable at once.
    Done open(const Trace& trace, const std::string& policy, std::size_t items);
    Done add_nodes(const std::vector<TraceNode>& nodes);
    /// One application per queue, of the queue's name.
    Done add_applications(const std::vector<std::string>& queues);
    Done ask(const std::vector<const TracePod*>& pods);
    /// Releases a pod, placed or not.
    Done release(const std::vector<const TracePod*>& pods);
    /// Returns when the daemon has processed all that was sent.
    Done sync();
    /// What was told since the last call; possibly nothing.
    Answer<std::vector<Told>> read();
    Answer<Why> explain(const TracePod& pod);
    /// Deregisters, with all that runs.
    Done close();
    [[nodiscard]] bool is_open() const { return is_open_; }
    /// What has to be added to a time of this machine to compare it with one of the daemon.
    Answer<std::int64_t> clock_offset_ns();

private:
    Done send(std::string_view kind, Value body);
    void take(const Value& item, std::vector<Told>& told);
    [[nodiscard]] wire::CallError refused(std::string message) const;

    scenario::Caller caller_;
    std::string rm_id_;
    bool is_open_ = false;
    std::int64_t read_up_to_ = 0;
    std::string trouble_; // a node or application that was refused
};

} // namespace yk::replay
