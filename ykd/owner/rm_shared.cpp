// SPDX-License-Identifier: Apache-2.0
#include "ykd/owner/rm_shared.h"

#include <algorithm>

#include "ykd/runtime/clock.h"

namespace yk {

RmShared::RmShared(std::string id, MailboxLimits inbound, StreamLimits outbound, bool is_virtual, Instant now)
    : rm_id(std::move(id)),
      virtual_clock(is_virtual),
      mailbox(inbound),
      stream(outbound),
      last_alive(now.ns),
      published_now(now.ns),
      last_turn(real_now().ns),
      state_record(now) {
    stream.set_listener([this] { mailbox.wake(); });
}

/// The scheduler's time is that of the last turn, which may be two seconds ago where nothing happens.
void RmShared::mark_alive() {
    const std::int64_t at_turn = published_now.load(std::memory_order_relaxed);
    mark_alive_at(virtual_clock ? at_turn : std::max(at_turn, real_now().ns));
    if (state.load(std::memory_order_relaxed) == si::CoreState::Suspended)
        mailbox.wake(); // the next turn ends the suspension
}

void RmShared::mark_alive_at(std::int64_t at) {
    std::int64_t known = last_alive.load(std::memory_order_relaxed);
    while (known < at && !last_alive.compare_exchange_weak(known, at, std::memory_order_relaxed)) {
    }
}

} // namespace yk
