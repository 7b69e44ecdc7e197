// SPDX-License-Identifier: Apache-2.0
#pragma once
// EventService: answers Events and EventStream (interface.md 7.4, 7.5).
//
// Owner: Daemon. Thread: workers.

#include "ykd/configuration/effective_settings.h"
#include "ykd/observe/event_streams.h"
#include "ykd/process/identity.h"
#include "ykd/request/call.h"

namespace yk::service {

class EventService {
public:
    struct Parts {
        const EventRing& ring;
        EventStreams& streams;
        const EffectiveSettings& effective;
        const Identity& identity;
        Duration max_poll_wait;
    };
    explicit EventService(const Parts& parts) : parts_(parts) {}

    void events(const CallPtr& call);
    void event_stream(const CallPtr& call);

private:
    /// Whether events are recorded. False: the call was answered.
    [[nodiscard]] bool is_tracking(const CallPtr& call) const;
    /// Opens a stream and answers with its first records: the last `count` that there are. Later calls get what comes.
    void open_stream(const CallPtr& call, std::uint64_t count, const EventFilter& filter);

    const Parts parts_;
};

} // namespace yk::service
