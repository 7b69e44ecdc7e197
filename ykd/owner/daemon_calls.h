// SPDX-License-Identifier: Apache-2.0
#pragma once
// DaemonCalls: the calls that the daemon itself, not the core, made to an RM and that wait for an answer: to store a
// configuration (I-184), to send its state (I-435).
//
// Owner: RmOwner. Thread: the owner thread of the RM. Invariant: each `done` is called once on that thread; never when
// the thread ended before.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "ykd/core_gateway/call_reply.h"

namespace yk {

class DaemonCalls {
public:
    using Done = std::function<void(CallReply)>;

    /// The number of a new call, which is unique in the epoch: the core counts its calls from 1, these begin far above.
    [[nodiscard]] std::uint64_t begin(Done done) {
        open_[++last_] = std::move(done);
        return last_;
    }
    /// Whether the number is one of begin(), not one of the core.
    [[nodiscard]] static bool is_mine(std::uint64_t call) { return call > kCoreCalls; }
    /// Calls the `done` of the call with its reply; false: the call is unknown or has ended.
    bool end(std::uint64_t call, CallReply reply) {
        auto found = open_.extract(call);
        if (found.empty()) return false;
        found.mapped()(std::move(reply));
        return true;
    }
    /// Ends all calls with Outcome::Gone: the registration ended.
    void drop() {
        while (!open_.empty()) end(open_.begin()->first, {});
    }

private:
    static constexpr std::uint64_t kCoreCalls = std::uint64_t{1} << 48U;
    std::map<std::uint64_t, Done> open_;
    std::uint64_t last_ = kCoreCalls;
};

} // namespace yk
