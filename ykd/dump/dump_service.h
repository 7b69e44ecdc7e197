// SPDX-License-Identifier: Apache-2.0
#pragma once
// DumpService: answers Dump (interface.md 5.2): snapshots of partitions, made on their owner threads and encoded on
// workers, page by page.
//
// Owner: Daemon. Thread: workers.

#include "ykd/configuration/effective_settings.h"
#include "ykd/dump/dump_making.h"
#include "ykd/dump/dump_pages.h"
#include "ykd/dump/dump_plain.h"
#include "ykd/dump/recovery_dump.h"
#include "ykd/process/identity.h"
#include "ykd/request/call.h"
#include "ykd/runtime/scheduler_clock.h"

namespace yk::service {

class DumpService {
public:
    struct Parts {
        const RmTable& rms;
        const Identity& identity;
        const SchedulerClock& clock;
        const EventRing& ring;
        const EffectiveSettings& effective;
        DumpSnapshots& snapshots;
        DumpMaker& maker;
        DumpPager& pager;
        const PlainDumps& plain;
        RecoveryDump& recovery;
    };
    explicit DumpService(const Parts& parts) : parts_(parts) {}

    void dump(const CallPtr& call);

private:
    void answer(const CallPtr& call, const Value& data);
    void answer_next_page(const CallPtr& call, const DumpKind& kind, const DumpQuery& query);
    void dump_everything(const CallPtr& call, const DumpQuery& query, std::vector<DumpTarget> targets);
    void dump_events(const CallPtr& call, const DumpQuery& query);

    const Parts parts_;
};

} // namespace yk::service
