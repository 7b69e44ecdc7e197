// SPDX-License-Identifier: Apache-2.0
#pragma once
// StreamService: answers Poll, Sync, StreamLog, CallResult (interface.md 4.8, 4.9).
//
// Owner: Daemon. Thread: workers.

#include "ykd/request/call.h"
#include "ykd/rm/rm_table.h"

namespace yk::service {

class StreamService {
public:
    StreamService(const RmTable& rms, Deadlines& deadlines, Duration max_poll_wait)
        : rms_(rms), deadlines_(deadlines), max_poll_wait_(max_poll_wait) {}

    void poll(const CallPtr& call);
    void sync(const CallPtr& call);
    void stream_log(const CallPtr& call);
    void call_result(const CallPtr& call);

private:
    const RmTable& rms_;
    Deadlines& deadlines_;
    const Duration max_poll_wait_;
};

} // namespace yk::service
