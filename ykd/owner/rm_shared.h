// SPDX-License-Identifier: Apache-2.0
#pragma once
// RmShared: what the owner thread of an RM and all other threads share: the way in (mailbox), the way out (stream), and
// what either side publishes for the other one to read.
//
// Owner: RmThread. Thread: any; RmOwner alone writes what is marked as its own.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "libcore/base/time.h"
#include "protocol/si/enums.h"
#include "ykd/owner/owner_task.h"
#include "ykd/owner/state_record.h"
#include "ykd/runtime/mailbox.h"
#include "ykd/runtime/outbound_stream.h"

namespace yk {

struct RmShared {
    RmShared(std::string id, MailboxLimits inbound, StreamLimits outbound, bool is_virtual, Instant now);

    /// Notes a sign of life of the session that owns the RM (I-385).
    void mark_alive();
    /// Notes a sign of life at `at`, unless a later one is known.
    void mark_alive_at(std::int64_t at);
    /// How the mailbox reports to a task that waited in line, and to one that it hands back.
    static void settle(OwnerTaskPtr& task, std::optional<std::uint64_t> position) { task->settled(position); }
    static void hand_back(OwnerTaskPtr& task, bool accepted) { task->gone(accepted); }

    const std::string rm_id;
    const bool virtual_clock;
    Mailbox<OwnerTaskPtr> mailbox;
    OutboundStream stream;
    std::atomic<std::int64_t> last_alive;                 // the last sign of life, in the scheduler's time
    std::atomic<bool> stopping{false};                    // the thread is to end
    std::atomic<std::int64_t> published_now;              // RmOwner's: the scheduler's time
    std::atomic<std::int64_t> last_turn;                  // RmOwner's: when the last turn began, in real time
    std::atomic<std::uint64_t> turns{0};                  // RmOwner's: how many there were
    std::atomic<std::uint64_t> memory{0};                 // RmOwner's: about how many bytes the core has
    std::atomic<bool> books_full{false};                  // RmOwner's: too much waits to be written to its books
    std::atomic<bool> echoes{false};                      // RmOwner's: the RM wants its updates back (echoRequests)
    std::atomic<bool> ended{false};                       // RmOwner's: the last item was queued
    std::atomic<si::CoreState> state{si::CoreState::New}; // RmOwner's
    StateRecord state_record;                             // RmOwner's
};

} // namespace yk
