// SPDX-License-Identifier: Apache-2.0
#include "ykd/owner/rm_shared.h"

#include "ykd/runtime/clock.h"

namespace yk {

RmShared::RmShared(std::string id, MailboxLimits inbound, StreamLimits outbound, Instant now)
    : rm_id(std::move(id)),
      mailbox(inbound),
      stream(outbound),
      last_alive(now.ns),
      published_now(now.ns),
      last_turn(real_now().ns),
      state_record(now) {
    stream.set_listener([this] { mailbox.wake(); });
}

void RmShared::mark_alive() {
    mark_alive_at(published_now.load(std::memory_order_relaxed));
    if (state.load(std::memory_order_relaxed) == si::CoreState::Suspended)
        mailbox.wake(); // the next turn ends the suspension
}

void RmShared::mark_alive_at(std::int64_t at) {
    std::int64_t known = last_alive.load(std::memory_order_relaxed);
    while (known < at && !last_alive.compare_exchange_weak(known, at, std::memory_order_relaxed)) {
    }
}

} // namespace yk
