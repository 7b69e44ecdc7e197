// SPDX-License-Identifier: Apache-2.0
#pragma once
// Session: the replay's side of the protocol. It is a detached RM that sends a trace and reads its callbacks.

#include <cstdint>
#include <string>
#include <vector>

#include "ykctl/replay/lasting.h"
#include "ykctl/replay/trace.h"

namespace yk::replay {

using wire::Value;

/// One callback about one pod.
struct Notification {
    enum class Kind { Placed, Released, AskRejected };
    Kind kind = Kind::Placed;
    std::string pod;
    std::int64_t at_ns = 0; // on the daemon's clock
    std::string reason;
};

/// Why a pod is pending.
struct Why {
    bool is_waiting = false; // it can be placed, but the scheduler has not tried it yet
    std::string reason;      // of docs/protocol.md, "Reasons"
    std::string text;
};

/// Owner: the replay. Thread: its own.
class Session {
public:
    Session(Reach reach, std::string rm_id) : calls_(std::move(reach), rm_id), rm_id_(std::move(rm_id)) {}

    template <class T>
    using Answer = wire::CallResult<T>;
    using Done = Result<void, wire::CallError>;

    /// Whether an RM of this name is registered, other than one that an earlier replay left.
    Answer<bool> is_taken();
    /// Nodes and asks say how their GPUs come in devices from now on; else they are amounts.
    void use_devices() { says_devices_ = true; }
    /// Registers with these leaf queues below root. `node_order` is what stands under nodesortpolicy, such as
    /// `{type: fair}`. The daemon has to keep the last `items` callbacks readable.
    Done open(const std::vector<std::string>& queues, const std::string& node_order, std::size_t items);
    Done add_nodes(const std::vector<TraceNode>& nodes);
    /// Adds one application per queue, with the name of the queue.
    Done add_applications(const std::vector<std::string>& queues);
    Done ask(const std::vector<const TracePod*>& pods);
    /// Releases pods, placed or not.
    Done release(const std::vector<const TracePod*>& pods);
    /// Returns when the daemon has processed all that was sent.
    Done sync();
    /// The callbacks since the last call; possibly none. They outlive any end of a daemon that keeps books: of what a
    /// restarted one may have lost nothing is returned. After a restart those that came before come once more.
    Answer<std::vector<Notification>> read();
    Answer<Why> explain(const TracePod& pod);
    /// Places what can be placed, with a daemon that schedules on request only.
    Done schedule();
    /// How much of the idle GPUs can be used by nobody (F-022).
    Answer<double> unusable_gpu();
    /// Deregisters the RM with all its objects.
    Done close();
    [[nodiscard]] bool is_open() const { return is_open_; }
    /// Whether the last error is that the daemon, or the RM with it, is gone.
    [[nodiscard]] bool is_lost() const { return calls_.is_lost(); }
    /// The nanoseconds to add to a time of this machine to get the time of the daemon.
    Answer<std::int64_t> clock_offset_ns();

private:
    Done read_pages(std::vector<Notification>& notifications);
    void take(const Value& item, std::vector<Notification>& notifications);
    [[nodiscard]] wire::CallError refused(std::string message) const;

    Lasting calls_;
    std::string rm_id_;
    bool is_open_ = false;
    bool says_devices_ = false;
    std::uint32_t stream_ = 0;     // how many restarts there were when it began
    std::uint64_t read_up_to_ = 0; // of it
    std::string trouble_;          // a node or application that was refused
};

} // namespace yk::replay
