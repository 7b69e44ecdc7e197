#pragma once
// DaemonCalls: what the daemon itself, not the core, has asked an RM and waits for: to store a configuration (I-184),
// to tell its state (I-435).
//
// Owner: RmOwner. Thread: the owner thread. Invariant: each `done` is called once, or never when the thread has ended.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ykd/door/call_reply.h"

namespace yk {

class DaemonCalls {
public:
    using Done = std::function<void(CallReply)>;

    /// The number of a new call: unique in the epoch, since the core's begin with 1.
    [[nodiscard]] std::uint64_t begin(Done done) {
        open_[++last_] = std::move(done);
        return last_;
    }
    [[nodiscard]] static bool is_mine(std::uint64_t call) { return call > kCoreCalls; }
    /// False: nobody waits for it (any more).
    bool end(std::uint64_t call, CallReply reply) {
        auto found = open_.extract(call);
        if (found.empty()) return false;
        found.mapped()(std::move(reply));
        return true;
    }
    /// All end as Gone.
    void drop() {
        while (!open_.empty()) end(open_.begin()->first, {});
    }

private:
    static constexpr std::uint64_t kCoreCalls = std::uint64_t{1} << 48U;
    std::map<std::uint64_t, Done> open_;
    std::uint64_t last_ = kCoreCalls;
};

} // namespace yk
